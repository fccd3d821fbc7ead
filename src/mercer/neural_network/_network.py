"""What a network is made of: layers, what each reads, the one flat vector of its parameters, and how they begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._matrix import native_rows
from mercer._native import kernels

ACTIVATIONS = ("identity", "logistic", "sigmoid", "tanh", "relu", "leaky_relu", "gelu", "heaviside")
KERNEL_NAMES = {"sigmoid": "logistic"}


@dataclass(frozen=True)
class Layer:
    """A layer that reads places side by side: place 0 is the input of the network, place p the output of layer p - 1."""

    sources: tuple[int, ...]
    units: int
    activation: str = "identity"
    dropout: float = 0.0
    draws: bool = False  # Gaussian draws from the means and log variances that it reads; no parameters
    tied_to: int = -1  # the layer whose transposed coefficients it uses


@dataclass(frozen=True)
class Network:
    """A feed-forward network. Its flat vector holds the coefficients of all layers, inputs x units, then their intercepts."""

    n_inputs: int
    layers: tuple[Layer, ...]

    @classmethod
    def of_sizes(
        cls,
        sizes: Sequence[int],
        activations: Sequence[str],
        *,
        dropout: Sequence[float] | None = None,
        skips: Sequence[tuple[int, int]] = (),
    ) -> Network:
        """Layers one after another, the first size being that of the input; `skips` are pairs (from place, to place)."""
        layers = []
        for place, (units, activation) in enumerate(zip(sizes[1:], activations, strict=True), start=1):
            sources = {place - 1} | {start for start, end in skips if end == place}
            layers.append(Layer(tuple(sorted(sources)), units, activation, dropout[place - 1] if dropout else 0.0))
        return cls(sizes[0], tuple(layers))

    @lazy_property
    def native(self) -> Any:
        """The network as the kernels have it."""
        return kernels.Network(
            self.n_inputs,
            [
                (
                    list(layer.sources),
                    layer.units,
                    KERNEL_NAMES.get(layer.activation, layer.activation),
                    layer.dropout,
                    layer.draws,
                    layer.tied_to,
                )
                for layer in self.layers
            ],
        )

    @property
    def n_outputs(self) -> int:
        return self.layers[-1].units

    def width(self, place: int) -> int:
        return self.n_inputs if place == 0 else self.layers[place - 1].units

    def n_read(self, layer: Layer) -> int:
        """How many values a layer reads."""
        return sum(self.width(source) for source in layer.sources)

    def views(self, flat: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
        """The coefficients and intercepts of all layers as parts of the flat vector; those of draws are empty."""
        coefs: list[FloatArray] = []
        end = 0
        for layer in self.layers:
            inputs, units = self.n_read(layer), layer.units
            if layer.draws:
                coefs.append(flat[:0].reshape(0, 0))
            elif layer.tied_to >= 0:
                coefs.append(coefs[layer.tied_to].T)
            else:
                coefs.append(flat[end : end + inputs * units].reshape(inputs, units))
                end += inputs * units
        intercepts: list[FloatArray] = []
        for layer in self.layers:
            n = 0 if layer.draws else layer.units
            intercepts.append(flat[end : end + n])
            end += n
        return coefs, intercepts

    def flat(self, coefs: Sequence[Any], intercepts: Sequence[Any], dtype: npt.DTypeLike) -> FloatArray:
        """A new flat vector of arrays a layer, whose shapes must be right."""
        vector = np.empty(self.native.n_parameters, dtype=dtype)
        for place, arrays in zip(self.views(vector), (coefs, intercepts), strict=True):
            for part, given in zip(place, arrays, strict=True):
                part[...] = given
        return vector

    def outputs(
        self, X: Any, coefs: Sequence[FloatArray], intercepts: Sequence[FloatArray], activation: str, n_threads: int
    ) -> FloatArray:
        """The values of the last layer for rows X (dense or CSR, of the type of the coefficients), after an activation."""
        out = np.empty((X.shape[0], self.n_outputs), dtype=X.dtype)
        if sp.issparse(X):
            coefs = [np.ascontiguousarray(coef) for coef in coefs]
        kernels.network_outputs(self.native, native_rows(X), list(coefs), list(intercepts), activation, out, n_threads)
        return out


def starting_parameters(network: Network, scheme: Any, random_state: np.random.RandomState, dtype: npt.DTypeLike) -> FloatArray:
    """Where training begins: by the name of a scheme, or from given (coefs, intercepts).

    Glorot draws coefficients and intercepts uniformly from +-sqrt(6 / (inputs + units)), 2 in place of 6 for logistic units; He
    draws normal coefficients of variance 2 / inputs; orthogonal ones are the factor Q of such a draw, times sqrt 2 for ReLUs.
    """
    flat = np.zeros(network.native.n_parameters, dtype=dtype)
    coefs, intercepts = network.views(flat)
    if not isinstance(scheme, str):
        given_coefs, given_intercepts = scheme
        return network.flat(given_coefs, given_intercepts, dtype)
    hidden = network.layers[0].activation if len(network.layers) > 1 else "identity"
    for layer, coef, intercept in zip(network.layers, coefs, intercepts, strict=True):
        if layer.draws:
            continue
        inputs, units = coef.shape
        if scheme == "glorot":
            bound = np.sqrt((2.0 if hidden in ("logistic", "sigmoid") else 6.0) / (inputs + units))
            if layer.tied_to < 0:
                coef[...] = random_state.uniform(-bound, bound, coef.shape)
            intercept[...] = random_state.uniform(-bound, bound, units)
        elif layer.tied_to < 0:
            normal = random_state.standard_normal(coef.shape)
            if scheme == "he":
                coef[...] = normal * np.sqrt(2.0 / inputs)
            else:
                coef[...] = _orthogonal(normal) * (np.sqrt(2.0) if "relu" in layer.activation else 1.0)
    return flat


def _orthogonal(normal: FloatArray) -> FloatArray:
    """Orthonormal columns (or lines, where they are fewer), uniformly drawn: Q of the QR factors, with the signs of R."""
    is_wide = normal.shape[0] < normal.shape[1]
    q, r = np.linalg.qr(normal.T if is_wide else normal)
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return q.T if is_wide else q
