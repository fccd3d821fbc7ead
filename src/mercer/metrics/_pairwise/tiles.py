"""Two matrices of rows as the kernels take them, and the one way to have a matrix of values filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import check_pairwise_arrays

from mercer._arrays import FloatArray, require_countable, tidy
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._rows import with_own_structure


@dataclass(frozen=True)
class Pairs:
    """Rows of X and of Y, of one float type; Y is X itself where `is_same`. Both are sparse, or neither."""

    X: Any
    Y: Any
    is_same: bool
    n_threads: int

    @classmethod
    def of(cls, X: Any, Y: Any = None, *, sparse: bool = True, finite: Any = True, n_jobs: int | None = None) -> Pairs:
        """X and Y, checked as scikit-learn's functions check them."""
        for given in (X, Y):
            require_countable(cls, given)
        X, Y = with_own_structure(X), (None if Y is None or Y is X else with_own_structure(Y))
        X, Y = check_pairwise_arrays(X, Y, accept_sparse="csr" if sparse else False, ensure_all_finite=finite)
        is_same = Y is X
        if sp.issparse(X) or sp.issparse(Y):
            X = tidy(sp.csr_array(X))
            Y = X if is_same else tidy(sp.csr_array(Y))
        else:
            X = np.ascontiguousarray(X)
            Y = X if is_same else np.ascontiguousarray(Y)
        return cls(X, Y, is_same, effective_threads(n_jobs))

    @property
    def is_sparse(self) -> bool:
        return bool(sp.issparse(self.X))

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def _other(self) -> FloatArray | None:
        """Y as the kernels take it that save half of the work where both sides are the same."""
        return None if self.is_same else self.Y

    def _out(self) -> FloatArray:
        return np.empty((self.X.shape[0], self.Y.shape[0]), dtype=self.X.dtype)

    def products(self, kind: str = "same", gamma: float = 1.0, constant: float = 0.0, degree: float = 1.0) -> FloatArray:
        """x . y ("same"), (gamma x . y + constant)^degree ("polynomial") or tanh(gamma x . y + constant) ("sigmoid")."""
        if self.is_sparse:
            return _of_products(self._sparse_products(), kind, gamma, constant, degree)
        out = self._out()
        kernels.pairwise_products(kind, gamma, constant, degree, self.X, self._other, out, self.n_threads)
        return out

    def squared(self, kind: str, a: float = 1.0) -> FloatArray:
        """|x - y| ("root"), a |x - y|^2 ("scaled") or exp(a |x - y|^2) ("exponential")."""
        if self.is_sparse:
            out = self._sparse_products()
            left = native_rows(self.X)
            kernels.sparse_squared(kind, a, left, left if self.is_same else native_rows(self.Y), out, self.n_threads)
            return out
        out = self._out()
        kernels.pairwise_squared(kind, a, self.X, self._other, out, self.n_threads)
        return out

    def by_features(self, metric: str, a: float = 0.0) -> FloatArray:
        """What grows feature by feature, of dense rows: see the kernel `pairwise_features`."""
        out = self._out()
        kernels.pairwise_features(metric, a, self.X, self.Y, out, self.n_threads)
        return out

    def manhattan(self, a: float = 0.0) -> FloatArray:
        """|x - y|_1, or exp(a |x - y|_1) where a is not zero."""
        if not self.is_sparse:
            return self.by_features("laplacian" if a else "manhattan", a)
        out = self._out()
        left = native_rows(self.X)
        kernels.sparse_manhattan(a, left, left if self.is_same else native_rows(self.Y), out, self.n_threads)
        return out

    def _sparse_products(self) -> FloatArray:
        return np.ascontiguousarray((self.X @ self.Y.T).toarray(), dtype=self.X.dtype)


def _of_products(values: FloatArray, kind: str, gamma: float, constant: float, degree: float) -> FloatArray:
    if kind == "same":
        return values
    values *= gamma
    values += constant
    return np.power(values, degree, out=values) if kind == "polynomial" else np.tanh(values, out=values)
