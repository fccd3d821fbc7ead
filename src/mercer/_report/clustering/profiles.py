"""What sets each cluster apart, column by column, in the units of the table.

Amounts are compared by the difference of means in standard deviations (Hedges' g) and Welch's t-test, categories and words by
the difference of shares (Cohen's h) and the two-proportion z-test; p-values are Holm's over all comparisons of all clusters.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t as student

from mercer._arrays import FloatArray
from mercer._report.clustering.content import Overview, Profile, Trait
from mercer._report.multiplicity import holm
from mercer._report.numbers import number, percent
from mercer._tables import as_text
from mercer.preprocessing import ColumnReport

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.01  # of a corrected p-value that counts
_LEAST_EFFECT = 0.2
_MOST_TRAITS = 8
_MOST_OVERVIEW = 25
_MOST_VALUES = 30  # of a column, that are looked at one by one
_MOST_WORDS = 40
_AMOUNTS = ("number", "date", "datetime", "duration")

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Amount:
    """A column of amounts."""

    name: str
    values: FloatArray  # NaN where missing
    kind: str
    decimals: int

    def shown(self, value: float) -> str:
        if self.kind in ("date", "datetime"):
            moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=float(value))
            return moment.strftime("%Y-%m-%d" if self.kind == "date" else "%Y-%m-%d %H:%M")
        shown = number(float(value), self.decimals)
        return shown.replace(",", "") if abs(value) < 10_000 else shown  # years are among them


@dataclass(frozen=True)
class _Value:
    """A value of a column, or a word in it: which rows have it."""

    name: str
    value: str
    has_it: Bools


@dataclass(frozen=True)
class _Difference:
    effect: float
    p: float


def profiles_of(
    table: pl.DataFrame,
    report: Sequence[ColumnReport],
    labels: Any,
    silhouettes: dict[int, float],
    typical: dict[int, int],
    numbers: Any,
) -> tuple[list[Profile], list[Overview]]:
    """A profile of each cluster, and the columns that set clusters apart most. `typical` has a row for each cluster."""
    n_clusters = int(labels.max()) + 1
    columns = list(_columns(table, report))
    found = {
        (cluster, place): _difference(column, labels == cluster)
        for cluster in range(n_clusters)
        for place, column in enumerate(columns)
        if n_clusters > 1
    }
    corrected = dict(zip(found, holm([each.p for each in found.values()]), strict=True))
    profiles = []
    for cluster in range(n_clusters):
        inside = labels == cluster
        traits = [
            (found[cluster, place].effect, _trait(column, inside, found[cluster, place].effect, corrected[cluster, place]))
            for place, column in enumerate(columns)
            if (cluster, place) in found
            and corrected[cluster, place] < LEVEL
            and abs(found[cluster, place].effect) >= _LEAST_EFFECT
        ]
        traits.sort(key=lambda pair: -abs(pair[0]))
        row = typical.get(cluster)
        profiles.append(
            Profile(
                number=cluster,
                n=int(inside.sum()),
                share=float(inside.mean()),
                silhouette=silhouettes.get(cluster),
                traits=_without_repeats([trait for _, trait in traits])[:_MOST_TRAITS],
                typical_row=None if row is None else int(numbers[row]),
                typical={} if row is None else {name: as_text(table[name][row]) for name in table.columns},
            )
        )
    return profiles, _overview(columns, found, labels, n_clusters) if n_clusters > 1 else []


def _without_repeats(traits: list[Trait]) -> list[Trait]:
    """Of a column of two values, the one that is more frequent inside says it all."""
    kept: list[Trait] = []
    for trait in traits:
        twin = next((each for each in kept if each["column"] == trait["column"] and each["value"] is not None), None)
        if twin is not None and abs(abs(twin["effect"]) - abs(trait["effect"])) < 1e-9 and twin["effect"] * trait["effect"] < 0:
            if trait["effect"] > 0:
                kept[kept.index(twin)] = trait
            continue
        kept.append(trait)
    return kept


# ---- columns as they are compared


def _columns(table: pl.DataFrame, report: Sequence[ColumnReport]) -> Iterator[_Amount | _Value]:
    for column in report:
        if not column.used:
            continue
        series = table[column.name]
        if column.kind in _AMOUNTS and (amount := _as_amount(series, column)) is not None:
            yield amount
            if 0 < (n_missing := int(np.isnan(amount.values).sum())) < len(amount.values) and n_missing >= 2:
                yield _Value(column.name, "missing", np.isnan(amount.values))
        elif column.kind == "text":
            yield from _words(series, column.name)
        else:
            yield from _values(series, column.name)


def _as_amount(series: pl.Series, column: ColumnReport) -> _Amount | None:
    import polars as pl

    if series.dtype.is_numeric():
        values = series.cast(pl.Float64).to_numpy()
    elif column.kind in ("date", "datetime") and series.dtype.is_temporal():
        values = series.cast(pl.Datetime("us"), strict=False).dt.timestamp("us").cast(pl.Float64).to_numpy() / 1e6
    elif series.dtype == pl.Duration:
        values = series.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6
    else:
        values = series.cast(pl.Float64, strict=False).to_numpy()
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    return _Amount(column.name, values, column.kind, _decimals(known))


def _decimals(known: FloatArray) -> int:
    """Those that the values have themselves, as far as their spread can be told by them."""
    spread = float(known.std())
    if spread == 0:
        return 0
    by_spread = max(0, 1 - int(np.floor(np.log10(spread))))
    own = next((digits for digits in range(6) if np.allclose(known[:500], np.round(known[:500], digits), rtol=0, atol=1e-9)), 6)
    return min(by_spread, own)


def _values(series: pl.Series, name: str) -> Iterator[_Value]:
    import polars as pl

    texts = np.asarray(series.cast(pl.String, strict=False).fill_null("missing").to_list(), dtype=object)
    for value, count in Counter(texts.tolist()).most_common(_MOST_VALUES):
        if count >= 2:
            yield _Value(name, value, texts == value)


def _words(series: pl.Series, name: str) -> Iterator[_Value]:
    """The words in at least a twentieth of the rows."""
    rows = [set(str(text or "").lower().split()) for text in series.to_list()]
    counts = Counter(word.strip(".,;:!?()\"'") for words in rows for word in words)
    for word, count in counts.most_common(_MOST_WORDS):
        if len(word) > 2 and 0.05 * len(rows) <= count < len(rows):
            yield _Value(name, f"with the word “{word}”", np.array([word in words for words in rows]))


# ---- differences


def _difference(column: _Amount | _Value, inside: Bools) -> _Difference:
    if isinstance(column, _Value):
        return _of_shares(column.has_it[inside], column.has_it[~inside])
    known = ~np.isnan(column.values)
    return _of_means(column.values[inside & known], column.values[~inside & known])


def _of_means(one: FloatArray, other: FloatArray) -> _Difference:
    """Hedges' g and Welch's test."""
    n, m = len(one), len(other)
    if min(n, m) < 2:
        return _Difference(0.0, 1.0)
    difference = float(one.mean() - other.mean())
    variances = float(one.var(ddof=1)), float(other.var(ddof=1))
    pooled = ((n - 1) * variances[0] + (m - 1) * variances[1]) / (n + m - 2)
    if pooled <= 0:
        return _Difference(float(np.sign(difference)) * 10.0 if difference else 0.0, 0.0 if difference else 1.0)
    effect = difference / pooled**0.5 * (1 - 3 / (4 * (n + m) - 9))
    parts = variances[0] / n, variances[1] / m
    error = sum(parts)
    if error <= 0:
        return _Difference(effect, 1.0)
    freedom = error**2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
    return _Difference(effect, float(2 * student.sf(abs(difference) / error**0.5, freedom)))


def _of_shares(one: Bools, other: Bools) -> _Difference:
    """Cohen's h and the z-test of two proportions."""
    n, m = len(one), len(other)
    if min(n, m) < 2:
        return _Difference(0.0, 1.0)
    p, q = float(one.mean()), float(other.mean())
    effect = 2 * (np.arcsin(p**0.5) - np.arcsin(q**0.5))
    both = (one.sum() + other.sum()) / (n + m)
    error = (both * (1 - both) * (1 / n + 1 / m)) ** 0.5
    return _Difference(float(effect), float(2 * norm.sf(abs(p - q) / error)) if error > 0 else 1.0)


