"""Single units: activations, and the perceptrons that are logical gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError, OneOf, Real, check_value

LEAK = 0.01  # slope of leaky_relu below zero


class Activation(NamedTuple):
    """A function of the sum z, and its derivative; None where it is zero wherever it exists."""

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray] | None


def _gelu_slope(z: FloatArray) -> FloatArray:
    """Phi(z) + z phi(z)."""
    slope: FloatArray = ndtr(z) + z * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return slope


# Slopes at the kink of relu and leaky_relu are those from the left.
ACTIVATIONS = {
    "heaviside": Activation(lambda z: np.where(z >= 0, 1.0, 0.0), None),
    "identity": Activation(lambda z: z, np.ones_like),
    "sigmoid": Activation(expit, lambda z: expit(z) * expit(-z)),
    "tanh": Activation(np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "relu": Activation(lambda z: np.maximum(z, 0), lambda z: np.where(z > 0, 1.0, 0.0)),
    "leaky_relu": Activation(lambda z: np.where(z > 0, z, LEAK * z), lambda z: np.where(z > 0, 1.0, LEAK)),
    "gelu": Activation(lambda z: z * ndtr(z), _gelu_slope),
}


@dataclass(frozen=True)
class Unit:
    r"""One unit of a network, with weights that are set by hand.

    .. math:: h(x) = f(\langle w, x \rangle + b)

    Parameters
    ----------
    weights : sequence of float
        w, one for each input.
    bias : float, default=0.0
        b.
    activation : {"heaviside", "identity", "sigmoid", "tanh", "relu", "leaky_relu", "gelu"}, default="heaviside"
        f. "heaviside" is 1 for z >= 0 and 0 below, which makes the unit a perceptron; "leaky_relu" is z above and 0.01 z below
        0; "gelu" is z times the normal distribution function of z.

    Attributes
    ----------
    n_inputs, n_parameters : int
        The number of weights, and that of weights and bias.

    Notes
    -----
    `AND`, `OR`, `NOT` and `PASS` are units with heaviside for inputs 0 and 1; `PASS` hands its one input on. Units are compared
    by their values and never change.

    References
    ----------
    F. Rosenblatt: The perceptron: a probabilistic model for information storage and organization in the brain. Psychological
    Review 65 (1958).

    Examples
    --------
    >>> from mercer.neural_network import AND, Unit
    >>> AND
    Unit(weights=(1.0, 1.0), bias=-1.5, activation='heaviside')
    >>> AND([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([0., 0., 0., 1.])
    >>> Unit([2.0], bias=-1.0, activation="relu")([3.0])
    5.0
    """

    weights: tuple[float, ...]
    bias: float = 0.0
    activation: str = "heaviside"

    def __init__(self, weights: Any, bias: float = 0.0, activation: str = "heaviside") -> None:
        w = as_floats("Unit", "weights", weights, n_axes=1)
        if len(w) == 0:
            raise InvalidParameterError("Unit: weights is empty; it must have a number for each input, one at least.")
        object.__setattr__(self, "weights", tuple(w.tolist()))
        object.__setattr__(self, "bias", check_value("Unit", "bias", bias, Real()))
        object.__setattr__(self, "activation", check_value("Unit", "activation", activation, OneOf(*ACTIVATIONS)))

    @property
    def n_inputs(self) -> int:
        return len(self.weights)

    @property
    def n_parameters(self) -> int:
        return self.n_inputs + 1

    def __call__(self, x: Any) -> Any:
        """The activation for one vector of inputs, or for each row of a matrix."""
        X = as_floats("Unit", "x", x)
        if X.ndim not in (1, 2) or X.shape[-1] != self.n_inputs:
            raise ValueError(f"Unit: x has shape {X.shape}; it must be of {self.n_inputs} inputs, or have rows of as many.")
        # z = <w, x> + b
        a = ACTIVATIONS[self.activation].value(X @ np.array(self.weights) + self.bias)
        return float(a) if X.ndim == 1 else a


def as_floats(owner: str, name: str, values: Any, n_axes: int | None = None) -> FloatArray:
    """Finite numbers as float64, of so many axes; the array is a copy."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"{owner}: {name}={values!r} is not valid; it must be an array of numbers.") from error
    if n_axes is not None and array.ndim != n_axes:
        kind = "a vector" if n_axes == 1 else "a matrix"
        raise InvalidParameterError(f"{owner}: {name} has shape {array.shape}; it must be {kind}.")
    if not np.isfinite(array).all():
        raise InvalidParameterError(f"{owner}: {name} holds NaN or infinity; every value must be finite.")
    return array


AND = Unit([1.0, 1.0], -1.5)
OR = Unit([1.0, 1.0], -0.5)
NOT = Unit([-1.0], 0.5)
PASS = Unit([1.0], -0.5)
