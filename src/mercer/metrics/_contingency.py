"""Two labelings of the same rows: how many rows each pair of clusters shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import type_of_target

from mercer._labels import code_labels
from mercer._trace import warn

Array = npt.NDArray[Any]
MOST_DENSE = 1 << 22  # pairs of clusters that are counted in a table


def check_clusterings(labels_true: Any, labels_pred: Any) -> tuple[Array, Array]:
    """Two vectors of as many labels."""
    found = []
    for labels, name in ((labels_true, "labels_true"), (labels_pred, "labels_pred")):
        vector = check_array(labels, ensure_2d=False, ensure_min_samples=0, dtype=None, input_name=name)
        if vector.ndim != 1:
            raise ValueError(f"{name} must be 1D: shape is {vector.shape!r}; it must be a vector of labels.")
        found.append(vector)
    kinds = [type_of_target(vector) if len(vector) else "binary" for vector in found]
    if any("continuous" in kind for kind in kinds):
        warn(
            "Clustering metrics expects discrete values but received "
            f"{kinds[0]} values for label, and {kinds[1]} values for target: every number counts as a cluster of its own."
        )
    check_consistent_length(*found)
    return found[0], found[1]


def contingency_matrix(
    labels_true: Any, labels_pred: Any, *, eps: float | None = None, sparse: bool = False, dtype: Any = np.int64
) -> Any:
    """How many rows have the i-th true and the j-th predicted label.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings.
    eps : float or None, default=None
        Added to every cell, so that none is zero; the table is then of floats. Not with `sparse`.
    sparse : bool, default=False
        Whether the table is a sparse matrix (CSR), which it may have to be where both have many clusters.
    dtype : dtype, default=np.int64
        Of the table without `eps`.

    Returns
    -------
    contingency : {ndarray, sparse matrix} of shape (n_classes_true, n_classes_pred)

    Examples
    --------
    >>> from mercer.metrics.cluster import contingency_matrix
    >>> contingency_matrix([0, 0, 1, 1, 2, 2], [1, 0, 2, 1, 0, 2])
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 1]])
    """
    if eps is not None and sparse:
        raise ValueError("Cannot set 'eps' when sparse=True")
    (classes, rows), (clusters, columns) = (code_labels(np.asarray(labels)) for labels in (labels_true, labels_pred))
    shape = (len(classes), len(clusters))
    if not sparse and shape[0] * shape[1] <= MOST_DENSE:
        table: Any = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape).astype(dtype)
    else:
        table = sp.coo_matrix((np.ones(len(rows), dtype=dtype), (rows, columns)), shape=shape, dtype=dtype).tocsr()
        table.sum_duplicates()
        table = table if sparse else table.toarray()
    return table if eps is None else table + eps


class Overlaps:
    """The cells of a contingency table that are not zero, and its margins."""

    def __init__(self, table: Any) -> None:
        cells = sp.coo_array(table)
        is_some = cells.data != 0
        self.counts, self.rows, self.columns = cells.data[is_some], cells.row[is_some], cells.col[is_some]
        self.row_sums = np.bincount(self.rows, self.counts, minlength=cells.shape[0])
        self.column_sums = np.bincount(self.columns, self.counts, minlength=cells.shape[1])
        self.total = self.row_sums.sum()

    @classmethod
    def of(cls, labels_true: Any, labels_pred: Any) -> Overlaps:
        """Those of two labelings, checked."""
        return cls(contingency_matrix(*check_clusterings(labels_true, labels_pred), sparse=True))

    @property
    def n_classes(self) -> int:
        return int(np.count_nonzero(self.row_sums))

    @property
    def n_clusters(self) -> int:
        return int(np.count_nonzero(self.column_sums))

    def entropies(self) -> tuple[float, float]:
        """Of the true labels and of the predicted ones, in nats."""
        return entropy_of(self.row_sums), entropy_of(self.column_sums)

    def information(self) -> float:
        """The mutual information, in nats: sum p_ij log(p_ij / (p_i p_j)); rounding leaves nothing below zero."""
        if self.n_classes <= 1 or self.n_clusters <= 1:
            return 0.0
        share = self.counts / self.total
        outer = np.log(self.row_sums[self.rows]) + np.log(self.column_sums[self.columns])
        terms = share * (np.log(self.counts) - np.log(self.total)) + share * (2 * np.log(self.total) - outer)
        terms[np.abs(terms) < np.finfo(np.float64).eps] = 0.0
        return float(max(terms.sum(), 0.0))

    def pairs(self) -> tuple[int, int, int, int]:
        """Ordered pairs of rows: apart in both, together in the predicted alone, in the true alone, in both. Whole numbers."""
        n = int(self.total)
        squares = sum(int(count) ** 2 for count in self.counts)
        of_rows = sum(int(count) ** 2 for count in self.row_sums)
        of_columns = sum(int(count) ** 2 for count in self.column_sums)
        return n**2 - of_rows - of_columns + squares, of_columns - squares, of_rows - squares, squares - n


def entropy_of(sums: Array) -> float:
    """-sum p log p, in nats."""
    shares = sums[sums > 0] / sums.sum() if len(sums) else sums
    return float(-np.sum(shares * np.log(shares))) if len(shares) > 1 else 0.0


def pair_confusion_matrix(labels_true: Any, labels_pred: Any) -> Array:
    """How many ordered pairs of rows are together or apart in two labelings.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Two labelings.

    Returns
    -------
    C : int64 ndarray of shape (2, 2)
        C[0, 0] pairs are apart in both, C[1, 1] together in both, C[0, 1] together in `labels_pred` alone, C[1, 0] in
        `labels_true` alone.

    Examples
    --------
    >>> from mercer.metrics.cluster import pair_confusion_matrix
    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 1, 2])
    array([[8, 0],
           [2, 2]])
    """
    return np.array(Overlaps.of(labels_true, labels_pred).pairs(), dtype=np.int64).reshape(2, 2)
