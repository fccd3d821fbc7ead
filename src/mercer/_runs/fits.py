"""One fit on one fold, and all that it tells: of every number of rounds on its way, or of every value of a sweep."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base import looking
from mercer._runs.clock import OutOfTime, time_cap
from mercer._runs.folds import Folds, Prepared
from mercer._runs.looks import Deadline, Looks, rounds_parameter
from mercer._weighted import fit_weighted

_GRACE = 1.15  # times its time: then a fit that nothing can look at is broken off

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Sweeping:
    """Values that one fit covers: points that name the same parameters, inside others that all of them share."""

    points: tuple[Params, ...]


@dataclass(frozen=True)
class Seen:
    """What a fit, or a fit on its way, showed on rows that it had not seen."""

    point: Params  # what tells it from the others of the same fit
    score: float
    prediction: Any
    fit_seconds: float
    log_loss: float = 0.0  # of probabilities


@dataclass
class FoldFit:
    """What came of one fit on one fold."""

    seen: list[Seen] = field(default_factory=list)
    predict_us_per_row: float = 0.0
    fitted: Any = None  # whole, as it would be stored; that of the best score
    n_bytes: int | None = None  # of it, where that was asked for
    is_cut: bool = False  # the time was up

    @property
    def best(self) -> Seen:
        return max(self.seen, key=lambda one: one.score)

    @property
    def scores(self) -> dict[Any, float]:
        """By point."""
        return {key_of(one.point): one.score for one in self.seen}


def key_of(point: Params) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(point.items()))


class Fitter:
    """Fits pipelines on folds within a time."""

    def __init__(self, folds: Folds, seed: int) -> None:
        self._folds, self._seed = folds, seed

    def fit(
        self,
        model: Any,
        fold: int,
        *,
        seconds: float,
        n_rows: int | None = None,
        sweeping: Sweeping | None = None,
        most_rounds: float = np.inf,
    ) -> FoldFit:
        """Fit to `n_rows` of the other folds' rows and look at the fold. Raises `OutOfTime` if the time tells nothing."""
        made = FoldFit()
        try:
            with time_cap(_GRACE * seconds + 0.2):
                self._fit(model, fold, made, time.monotonic() + seconds, n_rows, sweeping, most_rounds)
        except OutOfTime:
            if not made.seen:
                raise
            made.is_cut = True
        return made

    def _fit(
        self,
        model: Any,
        fold: int,
        made: FoldFit,
        deadline: float,
        n_rows: int | None,
        sweeping: Sweeping | None,
        most_rounds: float,
    ) -> None:
        tables = self._folds.prepare(model, fold)
        train = tables.train
        learning = self._folds.splits[fold][0]
        y, weights = self._folds.y[learning], self._folds.weights_of(learning)
        if n_rows is not None and n_rows < len(y):
            rows = sample_rows(y, n_rows, self._seed, has_classes=self._folds.problem.classes is not None)
            train, y, weights = train[rows], y[rows], None if weights is None else weights[rows]
        estimator = clone(tables.estimator_of(model))
        watch = _Watch(self._folds, fold, tables, made)
        name = rounds_parameter(estimator)
        if sweeping is not None:
            made.is_cut = watch.over(self._swept(estimator, train, y, weights, sweeping), sweeping.points, deadline)
        elif name is not None:
            looks = Looks(
                lambda fitted, n, seconds: watch.see(fitted, {name: n}, seconds),
                deadline,
                min(most_rounds, getattr(estimator, name)),
            )
            with looking(estimator, looks):
                started = time.monotonic()
                fit_weighted(estimator, train, y, weights)
            if not made.seen:  # no round, or a fit that cannot be looked at
                watch.see(estimator, {}, time.monotonic() - started)
            made.is_cut = looks.is_late
        else:
            late = Deadline(deadline)
            with looking(estimator, late):
                started = time.monotonic()
                fit_weighted(estimator, train, y, weights)
            is_counted = late.stopped_at is not None and "max_iter" in estimator.get_params(deep=False)
            watch.see(estimator, {"max_iter": late.stopped_at} if is_counted else {}, time.monotonic() - started)
            made.is_cut = late.stopped_at is not None

    def _swept(self, estimator: Any, X: Any, y: Any, weights: Any, sweeping: Sweeping) -> Iterator[Any]:
        points = sweeping.points
        if len(points[0]) == 1:
            (name,) = points[0]
            return iter(estimator.sweep(X, y, name, [point[name] for point in points], sample_weight=weights))
        return iter(estimator.sweep_points(X, y, list(points), sample_weight=weights))


class _Watch:
    """Scores fitted estimators on the rows of one fold."""

    def __init__(self, folds: Folds, fold: int, tables: Prepared, made: FoldFit) -> None:
        self._folds, self._tables, self._made = folds, tables, made
        self._test = folds.splits[fold][1]
        self._best = -np.inf
        self._raw: Any = None  # of the last look, where the next one can begin with it
        self._n_done, self._took = 0, 0.0  # rounds, and the seconds that they took to predict

    def see(self, fitted: Any, point: Params, seconds: float) -> float:
        started = time.monotonic()
        is_foreseen = hasattr(fitted, "_foresee")
        if is_foreseen:
            self._raw, self._n_done = fitted._foresee(self._tables.test, self._raw, self._n_done), fitted.n_iter_
        prediction = self._folds.predict(fitted, self._tables.test)
        if is_foreseen:
            del fitted._known_raw
        took = self._tables.transform_seconds + time.monotonic() - started
        score = self._folds.score_of(prediction, self._test)
        loss = self._folds.log_loss(prediction, self._test)
        self._made.seen.append(Seen(point, score, prediction, self._tables.fit_seconds + seconds, loss))
        if score > self._best:
            self._best, self._made.fitted = score, self._tables.whole(fitted)
            self._made.predict_us_per_row = 1e6 * (took + self._took) / len(self._test)
        self._took += took if is_foreseen else 0.0
        return score

    def over(self, sweep: Iterator[Any], points: Sequence[Params], deadline: float) -> bool:
        """All points of a sweep, or those before the time is up."""
        started, scoring = time.monotonic(), 0.0
        for point in points:
            fitted = next(sweep)
            begun = time.monotonic()
            if begun > deadline and self._made.seen:
                return True
            self.see(fitted, point, begun - started - scoring)
            scoring += time.monotonic() - begun
        return False


def sample_rows(y: Any, n_rows: int, seed: int, *, has_classes: bool) -> Any:
    """Rows drawn by the seed, in their order; of every class at least one."""
    chosen = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    first = np.unique(y, return_index=True)[1] if has_classes else chosen[:0]
    return np.union1d(chosen, first)
