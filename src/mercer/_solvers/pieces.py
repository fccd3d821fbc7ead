"""Linear models whose loss is piecewise linear: the problem, its values and its duality gap. Knows no solver.

Minimises, over coefficients c (the intercept last), with z = Xc the linear values,

    sum_k up_k max(t_k - z_k, 0) + low_k max(z_k - t_k, 0)  +  sum_j quadratic_j c_j^2 / 2 + absolute_j |c_j|

Hinge, epsilon-insensitive and pinball loss are all of this form: one piece a row, or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import dot
from mercer._solvers.linear_loss import LinearRows

LEAST_TOL = 1e-12  # a relative gap below this is rounding
ROUNDING = 1e-13  # of the loss of values that are all zero: a gap below this is rounding too
TINY = float(np.finfo(np.float64).tiny)


class Gap(NamedTuple):
    """Both values at a pair of points, the dual one feasible."""

    primal: float
    dual: float

    @property
    def width(self) -> float:
        return max(self.primal - self.dual, 0.0)


@dataclass
class PiecewiseProblem:
    """Rows, pieces (rows target, low, up; a whole number of pieces a row of X) and penalties by coefficient."""

    rows: LinearRows
    pieces: FloatArray
    quadratic: FloatArray
    absolute: FloatArray
    has_intercept: bool
    n_threads: int

    def __post_init__(self) -> None:
        self.reach = np.zeros(self.rows.n_features + self.has_intercept)  # how large coefficients may be; see `gap`
        self.n_coef = self.rows.n_features + self.has_intercept  # coefficients in play; the others stay zero
        self.size = dot(self.pieces[1] + self.pieces[2], np.abs(self.pieces[0]))  # rounding is measured against it
        k = self.n_coef
        self.is_bound = (self.quadratic[:k] == 0) & (self.absolute[:k] > 0)
        self.is_free = (self.quadratic[:k] == 0) & (self.absolute[:k] == 0)
        self._curved = np.flatnonzero(self.quadratic[:k] > 0)
        self._bound, self._free = np.flatnonzero(self.is_bound), np.flatnonzero(self.is_free)
        self._ends: dict[int, tuple[float, FloatArray]] = {}

    def by_row(self, of_pieces: FloatArray) -> FloatArray:
        """The sum over the pieces of each row."""
        return np.ascontiguousarray(of_pieces.reshape(-1, self.rows.n_rows).sum(axis=0))

    def totals(self, duals: FloatArray, values: FloatArray) -> FloatArray:
        """Loss, and the sums of t a, a, up - a and a + low."""
        totals = np.empty(5)
        kernels.interior_totals(self.pieces, duals, values, totals, self.n_threads)
        return totals

    def penalty(self, coef: FloatArray) -> float:
        return float(self.quadratic @ coef**2 / 2 + self.absolute @ np.abs(coef))

    def spread(self, values: FloatArray | None = None) -> float:
        """The mean distance of the targets from values (or from their mean), by weight."""
        target, low, up = self.pieces
        weights = low + up
        centre = dot(weights, target) / weights.sum() if values is None else np.tile(values, len(target) // len(values))
        return dot(weights, np.abs(target - centre)) / float(weights.sum())

    def relative(self, gap: Gap, tol: float) -> float:
        """The gap relative to the objective, or to the tolerance's share of what is rounding."""
        return gap.width / max(abs(gap.primal), ROUNDING * self.size / tol, TINY)

    def gap(self, coef: FloatArray, duals: FloatArray, values: FloatArray, sums: FloatArray) -> Gap:
        """Primal and dual value, where `sums` is X'a: what of the dual is infeasible is repaired by moving into its box.

        For an intercept without penalty the duals must add up to zero: they move towards one end of their box. Coefficients
        with an absolute penalty only bound |X'a|: the duals shrink. Free coefficients need X'a = 0, which shrinking cannot
        give: what is left of it is charged for coefficients up to `reach` beyond the present ones.
        """
        loss, product, total, to_up, to_low = self.totals(duals, values)
        k = self.n_coef
        sums = sums[:k]
        if self.has_intercept and self.is_free[-1] and total != 0:
            end, room = (1, to_low) if total > 0 else (2, to_up)
            share = min(abs(total) / room, 1.0)
            product_at_end, sums_at_end = self._at_end(end)
            product = (1 - share) * product + share * product_at_end
            sums = (1 - share) * sums + share * sums_at_end
            sums[-1] = 0.0
        shrink = 1.0
        if len(self._bound):
            excess = np.abs(sums[self._bound]) / self.absolute[self._bound]
            shrink = 1 / max(1.0, float(excess.max()))
            sums = shrink * sums
        curved, free = self._curved, self._free
        beyond = np.maximum(np.abs(sums[curved]) - self.absolute[curved], 0)
        conjugate = float((beyond**2 / (2 * self.quadratic[curved])).sum())
        left = float(np.abs(sums[free]) @ (np.abs(coef[free]) + self.reach[free]))
        return Gap(loss + self.penalty(coef), shrink * product - conjugate - left)

    def _at_end(self, end: int) -> tuple[float, FloatArray]:
        """t'a and X'a at the low end (1) or at the up end (2) of the box."""
        if end not in self._ends:
            duals = -self.pieces[1] if end == 1 else self.pieces[2]
            self._ends[end] = dot(self.pieces[0], duals), self.rows.slope_sums(self.by_row(duals))[: self.n_coef]
        return self._ends[end]

    def certify(self, coef: FloatArray, duals: FloatArray) -> Gap:
        """The gap at these very points, everything computed anew."""
        return self.gap(coef, duals, self.rows.values(coef), self.rows.slope_sums(self.by_row(duals)))
