"""Losses as gradient boosting uses them: where to start, what to fit trees to, and what a leaf is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer.ensemble._boosting.line_search import Line
from mercer.ensemble._gradient_boosting.leaves import Leaves, divide
from mercer.ensemble._gradient_boosting.search import search_leaves
from mercer.losses import (
    Absolute,
    Exponential,
    Huber,
    Logistic,
    Loss,
    Pinball,
    SoftmaxCrossEntropy,
    Squared,
    SquaredHinge,
)

_EPS = float(np.finfo(np.float64).eps)


@saved("boosting.Objective")
class Objective:
    """A smooth loss of one raw output a row. Targets are numbers, -1 and +1, or (`SoftmaxObjective`) places of classes.

    `scale` is what a unit of the loss counts in scores, as in scikit-learn.
    """

    scale = 1.0

    def __init__(self, loss: Loss, n_outputs: int = 1) -> None:
        self.loss, self.n_outputs = loss, n_outputs

    @property
    def is_classification(self) -> bool:
        return self.loss.kind in ("margin", "multiclass")

    def targets(self, values: npt.NDArray[Any]) -> FloatArray:
        """Numbers, or places of classes, as the loss takes them."""
        if self.loss.kind == "margin":
            return 2.0 * values - 1.0
        return np.asarray(self.loss.check_y(values))

    def places_of(self, targets: FloatArray) -> npt.NDArray[np.intp]:
        """The places of classes that targets stand for."""
        places = (targets + 1) / 2 if self.loss.kind == "margin" else targets
        return places.astype(np.intp)

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        """The constant raw output of least loss, of shape (n_outputs,)."""
        if self.loss.kind == "residual":
            leaves = Leaves.single(len(y), weights)
            median = leaves.quantiles(y, 0.5)
            return np.asarray(median + search_leaves(self.loss, leaves, y, np.full(len(y), median[0])))
        mean = np.average(y, weights=weights)
        return np.atleast_1d(self.raw_of(mean if self.loss.kind == "positive" else (mean + 1) / 2))

    def raw_of(self, predicted: Any) -> FloatArray:
        """The raw output that stands for a prediction: a number, a mean, or the probability of the class +1."""
        predicted = np.asarray(predicted, dtype=np.float64)
        if self.loss.kind == "residual":
            return np.asarray(predicted)
        if self.loss.kind == "positive":
            return np.asarray(np.log(np.maximum(predicted, _EPS)))
        if isinstance(self.loss, SquaredHinge):
            return np.asarray(2 * predicted - 1)
        log_odds = logit(np.clip(predicted, _EPS, 1 - _EPS))
        return np.asarray(log_odds / 2 if isinstance(self.loss, Exponential) else log_odds)

    def adapt(self, y: FloatArray, raw: FloatArray, weights: FloatArray | None) -> None:
        """Change what the loss takes from the data, once a round."""

    def residuals(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """The negative gradient, of shape (n_rows, n_outputs): what the trees are fitted to."""
        return -np.asarray(self.loss.derivative(y, raw[:, 0]))[:, None]

    def leaf_values(
        self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int
    ) -> FloatArray | None:
        """The step of each leaf; None where the tree's own values, the means of the residuals, are it."""
        return search_leaves(self.loss, leaves, y, raw[:, 0])

    def line(self, y: FloatArray, raw: FloatArray, h: FloatArray, output: int, weights: FloatArray | None) -> Line:
        """The loss along a learner with the values h, added to one output."""
        return Line(self.loss, y, raw[:, output], h, weights)

    def score(self, y: FloatArray, raw: FloatArray, weights: FloatArray | None) -> float:
        """The mean loss, in the units of scikit-learn's scores."""
        values = self.loss.value(y, raw if self.n_outputs > 1 else raw[:, 0])
        return self.scale * float(np.average(values, weights=weights))


@saved("boosting.SquaredObjective")
class SquaredObjective(Objective):
    """The mean of the residuals is exact."""

    scale = 2.0

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        return np.atleast_1d(np.average(y, weights=weights))

    def leaf_values(self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int) -> None:
        return None


@saved("boosting.QuantileObjective")
class QuantileObjective(Objective):
    """Absolute and pinball loss: a quantile of the residuals is exact."""

    @property
    def _share(self) -> float:
        return self.loss.quantile if isinstance(self.loss, Pinball) else 0.5

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        return Leaves.single(len(y), weights).quantiles(y, self._share)

    def leaf_values(
        self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int
    ) -> FloatArray | None:
        return leaves.quantiles(y - raw[:, 0], self._share)


@saved("boosting.AdaptiveHuber")
class AdaptiveHuber(Objective):
    """Huber's loss whose delta is, in every round, a quantile of the sizes of the residuals (Friedman's M-TreeBoost).

    The step of a leaf is Friedman's: its median residual, and the mean of what is left, cut to delta.
    """

    def __init__(self, share: float, loss: Huber | None = None) -> None:
        super().__init__(Huber() if loss is None else loss)
        self._share = share

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        return Leaves.single(len(y), weights).quantiles(y, 0.5)

    def adapt(self, y: FloatArray, raw: FloatArray, weights: FloatArray | None) -> None:
        sizes = np.abs(y - raw[:, 0])
        delta = float(Leaves.single(len(y), weights).quantiles(sizes, self._share)[0])
        self.loss = Huber(delta=max(delta, float(np.finfo(np.float64).tiny)))

    def leaf_values(
        self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int
    ) -> FloatArray | None:
        assert isinstance(self.loss, Huber)
        left = y - raw[:, 0]
        medians = leaves.quantiles(left, 0.5)
        rest = left - medians[leaves.at]
        return medians + leaves.means(np.clip(rest, -self.loss.delta, self.loss.delta))


