"""What the law of one column is made of: sums, which those of other rows add to. A kernel density alone has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._columns import WORDS, Column
from mercer._saved import saved
from mercer._statistics import ColumnMoments, GroupMoments
from mercer.naive_bayes._laws import (
    BERNOULLI,
    CATEGORICAL,
    CONSTANT,
    GAUSSIAN,
    KERNEL,
    POISSON,
    BernoulliLaw,
    CategoricalLaw,
    ConstantLaw,
    GaussianLaw,
    KernelLaw,
    Law,
    PoissonLaw,
    Rows,
    choose_law,
    numbers_of,
    words_of,
)


class Sums(Protocol):
    """Of the values of a column that are present."""

    def law(self, alpha: float, smoothing: float) -> Law:
        """The law that they make."""
        ...


@saved("mercer.naive_bayes.ConstantSums")
@dataclass(frozen=True)
class ConstantSums:
    """Of a column of numbers that has not had two of them yet: the one it has, or NaN, and its weight in each class."""

    value: float
    weight: FloatArray

    @classmethod
    def of(cls, values: FloatArray, rows: Rows) -> Self:
        return cls(float(values[0]) if len(values) else np.nan, rows.sums())

    def law(self, alpha: float, smoothing: float) -> Law:
        return ConstantLaw(len(self.weight))

    def and_rows(self, values: FloatArray, rows: Rows) -> tuple[FloatArray, Rows]:
        """Values with the one before them, which stands for all that came: a row of its weight in each class."""
        own = np.flatnonzero(self.weight)
        codes, weights = np.append(own, rows.codes), np.append(self.weight[own], rows.weights)
        return np.append(np.full(len(own), self.value), values), Rows(codes, weights, rows.n_classes)


@saved("mercer.naive_bayes.GaussianSums")
@dataclass(frozen=True)
class GaussianSums:
    """The weight, the mean and the squared deviations in each class."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    name = GAUSSIAN

    @classmethod
    def of(cls, values: FloatArray, rows: Rows) -> Self:
        moments = GroupMoments.of(values[:, None], rows.codes, rows.n_classes, rows.weights, n_threads=1)
        return cls(*(of_classes[:, 0].copy() for of_classes in moments))

    def merge(self, other: GaussianSums) -> GaussianSums:
        one, more = (ColumnMoments(each.weight, each.mean, each.deviation) for each in (self, other))
        return GaussianSums(*one.merge(more))

    def law(self, alpha: float, smoothing: float) -> Law:
        moments = GroupMoments(self.weight[:, None], self.mean[:, None], self.deviation[:, None])
        return GaussianLaw.of_moments(moments, smoothing)


@saved("mercer.naive_bayes.MeanSums")
@dataclass(frozen=True)
class MeanSums:
    """Of a Bernoulli or a Poisson law: the weight of the values in each class, and their sum."""

    name: str
    weight: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, name: str, values: FloatArray, rows: Rows) -> Self:
        return cls(name, rows.sums(), rows.sums(values))

    def merge(self, other: MeanSums) -> MeanSums:
        return MeanSums(self.name, self.weight + other.weight, self.total + other.total)

    def law(self, alpha: float, smoothing: float) -> Law:
        return (BernoulliLaw if self.name == BERNOULLI else PoissonLaw).of_sums(self.weight, self.total, alpha)


@saved("mercer.naive_bayes.CategoricalSums")
@dataclass(frozen=True)
class CategoricalSums:
    """The weight of each level in each class."""

    levels: tuple[str, ...]
    counts: FloatArray  # classes x levels
    name = CATEGORICAL

    @classmethod
    def of(cls, column: Column, rows: Rows) -> Self:
        levels, places = words_of(column)
        is_there = (places >= 0) & (rows.weights > 0)
        used, places = np.unique(places[is_there], return_inverse=True)
        rows, n = rows.present(is_there), len(used)
        counts = np.bincount(rows.codes * n + places, weights=rows.weights, minlength=rows.n_classes * n)
        return cls(tuple(levels[place] for place in used), counts.reshape(rows.n_classes, n))

    def merge(self, other: CategoricalSums) -> CategoricalSums:
        levels = tuple(sorted({*self.levels, *other.levels}))
        counts = np.zeros((len(self.counts), len(levels)))
        place = {level: number for number, level in enumerate(levels)}
        for each in (self, other):
            counts[:, [place[level] for level in each.levels]] += each.counts
        return CategoricalSums(levels, counts)

    def law(self, alpha: float, smoothing: float) -> Law:
        if len(self.levels) == 0:
            return ConstantLaw(len(self.counts))
        return CategoricalLaw.of_counts(self.levels, self.counts, alpha)


