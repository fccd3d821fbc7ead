"""JAX on the processor: an epoch is one compiled loop over batches. XLA spreads over its threads what it finds worth it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.neural import _peers

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)  # without it float64 becomes float32

_DECAYS, _EPS = (0.9, 0.999), 1e-8


def _cross_entropy(raw: jax.Array, codes: jax.Array) -> jax.Array:
    chosen = jax.nn.one_hot(codes, raw.shape[1], dtype=raw.dtype)
    return -(chosen * jax.nn.log_softmax(raw)).sum() / len(raw)


def _half_squares(raw: jax.Array, target: jax.Array) -> jax.Array:
    return ((raw - target) ** 2).sum() / (2 * len(raw))


def _bernoulli(raw: jax.Array, target: jax.Array) -> jax.Array:
    return (jax.nn.softplus(raw) - target * raw).sum() / len(raw)


# Of each law: the mean loss over rows, and the map from raw outputs to probabilities or means.
_LAWS = {
    "categorical": (_cross_entropy, jax.nn.softmax),
    "gaussian": (_half_squares, lambda raw: raw),
    "bernoulli": (_bernoulli, jax.nn.sigmoid),
}


def _raw(layers: Any, X: jax.Array) -> jax.Array:
    for weights, biases in layers[:-1]:
        X = jax.nn.relu(X @ weights + biases)
    weights, biases = layers[-1]
    return X @ weights + biases


@partial(jax.jit, static_argnames="law")
def _forward(layers: Any, X: jax.Array, law: str) -> jax.Array:
    return _LAWS[law][1](_raw(layers, X))


@partial(jax.jit, static_argnames="law", donate_argnames="state")
def _epoch(state: Any, X: jax.Array, target: jax.Array, order: jax.Array, rate: float, alpha: float, law: str) -> Any:
    """Batches are the rows of `order`. The state: layers, both moments, and the number of steps as a number of X's dtype."""
    loss, _ = _LAWS[law]

    def step(state: Any, batch: Any) -> Any:
        layers, first, second, t = state
        gradient = jax.grad(lambda layers: loss(_raw(layers, batch[0]), batch[1]))(layers)
        decay = (alpha / order.shape[1]).astype(X.dtype)
        gradient = [(g + decay * weights, b) for (g, b), (weights, _) in zip(gradient, layers, strict=True)]
        t = t + 1
        a, b = _DECAYS
        first = jax.tree.map(lambda m, g: a * m + (1 - a) * g, first, gradient)
        second = jax.tree.map(lambda v, g: b * v + (1 - b) * g**2, second, gradient)
        length = (rate * jnp.sqrt(1 - b**t) / (1 - a**t)).astype(X.dtype)
        layers = jax.tree.map(lambda w, m, v: w - length * m / (jnp.sqrt(v) + _EPS), layers, first, second)
        return (layers, first, second, t), None

    # Gathering a whole epoch at once is faster here than batch by batch.
    return jax.lax.scan(step, state, (X[order], target[order]))[0]


class _Jax(_peers.Network):
    def get_ready(self, X: Any, y: Any) -> None:
        """An epoch of all rows, so that it is compiled."""
        self.of_one_epoch().fit(X, y)

    def _train(self, X: np.ndarray, target: np.ndarray, start: _peers.Layers, orders: Iterator[np.ndarray]) -> None:
        rows, targets = jnp.asarray(X), jnp.asarray(target)
        zeros = [(np.zeros_like(weights), np.zeros_like(biases)) for weights, biases in start]
        state = jax.tree.map(jnp.array, (start, zeros, zeros, X.dtype.type(0)))
        for order in orders:
            batches = jnp.asarray(order.reshape(-1, self.batch_size).astype(np.int32))
            state = _epoch(state, rows, targets, batches, self.learning_rate_init, self.alpha, self.law)
        self._layers = jax.block_until_ready(state[0])

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(_forward(self._layers, X, self.law))


class Classifier(_Jax, _peers.Classifier):
    pass


class Regressor(_Jax, _peers.Regressor):
    pass


class Autoencoder(_Jax, _peers.Autoencoder):
    pass
