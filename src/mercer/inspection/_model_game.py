"""The games that a model plays: a coalition is worth what the model says where its features alone are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.inspection._coalition_rows import MaskArray, Pairs, Table
from mercer.inspection._groups import Players
from mercer.inspection._model import Model

Link = Literal["identity", "logit"]

# Values of features that are handed to the model at a time: few enough for the caches, many enough that a call is worth it.
_CELLS = 2**19


def linked(owner: str, values: FloatArray, link: Link) -> FloatArray:
    """The values in the units of the explanation."""
    if link == "identity":
        return values
    if not ((values > 0) & (values < 1)).all():
        raise ValueError(
            f"{owner}: link='logit' is not valid, as some outputs are not within (0, 1) and have no log-odds; explain them as "
            "they are (link='identity'), or decision values (response_method='decision_function')."
        )
    odds: FloatArray = np.log(values / (1 - values))
    return odds


@dataclass
class ModelGame:
    """A game for each row of X, admitted by the table: v(S) = link(mean of f over the background with the values of x on S)."""

    model: Model
    table: Table
    weights: FloatArray
    players: Players
    link: Link
    X: Any

    def __post_init__(self) -> None:
        self.n_evaluations = 0
        background = self._outputs(self.table.for_model(self.table.own_rows))
        self.empty = linked(self.model.owner, self.weights @ background, self.link)
        self.full = linked(self.model.owner, self._in_batches(), self.link)
        self.varies = self.players.anything(self.table.differs(self.X))

    @property
    def n_outputs(self) -> int:
        return int(self.empty.shape[0])

    def _outputs(self, rows: Any) -> FloatArray:
        values = self.model(rows)
        self.n_evaluations += len(values)
        return values

    def _in_batches(self) -> FloatArray:
        """What the model says of X itself."""
        n, step = self.X.shape[0], max(1, _CELLS // self.table.n_columns)
        if n <= step:
            return self._outputs(self.table.for_model(self.X)) if n else np.empty((0, len(self.empty)))
        parts = [self.X[start : start + step] for start in range(0, n, step)]
        return np.concatenate([self._outputs(self.table.for_model(part)) for part in parts])

    def values(self, rows: npt.NDArray[np.intp], masks: MaskArray, among: npt.NDArray[np.intp]) -> FloatArray:
        """What coalitions of the players `among` are worth, of shape (rows, coalitions, outputs).

        The other players must not vary in these rows, so that it does not matter on which side they are.
        """
        is_empty, is_full = ~masks.any(axis=1), masks.all(axis=1)
        out = np.empty((len(rows), len(masks), self.n_outputs))
        out[:, is_empty], out[:, is_full] = self.empty, self.full[rows][:, None]
        inner = np.flatnonzero(~(is_empty | is_full))
        if len(inner) == 0 or len(rows) == 0:
            return out
        whole = np.zeros((len(inner), len(self.players.names)), dtype=np.uint8)
        whole[:, among] = masks[inner]
        means = np.empty((len(rows) * len(inner), self.n_outputs))
        step = max(1, _CELLS // (self.table.n_rows * self.table.n_columns))
        for start in range(0, len(means), step):
            pair = np.arange(start, min(start + step, len(means)))
            row_of, mask_of = rows[pair // len(inner)].astype(np.int32), (pair % len(inner)).astype(np.int32)
            mixed = self.table.mixed(self.X, Pairs(whole, self.players.of_column, row_of, mask_of))
            part = means[start : start + len(pair)]
            kernels.means_of_runs(self._outputs(mixed), self.weights, part, effective_threads(None))
        out[:, inner] = linked(self.model.owner, means, self.link).reshape(len(rows), len(inner), -1)
        return out
