"""What the texts of a column mean, once a whole table is read: numbers as people write them, and values that are none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._runs.alerts import Alert
from mercer._runs.figures import Mark, are_grouped, figures_of, in_stacks, read_figures

if TYPE_CHECKING:
    import polars as pl

_NEARLY_ALL = 0.95  # of the values are numbers: the others are taken as missing,
_LEAST_DISTINCT = 20  # where there are more distinct numbers than classes have
_MANY = 0.5  # are numbers, and the column stays words: this is said
WORDS = ("category", "text", "identifier")  # kinds of columns that stay as they are written
_SHOWN = 3
_SAMPLE = 10_000  # rows that tell of a column of words that it holds no numbers
_EXAMPLES = 200  # values of which one shows how a column is written
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
    names = [name for name in texts_with_figures(table) if kinds.get(name) not in WORDS]
    readings = read_figures([table[name] for name in names])
    hint = next((mark for reading in readings if (mark := reading.sure_mark) is not None), None) or hint
    alerts: list[Alert] = []
    marks: dict[str, Mark] = {}
    notes: dict[str, str] = {}
    read: list[pl.Series] = []  # put into the table at once, which may have thousands of columns
    for name, reading in zip(names, readings, strict=True):
        mark = reading.mark(hint)
        values = reading.values(mark)
        n_numbers = len(values) - values.null_count()
        n_strange = reading.n_texts - n_numbers
        if not n_numbers or (kinds.get(name) is None and _are_keys(reading.texts)):
            continue
        is_mostly = n_strange == 0 or values.n_unique() > _LEAST_DISTINCT
        said = _strange_words_of(reading.texts, values, numbers) if n_strange else ""
        if kinds.get(name) == "number" or (is_mostly and n_numbers >= _NEARLY_ALL * reading.n_texts):
            marks[name], notes[name] = mark, _how(reading.texts, values, is_either=reading.is_either)
            if n_strange:
                alerts.append(Alert("warning", name, f"{said}; taken as missing", f"--kind {name}=category"))
            read.append(values)
        elif is_mostly and n_numbers >= _MANY * reading.n_texts:
            alerts.append(Alert("info", name, f"{said}, so the column is taken as words", f"--kind {name}=number"))
    table, infinite = without_infinity(table.with_columns(read), numbers)
    return Meanings(table, (*as_written(notes), *alerts, *infinite), marks, notes)


def texts_with_figures(table: pl.DataFrame) -> list[str]:
    """The columns of texts that are worth reading whole: many of their first values have figures."""
    import polars as pl

    heads = [table[name].head(_SAMPLE) for name, kind in table.schema.items() if kind == pl.String]
    found = in_stacks(heads, lambda texts: texts.str.contains(r"\d"))
    return [texts.name for texts, has_figure in found if (has_figure.mean() or 0.0) >= _MANY]  # type: ignore[operator]


def _are_keys(texts: pl.Series) -> bool:
    """Zeros in front (007) are there to be kept."""
    return bool(texts.str.contains(r"^0\d+$").any())


def _strange_words_of(texts: pl.Series, values: pl.Series, numbers: Rows) -> str:
    is_strange = texts.is_not_null() & values.is_null()
    return strange_words(texts.filter(is_strange).to_list(), numbers[is_strange.to_numpy()], "no number")


def _how(texts: pl.Series, values: pl.Series, *, is_either: bool) -> str:
    """An example of how a column is written: of its first values the one with most signs beside its figures."""
    first = zip(texts.head(_EXAMPLES).to_list(), values.head(_EXAMPLES).to_list(), strict=True)
    known = [(text, value) for text, value in first if value is not None]
    if not known:
        place = int(values.is_not_null().arg_max() or 0)
        known = [(texts[place], values[place])]
    text, value = max(known, key=lambda pair: sum(not sign.isdigit() and sign != "-" for sign in pair[0]))
    read = f"{text!r} is read as {value:.12g}"
    return f"{read}; a comma may as well be the decimal mark (--decimal-comma)" if is_either and "," in text else read


def as_written(notes: Mapping[str, str]) -> Iterable[Alert]:
    """One line for columns that are written alike: their examples have the same signs."""
    alike: dict[str, list[str]] = {}
    for name, example in notes.items():
        alike.setdefault(re.sub(r"-?\d+", "0", example.split(" is read as ")[0]), []).append(name)
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

    alerts, finite = [], []
    for name in [name for name, kind in table.schema.items() if kind.is_float()]:
        is_infinite = table[name].is_infinite().fill_null(False)
        if is_infinite.any():
            rows = numbers[is_infinite.to_numpy()].tolist()
            count = f"{len(rows):,} {'value is' if len(rows) == 1 else 'values are'}"
            alerts.append(Alert("warning", name, f"{count} infinite, in {row_words(rows)}; taken as missing", f"--drop {name}"))
            finite.append(pl.when(~pl.col(name).is_infinite()).then(pl.col(name)).alias(name))
    return table.with_columns(finite), alerts


def has_decimal_commas(table: pl.DataFrame) -> bool:
    """Whether a column of texts is numbers with a decimal comma, beyond doubt."""
    return any(reading.sure_mark == "comma" for reading in read_figures([table[name] for name in texts_with_figures(table)]))


def grouped_thousands(table: pl.DataFrame, texts: pl.DataFrame) -> Meanings:
    """Columns that were read as decimals and are whole numbers with points between thousands, read again from their texts."""
    marks: dict[str, Mark] = {}
    notes: dict[str, str] = {}
    read: list[pl.Series] = []
    for bare, values in in_stacks(texts.get_columns(), lambda column: figures_of(column, "comma")):
        if are_grouped(bare):
            read.append(values)
            marks[bare.name] = "comma"
            notes[bare.name] = _how(bare, values, is_either=False)
    return Meanings(table.with_columns(read), tuple(as_written(notes)), marks, notes)
