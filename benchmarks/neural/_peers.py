"""What the peers share: scikit-learn's words, its start and its order of rows, and the number of threads.

With the same random numbers all of them take the same steps as scikit-learn but for rounding: what differs is the time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np

Layers = list[tuple[np.ndarray, np.ndarray]]  # of each layer the weights, inputs x outputs, and the biases


class Network:
    """ReLU layers trained by Adam. `law` is that of the outputs: categorical, gaussian or bernoulli.

    A subclass of a package says how to `_train`, which keeps what `_outputs` needs: probabilities or means, as NumPy arrays.
    """

    law: str

    def __init__(
        self,
        hidden_layer_sizes: tuple[int, ...] = (100,),
        *,
        alpha: float = 1e-4,
        batch_size: int = 200,
        learning_rate_init: float = 1e-3,
        max_iter: int = 200,
        random_state: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.random_state = random_state

    def of_one_epoch(self) -> Self:
        short = copy(self)
        short.max_iter = 1
        return short

    def _fit(self, X: np.ndarray, target: np.ndarray, widths: tuple[int, ...]) -> None:
        """`widths` are those of the layers, the last being the number of outputs."""
        if len(X) % self.batch_size:
            raise ValueError(f"the rows must fill batches of {self.batch_size}, and there are {len(X)}")
        random = np.random.RandomState(self.random_state)
        start = _glorot((X.shape[1], *widths), random, X.dtype)
        self._train(X, target, start, _orders(len(X), self.max_iter, random))
        self.n_iter_ = self.max_iter

    def _train(self, X: np.ndarray, target: np.ndarray, start: Layers, orders: Iterator[np.ndarray]) -> None:
        raise NotImplementedError

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class Classifier(Network):
    law = "categorical"

    def fit(self, X: np.ndarray, y: np.ndarray) -> Classifier:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit(X, codes, (*self.hidden_layer_sizes, len(self.classes_)))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self._outputs(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self._outputs(X).argmax(axis=1)]


class Regressor(Network):
    law = "gaussian"

    def fit(self, X: np.ndarray, y: np.ndarray) -> Regressor:
        self._fit(X, y[:, None], (*self.hidden_layer_sizes, 1))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._outputs(X)[:, 0]


class Autoencoder(Network):
    """`hidden_layer_sizes` are those of the encoder, the code last; `predict` gives the reconstruction."""

    def __init__(self, *args: Any, output: str = "bernoulli", **params: Any) -> None:
        super().__init__(*args, **params)
        self.law = output

    def fit(self, X: np.ndarray, y: None = None) -> Autoencoder:
        encoder = self.hidden_layer_sizes
        self._fit(X, X, (*encoder, *encoder[-2::-1], X.shape[1]))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._outputs(X)


def _glorot(widths: tuple[int, ...], random: np.random.RandomState, dtype: Any) -> Layers:
    """Uniform on +- sqrt(6 / (inputs + outputs)), weights and biases."""
    layers = []
    for n_in, n_out in pairwise(widths):
        bound = np.sqrt(6 / (n_in + n_out))
        weights, biases = random.uniform(-bound, bound, (n_in, n_out)), random.uniform(-bound, bound, n_out)
        layers.append((weights.astype(dtype), biases.astype(dtype)))
    return layers


def _orders(n: int, n_epochs: int, random: np.random.RandomState) -> Iterator[np.ndarray]:
    """The order of the rows in each epoch, a shuffle of the one before."""
    order = np.arange(n)
    for _ in range(n_epochs):
        shuffle = np.arange(n)
        random.shuffle(shuffle)
        order = order[shuffle]
        yield order


_N_TRIED = 10  # batches


def fastest_n_threads(short: Any, X: Any, y: Any) -> int:
    """One thread or all there are: that with which `short`, a network of one epoch, learns some batches sooner."""
    n = _N_TRIED * short.batch_size
    some, targets = X[:n], None if y is None else y[:n]
    seconds = {}
    for short.n_threads in sorted({1, os.cpu_count() or 1}):
        seconds[short.n_threads] = min(_seconds(short, some, targets) for _ in range(2))
    return min(seconds, key=lambda n_threads: seconds[n_threads])


def _seconds(model: Any, X: Any, y: Any) -> float:
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin
