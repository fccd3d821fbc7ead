"""Fits scored out of bag: each candidate once on all rows, every row predicted by members that have not seen it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mercer._stand_in import stand_in
from mercer._tuning import OutOfBagView
from mercer.model_selection._folds import Table
from mercer.model_selection._scoring import Scoring
from mercer.model_selection._tune.candidates import Candidate
from mercer.model_selection._tune.model import Model
from mercer.model_selection._tune.scores import FoldScore, timed
from mercer.model_selection._tune.workers import Workers


class OutOfBagFits:
    """Candidates scored on the out-of-bag rows of one fit each. Steps before the learner are fitted on all rows.

    `swept` holds the parameter whose values one sweep covers; where it is empty, the sweep is over one value of the
    parameter that the learner names first: its own.
    """

    n_ahead = 8

    def __init__(self, model: Model, table: Table, scoring: Scoring, *, swept: Sequence[str], raises: bool) -> None:
        self._model, self._table, self._scoring = model, table, scoring
        self._swept, self._raises = (swept[0] if swept else None), raises

    def run(
        self, batches: Sequence[Sequence[Candidate]], workers: Workers
    ) -> AbstractContextManager[Iterator[list[list[FoldScore]] | None]]:
        """One job a batch."""
        return workers.run_batches([[partial(self._run, batch)] if batch else [] for batch in batches])

    def _run(self, candidates: Sequence[Candidate], is_over: Callable[[], bool]) -> list[FoldScore] | None:
        if is_over():
            return None
        scores: list[FoldScore] = []
        try:
            scores.extend(self._by_sweep(candidates))
        except Exception as error:  # a value that fails alone is found alone
            if self._raises:
                raise
            if len(candidates) == 1:
                return [FoldScore(error=error)]
        for candidate in candidates[len(scores) :]:
            if is_over():
                return None
            scores.extend(self._run([candidate], lambda: False) or ())
        return _with_best_model_only(scores, self._scoring.name)

    def _by_sweep(self, candidates: Sequence[Candidate]) -> Iterator[FoldScore]:
        """Scores of the candidates from the first on."""
        params = candidates[0].params
        learner = self._model.make_learner({name: value for name, value in params.items() if name != self._swept})
        possible = list(learner.out_of_bag_parameters())
        name = self._model.own_name(self._swept) or (possible[0] if possible else None)
        if name is None or name not in possible:
            raise ValueError(f"tune: {learner} has no rows out of bag; cv must be a number of folds or a splitter.")
        own_value = learner.get_params()[name]
        values = [candidate.params[self._swept] if self._swept else own_value for candidate in candidates]
        rows, steps = self._prepared(params)
        sweep, first_seconds = timed(
            lambda: iter(learner.sweep_out_of_bag(rows.X, rows.y, name, values, sample_weight=rows.weight))
        )
        for _ in values:
            (model, view), fit_seconds = timed(lambda: next(sweep))
            scores, score_seconds = timed(partial(self._score, view, rows))
            whole = None if model is None else self._model.assembled(steps, model)
            yield FoldScore(scores, fit_seconds + first_seconds, score_seconds, model=whole)
            first_seconds = 0.0  # a sweep may do all of its work at the start

    def _score(self, view: OutOfBagView, rows: Table) -> dict[str, float]:
        """The score of the rows that some member has not seen."""
        has_all = bool(np.all(view.has_votes))
        model = stand_in(view.prediction, classes=view.classes_, probability=view.probability)  # a scorer asks what kind it is
        return self._scoring.score(model, rows if has_all else rows.rows(np.flatnonzero(view.has_votes)))

    def _prepared(self, params: Any) -> tuple[Table, Any]:
        if not self._model.has_steps:
            return self._table, None
        steps = self._model.make_steps(self._model.preparing_params(params))
        X = steps.fit_transform(self._table.X, self._table.y)
        return Table(X, self._table.y, self._table.weight), steps


def _with_best_model_only(scores: list[FoldScore], name: str) -> list[FoldScore]:
    """Only the model that may be chosen is kept: a hundred forests may not fit into memory."""
    values = [score.scores.get(name, math.nan) for score in scores]
    best = int(np.nanargmax(values)) if not np.all(np.isnan(values)) else -1
    return [score if place == best else replace(score, model=None) for place, score in enumerate(scores)]
