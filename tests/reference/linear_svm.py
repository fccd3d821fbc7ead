"""Linear support vector machines and quantile regression as textbooks have them: objectives, and general-purpose solvers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog, minimize


def hinge_loss(y, raw):
    return np.maximum(0, 1 - y * raw)


def squared_hinge_loss(y, raw):
    return np.maximum(0, 1 - y * raw) ** 2


def epsilon_insensitive_loss(y, raw, epsilon=0.0):
    return np.maximum(0, np.abs(y - raw) - epsilon)


def squared_epsilon_insensitive_loss(y, raw, epsilon=0.0):
    return np.maximum(0, np.abs(y - raw) - epsilon) ** 2


def pinball_loss(y, raw, quantile):
    return np.maximum(quantile * (y - raw), (quantile - 1) * (y - raw))


def svm_objective(X, y, coef, intercept, *, C, loss, weights=None, penalty="l2", l2_of_intercept=0.0):
    weights = np.ones(len(y)) if weights is None else weights
    size = np.abs(coef).sum() if penalty == "l1" else coef @ coef / 2
    return size + l2_of_intercept * intercept**2 / 2 + C * weights @ loss(y, X @ coef + intercept)


def quantile_objective(X, y, coef, intercept, *, quantile, alpha, weights=None):
    return np.average(pinball_loss(y, X @ coef + intercept, quantile), weights=weights) + alpha * np.abs(coef).sum()


def hinge_svm(X, y, C):
    """The quadratic program in (w, b, slacks), by a general solver for constrained problems. Returns its value."""
    n, d = X.shape
    rows = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])

    def value(v):
        return v[:d] @ v[:d] / 2 + C * v[d + 1 :].sum()

    def gradient(v):
        return np.concatenate([v[:d], [0], np.full(n, C)])

    found = minimize(
        value,
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * (d + 1) + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: rows @ v - 1, "jac": lambda v: rows},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.status in (0, 8)  # done, or no decrease that rounding does not hide
    return found.fun


def l1_squared_hinge_svm(X, y, C):
    """With w = p - q, p and q non-negative, by a bounded quasi-Newton method. Returns its value."""
    d = X.shape[1]

    def value_and_gradient(v):
        coef, intercept = v[:d] - v[d : 2 * d], v[-1]
        slack = np.maximum(0, 1 - y * (X @ coef + intercept))
        of_coef, of_intercept = -2 * C * X.T @ (y * slack), -2 * C * (y @ slack)
        return v[: 2 * d].sum() + C * slack @ slack, np.concatenate([1 + of_coef, 1 - of_coef, [of_intercept]])

    bounds = [(0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(value_and_gradient, np.zeros(2 * d + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


def quantile_regression(X, y, quantile, alpha, *, fit_intercept=True, weights=None):
    """The linear program in (p, q, under, over), by HiGHS. Returns its value, for a total weight of one."""
    n = len(X)
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    rows = np.column_stack([X, np.ones(n)]) if fit_intercept else X
    of_coef = np.full(rows.shape[1], alpha * weights.sum())
    if fit_intercept:
        of_coef[-1] = 0
    costs = np.concatenate([of_coef, of_coef, quantile * weights, (1 - quantile) * weights])
    equations = np.hstack([rows, -rows, np.eye(n), -np.eye(n)])
    return linprog(costs, A_eq=equations, b_eq=y, method="highs").fun / weights.sum()


def multiclass_hinge(y, raw):
    """max_k [k != y] + raw_k - raw_y for each row of raw, of one column a class."""
    rows = np.arange(len(y))
    return (raw + (np.arange(raw.shape[1]) != y[:, None])).max(axis=1) - raw[rows, y]


def crammer_singer_objective(X, y, coef, intercept, *, C, weights=None, l2_of_intercept=0.0):
    weights = np.ones(len(y)) if weights is None else weights
    size = (coef**2).sum() + l2_of_intercept * (intercept**2).sum()
    return size / 2 + C * weights @ multiclass_hinge(y, X @ coef.T + intercept)


def crammer_singer_svm(X, y, C, n_classes):
    """The quadratic program in (W, b, slacks) with free intercepts, by a general solver. Returns its value."""
    (n, d), size = X.shape, (X.shape[1] + 1) * n_classes
    extended = np.column_stack([X, np.ones(n)])
    lines, least = [], []
    for i in range(n):
        for k in range(n_classes):
            line = np.zeros((n_classes, d + 1))
            line[y[i]] += extended[i]
            line[k] -= extended[i]
            lines.append(np.concatenate([line.ravel(), np.arange(n) == i]))
            least.append(float(k != y[i]))
    lines, least = np.array(lines), np.array(least)
    is_coef = np.append(np.tile(np.append(np.ones(d), 0), n_classes), np.zeros(n))
    found = minimize(
        lambda v: is_coef @ v**2 / 2 + C * v[size:].sum(),
        np.append(np.zeros(size), np.ones(n)),
        jac=lambda v: is_coef * v + np.append(np.zeros(size), np.full(n, C)),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: lines @ v - least, "jac": lambda v: lines},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.status in (0, 8)  # done, or no decrease that rounding does not hide
    return found.fun
