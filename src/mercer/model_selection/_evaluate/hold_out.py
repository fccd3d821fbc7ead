"""Holding out the test set, and a validation set."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from mercer._params import InvalidParameterError
from mercer._rows import count_rows, take_rows

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class HoldOut:
    """How rows are held out: whole groups, if any, and else as `train_test_split` does it."""

    X: Any
    y: Any
    groups: Any
    has_classes: bool
    stratify: Any
    random_state: Any

    def whole(self, size: float) -> tuple[Rows, Rows]:
        """The numbers of the rows that stay, and of those that are held out: a share or a number of all."""
        if self.groups is not None:
            if not (isinstance(self.stratify, str) or self.stratify is None or self.stratify is False):
                raise InvalidParameterError(
                    f"evaluate: stratify={self.stratify!r} is not valid with groups, which go whole to one side; it must be "
                    "'auto', False or None."
                )
            splitter = GroupShuffleSplit(1, test_size=size, random_state=self.random_state)
            stay, out = next(splitter.split(np.empty(count_rows(self.X)), self.y, self.groups))
            return stay, out
        rows = np.arange(count_rows(self.X))
        strata = _strata(self.y, self.has_classes, self.stratify)
        stay, out = train_test_split(rows, test_size=size, stratify=strata, random_state=self.random_state)
        return stay, out

    def within(self, rows: Rows, size: float) -> tuple[Rows, Rows]:
        """The same among some of the rows, as places among them; a share is still one of all rows, or groups."""
        n_whole = count_rows(self.X) if self.groups is None else len(np.unique(np.asarray(self.groups)))
        stratify = take_rows(self.stratify, rows) if np.ndim(self.stratify) else self.stratify
        parts = {"X": take_rows(self.X, rows), "y": take_rows(self.y, rows), "groups": take_rows(self.groups, rows)}
        n_out = math.ceil(size * n_whole) if isinstance(size, float) else size
        return replace(self, **parts, stratify=stratify).whole(n_out)


def _strata(y: Any, has_classes: bool, stratify: Any) -> Any:
    if stratify is None or stratify is False:
        return None
    if stratify is True:
        return np.asarray(y)
    if isinstance(stratify, str):  # "auto"
        return np.asarray(y) if has_classes and np.unique(np.asarray(y), return_counts=True)[1].min() > 1 else None
    return np.asarray(stratify)
