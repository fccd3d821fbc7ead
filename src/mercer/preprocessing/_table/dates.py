"""Dates taken apart: the time since the first, and the parts of the calendar that repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._columns import Column
from mercer._saved import saved
from mercer.preprocessing._table.needs import Needs
from mercer.preprocessing._table.scale import Scale, fit_scale
from mercer.preprocessing._table.treatments import MISSING_SUFFIX, describe_missing

_DAY = 86_400_000_000  # microseconds
_PERIODS = {"month": 12.0, "day": 31.0, "weekday": 7.0, "hour": 24.0}
_FIRST = {"month": 1.0, "day": 1.0, "weekday": 0.0, "hour": 0.0}


@saved("mercer.preprocessing.DateTreatment")
@dataclass(frozen=True)
class DateTreatment:
    """Calendar parts as numbers, or for models that scale, the repeating ones as points on a circle."""

    kind: str
    origin: int  # microseconds since 1970
    parts: tuple[str, ...]
    scales: tuple[Scale, ...]
    is_cyclic: bool
    keeps_missing: bool
    has_indicator: bool

    is_categorical = False

    @classmethod
    def fit(cls, column: Column, kind: str, needs: Needs) -> DateTreatment:
        is_missing = np.isnat(column.values)
        moments = column.values[~is_missing]
        origin = int(moments.min().astype(np.int64)) if len(moments) else 0
        parts = _varying_parts(kind, moments)
        scales = []
        for part in parts:
            for values, is_circle in _outputs(moments, part, origin, needs.scales):
                if is_circle or (needs.keeps_missing and not needs.scales):
                    scales.append(Scale(fill=np.nan if needs.keeps_missing else 0.0))
                else:
                    rule = {"scales": needs.scales, "keeps_missing": needs.keeps_missing}
                    scales.append(fit_scale(np.sort(values), **rule, skew_limit=np.inf))
        has_indicator = not needs.keeps_missing and bool(is_missing.any())
        return cls(kind, origin, parts, tuple(scales), needs.scales, needs.keeps_missing, has_indicator)

    @property
    def suffixes(self) -> tuple[str, ...]:
        names: list[str] = []
        for part in self.parts:
            circles = ("_sin", "_cos") if self.is_cyclic and part in _PERIODS else ("",)
            names.extend(f"__{part}{circle}" for circle in circles)
        return (*names, MISSING_SUFFIX) if self.has_indicator else tuple(names)

    def describe(self) -> str:
        is_circle = self.is_cyclic and any(part in _PERIODS for part in self.parts)
        how = " (repeating ones on a circle)" if is_circle else ""
        return ", ".join(part.replace("_", " ") for part in self.parts) + how

    def describe_missing(self) -> str:
        return describe_missing(self.keeps_missing, "the middle")

    def write(self, column: Column, out: FloatArray) -> None:
        place = 0
        for part in self.parts:
            for values, _ in _outputs(column.values, part, self.origin, self.is_cyclic):
                out[:, place] = self.scales[place].of(values)
                place += 1
        if self.has_indicator:
            out[:, place] = np.isnat(column.values)


def _varying_parts(kind: str, moments: Any) -> tuple[str, ...]:
    """The elapsed time, and what else varies and is no other name for something before it."""
    names = ("year", "month", "day", "weekday", *(("hour",) if kind == "datetime" else ()))
    varies = {name: _varies(_part(moments, name, 0)) for name in names}
    varies["weekday"] &= varies["day"]  # of days that are all the first of a month, the weekday is chance
    varies["year"] &= varies["month"] or varies["day"]  # otherwise it is the elapsed time
    return ("elapsed_days", *(name for name in names if varies[name]))


def _varies(values: FloatArray) -> bool:
    return len(values) > 0 and bool((values != values[0]).any())


def _outputs(moments: Any, part: str, origin: int, is_cyclic: bool) -> list[tuple[FloatArray, bool]]:
    """The columns of a part, and whether they are the coordinates of a circle."""
    values = _part(moments, part, origin)
    if not is_cyclic or part not in _PERIODS:
        return [(values, False)]
    angle = (values - _FIRST[part]) * (2 * np.pi / _PERIODS[part])
    return [(np.sin(angle), True), (np.cos(angle), True)]


def _part(moments: Any, part: str, origin: int) -> FloatArray:
    """A part of each moment as a number; NaN where it is missing."""
    is_missing = np.isnat(moments)
    moments = np.where(is_missing, np.datetime64(0, "us"), moments)
    microseconds = moments.astype(np.int64)
    if part == "elapsed_days":
        values = (microseconds - origin) / _DAY
    elif part == "hour":
        values = (microseconds % _DAY) / 3_600_000_000
    elif part == "weekday":
        values = (microseconds // _DAY + 3) % 7  # 1970 began on a Thursday; Monday is 0
    else:
        months = moments.astype("datetime64[M]")
        number = months.astype(np.int64)
        if part == "day":
            values = (moments.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64) + 1
        else:
            values = 1970 + number // 12 if part == "year" else number % 12 + 1
    values = values.astype(np.float64)
    values[is_missing] = np.nan
    return np.asarray(values)
