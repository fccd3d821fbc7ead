"""Fits on folds that are looked at on their way: a candidate that does poorly there is given up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from mercer._tuning import Halving
from mercer.model_selection._folds import Fold, Table
from mercer.model_selection._scoring import Scoring
from mercer.model_selection._tune.candidates import Candidate
from mercer.model_selection._tune.fold_fits import Kitchen, Prepared
from mercer.model_selection._tune.model import Model, fit
from mercer.model_selection._tune.scores import FoldScore, timed
from mercer.model_selection._tune.trial import Trial, mean_and_spread
from mercer.model_selection._tune.workers import Workers

ETA = 3  # of so many candidates at a look one goes on
N_LOOKS = 3  # the last of them at the end


def stages_up_to(limit: int) -> tuple[int, ...]:
    """Where a fit is looked at: after a ninth, a third and all."""
    return tuple(sorted({math.ceil(limit / ETA**k) for k in range(N_LOOKS)}))


class Rungs:
    """The scores at each look: a candidate goes on where it is among the best third of those so far.

    That is successive halving without waiting (ASHA): each is judged by those before it, in the order of the search, so that
    the same search stops the same candidates however many run side by side. `known` are the trials of an earlier process.
    """

    def __init__(self, stages: Sequence[int], known: Iterable[Trial]) -> None:
        self.stages = stages
        self._scores: dict[int, list[float]] = {at: [] for at in stages}
        for trial in known:
            for at, score in trial.stages.items():
                self.goes_on(at, score)

    def goes_on(self, at: int, score: float) -> bool:
        """Take the next score at a look, which must be among the best third, rounded up. NaN never goes on."""
        if math.isnan(score):
            return False
        scores = self._scores[at]
        scores.append(score)
        return sum(other > score for other in scores) < math.ceil(len(scores) / ETA)


class HalvedFits:
    """Candidates fitted and scored on every fold, stage by stage. One that goes on does not begin again."""

    n_ahead = 1  # fits wait for their next stage in memory

    def __init__(
        self,
        model: Model,
        folds: Sequence[Fold],
        scoring: Scoring,
        rungs: Rungs,
        *,
        error_score: float,
        raises: bool,
    ) -> None:
        self._model, self._scoring, self._rungs = model, scoring, rungs
        self._error_score, self._raises = error_score, raises
        self._kitchens = [Kitchen(model, fold) for fold in folds]

    @contextmanager
    def run(self, batches: Sequence[Sequence[Candidate]], workers: Workers) -> Iterator[Iterator[list[list[FoldScore]] | None]]:
        """All batches stage by stage, a job a fold of each candidate that is left."""
        begun = [[fold for one in batch for fold in self._begun(one)] for batch in batches]  # a batch is one candidate or none
        found: list[list[FoldScore] | None] = [[] for _ in begun]
        left = [place for place, folds in enumerate(begun) if folds]
        for at in self._rungs.stages:
            with workers.run_batches([[partial(fold.go_on, at) for fold in begun[place]] for place in left]) as results:
                for place, scores in zip(left, results, strict=True):
                    found[place] = scores
            left = [place for place in left if self._goes_on(at, begun[place], found[place])]
            for place in set(range(len(begun))) - set(left):
                begun[place] = []  # what has ended frees its memory
        yield (None if folds is None else [[fold] for fold in folds] for folds in found)

    def _begun(self, candidate: Candidate) -> list[_FoldFit]:
        learner = self._model.make_learner(candidate.params)
        has_looks = isinstance(learner, Halving) and learner.halving_parameter() is not None
        stages = self._rungs.stages if has_looks else ()
        return [
            _FoldFit(self._model, self._scoring, kitchen, candidate, stages, self._error_score, raises=self._raises)
            for kitchen in self._kitchens
        ]

    def _goes_on(self, at: int, begun: Sequence[_FoldFit], found: list[FoldScore] | None) -> bool:
        """Judge a candidate at a look; what is given up is marked."""
        if found is None or at not in found[0].stages:
            return False
        is_good = self._rungs.goes_on(at, mean_and_spread([fold.stages[at] for fold in found])[0])
        if all(fold.is_over for fold in begun):
            return False
        if not is_good:
            found[:] = [replace(fold, is_stopped=True) for fold in found]
        return is_good


class _FoldFit:
    """The fit of one candidate on one fold, as far as it has come; without stages, the whole of it at once."""

    def __init__(
        self,
        model: Model,
        scoring: Scoring,
        kitchen: Kitchen,
        candidate: Candidate,
        stages: Sequence[int],
        error_score: float,
        *,
        raises: bool,
    ) -> None:
        self._model, self._scoring, self._kitchen, self._candidate = model, scoring, kitchen, candidate
        self._stages, self._error_score, self._raises = stages, error_score, raises
        self._prepared: Prepared | None = None
        self._looks: Iterator[tuple[Any, bool]] = iter(())
        self._found = FoldScore()
        self.is_over = False

    def go_on(self, at: int, is_late: Callable[[], bool]) -> FoldScore | None:
        """The fit until its next look, and its scores there, those of its end where it has ended; None if it is too late."""
        if is_late():
            return None
        if not self.is_over:
            self._found = self._looked()
        if self._stages:
            score = self._found.scores.get(self._scoring.name, self._error_score)
            self._found = replace(self._found, stages={**self._found.stages, at: score})
        return self._found

    def _looked(self) -> FoldScore:
        before = self._found
        try:
            (learner, self.is_over), seconds = timed(self._next)
            scores, score_seconds = timed(partial(self._score, learner))
        except Exception as error:
            if self._raises:
                raise
            self.is_over = True
            return replace(before, scores={}, error=error)
        return replace(
            before,
            scores=scores,
            fit_seconds=before.fit_seconds + seconds,
            score_seconds=before.score_seconds + score_seconds,
        )

    def _next(self) -> tuple[Any, bool]:
        if self._prepared is None:
            self._prepared = self._kitchen.prepared(self._candidate)
            self._looks = self._begun(self._prepared.train)
        return next(self._looks)

    def _begun(self, train: Table) -> Iterator[tuple[Any, bool]]:
        learner = self._model.make_learner(self._candidate.params)
        if not self._stages:
            return iter([(fit(learner, train), True)])
        looks: Iterator[tuple[Any, bool]] = learner.fit_in_stages(train.X, train.y, self._stages, sample_weight=train.weight)
        return looks

    def _score(self, learner: Any) -> dict[str, float]:
        assert self._prepared is not None
        return self._prepared.score(self._model, self._scoring, learner)
