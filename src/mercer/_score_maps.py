"""Maps from scores to probabilities: Platt's sigmoid, isotonic regression and temperature scaling. Each knows no classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, logit, softmax
from sklearn.utils import Tags, TargetTags

from mercer._arrays import FloatArray, check_weights
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._saved import saved
from mercer._trace import Certificate, Status

_MAX_STEPS = 100  # Newton's method needs about six; it gives up only where rounding stops it


class FittedMap:
    """A map as scikit-learn knows estimators: `check_is_fitted` looks for tags, `fit`, and names that end with "_"."""

    def __sklearn_tags__(self) -> Any:
        kinds = {
            "transformer_tags": None,
            "classifier_tags": None,
            "regressor_tags": None,
        }  # scikit-learn 1.6.0 has no defaults
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), **kinds)


@saved("mercer.calibration.SigmoidMap")
@dataclass(frozen=True, eq=False)
class SigmoidMap(FittedMap):
    """p(score) = 1 / (1 + exp(a score + b))."""

    a_: float
    b_: float
    certificate_: Certificate

    def fit(self, scores: FloatArray, is_positive: npt.NDArray[Any], sample_weight: Any = None) -> SigmoidMap:
        """The SigmoidMap of other scores; this one stays as it is."""
        return fit_sigmoid(scores, is_positive, _weights(sample_weight, len(scores)))

    def predict(self, scores: FloatArray) -> FloatArray:
        scores = _as_line(scores)
        values: FloatArray = np.empty(len(scores))
        kernels.sigmoid_values(scores, self.a_, self.b_, values, effective_threads(None))
        return values


@saved("mercer.calibration.IsotonicMap")
@dataclass(frozen=True, eq=False)
class IsotonicMap(FittedMap):
    """The non-decreasing function through given points: linear between them, constant beyond."""

    X_thresholds_: FloatArray
    y_thresholds_: FloatArray
    certificate_: Certificate

    def fit(self, scores: FloatArray, is_positive: npt.NDArray[Any], sample_weight: Any = None) -> IsotonicMap:
        """The IsotonicMap of other scores; this one stays as it is."""
        return fit_isotonic(scores, is_positive, _weights(sample_weight, len(scores)))

    def predict(self, scores: FloatArray) -> FloatArray:
        scores = _as_line(scores)
        values: FloatArray = np.empty(len(scores))
        kernels.isotonic_values(scores, self.X_thresholds_, self.y_thresholds_, values, effective_threads(None))
        return values


@saved("mercer.calibration.TemperatureMap")
@dataclass(frozen=True, eq=False)
class TemperatureMap(FittedMap):
    """softmax(beta logits), one row a row; beta is the inverse of the temperature."""

    beta_: float
    certificate_: Certificate

    def fit(self, logits: FloatArray, codes: npt.NDArray[Any], sample_weight: Any = None) -> TemperatureMap:
        """The TemperatureMap of other logits; this one stays as it is."""
        return fit_temperature(logits, codes, _weights(sample_weight, len(logits)))

    def predict(self, logits: FloatArray) -> FloatArray:
        values: FloatArray = softmax(self.beta_ * logits.astype(np.float64), axis=1)
        return values


def _weights(sample_weight: Any, n_rows: int) -> FloatArray:
    weights = check_weights(sample_weight, n_rows, np.float64)
    return np.ones(n_rows) if weights is None else weights


def _as_line(scores: FloatArray) -> FloatArray:
    """One column of scores as the kernels read it: float32 or float64, one after another."""
    dtype = scores.dtype if scores.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(scores, dtype=dtype)


# ---- Platt


class _PlattObjective:
    """sum_i w_i (log(1 + exp(z_i)) - t_i z_i) with z = slope s + intercept, for scores s that have mean 0 and size 1."""

    def __init__(self, scores: FloatArray, targets: FloatArray, weights: FloatArray) -> None:
        self._rows = (scores, targets, weights)
        self._n_threads = effective_threads(None)

    def at(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Value, gradient and Hessian, of one pass over the rows."""
        value, *slopes, ss, si, ii = kernels.sigmoid_loss(*self._rows, point[0], point[1], self._n_threads)
        return value, np.array(slopes), np.array([[ss, si], [si, ii]])


