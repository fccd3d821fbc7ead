"""One decomposition, all penalties: the ridge solutions and their leave-one-out errors for many alphas at once.

With A' A = V diag(s) V' the solution is w = V diag(1 / (s + alpha)) V' A' b, and row i of A has the leverage
h_i = sum_k (A V)_ik^2 / (s_k + alpha), plus its share of the weight if there is an intercept. Leaving row i out changes its
residual from r_i to r_i / (1 - h_i). With fewer rows than columns the same comes from A A'.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd

from mercer._arrays import FloatArray
from mercer._statistics import Products
from mercer.linear_model._least_squares.rows import RowProducts, Rows, SharedFits
from mercer.linear_model._ridge.direct import without_noise

EPS = float(np.finfo(np.float64).eps)


def _shrunk(moments: FloatArray, squares: FloatArray, vectors: FloatArray, alphas: FloatArray) -> FloatArray:
    """Solutions for each alpha: the moments along the vectors, shrunk (alphas x targets x entries of a vector)."""
    found: FloatArray = np.einsum("kt,ka->atk", moments, _shrinkage(squares, alphas)) @ vectors.T
    return found


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
        return _shrunk(self._moments, self._squares, self._vectors, alphas)

    def left_out(
        self, rows: Rows, means: FloatArray, weight: float, alphas: FloatArray, errors: FloatArray | None
    ) -> FloatArray:
        """The sums of squared errors, times weights, (targets x alphas); the errors themselves in `errors`, if given."""
        shrinkage = _shrinkage(self._squares, alphas)
        solutions = self._moments[:, :, None] * shrinkage[:, None, :]
        share = 1 / weight if rows.is_centred else 0.0
        return rows.left_out(means, share, SharedFits(self._vectors, shrinkage, solutions), errors)


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
        return _shrunk(self._moments, self._squares, self._vectors, alphas)

    def left_out(
        self, rows: Rows, means: FloatArray, weight: float, alphas: FloatArray, errors: FloatArray | None
    ) -> FloatArray:
        """As `ColumnSpectrum.left_out`."""
        roots, duals = self._products.roots, self.duals(alphas)
        kept = (self._vectors**2 @ _shrinkage(self._squares, alphas)).T[:, None, :]  # (1 - h) / alpha
        left = np.divide(duals, kept, out=np.zeros_like(duals), where=kept > 0)
        if errors is not None:
            has_weight = roots > 0
            found = np.divide(left, roots, out=np.zeros_like(left), where=has_weight)
            if not has_weight.all():  # rows that no fit has seen: their residuals as they are
                index, (_, y) = np.flatnonzero(~has_weight), rows.weights_and_targets()
                coefs = rows.adjoint(means, duals.reshape(-1, rows.n_rows))
                fitted = rows.centred_values(index, means, coefs).T.reshape(*duals.shape[:2], -1)
                found[:, :, index] = (y[index] - means[rows.n_features :]).T - fitted
            errors[:] = np.moveaxis(found, 0, 1)
        sums: FloatArray = np.einsum("ati,ati->ta", left, left)
        return sums
