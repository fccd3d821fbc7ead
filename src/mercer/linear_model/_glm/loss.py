"""The objective of a generalised linear model: half the deviance of a family under a link, with an l2 penalty.

Pairs of family and link that have a native loss are summed in one pass over X. Any other pair, and any fit with an offset, is
evaluated by its formulas on arrays, with the expected Hessian in place of the exact one: Newton's steps are then those of
Fisher scoring, iteratively reweighted least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

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

LEAST_DISTANCE = 1e-12  # to the border of the domain, against that of the average target: derivatives overflow beyond
NEAR_BORDER = 1e-6
INSIDE = 1e-3  # how far inside its domain a mean starts that would lie on the border
MOST_SCORED_COLUMNS = 1000  # beyond, a step of weighted least squares costs more than it saves


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

    def is_at_border(self, point: FloatArray) -> bool:
        """Whether a mean has nowhere left to go."""
        return False

    def first_point(self) -> FloatArray:
        """The model that gives every row the mean of y, where there is an intercept; else zero."""
        point = self.start()
        if not self.has_intercept:
            return point
        with np.errstate(all="ignore"):
            value = self.link.link(np.array([self._inside_mean()]))[0]
        point[-1] = value if np.isfinite(value) else 0.0
        return point

    def _inside_mean(self) -> float:
        """The mean of y, or the next in the domain for targets such as those that are all zero: their best mean is no mean."""
        if self.average <= self.family.least_mean:
            return self.family.least_mean + INSIDE
        return self.average if self.average < self.family.largest_mean else self.family.largest_mean - INSIDE


class ScoringLoss(DevianceLoss):
    """The same by formulas on arrays, for any pair and with an offset: a fixed part of each row's linear value."""

    def __init__(self, *args: Any, offset: FloatArray | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._offset = offset
        self._present = None if self.weights is None else self.weights > 0  # the others are absent, whatever their values
        with np.errstate(all="ignore"):
            self._middle = float(self.link.link(np.array([self._inside_mean()]))[0])
            self._borders = np.sort(self.link.link(np.array([self.family.least_mean, self.family.largest_mean])))
        if not self._borders[0] < self._middle < self._borders[1]:  # as of 1 / mean for means of either sign
            self._borders = np.array([-np.inf, np.inf])
        self._reach = float(np.abs(self._borders - self._middle).min())  # infinite where any linear value has a mean

    def values(self, point: FloatArray) -> FloatArray:
        """The linear values of the rows, the offset included."""
        raw = self.rows.values(point)
        return raw if self._offset is None else raw + self._offset

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        with np.errstate(all="ignore"):  # what overflows lies outside the domain, and is seen to
            return self._evaluate(point, self.values(point), with_hessian)

    def _evaluate(self, point: FloatArray, raw: FloatArray, with_hessian: bool) -> Evaluation:
        if self._present is not None:
            raw = np.where(self._present, raw, self._middle)
        mean = self.family.inside(self.link.inverse(raw))
        if mean is None or self._distance_to_border(raw) < LEAST_DISTANCE:
            return Evaluation(np.inf, np.full_like(point, np.inf), None)
        losses, slope, variance = self.family.loss(self.y, mean), self.link.derivative(raw), self.family.variance(mean)
        slopes, curvatures = (mean - self.y) * slope / variance, slope**2 / variance
        if self._present is not None and self.weights is not None:
            losses, slopes, curvatures = (
                np.where(self._present, self.weights * each, 0) for each in (losses, slopes, curvatures)
            )
        if not with_hessian:
            return self._penalised(point, float(losses.sum()), self.rows.slope_sums(slopes), None)
        return self._penalised(point, float(losses.sum()), *self.rows.weighted_sums(slopes, curvatures))

    def is_at_border(self, point: FloatArray) -> bool:
        return self._distance_to_border(self.values(point)) < NEAR_BORDER

    def _distance_to_border(self, raw: FloatArray) -> float:
        """The least distance of a linear value to the border of the domain, against that of the average target."""
        if not np.isfinite(self._reach):
            return np.inf
        raw = raw if self._present is None else raw[self._present]
        lower, upper = self._borders
        return float(min(raw.min() - lower, upper - raw.max())) / self._reach

    def first_point(self) -> FloatArray:
        """The better of the constant model and one weighted least-squares step from means near y, or any inside the domain."""
        points = [super().first_point()]
        if self.rows.n_features <= MOST_SCORED_COLUMNS:
            points.append(self._scored_start())
        values = [self._start_value(point) for point in points]
        if np.isfinite(values).any():
            return points[int(np.argmin(values))]
        inside = self._inside_start()
        return points[0] if inside is None else inside

    def _start_value(self, point: FloatArray) -> float:
        """The objective, infinite where there are no derivatives to start with."""
        at = self.evaluate(point, with_hessian=self.rows.n_features <= MOST_SCORED_COLUMNS)
        is_usable = all(np.isfinite(part).all() for part in (at.gradient, at.hessian) if part is not None)
        return at.value if is_usable else np.inf

    def _inside_start(self) -> FloatArray | None:
        """Linear values of all rows inside the domain, as far as that of the average at most; None where no point has such."""
        if not np.isfinite(self._reach):
            return None
        index = slice(None) if self._present is None else self._present
        matrix = self.rows.pick(index)[:, : self.rows.n_features + self.has_intercept]
        fixed = np.zeros(len(matrix)) if self._offset is None else self._offset[index]
        constraints = [
            (sign * matrix, sign * (border - fixed))
            for sign, border in zip((-1, 1), self._borders, strict=True)
            if np.isfinite(border)
        ]
        sides, bounds = (np.concatenate(parts) for parts in zip(*constraints, strict=True))
        goal = np.append(np.zeros(matrix.shape[1]), -1.0)  # the distance to the nearest border, which is the last unknown
        limits = [(None, None)] * matrix.shape[1] + [(0, self._reach)]
        found = linprog(goal, np.column_stack([sides, np.ones(len(sides))]), bounds, bounds=limits)
        if found.status != 0 or not found.x[-1] > INSIDE * self._reach:
            return None
        point = self.start()
        point[: matrix.shape[1]] = found.x[:-1]
        return point

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
