"""Identifiers, and keys of groups, among the columns that a model uses."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.data.columns import Feature
from mercer._runs.leaks.target import Target
from mercer._tables import IntArray

_FEWEST_ROWS = 50
_NEARLY_UNIQUE = 0.98
_DENSE = 5  # times the rows: as far as the numbers of a numbering go
_NEARLY_UNIQUE_WORDS = 0.8
_FEWEST_GROUPS = 30
_NEARLY_CONSTANT = 0.9  # of the target told by other rows of the same value
_NEIGHBOURS = 0.25  # less told by the values beside it: the order of values means little


def identifier_words(feature: Feature, n_rows: int) -> str | None:
    """What makes a column look like a numbering of rows (of `n_rows` in the whole table) or a name for each."""
    n_known, n = len(feature.known), feature.n_distinct
    if n_known < _FEWEST_ROWS or feature.is_date:
        return None
    if feature.is_words:
        return f"{n:,} of {n_known:,} rows have a word of their own" if n >= _NEARLY_UNIQUE_WORDS * n_known else None
    values = feature.known
    is_whole = bool((values == np.round(values)).all())
    if is_whole and n >= _NEARLY_UNIQUE * n_known and values.max() - values.min() < _DENSE * n_rows:
        return "nearly every row has a whole number of its own, as in a numbering"
    return None


def told_by_group(feature: Feature, target: Target) -> float | None:
    """How much of the target other rows of the same value tell; None where the column is no key of groups.

    A key has many values, each in several rows; and where they are numbers, those beside a value tell much less than the value.
    """
    codes, counts = np.unique(feature.train[~np.isnan(feature.train)], return_counts=True)
    if len(codes) < _FEWEST_GROUPS or len(codes) > counts.sum() / 2 or feature.is_date:
        return None
    if not feature.is_words and not (codes == np.round(codes)).all():
        return None
    known = np.flatnonzero(~np.isnan(feature.train))
    target = target.take(known)
    groups = np.searchsorted(codes, feature.train[known])
    skill = target.skill(_of_others(groups, len(codes), target))
    if skill < _NEARLY_CONSTANT:
        return None
    if not feature.is_words and _of_neighbours(groups, len(codes), target) > skill - _NEIGHBOURS:
        return None
    return skill


def _of_others(groups: IntArray, n_groups: int, target: Target) -> FloatArray:
    first = np.random.default_rng(3).random(len(groups)) < 0.5
    found = np.empty(len(groups))
    for learning in (first, ~first):
        found[~learning] = target.by_group(groups, n_groups, learning)[~learning]
    return found


def _of_neighbours(groups: IntArray, n_groups: int, target: Target) -> float:
    """The skill of the values just below and above, the value itself left out."""
    found = np.empty(len(groups))
    for parity in (0, 1):  # even values predict odd ones, and the other way round
        learning = groups % 2 == parity
        found[~learning] = target.by_group(groups // 2, n_groups // 2 + 1, learning)[~learning]
    return target.skill(found)
