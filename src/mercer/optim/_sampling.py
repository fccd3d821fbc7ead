"""Which terms of a finite sum make up the next gradient."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


class Batches:
    """The batches of one epoch after the other: `full`, `cyclic`, `random` (with replacement) or `shuffle` (without)."""

    def __init__(self, n_samples: int, batch_size: int, sampling: str, random: np.random.RandomState) -> None:
        self.n_samples, self.sampling, self.random = n_samples, sampling, random
        self.batch_size = n_samples if sampling == "full" else batch_size
        self.in_order = np.arange(n_samples)

    @property
    def n_batches(self) -> int:
        """How many make up an epoch."""
        return -(-self.n_samples // self.batch_size)

    def epoch(self) -> Iterator[Indices]:
        """Every batch of an epoch; the last one is smaller where the size does not divide the number of terms."""
        order = self._order()
        for begin in range(0, self.n_samples, self.batch_size):
            yield order[begin : begin + self.batch_size]

    def _order(self) -> Indices:
        if self.sampling == "random":
            return self.random.randint(self.n_samples, size=self.n_samples)
        return self.random.permutation(self.n_samples) if self.sampling == "shuffle" else self.in_order
