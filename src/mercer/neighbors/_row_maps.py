"""What rows become before they are measured: metrics that are Euclidean distances of other rows, or tables of booleans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._saved import saved


@saved("mercer.neighbors.Directions")
@dataclass(frozen=True)
class Directions:
    """Rows of length one, of which half the squared Euclidean distance is the cosine distance; of correlations if centred.

    One column more is one for rows of zeros, whose cosine distance from all other rows is one.
    """

    is_centred: bool = False
    n_added: ClassVar[int] = 1

    def __call__(self, X: Any, n_threads: int = 1) -> Any:
        if sp.issparse(X) and not self.is_centred:
            return self._of_sparse(X)
        X = _dense(X)
        out = np.empty((X.shape[0], X.shape[1] + 1))
        kernels.map_to_directions(X, self.is_centred, out, n_threads)
        return out

    def _of_sparse(self, X: Any) -> Any:
        X = sp.csr_array(X, dtype=np.float64)
        largest = abs(X).max(axis=1).toarray().ravel()
        X = sp.diags_array(1 / np.where(largest > 0, largest, 1)) @ X
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ X
        return sp.csr_array(sp.hstack([X, (lengths == 0).astype(np.float64)[:, None]], format="csr"))


@saved("mercer.neighbors.SpherePoints")
@dataclass(frozen=True)
class SpherePoints:
    """Latitudes and longitudes in radians as points of the unit sphere, whose chords tell the arcs between them."""

    n_added: ClassVar[int] = 1

    def __call__(self, X: Any, n_threads: int = 1) -> FloatArray:
        X = _dense(X)
        if X.shape[1] != 2:
            raise ValueError(
                f"metric='haversine' takes rows of two features, latitude and longitude in radians; there are {X.shape[1]}. "
                "Haversine distance only valid in 2 dimensions."
            )
        out = np.empty((X.shape[0], 3))
        kernels.map_to_sphere(X, out, n_threads)
        return out


@saved("mercer.neighbors.LinearMap")
@dataclass(frozen=True)
class LinearMap:
    """(x - shift) factor: Mahalanobis's distance is the Euclidean one of what comes out."""

    shift: FloatArray
    factor: FloatArray

    def __call__(self, X: Any, n_threads: int = 1) -> FloatArray:
        X = _dense(X)
        if X.shape[1] != len(self.shift):
            raise ValueError(f"rows have {X.shape[1]} features; the metric's matrix is one of {len(self.shift)}.")
        out = np.empty((X.shape[0], self.factor.shape[1]))
        kernels.map_linearly(X, self.shift, self.factor, out, n_threads)
        return out


@saved("mercer.neighbors.ScaledRows")
@dataclass(frozen=True)
class ScaledRows:
    """Features times their scales: the standardised Euclidean distance is the Euclidean one of what comes out."""

    scale: FloatArray

    def __call__(self, X: Any, n_threads: int = 1) -> FloatArray:
        return np.asarray(_dense(X), dtype=np.float64) * self.scale


@saved("mercer.neighbors.Booleans")
@dataclass(frozen=True)
class Booleans:
    """One where a value is not zero."""

    def __call__(self, X: Any, n_threads: int = 1) -> Any:
        if sp.issparse(X):
            return sp.csr_array(X != 0, dtype=X.dtype)
        return (X != 0).astype(X.dtype)


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
