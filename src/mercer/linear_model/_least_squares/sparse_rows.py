"""Sparse rows of a regression. Knows no solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._solvers.linear_loss import sparse_products
from mercer.linear_model._least_squares.rows import BLOCK, ROUNDING, Products, RowProducts, SharedFits, centred_targets

CANCELLED = 1e-10  # of a sum of squares about zero: less than this about the mean is not to be trusted


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
        d = self.n_features
        x_mean, y = self.means[:d], self._y - self.means[d:]
        weighted = y * self._weights[:, None]
        gram = np.empty((len(self.means), len(self.means)))
        about_zero = sparse_products(self._X.tocsr(), self._weights, n_threads=effective_threads(None))
        gram[:d, :d] = about_zero - self.weight * np.outer(x_mean, x_mean)
        gram[d:, :d] = (self._X.T @ weighted).T
        gram[:d, d:] = gram[d:, :d].T
        gram[d:, d:] = weighted.T @ y
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
        about_zero = sparse_products(self._X.T.tocsr(), n_threads=effective_threads(None))
        gram = about_zero - along[:, None] - along + x_mean @ x_mean
        gram *= roots[:, None] * roots
        noise = CANCELLED * self.weight * float((x_mean**2).sum())
        return RowProducts(gram, self.means, self.weight, roots, self.targets(self.means), noise)

    def centre(self) -> tuple[FloatArray, float]:
        return self.means, self.weight

    def targets(self, means: FloatArray) -> FloatArray:
        return centred_targets(self._y, means[self.n_features :], np.sqrt(self._weights), self.weight)

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        values = (self._X @ coef.T).T - (coef @ means[: self.n_features])[:, None]
        return np.ascontiguousarray(values * np.sqrt(self._weights))

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        weighted = duals * np.sqrt(self._weights)
        coef = (self._X.T @ weighted.T).T - weighted.sum(axis=1)[:, None] * means[: self.n_features]
        return np.ascontiguousarray(coef)

    def column_squares(self, means: FloatArray) -> FloatArray:
        removed = self.weight * means[: self.n_features] ** 2
        squared = type(self._X)((self._X.data**2, self._X.indices, self._X.indptr), shape=self._X.shape)
        squares: FloatArray = squared.T @ self._weights - removed
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
        scaled = self._X if (roots == 1).all() else sp.diags(roots) @ self._X
        columns = scaled.T.tocsr()  # the transpose by its rows: read forty times, and made once
        if self.is_centred:
            by_column = self._X.T.tocsr() if scaled is not self._X else columns
            constant = (by_column.max(axis=1) - by_column.min(axis=1)).toarray().ravel() == 0
            if constant.any():
                varies = sp.diags(np.where(constant, 0.0, 1.0))
                scaled, columns, x_mean = scaled @ varies, varies @ columns, np.where(constant, 0.0, x_mean)
        A = LinearOperator(
            shape=self._X.shape,
            dtype=np.float64,
            matvec=lambda v: scaled @ v - roots * (x_mean @ v),
            rmatvec=lambda v: columns @ v - x_mean * (roots @ v),
        )
        return A, roots[:, None] * (self._y - self.means[self.n_features :])
