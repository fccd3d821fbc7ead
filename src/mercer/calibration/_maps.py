"""Maps from scores to probabilities: Platt's sigmoid, isotonic regression and temperature scaling. Each knows no classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.special import expit, log_softmax, logit, softmax

from mercer._arrays import FloatArray
from mercer._trace import Certificate, Status

_MAX_STEPS = 100  # Newton's method needs about six; it gives up only where rounding stops it


@dataclass(frozen=True, eq=False)
class SigmoidMap:
    """p(score) = 1 / (1 + exp(a score + b))."""

    a_: float
    b_: float
    certificate_: Certificate

    def predict(self, scores: FloatArray) -> FloatArray:
        values: FloatArray = expit(-(self.a_ * scores.astype(np.float64) + self.b_))
        return values


@dataclass(frozen=True, eq=False)
class IsotonicMap:
    """The non-decreasing function through given points: linear between them, constant beyond."""

    X_thresholds_: FloatArray
    y_thresholds_: FloatArray
    certificate_: Certificate

    def predict(self, scores: FloatArray) -> FloatArray:
        return np.interp(scores.astype(np.float64), self.X_thresholds_, self.y_thresholds_)


@dataclass(frozen=True, eq=False)
class TemperatureMap:
    """softmax(beta logits), one row a row; beta is the inverse of the temperature."""

    beta_: float
    certificate_: Certificate

    def predict(self, logits: FloatArray) -> FloatArray:
        values: FloatArray = softmax(self.beta_ * logits.astype(np.float64), axis=1)
        return values


# ---- Platt


class _PlattObjective:
    """sum_i w_i (log(1 + exp(z_i)) - t_i z_i) with z = -(a s + b), for scores s that have mean 0 and size 1."""

    def __init__(self, scores: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
        self.scores, self.targets, self.weights = scores, targets, weights

    def value(self, a: float, b: float) -> float:
        z = -(a * self.scores + b)
        return float(self.weights @ (np.logaddexp(0.0, z) - self.targets * z))

    def slope(self, a: float, b: float) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian."""
        p = expit(-(a * self.scores + b))
        residual, curve = self.weights * (self.targets - p), self.weights * p * (1 - p)
        moments = [curve.sum(), curve @ self.scores, curve @ self.scores**2]
        return np.array([residual @ self.scores, residual.sum()]), np.array([moments[2:0:-1], moments[1::-1]])


