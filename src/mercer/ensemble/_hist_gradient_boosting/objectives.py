"""What boosting descends on: a loss over given rows, as a function of their raw predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer.losses import (
    Absolute,
    Gamma,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    Pinball,
    Poisson,
    Squared,
    SquaredEpsilonInsensitive,
    Tweedie,
)

LossFunction = Callable[[Any, Any], tuple[Any, Any]]

# The losses of numbers, and the parameter that the kernels take with each.
_PARAMETERS: dict[type[Loss], str | None] = {
    Squared: None,
    Absolute: None,
    Pinball: "quantile",
    Poisson: None,
    Gamma: None,
    Tweedie: "power",
    Huber: "delta",
    LogCosh: None,
    SquaredEpsilonInsensitive: "epsilon",
}


class Objective(Protocol):
    """A loss over rows. Raw predictions and derivatives have one line for each tree of a round, one column for each row."""

    n_outputs: int
    has_value: bool  # whether the loss itself is known, and not only its derivatives

    @property
    def has_constant_hessian(self) -> bool:
        """Whether every second derivative is one, so that rows need only be counted."""
        ...

    @property
    def leaf_quantile(self) -> float | None:
        """The quantile of the residuals that is the best value of a leaf, where second derivatives say nothing."""
        ...

    def start(self, n_threads: int) -> FloatArray:
        """The best constant prediction, one value an output."""
        ...

    def evaluate(self, raw: FloatArray, gradient: FloatArray, hessian: FloatArray | None, n_threads: int) -> float:
        """Write the derivatives and return the mean loss (NaN where it has no value)."""
        ...

    def on(self, y: FloatArray, weights: FloatArray | None) -> Objective:
        """The same loss over other rows."""
        ...


class _Rows:
    """Targets and weights."""

    def __init__(self, y: FloatArray, weights: FloatArray | None) -> None:
        self.y, self.weights = y, weights

    @property
    def total_weight(self) -> float:
        return float(len(self.y)) if self.weights is None else float(self.weights.sum())


class LossObjective(_Rows):
    """A loss of `mercer.losses` for one number a row; Logistic takes targets 0 and 1 here."""

    n_outputs = 1
    has_value = True

    def __init__(self, loss: Loss, y: FloatArray, weights: FloatArray | None) -> None:
        super().__init__(y, weights)
        self.loss, self._name, self._parameter = loss, *_native_loss(loss)

    @property
    def has_constant_hessian(self) -> bool:
        return self.weights is None and isinstance(self.loss, (Squared, Absolute, Pinball))

    @property
    def leaf_quantile(self) -> float | None:
        if isinstance(self.loss, Pinball):
            return float(self.loss.quantile)
        return 0.5 if isinstance(self.loss, Absolute) else None

    def start(self, n_threads: int) -> FloatArray:
        if isinstance(self.loss, (Absolute, Pinball, Huber, LogCosh)):
            value = weighted_quantile(self.y, self.weights, self.leaf_quantile or 0.5)
        else:
            value = float(np.average(self.y, weights=self.weights))
        if self.loss == Logistic():
            value = float(np.clip(value, np.finfo(np.float64).eps, 1 - np.finfo(np.float64).eps))
            value = float(np.log(value) - np.log1p(-value))
        elif isinstance(self.loss, (Poisson, Gamma, Tweedie)):
            value = float(np.log(value))
        return np.array([value])

    def evaluate(self, raw: FloatArray, gradient: FloatArray, hessian: FloatArray | None, n_threads: int) -> float:
        second = None if hessian is None or self.leaf_quantile is not None else hessian[0]
        total: float = kernels.boosting_derivatives(
            self._name, self._parameter, self.y, self.weights, raw[0], gradient[0], second, n_threads
        )
        if hessian is not None and second is None:  # a loss without curvature, under weights: each row pulls by its weight
            hessian[0] = 1.0 if self.weights is None else self.weights
        elif hessian is not None and isinstance(self.loss, (Huber, LogCosh, SquaredEpsilonInsensitive)):
            self._majorise(raw[0], gradient[0], hessian[0])
        return total / self.total_weight

    def _majorise(self, raw: FloatArray, gradient: FloatArray, hessian: FloatArray) -> None:
        """Write the curvature of parabolas that touch the loss and lie above it: where the loss is flat or straight, its own
        second derivative vanishes, and a step by it could be of any size."""
        hessian[:] = self.loss.derivative_lipschitz * (1.0 if self.weights is None else self.weights)
        if not isinstance(self.loss, SquaredEpsilonInsensitive):  # slope over residual
            residual = raw - self.y
            np.divide(gradient, residual, out=hessian, where=np.abs(residual) > 1e-6)

    def on(self, y: FloatArray, weights: FloatArray | None) -> LossObjective:
        return LossObjective(self.loss, y, weights)


class SoftmaxObjective(_Rows):
    """Cross-entropy of the softmax over several classes; y holds their codes."""

    has_value = True
    has_constant_hessian = False
    leaf_quantile = None

    def __init__(self, n_classes: int, y: FloatArray, weights: FloatArray | None) -> None:
        super().__init__(y, weights)
        self.n_outputs = n_classes
        self._codes = y.astype(np.int32)

    def start(self, n_threads: int) -> FloatArray:
        share = np.bincount(self._codes, weights=self.weights, minlength=self.n_outputs) / self.total_weight
        logs = np.log(np.maximum(share, np.finfo(np.float64).eps))
        centred: FloatArray = logs - logs.mean()
        return centred

    def evaluate(self, raw: FloatArray, gradient: FloatArray, hessian: FloatArray | None, n_threads: int) -> float:
        total: float = kernels.boosting_softmax_derivatives(self._codes, self.weights, raw, gradient, hessian, n_threads)
        return total / self.total_weight

    def on(self, y: FloatArray, weights: FloatArray | None) -> SoftmaxObjective:
        return SoftmaxObjective(self.n_outputs, y, weights)


class CallableObjective(_Rows):
    """A user's function of (y, raw) that returns gradient and Hessian, of the shape of raw: (n,), or (n, k) for k classes.

    The mean loss is known where the function has a method `value(y, raw)`, one value a row.
    """

    has_constant_hessian = False
    leaf_quantile = None

    def __init__(self, function: LossFunction, n_outputs: int, y: FloatArray, weights: FloatArray | None) -> None:
        super().__init__(y, weights)
        self._function, self.n_outputs = function, n_outputs
        self.has_value = hasattr(function, "value")

    def start(self, n_threads: int) -> FloatArray:
        """Newton's iterations from zero, with the function's own derivatives."""
        at = np.zeros(self.n_outputs)
        gradient, hessian = (np.empty((self.n_outputs, len(self.y))) for _ in range(2))
        for _ in range(30):
            self.evaluate(np.tile(at[:, None], len(self.y)), gradient, hessian, n_threads)
            curvature = hessian.sum(axis=1)
            slope = gradient.sum(axis=1)
            step = np.clip(np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0), -1e6, 1e6)
            at = at - step
            if np.abs(step).max() <= 1e-12 * (1 + np.abs(at).max()):
                break
        return at - at.mean() if self.n_outputs > 1 else at

    def evaluate(self, raw: FloatArray, gradient: FloatArray, hessian: FloatArray | None, n_threads: int) -> float:
        assert hessian is not None
        given = raw[0] if self.n_outputs == 1 else raw.T
        weights = 1.0 if self.weights is None else self.weights
        try:
            first, second = self._function(self.y, given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"loss={self._function!r} must return a gradient and a Hessian for (y, raw): {error}") from error
        for name, derivative, out in (("gradient", first, gradient), ("Hessian", second, hessian)):
            found = np.asarray(derivative, dtype=np.float64)
            if found.shape != given.shape:
                raise ValueError(
                    f"loss={self._function!r} returned a {name} of shape {found.shape}; it must be that of raw, {given.shape}."
                )
            if not np.isfinite(found).all() or (name == "Hessian" and (found < 0).any()):
                raise ValueError(
                    f"loss={self._function!r} returned a {name} that is not finite or a Hessian below zero; every value "
                    "must be finite and every second derivative >= 0."
                )
            out[:] = found.T * weights
        if not self.has_value:
            return np.nan
        values = self._function.value(self.y, given)  # type: ignore[attr-defined]
        return float(np.average(values, weights=self.weights))

    def on(self, y: FloatArray, weights: FloatArray | None) -> CallableObjective:
        return CallableObjective(self._function, self.n_outputs, y, weights)


def _native_loss(loss: Loss) -> tuple[str, float]:
    """The kernels' name of a loss, and its parameter."""
    if isinstance(loss, Tweedie) and loss.power in (1, 2):
        return ("poisson" if loss.power == 1 else "gamma"), 0.0
    parameter = _PARAMETERS.get(type(loss))
    return loss.name, 0.0 if parameter is None else float(getattr(loss, parameter))


def is_supported(loss: Loss) -> bool:
    """Whether the kernels have a loss of numbers."""
    return type(loss) in _PARAMETERS


def supported_losses() -> str:
    return ", ".join(sorted(kind.__name__ for kind in _PARAMETERS))


def weighted_quantile(values: FloatArray, weights: npt.NDArray[Any] | None, quantile: float) -> float:
    """The value at which the weight below reaches its share; halfway between two where it is reached exactly."""
    if weights is None:
        return float(np.quantile(values, quantile, method="averaged_inverted_cdf"))
    values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    wanted = quantile * below[-1]
    at = int(np.searchsorted(below, wanted * (1 - 1e-12)))
    is_exact = abs(below[at] - wanted) <= 1e-12 * wanted and at + 1 < len(order)
    return float(values[order[at]] if not is_exact else (values[order[at]] + values[order[at + 1]]) / 2)
