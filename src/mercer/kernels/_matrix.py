"""Kernel matrices that are not stored: the kernel among rows that stay, some lines of it at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FLOATS, FloatArray, require_countable, tidy
from mercer._matrix import native_rows
from mercer._native import kernels as native
from mercer._parallel import effective_threads
from mercer._rows import with_own_structure

Indices = npt.NDArray[np.int64]
Combine = Callable[[list[FloatArray]], FloatArray]


def as_rows(owner: str, X: Any) -> Any:
    """Rows of numbers as kernels take them: float32 or float64, dense in C order or CSR; what is neither becomes float64."""
    if type(X) is np.ndarray and X.ndim == 2 and X.shape[1] > 0 and X.dtype in FLOATS and X.flags.carray:
        return X  # what follows takes longer than the values of one row
    if sp.issparse(X):
        require_countable(owner, X)
        X = with_own_structure(X).tocsr()
        return tidy(X if X.dtype in FLOATS else X.astype(np.float64))
    X = np.asarray(X)
    X = np.require(X, dtype=X.dtype if X.dtype in FLOATS else np.float64, requirements=["C", "A"])
    if X.ndim != 2:
        raise ValueError(f"{owner}: X has {X.ndim} dimensions; it must have 2, a line for each row.")
    if X.shape[1] == 0:
        raise ValueError(f"{owner}: X has no features; at least one is needed.")
    return X


class KernelMatrix(ABC):
    """The kernel of all pairs among `n_rows` rows, of which no more is computed than is asked for.

    A line has the same bits whichever others it is asked for with, and for any number of threads.

    Attributes
    ----------
    n_rows : int
    dtype : dtype
        Of the lines: that of the rows, float32 or float64.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> matrix = RBF(gamma=1.0).on([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> matrix.rows([2]).round(3)
    array([[0.135, 0.368, 1.   ]])
    """

    n_rows: int
    dtype: np.dtype[Any]

    @abstractmethod
    def diagonal(self) -> FloatArray:
        """The kernel of each row with itself, in double precision."""

    @abstractmethod
    def _write(self, indices: Indices, out: FloatArray) -> None:
        """Fill `out` with the lines of some rows."""

    @abstractmethod
    def against(self, Y: Any) -> FloatArray:
        """The kernel of other rows, a line each, with these, of shape (len(Y), n_rows)."""

    def times(self, Y: Any, right: FloatArray) -> FloatArray | None:
        """`against(Y) @ right` where values of the kernel need not leave the cache on the way; None where they must."""
        return None

    @abstractmethod
    def take(self, indices: Any) -> KernelMatrix:
        """The matrix among some of the rows."""

    def rows(self, indices: Any, out: FloatArray | None = None) -> FloatArray:
        """The lines of some rows, of shape (len(indices), n_rows); written to `out` where it is given."""
        indices = self._numbers(indices)
        shape = (len(indices), self.n_rows)
        if out is None:
            out = np.empty(shape, dtype=self.dtype)
        elif out.shape != shape or out.dtype != self.dtype or not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError(
                f"out has shape {out.shape} and type {out.dtype}; it must be a writable array of shape {shape} and type "
                f"{self.dtype}, in C order."
            )
        self._write(indices, out)
        return out

    def _numbers(self, indices: Any) -> Indices:
        numbers = np.asarray(indices)
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise ValueError(f"indices={indices!r} are not valid; they must be a vector of row numbers.")
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.n_rows):
            raise ValueError(f"indices are within [{numbers.min()}, {numbers.max()}]; there are {self.n_rows} rows.")
        return np.ascontiguousarray(numbers, dtype=np.int64)


class NativeMatrix(KernelMatrix):
    """A kernel of dense or sparse rows of numbers: rows are packed, and norms taken, once."""

    def __init__(
        self,
        form: tuple[str, float, float, float],
        X: Any,
        diagonal: Callable[[Any], FloatArray],
        prepare: Callable[[Any], Any],
        n_threads: int | None,
    ) -> None:
        """`form` is (kind, gamma, constant, degree) of the native kernel; `prepare` is what is done to rows first."""
        self._form, self._X, self._of_diagonal, self._prepare = form, X, diagonal, prepare
        self._asked_threads = n_threads
        self._n_threads = effective_threads(n_threads)
        self.n_rows, self.dtype = X.shape[0], X.dtype
        is_double, rows = X.dtype == np.float64, prepare(X)
        if sp.issparse(X):
            kind = native.SparseKernelRows64 if is_double else native.SparseKernelRows32
            self._native = kind(*form, native_rows(rows))
        else:
            self._native = (native.KernelRows64 if is_double else native.KernelRows32)(*form, rows, self._n_threads)

    def diagonal(self) -> FloatArray:
        return self._of_diagonal(self._X)

    def _write(self, indices: Indices, out: FloatArray) -> None:
        self._native.rows(indices, out, self._n_threads)

    def against(self, Y: Any) -> FloatArray:
        Y = self._prepared(Y)
        out = np.empty((Y.shape[0], self.n_rows), dtype=self.dtype)
        self._native.against(Y if isinstance(Y, np.ndarray) else native_rows(Y), out, self._n_threads)
        return out

    def times(self, Y: Any, right: FloatArray) -> FloatArray | None:
        if sp.issparse(self._X):
            return None
        Y = self._prepared(Y)
        out = np.empty((Y.shape[0], right.shape[1]), dtype=self.dtype)
        self._native.times(Y, right.astype(self.dtype, copy=False), out, self._n_threads)
        return out

    def _prepared(self, Y: Any) -> Any:
        """Other rows as the native kernel takes them."""
        Y = as_rows("against", Y)
        if Y.shape[1] != self._X.shape[1]:
            raise ValueError(f"Y has {Y.shape[1]} features; the rows of the matrix have {self._X.shape[1]}.")
        is_dense, is_wanted = isinstance(Y, np.ndarray), isinstance(self._X, np.ndarray)
        if is_wanted and not is_dense:
            Y = np.ascontiguousarray(Y.toarray())
        elif is_dense and not is_wanted:
            Y = tidy(sp.csr_array(Y))
        return self._prepare(Y.astype(self.dtype, copy=False))

    def take(self, indices: Any) -> KernelMatrix:
        return NativeMatrix(self._form, self._X[self._numbers(indices)], self._of_diagonal, self._prepare, self._asked_threads)


class CallMatrix(KernelMatrix):
    """A kernel that is known by its calls: kernel(X, Y) for any rows, such as sequences."""

    def __init__(
        self, kernel: Callable[..., FloatArray], X: Any, take: Callable[[Any, Indices], Any], n_rows: int, dtype: Any
    ) -> None:
        self._kernel, self._X, self._take = kernel, X, take
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)

    def diagonal(self) -> FloatArray:
        return np.asarray(self._kernel.diagonal(self._X), dtype=np.float64)  # type: ignore[attr-defined]

    def _write(self, indices: Indices, out: FloatArray) -> None:
        out[:] = self._kernel(self._take(self._X, indices), self._X)

    def against(self, Y: Any) -> FloatArray:
        return np.asarray(self._kernel(Y, self._X), dtype=self.dtype)

    def take(self, indices: Any) -> KernelMatrix:
        numbers = self._numbers(indices)
        return CallMatrix(self._kernel, self._take(self._X, numbers), self._take, len(numbers), self.dtype)


class GivenMatrix(KernelMatrix):
    """A kernel matrix that is there: lines are looked up. `against` takes the kernel of other rows with all of its rows."""

    def __init__(self, matrix: FloatArray, columns: Indices | None = None) -> None:
        """`columns` are the rows that are left of the square matrix; None for all."""
        self._matrix, self._columns = matrix, columns
        self.n_rows, self.dtype = len(matrix) if columns is None else len(columns), matrix.dtype

    def _places(self, indices: Indices) -> Indices:
        return indices if self._columns is None else self._columns[indices]

    def diagonal(self) -> FloatArray:
        diagonal = np.diagonal(self._matrix)
        return np.array(diagonal if self._columns is None else diagonal[self._columns], dtype=np.float64)

    def _write(self, indices: Indices, out: FloatArray) -> None:
        lines = self._matrix[self._places(indices)]
        out[:] = lines if self._columns is None else lines[:, self._columns]

    def against(self, Y: Any) -> FloatArray:
        Y = np.asarray(Y, dtype=self.dtype)
        if Y.ndim != 2 or Y.shape[1] != len(self._matrix):
            raise ValueError(
                f"Precomputed: the kernel of other rows has shape {Y.shape}; it must have a column for each of the "
                f"{len(self._matrix)} rows of the kernel matrix."
            )
        return np.array(Y if self._columns is None else Y[:, self._columns], order="C")  # never the array given

    def take(self, indices: Any) -> KernelMatrix:
        return GivenMatrix(self._matrix, self._places(self._numbers(indices)))


class CombinedMatrix(KernelMatrix):
    """What a function makes of the values of several kernels of the same rows, pair by pair."""

    def __init__(self, parts: Sequence[KernelMatrix], combine: Combine) -> None:
        self._parts, self._combine = list(parts), combine
        self.n_rows, self.dtype = parts[0].n_rows, np.result_type(*(part.dtype for part in parts))

    def diagonal(self) -> FloatArray:
        return self._combine([part.diagonal() for part in self._parts])

    def _write(self, indices: Indices, out: FloatArray) -> None:
        out[:] = self._combine([part.rows(indices) for part in self._parts])

    def against(self, Y: Any) -> FloatArray:
        return self._combine([part.against(Y) for part in self._parts]).astype(self.dtype, copy=False)

    def take(self, indices: Any) -> KernelMatrix:
        return CombinedMatrix([part.take(indices) for part in self._parts], self._combine)


class NormalizedMatrix(KernelMatrix):
    """Values over the roots of both diagonals: cosines in the space of the features."""

    def __init__(
        self, part: KernelMatrix, diagonal_of: Callable[[Any], FloatArray], cosines: Callable[..., FloatArray]
    ) -> None:
        self._part, self._diagonal_of, self._cosines = part, diagonal_of, cosines
        self.n_rows, self.dtype = part.n_rows, part.dtype

    def diagonal(self) -> FloatArray:
        own = self._part.diagonal()
        return np.where(own > 0, 1.0, 0.0)

    def _write(self, indices: Indices, out: FloatArray) -> None:
        own = self._part.diagonal()
        out[:] = self._cosines(self._part.rows(indices), own[indices], own)

    def against(self, Y: Any) -> FloatArray:
        return self._cosines(self._part.against(Y), self._diagonal_of(Y), self._part.diagonal()).astype(self.dtype, copy=False)

    def take(self, indices: Any) -> KernelMatrix:
        return NormalizedMatrix(self._part.take(indices), self._diagonal_of, self._cosines)


class FeatureMatrix(KernelMatrix):
    """A kernel of some columns of the rows."""

    def __init__(self, part: KernelMatrix, pick: Callable[[Any], Any]) -> None:
        self._part, self._pick = part, pick
        self.n_rows, self.dtype = part.n_rows, part.dtype

    def diagonal(self) -> FloatArray:
        return self._part.diagonal()

    def _write(self, indices: Indices, out: FloatArray) -> None:
        self._part.rows(indices, out)

    def against(self, Y: Any) -> FloatArray:
        return self._part.against(self._pick(Y))

    def take(self, indices: Any) -> KernelMatrix:
        return FeatureMatrix(self._part.take(indices), self._pick)
