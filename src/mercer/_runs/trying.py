"""Runs trials: a proposal fitted fold by fold, left early where others did better, and its predictions put on the shelf."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._runs.candidates import Candidate
from mercer._runs.clock import OutOfTime
from mercer._runs.course import in_one_line
from mercer._runs.fits import Fitter, FoldFit, key_of
from mercer._runs.folds import Folds, size_of
from mercer._runs.journal import Shelf
from mercer._runs.pipelines import Pipelines
from mercer._runs.trial import Proposal, Trial

_TOLERATED = 0.1  # of the spread between the folds: so far behind on the first fold a trial goes on
_FURTHER = 1.6  # times the best rounds of the first fold: no other fold is fitted for more
_N_KEPT = 3  # trials of a model whose predictions are kept


class Trials:
    """Runs trials on the folds that count, which are all or the first one."""

    def __init__(self, folds: Folds, pipelines: Pipelines, shelf: Shelf, *, n_folds: int, most_bytes: float, seed: int) -> None:
        self._folds, self._pipelines, self._shelf = folds, pipelines, shelf
        self.n_folds, self._most_bytes = n_folds, most_bytes
        self._fitter = Fitter(folds, seed)
        self.errors: dict[str, Exception] = {}

    def run(self, proposal: Proposal, candidate: Candidate, best: Trial | None, *, cap: float, left: float) -> Trial:
        """`best` is the trial to beat; a fit may take `cap` seconds, and all of them what is left."""
        started = time.monotonic()
        fits: list[FoldFit] = []
        status, reason = "ok", None
        n_folds = self.n_folds if proposal.n_rows is None else 1
        try:
            for fold in range(n_folds):
                seconds = min(cap, (left - (time.monotonic() - started)) / (n_folds - fold))
                try:
                    fits.append(self._fit(proposal, candidate, fold, max(seconds, 0.1), fits))
                except OutOfTime:
                    if not fits:
                        raise
                    break  # what the folds before it have shown stands
                if len(_comparable(fits)) < len(fits):
                    break  # this fold was cut off before it came to what the others have seen
                if (fold == 0 and proposal.n_rows is None and (reason := self._too_large(fits[0]))) or (
                    fold + 1 < n_folds and _is_behind(fits, best)
                ):
                    status = "stopped"
                if status == "stopped":
                    break
        except Exception as error:
            self.errors[proposal.model] = error
            return self._trial(proposal, [], started, "failed", in_one_line(error))
        fits = _comparable(fits)
        trial = self._trial(proposal, fits, started, status, reason)
        if trial.is_complete(self.n_folds):
            self._keep(trial, fits)
        return trial

    def _fit(self, proposal: Proposal, candidate: Candidate, fold: int, seconds: float, before: list[FoldFit]) -> FoldFit:
        model = self._pipelines.make(proposal.model, candidate.estimator, proposal.params, candidate.resampler)
        most = np.inf
        if before and candidate.rounds is not None:
            most = max(_FURTHER * before[0].best.point.get(candidate.rounds, np.inf), 10)
        return self._fitter.fit(
            model, fold, seconds=seconds, n_rows=proposal.n_rows, sweeping=proposal.sweeping, most_rounds=most
        )

    def _too_large(self, fit: FoldFit) -> str | None:
        """Why a model is too large to be chosen; it is a little larger on all rows."""
        n_bytes = size_of(fit.fitted)
        fit.n_bytes = n_bytes
        if n_bytes is None or n_bytes * len(self._folds.y) / len(self._folds.splits[0][0]) <= self._most_bytes:
            return None
        return f"it would take {n_bytes / 1e6:,.0f} MB; --max-size allows {self._most_bytes / 1e6:,.0f} MB"

    def _trial(self, proposal: Proposal, fits: list[FoldFit], started: float, status: str, reason: str | None) -> Trial:
        point = _best_point(fits)
        chosen = [next(seen for seen in fit.seen if key_of(seen.point) == point) for fit in fits]
        return Trial(
            proposal.model,
            proposal.number,
            {**proposal.params, **dict(point)},
            proposal.n_rows,
            status,
            tuple(seen.score for seen in chosen),
            time.monotonic() - started,
            float(np.mean([seen.fit_seconds for seen in chosen])) if chosen else None,
            fits[0].predict_us_per_row if fits else None,
            fits[0].n_bytes if fits else None,
            any(fit.is_cut for fit in fits),
            reason,
        )

    def _keep(self, trial: Trial, fits: list[FoldFit]) -> None:
        point = _point_of(trial, fits)
        for fold, fit in enumerate(fits):
            self._shelf.put(trial.key(fold), next(seen.prediction for seen in fit.seen if key_of(seen.point) == point))

    def forget(self, trials: list[Trial]) -> None:
        """Take the predictions of all but the best trials of a model from the shelf."""
        done = sorted((one for one in trials if one.is_complete(self.n_folds)), key=lambda one: -one.score)
        for trial in done[_N_KEPT:]:
            for fold in range(self.n_folds):
                self._shelf.drop(trial.key(fold))

    def kept(self, trials: list[Trial]) -> list[Trial]:
        """The trials of a model whose predictions are on the shelf, the best first."""
        done = sorted((one for one in trials if one.is_complete(self.n_folds)), key=lambda one: -one.score)
        return [one for one in done[:_N_KEPT] if self._shelf.get(one.key(0)) is not None]

    def predictions(self, trial: Trial) -> Any:
        """Of the rows of all folds that count, one fold after another."""
        return np.concatenate([self._shelf.get(trial.key(fold)) for fold in range(self.n_folds)])


def _comparable(fits: list[FoldFit]) -> list[FoldFit]:
    """The first folds, up to the last one that has seen a point that all of them have."""
    while len(fits) > 1 and not _common(fits):
        fits = fits[:-1]
    return fits


def _common(fits: list[FoldFit]) -> list[tuple[tuple[str, Any], ...]]:
    """The points that every fold has seen."""
    return [key for key in fits[0].scores if all(key in fit.scores for fit in fits)]


def _best_point(fits: list[FoldFit]) -> tuple[tuple[str, Any], ...]:
    """The point with the best mean among those that every fold has seen.

    Of those that are behind it by less than a standard error over the folds, the one with the best probabilities.
    """
    if not fits:
        return ()
    common = _common(fits)
    scores = {key: np.array([fit.scores[key] for fit in fits]) for key in common}
    best: tuple[tuple[str, Any], ...] = max(common, key=lambda key: float(scores[key].mean()))
    if len(fits) == 1:
        return best
    losses = {key_of(seen.point): 0.0 for fit in fits for seen in fit.seen}
    for fit in fits:
        for seen in fit.seen:
            losses[key_of(seen.point)] += seen.log_loss
    gaps = {key: scores[best] - scores[key] for key in common}
    tied = [key for key in common if gaps[key].mean() <= gaps[key].std(ddof=1) / np.sqrt(len(fits))]
    best = min(tied, key=lambda key: (losses[key], -float(scores[key].mean())))
    return best


def _point_of(trial: Trial, fits: list[FoldFit]) -> tuple[tuple[str, Any], ...]:
    names = fits[0].seen[0].point
    return key_of({name: trial.params[name] for name in names})


def _is_behind(fits: list[FoldFit], best: Trial | None) -> bool:
    """Whether the folds so far say that a trial does worse than the best one, with some patience at the first."""
    if best is None or len(best.fold_scores) <= len(fits):
        return False
    scores = dict(_best_point_scores(fits))
    known = best.fold_scores[: len(fits)]
    slack = _TOLERATED * float(np.std(best.fold_scores)) if len(fits) == 1 else 0.0
    return float(np.mean(list(scores.values()))) < float(np.mean(known)) - slack


def _best_point_scores(fits: list[FoldFit]) -> Mapping[int, float]:
    point = _best_point(fits)
    return {fold: fit.scores[point] for fold, fit in enumerate(fits)}
