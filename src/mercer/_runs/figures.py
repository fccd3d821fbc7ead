"""Numbers as people write them: 1.234,50 €, $1,200, 12 %, (300). One rule for training and for prediction.

What decides is the decimal mark of a column, its `Mark`: "point" (1,234.5; thousands may be parted by commas, blanks and
apostrophes) or "comma" (1.234,5; thousands by points, blanks and apostrophes). Per cent are hundredths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from mercer._columns import MISSING_MARKS

if TYPE_CHECKING:
    import polars as pl

Mark = Literal["point", "comma"]
MARKS: tuple[Mark, ...] = ("point", "comma")

_SYMBOL = (
    r"(?:[A-Z]{0,3}\$|[€£¥₹₩₽₺₴₦₫₪฿₱]|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|RUB|BRL|MXN|ZAR|KRW)"
    r"|(?i:kr\.?|zł|kč|ft|fr\.?|lei|лв\.?))"
)
_BLANK = r"[ \u00a0\u202f\u2009]"
_APOSTROPHE, _MINUS = r"['\u2019]", "\u2212"
_PARTS: dict[Mark, tuple[str, str]] = {
    "point": (rf"(?:,|{_BLANK}|{_APOSTROPHE})", r"\."),
    "comma": (rf"(?:\.|{_BLANK}|{_APOSTROPHE})", ","),
}


def _pattern(mark: Mark) -> str:
    """Groups: a bracket that makes the number negative, signs, the symbol before, whole part, decimals, the symbol after."""
    group, decimal = _PARTS[mark]
    whole = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d+"
    return (
        rf"^(\()?([+\-{_MINUS}])?{_BLANK}*({_SYMBOL})?{_BLANK}*([+\-{_MINUS}])?({whole})?(?:{decimal}(\d+|-))?"
        rf"{_BLANK}*({_SYMBOL}|%)?(\))?$"
    )


_PATTERNS: dict[Mark, str] = {mark: _pattern(mark) for mark in MARKS}
_MOST_CELLS = 1 << 20  # of a stack of columns


def without_marks_of_missing(texts: pl.Series) -> pl.Series:
    """Outer blanks taken off, and null for what says that a value is missing."""
    import polars as pl

    bare = pl.col(texts.name).str.strip_chars()
    is_missing = bare.str.to_lowercase().is_in(sorted(MISSING_MARKS))
    return texts.to_frame().select(pl.when(~is_missing).then(bare)).to_series()


def figures_of(texts: pl.Series, mark: Mark, *, is_strict: bool = False) -> pl.Series:
    """The numbers that texts stand for; null where there is none. `texts` have no outer blanks.

    What the mark cannot read and is plain all the same (1e-3, or 1.5 among decimal commas) counts unless `is_strict`.
    """
    import polars as pl

    groups = texts.to_frame().select(
        pl.col(texts.name).alias("text"), pl.col(texts.name).str.extract_groups(_PATTERNS[mark]).alias("found")
    )
    found = pl.col("found").struct
    opened, closed = found.field("1").is_not_null(), found.field("8").is_not_null()
    first, second = found.field("2"), found.field("4")
    whole, decimals, after = found.field("5"), found.field("6"), found.field("7")
    part = pl.when(decimals == "-").then(pl.lit("0")).otherwise(decimals.fill_null("0"))
    digits = pl.concat_str(whole.fill_null("0").str.replace_all(r"\D", ""), pl.lit("."), part).cast(pl.Float64, strict=False)
    is_number = (
        (whole.is_not_null() | (decimals != "-").fill_null(False))
        & (opened == closed)
        & ~(first.is_not_null() & second.is_not_null())
        & ~(opened & (first.is_not_null() | second.is_not_null()))
        & ~(found.field("3").is_not_null() & after.is_not_null())
    )
    minus = opened | first.is_in(["-", _MINUS]).fill_null(False) | second.is_in(["-", _MINUS]).fill_null(False)
    sign = pl.when(minus).then(-1.0).otherwise(1.0)
    value = sign * pl.when(after == "%").then(digits / 100).otherwise(digits)
    if is_strict:
        return groups.select(pl.when(is_number).then(value).alias(texts.name)).to_series()
    plain = pl.col("text").cast(pl.Float64, strict=False)
    finite = pl.when(plain.is_finite()).then(plain)
    return groups.select(pl.when(is_number).then(value).otherwise(finite).alias(texts.name)).to_series()


def in_stacks(columns: Sequence[pl.Series], *readers: Callable[[pl.Series], pl.Series]) -> list[tuple[pl.Series, ...]]:
    """Each column without marks of missing values, and what readers make of that.

    Columns are put one under another for it: of thousands of short ones, each by itself would take a thousand times as long.
    """
    import polars as pl

    found: list[tuple[pl.Series, ...]] = []
    at = 0
    while at < len(columns):
        end = at + max(1, min(len(columns) - at, _MOST_CELLS // max(1, len(columns[at]))))
        stack = without_marks_of_missing(pl.concat([column.alias("") for column in columns[at:end]]))
        parts = [stack, *(reader(stack) for reader in readers)]
        start = 0
        for column in columns[at:end]:
            found.append(tuple(part.slice(start, len(column)).alias(column.name) for part in parts))
            start += len(column)
        at = end
    return found


@dataclass(frozen=True)
class Reading:
    """A column of texts as each mark alone reads it."""

    texts: pl.Series  # without marks of missing values
    by_mark: Mapping[Mark, pl.Series]  # null where there is none, or no number

    @property
    def n_texts(self) -> int:
        return len(self.texts) - self.texts.null_count()

    def _count(self, mark: Mark) -> int:
        return len(self.texts) - self.by_mark[mark].null_count()

    @property
    def sure_mark(self) -> Mark | None:
        """The mark by which all of the texts are numbers, where the other mark does not read all of them."""
        reads_all = [mark for mark in MARKS if 0 < self.n_texts == self._count(mark)]
        return reads_all[0] if len(reads_all) == 1 else None

    @property
    def is_either(self) -> bool:
        """Whether either mark reads as many, and some of them otherwise."""
        point, comma = self.by_mark["point"], self.by_mark["comma"]
        return self._count("point") == self._count("comma") and not point.equals(comma)

    def mark(self, hint: Mark | None = None) -> Mark:
        """The mark that reads more of the texts; `hint` decides between equals."""
        point, comma = self._count("point"), self._count("comma")
        if point == comma:
            return hint or "point"
        return "point" if point > comma else "comma"

    def values(self, mark: Mark) -> pl.Series:
        """The numbers by a mark, and where it reads none what is a number all the same."""
        values = self.by_mark[mark]
        return values if values.null_count() == self.texts.null_count() else figures_of(self.texts, mark)


def read_figures(columns: Sequence[pl.Series]) -> list[Reading]:
    """Columns of texts as numbers, by each mark."""
    readers = [partial(figures_of, mark=mark, is_strict=True) for mark in MARKS]
    return [Reading(texts, dict(zip(MARKS, values, strict=True))) for texts, *values in in_stacks(columns, *readers)]


def are_grouped(texts: pl.Series) -> bool:
    """Whether texts that look like decimals (12.500, 900) could be whole numbers whose thousands are parted by points."""
    bare = texts.drop_nulls()
    is_whole = bare.str.contains(r"^-?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d{1,3})$")
    return len(bare) > 0 and bool(is_whole.all()) and bool(bare.str.contains(r"\.").any())
