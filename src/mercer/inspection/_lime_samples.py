"""The samples of LIME: drawn once for a seed, whatever the row, and seen from each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer.inspection._lime_bins import Bins


@dataclass(frozen=True)
class Draws:
    """What was drawn: standard normals (None where all columns are binned), codes or categories, and numbers within bins."""

    normals: FloatArray | None
    codes: dict[int, FloatArray]
    numbers: dict[int, FloatArray]


class Sampler:
    """Normals with the moments of the training data, and categories or bins with their frequencies."""

    def __init__(
        self, training: FloatArray, categorical: list[int], bins: dict[int, Bins], *, is_around: bool, has_bins: bool
    ) -> None:
        self.mean, self.scale = training.mean(axis=0), training.std(axis=0)
        self.scale[self.scale == 0] = 1.0
        self.bins, self.has_bins, self.is_around = bins, has_bins, is_around and not has_bins
        self.coded = list(range(training.shape[1])) if has_bins else categorical
        self.mean[self.coded], self.scale[self.coded] = 0.0, 1.0
        self._values: dict[int, tuple[FloatArray, FloatArray]] = {}
        for j in self.coded:
            column = bins[j].codes(training[:, j]).astype(np.float64) if j in bins else training[:, j]
            values, counts = np.unique(column, return_counts=True)
            self._values[j] = values, counts / counts.sum()

    def draws(self, n_samples: int, random: np.random.RandomState) -> Draws:
        """In the order in which lime draws."""
        p = len(self.mean)
        normals = None if self.has_bins else random.normal(0, 1, n_samples * p).reshape(n_samples, p)
        codes = {}
        for j in self.coded:
            values, shares = self._values[j]
            codes[j] = random.choice(values, size=n_samples, replace=True, p=shares)
        numbers = {}
        for j, bins in self.bins.items():
            numbers[j] = np.concatenate([[np.nan], bins.drawn(codes[j][1:].astype(np.intp), random)])
        return Draws(normals, codes, numbers)

    def rows(self, draws: Draws, x: FloatArray) -> FloatArray:
        """The samples as the model takes them; the same for all x but for the first, unless they are drawn around it."""
        if draws.normals is None:
            rows = np.empty((len(next(iter(draws.codes.values()))), len(self.mean)))
        else:
            rows = draws.normals * self.scale
            rows += x if self.is_around else self.mean
        for j in self.coded:
            rows[:, j] = draws.numbers.get(j, draws.codes[j])
        rows[0] = x
        return rows

    def seen(self, draws: Draws, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The row and the samples but for the first, whose place it has, as the surrogate takes them.

        In standard deviations; 1 where a category or bin is that of the row, else 0. Without these, and not drawn around the
        row, the samples are the draws themselves, which all rows share.
        """
        row = (x - self.mean) / self.scale
        row[self.coded] = 1.0
        if draws.normals is not None and not self.coded:
            return row, draws.normals[1:] + row if self.is_around else draws.normals[1:]
        n_samples = len(next(iter(draws.codes.values())))
        samples = np.empty((n_samples - 1, len(x)))
        if draws.normals is not None:
            samples[...] = draws.normals[1:]
            if self.is_around:
                samples += np.where(np.isin(np.arange(len(x)), self.coded), 0.0, row)
        for j in self.coded:
            own = self.bins[j].codes(x[j]) if j in self.bins else x[j]
            samples[:, j] = draws.codes[j][1:] == own
        return row, samples

    def codes_of(self, x: FloatArray) -> dict[int, int]:
        """The bins of a row."""
        return {j: int(bins.codes(x[j])) for j, bins in self.bins.items()}
