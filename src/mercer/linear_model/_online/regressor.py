"""Regressors fitted by stochastic descent, to all rows or to a part."""

from __future__ import annotations

from typing import Any

from mercer._arrays import FloatArray, check_weights, check_X_y
from mercer._base import FitTask
from mercer._linear import LinearRegressor, SparseCoefficients
from mercer.linear_model._online.fit import OnlineLearner, finite_of
from mercer.linear_model._online.stochastic import Problem, Settings


class OnlineRegressor(SparseCoefficients, LinearRegressor, OnlineLearner):
    """A regressor fitted by stochastic descent."""

    def _to_stored(self, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        return {"coef_": coef[0], "intercept_": intercept}

    def _check_targets(self, y: FloatArray, settings: Settings) -> None:
        if settings.loss == "poisson" and (y < 0).any():
            raise ValueError(f"{type(self).__name__}: y holds {y.min():g}; with loss='poisson' every value must be >= 0.")
        if settings.loss == "gamma" and (y <= 0).any():
            raise ValueError(f"{type(self).__name__}: y holds {y.min():g}; with loss='gamma' every value must be > 0.")

    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Any:
        params, settings = self._check_params(is_partial=False)
        X, y = check_X_y(self, X, y, sparse="csr", finite=finite_of(sample_weight, settings))
        self._check_targets(y, settings)
        problem = Problem.of(X, y, check_weights(sample_weight, X.shape[0], X.dtype))
        start = self._start(problem, settings, coef_init, intercept_init, is_warm=params.warm_start)
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        return self._fit_problem(problem, settings, start, {}, task)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        _, settings = self._check_params(is_partial=True)
        is_first = not hasattr(self, "coef_")
        X, y = check_X_y(self, X, y, sparse="csr", reset=is_first)
        self._check_targets(y, settings)
        if not is_first:
            X = X.astype(self.coef_.dtype, copy=False)
        return self._continue(Problem.of(X, y, check_weights(sample_weight, X.shape[0], X.dtype)), settings, {})
