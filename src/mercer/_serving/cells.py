"""What may stand in a column, by how the file of the training wrote it: values of JSON as arrays that the model takes."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mercer._columns import MISSING_MARKS, label
from mercer._runs.figures import Mark, figures_of
from mercer._serving.problems import Problem, shown
from mercer._words import moment_of, number_of, truth_of

if TYPE_CHECKING:
    import polars as pl

Holds = Literal["number", "boolean", "text", "moment", "time"]
MOST_LISTED_LEVELS = 30


def holds_of(dtype: str) -> Holds:
    """What the values of a column of this type (a name of polars) are in a request."""
    if dtype == "Boolean":
        return "boolean"
    if dtype == "Time":
        return "time"
    if dtype == "Date" or dtype.startswith("Datetime"):
        return "moment"
    return "text" if dtype.startswith(("String", "Categorical", "Enum")) else "number"


@dataclass(frozen=True)
class ServedColumn:
    """A column that the model uses."""

    name: str
    kind: str  # as the preparer took it
    dtype: str  # in the file of the training
    levels: tuple[str, ...] = ()  # categories that have a place of their own
    n_joined: int = 0  # rarer ones that share one
    low: Any = None  # of the training rows that the run keeps
    high: Any = None
    typical: Any = None  # the median, or what is most frequent
    longest: int = 10_000
    mark: Mark | None = None  # of numbers that the file of the training wrote with signs of their own, such as € 1,200.50

    @property
    def holds(self) -> Holds:
        return holds_of(self.dtype)

    @property
    def is_whole(self) -> bool:
        """Whether its values are categories by whole numbers: another number is a mistake, as it is in a file."""
        return self.kind == "category" and self.dtype.startswith(("Int", "UInt"))

    @property
    def knows_all_levels(self) -> bool:
        """Whether a category that is not among the levels was never seen."""
        return bool(self.levels) and self.n_joined == 0

    @property
    def choices(self) -> list[Any]:
        """The categories as a request writes them, where they are few."""
        if not 0 < len(self.levels) <= MOST_LISTED_LEVELS:
            return []
        if self.holds == "text":
            return list(self.levels)
        if self.holds == "boolean":
            return [level == "True" for level in self.levels]
        return [_plain_number(level) for level in self.levels] if self.holds == "number" else []

    @property
    def would_do(self) -> str:
        """What may stand here in JSON."""
        return f"{self.takes}; null where it is missing"

    @property
    def takes(self) -> str:
        """What may stand here, with an example."""
        example = "" if self.typical is None else f", such as {_quoted(self.typical)}"
        what = {
            "number": "a whole number" if self.is_whole else "a number",
            "boolean": "true or false",
            "moment": "a date as text",
            "time": "a time of day as text, such as 12:30",
            "text": {"number": "a number", "boolean": "a text that says yes or no", "date": "a date as text"}.get(
                self.kind, "a text"
            ),
        }[self.holds]
        if self.holds == "text" and self.kind == "datetime":
            what = "a date as text"
        return f"{what}{'' if self.holds in ('time', 'boolean') else example}"

    # ---- values of requests

    def read(self, values: Sequence[Any], problems: list[Problem]) -> npt.NDArray[Any]:
        """The values of some rows as an array for the model; what cannot be read is added to the problems."""
        if self.holds == "number":
            return self._numbers(values, problems)
        reader = {"boolean": _boolean, "text": self._text, "moment": _moment, "time": _time}[self.holds]
        read = []
        for row, value in enumerate(values):
            found = None if value is None else reader(value)
            if found is None and value is not None:
                problems.append(self._problem(row, value))
            read.append(found)
        if self.holds == "moment":
            return np.array(["NaT" if value is None else value for value in read], dtype="datetime64[us]")
        array = np.empty(len(read), dtype=object)
        array[:] = read
        return array

    def _numbers(self, values: Sequence[Any], problems: list[Problem]) -> npt.NDArray[np.float64]:
        array = np.full(len(values), np.nan)
        written = self._written_numbers(values)
        for row, value in enumerate(values):
            if row in written:
                array[row] = written[row]
            elif type(value) in _NUMBERS and _is_held(value) and (not self.is_whole or _is_whole(value)):
                array[row] = value
            elif value is not None:
                problems.append(self._problem(row, value))
        return array

    def _written_numbers(self, values: Sequence[Any]) -> dict[int, float]:
        """Texts that are numbers as the file of the training wrote them, by their rows."""
        if self.mark is None:
            return {}
        texts = {row: value for row, value in enumerate(values) if type(value) is str and _is_encodable(value)}
        if not texts:
            return {}
        import polars as pl

        found = figures_of(pl.Series("", list(texts.values()), dtype=pl.String).str.strip_chars(), self.mark)
        return {row: number for row, number in zip(texts, found.to_list(), strict=True) if number is not None}

    def _text(self, value: Any) -> str | None:
        """Text as it is, where the preparer can read it; numbers too, where words are numbers."""
        if self.kind == "number" and type(value) in _NUMBERS:
            return repr(value) if _is_held(value) else None
        if type(value) is not str or len(value) > self.longest or not _is_encodable(value):
            return None
        if self.kind in _READ_AS and value.strip().casefold() not in MISSING_MARKS and not _READ_AS[self.kind](value):
            return None
        return value

    def _problem(self, row: int, value: Any) -> Problem:
        said = _quoted(shown(value)) if not isinstance(value, (list, dict)) else shown(value)
        if type(value) is str and len(value) > self.longest:
            said, would = f"a text of {len(value):,} characters", f"at most {self.longest:,} characters"
        elif type(value) is str and not _is_encodable(value):
            would = "text without halves of surrogate pairs"
        else:
            would = self.takes
        words = f"{said} cannot be used; it takes {would}"
        message = f"row {row + 1}, column {self.name!r}: {words}; null where it is missing."
        return Problem(message, row + 1, self.name, value, f"{words}.")

    def unseen(self, values: Sequence[Any]) -> list[Any]:
        """Categories that training never saw, as far as that is known."""
        if not self.knows_all_levels:
            return []
        known = set(self.levels)
        strange = (
            value
            for value in values
            if value is not None and label(value) not in known and str(value).strip().casefold() not in MISSING_MARKS
        )
        return list(dict.fromkeys(strange))

    def of_text(self, text: str) -> Any:
        """What someone typed, as a request of JSON has it: itself where it is none, which is then refused by name."""
        text = text.strip()
        if not text:
            return None
        if self.holds == "boolean":
            return {"true": True, "false": False}.get(text.casefold(), text)
        if self.holds == "number":
            try:
                number = float(text)
            except ValueError:
                return text
            return number if math.isfinite(number) and "_" not in text else text
        return text

    def series(self, values: npt.NDArray[Any]) -> pl.Series:
        """An array of `read` in a frame of polars."""
        import polars as pl

        if self.dtype.startswith("Duration"):
            return pl.Series(self.name, np.round(values * 1e6)).fill_nan(None).cast(pl.Int64).cast(pl.Duration("us"))
        if self.holds == "number":
            return pl.Series(self.name, values).fill_nan(None)
        if self.holds == "moment":
            return pl.Series(self.name, values)
        kinds: dict[str, Any] = {"boolean": pl.Boolean, "text": pl.String, "time": pl.Time}
        return pl.Series(self.name, values.tolist(), dtype=kinds[self.holds])


_NUMBERS = (float, int)


def _is_held(value: float) -> bool:
    """Whether a float holds the number: JSON has no end to theirs."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_whole(value: float) -> bool:
    return abs(value) <= 2**53 and value == int(value)


def _boolean(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _moment(value: Any) -> np.datetime64 | None:
    found = moment_of(value) if type(value) is str else np.datetime64("NaT", "us")
    return None if np.isnat(found) else found


def _time(value: Any) -> datetime.time | None:
    try:
        return datetime.time.fromisoformat(value).replace(tzinfo=None) if type(value) is str else None
    except ValueError:
        return None


def _is_number(word: str) -> bool:
    return math.isfinite(number_of(word))


def _is_moment(word: str) -> bool:
    return not np.isnat(moment_of(word))


def _is_truth(word: str) -> bool:
    return not math.isnan(truth_of(word)) or number_of(word) in (0.0, 1.0)


_READ_AS = {"number": _is_number, "boolean": _is_truth, "date": _is_moment, "datetime": _is_moment}


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain_number(word: str) -> float | int:
    number = float(word)
    return int(number) if number.is_integer() else number


def _quoted(value: Any) -> str:
    return (
        repr(value)
        if isinstance(value, str)
        else {True: "true", False: "false"}[value]
        if isinstance(value, bool)
        else f"{value}"
    )
