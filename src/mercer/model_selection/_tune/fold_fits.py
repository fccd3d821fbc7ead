"""Fits on folds: each candidate on each fold, by one sweep for many candidates where the learner can do that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from mercer._tuning import Sweep
from mercer.model_selection._folds import Fold, Table
from mercer.model_selection._scoring import Scoring
from mercer.model_selection._tune.candidates import Candidate
from mercer.model_selection._tune.model import Model, fit
from mercer.model_selection._tune.scores import FoldScore, timed
from mercer.model_selection._tune.workers import Workers


@dataclass(frozen=True)
class Prepared:
    """A fold as the learner sees it."""

    steps: Any  # fitted; None where there are none
    train: Table
    test: Table
    raw_test: Table

    def score(self, model: Model, scoring: Scoring, learner: Any) -> dict[str, float]:
        """The scores of a fitted learner on the test rows."""
        if scoring.is_by_predictions:
            return scoring.score(learner, self.test)
        return scoring.score(model.assembled(self.steps, learner), self.raw_test)


class Kitchen:
    """Prepares one fold for the learner, and keeps the last preparation: most candidates share it."""

    def __init__(self, model: Model, fold: Fold) -> None:
        self._model, self._fold = model, fold
        self._kept: tuple[dict[str, Any], Prepared] | None = None
        self._lock = Lock()  # candidates on the same fold wait for the preparation rather than repeat it

    def prepared(self, candidate: Candidate) -> Prepared:
        params = self._model.preparing_params(candidate.params)
        tokens = {name: candidate.point[name] for name in params}
        if not self._model.has_steps:
            train, test = self._fold.sides()
            return Prepared(None, train, test, test)
        with self._lock:
            if self._kept is None or self._kept[0] != tokens:
                self._kept = None  # first forget, then prepare: there is never room for two
                self._kept = tokens, self._prepare(params)
            return self._kept[1]

    def _prepare(self, params: dict[str, Any]) -> Prepared:
        train, test = self._fold.sides()
        steps = self._model.make_steps(params)
        seen = steps.fit_transform(train.X, train.y)
        unseen = steps.transform(test.X)
        return Prepared(steps, Table(seen, train.y, train.weight), Table(unseen, test.y, test.weight), test)


def _sweep(learner: Any, train: Table, points: Sequence[dict[str, Any]]) -> Iterator[Any]:
    """Fitted learners, one a point, by the sweep over one parameter or that over several."""
    name, *others = points[0]
    if others:
        return iter(learner.sweep_points(train.X, train.y, points, sample_weight=train.weight))
    return iter(learner.sweep(train.X, train.y, name, [point[name] for point in points], sample_weight=train.weight))


class FoldFits:
    """Candidates fitted and scored on every fold.

    `swept` are the parameters whose values one sweep covers. Where a combination of the other parameters does not allow that,
    or the sweep fails on the way, the values that are left are fitted one by one.
    """

    n_ahead = 8

    def __init__(self, model: Model, folds: Sequence[Fold], scoring: Scoring, *, swept: Sequence[str], raises: bool) -> None:
        self._model, self._scoring, self._swept, self._raises = model, scoring, swept, raises
        self._kitchens = [Kitchen(model, fold) for fold in folds]

    def run(
        self, batches: Sequence[Sequence[Candidate]], workers: Workers
    ) -> AbstractContextManager[Iterator[list[list[FoldScore]] | None]]:
        """One job a fold of a batch."""
        return workers.run_batches(
            [[partial(self._run, kitchen, batch) for kitchen in self._kitchens if batch] for batch in batches]
        )

    def _run(self, kitchen: Kitchen, candidates: Sequence[Candidate], is_over: Callable[[], bool]) -> list[FoldScore] | None:
        if is_over():
            return None
        try:
            prepared, seconds = timed(lambda: kitchen.prepared(candidates[0]))
        except Exception as error:
            if self._raises:
                raise
            return [FoldScore(error=error) for _ in candidates]
        scores: list[FoldScore] = []
        for fitted in self._fitted(candidates, prepared.train):
            scores.append(self._scored(fitted, prepared, seconds if not scores else 0.0))
            if len(scores) < len(candidates) and is_over():
                return None
        return scores

    def _fitted(self, candidates: Sequence[Candidate], train: Table) -> Iterator[tuple[Any, float, Exception | None]]:
        """A fitted learner for each candidate, with the seconds it took, or the error."""
        left = list(candidates)
        for fitted in self._by_sweep(candidates, train):
            left.pop(0)
            yield fitted
        for candidate in left:
            yield self._fitted_alone(candidate, train)

    def _fitted_alone(self, candidate: Candidate, train: Table) -> tuple[Any, float, Exception | None]:
        try:
            learner, seconds = timed(lambda: fit(self._model.make_learner(candidate.params), train))
        except Exception as error:
            if self._raises:
                raise
            return None, 0.0, error
        return learner, seconds, None

    def _by_sweep(self, candidates: Sequence[Candidate], train: Table) -> Iterator[tuple[Any, float, None]]:
        """As many of the candidates, from the first on, as one sweep gives: none where the learner has no such sweep."""
        names = {full: own for full in self._swept if (own := self._model.own_name(full)) is not None}
        if not names or len(candidates) == 1:
            return
        points = [{own: candidate.params[full] for full, own in names.items()} for candidate in candidates]
        others = {parameter: value for parameter, value in candidates[0].params.items() if parameter not in self._swept}
        try:
            learner = self._model.make_learner(others)
            if not isinstance(learner, Sweep) or not set(names.values()) <= set(learner.sweep_parameters()):
                return
            sweep, first_seconds = timed(lambda: _sweep(learner, train, points))
            for _ in points:
                fitted, seconds = timed(lambda: next(sweep))
                yield fitted, seconds + first_seconds, None
                first_seconds = 0.0  # a sweep may do all of its work at the start
        except Exception:  # the candidates that are left are fitted one by one, and those that fail say why
            return

    def _scored(self, fitted: tuple[Any, float, Exception | None], prepared: Prepared, extra_seconds: float) -> FoldScore:
        learner, fit_seconds, error = fitted
        fit_seconds += extra_seconds
        if error is not None:
            return FoldScore(fit_seconds=fit_seconds, error=error)
        try:
            scores, seconds = timed(lambda: prepared.score(self._model, self._scoring, learner))
        except Exception as failure:
            if self._raises:
                raise
            return FoldScore(fit_seconds=fit_seconds, error=failure)
        return FoldScore(scores, fit_seconds, seconds)
