"""Huber's regression with a concomitant scale as a problem: value, gradient, Hessian and duality gap in (w, b, sigma).

A row's term is the largest of u r + (1 - u^2 / 4) sigma over |u| <= 2 epsilon, taken at u = 2 clip(r / sigma). So the dual
problem is, for the weights s with the sum S,

    max_u  sum_i s_i u_i y_i - ||X' (s u)||^2 / (4 alpha)

with |u_i| <= 2 epsilon, sum_i s_i u_i^2 <= 4 S and, where there is an intercept, sum_i s_i u_i = 0. (For sigma bounded below by
c > 0, the value has a further term c sum_i s_i (1 - u_i^2 / 4).)

Near the solution the u above nearly meet the conditions; centred and shrunk a little they do, and every sum that the dual value
needs follows from the gradient: the gap costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._solvers.linear_loss import DenseLinearRows, Evaluation, LinearRows, SparseLinearRows
from mercer._solvers.row_hessian import column_squares

MOST_SCALE_STEPS = 30
LEAST_SCALE = 1e-8  # of the spread of y: below, residuals are rounding errors


class HuberRows(LinearRows, Protocol):
    """Rows that also know the sums of Huber's objective."""

    def huber(
        self, y: FloatArray, weights: FloatArray | None, epsilon: float, point: FloatArray, *, with_hessian: bool
    ) -> tuple[float, FloatArray, FloatArray | None]:
        """Value, gradient and, if wanted, Hessian in (w, b, sigma), without the penalty."""
        ...


class DenseHuberRows(DenseLinearRows):
    """Dense X, read in place, in one pass."""

    def huber(
        self, y: FloatArray, weights: FloatArray | None, epsilon: float, point: FloatArray, *, with_hessian: bool
    ) -> tuple[float, FloatArray, FloatArray | None]:
        gradient = np.empty(len(point))
        hessian = np.empty((len(point), len(point))) if with_hessian else None
        value = kernels.huber_loss(
            self._X, self.shift, y, weights, epsilon, point[-1], point[:-1], gradient, hessian, self._n_threads
        )
        return value, gradient, hessian


class SparseHuberRows(SparseLinearRows):
    """Sparse X, never made dense."""

    def huber(
        self, y: FloatArray, weights: FloatArray | None, epsilon: float, point: FloatArray, *, with_hessian: bool
    ) -> tuple[float, FloatArray, FloatArray | None]:
        sigma, s = point[-1], np.ones(self.n_rows) if weights is None else weights
        ratios = (y - self.values(point[:-1])) / sigma
        clipped = np.clip(ratios, -epsilon, epsilon)
        value = float((s * sigma * (1 + clipped * (2 * ratios - clipped))).sum())
        slopes, slope_of_sigma = -2 * s * clipped, float((s * (1 - clipped**2)).sum())
        if not with_hessian:
            return value, np.append(self.slope_sums(slopes), slope_of_sigma), None
        curvatures = np.where(np.abs(ratios) <= epsilon, 2 * s / sigma, 0)
        of_values, hessian = self.weighted_sums(slopes, curvatures)
        crossed = self.slope_sums(curvatures * clipped)
        of_sigma = float((curvatures * clipped**2).sum())
        full = np.block([[hessian, crossed[:, None]], [crossed[None, :], np.array([[of_sigma]])]])
        return value, np.append(of_values, slope_of_sigma), full


def make_huber_rows(X: Any, *, is_shifted: bool, n_threads: int) -> HuberRows:
    if sp.issparse(X):
        return SparseHuberRows(X, n_threads=n_threads)
    return DenseHuberRows(X, is_shifted=is_shifted, n_threads=n_threads)


@dataclass(frozen=True, kw_only=True)
class HuberEvaluation(Evaluation):
    """The objective at one point, and the point: the dual value there follows from both."""

    point: FloatArray


