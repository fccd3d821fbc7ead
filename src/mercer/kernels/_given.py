"""Kernels that the user has: a matrix, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import Function as AnyFunction, Mapped, Null, OneOf, Rule
from mercer._rows import count_rows, take_rows
from mercer.kernels._base import Kernel, float_type
from mercer.kernels._matrix import CallMatrix, GivenMatrix, KernelMatrix


@dataclass
class Precomputed(Kernel):
    """The kernel matrix is given in place of the rows: square for a fit, a line for each new row to predict.

    Examples
    --------
    >>> from mercer.kernels import Precomputed
    >>> matrix = Precomputed().on([[2.0, 1.0], [1.0, 2.0]])
    >>> matrix.rows([1]), matrix.diagonal()
    (array([[1., 2.]]), array([2., 2.]))
    """

    takes: ClassVar[Literal["numbers", "sequences", "gram"]] = "gram"

    @property
    def is_mercer(self) -> bool:
        return False  # nobody knows

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """X itself, the kernel of its rows with those of the fit, whatever Y is."""
        return np.array(X, dtype=float_type(X))

    def diagonal(self, X: Any) -> FloatArray:
        return np.array(np.diagonal(self._square(X)), dtype=np.float64)

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        return GivenMatrix(self._square(X))

    def _square(self, X: Any) -> FloatArray:
        matrix = X.toarray() if sp.issparse(X) else np.asarray(X)
        matrix = matrix.astype(float_type(matrix), copy=False)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {'x'.join(map(str, matrix.shape))} matrix."
            )
        return matrix


@dataclass
class Function(Kernel):
    """A function as a kernel.

    Parameters
    ----------
    function : callable
        Of two matrices of rows, which gives the matrix of values, or of two rows, which gives a value.
    by : {"matrices", "rows"}, default="matrices"
        Which of the two.
    params : dict, default=None
        Further arguments of the function, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Function
    >>> Function(np.dot, by="rows")([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "function": AnyFunction(),
        "by": OneOf("matrices", "rows"),
        "params": Mapped() | Null(),
    }
    function: Callable[..., Any]
    by: str = "matrices"
    params: Mapping[str, Any] | None = None

    @property
    def is_mercer(self) -> bool:
        return False  # nobody knows

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        params = dict(self.params or {})
        other = X if Y is None else Y
        shape = (count_rows(X), count_rows(other))
        if self.by == "rows":
            left, right = _row_list(X), _row_list(other)
            values = np.array([[float(self.function(x, y, **params)) for y in right] for x in left], dtype=float_type(X))
        else:
            values = self.function(X, other, **params)
            values = np.array(values.toarray() if sp.issparse(values) else values, dtype=float_type(X))
        values = values.reshape(shape) if values.size == 0 else values
        if values.shape != shape:
            raise ValueError(
                f"Function: the kernel gave values of shape {values.shape} for {shape[0]} and {shape[1]} rows; it must give "
                f"{shape}. A function of two rows needs by='rows'."
            )
        return values

    def diagonal(self, X: Any) -> FloatArray:
        if self.by == "rows":
            params = dict(self.params or {})
            return np.array([float(self.function(x, x, **params)) for x in _row_list(X)], dtype=np.float64)
        alone = [take_rows(X, np.array([i])) for i in range(count_rows(X))]
        return np.array([self(row)[0, 0] for row in alone], dtype=np.float64)

    def on(self, X: Any, n_threads: int | None = None) -> KernelMatrix:
        return CallMatrix(self, X, take_rows, count_rows(X), float_type(X))


def _row_list(X: Any) -> list[Any]:
    if sp.issparse(X):
        return [X[i] for i in range(X.shape[0])]
    return list(X if isinstance(X, (list, tuple)) and (not X or isinstance(X[0], str)) else np.asarray(X))
