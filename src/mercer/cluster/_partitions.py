"""Labels from eigenvectors of a graph, other than by k-means."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer._arrays import FloatArray

IntArray = npt.NDArray[np.int64]

_MOST_ROUNDS = 20


def cluster_qr(vectors: FloatArray) -> IntArray:
    """The cluster of each row by a pivoted QR factorisation (Damle, Minden and Ying, 2019): no start, no iterations.

    The pivots are the rows that span most; the rotation that takes them nearest to the axes takes each row to its own.
    """
    k = vectors.shape[1]
    pivots = scipy.linalg.qr(vectors.T, mode="r", pivoting=True)[1][:k]
    left, _, right = scipy.linalg.svd(vectors[pivots].T)
    return np.asarray(np.abs(vectors @ (left @ right.conj())).argmax(axis=1))


def discretize(vectors: FloatArray, random: np.random.RandomState) -> IntArray:
    """The partition nearest to a rotation of the eigenvectors (Yu and Shi, 2003), the two found in turns."""
    rows = _on_sphere(vectors)
    rotation = _spread_rows(rows, random)
    last = 0.0
    for _ in range(_MOST_ROUNDS + 1):
        labels = (rows @ rotation).argmax(axis=1)
        sums = np.zeros((rows.shape[1], rows.shape[1]))
        np.add.at(sums, labels, rows)
        left, singular, right = np.linalg.svd(sums)
        cut = 2 * (len(rows) - float(singular.sum()))
        if abs(cut - last) < np.finfo(np.float64).eps:
            break
        last, rotation = cut, right.T @ left.T
    return np.asarray(labels)


def _on_sphere(vectors: FloatArray) -> FloatArray:
    """Columns of one length and fixed sign, then rows of length one; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=0)
    columns = vectors / np.where(lengths > 0, lengths, 1) * np.sqrt(len(vectors))
    columns = columns * np.where(columns[0] > 0, -1.0, 1.0)
    lengths = np.linalg.norm(columns, axis=1)[:, None]
    return np.asarray(columns / np.where(lengths > 0, lengths, 1))


def _spread_rows(rows: FloatArray, random: np.random.RandomState) -> FloatArray:
    """A row drawn, then again and again the row that is most orthogonal to those before, as columns."""
    k = rows.shape[1]
    rotation = np.zeros((k, k))
    rotation[:, 0] = rows[random.randint(len(rows))]
    along = np.zeros(len(rows))
    for j in range(1, k):
        along += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[along.argmin()]
    return rotation
