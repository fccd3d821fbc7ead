"""Rows of a regression that lie in parts. Knows no solver."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.merging import Sums
from mercer._parts.passes import total
from mercer._statistics import ROUNDING, Products
from mercer.linear_model._least_squares.rows import column_norms, refuse_sums


class PartedRows:
    """Dense X in parts: each question is a pass, and what comes back is as large as a Gram matrix at most."""

    def __init__(self, estimator: Any, X: Any, y: Any, weights: Any, *, is_centred: bool) -> None:
        self._estimator, self._X, self._y, self._weights, self.is_centred = estimator, X, y, weights, is_centred
        self.n_features, self.n_targets = X.n_columns, 1

    @lazy_property
    def n_rows(self) -> int:
        return int(self._X.n_rows)

    def products(self) -> Products:
        return self._products

    @lazy_property
    def _products(self) -> Products:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is looked for where it lies
            return total(_products, self._X, self._y, self._weights, self._estimator, self.is_centred)

    def rough_products(self) -> None:
        """Products in single precision, which would save less than the pass that corrects them costs."""
        return None

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, squares = total(_residuals, self._X, self._y, self._weights, means, coef).values
        return gradient, squares

    def centre(self) -> tuple[FloatArray, float]:
        return self._products.means, self._products.weight

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """The triangular factor of [A, b], which stands for them: it has their products and their singular values."""
        d = self.n_features
        triangle = total(_triangle, self._X, self._y, self._weights, means).values
        A, b = triangle[:, :d].copy(), triangle[:, d:].copy()
        noise = ROUNDING * np.sqrt(weight) * np.abs(means)
        A[:, column_norms(A) <= noise[:d]] = 0
        b[:, column_norms(b) <= noise[d:]] = 0
        return A, b

    def of_targets(self, targets: npt.NDArray[np.intp]) -> PartedRows:
        """There is one target."""
        return self


def _products(X: FloatArray, y: FloatArray, weights: FloatArray | None, owner: Any, is_centred: bool) -> Products:
    products = Products.of(X, y[:, None], weights, is_centred=is_centred, n_threads=effective_threads(None))
    if not np.isfinite(products.gram).all():
        refuse_sums(owner, X, y)
    return products


def _residuals(X: FloatArray, y: FloatArray, weights: FloatArray | None, means: FloatArray, coef: FloatArray) -> Sums:
    gradient, squares = np.empty_like(coef), np.empty(1)
    kernels.residual_gradient(X, y[:, None], weights, means, coef, gradient, squares, effective_threads(None))
    return Sums((gradient, squares))


class _Triangle(NamedTuple):
    """R with R'R = [A, b]'[A, b], of the rows of a part."""

    values: FloatArray

    def merge(self, *others: _Triangle) -> _Triangle:
        return _Triangle(_factor(np.vstack([self.values, *(other.values for other in others)])))


def _triangle(X: FloatArray, y: FloatArray, weights: FloatArray | None, means: FloatArray) -> _Triangle:
    rows = np.column_stack([X, y]).astype(np.float64, copy=False) - means
    return _Triangle(_factor(rows if weights is None else rows * np.sqrt(weights)[:, None]))


def _factor(rows: FloatArray) -> FloatArray:
    triangle: FloatArray = qr(rows, mode="r", overwrite_a=True, check_finite=False)[0][: rows.shape[1]]
    return triangle
