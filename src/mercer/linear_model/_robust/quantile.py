"""Quantile regression."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_weights, check_X_y, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._linear import SPARSE, LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, InvalidParameterError, Mapped, Null, NumberOfJobs, OneOf, Real, Rule, check_params
from mercer._solvers.interior_point import InteriorPoint
from mercer._solvers.linear_loss import make_linear_rows
from mercer._solvers.pieces import LEAST_TOL, PiecewiseProblem
from mercer._trace import Certificate, Outcome, Record, Status
from mercer._tuning import Reals, Space
from mercer.linear_model._inference.summary import NO_LIKELIHOOD, NoSummary

SOLVERS = ("highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex")


class QuantileRegressor(NoSummary, LinearRegressor):
    r"""Linear regression of a quantile, with an l1 penalty, solved to a duality gap.

    Minimises, with :math:`\rho_q(r) = q \max(r, 0) + (1 - q) \max(-r, 0)`,

    .. math:: \frac{1}{\sum_i s_i} \sum_i s_i \rho_q(y_i - x_i^\top w - b) + \alpha \|w\|_1

    With q = 1/2 it is half the absolute loss, and the median is what it finds.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile q to model, between 0 and 1.
    alpha : float, default=1.0
        The strength of the l1 penalty; 0 for none.
    fit_intercept : bool, default=True
        Whether there is an intercept; it has no penalty.
    solver : {"highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"}, default="highs"
        All names run the same method: interior points, which end on the vertex of the linear program that they come close to.
    solver_options : None or an empty dict, default=None
        That method has no options but `tol` and `max_iter`.
    tol : float, default=1e-9
        The fit stops when the duality gap is within `tol` times the objective; less than 1e-12 is taken as 1e-12.
    max_iter : int, default=200
        The most iterations.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    history_ : list of dict
        For each iteration: `objective` and `gap` (of the sum of weighted losses), `mu` (the mean complementarity before it) and
        `step` (the shorter of the primal and the dual step).
    certificate_ : Certificate
        The objective, its dual value and the duality gap, relative to the objective, against `tol`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration costs O(n d^2) for one weighted Gram matrix, O(d^3) for its Cholesky factor and O(n d) beside; there are 10 to
    30 of them. Memory beyond X is O(n + d^2). Dense X of any memory order is read in place; sparse X stays sparse. Where the
    solution is not unique (an even number of rows and a median, say, or more columns than rows), the fit ends at one of them.

    Differences from scikit-learn: `solver` names are taken but not told apart, `solver_options` has nothing to set, and
    `tol`, `max_iter` and `n_jobs` are new. The objective is that of scikit-learn to 1e-9 of its value.

    References
    ----------
    S. Portnoy and R. Koenker, "The Gaussian hare and the Laplacian tortoise", Statistical Science 12, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import QuantileRegressor
    >>> X = np.arange(7.0)[:, None]
    >>> model = QuantileRegressor(quantile=0.4, alpha=0).fit(X, [1, 3, 5, 7, 9, 50, 100])
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([2.]), 1.0)
    >>> model.certificate_.converged
    True
    """

    _no_summary: ClassVar[str] = NO_LIKELIHOOD
    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-5, 1.0, log=True)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "quantile": Real(above=0, below=1),
        "alpha": Real(least=0),
        "fit_intercept": Bool(),
        "solver": OneOf(*SOLVERS),
        "solver_options": Null() | Mapped(),
        "tol": Real(least=0),
        "max_iter": Integer(1),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: Mapping[str, Any] | None = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        n_jobs: int | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QuantileRegressor:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = _checked(self)
        X, y = check_X_y(self, X, y, sparse=SPARSE, finite="check" if sp.issparse(X) else "deferred")
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        weights = np.ones(X.shape[0]) if weights is None else weights
        problem = _problem(X, y.astype(np.float64), weights, params)
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        try:
            solver = InteriorPoint(problem, tol=params.tol)
        except FloatingPointError:
            require_no_overflow(self, X, "the sums of their squares")
            raise

        def fitted() -> dict[str, Any]:
            coef = solver.coef[:-1].astype(X.dtype)
            intercept = X.dtype.type(solver.coef[-1] - problem.rows.shift @ solver.coef[:-1])
            return {"coef_": coef, "intercept_": intercept if params.fit_intercept else 0.0}

        def outcome(status: Status, history: list[Record]) -> Outcome:
            return _outcome(solver, status, history, float(weights.sum()), params)

        return self._fit_by(solver, task, max_iter=params.max_iter, verbose=0, fitted=fitted, outcome=outcome)


def _checked(estimator: QuantileRegressor) -> SimpleNamespace:
    params, owner = check_params(estimator), type(estimator).__name__
    if params.solver_options:
        raise InvalidParameterError(
            f"{owner}: solver_options={params.solver_options!r} is not valid; it must be None or an empty dict. The parameters "
            "tol and max_iter say when to stop."
        )
    return params


def _problem(X: Any, y: FloatArray, weights: FloatArray, params: SimpleNamespace) -> PiecewiseProblem:
    """The objective times the total weight."""
    n_threads, d = effective_threads(params.n_jobs), X.shape[1]
    rows = make_linear_rows(X, is_shifted=params.fit_intercept, n_threads=n_threads)
    pieces = np.stack([y, (1 - params.quantile) * weights, params.quantile * weights])
    absolute = np.append(np.full(d, params.alpha * weights.sum()), 0.0)
    return PiecewiseProblem(rows, pieces, np.zeros(d + 1), absolute, params.fit_intercept, n_threads)


def _outcome(solver: InteriorPoint, status: Status, history: list[Record], weight: float, params: SimpleNamespace) -> Outcome:
    residual, tol = solver.relative_gap, max(params.tol, LEAST_TOL)
    status = status.given(is_reached=residual <= tol)
    certificate = Certificate(
        method="primal-dual interior points",
        status=status,
        primal=float(solver.gap.primal) / weight,
        condition="relative duality gap",
        residual=residual,
        tol=tol,
        dual=float(solver.gap.dual) / weight,
        gap=float(solver.gap.width) / weight,
    )
    remedies = {
        Status.MAX_ITER: f"after max_iter={params.max_iter} iterations. Raise max_iter or tol, or scale the columns of X.",
        Status.INEXACT: "where rounding ended the iterations. Scale the columns of X, or raise tol.",
    }
    warning = None
    if status in remedies:
        warning = f"the relative duality gap is {residual:.3g}, not within tol={tol:.3g}, {remedies[status]}"
    return Outcome(certificate, history, warning)