@saved("boosting.NewtonObjective")
class NewtonObjective(Objective):
    """Logistic and exponential loss: one step of Newton's, as Friedman has it. Leaves of one class have no minimiser."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.scale = 2.0 if loss == Logistic() else 1.0

    def leaf_values(
        self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int
    ) -> FloatArray | None:
        size = np.abs(residuals)  # the second derivative: |r| (1 - |r|) for the logistic loss, |r| for the exponential
        curvature = size * (1 - size) if self.loss == Logistic() else size
        return divide(leaves.sums(residuals), leaves.sums(curvature))


@saved("boosting.SoftmaxObjective")
class SoftmaxObjective(Objective):
    """Cross-entropy of K classes: a tree each, one step of Newton's with the diagonal of the Hessian, times (K - 1) / K."""

    def start(self, y: FloatArray, weights: FloatArray | None) -> FloatArray:
        counts = np.bincount(y.astype(np.intp), weights=weights, minlength=self.n_outputs)
        return self.raw_of(counts / counts.sum())

    def raw_of(self, predicted: Any) -> FloatArray:
        logs = np.log(np.clip(np.asarray(predicted, dtype=np.float64), _EPS, 1 - _EPS))
        return np.asarray(logs - logs.mean(axis=-1, keepdims=True))

    def residuals(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        return -np.asarray(self.loss.derivative(y, raw))

    def leaf_values(
        self, leaves: Leaves, y: FloatArray, raw: FloatArray, residuals: FloatArray, output: int
    ) -> FloatArray | None:
        size = np.abs(residuals)  # the residual is [y = k] - p, so that size is p or 1 - p
        step = divide(leaves.sums(residuals), leaves.sums(size * (1 - size)))
        return step * (self.n_outputs - 1) / self.n_outputs

    def line(self, y: FloatArray, raw: FloatArray, h: FloatArray, output: int, weights: FloatArray | None) -> Line:
        return Line(_OneOfSoftmax(self.loss, raw, output), y, raw[:, output], h, weights)


@dataclass(frozen=True)
class _OneOfSoftmax:
    """Cross-entropy as a function of one class's raw output, where those of the others stay."""

    loss: Loss
    raw: FloatArray
    output: int

    def _share(self, raw: FloatArray) -> FloatArray:
        moved = self.raw.copy()
        moved[:, self.output] = raw
        return np.asarray(self.loss.inverse_link(moved))[:, self.output]

    def derivative(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        return np.asarray(self._share(raw) - (y == self.output))

    def second_derivative(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        share = self._share(raw)
        return np.asarray(share * (1 - share))


def regression_objective(loss: str | Loss, alpha: float) -> Objective:
    """What a name or a loss means for numbers."""
    if loss == "huber":
        return AdaptiveHuber(alpha)
    named = {"squared_error": Squared(), "absolute_error": Absolute(), "quantile": Pinball(quantile=alpha)}
    loss = named[loss] if isinstance(loss, str) else loss
    if loss.kind not in ("residual", "positive"):
        _refuse(loss, f"is a loss of kind {loss.kind!r}", "a loss of numbers (of kind 'residual' or 'positive')")
    if isinstance(loss, Squared):
        return SquaredObjective(loss)
    if isinstance(loss, (Absolute, Pinball)):
        return QuantileObjective(loss)
    if not loss.is_smooth:
        _refuse(loss, "has kinks", "a smooth loss (is_smooth), Absolute or Pinball")
    return Objective(loss)


def classification_objective(loss: str | Loss, n_classes: int) -> Objective:
    """What a name or a loss means for classes."""
    if loss == "log_loss":
        loss = Logistic() if n_classes == 2 else SoftmaxCrossEntropy()
    loss = Exponential() if isinstance(loss, str) else loss
    if loss.kind not in ("margin", "multiclass"):
        _refuse(loss, f"is a loss of kind {loss.kind!r}", "a loss of classes (of kind 'margin' or 'multiclass')")
    if loss.kind == "multiclass":
        return SoftmaxObjective(loss, n_classes)
    if n_classes > 2:
        raise ValueError(
            f"loss={loss!r} is only suitable for a binary classification problem, you have n_classes={n_classes}. Please use "
            "loss='log_loss' instead. Only binary classification is supported. The type of the target is multiclass."
        )
    if loss in (Logistic(), Exponential()):
        return NewtonObjective(loss)
    if not loss.is_smooth:
        _refuse(loss, "has kinks", "a smooth loss (is_smooth)")
    return Objective(loss)


def _refuse(loss: Loss, fault: str, remedy: str) -> None:
    raise InvalidParameterError(f"loss={loss!r} is not valid: it {fault}; it must be {remedy}.")
