"""What a measure is worth while rows change their prediction one after another: an exact step function from one sort."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.model_selection._thresholds.measures import Measure

TIE = 1e-12  # scores closer than this, relative to their size, are equal but for rounding
_CELLS_AT_ONCE = 2**16  # of confusion matrices: what a processor's cache holds


class Fold(NamedTuple):
    """Scored rows of one fold: all have a positive weight."""

    scores: FloatArray  # one column a class; one column only for two classes
    codes: npt.NDArray[np.intp]
    weights: FloatArray


class Moves(NamedTuple):
    """Rows that go from one predicted class to another when a parameter passes their key."""

    keys: FloatArray
    origin: npt.NDArray[np.intp]
    goal: int


def confusion(codes: npt.NDArray[np.intp], predicted: npt.NDArray[np.intp], weights: FloatArray, n_classes: int) -> FloatArray:
    """The weight of each (true, predicted) pair."""
    cells = np.bincount(codes * n_classes + predicted, weights=weights, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes).astype(np.float64)  # of no rows bincount makes whole numbers


class Steps:
    """The confusion matrix while rows move, and a measure of it.

    Keys of plus infinity never move, those of minus infinity always have. Rows are added in the order of their keys, so that a
    cell that all rows have left is exactly zero.
    """

    def __init__(self, moves: Moves, fold: Fold, n_classes: int, measure: Measure) -> None:
        always, never = moves.keys == -np.inf, moves.keys == np.inf
        order = np.flatnonzero(~(always | never))
        order = order[np.argsort(moves.keys[order], kind="stable")]
        self._codes, self._origin, self._weights = fold.codes[order], moves.origin[order], fold.weights[order]
        self._goal, self._n_classes, self._measure = moves.goal, n_classes, measure
        self._fixed = confusion(fold.codes[never], moves.origin[never], fold.weights[never], n_classes)
        self._fixed[:, moves.goal] += np.bincount(fold.codes[always], weights=fold.weights[always], minlength=n_classes)
        self._leaving = confusion(self._codes, self._origin, self._weights, n_classes)
        self._keys = moves.keys[order]
        self.keys = self._keys[np.append(True, self._keys[1:] != self._keys[:-1])[: len(self._keys)]]  # without repetitions

    def at(self, points: FloatArray) -> FloatArray:
        """The measure where the rows have moved whose key is below a point; each state is measured once.

        O(n n_classes^2) time for n rows; memory for a block of confusion matrices.
        """
        counts, place = np.unique(np.searchsorted(self._keys, points, side="left"), return_inverse=True)
        n_classes, n_rows = self._n_classes, len(self._keys)
        values, moved = [], np.zeros((n_classes, n_classes))
        size = max(1, _CELLS_AT_ONCE // n_classes**2)
        if counts[0] == 0:
            values.append(self._measure((self._fixed + self._leaving)[:, :, None]))
        for start in range(0, n_rows, size):
            end = min(start + size, n_rows)
            steps = np.zeros((n_classes, n_classes, end - start))
            steps[self._codes[start:end], self._origin[start:end], np.arange(end - start)] = self._weights[start:end]
            steps[:, :, 0] += moved
            np.cumsum(steps, axis=2, out=steps)
            moved = steps[:, :, -1].copy()
            wanted = counts[(counts > start) & (counts <= end)]
            if len(wanted):
                values.append(self._values(steps if len(wanted) == end - start else steps[:, :, wanted - start - 1]))
        found: FloatArray = np.concatenate(values)[place]
        return found

    def _values(self, moved: FloatArray) -> FloatArray:
        """The measure for sums of moved rows."""
        cells = self._leaving[:, :, None] - moved
        cells += self._fixed[:, :, None]
        cells[:, self._goal] += moved.sum(axis=1)
        return self._measure(cells)


def between(keys: FloatArray) -> FloatArray:
    """A number in (a, b] for each pair of neighbours a < b among ascending keys: the middle, where floats have one."""
    low, high = keys[:-1], keys[1:]
    middle = low / 2 + high / 2
    return np.where(middle > low, middle, high)


def best_of(scores: FloatArray, distance: FloatArray) -> int:
    """The place of the best score; of equal ones the least distance, then the first. NaN never wins."""
    if np.isnan(scores).all():
        raise ValueError("scoring gave NaN for every threshold; it must give a number for some.")
    best = np.nanmax(scores)
    is_best = scores >= best - TIE * max(1.0, abs(best))
    return int(np.argmin(np.where(is_best, distance, np.inf)))
