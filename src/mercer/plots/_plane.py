"""The plane of two features: a grid of rows of the same kind as the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._rows import count_rows

_MARGIN = 0.08  # of the range of a feature, free on both sides
_MOST_NAMED = 2  # of the features that are held


class Plane(NamedTuple):
    """Two features of a table: their names, the rows' values of them, and the grid."""

    names: tuple[str, str]
    points: FloatArray  # of shape (n_samples, 2)
    horizontal: FloatArray
    vertical: FloatArray
    grid: Any  # a table of len(vertical) * len(horizontal) rows, as X
    others: str  # what is held, in words
    table: Any  # X, dense

    def picture(self, values: Any) -> Any:
        """Values of the rows of the grid, one line of the picture a line of the array."""
        values = np.asarray(values)
        return values.reshape(len(self.vertical), len(self.horizontal), *values.shape[1:])

    @property
    def extent(self) -> tuple[float, float, float, float]:
        return self.horizontal[0], self.horizontal[-1], self.vertical[0], self.vertical[-1]


def make_plane(owner: str, X: Any, features: Any, held: Any, n_points: int) -> Plane:
    """The plane of two features of X; the others have the values `held`, or those in the middle of the data."""
    table = X if hasattr(X, "columns") else np.asarray(X.toarray() if sp.issparse(X) else X)
    if len(table.shape) != 2 or count_rows(table) == 0:
        raise ValueError(f"{owner}: X has shape {table.shape}; it must be a table of at least one row and two features.")
    names = [str(name) for name in table.columns] if hasattr(table, "columns") else [f"x{j}" for j in range(table.shape[1])]
    pair = _pair(owner, names, features)
    points = np.column_stack([_numbers(owner, names[j], _column(table, j)) for j in pair])
    axes = [_axis(column, n_points) for column in points.T]
    crossed = [values.ravel() for values in np.meshgrid(*axes)]
    others = _held(owner, table, names, pair, held)
    columns = others | dict(zip(pair, crossed, strict=True))
    grid = _like(table, [columns[j] for j in range(len(names))])
    words = [
        f"{names[j]} = {value:.4g}" if isinstance(value, (float, np.floating)) else f"{names[j]} = {value}"
        for j, value in others.items()
    ]
    shown = words if len(words) <= _MOST_NAMED else [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more held"]
    return Plane((names[pair[0]], names[pair[1]]), points, axes[0], axes[1], grid, ", ".join(shown), table)


def _pair(owner: str, names: list[str], features: Any) -> tuple[int, int]:
    """The places of the two features."""
    if features is None:
        if len(names) != 2:
            raise ValueError(
                f"{owner}: X has {len(names)} features and a picture two; choose them with features=({names[0]!r}, ...) or by "
                "number, and if need be the values of the others with held={feature: value}."
            )
        return 0, 1
    chosen = [_place(owner, names, feature) for feature in features]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ValueError(f"{owner}: features={features!r} is not valid; it must be two different features.")
    return chosen[0], chosen[1]


def _place(owner: str, names: list[str], feature: Any) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    raise ValueError(f"{owner}: {feature!r} is no feature of X; it must be a number below {len(names)} or one of {names!r}.")


def _column(table: Any, j: int) -> Any:
    return table[:, j] if isinstance(table, np.ndarray) else table[table.columns[j]]


def _numbers(owner: str, name: str, column: Any) -> FloatArray:
    values = np.asarray(column)
    numbers = values.astype(np.float64) if values.dtype.kind in "fiub" else np.full(len(values), np.nan)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{owner}: the feature {name} is not all finite numbers; draw two features that are (features=...).")
    return numbers


def _axis(values: FloatArray, n_points: int) -> FloatArray:
    low, high = float(values.min()), float(values.max())
    free = _MARGIN * (high - low) or 1.0
    return np.linspace(low - free, high + free, n_points)


def _held(owner: str, table: Any, names: list[str], pair: tuple[int, int], held: Any) -> dict[int, Any]:
    """The value of each further feature: as given, else the median, or the most frequent one."""
    if held is not None and not isinstance(held, Mapping):
        raise TypeError(f"{owner}: held={held!r} is not valid; it must be a mapping from features to values.")
    given = {_place(owner, names, feature): value for feature, value in (held or {}).items()}
    if drawn := [names[j] for j in given if j in pair]:
        raise ValueError(f"{owner}: held names {drawn[0]}, which is drawn; it must name other features.")
    return {j: given[j] if j in given else _middle(_column(table, j)) for j in range(len(names)) if j not in pair}


def _middle(column: Any) -> Any:
    """The median, as a value that occurs; the most frequent value where there is no order."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub":
        known = np.sort(values[~np.isnan(values.astype(np.float64))])
        return known[len(known) // 2] if len(known) else values[0]
    _, first, counts = np.unique(values.astype(str), return_index=True, return_counts=True)
    return values[first[counts.argmax()]]


def _like(table: Any, columns: list[Any]) -> Any:
    """A table of the same kind; a column is one value, which keeps the type of the table's, or many numbers."""
    n_rows = max(map(np.size, columns))
    if isinstance(table, np.ndarray):
        stacked = np.column_stack([np.broadcast_to(np.asarray(column, dtype=object), n_rows) for column in columns])
        return stacked.astype(table.dtype if table.dtype.kind in "fO" else np.float64)
    own = [table[name] for name in table.columns]
    series = [
        column if np.ndim(column) else type(old)([column] * n_rows, dtype=old.dtype)
        for column, old in zip(columns, own, strict=True)
    ]
    return type(table)(dict(zip(table.columns, series, strict=True)))
