"""One decomposition, all penalties: the ridge solutions and their leave-one-out errors for many alphas at once.

With A' A = V diag(s) V' the solution is w = V diag(1 / (s + alpha)) V' A' b, and row i of A has the leverage
h_i = sum_k (A V)_ik^2 / (s_k + alpha), plus its share of the weight if there is an intercept. Leaving row i out changes its
residual from r_i to r_i / (1 - h_i). With fewer rows than columns the same comes from A A'.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh, svd

from mercer._arrays import FloatArray
from mercer.linear_model._ridge_direct import without_noise
from mercer.linear_model._rows import Products, RowProducts, Rows

BLOCK = 1 << 18  # numbers of X that are looked at together
EPS = float(np.finfo(np.float64).eps)

# Of some rows: which, and their errors when left out (alphas x targets x rows), not weighted.
Errors = tuple[slice, FloatArray]


def _shrinkage(squares: FloatArray, alphas: FloatArray) -> FloatArray:
    """1 / (s + alpha) as (values x alphas); zero in directions that neither the data nor the penalty determine."""
    sums = squares[:, None] + alphas
    least = EPS * len(squares) * (squares.max() if len(squares) else 0.0)
    shrinkage: FloatArray = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > least)
    return shrinkage


class ColumnSpectrum:
    """From A' A: for at least as many rows as columns."""

    def __init__(self, squares: FloatArray, vectors: FloatArray, moments: FloatArray) -> None:
        self._squares, self._vectors = squares, vectors  # s, and V with one column for each
        self._moments = moments  # V' A' b, (values x targets)

    @classmethod
    def of(cls, products: Products, n_features: int) -> ColumnSpectrum:
        gram, moments, _ = without_noise(products, n_features)
        squares, vectors = eigh(gram, check_finite=False)
        return cls(np.maximum(squares, 0), vectors, (moments @ vectors).T)

    @classmethod
    def by_svd(cls, A: FloatArray, b: FloatArray) -> ColumnSpectrum:
        left, singular, right = svd(A, full_matrices=False, check_finite=False)
        return cls(singular**2, right.T, singular[:, None] * (left.T @ b))

    def coefs(self, alphas: FloatArray) -> FloatArray:
        """(alphas x targets x features)."""
        shrunk = np.einsum("kt,ka->atk", self._moments, _shrinkage(self._squares, alphas))
        found: FloatArray = shrunk @ self._vectors.T
        return found

    def left_out(self, rows: Rows, means: FloatArray, weight: float, alphas: FloatArray) -> Iterator[Errors]:
        """Block by block of rows."""
        shrinkage = _shrinkage(self._squares, alphas)
        weights, y = rows.weights_and_targets()
        weighted = (self._moments[:, :, None] * shrinkage[:, None, :]).reshape(len(self._squares), -1)
        step = max(1, BLOCK // rows.n_features)
        for first in range(0, rows.n_rows, step):
            block = slice(first, min(first + step, rows.n_rows))
            Z = rows.centred_values(block, means, self._vectors.T)
            fitted = (Z @ weighted).reshape(len(Z), -1, len(alphas))
            leverage = (Z**2) @ shrinkage
            if rows.is_centred:
                leverage += 1 / weight
            kept = np.maximum(1 - weights[block, None] * leverage, EPS)
            residuals = (y[block] - means[rows.n_features :])[:, :, None] - fitted
            yield block, np.moveaxis(residuals / kept[:, None, :], (0, 1, 2), (2, 1, 0))


class RowSpectrum:
    """From A A', with the direction in which centred rows add up to zero taken out: for fewer rows than columns."""

    def __init__(self, squares: FloatArray, vectors: FloatArray, products: RowProducts) -> None:
        self._squares, self._vectors, self._products = squares, vectors, products
        self._moments = vectors.T @ products.targets.T

    @classmethod
    def of(cls, products: RowProducts, *, is_centred: bool) -> RowSpectrum:
        gram = products.gram
        if is_centred:  # as the largest eigenvalue by far it is told from all others, however many of them are zero
            gram = gram + np.outer(products.roots, products.roots) * (2 * np.linalg.norm(gram) + 1e-300) / products.weight
        squares, vectors = eigh(gram, check_finite=False)
        if is_centred:
            squares, vectors = squares[:-1], vectors[:, :-1]
        return cls(np.maximum(squares, 0), vectors, products)

    @classmethod
    def by_svd(cls, A: FloatArray, products: RowProducts, *, is_centred: bool) -> RowSpectrum:
        if is_centred:
            A = np.column_stack([products.roots * (2 * np.linalg.norm(A) + 1e-300) / np.sqrt(products.weight), A])
        left, singular, _ = svd(A, full_matrices=False, check_finite=False)
        return cls(singular[is_centred:] ** 2, left[:, is_centred:], products)

    def duals(self, alphas: FloatArray) -> FloatArray:
        """(alphas x targets x rows)."""
        shrunk = np.einsum("kt,ka->atk", self._moments, _shrinkage(self._squares, alphas))
        found: FloatArray = shrunk @ self._vectors.T
        return found

    def left_out(self, rows: Rows, means: FloatArray, weight: float, alphas: FloatArray) -> Iterator[Errors]:
        """All rows at once."""
        roots, duals = self._products.roots, self.duals(alphas)
        kept = (self._vectors**2 @ _shrinkage(self._squares, alphas)).T[:, None, :]  # (1 - h) / alpha
        has_weight = roots > 0
        errors = np.divide(duals, kept * roots, out=np.zeros_like(duals), where=has_weight & (kept > 0))
        if not has_weight.all():  # rows that no fit has seen: their residuals as they are
            index, d = np.flatnonzero(~has_weight), rows.n_features
            _, y = rows.weights_and_targets()
            coefs = rows.adjoint(means, duals.reshape(-1, rows.n_rows))
            fitted = rows.centred_values(index, means, coefs).T.reshape(*duals.shape[:2], -1)
            errors[:, :, index] = (y[index] - means[d:]).T - fitted
        yield slice(0, rows.n_rows), errors
