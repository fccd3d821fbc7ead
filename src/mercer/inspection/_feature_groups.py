"""Groups of features that are shuffled together: named by the user, or found by their correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.cluster.hierarchy
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer._params import ArrayLike, InvalidParameterError, Mapped, Null, Real, check_value
from mercer._tables import Table

Groups = dict[str, list[int]]
_OWNER = "permutation_importance"


def groups_of(groups: Any, table: Table, names: Sequence[str]) -> Groups:
    """The columns of each group by its name, in the order of their first columns; a column in no group is one of its own.

    `groups` may be None (all on their own), a threshold of correlation, a dict of lists of columns, or such lists alone.
    """
    check_value(_OWNER, "groups", groups, Null() | Real(above=0, most=1) | Mapped() | ArrayLike())
    if groups is None:
        return {name: [column] for column, name in enumerate(names)}
    if isinstance(groups, (int, float, np.floating, np.integer)):
        return _named(correlated(table, float(groups)), names)
    if isinstance(groups, Mapping):
        given = {str(name): _places(name, columns, names) for name, columns in groups.items()}
    else:
        given = _named([_places(number, columns, names) for number, columns in enumerate(groups)], names)
    seen = [column for columns in given.values() for column in columns]
    twice = next((column for column in seen if seen.count(column) > 1), None)
    if twice is not None:
        raise InvalidParameterError(f"{_OWNER}: groups={groups!r} has {names[twice]!r} twice; groups must not overlap.")
    alone = {names[column]: [column] for column in range(len(names)) if column not in seen}
    clash = next((name for name in alone if name in given), None)
    if clash is not None:
        raise InvalidParameterError(
            f"{_OWNER}: groups={groups!r} calls a group {clash!r}, which is a column outside of it; give it another name."
        )
    return dict(sorted({**given, **alone}.items(), key=lambda item: min(item[1])))


def correlated(table: Table, threshold: float) -> list[list[int]]:
    """Columns of numbers joined while the mean absolute rank correlation between two groups is at least the threshold.

    Columns of words, and constant ones, stay alone. O(n d (log n + d)).
    """
    ranks = [_ranks(table.column(place)) for place in range(len(table.names))]
    known = [place for place, column in enumerate(ranks) if column is not None]
    alone = [[place] for place, column in enumerate(ranks) if column is None]
    if len(known) < 2:
        return alone + [[place] for place in known]
    matrix = np.stack([column for column in ranks if column is not None])
    correlations = np.abs(np.clip(matrix @ matrix.T, -1.0, 1.0))
    np.fill_diagonal(correlations, 1.0)
    merges = scipy.cluster.hierarchy.average(squareform(1 - correlations, checks=False))
    labels = scipy.cluster.hierarchy.fcluster(merges, 1 - threshold, "distance")
    found = [[known[place] for place in np.flatnonzero(labels == label)] for label in np.unique(labels)]
    return sorted(alone + found, key=min)


def _ranks(column: npt.NDArray[Any]) -> FloatArray | None:
    """Ranks of mean 0 and length 1, missing values in the middle; None for a column without an order or of one value."""
    if column.dtype.kind not in "fiub":
        return None
    values = column.astype(np.float64)
    is_known = ~np.isnan(values)
    ranks = np.zeros(len(values))
    ranks[is_known] = rankdata(values[is_known])
    ranks[is_known] -= ranks[is_known].mean() if is_known.any() else 0.0
    length = float(np.linalg.norm(ranks))
    return ranks / length if length > 0 else None


def _named(groups: Sequence[list[int]], names: Sequence[str]) -> Groups:
    return {" + ".join(names[column] for column in columns): list(columns) for columns in groups}


def _places(group: Any, columns: Any, names: Sequence[str]) -> list[int]:
    """The numbers of a group's columns, which are given by number or by name."""
    listed = [columns] if isinstance(columns, (str, int, np.integer)) else list(columns)
    places = [_place(group, column, names) for column in listed]
    if not places:
        raise InvalidParameterError(f"{_OWNER}: groups: the group {group!r} is empty; it must hold a column at least.")
    return places


def _place(group: Any, column: Any, names: Sequence[str]) -> int:
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    if isinstance(column, str) and column in names:
        return list(names).index(column)
    raise InvalidParameterError(
        f"{_OWNER}: groups: the group {group!r} holds {column!r}; it must hold names of columns or numbers from 0 to "
        f"{len(names) - 1}."
    )
