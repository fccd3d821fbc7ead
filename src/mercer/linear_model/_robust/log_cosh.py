"""Regression by the log-cosh loss: squared errors near zero, absolute ones far away, and smooth between."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._lazy import lazy_property
from mercer._linear import LinearRegressor
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, NumberOfJobs, Real, Rule, Verbosity, check_params
from mercer._solvers.conjugate_newton import conjugate_solution
from mercer._solvers.descent import Descent
from mercer._solvers.linear_loss import Evaluation, LinearLoss, LinearRows, make_linear_rows
from mercer._solvers.newton import Newton, newton_direction
from mercer._solvers.row_hessian import MOST_FORMED_COLUMNS, MOST_HESSIAN_COLUMNS, RowHessian, column_squares
from mercer._trace import Outcome, Record, Status
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.summary import NO_LIKELIHOOD, NoSummary
from mercer.linear_model._smooth import check_rows, smooth_outcome, warm_point

SHRINKAGE = 2.0  # from one scale to the next on the way to the user's
ROUGH_TOL = 1e-2  # on the way
START_ACCURACY = 1e-3  # of least squares by conjugate gradients
STEP_ACCURACY = 0.1  # and of a step by them


class LogCoshRegressor(NoSummary, LinearRegressor):
    r"""Linear regression by the log-cosh loss, a smooth one that outliers do not disturb.

    Minimises :math:`\frac{1}{\sum_i s_i} \sum_i s_i \log\cosh\frac{y_i - x_i^\top w - b}{c}
    + \tfrac{\alpha}{2} \left\|\tfrac{w}{c}\right\|^2` over the coefficients :math:`w` and the intercept :math:`b`, for the
    scale :math:`c` and the sample weights :math:`s_i`. Residuals below the scale count by their squares, larger ones by size.

    Parameters
    ----------
    alpha : float, default=0.0001
        The strength of the penalty.
    scale : float, default=1.0
        :math:`c`, in the units of y: where squares turn into absolute values. Small scales give the median.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    max_iter : int, default=100
        The most iterations.
    tol : float, default=1e-6
        The fit stops when the largest entry of the gradient of the objective, in the unknowns w / c and b / c, is within `tol`
        and, where alpha > 0, the duality gap is within `tol` of the objective.
    warm_start : bool, default=False
        Whether to start at the coefficients of the earlier fit.
    verbose : int, default=0
        Above zero, every iteration is logged.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    history_ : list of dict
        Scale, objective, gradient, step (and gap) of each iteration, for the total weight of the rows.
    certificate_ : Certificate
        The objective, the largest entry of its gradient and, where alpha > 0, the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The start is least squares. Where its residuals are much larger than the scale, most rows have next to no curvature, and
    Newton's method would leap; the scale then falls from that of the residuals to c by factors of two, with rough solutions on
    the way. A step costs one pass over X, O(n d^2). With more than a thousand columns no Hessian is formed, and the steps are
    taken by conjugate gradients, O(n d) a product, or O(entries); up to 5,000 columns it is formed after all once more products
    have been taken than there are columns. scikit-learn has no such model; `HuberRegressor` is its nearest, with a
    scale of its own.

    References
    ----------
    R. A. Saleh and A. K. Md. E. Saleh, "Statistical properties of the log-cosh loss function used in machine learning",
    arXiv:2208.04564, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LogCoshRegressor
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1
    >>> y[3] += 50
    >>> model = LogCoshRegressor(scale=0.1).fit(X, y)
    >>> model.coef_.round(2), model.certificate_.converged
    (array([2.]), True)
    """

    _no_summary: ClassVar[str] = NO_LIKELIHOOD
    _search_space: ClassVar[Mapping[str, Space]] = {
        "alpha": Reals(1e-6, 1e2, log=True),
        "scale": Reals(0.1, 10.0, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "alpha": Real(least=0),
        "scale": Real(above=0),
        "fit_intercept": Bool(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "warm_start": Bool(),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        alpha: float = 0.0001,
        *,
        scale: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogCoshRegressor:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y, weights = check_rows(self, X, y, sample_weight)
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        rows = make_linear_rows(X, is_shifted=params.fit_intercept, n_threads=effective_threads(params.n_jobs))
        problem = LogCoshProblem(rows, y, weights, params)
        point, width = self._start(problem, params)
        if not np.isfinite(point).all():
            require_no_overflow(self, X, "the sums of squares over its rows")
        solver = Continuation(problem, point, width, params)

        def fitted() -> dict[str, Any]:
            coef, intercept = solver.to_user()
            return {"coef_": coef.astype(X.dtype), "intercept_": X.dtype.type(intercept) if params.fit_intercept else 0.0}

        def outcome(status: Status, history: list[Record]) -> Outcome:
            solver.finish()
            return smooth_outcome(
                solver, status, history, method="Newton's method", tol=params.tol, primal=solver.primal, gap=solver.gap
            )

        return self._fit_by(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted, outcome=outcome)

    def _start(self, problem: LogCoshProblem, params: SimpleNamespace) -> tuple[FloatArray, float]:
        """Where to start, and with which scale: that of the user if the point is a warm one."""
        warm = warm_point(self, problem.rows, params)
        return problem.least_squares() if warm is None else (warm, params.scale)


class LogCoshLoss(LinearLoss):
    """The objective at one scale, with a quadratic upper bound that touches it."""

    def gap_given(self, at: Evaluation, curvature: float) -> float | None:
        """At most the objective itself: it is never negative."""
        gap = super().gap_given(at, curvature)
        return None if gap is None else min(gap, at.value)

    def curvatures(self, point: FloatArray) -> FloatArray:
        """Of the rows' losses, one over cosh(r) squared."""
        curvatures: FloatArray = 1 - np.tanh(self.rows.values(point) - self.y) ** 2
        return curvatures if self.weights is None else self.weights * curvatures

    def majorised(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The rows' slopes, and their curvatures in the bound: tanh(r) / r, as in reweighted least squares."""
        residuals = self.rows.values(point) - self.y
        slopes = np.tanh(residuals)
        curvatures = np.divide(slopes, residuals, out=np.ones_like(slopes), where=residuals != 0)
        return (slopes, curvatures) if self.weights is None else (self.weights * slopes, self.weights * curvatures)

    def majoriser(self, point: FloatArray) -> Evaluation:
        """The gradient and the Hessian of the bound."""
        return self._penalised(point, 0.0, *self.rows.weighted_sums(*self.majorised(point)))


class LogCoshNewton(Newton):
    """Newton's method with a Hessian."""

    problem: LogCoshLoss

    def majorised_direction(self) -> FloatArray:
        """To the minimum of the bound."""
        return newton_direction(self.problem.majoriser(self.point))


class LogCoshConjugateNewton(Descent):
    """The same without a Hessian, by conjugate gradients: for many columns."""

    problem: LogCoshLoss

    def __init__(self, problem: LogCoshLoss, start: FloatArray, *, tol: float, whole: LogCoshProblem) -> None:
        super().__init__(problem, start, tol=tol)
        self._whole = whole
        self._curved: tuple[Evaluation, FloatArray] | None = None

    @property
    def _curvatures(self) -> FloatArray:
        """Those of the rows here, computed once at each point."""
        if self._curved is None or self._curved[0] is not self.at:
            self._curved = self.at, self.problem.curvatures(self.point)
        return self._curved[1]

    def _measured_gap(self) -> float | None:
        return self.problem.gap_given(self.at, float(self._curvatures.sum()))

    def step(self) -> Record:
        return self._advance(self._whole.conjugate_solution(self._curvatures, self.at.gradient, STEP_ACCURACY))

    def majorised_direction(self) -> FloatArray:
        _, curvatures = self.problem.majorised(self.point)
        return self._whole.conjugate_solution(curvatures, self.at.gradient, START_ACCURACY)


class LogCoshProblem:
    """The objective for any scale: that of targets in its units, log cosh (y / c - raw)."""

    def __init__(self, rows: LinearRows, y: FloatArray, weights: FloatArray | None, params: SimpleNamespace) -> None:
        self.rows, self._y, self._weights = rows, y, weights
        self._s = np.ones(len(y)) if weights is None else weights
        self.has_intercept, self.total_weight = params.fit_intercept, float(self._s.sum())
        self._l2 = params.alpha * self.total_weight
        self._loss = kernels.RowLoss("log_cosh", 0.0)
        self._n_products = 0

    @lazy_property
    def column_squares(self) -> FloatArray:
        """The weighted sums of the squares of the columns; not finite where X is not, or they overflow."""
        return column_squares(self.rows, self._s)

    @property
    def is_by_products(self) -> bool:
        """Whether steps are taken without a Hessian; with one after all where they have taken more products than columns."""
        n_columns = self.rows.n_features
        return n_columns > (MOST_HESSIAN_COLUMNS if self._n_products <= n_columns else MOST_FORMED_COLUMNS)

    def conjugate_solution(self, curvatures: FloatArray, gradient: FloatArray, accuracy: float) -> FloatArray:
        """Nearly minus the inverse Hessian times the gradient, for the curvatures of the rows."""
        hessian = RowHessian(self, curvatures, self._l2)
        direction, n_products = conjugate_solution(hessian.product, hessian.diagonal, gradient, accuracy)
        self._n_products += n_products
        return direction

    def at_scale(self, scale: float) -> LogCoshLoss:
        targets = self._y / scale
        return LogCoshLoss(self.rows, targets, self._weights, self._loss, self._l2, has_intercept=self.has_intercept)

    def newton(self, scale: float, point: FloatArray, tol: float) -> LogCoshNewton | LogCoshConjugateNewton:
        """The descent at a scale, from a point in units of y."""
        loss, start = self.at_scale(scale), point / scale
        if self.is_by_products:
            return LogCoshConjugateNewton(loss, start, tol=tol, whole=self)
        return LogCoshNewton(loss, start, tol=tol)

    def least_squares(self) -> tuple[FloatArray, float]:
        """The penalised least-squares solution, in units of y, and the root mean square of its residuals."""
        point = self._nearly_least_squares() if self.is_by_products else self._exact_least_squares()
        if not np.isfinite(point).all():
            return point, np.inf
        squares = self._s * (self._y - self.rows.values(point)) ** 2
        return point, float(np.sqrt(squares.sum() / self.total_weight))

    def _nearly_least_squares(self) -> FloatArray:
        if not np.isfinite(self.column_squares).all():
            return np.full(self.rows.n_features + 1, np.inf)
        moments = self.rows.slope_sums(self._s * self._y)
        if not self.has_intercept:
            moments[-1] = 0
        return self.conjugate_solution(self._s, -moments, START_ACCURACY)

    def _exact_least_squares(self) -> FloatArray:
        moments, gram = self.rows.weighted_sums(self._s * self._y, self._s)
        np.einsum("jj->j", gram)[:-1] += self._l2
        if not self.has_intercept:
            moments[-1] = 0
            gram[-1], gram[:, -1], gram[-1, -1] = 0, 0, 1
        if not np.isfinite(gram).all():
            return np.full(len(moments), np.inf)
        return newton_direction(Evaluation(0.0, -moments, gram))


class Continuation:
    """Newton's method at scales that fall to the user's, each from the solution of the one before."""

    def __init__(self, problem: LogCoshProblem, point: FloatArray, width: float, params: SimpleNamespace) -> None:
        self._problem, self._target, self._tol = problem, params.scale, params.tol
        self.scale = max(params.scale, width)
        if self.scale <= SHRINKAGE * params.scale:
            self.scale = params.scale
        self.newton = self._newton(point)

    def _newton(self, point: FloatArray) -> LogCoshNewton | LogCoshConjugateNewton:
        return self._problem.newton(self.scale, point, self._tol if self._is_last else max(ROUGH_TOL, self._tol))

    @property
    def _is_last(self) -> bool:
        return bool(self.scale == self._target)

    @property
    def point(self) -> FloatArray:
        """In units of y."""
        point: FloatArray = self.newton.point * self.scale
        return point

    def to_user(self) -> tuple[FloatArray, float]:
        """Coefficients and intercept for X and y as they are."""
        return self._problem.at_scale(self.scale).to_user(self.point)

    @property
    def is_done(self) -> bool:
        return self._is_last and self.newton.is_done

    @property
    def gradient_norm(self) -> float:
        return self.newton.gradient_norm

    @property
    def relative_gap(self) -> float | None:
        return self.newton.relative_gap

    @property
    def primal(self) -> float:
        return self.newton.at.value / self.newton.problem.total_weight

    @property
    def gap(self) -> float | None:
        gap = self.newton.gap
        return None if gap is None else gap / self.newton.problem.total_weight

    def finish(self) -> None:
        """Be at the user's scale, wherever the iterations ended: certificates are about that."""
        if not self._is_last:
            point, self.scale = self.point, self._target
            self.newton = self._newton(point)

    def step(self) -> Record:
        if self.newton.is_done and not self._is_last:
            point, reduced = self.point, self.scale / SHRINKAGE
            self.scale = reduced if reduced > self._target else self._target
            self.newton = self._newton(point)
        elif isinstance(self.newton, LogCoshConjugateNewton) and not self._problem.is_by_products:
            self.newton = self._newton(self.point)
        record = self.newton.step()
        if self.newton.is_stuck and self.newton.gradient_norm > self._tol:
            self._take_majorised_step()
            record = {**record, "objective": self.newton.at.value, "gradient": self.gradient_norm}
        return {"scale": self.scale, **record}

    def _take_majorised_step(self) -> None:
        """Minimise a quadratic that is nowhere below the objective: slower than Newton's steps, and never too long."""
        newton = self.newton
        other = self._newton((newton.point + newton.majorised_direction()) * self.scale)
        if other.at.value < newton.at.value:
            self.newton = other
