"""How the values of a column lie, in the training rows and in the test rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.data.columns import Feature
from mercer._report.data.content import Distribution
from mercer._tables import as_text

_MOST_BINS = 20
_MOST_VALUES = 8  # that are shown one by one
_FEW_NUMBERS = 10  # distinct numbers that are shown one by one
_TAIL = 0.005  # of the values, that may lie beyond the bins


def distribution_of(feature: Feature) -> Distribution:
    """Shares by value for words and for few distinct numbers, by bins of equal width for others."""
    train, test = (values[~np.isnan(values)] for values in (feature.train, feature.test))
    if feature.is_words or feature.n_distinct <= _FEW_NUMBERS:
        return _by_value(feature, train, test)
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.quantile(train, [_TAIL, 1 - _TAIL])
    low, high = (low, high) if high > low else (train.min(), train.max())
    n_bins = int(np.clip(2 * len(train) ** (1 / 3), 5, _MOST_BINS))
    edges = np.linspace(low, high, n_bins + 1)
    if not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():  # too close, or too far, to be told apart in binary
        return _by_value(feature, train, test)
    shares = [_shares(np.bincount(np.searchsorted(edges[1:-1], values), minlength=n_bins)) for values in (train, test)]
    return _described(feature, edges=edges.tolist(), train=shares[0], test=shares[1])


def _by_value(feature: Feature, train: FloatArray, test: FloatArray) -> Distribution:
    values, counts = np.unique(train, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = values[order[:_MOST_VALUES]] if len(values) > _MOST_VALUES + 2 else values[order]
    if not feature.is_words:
        kept = np.sort(kept)
    elsewhere = np.unique(np.concatenate([train[~np.isin(train, kept)], test[~np.isin(test, kept)]]))
    counted = [[int((part == value).sum()) for value in kept] for part in (train, test)]
    if len(elsewhere):
        counted = [[*found, len(part) - sum(found)] for found, part in zip(counted, (train, test), strict=True)]
    shown = [feature.levels[int(value)] if feature.is_words else as_text(value) for value in kept]
    shares = [_shares(np.asarray(found)) for found in counted]
    return _described(feature, values=shown, n_others=len(elsewhere), train=shares[0], test=shares[1])


def _described(
    feature: Feature,
    *,
    train: list[float],
    test: list[float],
    edges: list[float] | None = None,
    values: list[str] | None = None,
    n_others: int = 0,
) -> Distribution:
    ends: list[Any] = [None] * 3
    if not feature.is_words and feature.has_values:
        known = np.sort(feature.known)
        halves = known[[(len(known) - 1) // 2, len(known) // 2]] / 2  # halved first, so that the largest numbers have a middle
        ends = [float(known[0]), float(halves.sum()), float(known[-1])]
    return Distribution(
        column=feature.name,
        kind="words" if feature.is_words else "date" if feature.is_date else "number",
        n_distinct=feature.n_distinct,
        low=ends[0],
        median=ends[1],
        high=ends[2],
        edges=edges,
        values=values,
        n_others=n_others,
        train=train,
        test=test,
    )


def _shares(counts: Any) -> list[float]:
    total = counts.sum()
    found: list[float] = np.round(counts / total, 5).tolist() if total else [0.0] * len(counts)
    return found
