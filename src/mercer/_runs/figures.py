"""Numbers as people write them: 1.234,50 €, $1,200, 12 %, (300). One rule for training and for prediction.

What decides is the decimal mark of a column, its `Mark`: "point" (1,234.5; thousands may be parted by commas, blanks and
apostrophes) or "comma" (1.234,5; thousands by points, blanks and apostrophes). Per cent are hundredths.
"""

from __future__ import annotations

from dataclasses import dataclass
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
_ONE_GROUP = r"[1-9]\d{0,2}[.,]\d{3}"  # 1,234 or 1.234, which either mark can read


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


@dataclass(frozen=True)
class Reading:
    """A column of texts read as numbers by one mark."""

    mark: Mark
    values: pl.Series  # null where there was none, or no number
    n_texts: int  # that are there
    n_numbers: int
    is_either: bool  # whether the other mark reads as many, and reads some of them otherwise

    @property
    def share(self) -> float:
        return self.n_numbers / self.n_texts if self.n_texts else 0.0


def read_figures(texts: pl.Series, hint: Mark | None = None) -> Reading | None:
    """A column of texts as numbers, by the mark that reads more of them; `hint` decides between equals. None: no numbers."""
    bare = without_marks_of_missing(texts)
    n_texts = len(bare) - bare.null_count()
    if n_texts == 0 or not bare.head(1000).str.contains(r"\d").any():
        return None
    by_mark = {mark: figures_of(bare, mark, is_strict=True) for mark in MARKS}
    counts = {mark: len(values) - values.null_count() for mark, values in by_mark.items()}
    is_either = counts["point"] == counts["comma"] and not by_mark["point"].equals(by_mark["comma"])
    if counts["point"] == counts["comma"]:
        mark: Mark = hint or "point"
    else:
        mark = "point" if counts["point"] > counts["comma"] else "comma"
    values = figures_of(bare, mark)
    return Reading(mark, values, n_texts, len(values) - values.null_count(), is_either)


def sure_mark(texts: pl.Series) -> Mark | None:
    """The mark by which all of a column's texts are numbers, where the other mark does not read all of them."""
    bare = without_marks_of_missing(texts).drop_nulls()
    reads_all = {mark for mark in MARKS if len(bare) and not figures_of(bare, mark, is_strict=True).null_count()}
    return reads_all.pop() if len(reads_all) == 1 else None


def are_grouped(texts: pl.Series) -> bool:
    """Whether texts that look like decimals (12.500, 900) could be whole numbers whose thousands are parted by points."""
    bare = without_marks_of_missing(texts).drop_nulls()
    is_whole = bare.str.contains(r"^-?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d{1,3})$")
    return len(bare) > 0 and bool(is_whole.all()) and bool(bare.str.contains(r"\.").any())
