"""The rows of a regression, dense or sparse: the few sums over them that the solvers need. Knows no solver.

Below, A is X minus its means, each row times the root of its weight, and b the same of y; without an intercept nothing is
subtracted. Everything is summed in double precision, whatever the type of X.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from mercer._arrays import FloatArray, require_finite
from mercer._statistics import ROUNDING, Products

BLOCK = 1 << 18  # numbers of X that are looked at together


class RowProducts(NamedTuple):
    """A A' and what it was made with: small where there are more columns than rows."""

    gram: FloatArray
    means: FloatArray  # of the columns of [X, y]
    weight: float
    roots: FloatArray  # of the weights
    targets: FloatArray  # b, as targets x rows; zero where a target is constant up to rounding
    noise: float  # what rounding alone may leave of the trace of A A' if all columns are constant


class SharedFits(NamedTuple):
    """What ridge fits for several penalties have in common, with A' A = V diag(s) V'."""

    vectors: FloatArray  # V: (features x directions)
    shrinkage: FloatArray  # 1 / (s + alpha): (directions x penalties)
    solutions: FloatArray  # V' w: (directions x targets x penalties)


def column_norms(A: FloatArray) -> FloatArray:
    """Norms of columns, safe from overflow and underflow."""
    largest = np.abs(A).max(axis=0)
    divisors = np.where(largest > 0, largest, 1)
    norms: FloatArray = largest * np.linalg.norm(A / divisors, axis=0)
    return norms


def refuse_sums(caller: Any, X: Any, y: FloatArray) -> NoReturn:
    """Say why sums of squares over X and y are not finite: bad values, or values too large."""
    name = str(getattr(caller, "__name__", type(caller).__name__))
    require_finite(caller, X)
    assert_all_finite(y, estimator_name=name, input_name="y")
    values = X.data if sp.issparse(X) else X
    largest = max(np.abs(values).max(initial=0), np.abs(y).max(initial=0))
    raise ValueError(
        f"{name}: X or y holds values as large as {largest:.3g}, whose squares overflow. Scale them to moderate size first."
    )


class Rows(Protocol):
    """What dense and sparse rows have in common."""

    n_rows: int
    n_features: int
    n_targets: int
    is_centred: bool

    def products(self) -> Products:
        """[A, b]' [A, b]."""
        ...

    def residuals(self, means: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A' r and r' r for the residuals r = b - A coef' themselves: (targets x features) and (targets)."""
        ...

    def row_products(self) -> RowProducts:
        """A A', and b."""
        ...

    def centre(self) -> tuple[FloatArray, float]:
        """The means of [X, y] (zero without an intercept) and the total weight."""
        ...

    def targets(self, means: FloatArray) -> FloatArray:
        """b, as targets x rows; zero where a target is constant up to rounding."""
        ...

    def apply(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        """A coef', as targets x rows, for coef of shape targets x features."""
        ...

    def adjoint(self, means: FloatArray, duals: FloatArray) -> FloatArray:
        """A' v for each row v of duals (targets x rows), as targets x features."""
        ...

    def normal(self, means: FloatArray, coef: FloatArray) -> FloatArray:
        """A' A coef', as targets x features, for coef of shape targets x features."""
        ...

    def column_squares(self, means: FloatArray) -> FloatArray:
        """The squared norms of the columns of A; zero for columns that are constant up to rounding."""
        ...

    def matrices(self, means: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """A and b themselves: a copy of the data in double precision. Columns constant up to rounding are zero."""
        ...

    def of_targets(self, targets: npt.NDArray[np.intp]) -> Rows:
        """These rows with some of the targets only."""
        ...

    def of_rows(self, index: npt.NDArray[np.intp]) -> Rows:
        """Some of the rows: a copy."""
        ...

    def weights_and_targets(self) -> tuple[FloatArray, FloatArray]:
        """The weights, and y (rows x targets), both in double precision."""
        ...

    def centred_values(self, index: Any, means: FloatArray, coef: FloatArray) -> FloatArray:
        """(X - means) coef' for some of the rows, without their weights: (rows x targets)."""
        ...

    def left_out(self, means: FloatArray, share: float, fits: SharedFits, errors: FloatArray | None) -> FloatArray:
        """The sums of weight times squared error of each row left out in turn, (targets x penalties).

        `share` is that of the intercept in the leverage of a row of weight one. Errors go to `errors` (targets x penalties x
        rows), if given.
        """
        ...


def centred_targets(y: FloatArray, y_mean: FloatArray, roots: FloatArray, weight: float) -> FloatArray:
    """b as targets x rows; zero where it is no more than rounding leaves of a constant."""
    b = (y - y_mean).T * roots
    b[np.einsum("ij,ij->i", b, b) <= weight * (y_mean * ROUNDING) ** 2] = 0
    return np.ascontiguousarray(b)
