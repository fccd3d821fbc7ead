"""The nearest centroid: each class is one point."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.sparsefuncs import csc_median_axis_0
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, check_X_labels, require_no_overflow
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._labels import choose_labels
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Null, OneOf, Real, Rule, check_params
from mercer._trace import warn
from mercer._tuning import Choices, Space
from mercer.neighbors._search import Search

CHUNK_ROWS = 4096  # that are dense at a time, of sparse X, or differ from their centroids


class NearestCentroid(ClassifierMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""The class whose centroid is nearest.

    The centroid of a class is the mean of its rows, or for the Manhattan distance their median: the point of least sum of
    squared distances, or of distances. With priors :math:`\pi_c` other than equal ones, a row goes to the class of largest

    .. math:: \delta_c(x) = -\sum_j \frac{(x_j - \mu_{cj})^2}{s_j^2} + 2 \log \pi_c,

    where :math:`s_j` is the deviation of a feature within the classes. With a threshold :math:`\Delta`, centroids are shrunk
    towards the mean of all rows: their standardised deviations from it lose :math:`\Delta`, and those below vanish.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        The distance.
    shrink_threshold : float or None, default=None
        The threshold :math:`\Delta`; None shrinks nothing.
    priors : {"uniform", "empirical"} or array of shape (n_classes,), default="uniform"
        The prior probabilities of the classes: equal, as frequent as in y, or given.

    Attributes
    ----------
    centroids_ : array of shape (n_classes, n_features)
        The centroids, shrunk if that was asked for.
    classes_ : array of shape (n_classes,)
        The sorted classes.
    class_prior_ : array of shape (n_classes,)
        The prior probabilities.
    within_class_std_dev_ : array of shape (n_features,)
        The deviations :math:`s_j`, with n less the number of classes as divisor.
    deviations_ : array of shape (n_classes, n_features)
        The standardised deviations of the centroids from the mean of all rows, shrunk if that was asked for; zero where
        nothing varies.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Fitting and predicting take O(n d), times the classes to predict. Sparse X is never made dense as a whole.

    References
    ----------
    R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu: Diagnosis of multiple cancer types by shrunken centroids of gene
    expression. PNAS 99, 2002.

    Examples
    --------
    >>> from mercer.neighbors import NearestCentroid
    >>> model = NearestCentroid().fit([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]], [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _search_space: ClassVar[Mapping[str, Space]] = {
        "shrink_threshold": Choices(None, 0.1, 0.2, 0.5, 1.0, 2.0),
        "priors": Choices("uniform", "empirical"),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "metric": OneOf("euclidean", "manhattan"),
        "shrink_threshold": Null() | Real(above=0),
        "priors": OneOf("uniform", "empirical") | ArrayLike(),
    }

    def __init__(self, metric: str = "euclidean", *, shrink_threshold: float | None = None, priors: Any = "uniform") -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    @fit_method
    def fit(self, X: Any, y: Any) -> Self:
        """Find the centroids.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        params = check_params(self)
        X, classes, codes = check_X_labels(self, X, y, sparse="csr", one_class=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        task = FitTask.start(self, X, y)
        prior = _prior(params.priors, codes, len(classes))
        centroids = _medians(X, codes, len(classes)) if params.metric == "manhattan" else _means(X, codes, len(classes))
        spread = _spread(X, codes, centroids)
        if not np.isfinite(spread).all():
            require_no_overflow(self, X, "the squared deviations from centroids")
        if (spread == 0).any():
            warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation. Inputs within the same classes for at "
                "least 1 feature are identical."
            )
        centroids, deviations = _shrunken(X, codes, centroids, spread, params)
        return self._finish(
            task,
            {
                "classes_": classes,
                "class_prior_": prior,
                "centroids_": centroids,
                "deviations_": deviations,
                "within_class_std_dev_": spread,
            },
        )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        y : array of shape (n_queries,)
        """
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        if np.isclose(self.class_prior_, 1 / len(self.classes_)).all():
            _, nearest = self._nearest(X, self.centroids_, 1)
            labels: npt.NDArray[Any] = self.classes_.take(nearest[:, 0])
            return labels
        return choose_labels(self._discriminants(X), self.classes_)

    def _nearest(self, X: Any, centroids: FloatArray, k: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """The distances and the places of the k nearest centroids of each row; sparse rows are dense some at a time."""
        search, n_threads = Search.of(centroids.astype(X.dtype), algorithm="brute", metric=self.metric), effective_threads(None)
        if not sp.issparse(X):
            return search.nearest(X, k, n_threads=n_threads)
        parts = (X[first : first + CHUNK_ROWS].toarray() for first in range(0, X.shape[0], CHUNK_ROWS))
        found = [search.nearest(part, k, n_threads=n_threads) for part in parts]
        return np.concatenate([distances for distances, _ in found]), np.concatenate([places for _, places in found])

    def _discriminants(self, X: Any, *, is_relative: bool = True) -> FloatArray:
        """The discriminant of each row and class, or what it differs by from that of the nearest centroid without its prior."""
        scale = np.where(self.within_class_std_dev_ == 0, 1.0, self.within_class_std_dev_)
        scaled = sp.csr_matrix(X.astype(np.float64) @ sp.diags(1 / scale)) if sp.issparse(X) else X / scale
        distances, places = self._nearest(scaled, self.centroids_ / scale, len(self.classes_))
        nearest = distances[:, :1] if is_relative else np.zeros((len(distances), 1))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # a prior may be zero, and rows may be very far
            squares = np.where(distances == nearest, 0.0, (distances - nearest) * (distances + nearest))
            scores = 2 * np.log(self.class_prior_)[places] - squares
        out: FloatArray = np.empty(scores.shape)
        np.put_along_axis(out, places, scores, axis=1)
        return out

    def _is_euclidean(self) -> bool:
        if self.metric != "euclidean":
            raise AttributeError(f"NearestCentroid: there are no probabilities for metric={self.metric!r}; use 'euclidean'.")
        return True

    def _checked_discriminants(self, X: Any, *, is_relative: bool = True) -> FloatArray:
        check_is_fitted(self)
        return self._discriminants(check_X(self, X, sparse="csr", reset=False), is_relative=is_relative)

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The discriminants of the classes; for two classes, the second's less the first's.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        scores : array of shape (n_queries,) or (n_queries, n_classes)
        """
        check_is_fitted(self)
        is_pair = len(self.classes_) == 2
        scores = self._checked_discriminants(X, is_relative=is_pair)
        return scores[:, 1] - scores[:, 0] if is_pair else scores

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes: the discriminants' softmax.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        p : array of shape (n_queries, n_classes)
        """
        return np.asarray(softmax(self._checked_discriminants(X), axis=1))

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        log_p : array of shape (n_queries, n_classes)
        """
        return np.asarray(log_softmax(self._checked_discriminants(X), axis=1))


