"""Naive Bayes of counts and of events that happen or do not."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._labels import Labels
from mercer._linear import linear_predictions
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Null, Real, Rule
from mercer._parts.passes import rowwise
from mercer._posteriors import fall_back, log_of
from mercer._statistics import GroupSums
from mercer._tuning import Choices, Reals, Space
from mercer.naive_bayes._base import COUNT_RULES, LEAST_ALPHA, CountingNaiveBayes, Counts

ALPHAS: dict[str, Space] = {"alpha": Reals(1e-3, 10.0, log=True)}


def linear_values(X: Any, lines: FloatArray, starts: FloatArray) -> FloatArray:
    """X lines' + starts for dense or sparse X, a column a line, in double precision."""
    if not sp.issparse(X):
        return linear_predictions(X, lines, starts)
    values = np.empty((X.shape[0], len(lines)))
    rows = native_rows(X.astype(np.float64, copy=False))
    kernels.multiply_sparse(rows, np.ascontiguousarray(lines.T, dtype=np.float64), values, effective_threads(None))
    values += starts
    return values


def joint_of_events(X: Any, lines: FloatArray, starts: FloatArray, forbidden: Any, required: Any) -> FloatArray:
    """X lines' + starts, and minus infinity where a feature is there that a class forbids, or is not that it requires."""
    joint = linear_values(X, lines, starts)
    if forbidden.any() or required.any():
        n_wrong = linear_values(X, forbidden - required, required.sum(axis=1))
        joint[n_wrong > 0] = -np.inf
    return joint


class FeatureCounts(CountingNaiveBayes):
    """Counts of features by class, from dense or sparse X."""

    def _count(
        self, X: Any, codes: npt.NDArray[np.intp], labels: Labels, weights: FloatArray | None, params: SimpleNamespace
    ) -> Counts:
        found = GroupSums.of(X, codes, len(labels), weights)
        return Counts(found.weights, found.sums)

    def _counted(self) -> Counts:
        return Counts(self.class_count_, self.feature_count_)

    _takes_parts = True

    def _prepared(self, X: Any, params: SimpleNamespace) -> Any:
        return rowwise(_without_negative, X, type(self).__name__)


def _without_negative(X: Any, owner: str) -> Any:
    """X itself; an error where it holds what is no count."""
    values = X.data if sp.issparse(X) else X
    if values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {owner} (input X): the least is {values.min():g}; counts are >= 0."
        )
    return X


class MultinomialNB(FeatureCounts):
    r"""Naive Bayes of counts, such as of the words of texts.

    With :math:`N_{kj}` the sum of feature j over the rows of class k,

    .. math:: \ln P(k, x) = \ln \pi_k + \sum_j x_j \ln \theta_{kj}, \qquad
        \theta_{kj} = \frac{N_{kj} + \alpha_j}{\sum_i (N_{ki} + \alpha_i)}.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        What is added to the counts.
    force_alpha : bool, default=True
        Whether values of `alpha` below 1e-10 are kept; otherwise they are raised to it, with a warning.
    fit_prior : bool, default=True
        Whether priors are the shares of the classes; otherwise all are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors; their sum does not matter.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
        The sums :math:`N_{kj}`.
    feature_log_prob_ : array of shape (n_classes, n_features)
        :math:`\ln \theta_{kj}`.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over the entries of X. With `alpha=0` a feature that never came in a class is impossible there, and a row that is
    impossible under all classes has their priors; in scikit-learn such rows are NaN. There is no `certificate_`: sums and
    shares solve no equation of which something could be left.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, chapter 13. Cambridge, 2008.

    Examples
    --------
    >>> from mercer.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    _search_space: ClassVar[Mapping[str, Space]] = ALPHAS
    _no_candidate: ClassVar[str | None] = "it takes counts, not measures"

    def __init__(self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _learned(self, counts: Counts, alpha: Any, params: SimpleNamespace) -> dict[str, Any]:
        smoothed = counts.of_feature + alpha
        total = smoothed.sum(axis=1, keepdims=True)
        shares = np.divide(smoothed, total, out=np.full_like(smoothed, 1 / smoothed.shape[1]), where=total > 0)
        logs = log_of(smoothed) - log_of(total) if (total > 0).all() else log_of(shares)
        return {"feature_count_": counts.of_feature, "feature_log_prob_": logs}

    def _joint_of(self, X: Any) -> FloatArray:
        logs = self.feature_log_prob_
        is_impossible = np.isneginf(logs)
        lines = np.where(is_impossible, 0, logs) if is_impossible.any() else logs
        joint = joint_of_events(X, lines, self.class_log_prior_, is_impossible.astype(np.float64), np.zeros((len(logs), 1)))
        return fall_back(joint, self.class_log_prior_)


class ComplementNB(FeatureCounts):
    r"""Naive Bayes of counts, each class judged by what is not in it; for classes of unequal sizes.

    With :math:`\tilde N_{kj}` the sum of feature j over the rows of all classes but k,

    .. math:: w_{kj} = -\ln \frac{\tilde N_{kj} + \alpha_j}{\sum_i (\tilde N_{ki} + \alpha_i)}, \qquad
        \hat k = \arg\max_k \sum_j x_j w_{kj}.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        What is added to the counts. Sums of zero count as 1e-10, whatever is added.
    force_alpha : bool, default=True
        Whether values of `alpha` below 1e-10 are kept; otherwise they are raised to it, with a warning.
    fit_prior : bool, default=True
        Used where there is a single class.
    class_prior : array-like of shape (n_classes,), default=None
        Used where there is a single class.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
    feature_all_ : array of shape (n_features,)
        The sums over all classes.
    feature_log_prob_ : array of shape (n_classes, n_features)
        The weights :math:`w_{kj}`.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over the entries of X. There is no `certificate_`: sums and shares solve no equation of which something could be
    left.

    References
    ----------
    J. D. Rennie, L. Shih, J. Teevan, D. R. Karger: Tackling the poor assumptions of naive Bayes text classifiers. ICML 2003.

    Examples
    --------
    >>> from mercer.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**COUNT_RULES, "norm": Bool()}
    _search_space: ClassVar[Mapping[str, Space]] = {**ALPHAS, "norm": Choices(False, True)}
    _no_candidate: ClassVar[str | None] = "it takes counts, not measures"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _learned(self, counts: Counts, alpha: Any, params: SimpleNamespace) -> dict[str, Any]:
        everywhere = counts.of_feature.sum(axis=0)
        others = np.maximum(everywhere + alpha - counts.of_feature, LEAST_ALPHA)
        logs = np.log(others / others.sum(axis=1, keepdims=True))
        if params.norm:
            total = logs.sum(axis=1, keepdims=True)
            weights = np.divide(logs, total, out=np.zeros_like(logs), where=total != 0)
        else:
            weights = -logs
        return {"feature_count_": counts.of_feature, "feature_all_": everywhere, "feature_log_prob_": weights}

    def _joint_of(self, X: Any) -> FloatArray:
        one_class = len(self.classes_) == 1
        starts = self.class_log_prior_ if one_class else np.zeros(len(self.classes_))
        return linear_values(X, self.feature_log_prob_, starts)


