"""Sparse rows of a regression. Knows no solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from mercer._arrays import FloatArray
from mercer._matrix import SparseMatrix
from mercer._statistics import CANCELLED, ROUNDING, Products
from mercer.linear_model._least_squares.rows import BLOCK, RowProducts, SharedFits, centred_targets


class SparseRows:
    """Sparse X: never centred in memory; what centring changes is added to the products."""

    def __init__(self, X: Any, y: FloatArray, weights: FloatArray | None, *, is_centred: bool):
        self._X = X.tocsr().astype(np.float64, copy=False)
        self._y = (y if y.ndim == 2 else y[:, None]).astype(np.float64)
        self.n_rows, self.n_features = X.shape
        self.n_targets = self._y.shape[1]
        self._is_weighted = weights is not None
        self._weights = np.ones(self.n_rows) if weights is None else weights.astype(np.float64)
        self._roots = self._weights if weights is None else np.sqrt(self._weights)
        self.weight = float(self._weights.sum())
        self._matrix = SparseMatrix(self._X)
        sums, self._squares_about_zero = self._matrix.moment_sums(self._weights)
        sums = np.concatenate([sums, self._weights @ self._y])
        self.means = sums / self.weight if is_centred else np.zeros_like(sums)
        self.is_centred = is_centred

    def products(self) -> Products:
        return Products.of_sparse(self._matrix, self._y, self._weights, self.means)

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        residual = (self._y - means[self.n_features :]).T - self._values(means, coef)
        weighted = residual * self._weights if self._is_weighted else residual
        return self._sums(means, weighted), np.einsum("ij,ij->i", weighted, residual)

    def row_products(self) -> RowProducts:
        d, roots = self.n_features, self._roots
        x_mean = self.means[:d]
        along = self._X @ x_mean
        about_zero = SparseMatrix(self._X.T).products()
        gram = about_zero - along[:, None] - along + x_mean @ x_mean
        gram *= roots[:, None] * roots
        noise = CANCELLED * self.weight * float((x_mean**2).sum())
        return RowProducts(gram, self.means, self.weight, roots, self.targets(self.means), noise)

    def centre(self) -> tuple[FloatArray, float]:
        return self.means, self.weight

    def targets(self, means: FloatArray) -> FloatArray:
        return centred_targets(self._y, means[self.n_features :], self._roots, self.weight)

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        values = self._values(means, coef)
        return values * self._roots if self._is_weighted else values

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        return self._sums(means, duals * self._roots if self._is_weighted else duals)

    def _values(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        """(X - means) coef', as targets x rows."""
        offsets = -(coef @ means[: self.n_features])
        if len(coef) == 1:
            return self._matrix.row_values(np.ascontiguousarray(coef[0]), float(offsets[0]))[None, :]
        values = np.ascontiguousarray((self._X @ coef.T).T)
        values += offsets[:, None]
        return values

    def _sums(self, means: FloatArray, weighted: FloatArray) -> FloatArray:
        """(X - means)' v for each row v of `weighted` (targets x rows), as targets x features."""
        if len(weighted) == 1:
            sums = self._matrix.column_sums(np.ascontiguousarray(weighted[0]))[None, :]
        else:
            sums = np.ascontiguousarray((self._X.T @ weighted.T).T)
        sums -= weighted.sum(axis=1)[:, None] * means[: self.n_features]
        return sums

    def normal(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        if len(coef) > 1:
            return self.adjoint(means, self.apply(means, coef))
        # In one pass over the rows, as those of (x, 1): what centring takes off is the intercept's part.
        x_mean = means[: self.n_features]
        product = self._matrix.curvature_product(self._weights, np.append(coef[0], -(x_mean @ coef[0])))
        product[:-1] -= product[-1] * x_mean
        return product[None, :-1]

    def column_squares(self, means: FloatArray) -> FloatArray:
        removed = self.weight * means[: self.n_features] ** 2
        squares = self._squares_about_zero - removed
        return np.where(squares > CANCELLED * removed, squares, 0.0)

    def column_norms(self) -> FloatArray:
        """The norms of the columns of A."""
        norms: FloatArray = np.sqrt(self.column_squares(self.means))
        return norms

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        roots = self._roots
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
        varies = ~self._constant_columns()
        means = np.where(varies, self.means[: self.n_features], 0.0)
        is_masked = not varies.all()

        def apply(vector: FloatArray) -> FloatArray:
            vector = np.ascontiguousarray(vector * varies if is_masked else vector)
            values: FloatArray = self.apply(means, vector[None, :])[0]
            return values

        def adjoint(vector: FloatArray) -> FloatArray:
            found: FloatArray = self.adjoint(means, vector[None, :])[0]
            return found * varies if is_masked else found

        A = LinearOperator(shape=self._X.shape, dtype=np.float64, matvec=apply, rmatvec=adjoint)
        return A, self._roots[:, None] * (self._y - self.means[self.n_features :])

    def _constant_columns(self) -> npt.NDArray[np.bool_]:
        """Which columns hold one value alone, and not zero; without an intercept, none counts."""
        is_constant = np.zeros(self.n_features, dtype=bool)
        suspects = np.flatnonzero((self.column_squares(self.means) == 0) & (self._squares_about_zero > 0))
        if self.is_centred and len(suspects):
            columns = self._X[:, suspects].tocsc()
            is_constant[suspects] = (columns.max(axis=0) - columns.min(axis=0)).toarray().ravel() == 0
        return is_constant