def _prior(priors: Any, codes: npt.NDArray[np.intp], n_classes: int) -> FloatArray:
    if isinstance(priors, str):
        return np.bincount(codes) / len(codes) if priors == "empirical" else np.full(n_classes, 1 / n_classes)
    prior = np.asarray(priors, dtype=np.float64)
    if prior.shape != (n_classes,):
        raise ValueError(f"NearestCentroid: priors={priors!r} is not valid; there must be {n_classes}, one for each class.")
    if not (prior >= 0).all():
        raise ValueError("priors must be non-negative")
    if not np.isclose(prior.sum(), 1.0):
        warn("The priors do not sum to 1. Normalizing such that it sums to one.")
        prior = prior / prior.sum()
    return prior


def _sums(X: Any, codes: npt.NDArray[np.intp], n_classes: int) -> FloatArray:
    """The sum of the rows of each class."""
    n = len(codes)
    indicator = sp.csr_matrix((np.ones(n), codes, np.arange(n + 1)), shape=(n, n_classes))
    sums = indicator.T @ X
    return np.asarray(sums.toarray() if sp.issparse(sums) else sums, dtype=np.float64)


def _means(X: Any, codes: npt.NDArray[np.intp], n_classes: int) -> FloatArray:
    return _sums(X, codes, n_classes) / np.bincount(codes)[:, None]


def _medians(X: Any, codes: npt.NDArray[np.intp], n_classes: int) -> FloatArray:
    groups = (X[codes == code] for code in range(n_classes))
    return np.array([csc_median_axis_0(rows.tocsc()) if sp.issparse(rows) else np.median(rows, axis=0) for rows in groups])


def _spread(X: Any, codes: npt.NDArray[np.intp], centroids: FloatArray) -> FloatArray:
    """The deviation of each feature from the centroids of the rows' classes; zero where every row is its own centroid."""
    n, n_classes = len(codes), len(centroids)
    squares = np.zeros(X.shape[1])
    for first in range(0, n, CHUNK_ROWS):
        rows = X[first : first + CHUNK_ROWS]
        differences = (rows.toarray() if sp.issparse(rows) else rows) - centroids[codes[first : first + CHUNK_ROWS]]
        with np.errstate(over="ignore"):  # the caller says so of X
            squares += np.einsum("ij,ij->j", differences, differences)
    return np.sqrt(squares / max(n - n_classes, 1))


def _shrunken(
    X: Any, codes: npt.NDArray[np.intp], centroids: FloatArray, spread: FloatArray, params: SimpleNamespace
) -> tuple[FloatArray, FloatArray]:
    """The centroids, soft-thresholded, and their standardised deviations from the mean of all rows."""
    counts = np.bincount(codes)
    mean = _sums(X, np.zeros(len(codes), dtype=np.intp), 1)[0] / len(codes)
    unit = np.sqrt(1 / counts - 1 / len(codes))[:, None] * (spread + np.median(spread))
    deviations = np.divide(centroids - mean, unit, out=np.zeros_like(centroids), where=unit != 0)
    if params.shrink_threshold is None:
        return centroids, deviations
    deviations = np.sign(deviations) * np.maximum(np.abs(deviations) - params.shrink_threshold, 0)
    return mean + unit * deviations, deviations
