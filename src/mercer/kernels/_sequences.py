"""Kernels of sequences: strings, tuples, lists of tokens, of any symbols that can be hashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels as native
from mercer._parallel import effective_threads
from mercer._params import Integer, Real, Rule
from mercer._rows import take_rows
from mercer.kernels._base import Kernel
from mercer.kernels._matrix import CallMatrix, KernelMatrix
from mercer.metrics.pairwise import linear_kernel


def as_sequences(owner: str, X: Any) -> list[Sequence[Hashable]]:
    """Rows that are sequences, as a list; an error names the first that is none."""
    if isinstance(X, (str, bytes)):
        raise ValueError(f"{owner}: X={X!r} is one sequence; it must be a list of sequences.")
    rows = list(X)
    for place, row in enumerate(rows):
        if not hasattr(row, "__len__") or not hasattr(row, "__getitem__"):
            raise ValueError(f"{owner}: X[{place}]={row!r} is no sequence; every row must be a string, a tuple or a list.")
    return rows


class SequenceKernel(Kernel):
    """A kernel of sequences; a Mercer kernel, since it is an inner product of counts or of weights."""

    takes: ClassVar[Literal["numbers", "sequences", "gram"]] = "sequences"

    @property
    def is_mercer(self) -> bool:
        return True

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        X = as_sequences(type(self).__name__, X)
        return CallMatrix(self, X, take_rows, len(X), np.float64)


@dataclass
class Spectrum(SequenceKernel):
    """The number of pairs of equal runs: k(s, t) = sum over runs u of `length` symbols of count_u(s) count_u(t).

    Parameters
    ----------
    length : int, default=3
        Of the runs (n-grams).

    Notes
    -----
    The features are the counts of the runs that occur, which `feature_map` gives as a sparse matrix, with a column for each run
    of the given sequences in the order in which they first occur.

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel: a string kernel for SVM protein classification.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(length=2)(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"length": Integer(1)}
    length: int = 3

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        columns: dict[Any, int] = {}
        left = self._counts(X, columns)
        if Y is None:
            return linear_kernel(left)
        right = self._counts(Y, columns)
        left.resize((left.shape[0], right.shape[1]))  # runs that Y alone has
        return linear_kernel(left, right)

    def diagonal(self, X: Any) -> FloatArray:
        rows = as_sequences("Spectrum", X)
        return np.array([sum(n * n for n in Counter(self._runs(row)).values()) for row in rows], dtype=np.float64)

    def feature_map(self, X: Any) -> Any:
        return self._counts(X, {})

    def _runs(self, row: Any) -> list[Any]:
        row = row if isinstance(row, (str, bytes, tuple)) else tuple(row)
        return [row[i : i + self.length] for i in range(len(row) - self.length + 1)]

    def _counts(self, X: Any, columns: dict[Any, int]) -> Any:
        """How often each run occurs in each row; runs that are new are added to `columns`."""
        values, places, starts = [], [], [0]
        for row in as_sequences("Spectrum", X):
            counts = Counter(self._runs(row))
            values.extend(counts.values())
            places.extend(columns.setdefault(run, len(columns)) for run in counts)
            starts.append(len(values))
        shape = (len(starts) - 1, max(len(columns), 1))
        matrix = sp.csr_array((np.array(values, dtype=np.float64), places, starts), shape=shape)
        matrix.sort_indices()
        return matrix


@dataclass
class Subsequence(SequenceKernel):
    """Common subsequences, with gaps that cost: the sum of decay^(span in s + span in t) over their pairs.

    k(s, t) = sum over words u of `length` symbols, over places i of u in s and j of u in t, of
    decay^(i_last - i_first + 1 + j_last - j_first + 1).

    Parameters
    ----------
    length : int, default=3
        Of the subsequences, which need not lie together.
    decay : float, default=0.5
        In (0, 1]: what each symbol that a subsequence spans multiplies its weight by.

    Notes
    -----
    By dynamic programming in native code, O(length |s| |t|) for a pair. Values grow with the lengths of the sequences:
    `Subsequence(...).normalized()` compares sequences of different lengths.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002), Text classification using string kernels.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(length=2, decay=0.5)(["cat"], ["car", "cat"])
    array([[0.0625  , 0.140625]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"length": Integer(1), "decay": Real(above=0, most=1)}
    length: int = 3
    decay: float = 0.5

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        codes: dict[Any, int] = {}
        left = self._coded(X, codes)
        right = left if Y is None else self._coded(Y, codes)
        out = np.empty((len(left[1]) - 1, len(right[1]) - 1))
        native.subsequence_kernels(self.length, self.decay, *left, *right, Y is None, out, effective_threads(None))
        return out

    def diagonal(self, X: Any) -> FloatArray:
        coded = self._coded(X, {})
        out = np.empty(len(coded[1]) - 1)
        native.subsequence_diagonal(self.length, self.decay, *coded, out, effective_threads(None))
        return out

    @staticmethod
    def _coded(X: Any, codes: dict[Any, int]) -> tuple[Any, Any]:
        """Symbols as numbers, all sequences one after another, and where each begins."""
        rows = as_sequences("Subsequence", X)
        symbols = [codes.setdefault(symbol, len(codes)) for row in rows for symbol in row]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
        return np.array(symbols, dtype=np.int32), starts
