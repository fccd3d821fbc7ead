"""Sums and differences of columns that give the target."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.data.columns import Feature
from mercer._runs.leaks.alone import NEARLY_ALL, told_alone, told_by_bins
from mercer._runs.leaks.target import Target

_MOST_TERMS = 8
_EXACT = 1e-7  # of the variance, that may be left over
_MOST_CELLS = 10_000_000
_MOST_IN_PAIRS = 20
_FEWEST_ROWS = 30
_WORTH_A_TREE = 0.8


@dataclass(frozen=True)
class Sum:
    """Columns and the factors that they enter with."""

    names: tuple[str, ...]
    factors: tuple[float, ...]

    def __str__(self) -> str:
        words = ""
        for name, factor in zip(self.names, self.factors, strict=True):
            size = abs(factor)
            term = name if abs(size - 1) < 1e-3 else f"{size:.4g} x {name}"
            sign = "-" if factor < 0 else "+"
            words += f" {sign} {term}" if words else ("-" if factor < 0 else "") + term
        return words


def sum_of_numbers(features: Sequence[Feature], target: Target) -> Sum | None:
    """Columns that add up to the target, each with its factor, found one by one on half of the rows and tried on the others."""
    y = target.plain
    usable = [each for each in features if not each.is_words and not np.isnan(each.train).any() and each.n_distinct > 1]
    usable = usable[: max(1, _MOST_CELLS // max(len(y), 1))]
    if len(usable) < 2 or len(y) < _FEWEST_ROWS:
        return None
    X = np.column_stack([each.train for each in usable])
    half = np.random.default_rng(2).random(len(y)) < 0.5
    chosen = _chosen(X[half], y[half])
    if chosen is None or len(chosen) < 2:
        return None
    X = X[:, chosen]
    factors, intercept = _solved(X[half], y[half])
    left = y[~half] - X[~half] @ factors - intercept
    if float(left.var()) > _EXACT * float(y[~half].var()):
        return None
    return Sum(tuple(usable[at].name for at in chosen), tuple(factors.tolist()))


def _chosen(X: FloatArray, y: FloatArray) -> list[int] | None:
    """Orthogonal matching pursuit: the column that goes with what is left, until nothing is; then those not needed leave."""
    centred = X - X.mean(axis=0)
    chosen: list[int] = []
    size = np.sqrt((centred**2).sum(axis=0))
    size[size == 0] = np.inf
    left, total = y - y.mean(), float(y.var())
    while float(left.var()) > _EXACT * total:
        if len(chosen) == min(_MOST_TERMS, len(y) // 4, X.shape[1]):
            return None
        score = np.abs(centred.T @ left) / size
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
        factors, intercept = _solved(X[:, chosen], y)
        left = y - X[:, chosen] @ factors - intercept
    for at in list(chosen):
        rest = [each for each in chosen if each != at]
        if rest:
            factors, intercept = _solved(X[:, rest], y)
            if float((y - X[:, rest] @ factors - intercept).var()) <= _EXACT * total:
                chosen = rest
    return sorted(chosen)


def _solved(X: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    mean, shift = X.mean(axis=0), float(y.mean())
    factors: FloatArray = np.linalg.lstsq(X - mean, y - shift, rcond=None)[0]
    return factors, shift - float(mean @ factors)


def pair_of_classes(features: Sequence[Feature], target: Target) -> tuple[Sum, float] | None:
    """Two columns whose sum or difference tells the classes, which neither does alone."""
    usable = [each for each in features if not each.is_words and each.n_distinct > 2][:_MOST_IN_PAIRS]
    best: tuple[Sum, float] | None = None
    for first, second in itertools.combinations(usable, 2):
        for factor in (-1.0, 1.0):
            values = first.train + factor * second.train
            if told_by_bins(values, target) < _WORTH_A_TREE:
                continue
            skill = told_alone(values, target, is_words=False)
            if skill >= NEARLY_ALL and (best is None or skill > best[1]):
                best = Sum((first.name, second.name), (1.0, factor)), skill
    return best
