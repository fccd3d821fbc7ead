"""Parts of the test rows: the values of words, the quarters of numbers, and the rows where a value is missing."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._report.data.columns import Feature
from mercer._report.numbers import number

_FEWEST_ROWS = 20  # in a part, and beside it
_FEW_NUMBERS = 6  # distinct numbers that are parts of their own
_MOST_LEVELS = 30


@dataclass(frozen=True)
class Group:
    """Some of the test rows."""

    column: str
    value: str
    has_it: npt.NDArray[np.bool_]

    @property
    def n(self) -> int:
        return int(self.has_it.sum())


def groups_of(features: Sequence[Feature]) -> Iterator[Group]:
    """Those of every column that hold enough rows to say anything; ranges are quarters of the training rows."""
    for feature in features:
        for value, has_it in _parts(feature):
            n = int(has_it.sum())
            if min(n, len(has_it) - n) >= _FEWEST_ROWS:
                yield Group(feature.name, value, has_it)


def _parts(feature: Feature) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    values = feature.test
    if feature.is_words:
        yield from _levels(feature)
    elif feature.n_distinct <= _FEW_NUMBERS:
        for value in np.unique(feature.known):
            yield _shown(value, feature), values == value
    else:
        yield from _quarters(feature)
    yield "missing", np.isnan(values)


def _levels(feature: Feature) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    known = feature.test[~np.isnan(feature.test)].astype(np.intp)
    counts = np.bincount(known, minlength=len(feature.levels))
    for code in np.argsort(-counts, kind="stable")[:_MOST_LEVELS].tolist():
        yield feature.levels[code], feature.test == code


def _quarters(feature: Feature) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    edges = np.unique(np.quantile(feature.known, [0.25, 0.5, 0.75]))
    part = np.searchsorted(edges, feature.test, side="left")  # an edge belongs to what lies below it
    ends = [_shown(edge, feature) for edge in edges]
    for place in range(len(edges) + 1):
        if place == 0:
            words = f"up to {ends[0]}"
        elif place == len(edges):
            words = f"above {ends[-1]}"
        else:
            words = f"above {ends[place - 1]}, up to {ends[place]}"
        yield words, (part == place) & ~np.isnan(feature.test)


def _shown(value: float, feature: Feature) -> str:
    if feature.is_date:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=float(value))
        return moment.strftime("%Y-%m-%d")
    shown = number(float(value))
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 10_000 else shown
