"""A table of any library as columns in one of five storages, so that what follows never asks where a column came from."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from mercer._lazy import lazy_property

NUMBER, BOOLEAN, MOMENT, DURATION, WORDS = "number", "boolean", "moment", "duration", "words"
# Words that stand for a missing value in files, compared without case and outer blanks.
MISSING_MARKS = frozenset({"", "na", "n/a", "nan", "null", "none", "nat", "?", "-"})
_MISSING_TYPES = {"NoneType", "NAType", "NaTType"}
_NESTED = (list, tuple, dict, set, frozenset, bytes, bytearray, complex, np.ndarray, np.complexfloating)


@dataclass(frozen=True)
class Column:
    """One column, missing values marked.

    `values` are float64 with NaN (numbers; booleans as 0 and 1; durations in seconds), datetime64[us] with NaT (moments), or
    the place of each word among the sorted `levels` with -1 for a missing one (words).
    """

    name: str
    storage: str
    values: npt.NDArray[Any]
    levels: tuple[str, ...] = ()
    is_declared: bool = False  # its library calls it categorical
    note: str = ""  # what had to be done to read it

    @lazy_property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        if self.storage == WORDS:
            return np.asarray(self.values < 0)
        return np.asarray(np.isnat(self.values) if self.storage == MOMENT else np.isnan(self.values))

    @lazy_property
    def ordered(self) -> npt.NDArray[Any]:
        """The sorted values that are there: what is learned from them does not depend on the order of rows."""
        return np.sort(self.values[~self.is_missing])


def float_column(name: str, storage: str, values: Any) -> Column:
    """A column of floats; -0 becomes 0 and every NaN the same NaN, so that equal columns have equal bits."""
    values = np.array(values, dtype=np.float64, order="C")
    values += 0.0
    values[np.isnan(values)] = np.nan
    return Column(name, storage, values)


def words_column(name: str, levels: Sequence[str], places: Any, *, is_declared: bool = False, note: str = "") -> Column:
    """A column of words, given levels in any order (some unused, some equal) and each row's place among them."""
    places = np.asarray(places, dtype=np.intp)
    is_used = np.bincount(places[places >= 0], minlength=len(levels)) > 0
    used = set(levels) if is_used.all() else {level for level, is_there in zip(levels, is_used, strict=True) if is_there}
    kept = sorted([level for level in used if level.strip().casefold() not in MISSING_MARKS])
    rank = dict(zip(kept, range(len(kept)), strict=True))
    table = np.array([*[rank.get(level, -1) for level in levels], -1], dtype=np.intp)
    return Column(name, WORDS, table[places], tuple(kept), is_declared, note)


