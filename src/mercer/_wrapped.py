"""Classifiers around another classifier: its tags and metadata, its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_array, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from mercer._arrays import FloatArray
from mercer._base import MercerEstimator
from mercer._labels import pad_classes
from mercer._rows import take_rows


@dataclass(frozen=True)
class Metadata:
    """What the wrapped classifier's `fit` and the splitter are given besides X and y."""

    fit: Mapping[str, Any] = field(default_factory=dict)
    split: Mapping[str, Any] = field(default_factory=dict)

    def fit_rows(self, index: npt.NDArray[np.intp], n_rows: int) -> dict[str, Any]:
        """For a fit on some rows: what has one value a row is cut down to them."""
        return {name: take_rows(value, index) if _has_rows(value, n_rows) else value for name, value in self.fit.items()}


def _has_rows(value: Any, n_rows: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping)) and len(value) == n_rows


class WrappedClassifier(ClassifierMixin, MetaEstimatorMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of classifiers with the parameters `estimator` and `cv`. X goes to the estimator as it is."""

    estimator: Any
    cv: Any

    def _base(self) -> Any:
        """The classifier to wrap."""
        return self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._base()
        if hasattr(base, "__sklearn_tags__") and not isinstance(base, type):
            inner = get_tags(base).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata `fit` hands on to the estimator and to the splitter (scikit-learn's metadata routing)."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._base(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _route(self, weights: FloatArray | None, metadata: Mapping[str, Any]) -> Metadata:
        """Metadata by who asks for it if routing is enabled; else all goes to the estimator, with weights if it takes them."""
        given = dict(metadata) if weights is None else {**metadata, "sample_weight": weights}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return Metadata(dict(routed.estimator.fit), dict(routed.splitter.split))
        if not has_fit_parameter(self._base(), "sample_weight"):
            given.pop("sample_weight", None)
        return Metadata(given)

    def _set_features(self, fitted: Any) -> dict[str, Any]:
        """The features that a fitted classifier says it saw; those of an earlier fit are forgotten."""
        self._unset("n_features_in_", "feature_names_in_")
        names = ("n_features_in_", "feature_names_in_")
        return {name: getattr(fitted, name) for name in names if hasattr(fitted, name)}


# ---- data


def index_rows(X: Any, y: npt.NDArray[Any]) -> Any:
    """X as something whose rows can be taken, as many as y has values; what is wrong with X alone is said first."""
    try:
        if X is None:
            raise ValueError("X is None")
        (X, _) = indexable(X, y)
    except (TypeError, ValueError):
        check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False)
        raise
    return X


# ---- scores


def response_method(estimator: Any, names: Sequence[str]) -> str:
    """The first of the methods that a classifier has."""
    for name in names:
        if hasattr(estimator, name):
            return name
    wanted = " nor ".join(names)
    raise AttributeError(f"{type(estimator).__name__} has {'neither ' if len(names) > 1 else 'no '}{wanted}.")


def class_scores(owner: str, estimator: Any, X: Any, method: str, classes: npt.NDArray[Any]) -> FloatArray:
    """One column a class of `classes`; of two classes, decision values have one column, that of the second.

    A class that the estimator has not seen has probability zero; decision values need all of them.
    """
    given = np.asarray(getattr(estimator, method)(X))
    if given.dtype.kind != "f":
        given = given.astype(np.float64)
    if not np.isfinite(given).all():
        raise ValueError(
            f"{owner}: {method} of {type(estimator).__name__} gave NaN or infinity, as it may where values of X are too large. "
            "Scale X to moderate values first."
        )
    seen = np.asarray(estimator.classes_)
    if len(seen) == len(classes):
        return given.reshape(len(given), -1)
    if method == "decision_function":
        raise ValueError(
            f"{owner}: {type(estimator).__name__} was fitted on {len(seen)} of {len(classes)} classes: a training fold lacks "
            "the others. Give a cv whose training folds have every class, or an estimator with predict_proba."
        )
    return pad_classes(given, np.searchsorted(classes, seen), len(classes))
