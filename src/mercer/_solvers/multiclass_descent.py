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
from mercer._solvers.dual_descent import make_examples, squared_norms
from mercer._solvers.linear_loss import Codes
from mercer._solvers.pieces import LEAST_TOL, ROUNDING, Gap
from mercer._trace import Record

FIRST_PRECISION = 0.5  # of the margin: the violation at which the gap is looked at for the first time
LAST_PRECISION = 1e-14
LONGEST_WAIT = 100  # epochs between two looks at the gap
PATIENCE = 0.5  # of the last epoch's largest violation: a row that is optimal by more is left out for now
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


class MulticlassDescent:
    """A solver: done when the duality gap is within `tol` of the objective.

    `prior` is the inverse strength of the penalty on the intercepts: 0 for none at all, None for free ones. `coef` (a line a
    column of X, then the intercepts) and `gap` are the best point at which the gap was looked at.
    """

    method = "dual coordinate descent"

    def __init__(
        self, X: Any, codes: Codes, n_classes: int, costs: FloatArray, *, prior: float | None, tol: float, seed: int
    ) -> None:
        self._X: Any = X if sp.issparse(X) else np.ascontiguousarray(X)
        self._n, d = X.shape
        self._codes, self._costs = np.ascontiguousarray(codes, dtype=np.int32), costs
        self._is_free, self._tol, self._seed = prior is None, max(tol, LEAST_TOL), seed
        norms = squared_norms(X)
        if not np.isfinite(norms).all():
            raise FloatingPointError("the squares of X overflow")
        self._prior = float(norms.mean()) or 1.0 if prior is None else prior
        self._examples = make_examples(self._X)
        self._terms = (self._codes, costs, norms, self._prior)
        self._duals, self._coef = np.zeros((self._n, n_classes)), np.zeros((d + 1, -(-n_classes // TOGETHER) * TOGETHER))
        self._intercept = self._coef[-1, :n_classes]  # a view
        self._active, self._n_active, self._patience = np.arange(self._n, dtype=np.int32), self._n, np.inf
        self._precision, self._epoch, self._n_waited = FIRST_PRECISION, 0, 0
        self._size = float(costs.sum())
        self.coef, self.gap, self.is_stuck = self._coef[:, :n_classes].copy(), Gap(self._size, 0.0), False

    @property
    def relative_gap(self) -> float:
        return self.gap.width / max(abs(self.gap.primal), ROUNDING * self._size / self._tol, np.finfo(float).tiny)

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        summary = np.empty(2)
        place = (self._patience, self._seed, self._epoch, self._n_active, self._active)
        kernels.multiclass_epoch(self._examples, *self._terms, *place, self._duals, self._coef, summary)
        self._epoch += 1
        n_active, violation = int(summary[0]), float(summary[1])
        if self._is_free:
            moves = self._prior * self._duals.sum(axis=0)
            self._intercept += moves
            violation = max(violation, float(np.abs(moves).max()))
        self._schedule(n_active, violation)
        return {"objective": self.gap.primal, "gap": self.gap.width, "violation": violation, "n_active": float(n_active)}

    def _schedule(self, n_active: int, violation: float) -> None:
        """Bring shrunken rows back once the others are done, look at the gap once all are, and then ask for more."""
        self._n_waited += 1
        is_reached, is_whole = violation <= self._precision, self._n_active == self._n
        self._n_active, self._patience = n_active, PATIENCE * violation if violation > 0 else np.inf
        if (is_reached and is_whole) or self._n_waited >= LONGEST_WAIT:
            self.look()
        if is_reached and is_whole:
            self._precision *= 0.3
            self.is_stuck = self._precision < LAST_PRECISION
        elif is_reached or n_active == 0:  # they shrink again in the very epoch that looks at all of them
            self._n_active = self._n

    def look(self) -> None:
        """Compute both objectives at a feasible pair, and keep it if it is the best."""
        self._n_waited = 0
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
