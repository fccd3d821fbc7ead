"""A smooth convex loss of linear values with an l2 penalty: its value, gradient, Hessian and duality gap.

The objective of the coefficients w and the intercept b is

    F(w, b) = sum_i s_i loss(y_i, x_i' w + b) + sum_j l_j w_j^2 / 2,

for the weights s of the rows and the strengths l of the penalty; the intercept is free unless told otherwise. Rows alone know
whether X is dense or sparse. Inside, coefficients are those of X minus a fixed shift, so that the Hessian is well conditioned
where columns are far from zero: only the intercept differs, and `to_user` gives the one of X itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._solvers.sparse_vectors import SparseVectors

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Evaluation:
    """A loss or an objective at one point; gradient and Hessian of an objective contain the penalty."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None
    curvature: FloatArray | None = None  # the Hessian in the intercepts alone, a line an output; None where nobody asks for it
    row_curvatures: FloatArray | None = None  # of the loss of each row, where sparse rows leave the Hessian unformed


class LinearRows(Protocol):
    """What the problem asks of X: sums over its rows (x - shift, 1), the intercept last."""

    n_rows: int
    n_features: int
    shift: FloatArray

    def values(self, coef: FloatArray) -> FloatArray:
        """The linear values of the rows, in double precision."""
        ...

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        """Value, gradient and, if wanted, Hessian of the summed loss; the curvature is that in the intercept."""
        ...

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        """X' slopes and X' diag(curvatures) X, for slopes and curvatures of the rows themselves."""
        ...

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        """Value and gradient of the summed cross-entropy of softmax, and its Hessian in the intercepts; one line an output."""
        ...

    def output_values(self, coef: FloatArray) -> FloatArray:
        """The linear values of the rows for several outputs, of shape (n_rows, n_outputs)."""
        ...

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted means of the (shifted) columns, and the weighted sums of their squared deviations from them."""
        ...

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        """X' slopes alone."""
        ...

    def pick(self, index: Any) -> FloatArray:
        """Some rows as a dense matrix in double precision."""
        ...


