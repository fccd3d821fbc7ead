"""Categorical columns: which they are, and whole numbers in place of their values. The same for every tree model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray, is_plain, require_finite
from mercer._lazy import lazy_property
from mercer._params import ArrayLike, InvalidParameterError, Null, OneOf, Rule
from mercer._remedies import explained
from mercer._saved import saved

CATEGORICAL_RULE: Rule = Null() | OneOf("from_dtype") | ArrayLike()
UNSEEN_RULE: Rule = OneOf("missing", "error", "other")
UNSEEN = -1.0  # what the kernels take for a category that training never saw


@saved("CategoryCoder")
@dataclass(frozen=True)
class CategoryCoder:
    """The categories of each column, None for a column of numbers."""

    categories: tuple[npt.NDArray[Any] | None, ...]
    names: tuple[str, ...] | None = None

    @lazy_property
    def has_any(self) -> bool:
        return not set(map(type, self.categories)) <= {type(None)}  # as quick as a look at thousands of columns can be

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        if not self.has_any:
            return np.zeros(len(self.categories), dtype=bool)
        return np.array([levels is not None for levels in self.categories])

    @property
    def flags(self) -> npt.NDArray[np.uint8] | None:
        """The mask as the kernels take it."""
        return self.mask.astype(np.uint8) if self.has_any else None

    def describe(self, column: int) -> str:
        return repr(self.names[column]) if self.names is not None else str(column)

    def encode(self, X: Any, unseen: str) -> FloatArray:
        """X as floats: categories become their places, NaN stays, a category never seen becomes what `unseen` says."""
        columns = _Columns(X)
        mask = self.mask
        out = np.empty(columns.shape, dtype=columns.dtype(~mask))
        if not mask.all():
            out[:, ~mask] = columns.numbers(~mask)
        for j in np.flatnonzero(mask):
            out[:, j] = self._codes(int(j), *columns.levels(int(j)), unseen)
        return out

    def _codes(self, column: int, levels: npt.NDArray[Any], places: npt.NDArray[np.intp], unseen: str) -> FloatArray:
        """The code of each row, given the column's levels and each row's place among them (-1: missing)."""
        known = {level: float(code) for code, level in enumerate(_plain(self.categories[column]))}
        absent = np.nan if unseen == "missing" else UNSEEN
        table = np.array([known.get(level, absent) for level in _plain(levels)] + [np.nan])
        if unseen == "error":
            strange = [level for level in _plain(levels[np.unique(places[places >= 0])]) if level not in known]
            if strange:
                raise ValueError(
                    f"Column {self.describe(column)} holds the category {strange[0]!r}, which training never saw "
                    "(unseen='error'); set unseen='missing' or 'other' to let such rows pass."
                )
        return table[places]


def check_categories(estimator: Any, X: Any, categorical_features: Any) -> CategoryCoder:
    """Which columns of X are categorical, by the estimator's parameter, and their categories."""
    columns = _Columns(X)
    mask = _categorical_mask(columns, categorical_features)
    categories: list[npt.NDArray[Any] | None] = [None] * columns.shape[1]
    for j in np.flatnonzero(mask):
        levels, places = columns.levels(int(j))
        seen = levels[np.unique(places[places >= 0])]
        try:
            categories[j] = np.sort(seen)
        except TypeError:  # strings among numbers
            categories[j] = np.array(sorted(seen, key=lambda level: (str(type(level)), level)), dtype=object)
    return CategoryCoder(tuple(categories), columns.names)


def _plain(levels: Any) -> list[Any]:
    return list(levels.tolist())


def _categorical_mask(columns: _Columns, wanted: Any) -> npt.NDArray[np.bool_]:
    d = columns.shape[1]
    if wanted is None:
        return np.zeros(d, dtype=bool)
    if isinstance(wanted, str):
        if wanted != "from_dtype":
            raise InvalidParameterError(
                f"categorical_features={wanted!r} is not valid; it must be None, 'from_dtype', a mask, or a list of columns."
            )
        return columns.categorical_dtypes()
    wanted = np.asarray(wanted)
    if wanted.dtype == bool:
        if wanted.shape != (d,):
            raise InvalidParameterError(
                f"categorical_features is a mask of shape {wanted.shape}; X has {d} columns, so it must have the shape ({d},)."
            )
        return np.asarray(wanted, dtype=bool)
    mask = np.zeros(d, dtype=bool)
    for which in wanted.ravel().tolist():
        mask[_column_number(columns, which)] = True
    return mask


