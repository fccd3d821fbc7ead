"""Hessians of linear models that are never formed: the curvatures of the rows, and products with vectors."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.linear_loss import LinearRows

MOST_HESSIAN_COLUMNS = 1000  # beyond, a Hessian costs more than the products with it that a step takes
MOST_FORMED_COLUMNS = 5000  # beyond, it is not formed where those products are too few either: 200 MB


class CurvedProblem(Protocol):
    """What the Hessian asks of a problem: its rows, and sums over them that do not change."""

    has_intercept: bool
    total_weight: float

    @property
    def rows(self) -> LinearRows: ...
    @property
    def column_squares(self) -> FloatArray:
        """The weighted sums of the squares of the columns."""
        ...


def column_squares(rows: LinearRows, weights: FloatArray) -> FloatArray:
    """The weighted sums of the squares of the columns; not finite where X is not, or they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = rows.column_moments(weights)
        squares: FloatArray = deviations + weights.sum() * means**2
    return squares


class RowHessian:
    """(X, 1)' C (X, 1) plus a ridge on all but the intercept, for curvatures C of the rows.

    A product with it is one with X and one with its transpose.
    """

    def __init__(self, problem: CurvedProblem, curvatures: FloatArray, ridge: float) -> None:
        self._problem, self._curvatures, self._ridge = problem, curvatures, ridge
        # As if the curvatures were those of all rows alike, which is near enough to scale by, and needs no pass over X.
        total, squares = float(curvatures.sum()), problem.column_squares
        if problem.rows.n_rows <= problem.rows.n_features:
            # One scale for all columns: directions are then combinations of the rows, as the solution is, and need not be
            # freed of parts that the penalty alone sees.
            squares = np.full_like(squares, squares.mean())
        self.diagonal = np.append(squares * (total / problem.total_weight) + ridge, total)

    def product(self, vector: FloatArray) -> FloatArray:
        return self._bent(self._problem.rows.values(vector) * self._curvatures, vector)

    def _bent(self, slopes: FloatArray, vector: FloatArray) -> FloatArray:
        """X' slopes, and what the ridge adds to them."""
        bent = self._problem.rows.slope_sums(slopes)
        bent[:-1] += self._ridge * vector[: len(bent) - 1]
        if not self._problem.has_intercept:
            bent[-1] = 0.0
        return bent