class HuberLoss:
    """The objective as a function of (w, b, sigma); without an intercept its entries are zero."""

    def __init__(
        self,
        rows: HuberRows,
        y: FloatArray,
        weights: FloatArray | None,
        *,
        epsilon: float,
        alpha: float,
        has_intercept: bool,
    ) -> None:
        self.rows, self.y, self.weights, self.has_intercept = rows, y, weights, has_intercept
        self.epsilon, self.alpha = epsilon, alpha
        s = np.ones(len(y)) if weights is None else weights
        self.column_sums = rows.slope_sums(s)[:-1]
        self.total_weight, self.sum_of_y = float(s.sum()), float((s * y).sum())
        mean = self.sum_of_y / self.total_weight
        spread = float(np.sqrt((s * (y - mean) ** 2).sum() / self.total_weight))
        self.least_scale = LEAST_SCALE * (spread or abs(mean) or 1.0)

    @lazy_property
    def column_squares(self) -> FloatArray:
        """The weighted sums of the squares of the columns; not finite where X is not, or they overflow."""
        return column_squares(self.rows, np.ones(len(self.y)) if self.weights is None else self.weights)

    @lazy_property
    def sum_of_squared_y(self) -> float:
        return float(((1.0 if self.weights is None else self.weights) * self.y**2).sum())

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> HuberEvaluation:
        value, gradient, hessian = self.rows.huber(self.y, self.weights, self.epsilon, point, with_hessian=with_hessian)
        coef = point[:-2]
        gradient[:-2] += 2 * self.alpha * coef
        if not self.has_intercept:
            gradient[-2] = 0
        if hessian is not None:
            np.einsum("jj->j", hessian)[:-2] += 2 * self.alpha  # a view of the diagonal
            if not self.has_intercept:
                hessian[-2], hessian[:, -2], hessian[-2, -2] = 0, 0, 1
        return HuberEvaluation(value + self.alpha * float((coef**2).sum()), gradient, hessian, point=point)

    def least_squares(self) -> Evaluation:
        """The objective of penalised least squares at zero: one Newton step from there is its solution."""
        s = np.ones(len(self.y)) if self.weights is None else self.weights
        moments, gram = self.rows.weighted_sums(s * self.y, s)
        return self._completed(Evaluation(0.0, -moments, gram), self.alpha)

    def _completed(self, at: Evaluation, ridge: float) -> Evaluation:
        """A problem in (w, b) with the ridge on its diagonal and, where there is no intercept, none in it."""
        assert at.hessian is not None
        np.einsum("jj->j", at.hessian)[:-1] += ridge
        if not self.has_intercept:
            at.gradient[-1] = 0
            at.hessian[-1], at.hessian[:, -1], at.hessian[-1, -1] = 0, 0, 1
        return at

    def resolution(self, at: HuberEvaluation) -> float:
        """What rounding in the last place of the coefficients leaves of the gradient: it counts where sigma is tiny."""
        assert at.hessian is not None
        return 4 * float(np.finfo(np.float64).eps * (np.abs(at.hessian[:-1, :-1]) * np.abs(at.point[:-1])).sum(axis=1).max())

    def majoriser(self, point: FloatArray) -> Evaluation:
        """Gradient and Hessian in (w, b) of a quadratic that is nowhere below the objective and touches it at the point.

        A row's curvature is its slope over its residual, as in reweighted least squares: outliers have some, too.
        """
        residuals = self.y - self.rows.values(point[:-1])
        curvatures = self.majorised_curvatures(residuals, point[-1])
        gradient, hessian = self.rows.weighted_sums(-curvatures * residuals, curvatures)
        gradient[:-1] += 2 * self.alpha * point[:-2]
        return self._completed(Evaluation(0.0, gradient, hessian), 2 * self.alpha)

    def majorised_curvatures(self, residuals: FloatArray, sigma: float) -> FloatArray:
        """Those of the rows in the quadratic bound."""
        s = np.ones(len(self.y)) if self.weights is None else self.weights
        sizes = np.maximum(np.abs(residuals), sigma * self.epsilon)
        return np.where(np.abs(residuals) <= sigma * self.epsilon, 2 * s / sigma, 2 * s * self.epsilon / sizes)

    def best_scale(self, coef: FloatArray, tol: float) -> float:
        """The best sigma for coefficients and intercept, to the relative precision `tol`.

        It solves sum_i s_i min(r_i^2 / sigma^2, epsilon^2) = S, whose left side is concave in 1 / sigma^2: Newton's method from
        the scale of all residuals goes to the solution from one side, in steps of the closed form for given outliers.
        """
        residuals = np.abs(self.y - self.rows.values(coef))
        s = np.ones_like(residuals) if self.weights is None else self.weights
        squares = s * residuals**2
        sigma = float(np.sqrt(squares.sum() / self.total_weight))
        for _ in range(MOST_SCALE_STEPS):
            is_inside = residuals <= self.epsilon * sigma
            weight = self.total_weight - self.epsilon**2 * float(s[~is_inside].sum())
            if sigma <= self.least_scale or weight <= 0:
                break
            before, sigma = sigma, float(np.sqrt(squares[is_inside].sum() / weight))
            if sigma >= before * (1 - tol):
                break
        return max(sigma, self.least_scale)

    def gap(self, at: Evaluation) -> float | None:
        """How far the objective is at most above its minimum; None without a penalty."""
        if self.alpha == 0:
            return None
        assert isinstance(at, HuberEvaluation)
        coef, intercept, sigma, total = at.point[:-2], at.point[-2], at.point[-1], self.total_weight
        penalty = self.alpha * float((coef**2).sum())
        g = 2 * self.alpha * coef - at.gradient[:-2]  # X' (s u), for rows minus the shift
        sum_of_u, of_sigma = -float(at.gradient[-2]), float(at.gradient[-1])
        squares = 4 * (total - of_sigma)  # sum s u^2
        linear = at.value - penalty - sigma * of_sigma + float((coef * g).sum()) + intercept * sum_of_u  # sum s u y
        shrink = 1.0
        if self.has_intercept:
            mean = sum_of_u / total
            linear -= mean * self.sum_of_y
            g = g - mean * self.column_sums
            squares -= total * mean**2
            shrink = 2 * self.epsilon / (2 * self.epsilon + abs(mean))
        if squares > 4 * total:
            shrink = min(shrink, float(np.sqrt(4 * total / squares)))
        # Sigma at its bound adds the bound times sum s (1 - u^2 / 4).
        curvature = float((g**2).sum()) / (4 * self.alpha) + self.least_scale * squares / 4
        if curvature > 0:  # the best multiple of u that the conditions allow
            shrink = float(np.clip(linear / (2 * curvature), 0, shrink))
        return float(at.value - (shrink * linear - shrink**2 * curvature + self.least_scale * total))
