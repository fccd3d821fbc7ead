"""Free text as a few numbers: words weighted by how rare they are, then the directions in which texts differ most."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import eigh

from mercer._arrays import FloatArray
from mercer._columns import Column
from mercer._lazy import lazy_property
from mercer._parallel import serial_blas
from mercer._saved import saved
from mercer.preprocessing._table.needs import Needs
from mercer.preprocessing._table.treatments import MISSING_SUFFIX, describe_missing

_END = "\0"  # between two texts
_WORD = re.compile(r"\w\w+|\0")
_MIN_TEXTS = 2  # a word in fewer rows tells nothing of others
_NEGLIGIBLE = 1e-10  # of the largest eigenvalue


@saved("mercer.preprocessing.TextTreatment")
@dataclass(frozen=True)
class TextTreatment:
    """Latent semantic analysis: TF-IDF rows of length 1, projected on the leading right singular vectors."""

    vocabulary: tuple[str, ...]
    inverse_frequency: FloatArray
    directions: FloatArray  # (n_words, n_components)
    spread: float
    keeps_missing: bool
    has_indicator: bool

    kind = "text"
    is_categorical = False

    @classmethod
    def fit(cls, column: Column, needs: Needs, *, max_words: int, n_components: int) -> TextTreatment:
        has_indicator = not needs.keeps_missing and bool((column.values < 0).any())
        words = _Words.of(column.levels)
        n_rows = np.bincount(column.values[column.values >= 0], minlength=words.n_texts).astype(np.float64)
        vocabulary, inverse_frequency = _vocabulary(words, n_rows, max_words)
        rows = _weighted_rows(words, _numbered(vocabulary), inverse_frequency)
        directions = _directions(rows, n_rows, n_components)
        spread = _largest_deviation(rows @ directions, n_rows) if needs.scales else 1.0
        return cls(vocabulary, inverse_frequency, directions, spread, needs.keeps_missing, has_indicator)

    @property
    def suffixes(self) -> tuple[str, ...]:
        names = tuple(f"__text{number}" for number in range(self.directions.shape[1]))
        return (*names, MISSING_SUFFIX) if self.has_indicator else names

    def describe(self) -> str:
        return f"TF-IDF of {len(self.vocabulary)} words in {self.directions.shape[1]} directions"

    def describe_missing(self) -> str:
        return describe_missing(self.keeps_missing, "zeros")

    @lazy_property
    def _known(self) -> dict[str, int]:
        return _numbered(self.vocabulary)

    def write(self, column: Column, out: FloatArray) -> None:
        n_components = self.directions.shape[1]
        rows = _weighted_rows(_Words.of(column.levels), self._known, self.inverse_frequency)
        values = np.zeros((rows.shape[0] + 1, n_components))
        values[:-1] = (rows @ self.directions) / self.spread
        if self.keeps_missing:
            values[-1] = np.nan
        out[:, :n_components] = values[column.values]
        if self.has_indicator:
            out[:, n_components] = column.values < 0


@dataclass(frozen=True)
class _Words:
    """All words of some texts in a row: the place of each among the distinct ones, and the number of its text."""

    distinct: list[str]
    places: npt.NDArray[np.intp]
    text: npt.NDArray[np.intp]
    n_texts: int

    @classmethod
    def of(cls, texts: tuple[str, ...]) -> _Words:
        joined = _END.join(text.replace(_END, " ") for text in texts) if _END in "".join(texts) else _END.join(texts)
        found = _WORD.findall(joined.lower())
        distinct = [_END, *sorted(set(found) - {_END})]
        number = dict(zip(distinct, range(len(distinct)), strict=True))
        places = np.fromiter(map(number.__getitem__, found), dtype=np.intp, count=len(found))
        is_word = places > 0
        return cls(distinct[1:], places[is_word] - 1, np.cumsum(~is_word, dtype=np.intp)[is_word], len(texts))

    def counts(self, known: Mapping[str, int]) -> sp.csr_array:
        """How often each text has each word, of which `known` has the columns."""
        table = np.array([known.get(word, -1) for word in self.distinct], dtype=np.intp)
        places = table[self.places]
        is_known = places >= 0
        # By lines and sorted within them, as scipy makes it of entries, which takes it longer than all else for one text.
        width = max(len(known), 1)
        entries, counts = np.unique(self.text[is_known] * width + places[is_known], return_counts=True)
        starts = np.searchsorted(entries, np.arange(self.n_texts + 1) * width)
        return sp.csr_array((counts.astype(np.float64), entries % width, starts), shape=(self.n_texts, len(known)))


def _numbered(words: Sequence[str]) -> dict[str, int]:
    return dict(zip(words, range(len(words)), strict=True))


def _vocabulary(words: _Words, n_rows: FloatArray, max_words: int) -> tuple[tuple[str, ...], FloatArray]:
    """The words in most rows, sorted, and ln((1 + n) / (1 + rows with the word)) + 1 of each."""
    every = words.distinct
    counts = words.counts(_numbered(every))
    frequency = np.bincount(counts.indices, weights=np.repeat(n_rows, np.diff(counts.indptr)), minlength=len(every))
    ranked = np.argsort(-frequency, kind="stable")[:max_words]
    kept = np.sort(ranked[frequency[ranked] >= _MIN_TEXTS])
    return tuple(every[place] for place in kept), np.log((1 + n_rows.sum()) / (1 + frequency[kept])) + 1


def _weighted_rows(words: _Words, known: Mapping[str, int], inverse_frequency: FloatArray) -> sp.csr_array:
    """Counts of words times their weights, each row of length 1 (or 0)."""
    rows = words.counts(known)
    rows.data *= inverse_frequency[rows.indices]
    number = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(number, weights=np.square(rows.data), minlength=rows.shape[0]))
    rows.data /= lengths[number]
    return rows


def _directions(rows: sp.csr_array, n_rows: FloatArray, n_components: int) -> FloatArray:
    """The leading eigenvectors of the words' second moments. A sign is free: the largest entry is made positive."""
    n_words = rows.shape[1]
    if n_words == 0:
        return np.zeros((0, 0))
    weighted = rows.copy()
    weighted.data *= np.repeat(n_rows, np.diff(rows.indptr))
    moments = np.asarray((rows.T @ weighted).todense())
    with serial_blas():  # the same bits whatever the number of threads
        wanted = (max(0, n_words - n_components), n_words - 1)
        eigenvalues, vectors = eigh((moments + moments.T) / 2, subset_by_index=wanted)
    vectors = vectors[:, ::-1][:, eigenvalues[::-1] > _NEGLIGIBLE * max(eigenvalues[-1], 0.0)]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.ascontiguousarray(vectors * np.where(largest < 0, -1.0, 1.0))


def _largest_deviation(values: FloatArray, n_rows: npt.NDArray[np.float64]) -> float:
    """The standard deviation of the column that varies most: dividing by it keeps the others smaller than it."""
    if values.size == 0:
        return 1.0
    mean = n_rows @ values / n_rows.sum()
    deviation = float(np.sqrt((n_rows @ np.square(values - mean) / n_rows.sum()).max()))
    return deviation if deviation > 0 else 1.0
