"""Newton's method for Huber's regression: few steps settle which rows are outliers, and between them it is nearly quadratic."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.conjugate_newton import conjugate_direction, conjugate_solution
from mercer._solvers.descent import Descent, dot
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.newton import newton_direction
from mercer._solvers.row_hessian import MOST_FORMED_COLUMNS, MOST_HESSIAN_COLUMNS, RowHessian
from mercer._trace import Record
from mercer.linear_model._robust.huber_loss import HuberEvaluation, HuberLoss

START_ACCURACY = 1e-3  # of least squares by conjugate gradients, as a start
MET_ACCURACY = 1e-9  # of one that meets the rows, down to the bound of the scale
STEP_ACCURACY = 0.5  # of a step: until the outliers are settled, better ones are of no use
GIVEN_ACCURACY = 1e-2  # of steps with a given fall of sigma, which descend only if they are near enough to the best
LAST_PLACES = 16  # of a residual that sums over many columns round
LEAST_SHARE = 0.5  # of the scale that one step leaves: its model is good near the present scale only


class HuberNewton(Descent):
    """Damped Newton steps in (w, b, sigma), with sigma above a bound that is out of the way unless the fit is perfect.

    It is done when the largest entry of the projected gradient is within `tol` and, where the penalty gives one, the duality
    gap is within `tol` of the objective; for `tol`, what rounding leaves will do.
    """

    needs_hessian = True
    problem: HuberLoss
    at: HuberEvaluation

    @property
    def is_at_bound(self) -> bool:
        """Whether sigma would fall further if it could."""
        return bool(self.point[-1] <= self.problem.least_scale and self.at.gradient[-1] >= 0)

    @property
    def gradient_norm(self) -> float:
        """The largest entry of the gradient, that of a sigma at its bound apart."""
        gradient = self.at.gradient[:-1] if self.is_at_bound else self.at.gradient
        return float(np.abs(gradient).max())

    @property
    def tol(self) -> float:
        return max(self._tol, self._resolution())

    def _resolution(self) -> float:
        """What rounding leaves of the gradient."""
        return self.problem.resolution(self.at)

    def step(self) -> Record:
        before, length = self.point, self._advance(self._direction())["step"]
        if self.is_stuck:
            self.is_stuck = self.gradient_norm <= self.tol or not self._take_majorised_step()
        else:
            self.is_stuck = np.array_equal(before, self.point)
        return {**self._record(length), "scale": float(self.point[-1])}

    def _take_majorised_step(self) -> bool:
        """Coefficients by a quadratic bound, then the best scale: slower than Newton's steps, and never too long.

        For points where all but a few rows are outliers, so that the Hessian says nothing about the rest.
        """
        problem = self.problem
        coef = self.point[:-1] + self._majorised_direction()
        point = np.append(coef, problem.best_scale(coef, 1e-12))
        at = problem.evaluate(point, with_hessian=self.needs_hessian)
        if not at.value < self.at.value:
            return False
        self.point, self.at = point, at
        return True

    def _direction(self) -> FloatArray:
        """Newton's; where it would take sigma too low, the minimum of the same model with sigma at the least allowed."""
        sigma, floor = self.point[-1], self.problem.least_scale
        least = max(LEAST_SHARE * sigma, floor)
        if not self.is_at_bound:
            direction = self._newton_direction()
            if sigma + direction[-1] >= least:
                return direction
        return self._direction_given(min(least - sigma, 0.0))

    def _newton_direction(self) -> FloatArray:
        return newton_direction(self.at)

    def _majorised_direction(self) -> FloatArray:
        """That of the coefficients and the intercept to the minimum of the quadratic bound."""
        return newton_direction(self.problem.majoriser(self.point))

    def _direction_given(self, fall: float) -> FloatArray:
        """Newton's for a given step of sigma."""
        at = self.at
        assert at.hessian is not None
        gradient, hessian = at.gradient + fall * at.hessian[-1], at.hessian.copy()
        gradient[-1] = -fall
        hessian[-1], hessian[:, -1], hessian[-1, -1] = 0, 0, 1
        return newton_direction(Evaluation(at.value, gradient, hessian))

    def _moved(self, length: float, direction: FloatArray) -> FloatArray:
        point = super()._moved(length, direction)
        point[-1] = max(point[-1], self.problem.least_scale)
        return point


