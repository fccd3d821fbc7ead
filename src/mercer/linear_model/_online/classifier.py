"""Classifiers fitted by stochastic descent, to all rows or to a part."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight

from mercer._arrays import FloatArray, check_weights, check_X_known_labels, check_X_labels
from mercer._base import FitTask, fit_method
from mercer._labels import known_classes
from mercer._linear import LinearClassifier
from mercer.linear_model._online.fit import OnlineLearner, finite_of
from mercer.linear_model._online.stochastic import Problem


class OnlineClassifier(LinearClassifier, OnlineLearner):
    """A classifier fitted by stochastic descent: one output for two classes, one-vs-rest for more."""

    def _to_stored(self, coef: FloatArray, intercept: FloatArray) -> dict[str, Any]:
        return {"coef_": coef, "intercept_": intercept}

    def _problem(
        self, X: Any, codes: npt.NDArray[np.intp], classes: npt.NDArray[Any], weights: FloatArray | None, class_weight: Any
    ) -> Problem:
        of_class = self._class_weights(class_weight, classes, codes, weights)
        if len(classes) == 2:
            return Problem.of(X, codes, weights, np.array([1], dtype=np.int32), of_class[None, :])
        pairs = np.column_stack([np.ones(len(classes)), of_class])  # as the peer does: in each output, its own class alone
        return Problem.of(X, codes, weights, np.arange(len(classes), dtype=np.int32), pairs)

    def _fit(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Any:
        params, settings = self._check_params(is_partial=False)
        X, classes, codes = check_X_labels(self, X, y, sparse="csr", finite=finite_of(sample_weight, settings))
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        problem = self._problem(X, codes, classes, weights, params.class_weight)
        start = self._start(problem, settings, coef_init, intercept_init, is_warm=params.warm_start)
        task = FitTask.start(self, X, y, n_subtasks=settings.max_iter)
        return self._fit_problem(problem, settings, start, {"classes_": classes}, task)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        params, settings = self._check_params(is_partial=True)
        if params.class_weight == "balanced":
            raise ValueError(
                f"{type(self).__name__}: class_weight='balanced' is not valid with partial_fit, which does not see all labels; "
                "it must be None or a dict, such as one made by sklearn.utils.class_weight.compute_class_weight."
            )
        is_first = not hasattr(self, "classes_")
        classes = self._known_classes(classes)
        X, codes = check_X_known_labels(self, X, y, classes, sparse="csr", reset=is_first)
        if not is_first:
            X = X.astype(self.coef_.dtype, copy=False)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        problem = self._problem(X, codes, classes, weights, params.class_weight)
        return self._continue(problem, settings, {"classes_": classes})

    def _known_classes(self, classes: Any) -> npt.NDArray[Any]:
        """Those of the first call of partial_fit, which later calls may repeat."""
        known = known_classes(self, classes)
        if len(known) < 2:
            raise ValueError(f"{type(self).__name__}: classes={classes!r} is not valid; it must hold at least 2 classes.")
        return known

    def _class_weights(
        self, class_weight: Any, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], weights: FloatArray | None
    ) -> FloatArray:
        """One weight a class; "balanced" counts a row by its weight."""
        if class_weight is None:
            return np.ones(len(classes))
        if isinstance(class_weight, str):  # the rule of the parameter allows "balanced" only
            counts = np.bincount(codes, weights=weights, minlength=len(classes))
            balanced: FloatArray = counts.sum() / (len(classes) * np.maximum(counts, np.finfo(np.float64).tiny))
            return balanced
        try:
            of_class: FloatArray = compute_class_weight(class_weight, classes=classes, y=classes[codes]).astype(np.float64)
        except (TypeError, ValueError):
            of_class = np.array([np.nan])
        if not (np.isfinite(of_class) & (of_class >= 0)).all():
            raise ValueError(
                f"{type(self).__name__}: class_weight={class_weight!r} is not valid; it must be a dict of finite numbers >= 0 "
                f"by label, for labels among {classes.tolist()!r}."
            )
        return of_class


class WeightedClassifier(OnlineClassifier):
    """A classifier whose steps may be weighted row by row."""

    @fit_method
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Fit to all rows, pass after pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        coef_init : array of the shape of `coef_`, default=None
            Where to start; None: at zero, or at the last fit with `warm_start`.
        intercept_init : array of the shape of `intercept_`, default=None
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the steps.

        Returns
        -------
        self
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)  # type: ignore[no-any-return]

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over these rows, from where the last one ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All classes that will ever come; needed on the first call.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, classes, sample_weight)  # type: ignore[no-any-return]