def fit_sigmoid(scores: FloatArray, is_positive: npt.NDArray[Any], weights: FloatArray, *, tol: float = 1e-10) -> SigmoidMap:
    """Platt's sigmoid by Newton's method, with his targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2), which keep the fit finite."""
    n_positive, n_negative = weights @ is_positive, weights @ ~is_positive
    targets = np.where(is_positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    shrunk, largest = scores.astype(np.float64), float(np.abs(scores).max())
    if largest > 0:
        shrunk = shrunk / largest  # squares of huge scores overflow
    total = weights.sum()
    centre = float(weights @ shrunk / total)
    size = float(np.sqrt(weights @ (shrunk - centre) ** 2 / total))
    is_constant = size <= 1e-14
    objective = _PlattObjective(np.zeros_like(shrunk) if is_constant else (shrunk - centre) / size, targets, weights)
    a, b = 0.0, float(-logit(weights @ targets / total))
    status = Status.INEXACT
    for _ in range(_MAX_STEPS):
        gradient, hessian = objective.slope(a, b)
        residual = float(np.abs(gradient).max() / total)
        if residual <= tol:
            status = Status.CONVERGED
            break
        step = np.array([0.0, gradient[1] / hessian[1, 1]]) if is_constant else np.linalg.solve(hessian, gradient)
        a, b, is_moved = _descend(objective, a, b, step, gradient)
        if not is_moved:
            break
    certificate = Certificate("Newton", status, objective.value(a, b), "largest slope of the mean loss", residual, tol)
    if is_constant:
        return SigmoidMap(0.0, b, certificate)
    return SigmoidMap(a / size / largest, b - a * centre / size, certificate)


def _descend(
    objective: _PlattObjective, a: float, b: float, step: FloatArray, gradient: FloatArray
) -> tuple[float, float, bool]:
    """Newton's step, halved until the objective falls; whether it moved at all."""
    before, slope, length = objective.value(a, b), float(step @ gradient), 1.0
    while length > 1e-10:
        a_new, b_new = a - length * step[0], b - length * step[1]
        if objective.value(a_new, b_new) <= before - 1e-4 * length * slope + 1e-15 * abs(before):
            return float(a_new), float(b_new), (a_new, b_new) != (a, b)
        length /= 2
    return a, b, False


# ---- isotonic regression


def fit_isotonic(scores: FloatArray, is_positive: npt.NDArray[Any], weights: FloatArray) -> IsotonicMap:
    """Least squares under x_1 <= x_2 <= ... by pooling adjacent violators; equal scores are pooled first. O(n log n)."""
    resolution = np.finfo(scores.dtype).resolution  # scores that differ by less are equal but for rounding
    kept = weights > 0
    order = np.argsort(scores[kept], kind="stable")
    sorted_scores, weights = scores[kept][order].astype(np.float64), weights[kept][order]
    starts = np.flatnonzero(np.append(True, np.diff(sorted_scores) >= resolution))
    mass = np.add.reduceat(weights, starts)
    share = np.add.reduceat(weights * is_positive[kept][order], starts) / mass
    levels = isotonic_regression(share, weights=mass).x
    certificate = _isotonic_certificate(share, mass, levels)
    return IsotonicMap(*_corners(sorted_scores[starts], levels), certificate)


def _isotonic_certificate(values: FloatArray, weights: FloatArray, levels: FloatArray) -> Certificate:
    """The multipliers of x_i <= x_{i+1} are the running sums of w (y - x): they must be >= 0, and 0 where x rises."""
    total = weights.sum()
    multipliers = np.cumsum(weights * (values - levels)) / total
    slack = np.append(np.diff(levels), 1.0)  # the last sum is that of all rows, and free
    residual = float(max(np.max(-multipliers), np.max(np.minimum(np.abs(multipliers), slack)), np.max(-slack), 0.0))
    primal, tol = float(weights @ (values - levels) ** 2 / 2), 1e-10
    status = Status.CONVERGED if residual <= tol else Status.INEXACT
    return Certificate(
        "pool adjacent violators", status, primal, "largest violation of the optimality conditions", residual, tol
    )


def _corners(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The points that the function needs: those between two equal neighbours are on the line anyway."""
    is_inner = np.zeros(len(x), dtype=bool)
    is_inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
    return x[~is_inner], y[~is_inner]


# ---- temperature


def fit_temperature(
    logits: FloatArray, codes: npt.NDArray[np.intp], weights: FloatArray, *, tol: float = 1e-10
) -> TemperatureMap:
    """The beta in [e^-10, e^10] of least log loss, a convex function of it: Newton's method within a bracket."""
    logits, rows, total = logits.astype(np.float64), np.arange(len(codes)), weights.sum()
    logits = logits - logits.max(axis=1, keepdims=True)  # changes no probability, and no product with beta overflows

    of_class, of_truth = np.ascontiguousarray(logits.T), logits[rows, codes]

    def slopes(beta: float) -> tuple[float, float]:
        p = np.exp(beta * of_class)
        p /= p.sum(axis=0)
        mean, square = (p * of_class).sum(axis=0), (p * of_class**2).sum(axis=0)
        return float(weights @ (mean - of_truth) / total), float(weights @ (square - mean**2) / total)

    low, high = float(np.exp(-10.0)), float(np.exp(10.0))
    beta, status, residual = 1.0, Status.INEXACT, np.inf
    for end, sign in ((low, 1.0), (high, -1.0)):
        if sign * slopes(end)[0] >= 0:  # the loss falls towards the end of the bracket, and beyond
            beta, status, residual = end, Status.CONVERGED, 0.0
    for _ in range(0 if status is Status.CONVERGED else _MAX_STEPS):
        slope, curve = slopes(beta)
        residual = abs(slope) * beta
        if residual <= tol:
            status = Status.CONVERGED
            break
        low, high = (beta, high) if slope < 0 else (low, beta)
        newton = beta - slope / curve if curve > 0 else np.inf
        following = newton if low < newton < high else float(np.sqrt(low * high))
        if following == beta:
            break
        beta = following
    loss = float(-weights @ log_softmax(beta * logits, axis=1)[rows, codes])
    return TemperatureMap(beta, Certificate("Newton", status, loss, "slope of the mean loss times beta", residual, tol))
