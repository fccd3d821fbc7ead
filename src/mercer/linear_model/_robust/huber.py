"""Huber's robust regression with a concomitant scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray, require_no_overflow
from mercer._base import FitTask, fit_method, run_solver
from mercer._linear import LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, NumberOfJobs, Real, Rule, Verbosity, check_params
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.summary import NO_LIKELIHOOD, NoSummary
from mercer.linear_model._robust.huber_loss import HuberLoss, make_huber_rows
from mercer.linear_model._robust.huber_newton import first_point, make_solver
from mercer.linear_model._smooth import check_rows, smooth_outcome, warm_point


class HuberRegressor(NoSummary, LinearRegressor):
    r"""Linear regression that outliers do not disturb: squared errors for small residuals, absolute ones for large.

    Minimises :math:`\sum_i s_i \left(\sigma + H_\epsilon\!\left(\frac{y_i - x_i^\top w - b}{\sigma}\right) \sigma\right)
    + \alpha \|w\|^2` jointly over the coefficients :math:`w`, the intercept :math:`b` and the scale :math:`\sigma > 0`, with
    :math:`H_\epsilon(z) = z^2` for :math:`|z| \le \epsilon` and :math:`2 \epsilon |z| - \epsilon^2` beyond, for the sample
    weights :math:`s_i`. Jointly convex.

    Parameters
    ----------
    epsilon : float, default=1.35
        From how many scales on a residual counts as an outlier's; >= 1. 1.35 has 95 % of the efficiency of least squares where
        errors are normal.
    max_iter : int, default=100
        The most iterations.
    alpha : float, default=0.0001
        The strength of the penalty.
    warm_start : bool, default=False
        Whether to start at the coefficients and the scale of the earlier fit.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    tol : float, default=1e-05
        The fit stops when the largest entry of the projected gradient is within `tol` and, where alpha > 0, the duality gap is
        within `tol` of the objective. Where the scale is so small that rounding alone leaves a larger gradient, that will do.
    verbose : int, default=0
        Above zero, every iteration is logged.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    scale_ : float
        :math:`\sigma`. Not below 1e-8 times the spread of y: residuals smaller than that are rounding errors.
    outliers_ : bool array of shape (n_samples,)
        Which rows have a residual beyond epsilon times the scale.
    n_iter_ : int
    history_ : list of dict
        Objective, gradient, scale, step (and gap) of each iteration.
    certificate_ : Certificate
        The objective, the largest entry of its gradient and, where alpha > 0, the duality gap.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The start is least squares. A step of Newton's method in all unknowns at once costs one pass over X, O(n d^2); there are
    about ten. With more than a thousand columns no Hessian is formed, and the steps are taken by conjugate gradients, O(n d) a
    product; up to 5,000 columns it is formed after all once more products have been taken than there are columns. The gap is
    that of the dual problem :math:`\max_u \sum_i s_i u_i y_i - \|X^\top (s \circ u)\|^2 / (4 \alpha)` with
    :math:`|u_i| \le 2 \epsilon`, :math:`\sum_i s_i u_i^2 \le 4 \sum_i s_i` and :math:`\sum_i s_i u_i = 0`, at a feasible point
    that every iteration leaves for nothing.

    Differences from scikit-learn: the fit goes on until gradient and gap are small (there, it also ends where the objective
    falls by less than 2e-9 of itself); the bound of the scale goes with y; `verbose`, `n_jobs`, `history_`, `certificate_`.

    References
    ----------
    A. B. Owen, "A robust hybrid of lasso and ridge regression", Contemporary Mathematics 443, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import HuberRegressor
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1 + 0.01 * (-1) ** np.arange(10)
    >>> y[3] += 50
    >>> model = HuberRegressor().fit(X, y)
    >>> model.coef_.round(1), bool(model.outliers_[3]), round(float(model.predict([[3.0]])[0]), 1)
    (array([2.]), True, 7.0)
    """

    _no_summary: ClassVar[str] = NO_LIKELIHOOD
    _search_space: ClassVar[Mapping[str, Space]] = {
        "epsilon": Reals(1.05, 3.0),
        "alpha": Reals(1e-6, 1e2, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "epsilon": Real(least=1),
        "max_iter": Integer(0),
        "alpha": Real(least=0),
        "warm_start": Bool(),
        "fit_intercept": Bool(),
        "tol": Real(least=0),
        "verbose": Verbosity(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-05,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HuberRegressor:
        """Find the coefficients and the scale.

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
        rows = make_huber_rows(X, is_shifted=params.fit_intercept, n_threads=effective_threads(params.n_jobs))
        problem = HuberLoss(rows, y, weights, epsilon=params.epsilon, alpha=params.alpha, has_intercept=params.fit_intercept)
        if not np.isfinite(problem.column_squares).all() or not np.isfinite(problem.least_scale):
            require_no_overflow(self, X, "the sums of squares over its rows")
        warm = warm_point(self, rows, params)
        solver = make_solver(problem, self._start(problem, warm), tol=params.tol)
        max_iter = 0 if warm is not None and solver.is_done else params.max_iter  # the earlier solution is the one

        def fitted() -> dict[str, Any]:
            return _attributes(problem, solver.point, X.dtype)

        status, history = run_solver(solver, task, max_iter=max_iter, verbose=params.verbose, fitted=fitted)
        outcome = smooth_outcome(
            solver, status, history, method="Newton's method", tol=solver.tol, primal=solver.at.value, gap=solver.gap
        )
        return self._finish(task, {**fitted(), "n_iter_": len(history), "history_": history}, outcome)

    def _start(self, problem: HuberLoss, warm: FloatArray | None) -> FloatArray:
        """The earlier solution where a warm start is asked for, else least squares with the best scale for it."""
        if warm is not None:
            return np.append(warm, max(float(self.scale_), problem.least_scale))
        return first_point(problem)


def _attributes(problem: HuberLoss, point: FloatArray, dtype: Any) -> dict[str, Any]:
    """The fitted attributes, coefficients in the type of X."""
    coef, scale = point[:-2], float(point[-1])
    residuals = np.abs(problem.y - problem.rows.values(point[:-1]))
    return {
        "coef_": coef.astype(dtype),
        "intercept_": dtype.type(point[-2] - problem.rows.shift @ coef) if problem.has_intercept else 0.0,
        "scale_": scale,
        "outliers_": residuals > scale * problem.epsilon,
    }
