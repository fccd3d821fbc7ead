"""Naive Bayes of normal features."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, check_weights, check_X, check_X_known_labels, check_X_labels, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._gaussians import Gaussians
from mercer._labels import Labels
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Null, Real, Rule, check_params
from mercer._posteriors import check_priors, fall_back, log_of, present_classes, require_finite_rows
from mercer._statistics import ROUNDING, GroupMoments
from mercer._tuning import Reals, Space
from mercer.naive_bayes._base import NaiveBayesClassifier, known_labels

LEAST_VARIANCE = 1e-100


class GaussianNB(NaiveBayesClassifier):
    r"""Naive Bayes of features that are normal within each class.

    With the mean :math:`\theta_{kj}` and variance :math:`\sigma^2_{kj}` of feature j in class k, and priors :math:`\pi_k`,

    .. math:: \ln P(k, x) = \ln \pi_k - \tfrac12 \sum_j \Bigl(\ln 2\pi\sigma^2_{kj}
        + \frac{(x_j - \theta_{kj})^2}{\sigma^2_{kj}}\Bigr).

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        They must sum to one; None: the shares of the classes in the weight of the rows.
    var_smoothing : float, default=1e-9
        This share of the largest variance of a feature, over all rows, is added to all variances.

    Attributes
    ----------
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means and variances.
    epsilon_ : float
        What was added to the variances.
    class_count_ : array of shape (n_classes,)
        The weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over X, O(n d). Moments of parts add up without a loss of digits, so that `partial_fit` of all parts is `fit` of
    all rows. Where every variance is zero and nothing is added, they are taken to be what rounding leaves of the means: equal
    rows are then sure, and all others impossible under a class. A row that is impossible under all classes has their priors.
    There is no `certificate_`: sums and shares solve no equation of which something could be left.

    References
    ----------
    T. F. Chan, G. H. Golub, R. J. LeVeque: Algorithms for computing the sample variance. The American Statistician 37, 1983.

    Examples
    --------
    >>> from mercer.naive_bayes import GaussianNB
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> GaussianNB().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    _takes_parts = True
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"priors": ArrayLike() | Null(), "var_smoothing": Real(least=0)}
    _search_space: ClassVar[Mapping[str, Space]] = {"var_smoothing": Reals(1e-12, 1.0, log=True)}

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find means and variances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, labels, codes = check_X_labels(self, X, y, one_class=True)
        weights = check_weights(sample_weight, len(X), np.float64)
        labels, codes, _ = present_classes(labels, codes, weights)
        task = FitTask.start(self, X, y)
        moments = self._moments_of(X, codes, len(labels), weights)
        return self._finish(task, self._fitted(params, labels, moments, X.dtype))

    @fit_method
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those seen so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        X, codes = check_X_known_labels(self, X, y, labels, reset=is_first)
        weights = check_weights(sample_weight, len(X), np.float64)
        task = FitTask.start(self, X, y)
        moments = self._moments_of(X, codes, len(labels), weights)
        if not is_first:
            moments = GroupMoments(*self._moments).merge(moments)
        return self._finish(task, self._fitted(params, labels, moments, X.dtype))

    def _moments_of(
        self, X: FloatArray, codes: npt.NDArray[np.intp], n_classes: int, weights: FloatArray | None
    ) -> GroupMoments:
        moments = GroupMoments.of(X, codes, n_classes, weights, n_threads=effective_threads(None))
        with np.errstate(over="ignore"):
            if not np.isfinite(moments.deviation.astype(X.dtype)).all():
                require_no_overflow(self, X, "squares of its columns")
        return moments

    def _fitted(self, params: SimpleNamespace, labels: Labels, moments: GroupMoments, dtype: Any) -> dict[str, Any]:
        """All attributes, from the moments of all rows so far."""
        count = moments.weight[:, 0]
        total = moments.total()
        epsilon = params.var_smoothing * float((total.deviation / total.weight).max())
        variances = moments.deviation / np.where(moments.weight > 0, moments.weight, 1) + epsilon
        priors = count / count.sum() if params.priors is None else self._given_priors(params.priors, len(labels))
        return {
            "classes_": labels,
            "class_count_": count.astype(dtype),
            "class_prior_": priors.astype(dtype),
            "theta_": moments.mean.astype(dtype),
            "var_": variances.astype(dtype),
            "epsilon_": epsilon,
            "_moments": np.stack(moments),
            "_variances": np.maximum(variances, np.maximum((ROUNDING * moments.mean) ** 2, LEAST_VARIANCE)),
            "_log_priors": log_of(priors),
        }

    @staticmethod
    def _given_priors(given: Any, n_classes: int) -> FloatArray:
        priors = check_priors("GaussianNB", given, n_classes)
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError(f"GaussianNB: priors sum to {priors.sum():.6g}. The sum of the priors should be 1.")
        return priors

    def _check_rows(self, X: Any) -> FloatArray:
        rows: FloatArray = check_X(self, X, finite="deferred", reset=False)
        return rows

    def _joint_of(self, X: FloatArray) -> FloatArray:
        joint = Gaussians(self._moments[1], 1 / np.sqrt(self._variances), "diag", self._log_priors).log_densities(X)
        require_finite_rows(self, X, joint)
        return fall_back(joint, self._log_priors)