def fit_sigmoid(scores: FloatArray, is_positive: npt.NDArray[Any], weights: FloatArray, *, tol: float = 1e-10) -> SigmoidMap:
    """Platt's sigmoid by Newton's method, with his targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2), which keep the fit finite."""
    total = float(weights.sum())
    n_positive = float(weights @ is_positive)
    targets = np.where(is_positive, (n_positive + 1) / (n_positive + 2), 1 / (total - n_positive + 2))
    standard, largest, centre, size = _standardise(scores, weights, total)
    objective = _PlattObjective(standard, targets, weights)
    point = np.array([0.0, logit(float(np.vdot(weights, targets)) / total)])
    value, gradient, hessian = objective.at(point)
    status = Status.INEXACT
    for _ in range(_MAX_STEPS):
        residual = float(np.abs(gradient).max() / total)
        if residual <= tol:
            status = Status.CONVERGED
            break
        step = np.linalg.solve(hessian, gradient) if size > 0 else np.array([0.0, gradient[1] / hessian[1, 1]])
        lower = _descend(objective, point, step, value, float(step @ gradient))
        if lower is None:
            break
        point, (value, gradient, hessian) = lower
    certificate = Certificate("Newton", status, value, "largest slope of the mean loss", residual, tol)
    slope, intercept = float(point[0]), float(point[1])
    if size == 0:
        return SigmoidMap(0.0, -intercept, certificate)
    return SigmoidMap(-slope / size / largest, slope * centre / size - intercept, certificate)


def _standardise(scores: FloatArray, weights: FloatArray, total: float) -> tuple[FloatArray, float, float, float]:
    """(scores / largest - centre) / size, of mean 0 and size 1, with those three; all zeros and size 0 for constant scores."""
    standard = scores.astype(np.float64)
    largest = float(max(standard.max(), -standard.min()))
    if largest > 0:
        standard /= largest  # squares of huge scores overflow
    centre = float(np.vdot(weights, standard)) / total
    standard -= centre
    size = float(np.sqrt(np.vdot(weights, standard**2) / total))
    if size <= 1e-14:
        return np.zeros_like(standard), largest, centre, 0.0
    standard /= size
    return standard, largest, centre, size


def _descend(
    objective: _PlattObjective, point: FloatArray, step: FloatArray, value: float, slope: float
) -> tuple[FloatArray, tuple[float, FloatArray, FloatArray]] | None:
    """Newton's step, halved until the objective falls: where to, and what is known there. None if it does not move."""
    length = 1.0
    while length > 1e-10:
        new = point - length * step
        if (new == point).all():
            return None
        known = objective.at(new)
        if known[0] <= value - 1e-4 * length * slope + 1e-15 * abs(value):
            return new, known
        length /= 2
    return None


# ---- isotonic regression


def fit_isotonic(scores: FloatArray, is_positive: npt.NDArray[Any], weights: FloatArray, *, tol: float = 1e-10) -> IsotonicMap:
    """Least squares under x_1 <= x_2 <= ... by pooling adjacent violators; equal scores are pooled first. O(n)."""
    scores = _as_line(scores)
    resolution = float(np.finfo(scores.dtype).resolution)  # scores that differ by less are equal but for rounding
    x, y = np.empty(len(scores)), np.empty(len(scores))
    classes = np.ascontiguousarray(is_positive, dtype=bool).view(np.uint8)
    n_corners, primal, residual = kernels.fit_isotonic(scores, classes, weights, resolution, x, y)
    status = Status.CONVERGED if residual <= tol else Status.INEXACT
    condition = "largest violation of the optimality conditions"
    certificate = Certificate("pool adjacent violators", status, primal, condition, residual, tol)
    return IsotonicMap(x[:n_corners].copy(), y[:n_corners].copy(), certificate)


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
