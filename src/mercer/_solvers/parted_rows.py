"""Linear values of rows that lie in parts: what `linear_loss.py` asks of X, each question a pass whose results add up."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.merging import Sums
from mercer._parts.passes import Parted, each, total
from mercer._solvers.linear_loss import Codes, DenseLinearRows, Evaluation
from mercer._statistics import ColumnMoments


def make_row_loss(name: str, parameter: float) -> Any:
    return kernels.RowLoss(name, parameter)


copyreg.pickle(kernels.RowLoss, lambda loss: (make_row_loss, (loss.name, loss.parameter)))  # it goes where the parts are


class PartedLinearRows:
    """Dense X in parts, shifted by the means of its columns."""

    def __init__(self, X: Parted, *, is_shifted: bool) -> None:
        assert X.n_columns is not None
        self._X, self.n_features = X, X.n_columns
        self._moments = ColumnMoments.of(X, None, n_threads=effective_threads(None))
        self.n_rows = int(self._moments.weight.max(initial=0))  # of the values present; the sums find what is missing
        self.shift = self._moments.mean if is_shifted else np.zeros(self.n_features)

    def loss(self, loss: Any, y: Any, weights: Any, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        return Evaluation(*total(_loss, self._X, y, weights, self.shift, loss, coef, with_hessian).values)

    def softmax(
        self, codes: Any, weights: Any, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        value, gradient, curvature = total(_softmax, self._X, codes, weights, self.shift, coef, has_reference).values
        return value, gradient, curvature

    def softmax_hessian(self, weights: Any, coef: FloatArray, *, has_reference: bool) -> FloatArray:
        hessian: FloatArray = total(_softmax_hessian, self._X, weights, self.shift, coef, has_reference).values[0]
        return hessian

    def gram(self, weights: Any) -> FloatArray:
        """X' diag(weights) X, the column of ones last."""
        products: FloatArray = total(_gram, self._X, weights, self.shift).values[0]
        return products

    def column_squares(self, weights: Any) -> tuple[FloatArray, FloatArray]:
        """The weighted means of the shifted columns, and the sums of their squared deviations from them."""
        moments = self._moments if weights is None else ColumnMoments.of(self._X, weights, n_threads=effective_threads(None))
        return moments.mean - self.shift, moments.deviation

    def all_values(self, function: Any, *others: Any) -> bool:
        """Whether a function of the linear values of a part, and of other arrays in parts, is true of each."""
        return all(each(_of_values, self._X, self.shift, function, *others))

    def sum_values(self, function: Any, *others: Any) -> Sums:
        """A function of the linear values of a part, and of other arrays in parts, summed."""
        return total(_summed_values, self._X, self.shift, function, *others)


def _rows(X: FloatArray, shift: FloatArray) -> DenseLinearRows:
    rows = DenseLinearRows(X, is_shifted=False, n_threads=effective_threads(None))
    rows.shift = shift
    return rows


def _loss(
    X: FloatArray, y: FloatArray, weights: Any, shift: FloatArray, loss: Any, coef: FloatArray, with_hessian: bool
) -> Sums:
    at = _rows(X, shift).loss(loss, y, weights, coef, with_hessian=with_hessian)
    return Sums((at.value, at.gradient, at.hessian, at.curvature))


def _softmax(X: FloatArray, codes: Codes, weights: Any, shift: FloatArray, coef: FloatArray, has_reference: bool) -> Sums:
    return Sums(_rows(X, shift).softmax(codes, weights, coef, has_reference=has_reference))


def _softmax_hessian(X: FloatArray, weights: Any, shift: FloatArray, coef: FloatArray, has_reference: bool) -> Sums:
    from mercer._solvers.softmax import loss_hessian

    return Sums((loss_hessian(_rows(X, shift), weights, coef, has_reference=has_reference),))


def _gram(X: FloatArray, weights: Any, shift: FloatArray) -> Sums:
    ones = np.ones(len(X)) if weights is None else weights
    return Sums((_rows(X, shift).weighted_sums(np.zeros(len(X)), ones)[1],))


def _of_values(X: FloatArray, shift: FloatArray, function: Any, coef: FloatArray, *others: Any) -> bool:
    return bool(function(_rows(X, shift).output_values(coef), *others))


def _summed_values(X: FloatArray, shift: FloatArray, function: Any, coef: FloatArray, *others: Any) -> Sums:
    sums: Sums = function(_rows(X, shift).output_values(coef), *others)
    return sums