def learn(
    before: Sums | None, column: Column, rows: Rows, given: str | None, smoothing: float, *, is_part: bool
) -> Sums | KernelLaw:
    """The sums of a column with those `before`, of the law that is `given`, was chosen before, or is chosen now.

    `is_part` says that more may come: no kernel density is then chosen. An error where the values are not such.
    """
    is_words = column.storage == WORDS and bool((~column.is_missing & (rows.weights > 0)).any())
    settled = getattr(before, "name", None)
    if given is not None and settled not in (None, given):
        raise ValueError(
            f"NaiveBayes: laws={{{column.name!r}: {given!r}}} is not valid: sums of the parts before are those of its law "
            f"{settled!r}. Begin anew with a clone."
        )
    if isinstance(before, CategoricalSums):
        return before.merge(CategoricalSums.of(column, rows))
    is_new = before is None or (isinstance(before, ConstantSums) and not before.weight.any())
    if is_new and (given == CATEGORICAL or (given is None and is_words)):
        return CategoricalSums.of(column, rows)
    if is_words:
        raise ValueError(_no_words(column.name, given))
    values = numbers_of(column)
    is_there = ~np.isnan(values) & (rows.weights > 0)
    values, rows = values[is_there], rows.present(is_there)
    if isinstance(before, (GaussianSums, MeanSums)):
        _require(before.name, column.name, values, was_given=given is not None)
        if len(values) == 0:
            return before
        if isinstance(before, MeanSums):
            return before.merge(MeanSums.of(before.name, values, rows))
        return before.merge(GaussianSums.of(values, rows))
    if isinstance(before, ConstantSums):
        values, rows = before.and_rows(values, rows)
    if len(values) == 0:
        return ConstantSums(np.nan, np.zeros(rows.n_classes))
    name = given or choose_law(column.storage, values, rows, may_be_kernel=not is_part)
    _require(name, column.name, values, was_given=True)
    if name == CONSTANT:
        return ConstantSums.of(values, rows)
    if name == KERNEL:
        return KernelLaw.of(values, rows, smoothing)
    return GaussianSums.of(values, rows) if name == GAUSSIAN else MeanSums.of(name, values, rows)


def _no_words(column: str, given: str | None) -> str:
    if given is None:
        return (
            f"NaiveBayes: column {column!r} holds words, and the parts before held numbers. Read it alike in all parts, or "
            f"name its law, laws={{{column!r}: 'categorical'}}, and begin anew."
        )
    return f"NaiveBayes: laws={{{column!r}: {given!r}}} is not valid: the column holds words; its law must be 'categorical'."


_WANTED = {BERNOULLI: "0 and 1", POISSON: "whole numbers >= 0"}


def _fits(name: str, values: FloatArray) -> npt.NDArray[np.bool_]:
    if name == BERNOULLI:
        return np.isin(values, (0, 1))
    if name == POISSON:
        return np.asarray((values >= 0) & (values == np.floor(values)))
    return np.isfinite(values)


def _require(name: str, column: str, values: FloatArray, *, was_given: bool) -> None:
    """Refuse values that a law cannot have."""
    does_fit = _fits(name, values)
    if does_fit.all():
        return
    value, wanted = values[~does_fit][0], _WANTED.get(name, "finite numbers")
    if was_given:
        raise ValueError(
            f"NaiveBayes: laws={{{column!r}: {name!r}}} is not valid: the column holds {value:g}; values must be {wanted}."
        )
    raise ValueError(
        f"NaiveBayes: column {column!r} holds {value:g}, which the {name} law that was chosen by the parts before cannot "
        f"have; values must be {wanted}. Name its law in laws, such as laws={{{column!r}: 'gaussian'}}, and begin anew."
    )
