"""Kernels of rows of numbers."""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError, Null, OneOf, Real, Rule
from mercer._rows import count_rows
from mercer.kernels._base import Kernel, dense, float_type
from mercer.kernels._matrix import CallMatrix, KernelMatrix, NativeMatrix, as_rows
from mercer.metrics.pairwise import (
    additive_chi2_kernel,
    chi2_kernel,
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)

GAMMA = Real(least=0) | OneOf("scale", "auto") | Null()
Gamma = float | str | None


def resolve_gamma(gamma: Gamma, X: Any) -> float:
    """The number that gamma stands for: "scale" is 1 / (n_features X.var()), "auto" and None are 1 / n_features."""
    if gamma == "scale":
        rows: Any = X if sp.issparse(X) else np.asarray(X)
        rows = rows.astype(np.float64) if sp.issparse(rows) else rows
        with np.errstate(over="ignore", invalid="ignore"):
            # E[x^2] - E[x]^2, which is what a sparse matrix can say of itself.
            variance = float(rows.multiply(rows).mean() - rows.mean() ** 2 if sp.issparse(rows) else rows.var(dtype=np.float64))
        if not np.isfinite(variance):
            raise ValueError(
                "gamma='scale' is one over the variance of X, which overflows: X holds values as large as "
                f"{np.abs(rows.data if sp.issparse(rows) else rows).max():.3g}. Scale X, or give gamma as a number."
            )
        return 1.0 / (rows.shape[1] * variance) if variance > 0 else 1.0
    return 1.0 / np.shape(X)[1] if gamma is None or isinstance(gamma, str) else float(gamma)


def squared_norms(X: Any) -> FloatArray:
    """x . x of every row, in double precision."""
    if sp.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    rows = np.asarray(X)
    norms: FloatArray = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return norms


def as_they_are(X: Any) -> Any:
    return X


class NumericKernel(Kernel):
    """A kernel of dense or sparse rows, whose lines a native kernel computes."""

    @abstractmethod
    def _form(self) -> tuple[str, float, float, float]:
        """(kind, gamma, constant, degree) of the native kernel."""

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        X = as_rows(type(self).__name__, X)
        kernel = self.resolved(X)
        assert isinstance(kernel, NumericKernel)
        return NativeMatrix(kernel._form(), X, kernel.diagonal, kernel._prepare, n_threads)

    def _prepare(self, X: Any) -> Any:
        """What is done to rows before the native kernel takes them."""
        return X


class GammaKernel(NumericKernel):
    """A kernel with a scale `gamma`, which may be said in terms of the rows."""

    gamma: Gamma

    def resolved(self, X: Any) -> Kernel:
        made: Kernel = dataclasses.replace(self, gamma=self._gamma(X))  # type: ignore[type-var]
        return made

    def _gamma(self, X: Any, Y: Any = None) -> float:
        if self.gamma == "scale" and Y is not None:
            raise InvalidParameterError(
                f"{type(self).__name__}: gamma='scale' depends on the rows, and here there are two sets of them; take the "
                "kernel `resolved` on the rows that are to set the scale, or give a number."
            )
        return resolve_gamma(self.gamma, X)


