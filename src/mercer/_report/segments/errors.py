"""Segments on which a model is worse than elsewhere, and for which its predictions are off by something else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import hypergeom, norm, rankdata, t as student

from mercer._arrays import FloatArray
from mercer._assessment.intervals import wilson
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._report.data.columns import Feature
from mercer._report.measures import LEVEL
from mercer._report.multiplicity import holm
from mercer._report.numbers import number, percent, plural
from mercer._report.segments.content import OffSegment, Segment, Segments
from mercer._report.segments.groups import Group, groups_of
from mercer._tables import IntArray

_MOST_COLUMNS = 200
_MOST_SHOWN = 12
_COUNTS = 0.05  # a corrected p-value below this counts


def segments_of(found: ClassPredictions | NumberPredictions, features: Sequence[Feature], rows: IntArray) -> Segments | None:
    """Every value of the leading columns against all other rows; `rows` are those of the predictions that features are of.

    Wrong predictions are compared by Fisher's exact test, absolute errors by the rank sum test, both one-sided; how far
    predictions are off on average with how far they are elsewhere by Welch's test. P-values are Holm's over all comparisons.
    None where no part has enough rows.
    """
    kept = features[:_MOST_COLUMNS]
    groups = list(groups_of(kept))
    if not groups:
        return None
    outcome = _Numbers.of(found, rows) if isinstance(found, NumberPredictions) else _Classes.of(found, rows)
    worse = _worse(outcome, groups)
    off = None if outcome.predicted is None else _off(outcome, groups)
    what = f"{plural(len(groups), 'part')} of {plural(len(rows), 'test row')} by {plural(len(kept), 'column')}"
    return Segments(
        measure=outcome.measure,  # type: ignore[typeddict-item]
        overall=float(outcome.error.mean()),
        n_rows=len(rows),
        n_columns=len(kept),
        n_compared=len(groups),
        worse=worse[:_MOST_SHOWN],
        n_worse=len(worse),
        off=None if off is None else off[:_MOST_SHOWN],
        n_off=0 if off is None else len(off),
        kind=outcome.kind,  # type: ignore[typeddict-item]
        label=outcome.label,
        reading=_reading(worse, what, outcome),
        off_reading=None if off is None else _off_reading(off, what, outcome),
    )


@dataclass(frozen=True)
class _Outcome:
    """A number a row that says how wrong the prediction is, and what was predicted beside what came."""

    error: FloatArray
    predicted: FloatArray | None
    observed: FloatArray
    label: str | None = None
    measure: str = ""
    kind: str = ""

    def p_worse(self, group: Group) -> float:
        """Of no larger errors in this part than elsewhere."""
        raise NotImplementedError

    def interval(self, group: Group) -> tuple[float | None, float | None]:
        raise NotImplementedError

    def p_off(self, group: Group) -> float:
        """Of predictions that are off in this part, on average, by as much as elsewhere."""
        assert self.predicted is not None
        residual = self.observed - self.predicted
        parts = (group.has_it, ~group.has_it)
        difference = abs(float(residual[parts[0]].mean() - residual[parts[1]].mean()))
        error = math.sqrt(sum(self.variance_of_mean(part) for part in parts))
        least = 1e-12 * float(np.abs(self.observed).max(initial=1.0))
        if difference <= least:
            return 1.0
        return float(2 * student.sf(difference / max(error, least), min(group.n, len(residual) - group.n) - 1))

    def variance_of_mean(self, rows: npt.NDArray[np.bool_]) -> float:
        """Of how far predictions are off in some rows on average."""
        assert self.predicted is not None
        residual = (self.observed - self.predicted)[rows]
        return float(residual.var(ddof=1)) / len(residual)

    def shown(self, value: float) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class _Classes(_Outcome):
    @classmethod
    def of(cls, found: ClassPredictions, rows: IntArray) -> _Classes:
        """For two classes the probability of the second one; for more the one of the class predicted."""
        true, wrong = found.true[rows], (found.true != found.predicted)[rows].astype(float)
        measure = "share of wrong predictions"
        if found.probability is None:
            return cls(wrong, None, wrong, measure=measure, kind="probability")
        probability = found.probability[rows]
        if found.n_classes == 2:
            observed = (true == 1).astype(float)
            return cls(wrong, probability[:, 1], observed, str(found.labels[1]), measure, "probability")
        confidence = probability[np.arange(len(rows)), found.predicted[rows]]
        return cls(wrong, confidence, 1 - wrong, None, measure, "confidence")

    def p_worse(self, group: Group) -> float:
        n_wrong = int(self.error[group.has_it].sum())
        return float(hypergeom.sf(n_wrong - 1, len(self.error), int(self.error.sum()), group.n))

    def interval(self, group: Group) -> tuple[float | None, float | None]:
        return wilson(int(self.error[group.has_it].sum()), group.n, LEVEL)

    def variance_of_mean(self, rows: npt.NDArray[np.bool_]) -> float:
        assert self.predicted is not None
        p = self.predicted[rows]
        return max(float((p * (1 - p)).sum()) / len(p) ** 2, super().variance_of_mean(rows))

    def shown(self, value: float) -> str:
        return percent(value)


@dataclass(frozen=True)
class _Numbers(_Outcome):
    ranks: FloatArray | None = None

    @classmethod
    def of(cls, found: NumberPredictions, rows: IntArray) -> _Numbers:
        true, predicted = found.true[rows], found.predicted[rows]
        error = np.abs(true - predicted)
        return cls(error, predicted, true, measure="mean absolute error", kind="number", ranks=rankdata(error))

    def p_worse(self, group: Group) -> float:
        assert self.ranks is not None
        n, m = group.n, len(self.error) - group.n
        excess = float(self.ranks[group.has_it].sum()) - n * (n + m + 1) / 2
        scale = float(np.sqrt(n * m * self.ranks.var() / (n + m - 1)))  # ties make it less
        if self.error[group.has_it].mean() <= self.error[~group.has_it].mean() or scale == 0:
            return 1.0
        return float(norm.sf(excess / scale))

    def interval(self, group: Group) -> tuple[float | None, float | None]:
        error = self.error[group.has_it]
        half = float(student.ppf((1 + LEVEL) / 2, len(error) - 1) * error.std(ddof=1) / np.sqrt(len(error)))
        return max(0.0, float(error.mean()) - half), float(error.mean()) + half

    def shown(self, value: float) -> str:
        return number(value)


def _worse(outcome: _Outcome, groups: Sequence[Group]) -> list[Segment]:
    found = []
    for group, p in zip(groups, holm([outcome.p_worse(group) for group in groups]), strict=True):
        error, others = float(outcome.error[group.has_it].mean()), float(outcome.error[~group.has_it].mean())
        if p < _COUNTS and error > others:
            low, high = outcome.interval(group)
            found.append(
                Segment(column=group.column, value=group.value, n=group.n, error=error, low=low, high=high, others=others, p=p)
            )
    return sorted(found, key=lambda segment: (-segment["error"] / (segment["others"] or 1e-300), segment["p"]))


def _off(outcome: _Outcome, groups: Sequence[Group]) -> list[OffSegment]:
    assert outcome.predicted is not None
    found = []
    for group, p in zip(groups, holm([outcome.p_off(group) for group in groups]), strict=True):
        if p < _COUNTS:
            means = [float(values[group.has_it].mean()) for values in (outcome.predicted, outcome.observed)]
            found.append(
                OffSegment(column=group.column, value=group.value, n=group.n, predicted=means[0], observed=means[1], p=p)
            )
    return sorted(found, key=lambda segment: segment["p"])


def _reading(worse: Sequence[Segment], what: str, outcome: _Outcome) -> str:
    overall = f"The {outcome.measure} is {outcome.shown(float(outcome.error.mean()))} over all of them"
    if not worse:
        return f"None of {what} has errors that are larger than elsewhere by more than chance explains. {overall}."
    first = worse[0]
    ends = f"{outcome.shown(first['error'])} against {outcome.shown(first['others'])} elsewhere"
    return (
        f"Of {what}, {len(worse)} {'has' if len(worse) == 1 else 'have'} larger errors than the other rows by more than "
        f"chance explains, first {first['column']} ({first['value']}): {ends}. {overall}."
    )


def _off_reading(off: Sequence[OffSegment], what: str, outcome: _Outcome) -> str:
    assert outcome.predicted is not None
    things = {"probability": "probability", "confidence": "confidence", "number": "prediction"}[outcome.kind]
    means = [outcome.shown(float(values.mean())) for values in (outcome.predicted, outcome.observed)]
    overall = f"Over all test rows the mean {things} is {means[0]}, and what came is {means[1]}"
    if not off:
        return f"{overall}. None of {what} departs from that by more than chance explains."
    first = off[0]
    ends = f"{outcome.shown(first['predicted'])} predicted, {outcome.shown(first['observed'])} observed"
    return (
        f"{overall}. Of {what}, {len(off)} {'departs' if len(off) == 1 else 'depart'} from that by more than chance explains, "
        f"first {first['column']} ({first['value']}): {ends}."
    )
