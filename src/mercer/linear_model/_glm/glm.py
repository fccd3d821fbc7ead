"""Generalised linear models: any family, any link, by Newton's method or Fisher scoring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, require_no_overflow
from mercer._base import FitTask, run_solver
from mercer._linear import LinearModel
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, NumberOfJobs, Real, Rule, Verbosity, check_params, check_value
from mercer._solvers.lbfgs import Lbfgs, ScoringLbfgs, SparseLbfgs
from mercer._solvers.linear_loss import SparseLinearRows, make_linear_rows
from mercer._solvers.newton import Newton
from mercer._trace import iterate
from mercer.linear_model._glm.families import Family
from mercer.linear_model._glm.inference import GlmStatistics, explained_deviance, glm_statistics
from mercer.linear_model._glm.links import Link
from mercer.linear_model._glm.loss import DevianceLoss, deviance_loss, native_loss
from mercer.linear_model._inference.table import names_of_features
from mercer.linear_model._inference.wald import WaldSummary
from mercer.linear_model._smooth import check_rows, smooth_outcome, warm_point

MOST_HESSIAN_COLUMNS = 1000  # beyond, a Hessian costs more than the iterations that it saves
ROUGH_ROWS, ROUGH_ROWS_PER_COLUMN = 5000, 40  # of data at least four times as long: the rows of a rough first solution
ROUGH_TOL = 1e-2
GlmSolver = Newton | Lbfgs


class GeneralizedLinearModel(RegressorMixin, LinearModel):  # type: ignore[misc]  # scikit-learn has no types
    """What all generalised linear models share. A subclass says which family and link its parameters mean."""

    def _family_and_link(self, params: SimpleNamespace) -> tuple[Family, Link]:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> Any:
        params = check_params(self)
        family, link = self._family_and_link(params)
        X, y, weights = check_rows(self, X, y, sample_weight)
        family.check_targets(type(self).__name__, y)
        offset = None if offset is None else check_offset(self, offset, X.shape[0])
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        rows = make_linear_rows(X, is_shifted=params.fit_intercept, n_threads=effective_threads(params.n_jobs))
        problem = deviance_loss(rows, y, weights, family, link, params.alpha, has_intercept=params.fit_intercept, offset=offset)
        solver = self._start_solver(problem, X, params)
        private = {"_family": family, "_link": link}

        def fitted() -> dict[str, Any]:
            return {**_coefficients(problem, solver.point, X.dtype), **private}

        status, history = run_solver(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
        method = _method_of(problem, solver)
        weight, gap = problem.total_weight, solver.gap
        outcome = smooth_outcome(
            solver,
            status,
            history,
            method=method,
            tol=params.tol,
            primal=solver.at.value / weight,
            gap=None if gap is None else gap / weight,
        )
        if outcome.warning is not None and problem.is_at_border(solver.point):
            remark = (
                f" Means lie on the border of the {family.name} family's domain, where link={link.name!r} has no minimum inside"
            )
            outcome = replace(outcome, warning=f"{outcome.warning}{remark}: use link='log' or 'logit'.")
        return self._finish(task, {**fitted(), "_statistics": _statistics(problem, solver, params.alpha, offset)}, outcome)

    def _start_solver(self, problem: DevianceLoss, X: Any, params: SimpleNamespace) -> GlmSolver:
        """At the earlier solution where a warm start is asked for and possible, else at the model of the mean."""
        make = _solver_class(problem, params.solver)
        warm = warm_point(self, problem.rows, params)
        if warm is not None:
            solver = make(problem, warm, tol=params.tol)
            if _is_usable(solver):
                return solver
        rough = None if sp.issparse(X) or problem.loss is None else _rough_point(problem, X, effective_threads(params.n_jobs))
        solver = make(problem, problem.first_point() if rough is None else rough, tol=params.tol)
        if not _is_usable(solver) and rough is not None:
            solver = make(problem, problem.first_point(), tol=params.tol)
        if not _is_usable(solver):
            if np.isposinf(solver.at.value) or (problem.loss is None and np.isfinite(solver.at.value)):
                raise ValueError(
                    f"{type(self).__name__}: link={problem.link.name!r} gives means outside the {problem.family.name} family's "
                    "domain wherever the fit could start; use link='log' or 'logit', fit_intercept=True, or scale X."
                )
            require_no_overflow(self, X, "the sums over its rows")
        return solver

    def predict(self, X: Any) -> FloatArray:
        """The expected target of each row, of shape (n_samples,)."""
        raw = self._linear_values(X)
        return means_of(self._link, raw)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        r"""The share of the deviance explained, :math:`D^2 = 1 - D(y, \hat\mu) / D(y, \bar y)`: one at best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        raw = self._linear_values(X).astype(np.float64, copy=False)
        y = check_array(y, dtype=np.float64, ensure_2d=False)
        self._family.check_targets(type(self).__name__, y)
        weights = check_weights(sample_weight, len(y), np.float64)
        return explained_deviance(self._family, self._link, y, raw, weights)

    def summary(self, alpha: float = 0.05, *, uses_t: bool = False, feature_names: Sequence[str] | None = None) -> WaldSummary:
        """Standard errors, Wald tests, intervals and measures of fit; of unpenalised fits only.

        A row of weight s has the dispersion scale / s (the prior weights of R, `var_weights` of statsmodels), and rows of
        weight zero are not counted. The covariance is that of the expected information.

        Parameters
        ----------
        alpha : float, default=0.05
            The intervals have confidence 1 - alpha.
        uses_t : bool, default=False
            Whether tests and intervals are those of Student's t, not of the normal law (statsmodels' `use_t`).
        feature_names : sequence of str or None, default=None
            Names for the table; None takes `feature_names_in_`, or x0, x1, and so on.

        Returns
        -------
        WaldSummary
        """
        check_is_fitted(self)
        owner = type(self).__name__
        alpha = check_value(owner, "alpha", alpha, Real(above=0, most=1))
        uses_t = check_value(owner, "uses_t", uses_t, Bool())
        statistics: GlmStatistics | None = self._statistics
        if statistics is None:
            raise ValueError(
                f"{owner}: no summary; the fit was penalised, alpha={self.alpha!r}, and standard errors are not defined for "
                "coefficients that the penalty draws to zero. Fit with alpha=0."
            )
        return statistics.summary(owner, names_of_features(self, len(self.coef_), feature_names), alpha, uses_t=uses_t)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            family, _ = self._family_and_link(check_params(self))
            tags.target_tags.positive_only = not family.allows(np.array([-1.0]))[0]
        except ValueError:  # parameters that a fit would refuse
            pass
        return tags


