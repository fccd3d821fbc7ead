"""Dual coordinate descent for l2-penalised linear models with hinge-like losses: for sparse rows, and for many columns.

An epoch visits every row that is not known to be optimal once and costs as much as one product with X. The intercept either has
a penalty, and then it is one more coefficient, or it is free: the method of multipliers then finds it, epoch by epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import dot
from mercer._solvers.pieces import LEAST_TOL, ROUNDING, Gap
from mercer._trace import Record

FIRST_PRECISION = 0.1  # of the targets: the violation at which the gap is looked at for the first time
LAST_PRECISION = 1e-14
LONGEST_WAIT = 100  # epochs between two looks at the gap
PATIENCE = 0.5  # of the last epoch's largest violation: a row that is optimal by more is left out for now


@dataclass(frozen=True)
class DualTerms:
    """Losses of rows whose dual variables lie in [-low, up] and cost curvature a^2 / 2 + epsilon |a| - target a.

    With curvature zero the loss is up max(t - z - epsilon, 0) + low max(z - t - epsilon, 0); where an end is infinite, it is
    the square of that maximum over twice the curvature.
    """

    target: FloatArray
    low: FloatArray
    up: FloatArray
    curvature: FloatArray
    epsilon: float

    def excess(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far values are below and above where they cost nothing; zero on a side that costs nothing."""
        gap = self.target - values
        under = np.where(self.up > 0, np.maximum(gap - self.epsilon, 0), 0.0)
        over = np.where(self.low > 0, np.maximum(-gap - self.epsilon, 0), 0.0)
        return under, over

    def loss(self, values: FloatArray) -> float:
        under, over = self.excess(values)
        return _cost(under, self.up, self.curvature) + _cost(over, self.low, self.curvature)

    def size(self) -> float:
        """The loss of values that are all zero if no residual were forgiven: rounding is measured against it."""
        return replace(self, epsilon=0.0).loss(np.zeros_like(self.target))

    def value(self, duals: FloatArray) -> float:
        """The dual objective, but for the penalties."""
        return dot(duals, self.target - self.curvature * duals / 2) - self.epsilon * float(np.abs(duals).sum())

    def best_intercept(self, values: FloatArray, start: float) -> float:
        """The number that, added to the values, makes the loss least."""
        present = (self.low + self.up) > 0
        if np.isinf(self.low + self.up).any():
            return self._root(values, start)
        kinks = np.concatenate([(self.target - values - self.epsilon)[present], (self.target - values + self.epsilon)[present]])
        jumps = np.concatenate([self.up[present], self.low[present]])
        order = np.argsort(kinks, kind="stable")
        slopes = np.cumsum(jumps[order]) - self.up[present].sum()
        return float(kinks[order][min(int(np.searchsorted(slopes, 0.0)), len(order) - 1)])

    def _root(self, values: FloatArray, start: float) -> float:
        """By Newton's method: the loss is quadratic between its kinks."""
        intercept, rates = start, 1 / np.where(self.curvature > 0, self.curvature, np.inf)
        for _ in range(50):
            under, over = self.excess(values + intercept)
            slope, curvature = dot(rates, over - under), dot(rates, (under > 0) | (over > 0))
            if curvature == 0 or abs(slope) <= 1e-15 * dot(rates, over + under):
                break
            intercept -= slope / curvature
        return intercept


def _cost(excess: FloatArray, bound: FloatArray, curvature: FloatArray) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        of_rows = np.where(np.isinf(bound), excess**2 / (2 * curvature), bound * excess)
    return float(of_rows[excess > 0].sum())


def without_sum(duals: FloatArray) -> FloatArray:
    """Duals that add up to zero: those of the heavier sign shrink, which no bound forbids."""
    up, down = float(duals[duals > 0].sum()), -float(duals[duals < 0].sum())
    if up == down:
        return duals
    heavier, share = (duals > 0, down / up) if up > down else (duals < 0, up / down)
    return np.where(heavier, share * duals, duals)


def make_examples(X: Any) -> Any:
    """The rows of X for the kernels: CSR, or dense and contiguous."""
    if sp.issparse(X):
        return kernels.SparseExamples(X.data, X.indices, X.indptr, X.shape[1])
    return kernels.DenseExamples(X)


