"""What naive Bayes classifiers share: the joint log-probability, and priors and smoothing of those that count."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, check_X_known_labels, check_X_labels
from mercer._base import FitTask, fit_method
from mercer._labels import Labels, known_classes
from mercer._params import ArrayLike, Bool, Null, Real, Rule, check_params
from mercer._posteriors import GenerativeClassifier, check_priors, log_of, present_classes
from mercer._trace import warn

LEAST_ALPHA = 1e-10

COUNT_RULES: dict[str, Rule] = {
    "alpha": Real(least=0) | ArrayLike(),
    "force_alpha": Bool(),
    "fit_prior": Bool(),
    "class_prior": ArrayLike() | Null(),
}


class NaiveBayesClassifier(GenerativeClassifier):
    """A classifier by log P(k) plus a sum over features."""

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """log P(k, x), a column for each class."""
        check_is_fitted(self)
        return self._joint_log(X)

    def _joint_log(self, X: Any) -> FloatArray:
        return self._joint_of(self._check_rows(X))

    def _check_rows(self, X: Any) -> Any:
        """X as predictions take it."""
        raise NotImplementedError

    def _joint_of(self, X: Any) -> FloatArray:
        """log P(k, x) of X as `_check_rows` gives it."""
        raise NotImplementedError


def known_labels(estimator: Any, classes: Any) -> Labels:
    """The classes of the first call of partial_fit; a label that is named twice is an error of the caller's."""
    labels = known_classes(estimator, classes)
    if classes is not None and len(labels) < np.size(classes):
        raise ValueError(
            f"{type(estimator).__name__}: classes={classes!r} names a label twice; every class must be named once."
        )
    return labels


class Counts(NamedTuple):
    """What is counted in rows: of each class their weight, and of each class and feature whatever the law counts."""

    of_class: FloatArray
    of_feature: Any

    def __add__(self, other: Any) -> Counts:
        return Counts(self.of_class + other.of_class, self.of_feature + other.of_feature)


class CountingNaiveBayes(NaiveBayesClassifier):
    """Naive Bayes from counts, which add up; they are smoothed when all are there."""

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse", "positive_only")
    _sparse: ClassVar[str | None] = "csr"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = COUNT_RULES

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, labels, codes = check_X_labels(self, X, y, sparse=self._sparse, one_class=True)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        labels, codes, _ = present_classes(labels, codes, weights)
        task = FitTask.start(self, X, y)
        counts = self._count(self._prepared(X, params), codes, labels, weights, params)
        return self._finish(task, self._fitted(params, labels, counts))

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count rows in addition to those seen so far.

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
        params = check_params(self)
        is_first = not hasattr(self, "classes_")
        labels = known_labels(self, classes)
        X, codes = check_X_known_labels(self, X, y, labels, sparse=self._sparse, reset=is_first)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        task = FitTask.start(self, X, y)
        counts = self._count(self._prepared(X, params), codes, labels, weights, params)
        if not is_first:
            counts = self._counted() + counts
        return self._finish(task, self._fitted(params, labels, counts))

    def _prepared(self, X: Any, params: SimpleNamespace) -> Any:
        """X as it is counted, after the checks of what it holds."""
        raise NotImplementedError

    def _count(
        self, X: Any, codes: npt.NDArray[np.intp], labels: Labels, weights: FloatArray | None, params: SimpleNamespace
    ) -> Counts:
        raise NotImplementedError

    def _counted(self) -> Counts:
        """The counts of an earlier fit, from the attributes."""
        raise NotImplementedError

    def _learned(self, counts: Counts, alpha: Any, params: SimpleNamespace) -> dict[str, Any]:
        """The attributes of the law, of smoothed counts."""
        raise NotImplementedError

    def _fitted(self, params: SimpleNamespace, labels: Labels, counts: Counts) -> dict[str, Any]:
        learned = self._learned(counts, self._alpha(params), params)
        priors = self._priors(params, counts.of_class)
        return {"classes_": labels, "class_count_": counts.of_class, "class_log_prior_": priors, **learned}

    def _priors(self, params: SimpleNamespace, count: FloatArray) -> FloatArray:
        """Their logarithms. Given ones may have any sum: predictions do not depend on it."""
        if params.class_prior is not None:
            return log_of(check_priors(type(self).__name__, params.class_prior, len(count), name="class_prior"))
        if params.fit_prior:
            return log_of(count) - float(np.log(count.sum()))
        return np.full(len(count), -np.log(len(count)))

    def _alpha(self, params: SimpleNamespace) -> Any:
        """What is added to counts: one number, or one for each feature."""
        owner, alpha = type(self).__name__, params.alpha
        if not isinstance(alpha, float):
            alpha = np.asarray(alpha, dtype=np.float64)
            if alpha.shape != (self.n_features_in_,):
                raise ValueError(
                    f"{owner}: alpha has shape {alpha.shape}. When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.size} elements instead of {self.n_features_in_}."
                )
            if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
                raise ValueError(f"{owner}: alpha holds {alpha.min():g}. All values in alpha must be greater than 0.")
        if np.min(alpha) < LEAST_ALPHA and not params.force_alpha:
            warn(
                f"{owner}: alpha={np.min(alpha):g}: alpha too small will result in numeric errors, setting alpha = "
                f"{LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
            )
            return np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _check_rows(self, X: Any) -> Any:
        params = check_params(self)
        return self._prepared(check_X(self, X, sparse=self._sparse, reset=False), params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
