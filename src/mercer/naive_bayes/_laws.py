"""Laws of one column within each class: what `NaiveBayes` multiplies. A missing cell, or one that a law does not know, says
nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy

from mercer._arrays import FloatArray
from mercer._columns import DURATION, MOMENT, WORDS, Column, label
from mercer._posteriors import log_of
from mercer._saved import saved
from mercer._statistics import ROUNDING, GroupMoments
from mercer.neighbors import KernelDensity

LEAST_VARIANCE = 1e-100
CONSTANT, GAUSSIAN, BERNOULLI, CATEGORICAL, POISSON, KERNEL = (
    "constant",
    "gaussian",
    "bernoulli",
    "categorical",
    "poisson",
    "kernel",
)
FEW_VALUES = 512  # of a class, by which the kernel density is judged
GAIN = 0.1  # of the mean log-likelihood, by which a kernel density must be better than a Gaussian to be chosen


class Rows(NamedTuple):
    """The classes of the rows, their weights (one a row), and how many classes there are."""

    codes: npt.NDArray[np.intp]
    weights: FloatArray
    n_classes: int

    @classmethod
    def of(cls, codes: npt.NDArray[np.intp], weights: FloatArray | None, n_classes: int) -> Rows:
        return cls(codes, np.ones(len(codes)) if weights is None else weights, n_classes)

    def present(self, is_there: npt.NDArray[np.bool_]) -> Rows:
        return Rows(self.codes[is_there], self.weights[is_there], self.n_classes)

    def sums(self, values: FloatArray | None = None) -> FloatArray:
        """Of weights, or of weights times values, by class."""
        weights = self.weights if values is None else self.weights * values
        return np.bincount(self.codes, weights=weights, minlength=self.n_classes)


class Law(Protocol):
    """A law of a column, fitted: a density or probability for each class."""

    name: str

    def log_densities(self, column: Column) -> FloatArray:
        """Of each row and class; zeros in a row that says nothing."""
        ...


def numbers_of(column: Column) -> FloatArray:
    """A column of numbers, truths, durations or dates as floats, NaN where missing; words are no numbers."""
    if column.storage == WORDS:
        return np.full(len(column.values), np.nan)
    if column.storage != MOMENT:
        return np.asarray(column.values, dtype=np.float64)
    seconds = column.values.astype("datetime64[us]").astype(np.int64) / 1e6
    seconds[column.is_missing] = np.nan
    return np.asarray(seconds)


def words_of(column: Column) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    """The levels of a column as words, and the place of each row's, -1 where missing."""
    if column.storage == WORDS:
        return column.levels, column.values
    values = numbers_of(column)
    is_there = ~np.isnan(values)
    found, places = np.unique(values[is_there], return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[is_there] = places
    return tuple(label(value) for value in found), codes


def _silent(densities: FloatArray, is_silent: npt.NDArray[np.bool_]) -> FloatArray:
    densities[is_silent] = 0
    return densities


@saved("mercer.naive_bayes.ConstantLaw")
@dataclass(frozen=True)
class ConstantLaw:
    """Of a column without two values: it says nothing."""

    n_classes: int
    name = CONSTANT

    def log_densities(self, column: Column) -> FloatArray:
        return np.zeros((len(column.values), self.n_classes))


@saved("mercer.naive_bayes.GaussianLaw")
@dataclass(frozen=True)
class GaussianLaw:
    """Means and variances; a class of which no value is present has those of all rows."""

    means: FloatArray
    variances: FloatArray
    name = GAUSSIAN

    @classmethod
    def of(cls, values: FloatArray, rows: Rows, smoothing: float) -> Self:
        moments = GroupMoments.of(values[:, None], rows.codes, rows.n_classes, rows.weights, n_threads=1)
        return cls.of_moments(moments, smoothing)

    @classmethod
    def of_moments(cls, moments: GroupMoments, smoothing: float) -> Self:
        """Of one column."""
        total = moments.total()
        of_all = total.deviation[0] / total.weight[0]
        is_there = moments.weight[:, 0] > 0
        means = np.where(is_there, moments.mean[:, 0], total.mean[0])
        own = moments.deviation[:, 0] / np.where(is_there, moments.weight[:, 0], 1)
        variances = np.where(is_there, own, of_all) + smoothing * of_all
        return cls(means, np.maximum(variances, np.maximum((ROUNDING * means) ** 2, LEAST_VARIANCE)))

    def log_densities(self, column: Column) -> FloatArray:
        values = numbers_of(column)
        return _silent(self.of_values(values), np.isnan(values))

    def of_values(self, values: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # too far from all classes to be told
            squares = (values[:, None] - self.means) ** 2 / self.variances
        densities: FloatArray = -0.5 * (np.log(2 * np.pi * self.variances) + squares)
        return densities


@saved("mercer.naive_bayes.BernoulliLaw")
@dataclass(frozen=True)
class BernoulliLaw:
    """The shares of ones among zeros and ones."""

    shares: FloatArray
    name = BERNOULLI

    @classmethod
    def of_sums(cls, weight: FloatArray, ones: FloatArray, alpha: float) -> Self:
        """From the weight of the values in each class, and that of the ones."""
        of_all, total = ones.sum() / weight.sum(), weight + 2 * alpha
        return cls(np.divide(ones + alpha, total, out=np.full(len(weight), of_all), where=total > 0))

    def log_densities(self, column: Column) -> FloatArray:
        values = numbers_of(column)
        densities = np.where(values[:, None] == 1, log_of(self.shares), log_of(1 - self.shares))
        return _silent(densities, ~((values == 0) | (values == 1)))


@saved("mercer.naive_bayes.CategoricalLaw")
@dataclass(frozen=True)
class CategoricalLaw:
    """The share of each level; a level that no row had says nothing."""

    levels: tuple[str, ...]
    shares: FloatArray  # classes x levels
    name = CATEGORICAL

    @classmethod
    def of_counts(cls, levels: tuple[str, ...], counts: FloatArray, alpha: float) -> Self:
        """From the weight of each level in each class."""
        smoothed = counts + alpha
        total = smoothed.sum(axis=1, keepdims=True)
        of_all = np.broadcast_to(smoothed.sum(axis=0) / smoothed.sum(), smoothed.shape).copy()
        return cls(levels, np.divide(smoothed, total, out=of_all, where=total > 0))

    def log_densities(self, column: Column) -> FloatArray:
        levels, places = words_of(column)
        own = {level: place for place, level in enumerate(self.levels)}
        table = np.vstack([log_of(self.shares.T), np.zeros(len(self.shares))])
        line = np.array(
            [*[own.get(level, len(own)) for level in levels], len(own)], dtype=np.intp
        )  # the last: missing or unseen
        return np.asarray(table[line[places]])


@saved("mercer.naive_bayes.PoissonLaw")
@dataclass(frozen=True)
class PoissonLaw:
    """The mean counts, smoothed by alpha rows that have the mean of all."""

    rates: FloatArray
    name = POISSON

    @classmethod
    def of_sums(cls, weight: FloatArray, counts: FloatArray, alpha: float) -> Self:
        """From the weight of the rows of each class, and the sum of their counts."""
        of_all, total = counts.sum() / weight.sum(), weight + alpha
        return cls(np.divide(counts + alpha * of_all, total, out=np.full(len(weight), of_all), where=total > 0))

    def log_densities(self, column: Column) -> FloatArray:
        values = numbers_of(column)
        is_count = (values >= 0) & (values == np.floor(values))
        return _silent(self.of_values(np.where(is_count, values, 0)), ~is_count)

    def of_values(self, values: FloatArray) -> FloatArray:
        densities: FloatArray = xlogy(values[:, None], self.rates) - self.rates - gammaln(values[:, None] + 1)
        return densities


@saved("mercer.naive_bayes.KernelLaw")
@dataclass(frozen=True)
class KernelLaw:
    """Kernel densities of Gaussian kernels, each mixed with the normal law of its class, which counts as one more row: without
    it a value far from all others would be proof. A class of which no value is present has the density of all rows."""

    densities: tuple[KernelDensity, ...]
    weights: FloatArray  # of the rows behind each
    gaussian: GaussianLaw
    name = KERNEL

    @classmethod
    def of(cls, values: FloatArray, rows: Rows, smoothing: float) -> Self:
        gaussian = GaussianLaw.of(values, rows, smoothing)
        least = np.sqrt(smoothing * np.average((values - values.mean()) ** 2, weights=rows.weights))
        densities, weights = [], []
        for code in range(rows.n_classes):
            own = rows.codes == code
            own = own if own.any() else np.ones(len(values), dtype=bool)
            width = max(_silverman(values[own], rows.weights[own]), float(least), ROUNDING * float(np.abs(values[own]).max()))
            density = KernelDensity(bandwidth=width if width > 0 else 1.0)
            densities.append(density.fit(values[own, None], sample_weight=rows.weights[own]))
            weights.append(rows.weights[own].sum())
        return cls(tuple(densities), np.array(weights), gaussian)

    def log_densities(self, column: Column) -> FloatArray:
        values = numbers_of(column)
        out, is_there = np.zeros((len(values), len(self.densities))), ~np.isnan(values)
        if is_there.any():
            some = values[is_there]
            of_kernels = np.column_stack([density.score_samples(some[:, None]) for density in self.densities])
            out[is_there] = _with_one_row(of_kernels, self.weights, self.gaussian.of_values(some))
        return out


def _with_one_row(log_kernel: FloatArray, weights: Any, log_gaussian: FloatArray) -> FloatArray:
    """ln of (w kernel + gaussian)/(w + 1)."""
    mixed: FloatArray = np.logaddexp(log_kernel + np.log(weights), log_gaussian) - np.log(weights + 1)
    return mixed


def _silverman(values: FloatArray, weights: FloatArray) -> float:
    """Silverman's rule: .9 min(deviation, interquartile range / 1.34) n^-1/5, where rows count by their weights."""
    order = np.argsort(values)
    ranked, cumulated = values[order], np.cumsum(weights[order])
    low, high = (ranked[np.searchsorted(cumulated, share * cumulated[-1])] for share in (0.25, 0.75))
    mean = np.average(values, weights=weights)
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    spread = min(deviation, (high - low) / 1.34) if high > low else deviation
    return float(0.9 * spread * cumulated[-1] ** -0.2)


def choose_law(storage: str, values: FloatArray, rows: Rows, *, may_be_kernel: bool) -> str:
    """The name of the law that suits the numbers of a column, all of which are present and of some weight.

    Truths, and numbers that are 0 and 1 alone, are Bernoulli; counts Poisson where that is likelier than normal (by Schwarz's
    criterion); all other numbers normal, unless a kernel density is better by more than `GAIN` a row on values that it has not
    seen.
    """
    if values.min() == values.max():
        return CONSTANT
    if np.isin(values, (0, 1)).all():
        return BERNOULLI
    gaussian = GaussianLaw.of(values, rows, 1e-9)
    if storage not in (MOMENT, DURATION) and values.min() >= 0 and (values == np.floor(values)).all():
        poisson = PoissonLaw.of_sums(rows.sums(), rows.sums(values), 0.0)
        if _likelihood(poisson, values, rows) + 0.5 * rows.n_classes * np.log(rows.weights.sum()) > _likelihood(
            gaussian, values, rows
        ):
            return POISSON
    return KERNEL if may_be_kernel and _gain_of_kernel(gaussian, values, rows) > GAIN else GAUSSIAN


def _likelihood(law: GaussianLaw | PoissonLaw, values: FloatArray, rows: Rows) -> float:
    own = law.of_values(values)[np.arange(len(values)), rows.codes]
    return float(rows.weights @ own)


def _gain_of_kernel(gaussian: GaussianLaw, values: FloatArray, rows: Rows) -> float:
    """The mean log-likelihood of kernel densities, each value left out with all its equals, minus that of the Gaussians."""
    total = weight = 0.0
    for code in range(rows.n_classes):
        own = rows.codes == code
        different, places = np.unique(values[own], return_inverse=True)
        weights = np.bincount(places, weights=rows.weights[own])
        if len(different) < 10:
            continue
        some = np.linspace(0, len(different) - 1, min(FEW_VALUES, len(different))).astype(np.intp)
        different, weights = different[some], weights[some]
        width = _silverman(different, weights)
        kernel = np.exp(-0.5 * ((different[:, None] - different) / width) ** 2) / (width * np.sqrt(2 * np.pi))
        np.fill_diagonal(kernel, 0)
        others = weights.sum() - weights
        of_gaussian = gaussian.of_values(different)[:, code]
        left_out = _with_one_row(log_of(kernel @ weights / others), others, of_gaussian)
        total += float(weights @ (left_out - of_gaussian))
        weight += float(weights.sum())
    return total / weight if weight > 0 else 0.0
