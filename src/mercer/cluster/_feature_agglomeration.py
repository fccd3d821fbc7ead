"""Feature agglomeration: columns that go together become one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, validate
from mercer._base import fit_method
from mercer._params import Function, Rule, check_params
from mercer.cluster._agglomerative import AgglomerativeClustering, check_cut
from mercer.cluster._dissimilarities import Metric


class FeatureAgglomeration(ClassNamePrefixFeaturesOutMixin, TransformerMixin, AgglomerativeClustering):  # type: ignore[misc]
    r"""Agglomerative clustering of columns, each cluster of which becomes one column.

    :class:`AgglomerativeClustering` of the columns as points; :math:`x_j` becomes :math:`\mathrm{pool}(x_k : k \in C_j)`.

    Parameters
    ----------
    n_clusters, metric, memory, connectivity, compute_full_tree, linkage, distance_threshold, compute_distances, n_jobs
        As of :class:`AgglomerativeClustering`, for columns.
    pooling_func : callable, default=np.mean
        Makes one value of several: is given an array and `axis=1`.

    Attributes
    ----------
    labels_ : int array of shape (n_features,)
        The cluster of each column.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_, linkage_matrix_, certificate_
        As of :class:`AgglomerativeClustering`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    That of :class:`AgglomerativeClustering` for d points of n coordinates. A mean is one product with X.

    References
    ----------
    V. Michel et al., "A supervised clustering approach for fMRI-based inference of brain states", Pattern Recognition, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import FeatureAgglomeration
    >>> X = np.array([[1.0, 1.2, 9.0], [2.0, 2.2, 7.0], [3.0, 3.2, 8.0]])
    >>> FeatureAgglomeration(n_clusters=2).fit_transform(X).round(2)
    array([[1.1, 9. ],
           [2.1, 7. ],
           [3.1, 8. ]])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **AgglomerativeClustering._parameter_rules,
        "pooling_func": Function(),
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Metric = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: bool | str = "auto",
        linkage: str = "ward",
        pooling_func: Callable[..., Any] = np.mean,
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            metric=metric,
            memory=memory,
            connectivity=connectivity,
            compute_full_tree=compute_full_tree,
            linkage=linkage,
            distance_threshold=distance_threshold,
            compute_distances=compute_distances,
            n_jobs=n_jobs,
        )
        self.pooling_func = pooling_func

    @fit_method
    def fit(self, X: Any, y: Any = None) -> FeatureAgglomeration:
        """Merge the columns of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        check_cut(self, params)
        X = validate(self, X, ensure_min_features=2)
        fitted: FeatureAgglomeration = self._fit_objects(X, np.ascontiguousarray(X.T), params)
        return fitted

    @property
    def fit_predict(self) -> Any:
        raise AttributeError("FeatureAgglomeration clusters columns: it has no labels of rows, and so no fit_predict.")

    def transform(self, X: Any) -> FloatArray:
        """One column for each cluster of columns."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        if self.pooling_func is np.mean:
            sizes = np.bincount(self.labels_)
            shares = np.zeros((X.shape[1], len(sizes)), dtype=X.dtype)
            shares[np.arange(X.shape[1]), self.labels_] = 1 / sizes[self.labels_]
            pooled: FloatArray = X @ shares
            return pooled
        columns = [self.pooling_func(X[:, self.labels_ == label], axis=1) for label in range(self.labels_.max() + 1)]
        return np.stack(columns, axis=1)

    def inverse_transform(self, X: Any) -> FloatArray:
        """The columns of a transformed table, each the value of its cluster."""
        check_is_fitted(self)
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self._n_features_out:
            raise ValueError(
                f"FeatureAgglomeration: X has shape {X.shape}; it must have {self._n_features_out} columns, one a cluster."
            )
        spread: FloatArray = X[:, self.labels_]
        return spread

    @property
    def _n_features_out(self) -> int:
        return int(self.labels_.max()) + 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
