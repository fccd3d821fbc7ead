"""Which rows learn and which test: at random, whole groups, or forward in time; and the folds of those that learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._runs.errors import RunError
from mercer._runs.order import Order
from mercer.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold, train_test_split

Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]


@dataclass(frozen=True)
class Division:
    """The rows that learn and those that test, and how the first are cut into folds.

    Rows that are divided in time lie in its order: the table was sorted before.
    """

    kind: Literal["random", "groups", "time"]
    train: Rows  # their positions, rising
    test: Rows
    strata: npt.NDArray[Any] | None = None  # the class of each row
    groups: Rows | None = None  # the group of each row
    times: FloatArray | None = None  # when each row was, rising
    order: Order | None = None  # by which rows are in time
    is_by_file: bool = False  # whether the test rows come from a file of their own

    def folds(self, n_folds: int, seed: int) -> list[Split]:
        """Pairs of learning and held-out rows, as positions among `train`.

        Every row is held out once, but forward in time: there each fold learns from all that was before it, so that the
        earliest rows are never held out. The latest fold comes first.
        """
        strata = None if self.strata is None else self.strata[self.train]
        if self.groups is not None:
            return _group_folds(self.groups[self.train], strata, n_folds, seed)
        if self.times is not None:
            return _forward_folds(self.times[self.train], strata, n_folds)
        kind = KFold if strata is None else StratifiedKFold
        splitter = kind(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than there are folds: alerts say it
            return [(train, test) for train, test in splitter.split(np.zeros(len(self.train)), strata)]

    @property
    def is_a_guess(self) -> bool:
        """Whether rows are taken to be in time for nothing but their order in the file."""
        return self.order is not None and self.order.column is None and self.order.evidence is not None

    @property
    def in_words(self) -> str:
        """How rows were divided, for reports."""
        where = "those of a file of their own (--test-file)" if self.is_by_file else None
        if self.kind == "groups":
            return f"test rows are {where or 'of groups that learn nothing (--group)'}; folds keep groups together"
        if self.kind == "time":
            assert self.order is not None
            return f"test rows are {where or 'the last ones'} by {self.order.name}; every fold learns from what was before it"
        if where is None:
            return "test rows and folds are drawn at random"
        return f"test rows are {where}; folds are drawn at random"


def divide_at_random(strata: npt.NDArray[Any] | None, n: int, test_size: float, seed: int) -> Split:
    """Rows drawn by the seed, classes in their shares."""
    train, test = train_test_split(np.arange(n), test_size=test_size, random_state=seed, stratify=strata)
    return np.sort(train), np.sort(test)


# ---- groups


def n_group_parts(test_size: float) -> tuple[int, bool]:
    """Into how many parts groups are dealt so that one is about the test's share, and whether that one learns instead."""
    is_swapped = test_size > 0.5
    return max(2, round(1 / (1 - test_size if is_swapped else test_size))), is_swapped


def divide_groups(groups: Rows, strata: npt.NDArray[Any] | None, test_size: float, n_folds: int, seed: int) -> Split:
    """Whole groups for the test, about so large a share of the rows, classes in about their shares."""
    n_parts, is_swapped = n_group_parts(test_size)
    n_groups = len(np.unique(groups))
    if n_groups < max(n_parts, n_folds + 1):
        raise RunError(
            _too_few(n_groups, max(n_parts, n_folds + 1), f"a test of {test_size:g} of the rows and {n_folds} folds")
        )
    rest, part = _group_folds(groups, strata, n_parts, seed)[0]
    train, test = (part, rest) if is_swapped else (rest, part)
    n_learning = len(np.unique(groups[train]))
    if n_learning < n_folds:
        raise RunError(_too_few(n_learning, n_folds, f"{n_folds} folds, after the test has taken its groups"))
    return train, test


def _too_few(n_groups: int, needed: int, what: str) -> str:
    return f"--group: {n_groups} groups are too few for {what}, which takes {needed}. Fewer --folds may do."


def _group_folds(groups: Rows, strata: npt.NDArray[Any] | None, n_folds: int, seed: int) -> list[Split]:
    """Folds of whole groups: as equal in size as may be, and in their classes where there are some."""
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise RunError(_too_few(n_groups, n_folds, f"{n_folds} folds"))
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than there are folds: alerts say it
        codes = np.zeros(len(groups), dtype=np.intp) if strata is None else np.unique(strata, return_inverse=True)[1]
        splits = list(splitter.split(np.zeros(len(groups)), codes, groups))
    if any(not len(train) or not len(test) for train, test in splits):
        raise RunError(_too_few(n_groups, n_folds + 1, f"{n_folds} folds of about equal size"))
    return splits


# ---- time


def divide_in_time(times: FloatArray, test_size: float) -> Split:
    """The last rows, about so large a share, for the test; rows of one time stay together."""
    n = len(times)
    cut = _nearest(_starts(times), (1 - test_size) * n)
    if cut is None:
        raise RunError("--time-column: all rows are of one time; there is no before and after.")
    return np.arange(cut), np.arange(cut, n)


def _starts(times: FloatArray) -> Rows:
    """The positions at which another time begins."""
    return np.flatnonzero(times[1:] != times[:-1]) + 1


def _nearest(places: Rows, wanted: float) -> int | None:
    return int(places[np.argmin(np.abs(places - wanted))]) if len(places) else None


def _forward_folds(times: FloatArray, strata: npt.NDArray[Any] | None, n_folds: int) -> list[Split]:
    """Expanding blocks: each fold holds out a block, and learns from all that was before it."""
    n, starts = len(times), _starts(times)
    wanted = [part * n / (n_folds + 1) for part in range(1, n_folds + 1)]
    cuts = [found for each in wanted if (found := _nearest(starts, each)) is not None]
    if len(set(cuts)) < n_folds:
        raise RunError(
            f"--folds {n_folds}: the rows that learn are of {len(starts) + 1} times, too unevenly spread for so many folds in "
            "time. Fewer --folds may do, and --no-time divides rows at random."
        )
    ends = [*cuts[1:], n]
    splits = [(np.arange(cut), np.arange(cut, end)) for cut, end in zip(cuts, ends, strict=True)]
    if strata is not None:
        check_classes_in_time(strata, splits)
    return splits[::-1]  # the one that learns from most comes first: a first look at one fold is at that


def check_classes_in_time(strata: npt.NDArray[Any], splits: list[Split]) -> None:
    """Refuse a part of the time that has one class only: nothing can be learnt from it, or measured on it."""
    for number, (train, test) in enumerate(splits, start=1):
        for rows, what in ((train, "learns from"), (test, "holds out")):
            if len(np.unique(strata[rows])) < 2:
                raise RunError(
                    f"in time, fold {number} of {len(splits)} {what} rows of the class {str(strata[rows][0])!r} alone. "
                    "Fewer --folds may do, and --no-time divides rows at random."
                )
