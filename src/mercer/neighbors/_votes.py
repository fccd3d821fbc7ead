"""What neighbours say of a query: the shares of their classes, the class that wins, the mean of their targets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import Function, Null, OneOf, Real, Rule, check_value

Indices = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

KINDS = {None: 0, "uniform": 0, "distance": 1, "gaussian": 2}  # as the kernels number them
GIVEN = 3

# The parameters of all estimators that weight neighbours, and of those that let them vote.
WEIGHT_RULES: dict[str, Rule] = {
    "weights": OneOf("uniform", "distance", "gaussian") | Function() | Null(),
    "bandwidth": Real(above=0),
}
TIE_RULES: dict[str, Rule] = {"ties": OneOf("first", "closest")}


@dataclass(frozen=True)
class Weighting:
    """How neighbours count: alike, by one over the distance, by exp(-d^2 / bandwidth), or by a function of the distances."""

    weights: str | Callable[[Any], Any] | None = "uniform"
    bandwidth: float = 1.0

    @property
    def needs_distances(self) -> bool:
        return self.weights not in (None, "uniform")


UNIFORM = Weighting()


def weighting_of(estimator: Any) -> Weighting:
    """How neighbours count by the parameters of an estimator, which may have been set since the fit."""
    if isinstance(estimator.weights, str) and estimator.weights == "uniform":
        return UNIFORM
    owner = type(estimator).__name__
    return Weighting(*(check_value(owner, name, getattr(estimator, name), rule) for name, rule in WEIGHT_RULES.items()))


@dataclass(frozen=True)
class Neighbourhoods:
    """The neighbours of each query: `rows` has a line for each, or they follow each other and `starts` says where."""

    rows: Indices
    distances: FloatArray | None
    starts: Indices | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.starts is None else len(self.starts) - 1

    def nearest(self, k: int) -> Neighbourhoods:
        """The first k of each query, which share the memory."""
        return Neighbourhoods(self.rows[:, :k], None if self.distances is None else self.distances[:, :k])

    @property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Whether a query has no neighbour."""
        if self.starts is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(np.diff(self.starts) == 0)

    def shares(self, by: Weighting, codes: Codes, n_classes: int, n_threads: int) -> FloatArray:
        """The share of each class in the weight of each query's neighbours; zeros for a query without any."""
        out = np.empty((len(self), n_classes))
        kernels.vote_shares(*self._weighted(by), codes, out, n_threads)
        return out

    def winners(self, by: Weighting, codes: Codes, n_classes: int, ties: str, n_threads: int) -> Indices:
        """The class of most weight among each query's neighbours; -1 for a query without any."""
        out = np.empty(len(self), dtype=np.int64)
        kernels.elect(*self._weighted(by), codes, n_classes, ties == "closest", out, n_threads)
        return out

    def means(self, by: Weighting, targets: FloatArray, n_threads: int) -> FloatArray:
        """The weighted mean of the targets of each query's neighbours; NaN for a query without any."""
        out = np.empty((len(self), targets.shape[1]))
        kernels.average_neighbors(*self._weighted(by), targets, out, n_threads)
        return out

    def _weighted(self, by: Weighting) -> tuple[Any, ...]:
        """As the kernels take them: lists, values, the kind of weighting and its bandwidth."""
        lists = (self.rows,) if self.starts is None else (self.starts, self.rows)
        if callable(by.weights):
            return (*lists, self._given(by.weights), GIVEN, 1.0)
        return (*lists, self.distances, KINDS[by.weights], by.bandwidth)

    def _given(self, function: Callable[[Any], Any]) -> FloatArray:
        """What the user's function makes of the distances: of all, or of an array of arrays where lists differ in length."""
        assert self.distances is not None
        if self.starts is None:
            weights = np.asarray(function(np.array(self.distances)))
            shape: tuple[int, ...] = self.rows.shape
        else:
            weights = _flat(function(_ragged(self.distances, self.starts)))
            shape = self.distances.shape
        if weights.shape != shape:
            raise ValueError(f"weights={function!r} gave weights of shape {weights.shape} for distances of shape {shape}.")
        weights = weights.astype(np.float64)
        if np.isnan(weights).any():
            raise ValueError(f"weights={function!r} gave NaN for some distance; every weight must be a number.")
        self._refuse_weightless(weights)
        return weights

    def _refuse_weightless(self, weights: FloatArray) -> None:
        is_zero = weights == 0
        if self.starts is None:
            is_weightless = is_zero.all(axis=1) & (self.rows.shape[1] > 0)
        else:
            n_weighted = np.diff(np.concatenate([[0], np.cumsum(~is_zero)])[self.starts])
            is_weightless = (n_weighted == 0) & ~self.is_empty
        if is_weightless.any():
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you are "
                f"using a user-defined function: the first such sample is {int(is_weightless.argmax())}."
            )


def _ragged(values: FloatArray, starts: Indices) -> npt.NDArray[np.object_]:
    """An array of arrays, one a query."""
    out = np.empty(len(starts) - 1, dtype=object)
    for query, (first, last) in enumerate(itertools.pairwise(starts)):
        out[query] = np.array(values[first:last])
    return out


def _flat(parts: Sequence[Any]) -> FloatArray:
    """The arrays of an array of arrays, one after the other."""
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if len(parts) else np.empty(0)