def _column_number(columns: _Columns, which: Any) -> int:
    if isinstance(which, str):
        if columns.names is None or which not in columns.names:
            raise InvalidParameterError(f"categorical_features names the column {which!r}, which X does not have.")
        return columns.names.index(which)
    if not isinstance(which, int) or not 0 <= which < columns.shape[1]:
        raise InvalidParameterError(
            f"categorical_features holds {which!r}; a column's number must be an integer from 0 to {columns.shape[1] - 1}."
        )
    return which


class _Columns:
    """A table (pandas, polars) or a matrix, read column by column."""

    def __init__(self, X: Any) -> None:
        self.is_table = hasattr(X, "columns") and hasattr(X, "dtypes")
        if sp.issparse(X):
            X = X.toarray()
        self.X = X if self.is_table or is_plain(X) else check_array(X, dtype=None, ensure_all_finite=False)
        self.shape: tuple[int, int] = tuple(self.X.shape)

    @property
    def names(self) -> tuple[str, ...] | None:
        if not self.is_table or not all(isinstance(name, str) for name in self.X.columns):
            return None
        return tuple(self.X.columns)

    def _column(self, j: int) -> Any:
        if not self.is_table:
            return self.X[:, j]
        return self.X.iloc[:, j] if hasattr(self.X, "iloc") else self.X[:, j]

    def categorical_dtypes(self) -> npt.NDArray[np.bool_]:
        if not self.is_table:
            return np.zeros(self.shape[1], dtype=bool)
        return np.array([str(dtype).startswith(("category", "Categorical", "Enum")) for dtype in list(self.X.dtypes)])

    def dtype(self, is_number: npt.NDArray[np.bool_]) -> npt.DTypeLike:
        return self.X.dtype if not self.is_table and self.X.dtype in FLOATS else np.float64

    def numbers(self, is_number: npt.NDArray[np.bool_]) -> FloatArray:
        """The columns of numbers as floats."""
        if not self.is_table:
            part = self.X[:, is_number]
        elif hasattr(self.X, "iloc"):
            part = self.X.iloc[:, np.flatnonzero(is_number)]
        else:
            part = self.X[:, np.flatnonzero(is_number).tolist()]
        if is_plain(part):
            require_finite(None, part, allow_nan=True)
            return np.asarray(part)
        try:
            return np.asarray(check_array(part, dtype=FLOATS, ensure_all_finite="allow-nan"))
        except ValueError as error:
            raise explained(error, None, part) from None

    def levels(self, j: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
        """The distinct values of a column, and each row's place among them; -1 where the value is missing."""
        column = self._column(j)
        if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # pandas
            return np.asarray(column.cat.categories), np.asarray(column.cat.codes, dtype=np.intp)
        if hasattr(column, "to_list") and not hasattr(column, "iloc"):  # polars
            column = np.array(column.to_list(), dtype=object)
        values = np.asarray(column)
        if values.dtype.kind == "O":
            is_missing = np.array([value is None or value != value for value in values.tolist()], dtype=bool)
            return self._objects(values, is_missing)
        is_missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        levels, places = np.unique(values[~is_missing], return_inverse=True)
        return levels, _spread(places, is_missing)

    @staticmethod
    def _objects(values: Any, is_missing: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
        numbers: dict[Any, int] = {}
        places = np.array([numbers.setdefault(value, len(numbers)) for value in values[~is_missing].tolist()], dtype=np.intp)
        levels = np.empty(len(numbers), dtype=object)
        levels[:] = list(numbers)
        return levels, _spread(places, is_missing)


def _spread(places: Sequence[int] | npt.NDArray[np.intp], is_missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    out = np.full(len(is_missing), -1, dtype=np.intp)
    out[~is_missing] = places
    return out
