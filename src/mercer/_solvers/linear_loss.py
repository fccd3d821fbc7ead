"""A smooth convex loss of linear values with an l2 penalty: its value, gradient, Hessian and duality gap.

The objective of the coefficients w and the intercept b is

    F(w, b) = sum_i s_i loss(y_i, x_i' w + b) + sum_j l_j w_j^2 / 2,

for the weights s of the rows and the strengths l of the penalty; the intercept is free unless told otherwise. Rows alone know
whether X is dense or sparse (`_matrix.py`). Inside, coefficients are those of X minus a fixed shift, so that the Hessian is
well conditioned where columns are far from zero: only the intercept differs, and `to_user` gives the one of X itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._matrix import DenseMatrix, Matrix, SparseMatrix
from mercer._native import kernels
from mercer._parts.passes import is_parted

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Evaluation:
    """A loss or an objective at one point; gradient and Hessian of an objective contain the penalty."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None
    curvature: FloatArray | None = None  # the Hessian in the intercepts alone, a line an output; None where nobody asks for it
    row_curvatures: FloatArray | None = None  # of the loss of each row, where sparse rows leave the Hessian unformed


class LinearRows(Matrix, Protocol):
    """What the problem asks of X: its products, and the sums of losses of its linear values."""

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        """Value, gradient and, if wanted, Hessian of the summed loss; the curvature is that in the intercept."""
        ...

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        """Value and gradient of the summed cross-entropy of softmax, and its Hessian in the intercepts; one line an output."""
        ...


class DenseLinearRows(DenseMatrix):
    """Dense X: losses are summed in the pass that makes the values."""

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        gradient = np.empty(len(coef))
        hessian = np.empty((len(coef), len(coef))) if with_hessian else None
        value, curvature = kernels.linear_loss(self._X, self.shift, y, weights, loss, coef, gradient, hessian, self._n_threads)
        return Evaluation(value, gradient, hessian, np.array([[curvature]]))

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        gradient, curvature = np.empty(coef.shape), np.empty((len(coef), len(coef)))
        value = kernels.softmax_loss(
            self._X, self.shift, codes, weights, has_reference, coef, gradient, curvature, self._n_threads
        )
        return value, gradient, curvature


class SparseLinearRows(SparseMatrix):
    """Sparse X: values, their losses, and sums over the rows, one after another."""

    _n_threads: int

    def __init__(self, X: Any, *, n_threads: int) -> None:
        super().__init__(X, n_threads=n_threads)

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        slopes, curvatures = np.empty(self.n_rows), np.empty(self.n_rows)
        value = kernels.loss_of_values(loss, y, weights, self.values(coef), slopes, curvatures, self._n_threads)
        gradient, hessian = self.weighted_sums(slopes, curvatures) if with_hessian else (self.slope_sums(slopes), None)
        return Evaluation(value, gradient, hessian, np.array([[curvatures.sum()]]), curvatures)

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        raw = self.output_values(coef)
        slopes, curvature = np.empty_like(raw), np.empty((len(coef), len(coef)))
        value = kernels.softmax_of_values(codes, weights, has_reference, raw, slopes, curvature, self._n_threads)
        return value, self.output_sums(slopes), curvature


def make_linear_rows(X: Any, *, is_shifted: bool, n_threads: int) -> LinearRows:
    """Dense rows are shifted if there is an intercept to take the shift up."""
    if is_parted(X):
        from mercer._solvers.parted_rows import PartedLinearRows

        return PartedLinearRows(X, is_shifted=is_shifted)  # type: ignore[return-value]  # for solvers that form no vector of rows
    if sp.issparse(X):
        return SparseLinearRows(X, n_threads=n_threads)
    return DenseLinearRows(X, is_shifted=is_shifted, n_threads=n_threads)


class LinearLoss:
    """The objective F as a function of the d + 1 coefficients, the intercept last; without one its entries are zero."""

    def __init__(
        self,
        rows: LinearRows,
        y: FloatArray,
        weights: FloatArray | None,
        loss: Any,
        l2: float | FloatArray,
        *,
        has_intercept: bool,
        l2_of_intercept: float = 0.0,  # needs rows without a shift
    ) -> None:
        self.rows, self.y, self.weights, self.loss, self.has_intercept = rows, y, weights, loss, has_intercept
        self.l2_of_intercept = l2_of_intercept
        self.l2 = np.broadcast_to(np.asarray(l2, dtype=np.float64), (rows.n_features,))
        self.total_weight = float(rows.n_rows if weights is None else weights.sum())

    def start(self, coef: FloatArray | None = None, intercept: float = 0.0) -> FloatArray:
        """The point that a user's coefficients stand for; zero without any."""
        if coef is None:
            return np.zeros(self.rows.n_features + 1)
        return np.append(coef, intercept + self.rows.shift @ coef)

    def to_user(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Coefficients and intercept for X as it is."""
        coef = point[:-1]
        return coef, float(point[-1] - self.rows.shift @ coef)

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        at = self.rows.loss(self.loss, self.y, self.weights, point, with_hessian=with_hessian)
        penalised = self._penalised(point, at.value, at.gradient, at.hessian)
        return replace(penalised, row_curvatures=at.row_curvatures)

    def _penalised(self, point: FloatArray, value: float, gradient: FloatArray, hessian: FloatArray | None) -> Evaluation:
        coef = point[:-1]
        gradient[:-1] += self.l2 * coef
        gradient[-1] += self.l2_of_intercept * point[-1]
        if not self.has_intercept:
            gradient[-1] = 0
        if hessian is not None:
            np.einsum("jj->j", hessian)[:-1] += self.l2  # a view of the diagonal
            hessian[-1, -1] += self.l2_of_intercept
            if not self.has_intercept:
                hessian[-1], hessian[:, -1], hessian[-1, -1] = 0, 0, 1
        penalty = float(self.l2 @ coef**2) / 2
        if self.l2_of_intercept > 0:
            penalty += self.l2_of_intercept * float(point[-1]) * float(point[-1]) / 2
        return Evaluation(value + penalty, gradient, hessian)

    def gap(self, at: Evaluation) -> float | None:
        """An upper bound of F minus its minimum, or None where some coefficient is not penalised or no curvature was taken."""
        if at.hessian is not None:
            return self.gap_given(at, float(at.hessian[-1, -1]))
        return None if at.curvature is None else self.gap_given(at, float(at.curvature[0, 0]))

    def gap_given(self, at: Evaluation, curvature: float) -> float | None:
        """The same for a known curvature in the intercept.

        Where the intercept is optimal, the slopes of the loss are feasible for the dual problem, and the duality gap is
        sum_j g_j^2 / (2 l_j) for the gradient g. What is left of the intercept's own gradient adds g_b^2 / h_b, twice what
        Newton's step in the intercept alone would gain; it vanishes with the square of an already small number.
        """
        if not (self.l2 > 0).all():
            return None
        curvature = 2 * self.l2_of_intercept or curvature
        with np.errstate(over="ignore"):  # an infinite bound is one
            of_intercept = at.gradient[-1] ** 2 / max(curvature, np.finfo(np.float64).tiny)
            return float((at.gradient[:-1] ** 2 / self.l2).sum()) / 2 + float(of_intercept)
