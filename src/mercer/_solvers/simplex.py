"""Convex functions over the simplex: non-negative weights that sum to one, found by Newton's method with an active set."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._trace import Record

ROUNDING = 1e-14  # of the scale: a decrease or a slope below it is none
ARMIJO = 1e-4
MOST_HALVINGS = 40
PROXIMAL = 1e-12  # of the largest curvature: far below what a step of Newton's method has to know


class RowLoss(Protocol):
    """A smooth convex function of one number a row; the losses of `mercer.losses` are such."""

    def value(self, y: Any, raw: Any) -> Any: ...
    def derivative(self, y: Any, raw: Any) -> Any: ...
    def second_derivative(self, y: Any, raw: Any) -> Any: ...


class Mixture:
    """f(w) = scale sum_i s_i loss(y_i, (Z w)_i) over weights w >= 0 that sum to one; Z has one column a member."""

    def __init__(self, columns: FloatArray, y: FloatArray, shares: FloatArray, loss: RowLoss, scale: float = 1.0) -> None:
        self.columns, self.y, self.shares, self.loss, self.scale = columns, y, shares, loss, scale

    def losses(self, values: FloatArray) -> FloatArray:
        """Those of the rows."""
        losses: FloatArray = self.scale * self.loss.value(self.y, values)
        return losses

    def value(self, weights: FloatArray) -> float:
        return float(self.shares @ self.losses(self.columns @ weights))

    def evaluate(self, weights: FloatArray) -> Evaluation:
        """Value, gradient and Hessian along directions that sum to zero. O(n m^2).

        On such directions Z d = (Z - Z w 1') d: the columns less what the mixture gives now. These differences are what there
        is to gain, and large common parts of the columns do not swamp them.
        """
        values = self.columns @ weights
        differences = self.columns - values[:, None]
        slopes = self.scale * self.shares * self.loss.derivative(self.y, values)
        curvatures = self.scale * self.shares * self.loss.second_derivative(self.y, values)
        hessian = differences.T @ (curvatures[:, None] * differences)
        return Evaluation(float(self.shares @ self.losses(values)), slopes @ differences, hessian)


class Evaluation(NamedTuple):
    """A function at weights w: its gradient is given less g'w, so that g'w = 0."""

    value: float
    gradient: FloatArray
    hessian: FloatArray

    @property
    def gap(self) -> float:
        """max over v in the simplex of g'(w - v): no weights are better by more (the gap of Frank and Wolfe)."""
        return max(0.0, -float(self.gradient.min()))


class SimplexNewton:
    """A solver for `Mixture`: each step minimises the quadratic model over the simplex, exactly, and goes as far as pays.

    Done when no weights can be better by more than `tol` times the smallest value at a vertex. The start is the best of the
    vertices and their mean, and no step goes up: the result is never worse than the best vertex.
    """

    def __init__(self, problem: Mixture, *, tol: float) -> None:
        self._problem, self._tol = problem, tol
        m = problem.columns.shape[1]
        starts = [*np.eye(m), np.full(m, 1 / m)]
        values = [problem.value(start) for start in starts]
        self.weights = starts[int(np.argmin(values))]
        self.unit = min(values[:m])
        self.at = problem.evaluate(self.weights)
        self.is_stuck = False

    @property
    def relative_gap(self) -> float:
        """The gap over the smallest value at a vertex; where that is zero, so is the gap."""
        return self.at.gap / self.unit if self.unit > 0 else self.at.gap

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        target = minimise_quadratic(self.at.hessian, self.at.gradient, self.weights)
        length, moved = self._search(target)
        if moved is None:
            self.is_stuck = True
        else:
            self.weights, self.at = moved
        return {"objective": self.at.value, "gap": self.at.gap, "step": length}

    def _search(self, target: FloatArray) -> tuple[float, tuple[FloatArray, Evaluation] | None]:
        """The first of the lengths 1, 1/2, 1/4, ... towards `target` that brings enough; none where rounding hides it."""
        length, slope = 1.0, float(self.at.gradient @ target)
        noise = ROUNDING * max(abs(self.at.value), self.unit)
        for _ in range(MOST_HALVINGS):
            weights = target if length == 1 else self.weights + length * (target - self.weights)
            at = self._problem.evaluate(weights)
            is_better = at.value <= self.at.value + ARMIJO * length * slope and at.value < self.at.value
            is_equal = at.value <= self.at.value + noise and at.gap < 0.5 * self.at.gap
            if is_better or is_equal:
                return length, (weights, at)
            length /= 2
        return 0.0, None


def minimise_quadratic(hessian: FloatArray, gradient: FloatArray, start: FloatArray) -> FloatArray:
    """argmin over v in the simplex of g'v + v' H v / 2 by a primal active set from w, where H w = 0. O(m^3) a change of it.

    Weights are free or zero. With the free ones on their optimum, the zero one whose slope is the lowest is freed; on the way
    to an optimum outside, the first weight to reach zero stays there. A trace of the squared distance to w is added: where H
    leaves the optimum open (members that are mixtures of others), the nearest one is taken.
    """
    m = len(start)
    scale = float(np.diag(hessian).max()) or float(np.abs(gradient).max()) or 1.0
    H, g = hessian / scale + PROXIMAL * np.eye(m), gradient / scale - PROXIMAL * start
    weights, is_free = start.copy(), start > 0
    enough = ROUNDING * max(1.0, float(np.abs(g).max()))
    for _ in range(10 * m + 10):  # more changes than exact arithmetic needs: rounding cannot keep it here
        optimum, multiplier = _minimise_free(H, g, is_free)
        outside = np.flatnonzero(is_free & (optimum <= 0))
        if len(outside):
            lengths = weights[outside] / np.maximum(weights[outside] - optimum[outside], np.finfo(np.float64).tiny)
            first = int(np.argmin(lengths))
            weights = np.maximum(weights + float(lengths[first]) * (optimum - weights), 0.0)
            weights[outside[first]], is_free[outside[first]] = 0.0, False
            continue
        weights = optimum
        slopes = np.where(is_free, 0.0, H @ weights + g + multiplier)
        lowest = int(np.argmin(slopes))
        if slopes[lowest] >= -enough:
            break
        is_free[lowest] = True
    found: FloatArray = weights / weights.sum()
    return found


def _minimise_free(H: FloatArray, g: FloatArray, is_free: FloatArray) -> tuple[FloatArray, float]:
    """The minimum over free weights that sum to one, whatever their signs, and the multiplier of their sum."""
    free = np.flatnonzero(is_free)
    k = len(free)
    system = np.ones((k + 1, k + 1))
    system[:k, :k], system[k, k] = H[np.ix_(free, free)], 0.0
    solution = np.linalg.solve(system, np.append(-g[free], 1.0))
    weights = np.zeros(len(g))
    weights[free] = solution[:k]
    return weights, float(solution[k])
