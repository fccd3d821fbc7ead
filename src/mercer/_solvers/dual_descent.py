"""Dual coordinate descent for l2-penalised linear models with hinge-like losses: for sparse rows, and for many columns.

An epoch visits every row that is not known to be optimal once and costs as much as one product with X. The intercept either has
a penalty, and then it is one more coefficient, or it is free: the method of multipliers then finds it, epoch by epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import dot
from mercer._solvers.dual_epochs import DualEpochs
from mercer._solvers.pieces import Gap


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
        if np.isinf(self.low + self.up).any():
            return self._root(values, start)
        under, over, rest = self.up > 0, self.low > 0, self.target - values
        kinks = np.concatenate([rest[under] - self.epsilon, rest[over] + self.epsilon])
        jumps = np.concatenate([self.up[under], self.low[over]])
        order = np.argsort(kinks)
        slopes = np.cumsum(jumps[order]) - self.up[under].sum()
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


class DualDescent(DualEpochs):
    """The method for hinge-like losses; `coef` holds the intercept last."""

    first_precision = 0.1

    def __init__(self, X: Any, terms: DualTerms, *, prior: float | None, tol: float, seed: int) -> None:
        scale = float(np.abs(terms.target).max(initial=0.0)) or 1.0
        super().__init__(X, prior=prior, tol=tol, seed=seed, scale=scale, size=terms.size())
        self.terms = terms
        self._fields = np.column_stack([terms.target, terms.low, terms.up, terms.curvature, self._norms])
        self._duals, self._coef = np.zeros(self._n), np.zeros(X.shape[1] + 1)
        if self._is_free:
            self._coef[-1] = terms.best_intercept(np.zeros(self._n), 0.0)
        self.coef, self.duals = self._coef.copy(), self._duals.copy()
        self.gap = Gap(terms.loss(np.zeros(self._n)), 0.0)

    def _run_epoch(self, summary: FloatArray) -> None:
        args = (self._fields, self.terms.epsilon, self._prior, self._patience, self._seed, self._epoch, self._n_active)
        kernels.dual_epoch(self._rows, *args, self._active, self._duals, self._coef, summary)

    def _move_intercepts(self) -> float:
        move = self._prior * float(self._duals.sum())
        self._coef[-1] += move
        return abs(move)

    def look(self) -> None:
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