def _trait(column: _Amount | _Value, inside: Bools, effect: float, p: float) -> Trait:
    if isinstance(column, _Value):
        shares = percent(float(column.has_it[inside].mean())), percent(float(column.has_it[~inside].mean()))
        return Trait(
            column=column.name, value=column.value, inside=shares[0], outside=shares[1], effect=effect, p=p,
            low=None, middle=None, high=None,
        )  # fmt: skip
    known = column.values[~np.isnan(column.values)]
    own = column.values[inside & ~np.isnan(column.values)]
    others = column.values[~inside & ~np.isnan(column.values)]
    ends = np.quantile(known, [0.01, 0.99])
    span = float(ends[1] - ends[0]) or 1.0
    places = [float(np.clip((value - ends[0]) / span, 0, 1)) for value in np.quantile(own, [0.25, 0.5, 0.75])]
    return Trait(
        column=column.name, value=None, inside=_middle(column, own), outside=_middle(column, others), effect=effect, p=p,
        low=places[0], middle=places[1], high=places[2],
    )  # fmt: skip


def _middle(column: _Amount, values: FloatArray) -> str:
    """The median and the quartiles."""
    if len(values) == 0:
        return "–"  # noqa: RUF001
    low, middle, high = (column.shown(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    return middle if low == high == middle else f"{middle} ({low} to {high})"


def _overview(
    columns: Sequence[_Amount | _Value], found: dict[tuple[int, int], _Difference], labels: Any, n_clusters: int
) -> list[Overview]:
    """One line a column: its median in each cluster, or its most frequent value there."""
    places: dict[str, list[int]] = {}
    for place, column in enumerate(columns):
        places.setdefault(column.name, []).append(place)
    lines = []
    for name, own in places.items():
        amount = columns[own[0]]
        cells: list[str] = []
        effects: list[float | None] = []
        for cluster in range(n_clusters):
            inside = labels == cluster
            if isinstance(amount, _Amount):
                known = amount.values[inside & ~np.isnan(amount.values)]
                cells.append(amount.shown(float(np.median(known))) if len(known) else "–")  # noqa: RUF001
                effects.append(found[cluster, own[0]].effect)
            else:
                values = [columns[place] for place in own]
                shares = [float(each.has_it[inside].mean()) for each in values if isinstance(each, _Value)]
                most = int(np.argmax(shares))
                value = values[most]
                assert isinstance(value, _Value)
                cells.append(f"{value.value} {percent(shares[most])}")
                effects.append(found[cluster, own[most]].effect)
        apart = max(abs(found[cluster, place].effect) for cluster in range(n_clusters) for place in own)
        lines.append(Overview(column=name, apart=apart, cells=cells, effects=effects))
    lines.sort(key=lambda line: -line["apart"])
    return lines[:_MOST_OVERVIEW]
