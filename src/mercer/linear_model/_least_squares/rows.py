"""The rows of a regression, dense or sparse: the few sums over them that the solvers need. Knows no solver.

Below, A is X minus its means, each row times the root of its weight, and b the same of y; without an intercept nothing is
subtracted. Everything is summed in double precision, whatever the type of X.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import assert_all_finite

from mercer._arrays import FloatArray, require_finite
from mercer._lazy import lazy_property
from mercer._native import kernels

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # a column that varies by less, against its mean, is constant
LEAST_ROUGH = 64  # columns from which products in single precision are worth a correction by the residuals
ROUGH = 8 * float(np.finfo(np.float32).eps)
BLOCK = 1 << 18  # numbers of X that are looked at together
CANCELLED = 1e-10  # of a sum of squares about zero: less than this about the mean is not to be trusted


class Products(NamedTuple):
    """[A, b]' [A, b] and what it was made with."""

    gram: FloatArray
    means: FloatArray  # of the columns of [X, y]
    weight: float  # of all rows
    noise: FloatArray  # what rounding alone may leave of the sum of squares of a constant column


class RowProducts(NamedTuple):
    """A A' and what it was made with: small where there are more columns than rows."""

    gram: FloatArray
    means: FloatArray  # of the columns of [X, y]
    weight: float
    roots: FloatArray  # of the weights
    targets: FloatArray  # b, as targets x rows; zero where a target is constant up to rounding
    noise: float  # what rounding alone may leave of the trace of A A' if all columns are constant


class SharedFits(NamedTuple):
    """What ridge fits for several penalties have in common, with A' A = V diag(s) V'."""

    vectors: FloatArray  # V: (features x directions)
    shrinkage: FloatArray  # 1 / (s + alpha): (directions x penalties)
    solutions: FloatArray  # V' w: (directions x targets x penalties)


def column_norms(A: FloatArray) -> FloatArray:
    """Norms of columns, safe from overflow and underflow."""
    largest = np.abs(A).max(axis=0)
    divisors = np.where(largest > 0, largest, 1)
    norms: FloatArray = largest * np.linalg.norm(A / divisors, axis=0)
    return norms


def refuse_sums(caller: Any, X: Any, y: FloatArray) -> NoReturn:
    """Say why sums of squares over X and y are not finite: bad values, or values too large."""
    name = str(getattr(caller, "__name__", type(caller).__name__))
    require_finite(caller, X)
    assert_all_finite(y, estimator_name=name, input_name="y")
    values = X.data if sp.issparse(X) else X
    largest = max(np.abs(values).max(initial=0), np.abs(y).max(initial=0))
    raise ValueError(
        f"{name}: X or y holds values as large as {largest:.3g}, whose squares overflow. Scale them to moderate size first."
    )


class Rows(Protocol):
    """What dense and sparse rows have in common."""

    n_rows: int
    n_features: int
    n_targets: int
    is_centred: bool

    def products(self) -> Products:
        """[A, b]' [A, b]."""
        ...

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A' r and r' r for the residuals r = b - A coef' themselves: (targets x features) and (targets)."""
        ...

    def row_products(self) -> RowProducts:
        """A A', and b."""
        ...

    def centre(self) -> tuple[FloatArray, float]:
        """The means of [X, y] (zero without an intercept) and the total weight."""
        ...

    def targets(self, means: FloatArray) -> FloatArray:
        """b, as targets x rows; zero where a target is constant up to rounding."""
        ...

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        """A coef', as targets x rows, for coef of shape targets x features."""
        ...

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        """A' v for each row v of duals (targets x rows), as targets x features."""
        ...

    def column_squares(self, means: FloatArray) -> FloatArray:
        """The squared norms of the columns of A; zero for columns that are constant up to rounding."""
        ...

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """A and b themselves: a copy of the data in double precision. Columns constant up to rounding are zero."""
        ...

    def of_targets(self, targets: npt.NDArray[np.intp]) -> Rows:
        """These rows with some of the targets only."""
        ...

    def of_rows(self, index: npt.NDArray[np.intp]) -> Rows:
        """Some of the rows: a copy."""
        ...

    def weights_and_targets(self) -> tuple[FloatArray, FloatArray]:
        """The weights, and y (rows x targets), both in double precision."""
        ...

    def centred_values(self, index: Any, means: FloatArray, coef: FloatArray) -> FloatArray:
        """(X - means) coef' for some of the rows, without their weights: (rows x targets)."""
        ...

    def left_out(self, means: FloatArray, share: float, fits: SharedFits, errors: FloatArray | None) -> FloatArray:
        """The sums of weight times squared error of each row left out in turn, (targets x penalties).

        `share` is that of the intercept in the leverage of a row of weight one. Errors go to `errors` (targets x penalties x
        rows), if given.
        """
        ...


