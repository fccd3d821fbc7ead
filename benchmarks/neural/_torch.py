"""PyTorch, eager: a loop over batches at the number of threads that suits the fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.neural import _peers


def _cross_entropy(raw: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(raw, codes)


def _half_squares(raw: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(raw, target, reduction="sum") / (2 * len(raw))


def _bernoulli(raw: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.binary_cross_entropy_with_logits(raw, target, reduction="sum") / len(raw)


# Of each law: the mean loss over rows, and the map from raw outputs to probabilities or means.
_LAWS = {
    "categorical": (_cross_entropy, lambda raw: raw.softmax(dim=1)),
    "gaussian": (_half_squares, lambda raw: raw),
    "bernoulli": (_bernoulli, torch.sigmoid),
}


@contextmanager
def _threads(n: int | None) -> Iterator[None]:
    """The number is the process's, and OpenMP's of other packages too: it is put back."""
    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _module(start: _peers.Layers) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for weights, biases in start:
        linear = torch.nn.utils.skip_init(torch.nn.Linear, *weights.shape, dtype=torch.from_numpy(weights).dtype)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weights.T))
            linear.bias.copy_(torch.from_numpy(biases))
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class _Torch(_peers.Network):
    n_threads: int | None = None

    def get_ready(self, X: Any, y: Any) -> None:
        self.n_threads = _peers.fastest_n_threads(self.of_one_epoch(), X, y)

    def _train(self, X: np.ndarray, target: np.ndarray, start: _peers.Layers, orders: Iterator[np.ndarray]) -> None:
        rows, targets = torch.from_numpy(X), torch.from_numpy(target)
        loss, _ = _LAWS[self.law]
        self._module = _module(start)
        optimiser = self._adam()
        with _threads(self.n_threads):
            for order in orders:
                shuffled = torch.from_numpy(order)  # a whole epoch is gathered at once: less work than batch by batch
                batches = zip(rows[shuffled].split(self.batch_size), targets[shuffled].split(self.batch_size), strict=True)
                for batch, wanted in batches:
                    optimiser.zero_grad()
                    loss(self._module(batch), wanted).backward()
                    optimiser.step()

    def _adam(self) -> torch.optim.Optimizer:
        """The penalty is alpha / 2 of the squared weights, over the rows of a batch; biases have none."""
        linear = [layer for layer in self._module if isinstance(layer, torch.nn.Linear)]
        groups = [
            {"params": [layer.weight for layer in linear], "weight_decay": self.alpha / self.batch_size},
            {"params": [layer.bias for layer in linear]},
        ]
        return torch.optim.Adam(groups, lr=self.learning_rate_init, fused=True)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return _LAWS[self.law][1](self._module(torch.from_numpy(X))).numpy()


class Classifier(_Torch, _peers.Classifier):
    pass


class Regressor(_Torch, _peers.Regressor):
    pass


class Autoencoder(_Torch, _peers.Autoencoder):
    pass