class DenseLinearRows:
    """Dense X of any memory order and float type, read in place. The shift is about the means of the columns."""

    def __init__(self, X: FloatArray, *, is_shifted: bool, n_threads: int) -> None:
        self._X, self._n_threads = X, n_threads
        self.n_rows, self.n_features = X.shape
        some = X[:: max(1, self.n_rows // 1024)]  # near enough to the means to shift by
        self.shift = some.mean(axis=0, dtype=np.float64) if is_shifted else np.zeros(self.n_features)

    def values(self, coef: FloatArray) -> FloatArray:
        raw = np.empty(self.n_rows)
        kernels.linear_values(self._X, self.shift, coef, raw, self._n_threads)
        return raw

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        gradient = np.empty(len(coef))
        hessian = np.empty((len(coef), len(coef))) if with_hessian else None
        value, curvature = kernels.linear_loss(self._X, self.shift, y, weights, loss, coef, gradient, hessian, self._n_threads)
        return Evaluation(value, gradient, hessian, np.array([[curvature]]))

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = np.empty(self.n_features + 1), np.empty((self.n_features + 1, self.n_features + 1))
        kernels.weighted_sums(self._X, self.shift, slopes, curvatures, gradient, hessian, self._n_threads)
        return gradient, hessian

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        gradient, curvature = np.empty(coef.shape), np.empty((len(coef), len(coef)))
        value = kernels.softmax_loss(
            self._X, self.shift, codes, weights, has_reference, coef, gradient, curvature, self._n_threads
        )
        return value, gradient, curvature

    def output_values(self, coef: FloatArray) -> FloatArray:
        return np.column_stack([self.values(np.ascontiguousarray(line)) for line in coef])

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight, mean, deviation = (np.empty(self.n_features) for _ in range(3))
        kernels.column_moments(self._X, weights.astype(self._X.dtype, copy=False), weight, mean, deviation, self._n_threads)
        return mean - self.shift, deviation

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        sums = np.empty(self.n_features + 1)
        kernels.slope_sums(self._X, self.shift, slopes, sums, self._n_threads)
        return sums

    def pick(self, index: Any) -> FloatArray:
        picked = self._X[index] - self.shift
        return np.column_stack([picked, np.ones(len(picked))])


def sparse_products(rows: Any, weights: FloatArray | None = None, *, n_threads: int) -> FloatArray:
    """X' diag(weights) X for sparse rows (CSR, float64)."""
    products = np.empty((rows.shape[1], rows.shape[1]))
    kernels.sparse_products(rows.data, rows.indices, rows.indptr, weights, products, n_threads)
    return products


class SparseLinearRows:
    """Sparse X: never centred and never made dense; only its Hessian is a dense matrix, where one is asked for."""

    def __init__(self, X: Any, *, n_threads: int) -> None:
        self._X = X.tocsr().astype(np.float64, copy=False)
        self._vectors = SparseVectors(self._X)
        self._n_threads = n_threads
        self.n_rows, self.n_features = X.shape
        self.shift = np.zeros(self.n_features)

    def values(self, coef: FloatArray) -> FloatArray:
        return self._vectors.values(coef[:-1], float(coef[-1]))

    def loss(self, loss: Any, y: FloatArray, weights: FloatArray | None, coef: FloatArray, *, with_hessian: bool) -> Evaluation:
        slopes, curvatures = np.empty(self.n_rows), np.empty(self.n_rows)
        value = kernels.loss_of_values(loss, y, weights, self.values(coef), slopes, curvatures, self._n_threads)
        gradient, hessian = self.weighted_sums(slopes, curvatures) if with_hessian else (self.slope_sums(slopes), None)
        return Evaluation(value, gradient, hessian, np.array([[curvatures.sum()]]), curvatures)

    @lazy_property
    def _transposed(self) -> Any:
        return self._X.T  # by columns: its products add up in the order of the rows, as those of single vectors do

    def curvature_diagonal(self, curvatures: FloatArray) -> FloatArray:
        """The diagonal of X' diag(curvatures) X."""
        return np.append(self._vectors.moments(curvatures)[1], curvatures.sum())

    def curvature_product(self, curvatures: FloatArray, vector: FloatArray) -> FloatArray:
        """X' diag(curvatures) X times a vector, in one pass over the rows that have a curvature."""
        return self._vectors.curvature_product(curvatures, vector)

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.n_features
        hessian = np.empty((d + 1, d + 1))
        hessian[:d, :d] = sparse_products(self._X, curvatures, n_threads=self._n_threads)
        hessian[d, :d] = hessian[:d, d] = self._vectors.sums(curvatures)
        hessian[d, d] = curvatures.sum()
        return self.slope_sums(slopes), hessian

    def softmax(
        self, codes: Codes, weights: FloatArray | None, coef: FloatArray, *, has_reference: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        raw = self.output_values(coef)
        slopes, curvature = np.empty_like(raw), np.empty((len(coef), len(coef)))
        value = kernels.softmax_of_values(codes, weights, has_reference, raw, slopes, curvature, self._n_threads)
        return value, np.column_stack([(self._transposed @ slopes).T, slopes.sum(axis=0)]), curvature

    def output_values(self, coef: FloatArray) -> FloatArray:
        raw: FloatArray = np.ascontiguousarray(self._X @ coef[:, :-1].T + coef[:, -1])
        return raw

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = weights.sum()
        sums, squares = self._vectors.moments(weights)
        return sums / total, np.maximum(squares - sums**2 / total, 0)

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        return np.append(self._vectors.sums(slopes), slopes.sum())

    def pick(self, index: Any) -> FloatArray:
        picked = self._X[index].toarray()
        return np.column_stack([picked, np.ones(len(picked))])


def make_linear_rows(X: Any, *, is_shifted: bool, n_threads: int) -> LinearRows:
    """Dense rows are shifted if there is an intercept to take the shift up."""
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
