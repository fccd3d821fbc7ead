"""The rows that each member of an ensemble was trained on: drawn again when they are asked for, never stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer._trees.growth import make_seeds
from mercer._trees.store import IntArray

MAX_STATE = np.iinfo(np.int32).max
DRAWS_PER_ROW = 1000  # as in the kernels: a bound far above any use


def make_states(random_state: Any, n: int, n_earlier: int = 0) -> IntArray:
    """The `random_state` of each of n new members, as scikit-learn draws them; those of earlier members come first."""
    random_state = check_random_state(random_state)
    if n_earlier:
        random_state.randint(MAX_STATE, size=n_earlier)
    return np.asarray(random_state.randint(MAX_STATE, size=n), dtype=np.int64)


def seeds_of(states: IntArray) -> npt.NDArray[np.uint64]:
    """The seed of the tree with each `random_state`: a tree alone with it and the same rows is the same tree."""
    return np.concatenate([make_seeds(np.random.RandomState(state), 1) for state in states.tolist()])


def count_draws(max_samples: int | float | None, n_rows: int, weights: FloatArray | None) -> int:
    """How many rows a bootstrap draws: a share is one of all rows, or of their weight."""
    if max_samples is None:
        return n_rows
    total = n_rows if weights is None else float(weights.sum())
    n_draws = max_samples if isinstance(max_samples, int) else max(int(max_samples * total), 1)
    if n_draws > DRAWS_PER_ROW * n_rows:
        raise InvalidParameterError(
            f"max_samples={max_samples!r} is not valid: it asks for {n_draws} draws from {n_rows} rows; it must be at most "
            f"{DRAWS_PER_ROW * n_rows}."
        )
    return n_draws


@saved("Bags")
@dataclass(frozen=True)
class Bags:
    """The draws of the trees of one fit.

    `n_draws` is 0 where every tree has every row once. `cumulative` are the running sums of the weights by which rows are
    drawn; None where all are drawn alike.
    """

    states: IntArray
    n_rows: int
    n_draws: int = 0
    cumulative: FloatArray | None = None

    @classmethod
    def make(cls, states: IntArray, n_rows: int, n_draws: int, weights: FloatArray | None) -> Bags:
        return cls(states, n_rows, n_draws, np.cumsum(weights) if n_draws and weights is not None else None)

    @classmethod
    def join(cls, bags: tuple[Bags, ...]) -> Bags:
        """The bags of all trees; they must have been drawn from the same rows in the same way."""
        first, *others = bags
        for other in others:
            is_same = (other.n_rows, other.n_draws) == (first.n_rows, first.n_draws)
            if not is_same or not np.array_equal(np.asarray(other.cumulative), np.asarray(first.cumulative)):
                raise ValueError("After a warm start on other rows or weights, out-of-bag estimates are not available.")
        return cls(np.concatenate([each.states for each in bags]), first.n_rows, first.n_draws, first.cumulative)

    def __len__(self) -> int:
        return len(self.states)

    def first(self, n_members: int) -> Bags:
        return replace(self, states=self.states[:n_members])

    @property
    def seeds(self) -> npt.NDArray[np.uint64]:
        return seeds_of(self.states)

    def counts(self, member: int) -> FloatArray:
        """How many times a member has each row."""
        if not self.n_draws:
            return np.ones(self.n_rows)
        counts = np.empty(self.n_rows)
        kernels.bootstrap_counts(int(seeds_of(self.states[[member]])[0]), self.n_draws, self.cumulative, counts)
        return counts

    def marks(self, first: int, last: int, n_threads: int) -> npt.NDArray[np.uint8]:
        """For some members (lines), 1 for each row in the bag and 0 for those left out."""
        marks = np.ones((last - first, self.n_rows), dtype=np.uint8)
        if self.n_draws:
            kernels.bootstrap_marks(seeds_of(self.states[first:last]), self.n_draws, self.cumulative, marks, n_threads)
        return marks

    def rows(self, member: int) -> npt.NDArray[np.intp]:
        """The rows that a member has, each as often as it was drawn."""
        return np.repeat(np.arange(self.n_rows), self.counts(member).astype(np.intp))

    def rows_left_out(self, member: int) -> npt.NDArray[np.intp]:
        """The rows out of a member's bag."""
        return np.flatnonzero(self.counts(member) == 0)