class HuberConjugateNewton(HuberNewton):
    """The same steps without a Hessian, by conjugate gradients: for many columns.

    Where columns are so nearly dependent that all steps together have taken more products than there are columns, the Hessian
    is formed after all, if it is not too large: it costs less than those have, and its steps do not depend on the columns.
    """

    needs_hessian = False
    _n_products = 0

    def _newton_direction(self) -> FloatArray:
        if not self._has_hessian():
            return self._solution(self._hessian, self.at.gradient, STEP_ACCURACY)
        return super()._newton_direction()

    def _direction_given(self, fall: float) -> FloatArray:
        if not self._has_hessian():
            hessian = self._hessian
            of_fall = hessian.product(np.append(np.zeros(len(self.point) - 1), fall))
            return np.append(self._solution(hessian.without_scale(), (self.at.gradient + of_fall)[:-1], GIVEN_ACCURACY), fall)
        return super()._direction_given(fall)

    def _solution(self, hessian: RowHessian, gradient: FloatArray, accuracy: float) -> FloatArray:
        direction, n_products = conjugate_solution(hessian.product, hessian.diagonal, gradient, accuracy)
        self._n_products += n_products
        return direction

    def _has_hessian(self) -> bool:
        """Whether the Hessian is there; it is formed where products have become too many."""
        n_columns = self.problem.rows.n_features
        if not self.needs_hessian and n_columns < self._n_products and n_columns <= MOST_FORMED_COLUMNS:
            self.needs_hessian = True
            self.at = self.problem.evaluate(self.point, with_hessian=True)
        return self.needs_hessian

    def _majorised_direction(self) -> FloatArray:
        if self._has_hessian():
            return super()._majorised_direction()
        problem, point = self.problem, self.point
        residuals = problem.y - problem.rows.values(point[:-1])
        bound = RowHessian(problem, problem.majorised_curvatures(residuals, float(point[-1])), 2 * problem.alpha)
        return self._solution(bound, self.at.gradient[:-1], GIVEN_ACCURACY)

    @property
    def _hessian(self) -> HuberHessian:
        """The Hessian here, in one pass over X."""
        problem, sigma = self.problem, float(self.point[-1])
        s = np.ones(len(problem.y)) if problem.weights is None else problem.weights
        ratios = (problem.y - problem.rows.values(self.point[:-1])) / sigma
        curvatures = np.where(np.abs(ratios) <= problem.epsilon, 2 * s / sigma, 0)
        return HuberHessian(problem, curvatures, 2 * problem.alpha, ratios)

    def _resolution(self) -> float:
        """By the inequality of Cauchy and Schwarz, from what rounding in the last places changes of the residuals."""
        if self.at.hessian is not None:
            return super()._resolution()
        problem, curvature = self.problem, 2 / float(self.point[-1])
        of_columns = np.sqrt(curvature * float(problem.column_squares.max()))
        of_rows = np.sqrt(curvature * problem.sum_of_squared_y)
        return LAST_PLACES * float(np.finfo(np.float64).eps) * float(of_columns * of_rows)


class HuberHessian(RowHessian):
    """The Hessian in (w, b, sigma): (X, 1, z)' C (X, 1, z) plus a ridge, for the ratios z of the residuals to the scale."""

    def __init__(self, problem: HuberLoss, curvatures: FloatArray, ridge: float, ratios: FloatArray) -> None:
        super().__init__(problem, curvatures, ridge)
        self._ratios = ratios
        self.diagonal = np.append(self.diagonal, float((curvatures * ratios**2).sum()))

    def without_scale(self) -> RowHessian:
        return RowHessian(self._problem, self._curvatures, self._ridge)

    def product(self, vector: FloatArray) -> FloatArray:
        values = self._problem.rows.values(vector[:-1]) + self._ratios * vector[-1]
        values *= self._curvatures
        return np.append(self._bent(values, vector), dot(values, self._ratios))


def make_solver(problem: HuberLoss, start: FloatArray, *, tol: float) -> HuberNewton:
    """Newton's method with a Hessian, or where X has many columns without."""
    make = HuberNewton if problem.rows.n_features <= MOST_HESSIAN_COLUMNS else HuberConjugateNewton
    return make(problem, start, tol=tol)


def first_point(problem: HuberLoss) -> FloatArray:
    """Penalised least squares with the best scale for it, nearly, where X has many columns.

    Then, with no more rows than columns, least squares of a penalty as small as the bound of the scale makes it may be better:
    where the rows can be met, that is the solution, and steps of Newton's method would be many until they are there.
    """
    if problem.rows.n_features <= MOST_HESSIAN_COLUMNS:
        return _with_scale(problem, newton_direction(problem.least_squares()))
    point = _with_scale(problem, _conjugate_least_squares(problem, problem.alpha, START_ACCURACY))
    if problem.rows.n_rows > problem.rows.n_features:
        return point
    met = _with_scale(problem, _conjugate_least_squares(problem, problem.alpha * problem.least_scale, MET_ACCURACY))
    return met if problem.evaluate(met).value < problem.evaluate(point).value else point


def _with_scale(problem: HuberLoss, coef: FloatArray) -> FloatArray:
    return np.append(coef, problem.best_scale(coef, 1e-3))


def _conjugate_least_squares(problem: HuberLoss, ridge: float, accuracy: float) -> FloatArray:
    s = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    moments = problem.rows.slope_sums(s * problem.y)
    if not problem.has_intercept:
        moments[-1] = 0
    hessian = RowHessian(problem, s, ridge)
    return conjugate_direction(hessian.product, hessian.diagonal, -moments, accuracy)
