"""Whether an order among the rows tells of the target: a date column, or the order of the file itself.

Everything is tested against the same rows in any other order, with bars so high that a shuffled table meets them about once in
a million, and with a size that matters. A file that is sorted by its target or by a column, or whose rows lie in groups, has an
order too, and none in time: such files are told apart by what time alone does. There the rows between two others lie between
them in their values as well, also within every group, and values go up and down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer._runs.times import read_times

if TYPE_CHECKING:
    import polars as pl

Rows = npt.NDArray[np.intp]
_LEAST_ROWS = 50
_LEAST_TIMES = 20
_MOST_PARTS = 20  # of the time, whose means of the target are compared
_BAR = 6.0  # standard errors
_LEAST_SHARE = 0.05  # of the target's variance between parts of the time
_LEAST_CORRELATION = 0.3  # of neighbours
_LASTING = 0.3  # the least correlation of rows three apart, as a share of that of neighbours
_BETWEEN = 0.43  # the least share of rows that lie between their neighbours: 1/3 without an order, 1/2 on a smooth way
_SURELY_BETWEEN = 0.58  # the same where rows three apart do not correlate, as in the seasons of a year
_RETURNS = 0.1  # the least share of steps in the rarer direction
_LONE = 0.05  # the least share of single rows among the runs of a class
_LEAST_RUNS = 30  # of classes
_REPEATS = 1.2  # runs of a value per value, up to which rows lie in groups by a column
_LEAST_GROUP = 5.0  # rows of such a group, on average
_EVEN = 0.05  # relative spread of the steps of a column that numbers the rows


@dataclass(frozen=True)
class Order:
    """An order in time of the rows."""

    column: str | None  # None: the order of the file
    code: str | None  # the expression that reads the column's times
    evidence: str | None  # what shows that it tells of the target; None where the user names it

    @property
    def name(self) -> str:
        return "their order in the file" if self.column is None else f"column {self.column!r}"


@dataclass(frozen=True)
class FoundOrder:
    """An order that was found, and the times by which rows are sorted."""

    order: Order
    times: FloatArray


def find_order(X: pl.DataFrame, y: Any, classes: list[Any] | None) -> FoundOrder | None:
    """The order in time that tells of the target; None where nothing does. O(n log n) a column."""
    if len(y) < _LEAST_ROWS:
        return None
    signal = _signal(y, classes)
    dates = list(_date_columns(X))
    tested = [(_test_times(times, signal), name, code, times) for name, code, times in dates]
    found = [each for each in tested if each[0] is not None]
    if found:
        evidence, name, code, times = max(found, key=lambda each: each[0].size)  # type: ignore[union-attr]
        assert evidence is not None
        return FoundOrder(Order(name, code, evidence.words), times)
    if dates:  # they would know it
        return None
    words = _test_file(X, y, signal, classes)
    return None if words is None else FoundOrder(Order(None, None, words), np.arange(len(y), dtype=np.float64))


def _date_columns(X: pl.DataFrame) -> Iterator[tuple[str, str, FloatArray]]:
    """Columns of dates without gaps."""
    for name in X.columns:
        if X[name].dtype.is_numeric():
            continue
        times = read_times(X[name])
        if times is not None and times.is_date and np.isfinite(times.values).all():
            yield name, times.code, times.values


def _signal(y: Any, classes: list[Any] | None) -> FloatArray:
    """The target as centred columns: ranks of numbers, which a few large ones do not rule, or one column a class."""
    if classes is None:
        columns = rankdata(y)[:, None]
    else:
        columns = (np.asarray(y)[:, None] == np.asarray(classes)).astype(np.float64)
    return np.asarray(columns - columns.mean(axis=0))


# ---- a date column


@dataclass(frozen=True)
class _Evidence:
    size: float
    words: str


def _test_times(times: FloatArray, signal: FloatArray) -> _Evidence | None:
    """Whether the target differs between parts of the time, or from one time to the next."""
    order = np.argsort(times, kind="stable")
    ranked, signal = times[order], signal[order]
    starts = np.r_[0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1]
    if len(starts) < _LEAST_TIMES:
        return None
    return _between_parts(signal, starts) or _between_times(signal, starts)


def _between_parts(signal: FloatArray, starts: Rows) -> _Evidence | None:
    """The share of the variance that lies between parts of the time, against that of parts drawn at random."""
    n = len(signal)
    wanted = np.linspace(0, n, min(_MOST_PARTS, len(starts) // 2) + 1)[:-1]
    cuts = np.unique(starts[np.minimum(np.searchsorted(starts, wanted), len(starts) - 1)])
    counts = np.diff(np.r_[cuts, n])
    means = np.add.reduceat(signal, cuts) / counts[:, None]
    between = float((counts[:, None] * means**2).sum())
    total, squares = _traces(signal)
    degrees = len(cuts) - 1
    excess = between - degrees * total
    share = between / (n * total) - degrees / n
    if degrees < 1 or excess < _BAR * np.sqrt(2 * degrees * squares) or share < _LEAST_SHARE:
        return None
    return _Evidence(share, f"{100 * share:.0f} % of the target's variance lies between parts of the time")


def _between_times(signal: FloatArray, starts: Rows) -> _Evidence | None:
    """The correlation of the target's mean at a time with that at the next."""
    means = np.add.reduceat(signal, starts) / np.diff(np.r_[starts, len(signal)])[:, None]
    means = means - means.mean(axis=0)
    correlation, error = _lagged(means, np.arange(1, len(means)), 1)
    if correlation < max(_LEAST_CORRELATION, _BAR * error):
        return None
    return _Evidence(correlation, f"the target at one time and at the next correlate by {correlation:.2f}")


