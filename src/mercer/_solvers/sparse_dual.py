"""The duality gap of softmax under l1 and elastic-net penalties.

With the slopes a of the loss, one for each row and output, the dual objective is

    D(a) = sum_i s_i entropy(p_i) - sum_kj max(|x_j' a_k| - l1, 0)^2 / (2 l2),     a_i = s_i (p_i - e_{y_i}),

for slopes that sum to zero for each free intercept; with l2 = 0 the last term asks for |x_j' a_k| <= l1. Slopes of a point
whose intercepts are optimal, scaled down until they meet that, are feasible: probabilities move towards the labels.
"""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.linear_loss import Codes

ROUNDING = 1e-13
MOST_STEPS = 30


class Labels:
    """Classes and weights of rows, and what the loss of their linear values is."""

    def __init__(self, codes: Codes, weights: FloatArray | None, *, has_reference: bool, n_threads: int) -> None:
        self._codes, self._weights, self._has_reference, self._n_threads = codes, weights, has_reference, n_threads
        self.row_weights = np.ones(len(codes)) if weights is None else weights
        self.total_weight = float(self.row_weights.sum())

    def loss(self, raw: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Value, slopes of the rows, and the Hessian in the intercepts, for linear values of shape (n_rows, n_outputs)."""
        raw = np.ascontiguousarray(raw)
        slopes, curvature = np.empty_like(raw), np.empty((raw.shape[1], raw.shape[1]))
        value = kernels.softmax_of_values(
            self._codes, self._weights, self._has_reference, raw, slopes, curvature, self._n_threads
        )
        return value, slopes, curvature

    def probabilities(self, slopes: FloatArray) -> FloatArray:
        """Of the outputs, from the slopes; rows without weight are taken as certain."""
        p = slopes if self._weights is None else slopes / np.where(self._weights > 0, self._weights, 1)[:, None]
        return np.clip(p + self._one_hot(slopes.shape[1]), 0, 1)

    def model(self, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities, and weights times them, with a line an output."""
        p = np.ascontiguousarray(self.probabilities(slopes).T)
        return p, p if self._weights is None else p * self._weights

    def optimal_intercept(self, raw: FloatArray) -> FloatArray:
        """What to add to the linear values so that their slopes sum to zero for every output; Newton's method, damped."""
        total = np.zeros(raw.shape[1])
        value, slopes, curvature = self.loss(raw)
        for _ in range(MOST_STEPS):
            gradient = slopes.sum(axis=0)
            if np.abs(gradient).max() <= ROUNDING * self.total_weight:
                break
            step = -np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
            noise = ROUNDING * max(abs(value), self.total_weight * ROUNDING)
            later = self.loss(raw + (total + step))
            while later[0] > value + noise:
                step /= 2
                later = self.loss(raw + (total + step))
            if -float(gradient @ step) <= noise and np.abs(later[1].sum(axis=0)).max() > np.abs(gradient).max() / 2:
                break  # rounding allows no better
            total = total + step
            value, slopes, curvature = later
        return total

    def dual(self, slopes: FloatArray, products: FloatArray, l1: float, l2: float) -> float:
        """The better of two dual values: of the slopes scaled until l1 holds them, and (l2 > 0) of the slopes themselves."""
        largest = float(np.abs(products).max(initial=0))
        scale = 1.0 if largest <= l1 else l1 / largest
        best = self._entropy(slopes, scale)
        if l2 > 0 and scale < 1:
            excess = np.maximum(np.abs(products) - l1, 0)
            best = max(best, self._entropy(slopes, 1.0) - float((excess**2).sum()) / (2 * l2))
        return best

    def _entropy(self, slopes: FloatArray, scale: float) -> float:
        """The weighted entropy of the probabilities that slopes times `scale` stand for."""
        one_hot = self._one_hot(slopes.shape[1])
        p = np.clip(one_hot + scale * (self.probabilities(slopes) - one_hot), 0, 1)
        entropy = entr(p).sum(axis=1)
        if self._has_reference:
            entropy += entr(np.clip(1 - p.sum(axis=1), 0, 1))
        return float(entropy.sum() if self._weights is None else self._weights @ entropy)

    def _one_hot(self, n_outputs: int) -> FloatArray:
        one_hot: FloatArray = (self._codes[:, None] == np.arange(n_outputs)).astype(np.float64)
        return one_hot


def violations(coef: FloatArray, gradient: FloatArray, l1: float | FloatArray) -> FloatArray:
    """How far each coefficient is from its optimality condition, for the gradient of all but the l1 penalty."""
    at_zero = np.maximum(np.abs(gradient) - l1, 0)
    return np.where(coef == 0, at_zero, np.abs(gradient + l1 * np.sign(coef)))
