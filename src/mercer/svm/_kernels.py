"""Kernels by name or given as matrices, between rows that are kept and any others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads

NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def resolve_gamma(gamma: Any, X: Any) -> float:
    """A number: "auto" is 1 / n_features, "scale" that over the variance of all values of X (1 where they do not vary)."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if sp.issparse(X):
        size = X.shape[0] * X.shape[1]
        values = X.data.astype(np.float64)
        variance = float(values @ values) / size - (float(values.sum()) / size) ** 2
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


@dataclass(frozen=True)
class Kernel:
    """k(x, z): a name with its parameters."""

    name: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    @property
    def takes(self) -> str:
        return "gram" if self.name == "precomputed" else "numbers"

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        return KernelMatrix(self, X, effective_threads(None) if n_threads is None else n_threads)

    def between(self, X: Any, Y: Any, n_threads: int, out: FloatArray | None = None) -> FloatArray:
        """The values for every row of X and of Y (None: X itself)."""
        shape = (X.shape[0], (X if Y is None else Y).shape[0])
        out = np.empty(shape, dtype=X.dtype) if out is None else out
        if sp.issparse(X):
            other = X if Y is None else Y
            out[...] = (X @ other.T).toarray()
            if self.name == "rbf":
                left = native_rows(X)
                kernels.sparse_squared("exponential", -self.gamma, left, left if Y is None else native_rows(Y), out, n_threads)
            elif self.name != "linear":
                out *= self.gamma
                out += self.coef0
                if self.name == "sigmoid":
                    np.tanh(out, out=out)
                else:
                    np.power(out, self.degree, out=out)
            return out
        if self.name == "rbf":
            kernels.pairwise_squared("exponential", -self.gamma, X, Y, out, n_threads)
        else:
            kind = {"linear": "same", "poly": "polynomial", "sigmoid": "sigmoid"}[self.name]
            kernels.pairwise_products(kind, self.gamma, self.coef0, self.degree, X, Y, out, n_threads)
        return out


class KernelMatrix:
    """The kernel among rows that are given, of which lines are computed when they are asked for."""

    def __init__(self, kernel: Kernel, X: Any, n_threads: int) -> None:
        self.kernel, self._n_threads = kernel, n_threads
        self.X = X if sp.issparse(X) else np.ascontiguousarray(X)
        self.n_rows: int = X.shape[0]
        self.dtype = X.dtype

    def diagonal(self) -> FloatArray:
        if self.kernel.name == "precomputed":
            return self.X.diagonal().astype(np.float64)
        if self.kernel.name == "rbf":
            return np.ones(self.n_rows)
        X = self.X.astype(np.float64)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
        if self.kernel.name == "linear":
            return squares
        inner = self.kernel.gamma * squares + self.kernel.coef0
        return np.tanh(inner) if self.kernel.name == "sigmoid" else inner**self.kernel.degree

    def rows(self, indices: Any, out: FloatArray | None = None) -> FloatArray:
        if self.kernel.name == "precomputed":
            return np.take(self.X, indices, axis=0, out=out)
        return self.kernel.between(self.X[indices], self.X, self._n_threads, out)

    def against(self, Y: Any) -> FloatArray:
        return self.kernel.between(Y, self.X, self._n_threads)

    def take(self, indices: Any) -> KernelMatrix:
        if self.kernel.name == "precomputed":
            return KernelMatrix(self.kernel, self.X[np.ix_(indices, indices)], self._n_threads)
        return KernelMatrix(self.kernel, self.X[indices], self._n_threads)


def as_kernel(kernel: Any, X: Any, *, gamma: Any = "scale", degree: float = 3, coef0: float = 0.0) -> Kernel:
    """The kernel of a name, with gamma as a number."""
    if isinstance(kernel, Kernel):
        return kernel
    if kernel in ("precomputed", "linear"):
        return Kernel(kernel)
    return Kernel(kernel, resolve_gamma(gamma, X), float(degree), float(coef0))
