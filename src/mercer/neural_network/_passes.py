"""The forward and the backward pass for one row, as tables with a line for each unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from mercer._aligned import aligned, as_frame
from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError
from mercer.neural_network._units import ACTIVATIONS, as_floats

if TYPE_CHECKING:
    from mercer.neural_network._by_hand import Layer

_MOST_LINES = 40  # of a table that is shown
_MOST_INPUTS = 8  # of a unit whose gradients are shown one by one


class Pass(NamedTuple):
    """What went through a layer: its inputs, sums and activations, a row each."""

    layer: Layer
    inputs: FloatArray
    z: FloatArray
    a: FloatArray


class Gradients(NamedTuple):
    """What came back through a layer for one row."""

    slope: FloatArray  # f'(z); NaN for softmax, which has a matrix of them
    delta: FloatArray  # dL/dz, which is dL/db too
    weights: FloatArray  # dL/dW, of shape (n_in, n_out)


@dataclass(frozen=True, repr=False, eq=False)
class ForwardTable:
    """The forward pass of a network for one vector of inputs, a line for each unit.

    Attributes
    ----------
    x : array of shape (n_inputs,)
    layer, unit : int array
        Both from 1.
    activation : list of str
    z, a : array
        The sum of the unit, and what it makes of it.
    output : array of shape (n_outputs,)
        The activations of the last layer.
    """

    x: FloatArray
    layer: npt.NDArray[np.intp]
    unit: npt.NDArray[np.intp]
    activation: list[str]
    z: FloatArray
    a: FloatArray

    @classmethod
    def of(cls, x: FloatArray, passes: Sequence[Pass]) -> ForwardTable:
        layer, unit = _numbers(passes)
        names = [found.layer.activation for found in passes for _ in found.layer.bias]
        z, a = (np.concatenate(rows) for rows in zip(*((found.z[0], found.a[0]) for found in passes), strict=True))
        return cls(x, layer, unit, names, z, a)

    @property
    def output(self) -> FloatArray:
        last: FloatArray = self.a[self.layer == self.layer[-1]]
        return last

    def to_frame(self) -> object:
        """The table as a pandas DataFrame."""
        names = ("layer", "unit", "activation", "z", "a")
        return as_frame(type(self).__name__, {name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        head = ("layer", "unit", "activation", "z", "a")
        lines = zip(_words(self.layer), _words(self.unit), self.activation, _words(self.z), _words(self.a), strict=True)
        return _shown(f"Forward pass of x = {_vector(self.x)}", head, list(lines))


@dataclass(frozen=True, repr=False, eq=False)
class BackwardTable:
    """Back-propagation through a network for one vector of inputs: a line for each unit, from the last layer to the first.

    Attributes
    ----------
    x, y : array
        The inputs and the targets.
    loss : str
        Its name.
    loss_value : float
        L.
    layer, unit : int array
        Both from 1.
    z, a, slope : array
        The sum, the activation and its derivative f'(z); that is NaN for softmax, where each output depends on all sums.
    delta : array
        dL/dz, which is also the derivative in the bias.
    coef_gradients, intercept_gradients : list of arrays
        dL/dW and dL/db of each layer, from the first to the last, in the shapes of `Network.coefs` and `Network.intercepts`.
    """

    x: FloatArray
    y: FloatArray
    loss: str
    loss_value: float
    layer: npt.NDArray[np.intp]
    unit: npt.NDArray[np.intp]
    z: FloatArray
    a: FloatArray
    slope: FloatArray
    delta: FloatArray
    coef_gradients: list[FloatArray]
    intercept_gradients: list[FloatArray]

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, loss: str, passes: Sequence[Pass]) -> BackwardTable:
        layer, unit = _numbers(passes)
        last_first = np.argsort(-layer, kind="stable")
        found = _go_back(passes, y, loss)
        lines = [(went.z[0], went.a[0], came.slope, came.delta) for went, came in zip(passes, found, strict=True)]
        z, a, slope, delta = (np.concatenate(column)[last_first] for column in zip(*lines, strict=True))
        return cls(
            x=x,
            y=y,
            loss=loss,
            loss_value=_loss(passes[-1], y, loss),
            layer=layer[last_first],
            unit=unit[last_first],
            z=z,
            a=a,
            slope=slope,
            delta=delta,
            coef_gradients=[came.weights for came in found],
            intercept_gradients=[came.delta for came in found],
        )

    def to_frame(self) -> object:
        """The table as a pandas DataFrame, with the gradient of each weight; NaN where a unit has fewer inputs."""
        columns = {name: getattr(self, name) for name in ("layer", "unit", "z", "a", "slope", "delta")}
        rows = self._weight_gradients()
        most = max(map(len, rows))
        padded = np.array([[*row, *[np.nan] * (most - len(row))] for row in rows])
        return as_frame(type(self).__name__, columns | {f"dw{j}": column for j, column in enumerate(padded.T, 1)})

    def __repr__(self) -> str:
        rows = self._weight_gradients()
        most = max(map(len, rows))
        if most <= _MOST_INPUTS:
            names = [f"dw{j}" for j in range(1, most + 1)]
            gradients = [[*_words(row), *[""] * (most - len(row))] for row in rows]
        else:
            names, gradients = ["|dw|"], [_words([float(np.linalg.norm(row))]) for row in rows]
        head = ("layer", "unit", "z", "a", "f'(z)", "delta = db", *names)
        columns = (self.layer, self.unit, self.z, self.a, self.slope, self.delta)
        lines = [(*line, *row) for *line, row in zip(*map(_words, columns), gradients, strict=True)]
        title = f"Backward pass of x = {_vector(self.x)}, y = {_vector(self.y)}: {self.loss} loss {self.loss_value:.6g}"
        return _shown(title, head, lines)

    def _weight_gradients(self) -> list[FloatArray]:
        """Those of each line's unit."""
        return list(chain.from_iterable(gradients.T for gradients in reversed(self.coef_gradients)))


