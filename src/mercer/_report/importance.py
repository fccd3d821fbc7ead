"""Permutation importance of the columns of the raw table, within a time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.content import Importance
from mercer._report.scoring import Scoring
from mercer._tables import Table, as_table

_N_REPEATS = 10
_MOST_ROWS = 5000


def permutation_importance(
    model: Any, table: Table, y: Any, scoring: Scoring, seed: int, deadline: float
) -> tuple[list[Importance], str | None]:
    """How much the score falls when a column is shuffled, most important first, and a note where time cut it short.

    Rounds over all columns are made until there are ten or the time is up. Every shuffle has a generator of its own, keyed by
    (seed, round, column): a shorter time gives fewer rounds, not other ones. At most 5,000 rows are used.
    """
    y = np.asarray(y)
    if table.n_rows > _MOST_ROWS:
        rows = np.sort(np.random.default_rng([seed, 0]).permutation(table.n_rows)[:_MOST_ROWS])
        table, y = as_table(table.take(rows), "X_test"), y[rows]
    whole = scoring(model, table.data, y)
    drops: list[list[float]] = [[] for _ in table.names]
    for repeat in range(_N_REPEATS):
        for column, found in enumerate(drops):
            if time.monotonic() > deadline:
                return _ranked(table.names, drops), _note(drops, repeat, column)
            order = np.random.default_rng([seed, 1 + repeat, column]).permutation(table.n_rows)
            found.append(scoring.gain(whole, scoring(model, table.shuffled(column, order), y)))
    return _ranked(table.names, drops), None


def _ranked(names: list[str], drops: list[list[float]]) -> list[Importance]:
    known: list[tuple[str, FloatArray]] = [
        (name, finite) for name, drop in zip(names, drops, strict=True) if len(finite := _finite(drop))
    ]
    rows = [
        Importance(
            column=name,
            mean=float(drop.mean()),
            std=float(drop.std(ddof=1)) if len(drop) > 1 else None,
            n_repeats=len(drop),
        )
        for name, drop in known
    ]
    return sorted(rows, key=lambda row: -row["mean"])


def _finite(drop: list[float]) -> FloatArray:
    values = np.asarray(drop, dtype=np.float64)
    return values[np.isfinite(values)]


def _note(drops: list[list[float]], repeat: int, column: int) -> str:
    if repeat:
        return f"Permutation importance: the time allowed {repeat} to {repeat + 1} of {_N_REPEATS} rounds of shuffles."
    return f"Permutation importance: the time allowed {column} of {len(drops)} columns; the others are not listed."
