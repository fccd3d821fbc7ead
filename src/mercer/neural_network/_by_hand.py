"""Networks of known weights, layer by layer: made by hand or taken from a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._linear import linear_predictions
from mercer._params import InvalidParameterError, OneOf, check_value
from mercer.neural_network._passes import BackwardTable, ForwardTable, Pass, row_of, target_of
from mercer.neural_network._units import ACTIVATIONS, Unit, as_floats

_ALIASES = {"logistic": "sigmoid"}  # scikit-learn's name
_HIDDEN = OneOf(*ACTIVATIONS, *_ALIASES)
_OUTPUT = OneOf(*ACTIVATIONS, *_ALIASES, "softmax")


class Layer(NamedTuple):
    """Units side by side: a = f(x W + b)."""

    weights: FloatArray  # of shape (n_in, n_out)
    bias: FloatArray
    activation: str
    is_connected: npt.NDArray[np.bool_]  # which inputs each unit reads: a weight that is cut is zero and no parameter

    def sums(self, X: FloatArray) -> FloatArray:
        """z = x W + b, a row for each of X."""
        return linear_predictions(X, self.weights.T, self.bias)

    def activate(self, z: FloatArray) -> FloatArray:
        if self.activation == "softmax":
            shares: FloatArray = softmax(z, axis=1)
            return shares
        return ACTIVATIONS[self.activation].value(z)


class Network:
    r"""A feed-forward network of known weights, to compute with and to look into. `network` makes it.

    .. math:: a^{(0)} = x, \qquad z^{(k)} = a^{(k-1)} W^{(k)} + b^{(k)}, \qquad a^{(k)} = f_k(z^{(k)})

    Attributes
    ----------
    sizes : tuple of int
        The number of inputs, of the units of each hidden layer, and of outputs.
    coefs, intercepts : list of arrays
        W of shape (n_in, n_out) and b of shape (n_out,) of each layer.
    activations : tuple of str
        f of each layer.
    n_parameters : int
        Weights that are not cut, and biases: a 3-3-2-1 network has 23.

    Notes
    -----
    Computes in float64. Nothing is fitted here, and the network never changes.

    Examples
    --------
    >>> from mercer.neural_network import AND, NOT, OR, PASS, network
    >>> xor = network([[OR, AND], [(PASS, 0), (NOT, 1)], [AND]])
    >>> xor
    Network: 2-2-2-1, 13 parameters, heaviside, heaviside, heaviside
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([0, 1, 1, 0])
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = tuple(layers)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self._layers[0].weights.shape[0], *(layer.weights.shape[1] for layer in self._layers))

    @property
    def coefs(self) -> list[FloatArray]:
        return [layer.weights.copy() for layer in self._layers]

    @property
    def intercepts(self) -> list[FloatArray]:
        return [layer.bias.copy() for layer in self._layers]

    @property
    def activations(self) -> tuple[str, ...]:
        return tuple(layer.activation for layer in self._layers)

    @property
    def is_connected(self) -> list[npt.NDArray[np.bool_]]:
        """Which inputs each unit reads, an array of shape (n_in, n_out) a layer."""
        return [layer.is_connected.copy() for layer in self._layers]

    @property
    def n_parameters(self) -> int:
        return sum(int(layer.is_connected.sum()) + len(layer.bias) for layer in self._layers)

    def __call__(self, x: Any) -> FloatArray:
        """The outputs: of shape (n_outputs,) for one vector of inputs, a row for each row of a matrix."""
        X = as_floats("Network", "x", x)
        if X.ndim not in (1, 2) or X.shape[-1] != self.sizes[0]:
            raise ValueError(f"Network: x has shape {X.shape}; it must be of {self.sizes[0]} inputs, or have rows of as many.")
        a = self._pass(np.atleast_2d(X))[-1].a
        outputs: FloatArray = a[0] if X.ndim == 1 else a
        return outputs

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the outputs say of each row of X.

        The number of the largest output of softmax; 1 where an output of sigmoid or heaviside is at least 1/2, else 0; the
        outputs themselves for other activations. A single output makes a vector.
        """
        a = self(as_floats("Network.predict", "X", X, n_axes=2))
        last = self.activations[-1]
        if last == "softmax":
            largest: npt.NDArray[np.intp] = a.argmax(axis=1)
            return largest
        answers = (a >= 0.5).astype(np.intp) if last in ("sigmoid", "heaviside") else a
        return answers[:, 0] if answers.shape[1] == 1 else answers

    def forward_table(self, x: Any) -> ForwardTable:
        """The sum z and the activation a of every unit for one vector of inputs."""
        x = row_of("forward_table", x, self.sizes[0])
        return ForwardTable.of(x, self._pass(x[None]))

    def backward_table(self, x: Any, y: Any, *, loss: str = "squared") -> BackwardTable:
        r"""Back-propagation for one vector of inputs: the deltas, and the gradients of the weights and biases.

        With :math:`\delta^{(k)} = \partial L / \partial z^{(k)}` the gradients are
        :math:`\partial L / \partial W^{(k)} = a^{(k-1)} \delta^{(k)\top}` and
        :math:`\partial L / \partial b^{(k)} = \delta^{(k)}`, and
        :math:`\delta^{(k)} = f_k'(z^{(k)}) \odot W^{(k+1)} \delta^{(k+1)}`.

        Parameters
        ----------
        x : array-like of shape (n_inputs,)
        y : float or array-like of shape (n_outputs,)
            The target of each output. One integer is the class, for softmax of several outputs.
        loss : {"squared", "logistic"}, default="squared"
            L: half the sum of (a - y)^2; or minus the logarithm of the likelihood of 0/1 targets (sigmoid) or of a class
            (softmax), without any penalty.

        Returns
        -------
        BackwardTable
        """
        check_value("backward_table", "loss", loss, OneOf("squared", "logistic"))
        if "heaviside" in self.activations:
            raise ValueError(
                f"backward_table: layer {self.activations.index('heaviside') + 1} has activation='heaviside', whose derivative "
                "is 0 wherever it exists: no gradient comes back through it. Take a smooth one, such as 'sigmoid'."
            )
        if loss == "logistic" and self.activations[-1] not in ("sigmoid", "softmax"):
            raise ValueError(
                f"backward_table: loss='logistic' needs outputs that are probabilities, not of activation="
                f"{self.activations[-1]!r}; it must be 'sigmoid' or 'softmax'."
            )
        x = row_of("backward_table", x, self.sizes[0])
        target = target_of(y, self.sizes[-1], self.activations[-1], loss)
        return BackwardTable.of(x, target, loss, self._pass(x[None]))

    def _pass(self, X: FloatArray) -> list[Pass]:
        """Inputs, sums and activations of every layer, a row for each of X."""
        passes = []
        for layer in self._layers:
            z = layer.sums(X)
            passes.append(Pass(layer, X, z, layer.activate(z)))
            X = passes[-1].a
        return passes

    def __repr__(self) -> str:
        sizes = "-".join(map(str, self.sizes))
        return f"Network: {sizes}, {self.n_parameters} parameters, {', '.join(self.activations)}"


def network(layers: Any, *, activation: str | None = None, out_activation: str | None = None) -> Network:
    """Make a network of units, of matrices of weights, or of a fitted model.

    Parameters
    ----------
    layers : sequence of layers, or fitted estimator
        A layer is a list of units, which have one activation. A unit reads all values of the layer before it; a pair
        (unit, places) reads those at some places, a number or a list of numbers from 0. Or every layer is a tuple (W, b) of
        arrays of shapes (n_in, n_out) and (n_out,). A fitted estimator has `coefs_`, `intercepts_`, `activation` and
        `out_activation_`, as multi-layer perceptrons do.
    activation : str or None, default=None
        With (W, b): that of the hidden layers; None is "heaviside".
    out_activation : str or None, default=None
        With (W, b): that of the last layer, which may be "softmax"; None is `activation`.

    Returns
    -------
    Network

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neural_network import network
    >>> layers = [(np.ones((3, 3)), np.zeros(3)), (np.ones((3, 2)), np.zeros(2)), (np.ones((2, 1)), np.zeros(1))]
    >>> network(layers, activation="tanh", out_activation="identity")
    Network: 3-3-2-1, 23 parameters, tanh, tanh, identity
    """
    if isinstance(layers, Network):
        _refuse_activations("a network", activation, out_activation)
        return layers
    if hasattr(layers, "fit"):
        _refuse_activations("a fitted model", activation, out_activation)
        return _of_fitted(layers)
    if not isinstance(layers, (list, tuple)) or len(layers) == 0:
        raise InvalidParameterError(
            f"network: layers={layers!r} is not valid; it must be a list of layers, one at least, or a fitted estimator."
        )
    if all(_is_arrays(layer) for layer in layers):
        hidden = "heaviside" if activation is None else check_value("network", "activation", activation, _HIDDEN)
        out = hidden if out_activation is None else check_value("network", "out_activation", out_activation, _OUTPUT)
        return _of_arrays([layer[0] for layer in layers], [layer[1] for layer in layers], hidden, out)
    _refuse_activations("units", activation, out_activation)
    return _of_units(layers)


def _is_arrays(layer: Any) -> bool:
    return isinstance(layer, tuple) and len(layer) == 2 and not any(map(_is_entry, layer))


def _is_entry(part: Any) -> bool:
    """Whether something is part of a layer of units."""
    return isinstance(part, Unit) or (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], Unit))


def _refuse_activations(given: str, activation: Any, out_activation: Any) -> None:
    for name, value in (("activation", activation), ("out_activation", out_activation)):
        if value is not None:
            raise InvalidParameterError(f"network: {name}={value!r} goes with layers (W, b); {given} has its own.")


def _of_fitted(model: Any) -> Network:
    check_is_fitted(model)
    lacking = [name for name in ("coefs_", "intercepts_", "activation", "out_activation_") if not hasattr(model, name)]
    if lacking:
        raise TypeError(
            f"network: {type(model).__name__} has no {', '.join(lacking)}; a fitted model must have coefs_, intercepts_, "
            "activation and out_activation_, as a multi-layer perceptron has."
        )
    hidden = check_value(type(model).__name__, "activation", model.activation, _HIDDEN)
    out = check_value(type(model).__name__, "out_activation_", model.out_activation_, _OUTPUT)
    return _of_arrays(model.coefs_, model.intercepts_, hidden, out)


def _of_arrays(coefs: Sequence[Any], intercepts: Sequence[Any], hidden: str, out: str) -> Network:
    if len(coefs) != len(intercepts):
        raise ValueError(
            f"network: {len(coefs)} matrices of weights and {len(intercepts)} vectors of biases; one of each a layer."
        )
    layers: list[Layer] = []
    for number, (W, b) in enumerate(zip(coefs, intercepts, strict=True), 1):
        weights = as_floats("network", f"W of layer {number}", W, n_axes=2)
        bias = as_floats("network", f"b of layer {number}", b, n_axes=1)
        n_in = layers[-1].weights.shape[1] if layers else weights.shape[0]
        if 0 in weights.shape or weights.shape != (n_in, len(bias)):
            raise InvalidParameterError(
                f"network: layer {number} has W of shape {weights.shape} and b of {len(bias)} values, after {n_in} values "
                "of the layer before it; W must be of shape (n_in, n_out) and b of n_out values."
            )
        name = out if number == len(coefs) else hidden
        layers.append(Layer(weights, bias, _ALIASES.get(name, name), np.ones(weights.shape, dtype=np.bool_)))
    return Network(layers)


def _of_units(layers: Sequence[Any]) -> Network:
    made: list[Layer] = []
    for number, layer in enumerate(layers, 1):
        if not isinstance(layer, (list, tuple)) or len(layer) == 0:
            raise InvalidParameterError(
                f"network: layer {number} is {layer!r}; it must be a list of units, one at least, or in all layers (W, b)."
            )
        n_in = made[-1].weights.shape[1] if made else _n_inputs(layer)
        made.append(_side_by_side(number, [_placed(number, entry, n_in) for entry in layer], n_in))
    return Network(made)


def _n_inputs(layer: Sequence[Any]) -> int:
    """That of a first layer: what its units read."""
    read = [entry.n_inputs if isinstance(entry, Unit) else _places(1, entry)[1].max() + 1 for entry in layer]
    return int(max(read))


def _placed(number: int, entry: Any, n_in: int) -> tuple[Unit, npt.NDArray[np.intp]]:
    """A unit, and which of the values before it are its inputs."""
    unit, places = (entry, np.arange(n_in)) if isinstance(entry, Unit) else _places(number, entry)
    if len(places) != unit.n_inputs:
        raise InvalidParameterError(
            f"network: a unit of layer {number} has {unit.n_inputs} weights and is to read {len(places)} values; it must have "
            "as many, or say what it reads, as in (NOT, 1)."
        )
    if places.max() >= n_in:
        raise InvalidParameterError(
            f"network: a unit of layer {number} reads place {places.max()}; it must be below {n_in}, the number of values."
        )
    return unit, places


def _places(number: int, entry: Any) -> tuple[Unit, npt.NDArray[np.intp]]:
    if _is_entry(entry):
        places = np.atleast_1d(np.asarray(entry[1]))
        is_valid = places.ndim == 1 and places.dtype.kind in "iu" and len(places) > 0 and (places >= 0).all()
        if is_valid and len(np.unique(places)) == len(places):
            return entry[0], places.astype(np.intp)
    raise InvalidParameterError(
        f"network: {entry!r} in layer {number} is not valid; it must be a unit, or a pair of a unit and the different places, "
        "from 0, of what it reads."
    )


def _side_by_side(number: int, units: Sequence[tuple[Unit, npt.NDArray[np.intp]]], n_in: int) -> Layer:
    names = sorted({unit.activation for unit, _ in units})
    if len(names) > 1:
        raise InvalidParameterError(f"network: units of layer {number} have activations {names}; a layer must have one.")
    weights, is_connected = np.zeros((n_in, len(units))), np.zeros((n_in, len(units)), dtype=np.bool_)
    for column, (unit, places) in enumerate(units):
        weights[places, column], is_connected[places, column] = unit.weights, True
    return Layer(weights, np.array([unit.bias for unit, _ in units]), names[0], is_connected)
