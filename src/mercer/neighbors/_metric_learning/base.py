"""What estimators of linear maps share: parameters, checks, the fit around an objective, and the map itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, check_X_labels, require_no_overflow
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._params import ArrayLike, Bool, Function, Integer, Null, OneOf, RandomState, Real, Rule, Verbosity, check_params
from mercer._trace import Outcome, Record, Status
from mercer.neighbors._metric_learning.descent import Kernel, MapDescent, MapObjective, SortedRows
from mercer.neighbors._metric_learning.starts import NAMES, start_map


class LinearMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    """A map x -> L x learnt from labels by minimising an objective of all pairs of rows."""

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": Integer(1) | Null(),
        "init": OneOf(*NAMES) | ArrayLike(),
        "warm_start": Bool(),
        "max_iter": Integer(1),
        "tol": Real(least=0),
        "callback": Function() | Null(),
        "verbose": Verbosity(),
        "random_state": RandomState(),
    }
    _method: ClassVar[str]

    warm_start: bool
    components_: FloatArray

    def _kernel(self, rows: SortedRows, params: SimpleNamespace) -> tuple[Kernel, float]:
        """The objective of the rows, and its unit: what the gradient is divided by before it is compared with `tol`."""
        raise NotImplementedError

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        params = check_params(self)
        before = getattr(self, "components_", None) if params.warm_start else None
        X, _, codes = check_X_labels(self, X, y, one_class=True)
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs two rows at least; X has 1 sample (n_samples = 1).")
        if before is not None and before.shape[1] != X.shape[1]:
            raise ValueError(
                f"The new inputs dimensionality ({X.shape[1]}) does not match the input dimensionality of the previously "
                f"learned transformation ({before.shape[1]})."
            )
        start = start_map(params.init, params.n_components, X, codes, check_random_state(params.random_state))
        rows = SortedRows(X, codes)
        kernel, unit = self._kernel(rows, params)
        task = FitTask.start(self, X, y, n_subtasks=params.max_iter)
        start = start if before is None else before.astype(np.float64)
        solver = MapDescent(MapObjective(rows.X, kernel, total_weight=unit), start, tol=params.tol, callback=params.callback)
        if not np.isfinite(solver.objective) or not np.isfinite(solver.at.gradient).all():
            require_no_overflow(self, X, "squared distances of the start map")

        def fitted() -> dict[str, Any]:
            return {"components_": solver.point.reshape(start.shape).astype(X.dtype)}

        def outcome(status: Status, history: list[Record]) -> Outcome:
            return solver.outcome(status, history, self._method, params.max_iter)

        return self._fit_by(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted, outcome=outcome)

    def transform(self, X: Any) -> FloatArray:
        """The images of the rows, of shape (n_samples, n_components)."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        images: FloatArray = np.dot(X, self.components_.T.astype(X.dtype, copy=False))
        return images

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
