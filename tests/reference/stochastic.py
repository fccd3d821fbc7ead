"""Stochastic descent as the textbook has it: one row at a time, every weight touched in every step, nothing lazy."""

from __future__ import annotations

import numpy as np


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


# Name: (value, derivative in the raw prediction p); `e` is epsilon, delta or the quantile.
LOSSES = {
    "hinge": (lambda y, p, e: max(0, 1 - y * p), lambda y, p, e: -y if y * p < 1 else 0.0),
    "squared_hinge": (lambda y, p, e: max(0, 1 - y * p) ** 2, lambda y, p, e: -2 * y * max(0, 1 - y * p)),
    "perceptron": (lambda y, p, e: max(0, -y * p), lambda y, p, e: -y if y * p <= 0 else 0.0),
    "modified_huber": (
        lambda y, p, e: max(0, 1 - y * p) ** 2 if y * p >= -1 else -4 * y * p,
        lambda y, p, e: -2 * y * max(0, 1 - y * p) if y * p >= -1 else -4 * y,
    ),
    "log_loss": (lambda y, p, e: np.logaddexp(0, -y * p), lambda y, p, e: -y * _sigmoid(-y * p)),  # y in {-1, 1}
    "exponential": (lambda y, p, e: np.exp(-y * p), lambda y, p, e: -y * np.exp(-y * p)),
    "squared_error": (lambda y, p, e: (p - y) ** 2 / 2, lambda y, p, e: p - y),
    "absolute": (lambda y, p, e: abs(p - y), lambda y, p, e: np.sign(p - y)),
    "huber": (
        lambda y, p, e: (p - y) ** 2 / 2 if abs(p - y) <= e else e * (abs(p - y) - e / 2),
        lambda y, p, e: np.clip(p - y, -e, e),
    ),
    "log_cosh": (lambda y, p, e: np.log(np.cosh(p - y)), lambda y, p, e: np.tanh(p - y)),
    "epsilon_insensitive": (
        lambda y, p, e: max(0, abs(p - y) - e),
        lambda y, p, e: np.sign(p - y) if abs(p - y) > e else 0.0,
    ),
    "squared_epsilon_insensitive": (
        lambda y, p, e: max(0, abs(p - y) - e) ** 2,
        lambda y, p, e: 2 * np.sign(p - y) * max(0, abs(p - y) - e),
    ),
    "pinball": (
        lambda y, p, e: e * max(y - p, 0) + (1 - e) * max(p - y, 0),
        lambda y, p, e: (1 - e) if p > y else -e if p < y else 0.0,
    ),
    "poisson": (lambda y, p, e: np.exp(p) - y * p, lambda y, p, e: np.exp(p) - y),
    "gamma": (lambda y, p, e: p + y * np.exp(-p), lambda y, p, e: 1 - y * np.exp(-p)),
}


def rate(schedule, t, alpha, eta0, power_t):
    """The learning rate of step t = 1, 2, ..."""
    if schedule == "optimal":
        return 1 / (alpha * (alpha**-0.75 + t - 1))
    return eta0 / t**power_t if schedule == "invscaling" else eta0


def descend(
    X, y, loss, *, n_passes, penalty="l2", alpha=1e-4, l1_ratio=0.15, schedule="optimal", eta0=0.01, power_t=0.5,
    parameter=0.1, fit_intercept=True, weights=None, average_from=0, bounds=None, p=0.5, intercept_share=1.0,
):  # fmt: skip
    """Rows in order, `n_passes` times. Returns coefficients and intercept, or their averages from step `average_from` on."""
    value, slope = LOSSES[loss]
    n, d = X.shape
    w, b, t, owed, paid = np.zeros(d), 0.0, 1, 0.0, np.zeros(d)
    if penalty == "box":
        w = np.clip(w, *bounds)
    iterates = []
    share = {"l2": 0.0, "elasticnet": l1_ratio, "l1": 1.0}.get(penalty)
    for _ in range(n_passes):
        for i in range(n):
            s = 1.0 if weights is None else weights[i]
            if s == 0:
                continue
            raw, eta = X[i] @ w + b, rate(schedule, t, alpha, eta0, power_t)
            if schedule in ("pa1", "pa2"):
                lost, squared = value(y[i], raw, parameter), X[i] @ X[i]
                step = min(eta0, lost / squared) if schedule == "pa1" else lost / (squared + 0.5 / eta0)
                update = -np.sign(slope(y[i], raw, parameter)) * step * s
            else:
                update = -eta * slope(y[i], raw, parameter) * s
            if share is not None:
                w = w * max(0, 1 - (1 - share) * eta * alpha)
            w = w + update * X[i]
            b += intercept_share * update * fit_intercept
            if share:  # the cumulative penalty: each weight pays what it owes so far, but never crosses zero
                owed += share * eta * alpha
                before = w.copy()
                w = np.where(w > 0, np.maximum(0, w - (owed + paid)), np.where(w < 0, np.minimum(0, w + (owed - paid)), w))
                paid += w - before
            if penalty == "lp":
                size = np.abs(w)
                shrunk = size - eta * alpha * p * np.where(size > 0, size, 1) ** (p - 1)
                w = np.where(size > 0, np.sign(w) * np.maximum(0, shrunk), 0)
            if penalty == "box":
                w = np.clip(w, *bounds)
            if 0 < average_from <= t:
                iterates.append((w, b))
            t += 1
    if iterates:
        return np.mean([w for w, _ in iterates], axis=0), np.mean([b for _, b in iterates])
    return w, b


def objective(X, y, loss, w, b, *, penalty, alpha, l1_ratio=0.15, parameter=0.1, weights=None):
    """The mean loss over rows of positive weight, plus alpha times the penalty."""
    value, _ = LOSSES[loss]
    s = np.ones(len(y)) if weights is None else weights
    share = {"l2": 0.0, "elasticnet": l1_ratio, "l1": 1.0}[penalty]
    losses = [s[i] * value(y[i], X[i] @ w + b, parameter) for i in range(len(y))]
    return sum(losses) / np.count_nonzero(s) + alpha * ((1 - share) / 2 * w @ w + share * np.abs(w).sum())


def perceptron(X, y, rule, *, eta0=1.0, activation="sign", max_passes=1000, intercept_share=1.0):
    """Labels -1 and 1, rows in order, until a pass makes no mistake. Returns coefficients, intercept and the mistakes made."""
    w, b, n_mistakes = np.zeros(X.shape[1]), 0.0, 0
    for _ in range(max_passes):
        n_now = 0
        for x, label in zip(X, y, strict=True):
            raw = x @ w + b
            is_mistake = label * raw <= 0
            n_now += is_mistake
            if rule in ("rosenblatt", "hebb"):
                error = label if is_mistake else 0
            elif activation == "sigmoid":
                error = (label + 1) / 2 - _sigmoid(raw)
            else:
                error = label - (np.sign(raw) if activation == "sign" else np.tanh(raw))
            w, b = w + eta0 * error * x, b + intercept_share * eta0 * error
        n_mistakes += n_now
        if n_now == 0:
            break
    return w, b, n_mistakes