def squared_norms(X: Any) -> FloatArray:
    """The squared norms of the rows of X, dense or by rows; of its columns where it is given by these."""
    if not sp.issparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    starts = np.flatnonzero(np.diff(X.indptr))  # the sums of no entries at all are zero, which `reduceat` does not know
    norms = np.zeros(len(X.indptr) - 1)
    with np.errstate(over="ignore"):
        norms[starts] = np.add.reduceat(X.data[: X.indptr[-1]] ** 2, X.indptr[starts]) if len(starts) else 0.0
    return norms


class DualDescent:
    """A solver: done when the duality gap is within `tol` of the objective.

    `prior` is the inverse strength of the penalty on the intercept: 0 for no intercept, None for a free one. `coef` (the
    intercept last), `duals` and `gap` are the best point at which the gap was looked at.
    """

    def __init__(self, X: Any, terms: DualTerms, *, prior: float | None, tol: float, seed: int) -> None:
        self.terms, self._is_free, self._tol, self._seed = terms, prior is None, max(tol, LEAST_TOL), seed
        self._X: Any = X if sp.issparse(X) else np.ascontiguousarray(X)
        self._examples = make_examples(self._X)
        self._n, d = X.shape
        norms = squared_norms(X)
        if not np.isfinite(norms).all():
            raise FloatingPointError("the squares of X overflow")
        self._prior = float(norms.mean()) or 1.0 if prior is None else prior
        self._fields = np.stack([terms.target, terms.low, terms.up, terms.curvature, norms])
        self._duals, self._coef = np.zeros(self._n), np.zeros(d + 1)
        if self._is_free:
            self._coef[-1] = terms.best_intercept(np.zeros(self._n), 0.0)
        self._active, self._n_active, self._patience = np.arange(self._n, dtype=np.int32), self._n, np.inf
        self._scale = float(np.abs(terms.target).max(initial=0.0)) or 1.0
        self._precision, self._epoch, self._n_waited = FIRST_PRECISION * self._scale, 0, 0
        self._size, at_zero = terms.size(), terms.loss(np.zeros(self._n))
        self.coef, self.duals, self.gap, self.is_stuck = (
            self._coef.copy(),
            self._duals.copy(),
            Gap(at_zero, 0.0),
            False,
        )

    @property
    def relative_gap(self) -> float:
        return self.gap.width / max(abs(self.gap.primal), ROUNDING * self._size / self._tol, np.finfo(float).tiny)

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        summary = np.empty(2)
        args = (self._fields, self.terms.epsilon, self._prior, self._patience, self._seed, self._epoch, self._n_active)
        kernels.dual_epoch(self._examples, *args, self._active, self._duals, self._coef, summary)
        self._epoch += 1
        n_active, violation = int(summary[0]), float(summary[1])
        if self._is_free:
            move = self._prior * float(self._duals.sum())
            self._coef[-1] += move
            violation = max(violation, abs(move))
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
            self._precision *= 0.2
            self.is_stuck = self._precision < LAST_PRECISION * self._scale
        elif is_reached or n_active == 0:  # they shrink again in the very epoch that looks at all of them
            self._n_active = self._n

    def look(self) -> None:
        """Compute both objectives at a feasible pair, and keep it if it is the best."""
        self._n_waited = 0
        duals = without_sum(self._duals) if self._is_free else self._duals
        coef = np.append(self._X.T @ duals, self._coef[-1] if self._is_free else self._prior * duals.sum())
        values = self._X @ coef[:-1]
        if self._is_free:
            coef[-1] = self.terms.best_intercept(values, coef[-1])
        penalty = float(coef[:-1] @ coef[:-1]) / 2
        if not self._is_free and self._prior > 0:
            penalty += coef[-1] ** 2 / (2 * self._prior)
        gap = Gap(self.terms.loss(values + coef[-1]) + penalty, self.terms.value(duals) - penalty)
        if gap.width < self.gap.width:
            self.coef, self.duals, self.gap = coef, duals.copy(), gap
