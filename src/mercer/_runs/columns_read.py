"""What the texts of a column mean, once a whole table is read: numbers as people write them, and values that are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._runs.alerts import Alert
from mercer._runs.figures import Mark, are_grouped, figures_of, read_figures, sure_mark, without_marks_of_missing

if TYPE_CHECKING:
    import polars as pl

_NEARLY_ALL = 0.95  # of the values are numbers: the others are taken as missing,
_LEAST_DISTINCT = 20  # where there are more distinct numbers than classes have
_MANY = 0.5  # are numbers, and the column stays words: this is said
WORDS = ("category", "text", "identifier")  # kinds of columns that stay as they are written
_SHOWN = 3
_SAMPLE = 10_000  # rows that tell of a column of words that it holds no numbers
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Meanings:
    """A table with the texts of some columns read as numbers, and what there is to know of that."""

    table: pl.DataFrame
    alerts: tuple[Alert, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)  # of the columns that are read
    notes: Mapping[str, str] = field(default_factory=dict)  # what is said of a column where columns are listed


def numbers_among_texts(table: pl.DataFrame, numbers: Rows, kinds: Mapping[str, str], hint: Mark | None) -> Meanings:
    """The table with numbers where its columns of texts hold them, what to know of that, and the decimal marks.

    A column all of whose values are numbers becomes numbers. So does one where 95 % are, more than 20 of them distinct: the
    others are missing values, which an alert names. Infinity is a missing value too. `kinds` go before all this.
    """
    texts = [name for name in _texts(table) if kinds.get(name) not in WORDS and _may_be_numbers(table[name])]
    hint = next((mark for name in texts if (mark := sure_mark(table[name])) is not None), None) or hint
    alerts: list[Alert] = []
    marks: dict[str, Mark] = {}
    notes: dict[str, str] = {}
    for name in texts:
        found = read_figures(table[name], hint)
        if found is None or not found.n_numbers or (kinds.get(name) is None and _are_keys(table[name])):
            continue
        is_strange = without_marks_of_missing(table[name]).is_not_null() & found.values.is_null()
        n_strange = found.n_texts - found.n_numbers
        is_clear = n_strange == 0 or (found.share >= _NEARLY_ALL and found.values.n_unique() > _LEAST_DISTINCT)
        if is_clear or kinds.get(name) == "number":
            marks[name] = found.mark
            notes[name] = _how(table[name], found.values, is_either=found.is_either)
            if n_strange:
                said = strange_words(table[name].filter(is_strange).to_list(), numbers[is_strange.to_numpy()], "no number")
                alerts.append(Alert("warning", name, f"{said}; taken as missing", f"--kind {name}=category"))
            table = table.with_columns(found.values.alias(name))
        elif found.share >= _MANY and found.values.n_unique() > _LEAST_DISTINCT:
            said = strange_words(table[name].filter(is_strange).to_list(), numbers[is_strange.to_numpy()], "no number")
            alerts.append(Alert("info", name, f"{said}, so the column is taken as words", f"--kind {name}=number"))
    table, infinite = without_infinity(table, numbers)
    return Meanings(table, (*as_written(notes), *alerts, *infinite), marks, notes)


def _texts(table: pl.DataFrame) -> list[str]:
    import polars as pl

    return [name for name, kind in table.schema.items() if kind == pl.String]


def _may_be_numbers(texts: pl.Series) -> bool:
    """Whether it is worth reading all of a column: many of its first values have figures."""
    some = without_marks_of_missing(texts.head(_SAMPLE)).drop_nulls()
    return bool(len(some)) and float(some.str.contains(r"\d").mean() or 0.0) >= _MANY  # type: ignore[arg-type]


def _are_keys(texts: pl.Series) -> bool:
    """Zeros in front (007) are there to be kept."""
    return bool(texts.str.contains(r"^\s*0\d+\s*$").any())


def _how(texts: pl.Series, values: pl.Series, *, is_either: bool) -> str:
    """An example of how a column is written: of its values the one with most signs beside its figures."""
    import polars as pl

    signs = texts.str.replace_all(r"[\d\s]", "").str.len_chars()
    place = int(pl.select(pl.when(values.is_not_null()).then(signs)).to_series().arg_max() or 0)
    read = f"{texts[place].strip()!r} is read as {values[place]:.12g}"
    return f"{read}; a comma may as well be the decimal mark (--decimal-comma)" if is_either and "," in texts[place] else read


def as_written(notes: Mapping[str, str]) -> Iterable[Alert]:
    """One line for columns that are written alike: their examples have the same signs."""
    alike: dict[str, list[str]] = {}
    for name, example in notes.items():
        alike.setdefault(re.sub(r"\d+", "0", example), []).append(name)
    for names in alike.values():
        others = f" (and {len(names) - 1} other columns: {', '.join(names[1:6])}{' …' if len(names) > 6 else ''})"
        message = f"{notes[names[0]]}{others if len(names) > 1 else ''}"
        yield Alert("info", names[0], message, f"--kind {names[0]}=category")


def strange_words(values: Sequence[Any], numbers: Rows, what: str) -> str:
    """3 values are no number: 'n/a!' in rows 4 and 17, 'x' in row 230."""
    rows: dict[Any, list[int]] = {}
    for value, number in zip(values, numbers.tolist(), strict=True):
        rows.setdefault(value, []).append(number)
    most = sorted(rows.items(), key=lambda item: -len(item[1]))
    shown = ", ".join(f"{value!r} in {row_words(places)}" for value, places in most[:_SHOWN])
    rest = f" and {len(most) - _SHOWN:,} other texts" if len(most) > _SHOWN else ""
    count = len(values)
    return f"{count:,} {'value is' if count == 1 else 'values are'} {what}: {shown}{rest}"


def row_words(numbers: list[int]) -> str:
    """row 4; rows 4 and 17; rows 4, 17, 230 and 12 others."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    if len(numbers) <= _SHOWN:
        return f"rows {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    return f"rows {', '.join(map(str, numbers[:_SHOWN]))} and {len(numbers) - _SHOWN:,} others"


