"""Free text as a few numbers: words weighted by how rare they are, then the directions in which texts differ most."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import eigh

from mercer._arrays import FloatArray
from mercer._parallel import serial_blas
from mercer.preprocessing._table.columns import Column
from mercer.preprocessing._table.needs import Needs
from mercer.preprocessing._table.treatments import MISSING_SUFFIX, describe_missing

_WORD = re.compile(r"\w\w+")
_MIN_TEXTS = 2  # a word in fewer rows tells nothing of others
_NEGLIGIBLE = 1e-10  # of the largest eigenvalue


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
        texts = [_WORD.findall(text.lower()) for text in column.levels]
        n_rows = np.bincount(column.values[column.values >= 0], minlength=len(texts)).astype(np.float64)
        vocabulary, inverse_frequency = _vocabulary(texts, n_rows, max_words)
        rows = _weighted_rows(texts, vocabulary, inverse_frequency)
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

    def write(self, column: Column, out: FloatArray) -> None:
        n_components = self.directions.shape[1]
        texts = [_WORD.findall(text.lower()) for text in column.levels]
        values = np.zeros((len(texts) + 1, n_components))
        values[:-1] = (_weighted_rows(texts, self.vocabulary, self.inverse_frequency) @ self.directions) / self.spread
        if self.keeps_missing:
            values[-1] = np.nan
        out[:, :n_components] = values[column.values]
        if self.has_indicator:
            out[:, n_components] = column.values < 0


def _vocabulary(texts: list[list[str]], n_rows: FloatArray, max_words: int) -> tuple[tuple[str, ...], FloatArray]:
    """The words in most rows, sorted, and ln((1 + n) / (1 + rows with the word)) + 1 of each."""
    counts: Counter[str] = Counter()
    for words, weight in zip(texts, n_rows.astype(np.int64).tolist(), strict=True):
        for word in set(words):
            counts[word] += weight
    frequent = [word for word, count in counts.items() if count >= _MIN_TEXTS]
    kept = sorted(sorted(frequent, key=lambda word: (-counts[word], word))[:max_words])
    frequency = np.array([counts[word] for word in kept], dtype=np.float64)
    return tuple(kept), np.log((1 + n_rows.sum()) / (1 + frequency)) + 1


def _weighted_rows(texts: list[list[str]], vocabulary: tuple[str, ...], inverse_frequency: FloatArray) -> sp.csr_array:
    """Counts of words times their weights, each row of length 1 (or 0)."""
    known = {word: place for place, word in enumerate(vocabulary)}
    places: list[int] = []
    ends = [0]
    for words in texts:
        places.extend([known[word] for word in words if word in known])
        ends.append(len(places))
    shape = (len(texts), len(vocabulary))
    rows = sp.csr_array((np.ones(len(places)), np.array(places, dtype=np.int32), np.array(ends, dtype=np.int32)), shape=shape)
    rows.sum_duplicates()
    rows.data *= inverse_frequency[rows.indices]
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
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
