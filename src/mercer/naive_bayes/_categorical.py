"""Naive Bayes of categories."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, check_X
from mercer._labels import Labels
from mercer._params import ArrayLike, Integer, Null, Real, Rule, check_params
from mercer._posteriors import fall_back, log_of
from mercer._tuning import Space
from mercer.naive_bayes._base import COUNT_RULES, CountingNaiveBayes, Counts
from mercer.naive_bayes._counts import ALPHAS

MOST_CATEGORIES = 2**24  # of a feature: a table has a number for each of them and each class


class Tables(tuple[FloatArray, ...]):
    """For each feature, counts of classes by categories; those of more categories add up with those of fewer."""

    def __add__(self, other: Any) -> Tables:  # a sum, not a chain
        return Tables(_widened(one, two.shape[1]) + _widened(two, one.shape[1]) for one, two in zip(self, other, strict=True))


def _widened(table: FloatArray, n_categories: int) -> FloatArray:
    return np.pad(table, [(0, 0), (0, max(0, n_categories - table.shape[1]))])


class CategoricalNB(CountingNaiveBayes):
    r"""Naive Bayes of features that are categories, numbered from zero.

    With :math:`N_{kjc}` rows of class k whose feature j is c, of :math:`C_j` categories,

    .. math:: \ln P(k, x) = \ln \pi_k + \sum_j \ln \frac{N_{kjx_j} + \alpha}{N_k + \alpha C_j}.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to the counts.
    force_alpha : bool, default=True
        Whether an `alpha` below 1e-10 is kept; otherwise it is raised to it, with a warning.
    fit_prior : bool, default=True
        Whether priors are the shares of the classes; otherwise all are equal.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors; their sum does not matter.
    min_categories : int or array-like of shape (n_features,), default=None
        The least number of categories of the features; None: as many as there are.

    Attributes
    ----------
    category_count_ : list of arrays of shape (n_classes, n_categories)
        The counts, for each feature.
    feature_log_prob_ : list of arrays of shape (n_classes, n_categories)
    n_categories_ : array of shape (n_features,)
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A category that no row of the fit had says nothing: it is left out of the sum, as if the cell were missing. scikit-learn
    raises an error. With `alpha=0` a row may be impossible under a class; one that is impossible under all has their priors.
    There is no `certificate_`: sums and shares solve no equation of which something could be left.

    References
    ----------
    T. M. Mitchell: Machine Learning, chapter 6. McGraw-Hill, 1997.

    Examples
    --------
    >>> from mercer.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 2], [1, 2]], ["a", "a", "b"])
    >>> model.predict([[1, 2]])
    array(['b'], dtype='<U1')
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("categorical", "positive_only")
    _sparse: ClassVar[str | None] = None
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **COUNT_RULES,
        "alpha": Real(least=0),
        "min_categories": Integer(1) | ArrayLike() | Null(),
    }
    _search_space: ClassVar[Mapping[str, Space]] = ALPHAS
    _no_candidate: ClassVar[str | None] = "it takes the numbers of categories, not measures"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _prepared(self, X: Any, params: SimpleNamespace) -> npt.NDArray[np.intp]:
        if X.min() < 0:
            raise ValueError(f"Negative values in data passed to CategoricalNB (input X): the least is {X.min():g}.")
        if X.max() > MOST_CATEGORIES:
            raise ValueError(
                f"CategoricalNB: X holds values as large as {X.max():g}; categories are numbered from "
                f"0, to {MOST_CATEGORIES} at "
                "most. OrdinalEncoder numbers them, on whatever scale they are."
            )
        numbers: npt.NDArray[np.intp] = X.astype(np.intp)  # of fractions the whole part, as in scikit-learn
        return numbers

    def _count(
        self, X: Any, codes: npt.NDArray[np.intp], labels: Labels, weights: FloatArray | None, params: SimpleNamespace
    ) -> Counts:
        if weights is not None:  # a category that has no weight is none
            X, codes, weights = X[weights > 0], codes[weights > 0], weights[weights > 0]
        n_classes = len(labels)
        tables = []
        for column, n_categories in zip(X.T, self._n_categories(X, params.min_categories), strict=True):
            counted = np.bincount(codes * n_categories + column, weights=weights, minlength=n_classes * n_categories)
            tables.append(counted.reshape(n_classes, n_categories).astype(np.float64))
        return Counts(np.bincount(codes, weights=weights, minlength=n_classes).astype(np.float64), Tables(tables))

    @staticmethod
    def _n_categories(X: npt.NDArray[np.intp], least: Any) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = X.max(axis=0).astype(np.int64) + 1
        if least is None:
            return found
        least = np.array(least)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"CategoricalNB: 'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim > 0 and least.shape != found.shape:
            raise ValueError(
                f"CategoricalNB: 'min_categories' should have shape ({X.shape[1]},) when an array-like is provided. Got "
                f"{least.shape} instead."
            )
        return np.asarray(np.maximum(found, least), dtype=np.int64)

    def _counted(self) -> Counts:
        return Counts(self.class_count_, Tables(self.category_count_))

    def _learned(self, counts: Counts, alpha: Any, params: SimpleNamespace) -> dict[str, Any]:
        tables = list(counts.of_feature)
        return {
            "category_count_": tables,
            "feature_log_prob_": [_log_shares(table + alpha) for table in tables],
            "n_categories_": np.array([table.shape[1] for table in tables], dtype=np.int64),
        }

    def _check_rows(self, X: Any) -> Any:
        X = check_X(self, X, reset=False)
        return self._prepared(np.minimum(X, MOST_CATEGORIES), check_params(self))

    def _joint_of(self, X: npt.NDArray[np.intp]) -> FloatArray:
        joint = np.tile(self.class_log_prior_, (len(X), 1))
        for column, logs in zip(X.T, self.feature_log_prob_, strict=True):
            with_unseen = np.vstack([logs.T, np.zeros(len(joint.T))])  # the last line: a category that no row had
            joint += with_unseen[np.minimum(column, logs.shape[1])]
        return fall_back(joint, self.class_log_prior_)


def _log_shares(smoothed: FloatArray) -> FloatArray:
    """Of each category in a class; all equal for a class of which nothing was counted."""
    total = smoothed.sum(axis=1, keepdims=True)
    return log_of(np.divide(smoothed, total, out=np.full_like(smoothed, 1 / smoothed.shape[1]), where=total > 0))
