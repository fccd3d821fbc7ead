"""The target as the checks for leaks take it: what a prediction of it is worth, beside always saying the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer._tables import IntArray


@dataclass(frozen=True)
class Target:
    """Codes of classes, or the ranks of numbers from 0 to 1, so that no row weighs more than another."""

    values: FloatArray
    plain: FloatArray  # the numbers themselves, or the codes
    labels: tuple[str, ...]  # none for numbers

    @classmethod
    def of(cls, y: Any, classes: Sequence[Any] | None) -> Target:
        y = np.asarray(y)
        if classes is None:
            numbers = np.asarray(y, dtype=np.float64)
            return cls(rankdata(numbers) / len(numbers), numbers, ())
        codes = np.searchsorted(np.asarray(classes), y).astype(np.float64)
        return cls(codes, codes, tuple(map(str, classes)))

    def take(self, rows: IntArray | slice) -> Target:
        return Target(self.values[rows], self.plain[rows], self.labels)

    @property
    def is_classes(self) -> bool:
        return bool(self.labels)

    def skill(self, predicted: FloatArray) -> float:
        """How much of the way from always saying the same to always being right; for numbers, of the variance of ranks."""
        if self.is_classes:
            base = float(np.bincount(self.values.astype(np.intp)).max()) / len(self.values)
            return 0.0 if base == 1 else (float((predicted == self.values).mean()) - base) / (1 - base)
        total = float(((self.values - self.values.mean()) ** 2).sum())
        return 0.0 if total == 0 else 1 - float(((self.values - predicted) ** 2).sum()) / total

    def by_group(self, groups: IntArray, n_groups: int, learning: Any) -> FloatArray:
        """For each row what the learning rows of its group say, or all if it has none: their largest class, or their mean."""
        known, values = groups[learning], self.values[learning]
        if self.is_classes:
            k = len(self.labels)
            table = np.bincount(known * k + values.astype(np.intp), minlength=n_groups * k).reshape(n_groups, k)
            said = np.where(table.any(axis=1), table.argmax(axis=1), np.bincount(values.astype(np.intp)).argmax())
            return said[groups].astype(np.float64)
        counts = np.bincount(known, minlength=n_groups)
        means = np.bincount(known, values, n_groups) / np.maximum(counts, 1)
        return np.where(counts > 0, means, values.mean())[groups]
