"""The values of a column as those of a kind: what the preparation of tables and the reading of new rows share."""

from __future__ import annotations

import dataclasses

import numpy as np

from mercer._columns import BOOLEAN, DURATION, MOMENT, NUMBER, WORDS, Column, float_column, label, words_column
from mercer._words import moments_of, numbers_of, truths_of

_STORAGE_OF_KIND = {
    "number": NUMBER,
    "boolean": BOOLEAN,
    "date": MOMENT,
    "datetime": MOMENT,
    "duration": DURATION,
    "category": WORDS,
    "text": WORDS,
}
A_VALUE = {"number": "a number", "boolean": "true or false", "date": "a date", "datetime": "a date", "duration": "a duration"}


def as_kind(column: Column, kind: str, invalid: str) -> Column:
    """The column in the storage of its kind. A value that cannot be of the kind is an error or, by `invalid`, missing."""
    converted = _converted(column, kind)
    is_strange = converted.is_missing & ~column.is_missing
    if converted.storage != WORDS and converted.values.dtype.kind == "f":
        is_strange |= np.isinf(converted.values)
    if not is_strange.any():
        return converted
    if invalid == "error":
        row = int(np.argmax(is_strange))
        value = column.levels[column.values[row]] if column.storage == WORDS else column.values[row]
        shown = "infinity" if isinstance(value, float) and np.isinf(value) else repr(label(value))
        raise ValueError(
            f"TablePreparer: column {column.name!r} holds {shown} in row {row}, which is not {A_VALUE[kind]}; the column is "
            f"of the kind {kind!r}. Correct it, set invalid='missing' to take such values as missing, or name another kind in "
            "kinds."
        )
    values = converted.values.copy()
    values[is_strange] = np.datetime64("NaT") if converted.storage == MOMENT else np.nan
    return dataclasses.replace(converted, values=values)


def _converted(column: Column, kind: str) -> Column:
    storage = _STORAGE_OF_KIND[kind]
    if column.storage == storage:
        return column
    if storage == WORDS:
        return _as_words(column)
    if column.storage == WORDS:
        return _read_words(column, storage)
    if MOMENT in (storage, column.storage):
        nothing = np.full(len(column.values), "NaT", dtype="datetime64[us]")
        return (
            Column(column.name, MOMENT, nothing)
            if storage == MOMENT
            else float_column(column.name, storage, np.full(len(column.values), np.nan))
        )
    values = column.values
    if storage == BOOLEAN:
        values = np.where((values == 0) | (values == 1), values, np.nan)
    return dataclasses.replace(column, storage=storage, values=values)


def _read_words(column: Column, storage: str) -> Column:
    """Words as what they mean."""
    if storage == MOMENT:
        moments = np.append(moments_of(column.levels), np.datetime64("NaT", "us"))
        return Column(column.name, MOMENT, moments[column.values])
    numbers = numbers_of(column.levels)
    if storage == BOOLEAN:
        numbers = np.where((numbers == 0) | (numbers == 1), numbers, truths_of(column.levels))
    return float_column(column.name, storage, np.append(numbers, np.nan)[column.values])


def _as_words(column: Column) -> Column:
    is_missing = column.is_missing
    distinct, inverse = np.unique(column.values[~is_missing], return_inverse=True)
    if column.storage == BOOLEAN:
        words = [str(bool(value)) for value in distinct.tolist()]
    else:
        words = [label(value) for value in distinct]
    places = np.full(len(is_missing), -1, dtype=np.intp)
    places[~is_missing] = inverse
    return words_column(column.name, words, places)
