"""`TreeSum`: what the tree explainer knows of a model, whichever it is: sums over trees, one for each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trees.store import IntArray, TreeStore

_ROWS_AT_ONCE = 4096

NUMBERS, LOG_ODDS, SHARES, OTHER = "numbers", "log odds", "shares", "other"


class Unsuited(Exception):
    """Why a model cannot be explained by its trees."""


@dataclass(frozen=True)
class Output:
    """One output: `base`, and of each of its trees (None: of all) what `values`, one for each node, has for a row's leaf."""

    values: FloatArray
    base: float = 0.0
    trees: IntArray | None = None


@dataclass(frozen=True)
class TreeSum:
    """A fitted model as sums of trees.

    Parameters
    ----------
    store : TreeStore
        The trees; `weight` has the cover of each node, the weight of the training rows in it.
    outputs : tuple of Output
    read : callable
        X of a user as a dense float array that the trees' splits read.
    predict : callable
        What the model itself says of X, in the units of the sums, of shape (n_rows,) or (n_rows, n_outputs).
    units : {"numbers", "log odds", "shares", "other"}
        Of the sums.
    loss : {"squared", "log"} or None
        The loss that `model_output="log_loss"` explains.
    classes : ndarray or None
        The classes, of a classifier of one output.
    names : sequence of str or None
        The names of the outputs.
    is_mirrored : bool
        Whether the one sum is the share of the second of two classes, and the first has one minus it.
    """

    store: TreeStore
    outputs: tuple[Output, ...]
    read: Callable[[Any], FloatArray]
    predict: Callable[[Any], FloatArray]
    units: str = NUMBERS
    loss: str | None = None
    classes: npt.NDArray[Any] | None = None
    names: Sequence[str] | None = None
    is_mirrored: bool = False

    def raw(self, rows: FloatArray, n_threads: int) -> FloatArray:
        """The sums themselves, of shape (n_rows, n_outputs)."""
        out = np.empty((len(rows), len(self.outputs)))
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[begin : begin + _ROWS_AT_ONCE]
            leaves: IntArray = self.store.apply(part, n_threads=n_threads) + self.store.starts[:-1]
            for k, output in enumerate(self.outputs):
                own = leaves if output.trees is None else leaves[:, output.trees]
                out[begin : begin + len(part), k] = output.base + output.values[own].sum(axis=1)
        return out

    def expected(self) -> FloatArray:
        """The outputs where nothing is known of a row but the shares of training rows on each way, of shape (n_outputs,)."""
        means = [output.base + kernels.mean_of_leaves(*self._model(output)) for output in self.outputs]
        return np.array(means)

    def path_dependent(self, rows: FloatArray, n_threads: int, *, has_pairs: bool = False) -> FloatArray:
        """Values of shape (n_rows, n_features, n_outputs), or of pairs (n_rows, n_features, n_features, n_outputs) but for the
        diagonal."""

        def add(output: Output, out: FloatArray) -> None:
            kernels.add_path_dependent(*self._model(output), rows, has_pairs, out, n_threads)

        return self._each(add, rows, has_pairs)

    def interventional(
        self,
        rows: FloatArray,
        background: FloatArray,
        n_threads: int,
        *,
        scales: FloatArray | None = None,
        has_pairs: bool = False,
    ) -> FloatArray:
        """The same over background rows; `scales` has a factor for each row and row of the background."""

        def add(output: Output, out: FloatArray) -> None:
            kernels.add_interventional(*self._model(output), rows, background, scales, has_pairs, out, n_threads)

        return self._each(add, rows, has_pairs)

    def _model(self, output: Output) -> tuple[Any, IntArray, FloatArray, FloatArray]:
        trees = np.arange(len(self.store)) if output.trees is None else np.ascontiguousarray(output.trees)
        return self.store.trees, trees, self.store.weight, output.values

    def _each(self, add: Callable[[Output, FloatArray], None], rows: FloatArray, has_pairs: bool) -> FloatArray:
        d = self.store.n_features
        of_outputs = np.zeros((len(self.outputs), len(rows), d * d if has_pairs else d))
        for output, out in zip(self.outputs, of_outputs, strict=True):
            add(output, out)
        values = np.moveaxis(of_outputs, 0, -1)
        return values.reshape(len(rows), d, d, len(self.outputs)) if has_pairs else values
