"""The members of one ensemble with their draws, and what the rows left out of these say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.ensemble._bagging.data import BagData
from mercer.ensemble._bagging.draws import BagDraws
from mercer.ensemble._bagging.members import BagMembers
from mercer.ensemble._bagging.trees import BaggedTrees


@dataclass(frozen=True)
class LeftOut:
    """Every row as the members that have not seen it predict it; NaN where all have, and it is not known."""

    values: FloatArray
    is_known: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bag:
    """What the members are clones of, the data, the members and their draws."""

    base: Any
    data: BagData
    members: BagMembers | BaggedTrees
    draws: tuple[BagDraws, ...]

    def first(self, n_members: int) -> Bag:
        """Some members from the beginning of one fit."""
        (draws,) = self.draws
        return replace(self, members=self.members.first(n_members), draws=(draws.first(n_members),))

    def look_out(self, n_jobs: int | None) -> LeftOut:
        """Ask every member for the rows that it has not seen."""
        data, draws = self.data, self.draws
        if len({each.n_rows for each in draws}) > 1:
            raise ValueError("After a warm start on other rows, out-of-bag estimates are not available.")
        masks = [each.counts(member) == 0 for each in draws for member in range(len(each))]
        left_out = [np.flatnonzero(mask) for mask in masks]
        n_asked = np.sum(masks, axis=0)
        shape = (len(data.y), data.n_classes) if data.n_classes else data.y.shape
        total = np.zeros(shape)
        for rows, values in zip(left_out, self.members.each(data.X, n_jobs, lambda number: left_out[number]), strict=True):
            total[rows] += values
        counts = np.where(n_asked > 0, n_asked, np.nan)
        return LeftOut(total / counts.reshape(-1, *[1] * (total.ndim - 1)), n_asked > 0)
