"""Folds: the rows of each split, sliced once for all candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from mercer._rows import size_in_bytes, take_rows

Split = tuple[npt.NDArray[Any], npt.NDArray[Any]]
_MOST_KEPT = 2 * 2**30  # bytes of sliced folds; beyond that they are sliced for each candidate


@dataclass(frozen=True)
class Table:
    """Rows with what belongs to each."""

    X: Any
    y: Any = None
    weight: Any = None

    def rows(self, index: Any) -> Table:
        return Table(take_rows(self.X, index), take_rows(self.y, index), take_rows(self.weight, index))


class Fold:
    """One split of the rows. Both sides are sliced when first used and then kept, unless they are too large for that."""

    def __init__(self, table: Table, split: Split, *, is_kept: bool = True) -> None:
        self._table, self._split, self._is_kept = table, split, is_kept
        self._sides: tuple[Table, Table] | None = None
        self._lock = Lock()  # nobody slices twice

    def sides(self) -> tuple[Table, Table]:
        """Training rows and test rows."""
        with self._lock:
            sides = self._sides
            if sides is None:
                sides = self._table.rows(self._split[0]), self._table.rows(self._split[1])
                self._sides = sides if self._is_kept else None
        return sides


def make_folds(table: Table, splits: Sequence[Split]) -> list[Fold]:
    is_kept = len(splits) * size_in_bytes(table.X) <= _MOST_KEPT
    return [Fold(table, split, is_kept=is_kept) for split in splits]


def make_splits(cv: Any, estimator: Any, table: Table, groups: Any) -> list[Split]:
    """The splits that scikit-learn makes; where groups are given and `cv` is a number, no group is on both sides."""
    is_labelled = is_classifier(estimator)
    if groups is not None and (cv is None or isinstance(cv, int)):
        cv = (StratifiedGroupKFold if is_labelled else GroupKFold)(5 if cv is None else cv)
    splitter = check_cv(5 if cv is None else cv, table.y, classifier=is_labelled)
    return list(splitter.split(table.X, table.y, groups))
