"""What is done to a column. A treatment is learned from one column and then writes its outputs for any other like it.

Each is a frozen record of numbers, words and arrays: that is all that a saved preparer holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._columns import Column
from mercer._lazy import lazy_property
from mercer._saved import saved
from mercer.preprocessing._table.needs import Needs
from mercer.preprocessing._table.scale import Scale, fit_scale

MISSING_SUFFIX = "__missing"


class Treatment(Protocol):
    """One column of the table, treated."""

    @property
    def kind(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What is added to the column's name in the name of each output."""

    @property
    def is_categorical(self) -> bool:
        """Whether the one output holds codes of categories."""

    def describe(self) -> str:
        """What is done."""

    def describe_missing(self) -> str:
        """What is done to missing values."""

    def write(self, column: Column, out: FloatArray) -> None:
        """Fill `out`, of shape (n_rows, len(suffixes)) and zero, for a column in the storage of this kind."""


def _missing_suffix(has_indicator: bool) -> tuple[str, ...]:
    return (MISSING_SUFFIX,) if has_indicator else ()


def describe_missing(keeps_missing: bool, fill: str) -> str:
    return "missing values stay" if keeps_missing else f"missing values become {fill} and are marked in a column"


@saved("mercer.preprocessing.NumberTreatment")
@dataclass(frozen=True)
class NumberTreatment:
    """Numbers, durations and booleans."""

    kind: str
    scale: Scale
    is_scaled: bool
    has_indicator: bool

    is_categorical = False

    @classmethod
    def fit(cls, column: Column, kind: str, needs: Needs, *, skew_limit: float) -> NumberTreatment:
        ordered = column.ordered
        scales = needs.scales and kind != "boolean"
        scale = fit_scale(ordered, scales=scales, keeps_missing=needs.keeps_missing, skew_limit=skew_limit)
        if kind == "boolean" and not needs.keeps_missing:
            scale = Scale(fill=float(len(ordered) > 0 and ordered.mean() > 0.5))
        has_indicator = not needs.keeps_missing and len(ordered) < len(column.values)
        return cls(kind, scale, scales, has_indicator)

    @property
    def suffixes(self) -> tuple[str, ...]:
        return ("", *_missing_suffix(self.has_indicator))

    def describe(self) -> str:
        what = {"duration": "seconds", "boolean": "0 or 1"}.get(self.kind, "as it is")
        if self.is_scaled:
            what = "standardised" if self.kind == "number" else "standardised seconds"
        if self.scale.is_bent:
            what += " after arsinh, for its skewness"
        return what

    def describe_missing(self) -> str:
        fill = "the more frequent value" if self.kind == "boolean" else "the median"
        return describe_missing(bool(np.isnan(self.scale.fill)), fill)

    def write(self, column: Column, out: FloatArray) -> None:
        out[:, 0] = self.scale.of(column.values)
        if self.has_indicator:
            out[:, 1] = np.isnan(column.values)


@saved("mercer.preprocessing.CategoryTreatment")
@dataclass(frozen=True)
class CategoryTreatment:
    """Categories as codes in one column, or as a column of zeros and ones each."""

    levels: tuple[str, ...]
    n_joined: int  # rare categories that share one place
    has_missing: bool  # missing values have a place of their own
    is_categorical: bool
    keeps_missing: bool

    kind = "category"

    @classmethod
    def fit(cls, column: Column, needs: Needs, *, min_frequency: int) -> CategoryTreatment:
        n = len(column.values)
        counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
        least = min(min_frequency, -(-n // 20))
        ranked = np.lexsort((np.arange(len(counts)), -counts))[: needs.max_categories]
        kept = np.sort(ranked[counts[ranked] >= least])
        levels = tuple(column.levels[place] for place in kept)
        has_missing = bool((column.values < 0).any()) and not (needs.codes_categories and needs.keeps_missing)
        return cls(levels, len(counts) - len(kept), has_missing, needs.codes_categories, needs.keeps_missing)

    @property
    def suffixes(self) -> tuple[str, ...]:
        if self.is_categorical:
            return ("",)
        joined = ("=(other)",) if self.n_joined else ()
        missing = ("=(missing)",) if self.has_missing else ()
        return (*(f"={level}" for level in self.levels), *joined, *missing)

    def describe(self) -> str:
        what = "codes" if self.is_categorical else "one column a category"
        joined = f", {self.n_joined} rare ones joined" if self.n_joined else ""
        unseen = "go with them" if self.n_joined else ("are as missing" if self.is_categorical else "give zeros")
        return f"{what}: {len(self.levels)} categories{joined}; unseen ones {unseen}"

    def describe_missing(self) -> str:
        return "missing values are a category of their own" if self.has_missing else "missing values stay"

    @lazy_property
    def _known(self) -> dict[str, int]:
        return {level: place for place, level in enumerate(self.levels)}

    def _places(self, column: Column) -> Any:
        """The place of each row among the levels, the joined and the missing; -1 for none."""
        n = len(self.levels)
        joined = n if self.n_joined else -1
        missing = n + (self.n_joined > 0) if self.has_missing or (self.is_categorical and not self.keeps_missing) else -1
        unseen = missing if joined < 0 and self.is_categorical else joined
        table = np.array([*(self._known.get(level, unseen) for level in column.levels), missing], dtype=np.intp)
        return table[column.values]

    def write(self, column: Column, out: FloatArray) -> None:
        places = self._places(column)
        if self.is_categorical:
            out[:, 0] = places
            if self.keeps_missing:
                out[places < 0, 0] = np.nan
            return
        rows = np.flatnonzero(places >= 0)
        out[rows, places[rows]] = 1.0
