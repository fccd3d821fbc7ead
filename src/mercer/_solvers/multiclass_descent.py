"""Dual coordinate descent for the multi-class machine of Crammer and Singer.

It minimises |W|^2 / 2 + sum_i cost_i max_k (v_ik - v_iy + [k != y]) over the coefficients W of the classes, for the values
v_i = W x_i + b and the class y of row i. An epoch visits every row that is not known to be optimal once and solves for all
its dual variables. Intercepts either have a penalty, and then they are one more column, or they are free: the method of
multipliers then finds them, epoch by epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.dual_epochs import DualEpochs
from mercer._solvers.linear_loss import Codes
from mercer._solvers.pieces import Gap

MOST_BALANCINGS = 1000
TOGETHER = 8  # classes: the kernel wants lines of coefficients padded to multiples of this


def without_sums(duals: FloatArray, codes: Codes) -> FloatArray:
    """Duals whose sum is zero for each class, those of a pair of classes times a number of at most one.

    A row of class c with a dual of -f for class k is a flow f from c to k, and the sums are zero where as much flows into
    every class as out of it. Flows on no cycle cannot be kept; the others are balanced by a number for each class.
    """
    n_classes = duals.shape[1]
    of_class = sp.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes)))
    flows = np.maximum(-(of_class @ duals), 0.0)
    np.fill_diagonal(flows, 0.0)
    _, part = connected_components(flows > 0, directed=True, connection="strong")
    flows[part[:, None] != part] = 0.0
    scales = _balance(flows)
    share = np.where(flows > 0, scales[:, None] / scales, 0.0)
    share /= share.max(initial=np.finfo(np.float64).tiny)
    kept = duals * share[codes]
    rows = np.arange(len(codes))
    kept[rows, codes] = 0.0
    kept[rows, codes] = -kept.sum(axis=1)
    return kept


def _balance(flows: FloatArray) -> FloatArray:
    """Numbers d for which flows d_c / d_k have equal sums into and out of each class (Osborne's iteration)."""
    scales = np.ones(len(flows))
    for _ in range(MOST_BALANCINGS):
        largest = 0.0
        for c in range(len(flows)):
            out, into = scales[c] * float((flows[c] / scales).sum()), float(flows[:, c] @ scales) / scales[c]
            if out > 0 and into > 0:
                move = np.sqrt(into / out)
                scales[c] *= move
                largest = max(largest, abs(move - 1))
        if largest <= np.finfo(np.float64).eps:
            break
    return scales


class MulticlassDescent(DualEpochs):
    """The method for the multi-class hinge; `coef` has a line a column of X, then the intercepts."""

    first_precision = 0.5

    def __init__(
        self, X: Any, codes: Codes, n_classes: int, costs: FloatArray, *, prior: float | None, tol: float, seed: int
    ) -> None:
        super().__init__(X, prior=prior, tol=tol, seed=seed, scale=1.0, size=float(costs.sum()))
        self._codes, self._costs = np.ascontiguousarray(codes, dtype=np.int32), costs
        n_padded = -(-n_classes // TOGETHER) * TOGETHER
        self._duals, self._coef = np.zeros((self._n, n_classes)), np.zeros((X.shape[1] + 1, n_padded))
        self._intercept = self._coef[-1, :n_classes]  # a view
        self.coef, self.gap = self._coef[:, :n_classes].copy(), Gap(float(costs.sum()), 0.0)

    def _run_epoch(self, summary: FloatArray) -> None:
        terms = (self._codes, self._costs, self._norms, self._prior)
        place = (self._patience, self._seed, self._epoch, self._n_active, self._active)
        kernels.multiclass_epoch(self._rows, *terms, *place, self._duals, self._coef, summary)

    def _move_intercepts(self) -> float:
        moves = self._prior * self._duals.sum(axis=0)
        self._intercept += moves
        return float(np.abs(moves).max())

    def look(self) -> None:
        duals = without_sums(self._duals, self._codes) if self._is_free else self._duals
        intercept = self._intercept if self._is_free else self._prior * duals.sum(axis=0)
        coef = np.vstack([self._X.T @ duals, intercept])
        values, rows = self._X @ coef[:-1] + intercept, np.arange(self._n)
        own = values[rows, self._codes].copy()
        values += 1.0
        values[rows, self._codes] = own
        penalty = float(np.einsum("jk,jk->", coef[:-1], coef[:-1])) / 2
        if not self._is_free and self._prior > 0:
            penalty += float(intercept @ intercept) / (2 * self._prior)
        loss = float(self._costs @ (values.max(axis=1) - own))
        gap = Gap(loss + penalty, float(duals[rows, self._codes].sum()) - penalty)
        if gap.width < self.gap.width:
            self.coef, self.gap = coef, gap
