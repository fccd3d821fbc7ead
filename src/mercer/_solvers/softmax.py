"""Softmax over linear values with an l2 penalty: the objective of multinomial (and binary) logistic regression.

The objective of the coefficients w_k and intercepts b_k of K outputs is

    F(w, b) = sum_i s_i (log sum_k exp(r_ik) - r_i,y_i) + l2/2 sum_k |w_k|^2,   r_ik = x_i' w_k + b_k.

Without a reference the classes are the outputs. With one, there is a further class of code K whose values are fixed at zero:
one output with a reference is binary logistic regression. Points are flat: K lines of d + 1 numbers, the intercept last.
"""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._parts.passes import rowwise
from mercer._solvers.linear_loss import Codes, Evaluation, LinearRows
from mercer._solvers.parted_rows import PartedLinearRows

LOGISTIC = kernels.RowLoss("logistic", 0.0)


class SoftmaxLoss:
    """The objective F as a function of a flat point; without an intercept those entries are zero."""

    def __init__(
        self,
        rows: LinearRows,
        codes: Codes,
        weights: FloatArray | None,
        n_outputs: int,
        l2: float,
        *,
        has_reference: bool,
        has_intercept: bool,
    ) -> None:
        self.rows, self.codes, self.weights, self.n_outputs, self.l2 = rows, codes, weights, n_outputs, l2
        self.has_reference, self.has_intercept = has_reference, has_intercept
        self.total_weight = float(rows.n_rows if weights is None else weights.sum())
        self.shape = (n_outputs, rows.n_features + 1)
        self.is_binary = n_outputs == 1 and has_reference

    def on(self, rows: LinearRows) -> SoftmaxLoss:
        """The same objective of other rows."""
        kinds = {"has_reference": self.has_reference, "has_intercept": self.has_intercept}
        return SoftmaxLoss(rows, self.codes, self.weights, self.n_outputs, self.l2, **kinds)

    def start(self, coef: FloatArray | None = None, intercept: FloatArray | None = None) -> FloatArray:
        """The point that a user's coefficients stand for; zero without any."""
        if coef is None or intercept is None:
            return np.zeros(self.shape).ravel()
        return np.column_stack([coef, intercept + coef @ self.rows.shift]).ravel()

    def to_user(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients and intercepts for X as it is."""
        lines = point.reshape(self.shape)
        coef = lines[:, :-1]
        return coef, lines[:, -1] - coef @ self.rows.shift

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        lines = point.reshape(self.shape)
        if self.is_binary:  # all in one pass
            at = self.rows.loss(LOGISTIC, self._targets, self.weights, point, with_hessian=with_hessian)
            value, gradient, hessian, curvature = at.value, at.gradient, at.hessian, at.curvature
        else:
            value, lines_of_gradient, curvature = self.rows.softmax(
                self.codes, self.weights, lines, has_reference=self.has_reference
            )
            gradient, hessian = lines_of_gradient.ravel(), self._loss_hessian(lines) if with_hessian else None
        if not self.has_intercept:
            gradient.reshape(self.shape)[:, -1] = 0
        if hessian is not None:
            self._make_regular(hessian)
        return self._penalised(lines, Evaluation(value, gradient, hessian, curvature), self.l2)

    @lazy_property
    def _targets(self) -> FloatArray:
        """One for the rows of a binary problem that are not of the reference class."""
        targets: FloatArray = rowwise(_as_targets, self.codes)
        return targets

    def moved(self, point: FloatArray, at: Evaluation, l2: float) -> Evaluation:
        """What another penalty's evaluation `at` the same point becomes under this one: no pass over X."""
        return self._penalised(point.reshape(self.shape), at, self.l2 - l2)

    def _penalised(self, lines: FloatArray, at: Evaluation, l2: float) -> Evaluation:
        coef = lines[:, :-1]
        gradient = at.gradient.reshape(self.shape).copy()
        gradient[:, :-1] += l2 * coef
        hessian = None if at.hessian is None else at.hessian.copy()
        if hessian is not None:
            np.einsum("jj->j", hessian).reshape(self.shape)[:, :-1] += l2
        return Evaluation(at.value + l2 * float((coef**2).sum()) / 2, gradient.ravel(), hessian, at.curvature)

    def probabilities(self, point: FloatArray) -> FloatArray:
        """Of the outputs, a line a row; those of the reference are what is missing to one."""
        return probabilities(self.rows, point.reshape(self.shape), has_reference=self.has_reference)

    def _loss_hessian(self, lines: FloatArray) -> FloatArray:
        if isinstance(self.rows, PartedLinearRows):
            return self.rows.softmax_hessian(self.weights, lines, has_reference=self.has_reference)
        return loss_hessian(self.rows, self.weights, lines, has_reference=self.has_reference)

    def _make_regular(self, hessian: FloatArray) -> None:
        """Give curvature to what has none by its nature: intercepts that are not there, and all intercepts together."""
        n_outputs, q = self.shape
        blocks = hessian.reshape(n_outputs, q, n_outputs, q)
        if not self.has_intercept:
            blocks[:, -1], blocks[:, :, :, -1] = 0, 0
            blocks[range(n_outputs), -1, range(n_outputs), -1] = 1
        elif not self.has_reference:  # the gradient has no part in this direction, so neither have steps
            blocks[:, -1, :, -1] += np.trace(blocks[:, -1, :, -1]) / n_outputs**2

    def gap(self, at: Evaluation) -> float | None:
        """An upper bound of F minus its minimum, or None where there is no penalty.

        Where the intercepts are optimal, the slopes of the loss are feasible for the dual problem, and the duality gap is
        |g|^2 / (2 l2) for the gradient g of the coefficients. Elsewhere, Newton's step in the intercepts leads there: it gains
        half of what is added here, and changes g by its product with the Hessian, where `at` has one. What is neglected
        vanishes with the square of an already small number; methods without a Hessian make the intercepts optimal first.
        """
        if not self.l2 > 0:
            return None
        gradient = at.gradient.reshape(self.shape)
        of_coef = gradient[:, :-1]
        if not self.has_intercept:
            return float((of_coef**2).sum()) / (2 * self.l2)
        move, gain = self._intercept_step(at, gradient[:, -1])
        if at.hessian is not None:
            of_intercepts = at.hessian[:, self.shape[1] - 1 :: self.shape[1]]
            of_coef = of_coef - (of_intercepts @ move).reshape(self.shape)[:, :-1]
        return float((of_coef**2).sum()) / (2 * self.l2) + gain

    def _intercept_step(self, at: Evaluation, gradient: FloatArray) -> tuple[FloatArray, float]:
        """Newton's step in the intercepts alone, and twice what it gains."""
        assert at.curvature is not None
        least = np.finfo(np.float64).tiny
        if self.is_binary:
            move = gradient / max(float(at.curvature[0, 0]), least)
            return move, float(gradient[0] * move[0])
        values, vectors = np.linalg.eigh(at.curvature)
        if not self.has_reference:  # all intercepts together: the direction of no curvature and no gradient
            values, vectors = values[1:], vectors[:, 1:]
        parts = vectors.T @ gradient / np.maximum(values, least)
        return vectors @ parts, float((parts**2 * values).sum())


def _as_targets(codes: Codes) -> FloatArray:
    return 1.0 - codes


def probabilities(rows: LinearRows, lines: FloatArray, *, has_reference: bool) -> FloatArray:
    """Softmax of the linear values, a line a row; a reference has none of its own."""
    raw = rows.output_values(lines)
    top = np.maximum(raw.max(axis=1, keepdims=True), 0) if has_reference else raw.max(axis=1, keepdims=True)
    raw = np.exp(raw - top)
    total = raw.sum(axis=1, keepdims=True)
    shares: FloatArray = raw / (total + np.exp(-top) if has_reference else total)
    return shares


def loss_hessian(rows: LinearRows, weights: FloatArray | None, lines: FloatArray, *, has_reference: bool) -> FloatArray:
    """Of the summed loss: K (K + 1) / 2 weighted sums over the rows. O(n K^2 d^2)."""
    n_outputs, q = lines.shape
    p = probabilities(rows, lines, has_reference=has_reference)
    weighted = p if weights is None else p * weights[:, None]
    hessian = np.empty((n_outputs, q, n_outputs, q))
    nothing = np.zeros(rows.n_rows)
    for k in range(n_outputs):
        for other in range(k + 1):
            share = (1 - p[:, k]) if k == other else p[:, other]
            _, block = rows.weighted_sums(nothing, weighted[:, k] * share)
            hessian[k, :, other] = hessian[other, :, k] = block if k == other else -block
    return hessian.reshape(n_outputs * q, n_outputs * q)
