"""An order of the levels of a category, in which neighbours are alike in the other features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._tables import Table

Codes = npt.NDArray[np.intp]


def order_of_levels(table: Table, place: int) -> tuple[npt.NDArray[Any], Codes]:
    """The levels of a column in their order, and the place of each row's among them.

    Numbers and ordered categories keep theirs. Otherwise the distance of two levels is the sum over the other columns of the
    largest difference of the distribution functions there (of numbers), or of half the sum of the differences of shares (of
    words), and the order is that of the first coordinate of classical scaling. O(d L (n log n + L)) for L levels.
    """
    levels, codes = _coded(table.column(place), table.names[place])
    dtype = getattr(table.data.iloc[:, place], "dtype", None) if hasattr(table.data, "iloc") else None
    if levels.dtype.kind in "fiub":
        return levels, codes
    if getattr(dtype, "ordered", False):
        ranks = {level: rank for rank, level in enumerate(dtype.categories)}  # type: ignore[union-attr]
        return _reordered(levels, codes, np.argsort([ranks[level] for level in levels]))
    if len(levels) < 3:
        return levels, codes
    distances = np.zeros((len(levels), len(levels)))
    for other in range(len(table.names)):
        if other != place:
            distances += _distances(table.column(other), codes, len(levels))
    return _reordered(levels, codes, np.argsort(_first_coordinate(distances), kind="stable"))


def _coded(column: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], Codes]:
    if any(value is None or value != value for value in column.tolist()):
        raise ValueError(
            f"The feature {name!r} has missing values, which have no place among its levels; leave these rows out."
        )
    try:
        levels, codes = np.unique(column, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"The feature {name!r} has levels of several types; make them all words or all numbers.") from error
    return levels, codes.ravel()


def _reordered(levels: npt.NDArray[Any], codes: Codes, order: Codes) -> tuple[npt.NDArray[Any], Codes]:
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return levels[order], place[codes]


def _distances(column: npt.NDArray[Any], codes: Codes, n_levels: int) -> FloatArray:
    """How far the distributions of a column in the levels are apart."""
    is_number = column.dtype.kind in "fiub"
    values = column if is_number else np.array([str(value) for value in column.tolist()])
    distinct, places = np.unique(values, return_inverse=True)
    counts = np.zeros((n_levels, len(distinct)))
    np.add.at(counts, (codes, places.ravel()), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    if not is_number:
        return np.stack([np.abs(shares - line).sum(axis=1) / 2 for line in shares])
    below = shares.cumsum(axis=1)
    return np.stack([np.abs(below - line).max(axis=1) for line in below])


def _first_coordinate(distances: FloatArray) -> FloatArray:
    centred = np.square(distances)
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    _, vectors = np.linalg.eigh(-centred / 2)
    first: FloatArray = vectors[:, -1]
    return first if first[np.abs(first).argmax()] > 0 else -first