def without_infinity(table: pl.DataFrame, numbers: Rows) -> tuple[pl.DataFrame, list[Alert]]:
    """Infinite numbers taken as missing: nothing can be learnt from them."""
    import polars as pl

    alerts = []
    for name in [name for name, kind in table.schema.items() if kind.is_float()]:
        is_infinite = table[name].is_infinite().fill_null(False)
        if is_infinite.any():
            rows = numbers[is_infinite.to_numpy()].tolist()
            count = f"{len(rows):,} {'value is' if len(rows) == 1 else 'values are'}"
            alerts.append(Alert("warning", name, f"{count} infinite, in {row_words(rows)}; taken as missing", f"--drop {name}"))
            table = table.with_columns(pl.when(pl.col(name).is_finite() | pl.col(name).is_nan()).then(pl.col(name)).alias(name))
    return table, alerts


def has_decimal_commas(table: pl.DataFrame) -> bool:
    """Whether a column of texts is numbers with a decimal comma, beyond doubt."""
    return any(sure_mark(table[name]) == "comma" for name in _texts(table) if _may_be_numbers(table[name]))


def grouped_thousands(table: pl.DataFrame, texts: pl.DataFrame) -> Meanings:
    """Columns that were read as decimals and are whole numbers with points between thousands, read again from their texts."""
    marks: dict[str, Mark] = {}
    notes: dict[str, str] = {}
    for name in texts.columns:
        if are_grouped(texts[name]):
            values = figures_of(without_marks_of_missing(texts[name]), "comma")
            table = table.with_columns(values.alias(name))
            marks[name] = "comma"
            notes[name] = _how(texts[name], values, is_either=False)
    return Meanings(table, tuple(as_written(notes)), marks, notes)