def _rough_point(problem: DevianceLoss, X: FloatArray, n_threads: int) -> FloatArray | None:
    """The solution for every k-th row, from where few passes over all of them are left; None where X is short or wide."""
    n_rows, n_features = X.shape
    k = n_rows // max(ROUGH_ROWS, ROUGH_ROWS_PER_COLUMN * n_features)
    if k < 4 or n_features > MOST_HESSIAN_COLUMNS:
        return None
    y, weights = problem.y[::k].copy(), None if problem.weights is None else problem.weights[::k].copy()
    if weights is not None and not weights.any():
        return None
    rows = make_linear_rows(X[::k], is_shifted=problem.has_intercept, n_threads=n_threads)
    alpha = float(problem.l2[0]) / problem.total_weight
    part = DevianceLoss(rows, y, weights, problem.family, problem.link, alpha, has_intercept=problem.has_intercept)
    solver = Newton(part, part.first_point(), tol=ROUGH_TOL)
    if not _is_usable(solver):
        return None
    iterate(solver, max_iter=20, watch=lambda record: False)
    return problem.start(*part.to_user(solver.point))


def _solver_class(problem: DevianceLoss, name: str) -> Callable[..., GlmSolver]:
    """Newton's method, or L-BFGS where there are many columns or sparse rows and it may choose.

    Where only the expected Hessian is at hand, L-BFGS corrects it by what the gradients tell: plain scoring is slow where the
    two differ, as under the identity.
    """
    rows, has_native = problem.rows, native_loss(problem.family, problem.link) is not None
    has_many_columns, may_choose = rows.n_features > MOST_HESSIAN_COLUMNS, name != "newton-cholesky"
    is_tall_sparse = isinstance(rows, SparseLinearRows) and rows.n_rows >= rows.n_features
    if may_choose and is_tall_sparse and problem.loss is not None:
        return partial(SparseLbfgs, may_take_hessian=not has_many_columns)
    if may_choose and has_many_columns:
        return Lbfgs
    return Newton if has_native else ScoringLbfgs


def _is_usable(solver: GlmSolver) -> bool:
    """Whether the objective and its derivatives are finite where the solver stands."""
    at = solver.at
    parts = (at.value, at.gradient, at.gradient if at.hessian is None else at.hessian)
    return all(bool(np.isfinite(part).all()) for part in parts)


def _method_of(problem: DevianceLoss, solver: GlmSolver) -> str:
    if not solver.needs_hessian:
        return "L-BFGS"
    return "Fisher scoring" if problem.loss is None else "Newton's method"


def means_of(link: Link, raw: FloatArray) -> FloatArray:
    """The means that linear values stand for; values beyond the range of floats give infinity or zero, without a warning."""
    with np.errstate(all="ignore"):
        return link.inverse(raw)


def check_offset(estimator: Any, offset: Any, n_rows: int) -> FloatArray:
    """An offset as a vector of finite numbers, one a row."""
    values: FloatArray = check_array(offset, dtype=np.float64, ensure_2d=False, input_name="offset", estimator=estimator)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{type(estimator).__name__}: offset has shape {values.shape}; it must be ({n_rows},), one value for each row of X."
        )
    return values


def _coefficients(problem: DevianceLoss, point: FloatArray, dtype: Any) -> dict[str, Any]:
    """The fitted attributes, in the type of X."""
    coef, intercept = problem.to_user(point)
    return {"coef_": coef.astype(dtype), "intercept_": dtype.type(intercept) if problem.has_intercept else 0.0}


def _statistics(problem: DevianceLoss, solver: GlmSolver, alpha: float, offset: FloatArray | None) -> GlmStatistics | None:
    """What `summary` needs, where there is one."""
    if alpha > 0:
        return None
    if problem.rows.n_features > MOST_HESSIAN_COLUMNS and not solver.needs_hessian:
        return GlmStatistics.refused(
            f"with more than {MOST_HESSIAN_COLUMNS} columns the information is taken only for solver='newton-cholesky'"
        )
    raw = problem.rows.values(solver.point)
    return glm_statistics(problem, solver.point, raw if offset is None else raw + offset, offset)


COMMON_RULES: dict[str, Rule] = {
    "alpha": Real(least=0),
    "fit_intercept": Bool(),
    "max_iter": Integer(1),
    "tol": Real(least=0),
    "warm_start": Bool(),
    "verbose": Verbosity(),
    "n_jobs": NumberOfJobs(),
}