def _centred_targets(y: FloatArray, y_mean: FloatArray, roots: FloatArray, weight: float) -> FloatArray:
    """b as targets x rows; zero where it is no more than rounding leaves of a constant."""
    b = (y - y_mean).T * roots
    b[np.einsum("ij,ij->i", b, b) <= weight * (y_mean * ROUNDING) ** 2] = 0
    return np.ascontiguousarray(b)


class DenseRows:
    """Dense X in any memory order: read in place, block by block."""

    def __init__(
        self, estimator: Any, X: FloatArray, y: FloatArray, weights: FloatArray | None, *, is_centred: bool, n_threads: int
    ):
        self._estimator, self._X, self._weights = estimator, X, weights
        self._y = y if y.ndim == 2 else y[:, None]
        self.is_centred, self._n_threads = is_centred, n_threads
        self.n_rows, self.n_features = X.shape
        self.n_targets = self._y.shape[1]

    def products(self) -> Products:
        n_columns = self.n_features + self.n_targets
        gram, means = np.empty((n_columns, n_columns)), np.empty(n_columns)
        weight = kernels.centred_gram(self._X, self._y, self._weights, self.is_centred, gram, means, self._n_threads)
        if not np.isfinite(gram).all():
            refuse_sums(self._estimator, self._X, self._y)
        return Products(gram, means, weight, weight * (means * ROUNDING) ** 2)

    def rough_products(self) -> Products | None:
        """As `products`, by sums in single precision; None where that saves little or X is given in double precision."""
        if self._X.dtype != np.float32 or self.n_features < LEAST_ROUGH:
            return None
        n_columns = self.n_features + self.n_targets
        gram, means = np.empty((n_columns, n_columns)), np.empty(n_columns)
        weight = kernels.rough_centred_gram(self._X, self._y, self._weights, self.is_centred, gram, means, self._n_threads)
        return Products(gram, means, weight, weight * (means * ROUGH) ** 2) if np.isfinite(gram).all() else None

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, squares = np.empty_like(coef), np.empty(self.n_targets)
        kernels.residual_gradient(self._X, self._y, self._weights, means, coef, gradient, squares, self._n_threads)
        return gradient, squares

    def row_products(self) -> RowProducts:
        products = self._row_products(kernels.row_gram, ROUNDING)
        if not (np.isfinite(products.gram).all() and np.isfinite(products.means).all()):
            refuse_sums(self._estimator, self._X, self._y)
        return products

    def rough_row_products(self) -> RowProducts | None:
        """As `row_products`, by sums in single precision; None where that saves little or X is given in double precision."""
        if self._X.dtype != np.float32 or self.n_rows < LEAST_ROUGH:
            return None
        products = self._row_products(kernels.rough_row_gram, ROUGH)
        return products if np.isfinite(products.gram).all() and np.isfinite(products.means).all() else None

    def _row_products(self, row_gram: Any, rounding: float) -> RowProducts:
        n, d = self.n_rows, self.n_features
        gram, means = np.empty((n, n)), np.empty(d + self.n_targets)
        row_gram(self._X, self._weights, self.is_centred, gram, means[:d], self._n_threads)
        means[d:] = self._target_means()
        noise = self._weight * float(((means[:d] * rounding) ** 2).sum())
        return RowProducts(gram, means, self._weight, self._roots, self.targets(means), noise)

    def centre(self) -> tuple[FloatArray, float]:
        require_finite(self._estimator, self._X)
        d = self.n_features
        means = np.zeros(d + self.n_targets)
        if self.is_centred:
            origin = self._X[np.argmax(self._roots > 0)].astype(np.float64)  # exact for constant columns
            offsets = np.empty((1, d))
            kernels.apply_columns(self._X, self._weights, origin, self._roots[None, :], offsets, self._n_threads)
            means[:d] = origin + offsets[0] / self._weight
            means[d:] = self._target_means()
        return means, self._weight

    def targets(self, means: FloatArray) -> FloatArray:
        y_mean = means[self.n_features :]
        return _centred_targets(self._y.astype(np.float64), y_mean, self._roots, self._weight)

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        values = np.empty((len(coef), self.n_rows))
        x_mean, coef = means[: self.n_features], np.ascontiguousarray(coef)
        kernels.apply_rows(self._X, self._weights, x_mean, coef, values, self._n_threads)
        return values

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        coef = np.empty((len(duals), self.n_features))
        x_mean, duals = means[: self.n_features], np.ascontiguousarray(duals)
        kernels.apply_columns(self._X, self._weights, x_mean, duals, coef, self._n_threads)
        return coef

    def column_squares(self, means: FloatArray) -> FloatArray:
        squares, step = np.zeros(self.n_features), max(1, BLOCK // self.n_features)
        for first in range(0, self.n_rows, step):
            rows = slice(first, first + step)
            block = (self._X[rows] - means[: self.n_features]) * self._roots[rows, None]
            squares += np.einsum("ij,ij->j", block, block)
        return np.where(squares > self._weight * (means[: self.n_features] * ROUNDING) ** 2, squares, 0.0)

    def left_out(self, means: FloatArray, share: float, fits: SharedFits, errors: FloatArray | None) -> FloatArray:
        x_mean, y_mean, shape = means[: self.n_features], means[self.n_features :], fits.solutions.shape
        sums = np.empty(shape[1] * shape[2])
        matrices = [np.ascontiguousarray(m) for m in (fits.vectors, fits.shrinkage, fits.solutions.reshape(shape[0], -1))]
        out = None if errors is None else errors.reshape(len(sums), -1)
        kernels.left_out_errors(self._X, self._y, self._weights, x_mean, y_mean, *matrices, share, sums, out, self._n_threads)
        return sums.reshape(shape[1:])

    def of_targets(self, targets: npt.NDArray[np.intp]) -> DenseRows:
        if len(targets) == self.n_targets:
            return self
        y, n_threads = np.ascontiguousarray(self._y[:, targets]), self._n_threads
        return DenseRows(self._estimator, self._X, y, self._weights, is_centred=self.is_centred, n_threads=n_threads)

    def of_rows(self, index: npt.NDArray[np.intp]) -> DenseRows:
        weights = None if self._weights is None else self._weights[index]
        X, y = self._X[index], self._y[index]
        return DenseRows(self._estimator, X, y, weights, is_centred=self.is_centred, n_threads=self._n_threads)

    def weights_and_targets(self) -> tuple[FloatArray, FloatArray]:
        return self._roots**2, self._y.astype(np.float64, copy=False)

    def centred_values(self, index: Any, means: FloatArray, coef: FloatArray) -> FloatArray:
        values: FloatArray = (self._X[index] - means[: self.n_features]) @ coef.T
        return values

    def without_weightless(self) -> DenseRows:
        """These rows, less those of weight zero."""
        if self._weights is None or (self._weights > 0).all():
            return self
        return self.of_rows(np.flatnonzero(self._weights > 0))

    @lazy_property
    def _roots(self) -> FloatArray:
        """The roots of the weights."""
        return np.ones(self.n_rows) if self._weights is None else np.sqrt(self._weights.astype(np.float64))

    @property
    def _weight(self) -> float:
        return float(self.n_rows if self._weights is None else self._weights.sum(dtype=np.float64))

    def _target_means(self) -> FloatArray:
        if not self.is_centred:
            return np.zeros(self.n_targets)
        weights = None if self._weights is None else self._weights.astype(np.float64)
        means: FloatArray = np.average(self._y.astype(np.float64, copy=False), axis=0, weights=weights)
        return means

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        A, b = self._X - means[: self.n_features], self._y - means[self.n_features :]
        if self._weights is not None:
            roots = np.sqrt(self._weights.astype(np.float64))[:, None]
            A *= roots
            b *= roots
        noise = ROUNDING * np.sqrt(weight) * np.abs(means)
        A[:, column_norms(A) <= noise[: self.n_features]] = 0
        b[:, column_norms(b) <= noise[self.n_features :]] = 0
        return A, b


class SparseRows:
    """Sparse X: never centred in memory; what centring changes is added to the products."""

    def __init__(self, X: Any, y: FloatArray, weights: FloatArray | None, *, is_centred: bool):
        self._X = X.astype(np.float64, copy=False)
        self._y = (y if y.ndim == 2 else y[:, None]).astype(np.float64)
        self.n_rows, self.n_features = X.shape
        self.n_targets = self._y.shape[1]
        self._weights = np.ones(self.n_rows) if weights is None else weights.astype(np.float64)
        self.weight = float(self._weights.sum())
        sums = np.concatenate([self._X.T @ self._weights, self._weights @ self._y])
        self.means = sums / self.weight if is_centred else np.zeros_like(sums)
        self.is_centred = is_centred

    def products(self) -> Products:
        d, weighted = self.n_features, sp.diags(self._weights) @ self._X
        x_mean, y = self.means[:d], self._y - self.means[d:]
        gram = np.empty((len(self.means), len(self.means)))
        gram[:d, :d] = (self._X.T @ weighted).toarray() - self.weight * np.outer(x_mean, x_mean)
        gram[d:, :d] = (weighted.T @ y).T
        gram[:d, d:] = gram[d:, :d].T
        gram[d:, d:] = (y * self._weights[:, None]).T @ y
        noise = self.weight * (self.means * ROUNDING) ** 2
        noise[:d] = CANCELLED * self.weight * x_mean**2
        return Products(gram, self.means, self.weight, noise)

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        x_mean, y_mean = means[: self.n_features], means[self.n_features :]
        residual = self._y - self._X @ coef.T + (coef @ x_mean - y_mean)
        weighted = self._weights[:, None] * residual
        gradient = (self._X.T @ weighted).T - np.outer(weighted.sum(axis=0), x_mean)
        return np.ascontiguousarray(gradient), np.einsum("ij,ij->j", weighted, residual)

    def row_products(self) -> RowProducts:
        d, roots = self.n_features, np.sqrt(self._weights)
        x_mean = self.means[:d]
        along = self._X @ x_mean
        gram = (self._X @ self._X.T).toarray() - along[:, None] - along + x_mean @ x_mean
        gram *= roots[:, None] * roots
        noise = CANCELLED * self.weight * float((x_mean**2).sum())
        return RowProducts(gram, self.means, self.weight, roots, self.targets(self.means), noise)

    def centre(self) -> tuple[FloatArray, float]:
        return self.means, self.weight

    def targets(self, means: FloatArray) -> FloatArray:
        return _centred_targets(self._y, means[self.n_features :], np.sqrt(self._weights), self.weight)

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        values = (self._X @ coef.T).T - (coef @ means[: self.n_features])[:, None]
        return np.ascontiguousarray(values * np.sqrt(self._weights))

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        weighted = duals * np.sqrt(self._weights)
        coef = (self._X.T @ weighted.T).T - weighted.sum(axis=1)[:, None] * means[: self.n_features]
        return np.ascontiguousarray(coef)

    def column_squares(self, means: FloatArray) -> FloatArray:
        removed = self.weight * means[: self.n_features] ** 2
        squares: FloatArray = self._X.multiply(self._X).T @ self._weights - removed
        return np.where(squares > CANCELLED * removed, squares, 0.0)

    def column_norms(self) -> FloatArray:
        """The norms of the columns of A."""
        norms: FloatArray = np.sqrt(self.column_squares(self.means))
        return norms

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        roots = np.sqrt(self._weights)
        A = (self._X.toarray() - means[: self.n_features]) * roots[:, None]
        A[:, np.einsum("ij,ij->j", A, A) <= weight * (means[: self.n_features] * ROUNDING) ** 2] = 0
        return A, self.targets(means).T

    def of_targets(self, targets: npt.NDArray[np.intp]) -> SparseRows:
        if len(targets) == self.n_targets:
            return self
        return SparseRows(self._X, self._y[:, targets], self._weights, is_centred=self.is_centred)

    def of_rows(self, index: npt.NDArray[np.intp]) -> SparseRows:
        return SparseRows(self._X[index], self._y[index], self._weights[index], is_centred=self.is_centred)

    def weights_and_targets(self) -> tuple[FloatArray, FloatArray]:
        return self._weights, self._y

    def centred_values(self, index: Any, means: FloatArray, coef: FloatArray) -> FloatArray:
        values: FloatArray = self._X[index] @ coef.T - coef @ means[: self.n_features]
        return values

    def left_out(self, means: FloatArray, share: float, fits: SharedFits, errors: FloatArray | None) -> FloatArray:
        sums, y_mean, step = np.zeros(fits.solutions.shape[1:]), means[self.n_features :], max(1, BLOCK // self.n_features)
        for first in range(0, self.n_rows, step):
            block = slice(first, first + step)
            Z = self.centred_values(block, means, fits.vectors.T)
            weights = self._weights[block]
            kept = np.maximum(1 - weights[:, None] * (Z**2 @ fits.shrinkage + share), np.finfo(np.float64).eps)
            left = ((self._y[block] - y_mean)[:, :, None] - np.tensordot(Z, fits.solutions, 1)) / kept[:, None, :]
            sums += np.einsum("ita,ita,i->ta", left, left, weights)
            if errors is not None:
                errors[:, :, block] = np.moveaxis(left, 0, 2)
        return sums

    def operator(self) -> tuple[LinearOperator, FloatArray]:
        """A as a linear operator, and b. Constant columns are zero in A: their rounding errors would look like data."""
        x_mean, roots = self.means[: self.n_features], np.sqrt(self._weights)
        varies = np.ones(self.n_features)
        if self.is_centred:
            varies[(self._X.max(axis=0) - self._X.min(axis=0)).toarray().ravel() == 0] = 0
        scaled, x_mean = sp.diags(roots) @ self._X @ sp.diags(varies), x_mean * varies
        A = LinearOperator(
            shape=self._X.shape,
            dtype=np.float64,
            matvec=lambda v: scaled @ v - roots * (x_mean @ v),
            rmatvec=lambda v: scaled.T @ v - x_mean * (roots @ v),
        )
        return A, roots[:, None] * (self._y - self.means[self.n_features :])