@dataclass
class Linear(NumericKernel):
    """k(x, y) = x . y.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    @property
    def is_mercer(self) -> bool:
        return True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        products: FloatArray = linear_kernel(X, Y)
        return products

    def diagonal(self, X: Any) -> FloatArray:
        return squared_norms(X)

    def _form(self) -> tuple[str, float, float, float]:
        return "linear", 1.0, 0.0, 1.0

    def feature_map(self, X: Any) -> Any:
        return X if sp.issparse(X) else np.array(X, dtype=float_type(X))


@dataclass
class Polynomial(GammaKernel):
    """k(x, y) = (gamma x . y + coef0)^degree.

    Parameters
    ----------
    degree : float, default=3
        At least 0. A Mercer kernel where it is whole and `coef0` is not negative.
    gamma : float, "scale", "auto" or None, default=None
        "auto" and None are one over the number of features; "scale" is one over that number times the variance of all values.
    coef0 : float, default=1

    Notes
    -----
    For a whole degree the `feature_map` has a column for every monomial of degree up to `degree`, (n_features + degree choose
    degree) of them; those of lower degree are missing where `coef0` is zero. With two features, degree 2 and gamma 1 they are
    c, sqrt(2c) x1, sqrt(2c) x2, x1^2, sqrt(2) x1 x2 and x2^2.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, gamma=1.0, coef0=2.0)
    >>> kernel([[1.0, 2.0]], [[3.0, -1.0]])
    array([[9.]])
    >>> kernel.feature_map([[1.0, 2.0]]).round(3)
    array([[2.   , 2.   , 4.   , 1.   , 2.828, 4.   ]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"degree": Real(least=0), "gamma": GAMMA, "coef0": Real()}
    degree: float = 3.0
    gamma: Gamma = None
    coef0: float = 1.0

    @property
    def is_mercer(self) -> bool:
        return self.degree == int(self.degree) and self.coef0 >= 0

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return polynomial_kernel(X, Y, degree=self.degree, gamma=self._gamma(X, Y), coef0=self.coef0)

    def diagonal(self, X: Any) -> FloatArray:
        values: FloatArray = (self._gamma(X) * squared_norms(X) + self.coef0) ** self.degree
        return values

    def _form(self) -> tuple[str, float, float, float]:
        assert isinstance(self.gamma, float)
        return "polynomial", self.gamma, self.coef0, self.degree

    def feature_map(self, X: Any) -> Any:
        if not self.is_mercer:
            raise NotImplementedError(f"{self!r} has no real feature map: its degree must be whole and coef0 at least 0.")
        gamma, power = self._gamma(X), int(self.degree)
        rows = dense(X)
        rows = rows.astype(float_type(rows), copy=False)
        columns = []
        for total in range(0 if self.coef0 > 0 else power, power + 1):
            for factors in itertools.combinations_with_replacement(range(rows.shape[1]), total):
                # The multinomial theorem: power! / (a_0! a_1! ... a_d!) coef0^a_0 gamma^total.
                counts = [len(list(group)) for _, group in itertools.groupby(factors)]
                ways = math.factorial(power) / math.prod(map(math.factorial, [power - total, *counts]))
                weight = math.sqrt(ways * self.coef0 ** (power - total) * gamma**total)
                columns.append(weight * np.prod(rows[:, list(factors)], axis=1))
        return np.column_stack(columns).astype(rows.dtype, copy=False)


@dataclass
class _Decaying(GammaKernel):
    """A kernel that is one for equal rows and falls with gamma times a distance: a Mercer kernel for every gamma."""

    _rules: ClassVar[Mapping[str, Rule]] = {"gamma": GAMMA}
    gamma: Gamma = None

    @property
    def is_mercer(self) -> bool:
        return True

    def diagonal(self, X: Any) -> FloatArray:
        return np.ones(count_rows(X))


@dataclass
class RBF(_Decaying):
    """k(x, y) = exp(-gamma |x - y|^2): the Gaussian kernel, with gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float, "scale", "auto" or None, default=None
        "auto" and None are one over the number of features; "scale" is one over that number times the variance of all values.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF(gamma=1.0)([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]).round(3)
    array([[0.368, 0.135]])
    """

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return rbf_kernel(X, Y, gamma=self._gamma(X, Y))

    def _form(self) -> tuple[str, float, float, float]:
        assert isinstance(self.gamma, float)
        return "rbf", self.gamma, 0.0, 1.0


@dataclass
class Laplacian(_Decaying):
    """k(x, y) = exp(-gamma |x - y|_1).

    Parameters
    ----------
    gamma : float, "scale", "auto" or None, default=None
        As of `RBF`.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=1.0)([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]).round(3)
    array([[0.368, 0.135]])
    """

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return laplacian_kernel(X, Y, gamma=self._gamma(X, Y))

    def _form(self) -> tuple[str, float, float, float]:
        assert isinstance(self.gamma, float)
        return "laplacian", self.gamma, 0.0, 1.0

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        if not sp.issparse(X):
            return super().on(X, n_threads)
        X = as_rows("Laplacian", X)
        return CallMatrix(self.resolved(X), X, lambda rows, index: rows[index], X.shape[0], X.dtype)


@dataclass
class Sigmoid(GammaKernel):
    """k(x, y) = tanh(gamma x . y + coef0); no Mercer kernel, whatever its parameters, so that solvers may find no optimum.

    Parameters
    ----------
    gamma : float, "scale", "auto" or None, default=None
        As of `Polynomial`.
    coef0 : float, default=1

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid()([[0.0, 0.0]], [[3.0, -1.0]]).round(3)
    array([[0.762]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"gamma": GAMMA, "coef0": Real()}
    gamma: Gamma = None
    coef0: float = 1.0

    @property
    def is_mercer(self) -> bool:
        return False

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return sigmoid_kernel(X, Y, gamma=self._gamma(X, Y), coef0=self.coef0)

    def diagonal(self, X: Any) -> FloatArray:
        return np.tanh(self._gamma(X) * squared_norms(X) + self.coef0)

    def _form(self) -> tuple[str, float, float, float]:
        assert isinstance(self.gamma, float)
        return "sigmoid", self.gamma, self.coef0, 1.0


@dataclass
class ChiSquared(NumericKernel):
    """k(x, y) = exp(-gamma sum (x_j - y_j)^2 / (x_j + y_j)), for dense rows without negative values, such as histograms.

    Parameters
    ----------
    gamma : float, default=1

    Examples
    --------
    >>> from mercer.kernels import ChiSquared
    >>> ChiSquared()([[0.0, 1.0]], [[1.0, 1.0]]).round(3)
    array([[0.368]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"gamma": Real(least=0)}
    gamma: float = 1.0

    @property
    def is_mercer(self) -> bool:
        return True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return chi2_kernel(X, Y, gamma=self.gamma)

    def diagonal(self, X: Any) -> FloatArray:
        return np.ones(count_rows(X))

    def _form(self) -> tuple[str, float, float, float]:
        return "chi2", self.gamma, 0.0, 1.0

    def _prepare(self, X: Any) -> Any:
        if sp.issparse(X):
            raise TypeError("ChiSquared: X is sparse; a chi-squared kernel takes dense rows (X.toarray()).")
        if (X < 0).any():
            raise ValueError(
                f"ChiSquared: X contains negative values: the least is {X.min():g}; a chi-squared kernel takes none."
            )
        return X


@dataclass
class AdditiveChiSquared(Kernel):
    """k(x, y) = -sum (x_j - y_j)^2 / (x_j + y_j), for dense rows without negative values.

    Minus a squared distance: its kernel matrix is positive semi-definite on vectors that add up to zero only.

    Examples
    --------
    >>> from mercer.kernels import AdditiveChiSquared
    >>> AdditiveChiSquared()([[0.0, 1.0]], [[1.0, 1.0]])
    array([[-1.]])
    """

    @property
    def is_mercer(self) -> bool:
        return False

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        return additive_chi2_kernel(X, Y)

    def diagonal(self, X: Any) -> FloatArray:
        return np.zeros(count_rows(X))

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        X = as_rows("AdditiveChiSquared", X)
        return CallMatrix(self, X, lambda rows, index: rows[index], X.shape[0], X.dtype)


@dataclass
class Cosine(NumericKernel):
    """k(x, y) = x . y / (|x| |y|), zero where one of them is.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[4.0, 3.0]])
    array([[0.96]])
    """

    @property
    def is_mercer(self) -> bool:
        return True

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        similarities: FloatArray = cosine_similarity(X, Y)
        return similarities

    def diagonal(self, X: Any) -> FloatArray:
        return np.where(squared_norms(X) > 0, 1.0, 0.0)

    def _form(self) -> tuple[str, float, float, float]:
        return "linear", 1.0, 0.0, 1.0

    def _prepare(self, X: Any) -> Any:
        lengths = np.sqrt(squared_norms(X))
        over = (1.0 / np.where(lengths > 0, lengths, 1.0)).astype(X.dtype)
        if not sp.issparse(X):
            return X * over[:, None]
        scaled = X.copy()
        scaled.data *= np.repeat(over, np.diff(X.indptr))
        return scaled

    def feature_map(self, X: Any) -> Any:
        return self._prepare(as_rows("Cosine", X))
