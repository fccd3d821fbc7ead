"""Newton's method without a Hessian: steps by conjugate gradients, for sparse rows (Lin, Weng and Keerthi, JMLR 2008)."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import Descent, dot
from mercer._solvers.linear_loss import Evaluation, LinearLoss, SparseLinearRows
from mercer._trace import Record

ACCURACY = 0.1  # of a step: what may be left of the gradient in its model
MOST_PRODUCTS = 250  # in a step


class ConjugateNewton(Descent):
    """Newton's method whose steps solve their systems by preconditioned conjugate gradients.

    A product with the Hessian is one with X and one with its transpose: a step costs as many passes over the entries as it
    takes products, a few for columns of like scales, as the diagonal of the Hessian is divided out.
    """

    problem: LinearLoss

    def __init__(self, problem: LinearLoss, start: FloatArray, *, tol: float, at: Evaluation | None = None) -> None:
        super().__init__(problem, start, tol=tol, at=at)
        self._rows = cast(SparseLinearRows, problem.rows)
        self._ridge = np.append(problem.l2, problem.l2_of_intercept if problem.has_intercept else 1.0)

    @property
    def residual(self) -> float:
        """The relative gap, which says all: what is left of the gradient is in it."""
        gap = self.relative_gap
        return super().residual if gap is None else gap

    def _measured_gap(self) -> float | None:
        """The problem's, which of the Hessian needs the curvature in the intercept alone."""
        curvatures = self.at.row_curvatures
        assert curvatures is not None
        return self.problem.gap_given(self.at, float(curvatures.sum()))

    def step(self) -> Record:
        return self._advance(self._direction())

    def _direction(self) -> FloatArray:
        curvatures, gradient = self.at.row_curvatures, self.at.gradient
        assert curvatures is not None
        has_intercept = self.problem.has_intercept

        def product(vector: FloatArray) -> FloatArray:
            bent: FloatArray = self._rows.curvature_product(curvatures, vector) + self._ridge * vector
            if not has_intercept:
                bent[-1] = 0.0
            return bent

        return conjugate_direction(product, self._rows.curvature_diagonal(curvatures) + self._ridge, gradient)


def conjugate_direction(
    product: Callable[[FloatArray], FloatArray], diagonal: FloatArray, gradient: FloatArray, accuracy: float = ACCURACY
) -> FloatArray:
    """Nearly minus the inverse Hessian times the gradient, for a Hessian known by its products and its (rough) diagonal."""
    return conjugate_solution(product, diagonal, gradient, accuracy)[0]


def conjugate_solution(
    product: Callable[[FloatArray], FloatArray], diagonal: FloatArray, gradient: FloatArray, accuracy: float = ACCURACY
) -> tuple[FloatArray, int]:
    """The same, and how many products it took.

    By conjugate gradients, until the share `accuracy` of the gradient is left in the model of second order.
    """
    scales = np.where(diagonal > 0, diagonal, 1.0)
    direction, left = np.zeros_like(gradient), -gradient
    scaled = left / scales
    search, size = scaled.copy(), dot(left, scaled)
    enough = accuracy**2 * size
    n_products = 0
    while n_products < MOST_PRODUCTS:
        bent, n_products = product(search), n_products + 1
        curvature = dot(search, bent)
        if not curvature > 0:
            break
        length = size / curvature
        direction += length * search
        left -= length * bent
        scaled = left / scales
        before, size = size, dot(left, scaled)
        if size <= enough:
            break
        search = scaled + size / before * search
    return direction, n_products