def label(value: Any) -> str:
    """A value as a word: whole numbers have no decimal point, whatever type holds them."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def refuse(name: str, what: str) -> ValueError:
    return ValueError(
        f"X: column {name!r} holds {what}, which no kind of column can stand for. Take it apart into columns of "
        f"numbers, words or dates first, or leave it out (drop=[{name!r}] of TablePreparer)."
    )


def object_column(name: str, values: list[Any], *, is_declared: bool = False) -> Column:
    """A column of Python objects: of one type if all are, otherwise of words."""
    if _MISSING_TYPES & (names := {kind.__name__ for kind in set(map(type, values))}) - {"NoneType"}:
        values = [None if type(value).__name__ in _MISSING_TYPES else value for value in values]
    types = set(map(type, values)) - {type(None)}
    if any(issubclass(kind, float) for kind in types) and len(types) > 1:
        values = [None if isinstance(value, float) and value != value else value for value in values]
        types = set(map(type, values)) - {type(None)}
    for kind in types:
        if issubclass(kind, _NESTED):
            raise refuse(name, f"values of the type {kind.__name__}")
    if types <= {str}:
        return _factorised(name, values, is_declared=is_declared)
    for storage, kinds, read in _OBJECTS:
        if all(issubclass(kind, kinds) for kind in types):
            return read(name, storage, values)
    words = [None if value is None else label(value) for value in values]
    note = f"values of mixed types ({', '.join(sorted(names - _MISSING_TYPES))}) taken as words"
    return _factorised(name, words, is_declared=is_declared, note=note)


def _factorised(name: str, values: list[str | None], *, is_declared: bool = False, note: str = "") -> Column:
    levels = [value for value in dict.fromkeys(values) if value is not None]
    places: dict[str | None, int] = dict(zip(levels, range(len(levels)), strict=True))
    places[None] = -1
    coded = np.fromiter(map(places.__getitem__, values), dtype=np.intp, count=len(values))
    return words_column(name, levels, coded, is_declared=is_declared, note=note)


def _floats(name: str, storage: str, values: list[Any]) -> Column:
    return float_column(name, storage, [np.nan if value is None else float(value) for value in values])


def _moments(name: str, storage: str, values: list[Any]) -> Column:
    wall = [value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value for value in values]
    return Column(name, storage, np.array(wall, dtype="datetime64[us]"))


def _seconds(name: str, storage: str, values: list[Any]) -> Column:
    def seconds(value: Any) -> float:
        if value is None:
            return np.nan
        if isinstance(value, datetime.time):
            return float(value.hour * 3600 + value.minute * 60 + value.second) + value.microsecond / 1e6
        return float(np.timedelta64(value, "us").astype(np.int64)) / 1e6

    return float_column(name, storage, [seconds(value) for value in values])


_OBJECTS: tuple[tuple[str, tuple[type, ...], Callable[[str, str, list[Any]], Column]], ...] = (
    (BOOLEAN, (bool, np.bool_), _floats),
    (NUMBER, (bool, np.bool_, int, float, Decimal, Fraction, np.integer, np.floating), _floats),
    (MOMENT, (datetime.date, np.datetime64), _moments),
    (DURATION, (datetime.timedelta, datetime.time, np.timedelta64), _seconds),
)


def array_column(name: str, values: npt.NDArray[Any]) -> Column:
    """A column of an array. Booleans that share an array with nothing else are the numbers 0 and 1."""
    kind = values.dtype.kind
    if kind in "biuf":
        return float_column(name, NUMBER, values)
    if kind == "M":
        return Column(name, MOMENT, np.ascontiguousarray(values, dtype="datetime64[us]"))
    if kind == "m":
        return duration_column(name, values)
    if kind in "SVc":
        raise refuse(name, f"values of the type {values.dtype}")
    return object_column(name, values.tolist())


def duration_column(name: str, values: npt.NDArray[Any]) -> Column:
    """Time spans as seconds."""
    microseconds = values.astype("timedelta64[us]")
    seconds = microseconds.astype(np.int64) / 1e6
    seconds[np.isnat(microseconds)] = np.nan
    return float_column(name, DURATION, seconds)


@dataclass
class Table:
    """The columns of a table, each read when first asked for."""

    source: Any
    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    read: Callable[[int], Column]
    _columns: dict[int, Column] = field(default_factory=dict)

    def column(self, number: int) -> Column:
        if number not in self._columns:
            self._columns[number] = self.read(number)
        return self._columns[number]

    @classmethod
    def of(cls, X: Any, owner: str) -> Table:
        """A pandas or polars frame, a dict of columns, or anything that makes a two-dimensional array; for `owner`.

        A table is itself: several who read the same one, such as the members of a blend, read each column once.
        """
        if isinstance(X, Table):
            return X
        if isinstance(X, Mapping) and not sp.issparse(X):  # SciPy has matrices that are dicts
            return cls._of_mapping(X, owner)
        if hasattr(X, "collect") and hasattr(X, "collect_schema"):
            raise TypeError(f"{owner}: X is lazy; call its collect() first.")
        if hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape") and len(X.shape) == 2:
            return cls._of_frame(X, owner)
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=owner)
        names = tuple(f"x{number}" for number in range(X.shape[1]))
        return cls(X, names, False, X.shape[0], lambda number: array_column(names[number], X[:, number]))

    @classmethod
    def _of_mapping(cls, X: Mapping[Any, Any], owner: str) -> Table:
        arrays = [np.asarray(values) for values in X.values()]
        if any(values.ndim != 1 for values in arrays) or len({len(values) for values in arrays}) > 1:
            raise ValueError(f"{owner}: a dict of columns must hold one-dimensional arrays of one length.")
        names, has_names = _check_names(owner, list(X), (len(arrays[0]) if arrays else 0, len(arrays)))

        def read(number: int) -> Column:
            values = arrays[number]
            if values.dtype.kind == "b":
                return float_column(names[number], BOOLEAN, values)
            return array_column(names[number], values)

        return cls(X, names, has_names, len(arrays[0]), read)

    @classmethod
    def _of_frame(cls, X: Any, owner: str) -> Table:
        from mercer._frame_columns import pandas_column, polars_column

        names, has_names = _check_names(owner, list(X.columns), X.shape)
        if hasattr(X, "iloc"):
            return cls(X, names, has_names, X.shape[0], lambda number: pandas_column(names[number], X.iloc[:, number]))
        return cls(X, names, has_names, X.shape[0], lambda number: polars_column(names[number], X.to_series(number)))


def _check_names(owner: str, names: list[Any], shape: tuple[int, int]) -> tuple[tuple[str, ...], bool]:
    """The names of columns as words, and whether they are names at all: as in scikit-learn, only strings are."""
    for count, what in ((shape[1], "feature(s)"), (shape[0], "sample(s)")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required by {owner}.")
    n_strings = sum(isinstance(name, str) for name in names)
    if 0 < n_strings < len(names):
        strange = next(name for name in names if not isinstance(name, str))
        raise TypeError(
            f"{owner}: some column names are strings and {strange!r} is not. Feature names are only supported if all "
            "are strings; convert them, e.g. with X.columns = X.columns.astype(str)."
        )
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"{owner}: two columns are named {twice!r}; every column needs a name of its own.")
    has_names = n_strings > 0
    return (tuple(names) if has_names else tuple(f"x{number}" for number in range(len(names)))), has_names
