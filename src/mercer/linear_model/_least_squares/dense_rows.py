"""Dense rows of a regression. Knows no solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, require_finite
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._statistics import ROUNDING, Products
from mercer.linear_model._least_squares.rows import (
    BLOCK,
    RowProducts,
    SharedFits,
    centred_targets,
    column_norms,
    refuse_sums,
)

LEAST_ROUGH = 64  # columns from which products in single precision are worth a correction by the residuals
ROUGH = 8 * float(np.finfo(np.float32).eps)


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
        options: dict[str, Any] = {"is_centred": self.is_centred, "n_threads": self._n_threads}
        products = Products.of(self._X, self._y, self._weights, **options)
        if not np.isfinite(products.gram).all():
            refuse_sums(self._estimator, self._X, self._y)
        return products

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
        return centred_targets(self._y.astype(np.float64), y_mean, self._roots, self._weight)

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

    def normal(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        return self.adjoint(means, self.apply(means, coef))

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