def row_of(owner: str, x: Any, n_inputs: int) -> FloatArray:
    row = as_floats(owner, "x", x)
    if row.shape != (n_inputs,):
        raise InvalidParameterError(f"{owner}: x has shape {row.shape}; it must be one vector of {n_inputs} inputs.")
    return row


def target_of(y: Any, n_outputs: int, activation: str, loss: str) -> FloatArray:
    """The target of each output."""
    target = as_floats("backward_table", "y", y)
    if activation == "softmax" and target.ndim == 0 and n_outputs > 1:
        if not (float(target).is_integer() and 0 <= target < n_outputs):
            raise InvalidParameterError(
                f"backward_table: y={y!r} is no class; it must be an integer from 0 to {n_outputs - 1}, or one "
                "target for each output."
            )
        one_hot: FloatArray = np.eye(n_outputs)[int(target)]
        return one_hot
    target = np.atleast_1d(target)
    if target.shape != (n_outputs,):
        raise InvalidParameterError(
            f"backward_table: y={y!r} is not valid; it must have a number for each of {n_outputs} outputs."
        )
    if loss == "logistic" and not ((target >= 0) & (target <= 1)).all():
        raise InvalidParameterError(f"backward_table: y={y!r} is not valid; for loss='logistic' targets must be from 0 to 1.")
    if loss == "logistic" and activation == "softmax" and abs(target.sum() - 1) > 1e-9:
        raise InvalidParameterError(
            f"backward_table: y={y!r} is not valid; targets of softmax must sum to 1 for loss='logistic'."
        )
    return target


def _go_back(passes: Sequence[Pass], y: FloatArray, loss: str) -> list[Gradients]:
    """Back-propagation of one row, from the last layer to the first; what is returned begins with the first."""
    found: list[Gradients] = []
    error = passes[-1].a[0] - y  # dL/da of the layer, here of half the squared distance
    for layer, inputs, z, a in reversed(passes):
        slope = _slope(layer, z[0])
        if not found and loss == "logistic":  # dL/dz = a - y, of sigmoid and of softmax alike
            delta = error
        elif layer.activation == "softmax":  # da_k/dz_j = a_k (1[j = k] - a_j)
            delta = a[0] * (error - a[0] @ error)
        else:
            delta = slope * error
        found.append(Gradients(slope, delta, np.where(layer.is_connected, np.outer(inputs[0], delta), 0.0)))
        error = layer.weights @ delta
    return found[::-1]


def _slope(layer: Layer, z: FloatArray) -> FloatArray:
    slope = None if layer.activation == "softmax" else ACTIVATIONS[layer.activation].slope
    return np.full_like(z, np.nan) if slope is None else slope(z)


def _loss(last: Pass, y: FloatArray, loss: str) -> float:
    z, a = last.z[0], last.a[0]
    if loss == "squared":
        return float(0.5 * ((a - y) ** 2).sum())
    if last.layer.activation == "softmax":  # -sum y_k log a_k
        return float(logsumexp(z) - y @ z)
    return float((np.logaddexp(0, z) - y * z).sum())  # -y log a - (1 - y) log(1 - a)


def _numbers(passes: Sequence[Pass]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The layer and the unit of each line, from 1."""
    sizes = [len(found.layer.bias) for found in passes]
    return np.repeat(np.arange(1, len(sizes) + 1), sizes), np.concatenate([np.arange(1, size + 1) for size in sizes])


def _words(values: Iterable[Any]) -> list[str]:
    return ["" if np.isnan(value) else f"{value + 0:.6g}" for value in values]  # + 0: no minus zero


def _vector(values: FloatArray) -> str:
    words = _words(values)
    shown = words if len(words) <= _MOST_INPUTS else [*words[: _MOST_INPUTS - 2], "...", words[-1]]
    return f"({', '.join(shown)})"


def _shown(title: str, head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    body = aligned([head, *lines])
    if len(lines) > _MOST_LINES:
        body = [*body[: _MOST_LINES // 2 + 1], f"... {len(lines) - _MOST_LINES} more units", *body[-_MOST_LINES // 2 :]]
    return "\n".join([title, *body])
