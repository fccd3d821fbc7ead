"""The loss for classification into several classes, on one raw output a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr, logsumexp, softmax, wrightomega

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, solve_increasing
from mercer.losses._base import Loss, within


@dataclass(frozen=True)
class SoftmaxCrossEntropy(Loss):
    """Cross-entropy of the softmax, the negative log-likelihood of multinomial regression: log(sum_k exp(raw_k)) - raw_y.

    `y` holds class codes 0, ..., K - 1 of shape (n,), or rows of probabilities of shape (n, K), one-hot rows among them; `raw`
    has shape (n, K). The classes are the last axis; any axes may stand before it.

    `derivative` gives softmax(raw) - onehot(y), of shape (n, K). `second_derivative` gives the blocks diag(p) - p p' of p =
    softmax(raw), of shape (n, K, K). `conjugate(y, u)` is the negative entropy of u + onehot(y), and infinite where that is not
    a distribution (its sum may miss one by rounding errors). `prox` solves one scalar equation a row to machine precision.
    Lipschitz constants and `subdifferential_distance` are in the Euclidean norm of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import SoftmaxCrossEntropy
    >>> loss = SoftmaxCrossEntropy()
    >>> loss.value([0, 2], np.zeros((2, 3))).round(4)
    array([1.0986, 1.0986])
    >>> loss.derivative([1], [[0.0, 0.0]])
    array([[ 0.5, -0.5]])
    """

    name = "softmax"
    aliases = ("multinomial",)
    kind = "multiclass"
    is_convex = True
    is_smooth = True
    is_robust = True
    estimates = "the log probabilities of the classes, up to a constant"
    lipschitz = float(np.sqrt(2))
    derivative_lipschitz = 0.5

    def _rows(self, y: Any, raw: FloatArray) -> FloatArray:
        """The target as rows of probabilities."""
        y = np.asarray(y)
        if y.ndim == raw.ndim and y.shape[-1] == raw.shape[-1]:
            given: FloatArray = y.astype(raw.dtype, copy=False)
            return given
        n_classes = raw.shape[-1]
        codes = y.astype(np.intp)
        if codes.size and (codes.min() < 0 or codes.max() >= n_classes):
            wrong = codes[(codes < 0) | (codes >= n_classes)].flat[0]
            raise ValueError(f"SoftmaxCrossEntropy: y holds the class {wrong}, but raw has columns for 0 to {n_classes - 1}.")
        rows: FloatArray = (codes[..., None] == np.arange(n_classes)).astype(raw.dtype)
        return rows

    def value(self, y: Any, raw: Any) -> Any:
        raw = as_floats(raw)
        # Measured from the largest output: the difference of two large numbers would lose the digits of a small loss.
        shifted = raw - raw.max(axis=-1, keepdims=True)
        return finish(logsumexp(shifted, axis=-1) - np.sum(self._rows(y, raw) * shifted, axis=-1), raw)

    def derivative(self, y: Any, raw: Any) -> Any:
        raw = as_floats(raw)
        return finish(softmax(raw, axis=-1) - self._rows(y, raw), raw)

    def second_derivative(self, y: Any, raw: Any) -> Any:
        """The blocks of second derivatives, of shape (n, K, K); they do not depend on y."""
        raw = as_floats(raw)
        p = softmax(raw, axis=-1)
        return finish(p[..., None] * (np.eye(raw.shape[-1], dtype=raw.dtype) - p[..., None, :]), raw)

    def conjugate(self, y: Any, u: Any) -> Any:
        u = as_floats(u)
        p = u + self._rows(y, u)
        rounding = 4 * u.shape[-1] * np.finfo(u.dtype).eps
        is_distribution = (np.abs(p.sum(axis=-1) - 1) <= rounding) & (p >= 0).all(axis=-1)
        return finish(within(is_distribution, -entr(np.maximum(p, 0)).sum(axis=-1)), u)

    def prox(self, y: Any, raw: Any, step: Any) -> Any:
        """The proximal map of each row; `step` is a number or one number a row."""
        raw = as_floats(raw)
        step = np.asarray(step, dtype=np.float64)[..., None]
        centre = raw.astype(np.float64) + step * self._rows(y, raw)
        # With p = softmax(z), z + step p = centre. For a given s = log(sum exp(z)) each step p_k is a Wright omega of
        # centre_k + log(step) - s; what is left is the one s at which the p_k add up to one.
        level = centre + np.log(step)

        def equation(s: FloatArray) -> tuple[FloatArray, FloatArray]:
            omega = wrightomega(level - s)
            return step - omega.sum(axis=-1, keepdims=True), (omega / (1 + omega)).sum(axis=-1, keepdims=True)

        high = logsumexp(centre, axis=-1, keepdims=True)
        s = solve_increasing(equation, high - step, high, high - step)
        return finish(centre - wrightomega(level - s), raw)

    def subdifferential_distance(self, y: Any, raw: Any, u: Any) -> Any:
        raw = as_floats(raw)
        return finish(np.linalg.norm(self.derivative(y, raw) - np.asarray(u, dtype=raw.dtype), axis=-1), raw)

    def inverse_link(self, raw: Any) -> Any:
        """The probabilities of the classes."""
        raw = as_floats(raw)
        return finish(softmax(raw, axis=-1), raw)

    def check_y(self, y: Any) -> FloatArray:
        y = np.asarray(y)
        if y.ndim < 2:
            domain = "a class code: an integer >= 0"
            codes = self._check_values(y, lambda values: (values >= 0) & (values == np.floor(values)), domain)
            return codes.astype(np.intp)
        rows = self._check_values(y, lambda values: (values >= 0) & (values <= 1), "a probability, from 0 to 1")
        sums = rows.sum(axis=-1)
        wrong = np.abs(sums - 1) > 4 * rows.shape[-1] * np.finfo(rows.dtype).eps
        if wrong.any():
            self._refuse(f"a row with the sum {sums[wrong].flat[0]:g}", "in a row of probabilities that add up to 1")
        return rows
