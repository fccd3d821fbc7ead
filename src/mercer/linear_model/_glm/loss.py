"""The objective of a generalised linear model: half the deviance of a family under a link, with an l2 penalty.

Pairs of family and link that have a native loss are summed in one pass over X. Any other pair, and any fit with an offset, is
evaluated by its formulas on arrays, with the expected Hessian in place of the exact one: Newton's steps are then those of
Fisher scoring, iteratively reweighted least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.linear_loss import Evaluation, LinearLoss, LinearRows
from mercer.linear_model._glm.families import Family, Tweedie
from mercer.linear_model._glm.links import Link

# The native loss of a family under a link: its name and its parameter.
NATIVE = {
    ("normal", "identity"): ("squared", 0.0),
    ("normal", "log"): ("tweedie", 0.0),
    ("bernoulli", "logit"): ("logistic", 0.0),
    ("poisson", "log"): ("poisson", 0.0),
    ("gamma", "log"): ("gamma", 0.0),
    ("inverse_gaussian", "log"): ("tweedie", 3.0),
}
# Pairs whose loss is convex in the linear value: every stationary point is a minimum, and the penalty gives a duality gap.
CONVEX = {
    ("normal", "identity"),
    ("bernoulli", "logit"),
    ("bernoulli", "probit"),
    ("bernoulli", "cloglog"),
    ("poisson", "log"),
    ("poisson", "identity"),
    ("poisson", "sqrt"),
    ("gamma", "log"),
    ("gamma", "inverse"),
}

INSIDE = 1e-3  # how far inside its domain a mean starts that would lie on the border


def _is_known(family: Family, link: Link) -> bool:
    """Whether both are Mercer's: nothing is known about a user's own, whatever their names and bases."""
    return all(type(part).__module__.startswith("mercer.") for part in (family, link))


def native_loss(family: Family, link: Link) -> Any:
    """The kernel for this pair, or None."""
    if not _is_known(family, link):
        return None
    if isinstance(family, Tweedie):
        return kernels.RowLoss("tweedie", family.power) if link.name == "log" else None
    found = NATIVE.get((family.name, link.name))
    return None if found is None else kernels.RowLoss(*found)


def is_convex(family: Family, link: Link) -> bool:
    """Whether the loss is known to be convex in the linear value."""
    if isinstance(family, Tweedie):
        return link.name == "log" and 1 <= family.power <= 2
    return _is_known(family, link) and (family.name, link.name) in CONVEX


def sums_of_weights(weights: FloatArray | None, y: FloatArray) -> tuple[float, float]:
    """The total weight and the weighted mean of y."""
    if weights is None:
        return float(len(y)), float(y.mean())
    total = float(weights.sum())
    return total, float((weights * y).sum()) / total  # not by BLAS, whose threads would change bits


def _has_derivatives(at: Evaluation) -> bool:
    """Whether gradient and Hessian are there and finite."""
    return at.hessian is not None and bool(np.isfinite(at.gradient).all() and np.isfinite(at.hessian).all())


class DevianceLoss(LinearLoss):
    """Half the deviance plus the penalty, by a native loss. Penalties count for a total weight of one, as in scikit-learn."""

    def __init__(
        self,
        rows: LinearRows,
        y: FloatArray,
        weights: FloatArray | None,
        family: Family,
        link: Link,
        alpha: float,
        *,
        has_intercept: bool,
    ) -> None:
        self.family, self.link = family, link
        total, self.average = sums_of_weights(weights, y)
        self.has_gap = is_convex(family, link)
        super().__init__(rows, y, weights, native_loss(family, link), alpha * total, has_intercept=has_intercept)

    def gap(self, at: Evaluation) -> float | None:
        """None where the loss is not convex: a stationary point may then be a local minimum."""
        if not self.has_gap:
            return None
        with np.errstate(over="ignore"):
            gap = super().gap(at)
        return None if gap is None else min(gap, float(np.finfo(np.float64).max))

    def first_point(self) -> FloatArray:
        """The model that gives every row the mean of y, where there is an intercept; else zero."""
        point, mean = self.start(), self.average
        if not self.has_intercept:
            return point
        if mean <= self.family.least_mean:  # such as targets that are all zero: their best mean is no mean
            mean = self.family.least_mean + INSIDE
        if mean >= self.family.largest_mean:
            mean = self.family.largest_mean - INSIDE
        with np.errstate(all="ignore"):
            value = self.link.link(np.array([mean]))[0]
        point[-1] = value if np.isfinite(value) else 0.0
        return point


class ScoringLoss(DevianceLoss):
    """The same by formulas on arrays, for any pair and with an offset: a fixed part of each row's linear value."""

    def __init__(self, *args: Any, offset: FloatArray | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._offset = offset

    def values(self, point: FloatArray) -> FloatArray:
        """The linear values of the rows, the offset included."""
        raw = self.rows.values(point)
        return raw if self._offset is None else raw + self._offset

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        with np.errstate(all="ignore"):  # what overflows lies outside the domain, and is seen to
            return self._evaluate(point, self.values(point))

    def _evaluate(self, point: FloatArray, raw: FloatArray) -> Evaluation:
        mean = self.family.inside(self.link.inverse(raw))
        if mean is None:
            return Evaluation(np.inf, np.full_like(point, np.inf), None)
        losses, slope, variance = self.family.loss(self.y, mean), self.link.derivative(raw), self.family.variance(mean)
        slopes, curvatures = (mean - self.y) * slope / variance, slope**2 / variance
        if self.weights is not None:
            present = self.weights > 0  # a row of weight zero is absent, whatever its loss
            losses, slopes, curvatures = (np.where(present, self.weights * part, 0) for part in (losses, slopes, curvatures))
        gradient, hessian = self.rows.weighted_sums(slopes, curvatures)
        return self._penalised(point, float(losses.sum()), gradient, hessian)

    def first_point(self) -> FloatArray:
        """The better of the constant model and one weighted least-squares step from means near y."""
        points = [super().first_point(), self._scored_start()]
        found = [self.evaluate(point) for point in points]
        values = [at.value if _has_derivatives(at) else np.inf for at in found]
        return points[int(np.argmin(values))]

    def _scored_start(self) -> FloatArray:
        mean = self.family.start(self.y, self.average)
        with np.errstate(all="ignore"):
            raw = self.link.link(mean)
            curvatures = self.link.derivative(raw) ** 2 / self.family.variance(mean)
            if self.weights is not None:
                curvatures = curvatures * self.weights
            targets = curvatures * (raw if self._offset is None else raw - self._offset)
        if not np.isfinite(targets).all():
            return self.start()
        gradient, hessian = self.rows.weighted_sums(targets, curvatures)
        at = self._penalised(np.zeros(len(gradient)), 0.0, gradient, hessian)
        assert at.hessian is not None
        point: FloatArray = np.linalg.lstsq(at.hessian, at.gradient, rcond=None)[0]
        return point


def deviance_loss(
    rows: LinearRows,
    y: FloatArray,
    weights: FloatArray | None,
    family: Family,
    link: Link,
    alpha: float,
    *,
    has_intercept: bool,
    offset: FloatArray | None = None,
) -> DevianceLoss:
    """The objective by the fastest way there is."""
    if offset is None and native_loss(family, link) is not None:
        return DevianceLoss(rows, y, weights, family, link, alpha, has_intercept=has_intercept)
    return ScoringLoss(rows, y, weights, family, link, alpha, has_intercept=has_intercept, offset=offset)