def _traces(signal: FloatArray) -> tuple[float, float]:
    """Of the covariance of the target's columns, and of its square."""
    covariance = signal.T @ signal / len(signal)
    return float(np.trace(covariance)), float((covariance**2).sum())


def _lagged(signal: FloatArray, later: Rows, lag: int) -> tuple[float, float]:
    """The correlation of rows with those `lag` before, and its standard error where rows are in no order."""
    total, squares = _traces(signal)
    if not len(later) or total <= 0:
        return 0.0, np.inf
    product = float((signal[later] * signal[later - lag]).sum()) / (len(later) * total)
    return product, float(np.sqrt(squares / len(later)) / total)


# ---- the order of the file


def _test_file(X: pl.DataFrame, y: Any, signal: FloatArray, classes: list[Any] | None) -> str | None:
    """What shows that the file is in the order of time; None where it is in none, or in another."""
    whole, error = _lagged(signal, np.arange(1, len(signal)), 1)
    if whole < max(_LEAST_CORRELATION, _BAR * error) or _is_sorted_by_a_column(X):
        return None
    group = _groups_in_file(X)
    within = signal - _means_of_groups(signal, group)
    near, error = _lagged(within, _later(group, 1), 1)
    if near < max(_LEAST_CORRELATION, _BAR * error):
        return None
    values = np.asarray(y, dtype=np.float64) if classes is None else np.searchsorted(np.asarray(classes), y).astype(np.float64)
    between = _share_between(values, group, is_class=classes is not None)
    lasts = _lagged(within, _later(group, 3), 3)[0] >= _LASTING * near  # or it is pairs of rows, or threes
    if between < (_BETWEEN if lasts else _SURELY_BETWEEN):
        return None
    if not (_goes_up_and_down(values, group) if classes is None else _has_lone_rows(values)):
        return None
    return f"the target of one row and of the next in the file correlate by {whole:.2f}"


def _is_sorted_by_a_column(X: pl.DataFrame) -> bool:
    """Whether numbers of a column never fall (or never rise) along the file, by uneven steps: no numbering, no calendar."""
    for name in X.columns:
        if not X[name].dtype.is_numeric() or X[name].null_count():
            continue
        steps = np.diff(X[name].cast(_float()).to_numpy())
        is_ordered = bool((steps >= 0).all() or (steps <= 0).all())
        if is_ordered and (steps != 0).mean() > 0.5:
            moved = np.abs(steps[steps != 0])
            if moved.std() > _EVEN * moved.mean():
                return True
    return False


def _groups_in_file(X: pl.DataFrame) -> Rows:
    """A number of the group that each row lies in: runs of columns whose values come but once, also one within another."""
    n = X.height
    starts = np.zeros(n, dtype=bool)
    starts[0] = True
    runs = []
    for name in X.columns:
        if X[name].dtype.is_nested() or X[name].dtype.is_object():
            continue
        codes = X[name].rank("dense").fill_null(0).to_numpy()
        runs.append((np.r_[True, codes[1:] != codes[:-1]], codes))
    for begins, codes in sorted(runs, key=lambda run: int(run[0].sum())):
        joint = starts | begins
        outer = np.cumsum(starts)
        n_runs = int(joint.sum())
        n_pairs = len(np.unique(outer * (int(codes.max()) + 2) + codes))
        if 1 < n_runs <= n / _LEAST_GROUP and n_runs <= _REPEATS * n_pairs:
            starts = joint
    return np.asarray(np.cumsum(starts) - 1, dtype=np.intp)


def _means_of_groups(signal: FloatArray, group: Rows) -> FloatArray:
    counts = np.bincount(group)
    sums = np.stack([np.bincount(group, column) for column in signal.T], axis=1)
    return np.asarray((sums / counts[:, None])[group])


def _later(group: Rows, lag: int) -> Rows:
    """The rows that have one of the same group so many before them."""
    return np.flatnonzero(group[lag:] == group[:-lag]) + lag


def _share_between(values: FloatArray, group: Rows, *, is_class: bool) -> float:
    """How often, of three rows of a group in a row, the outer two are furthest apart; where two pairs are, it counts a half.

    One in three where rows of a group are in no order, whatever the group is like.
    """
    last = _later(group, 2)
    first, middle, last = values[last - 2], values[last - 1], values[last]
    if is_class:
        gaps = [(one != other).astype(np.float64) for one, other in ((first, last), (first, middle), (middle, last))]
    else:
        gaps = [np.abs(one - other) for one, other in ((first, last), (first, middle), (middle, last))]
    largest = np.max(gaps, axis=0)
    tells = largest > 0
    if not tells.any():
        return 0.0
    n_largest = sum((gap == largest).astype(np.float64) for gap in gaps)
    return float(((gaps[0] == largest) / n_largest)[tells].mean())


def _goes_up_and_down(values: FloatArray, group: Rows) -> bool:
    """A file that is sorted by its target, in groups or as a whole, goes one way."""
    later = _later(group, 1)
    steps = values[later] - values[later - 1]
    n_up, n_down = int((steps > 0).sum()), int((steps < 0).sum())
    return min(n_up, n_down) >= _RETURNS * max(1, n_up + n_down)


def _has_lone_rows(codes: FloatArray) -> bool:
    """A file that lies in blocks of one class each has no row by itself between rows of others."""
    lengths = np.diff(np.r_[0, np.flatnonzero(codes[1:] != codes[:-1]) + 1, len(codes)])
    return len(lengths) >= _LEAST_RUNS and bool((lengths == 1).mean() >= _LONE)


def _float() -> type[pl.Float64]:
    import polars as pl

    return pl.Float64