def _binarized(X: Any, threshold: float) -> Any:
    """One for values above the threshold, zero for others."""
    if not sp.issparse(X):
        return (threshold < X).astype(X.dtype)
    return type(X)(((X.data > threshold).astype(X.dtype), X.indices, X.indptr), shape=X.shape)


class BernoulliNB(FeatureCounts):
    r"""Naive Bayes of features that are there or not.

    With the share :math:`p_{kj}` of rows of class k that have feature j, smoothed,

    .. math:: \ln P(k, x) = \ln \pi_k + \sum_j x_j \ln p_{kj} + (1 - x_j) \ln (1 - p_{kj}), \qquad
        p_{kj} = \frac{N_{kj} + \alpha_j}{N_k + 2 \alpha_j}.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        What is added to the counts.
    force_alpha : bool, default=True
        Whether values of `alpha` below 1e-10 are kept; otherwise they are raised to it, with a warning.
    binarize : float or None, default=0.0
        Features above are there; None: X holds zeros and ones.
    fit_prior : bool, default=True
        Whether priors are the shares of the classes; otherwise all are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors; their sum does not matter.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
    feature_log_prob_ : array of shape (n_classes, n_features)
        :math:`\ln p_{kj}`.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over the entries of X. With `alpha=0` a row may be impossible under a class; one that is impossible under all has
    their priors. There is no `certificate_`: sums and shares solve no equation of which something could be left.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, chapter 13. Cambridge, 2008.

    Examples
    --------
    >>> from mercer.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**COUNT_RULES, "binarize": Real(least=0) | Null()}
    _search_space: ClassVar[Mapping[str, Space]] = ALPHAS

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _prepared(self, X: Any, params: SimpleNamespace) -> Any:
        return X if params.binarize is None else rowwise(_binarized, X, params.binarize)

    def _learned(self, counts: Counts, alpha: Any, params: SimpleNamespace) -> dict[str, Any]:
        smoothed = counts.of_feature + alpha
        total = counts.of_class[:, None] + 2 * np.asarray(alpha)
        shares = np.divide(smoothed, total, out=np.full_like(smoothed, 0.5), where=total > 0)
        return {
            "feature_count_": counts.of_feature,
            "feature_log_prob_": log_of(shares),
            "_absent_log_prob": log_of(np.divide(total - smoothed, total, out=np.full_like(smoothed, 0.5), where=total > 0)),
        }

    def _joint_of(self, X: Any) -> FloatArray:
        there, absent = self.feature_log_prob_, self._absent_log_prob
        is_impossible, is_sure = np.isneginf(there), np.isneginf(absent)
        there, absent = np.where(is_impossible, 0, there), np.where(is_sure, 0, absent)
        starts = self.class_log_prior_ + absent.sum(axis=1)
        masks = is_impossible.astype(np.float64), is_sure.astype(np.float64)
        return fall_back(joint_of_events(X, there - absent, starts, *masks), self.class_log_prior_)
