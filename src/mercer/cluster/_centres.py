"""What models of centres share: the nearest centre of a row, its distances to all, and the score."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X
from mercer._base import MercerEstimator
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.cluster._lloyd import Labels


class CentresMethods(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """What estimators that leave `cluster_centers_` and `labels_` can do with them."""

    n_jobs: int | None
    cluster_centers_: FloatArray

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Find the clusters of X and return its labels."""
        labels: Labels = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> FloatArray:
        """Find the clusters of X and return its distances to the centres."""
        distances: FloatArray = self.fit(X, sample_weight=sample_weight).transform(X)
        return distances

    def predict(self, X: Any) -> Labels:
        """The nearest centre of each row."""
        X = self._check_rows(X)
        labels = np.empty(X.shape[0], dtype=np.int32)
        kernels.nearest_centres(*self._rows_and_centres(X), labels, effective_threads(self.n_jobs))
        return labels

    def transform(self, X: Any) -> FloatArray:
        """The distance of each row to each centre."""
        X = self._check_rows(X)
        distances = np.empty((X.shape[0], self.cluster_centers_.shape[0]), dtype=X.dtype)
        kernels.centre_distances(*self._rows_and_centres(X), distances, effective_threads(self.n_jobs))
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of X about the centres: higher is better."""
        X = self._check_rows(X)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        rows, centres = self._rows_and_centres(X)
        labels = np.empty(X.shape[0], dtype=np.int32)
        n_threads = effective_threads(self.n_jobs)
        kernels.nearest_centres(rows, centres, labels, n_threads)
        return -float(kernels.inertia(rows, weights, centres, labels, n_threads))

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_X(self, X, sparse="csr", reset=False)

    def _rows_and_centres(self, X: Any) -> tuple[Any, FloatArray]:
        """X and the centres for the kernels, shifted by the mean of the centres unless X is sparse."""
        centres = self.cluster_centers_.astype(X.dtype, copy=False)
        if sp.issparse(X):
            return native_rows(X), np.ascontiguousarray(centres)
        shift = centres.mean(axis=0)
        return native_rows(X, shift), centres - shift

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class CentresModel(CentresMethods, ClusterMixin, MercerEstimator):  # type: ignore[misc]
    """Clusterings by centres."""
