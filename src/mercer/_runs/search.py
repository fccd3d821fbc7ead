"""The search for the best model: trial by trial, always of the model that promises most for its time, then a blend.

What the journal holds is told to the models again, so that a run goes on after a kill where it was.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._runs.blend import Limits, find_blend
from mercer._runs.board import BASELINE, Board, Entry
from mercer._runs.candidates import Candidate, Skipped
from mercer._runs.clock import Clock
from mercer._runs.course import StagedSearch
from mercer._runs.folder import RunFolder
from mercer._runs.folds import Folds
from mercer._runs.learner import Learner
from mercer._runs.pipelines import Pipelines, make_blend
from mercer._runs.portfolio import Outlook
from mercer._runs.resampling import find_resamplers
from mercer._runs.settings import Settings
from mercer._runs.trial import Trial
from mercer._runs.trying import Trials

BLEND = "Blend"
REPORTING = 0.1  # of the time, for what the report says of the winner
LEAST_REPORTING = 2.0  # seconds
_LEAST_SEARCH = 0.4  # of the time, whatever the end will take
_CELLS = 48_000  # of the training table for each second and fold: where there are more, fewer folds are scored
_GROWING, _CHEAP = 0.25, 0.1  # of the time that is left: what a fit to more rows may take before anything else is done
_LEAST_GROWING = 0.15  # of the time, which has to be left for a long fit
_CAP = 0.4  # of the time, for one fit
_LEAST_CAP = 2.0  # seconds
_FIRST_CAP = 0.15  # of that, for the first fit of a model that is not known to be strong
_LEAST_SCORED = 3  # models, whatever the time
_RESAMPLING = 0.6  # of the time for the search, when the best models are tried on resampled rows
_N_RESAMPLED = 2
_MOST_BLENDED = 10  # trials, to choose from
_BLENDED_SECONDS = 0.15  # of the time, for the final fits of a blend
_N_PARTS = 10  # of the rows, to tell differences from chance
_SAME_LOSS = 1e-3  # nats
_MUCH_SMALLER = 10.0  # times
_SLOWER = 1.2  # times as long as reckoned, a fit on all rows


@dataclass(frozen=True)
class Member:
    """A trial under the name that it has in a blend."""

    name: str
    trial: Trial


class Search(StagedSearch):
    """One pass over all trials; what the folder holds from an earlier pass is not done again."""

    def __init__(self, folds: Folds, settings: Settings, folder: RunFolder, clock: Clock, board: Board) -> None:
        super().__init__(settings, folder, clock)
        self.folds, self.settings, self.board = folds, settings, board
        self.pipelines = Pipelines(folds.X, settings)
        self.n_folds = board.n_folds
        self._cap = settings.model_seconds or max(_LEAST_CAP, _CAP * settings.seconds)
        self._trials = Trials(
            folds,
            self.pipelines,
            folder.shelf,
            n_folds=self.n_folds,
            most_bytes=settings.max_size,
            seed=settings.seed,
        )
        self._learners: dict[str, Learner] = {}
        self._members: dict[str, Member] = {}
        self._blended: Any = None  # what the blend predicts for rows that its members had not seen
        self._is_blend_better = False  # than the best single model, on rows that chose neither
        self._is_resampled = False
        sides = [len(train) for train, _ in folds.splits]
        self._more_rows = len(folds.y) / max(1.0, float(np.mean(sides)))  # of the final fit, times those of a fold
        refit = len(folds.problem.y) / len(folds.y) if settings.is_refitted else 0.0
        self._final_rows = self._more_rows * max(1.0, refit)  # of the model that is kept
        self._final_seconds = _SLOWER * self._more_rows * (1 + refit)  # of the fits at the end, times those of a fold

    def run(self, candidates: Sequence[Candidate], skipped: Sequence[Skipped]) -> bool:
        """Fill the board. False if the user interrupted."""
        for model in skipped:
            self.board.update(model.name, status="skipped", reason=model.reason)
        for candidate in candidates:
            self._enter(candidate)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of models that may not be chosen; those of the final fit are shown
                self._score_baseline()
                self._recall()
                self._search()
                self._blend_the_best()
        except KeyboardInterrupt:
            return False
        finally:
            for entry in self.board.ranked():
                if entry.status in ("waiting", "running"):
                    status = "interrupted" if entry.fold_scores else "skipped"
                    self.board.update(entry.model, status=status, reason=entry.reason or "the time was up")
            self._write("ended")
        return True

    def _enter(self, candidate: Candidate) -> None:
        n_rows = len(self.folds.splits[0][0])
        self._learners[candidate.name] = Learner(candidate, n_rows, self.n_folds, self.settings.seed)
        self.board.update(candidate.name)

    def _score_baseline(self) -> None:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        self.board.begin("search")
        model = DummyRegressor() if self.folds.problem.classes is None else DummyClassifier(strategy="prior")
        for fold in range(self.n_folds):
            result = self.folds.score(model, fold)
            scores = (*self.board.get(BASELINE).fold_scores, result.score)
            self.board.update(
                BASELINE,
                status="baseline",
                fold_scores=scores,
                fit_seconds=result.fit_seconds,
                predict_us_per_row=result.predict_us_per_row,
                reason="always the mean" if self.folds.problem.classes is None else "always the shares of the classes",
            )

    # ---- trials

    def _recall(self) -> None:
        """Tell the models what an earlier part of the run has found."""
        for line in self.folder.journal:
            if line["kind"] == "resampling":
                self._enter_resampled(line["models"])
            elif line["kind"] == "trial" and line["model"] in self._learners:
                values = {name: value for name, value in line.items() if name != "asked"}
                trial = Trial.from_line(values)
                self._learners[trial.model].recall(trial, line["asked"])
                self._show(self._learners[trial.model])

    def _search(self) -> None:
        while (learner := self._next() or self._next_resampled()) is not None:
            self.board.update(learner.name, status="running")
            proposal = learner.propose(self._limit_of(learner))
            best = learner.best if learner.best is not None and learner.best.is_complete(self.n_folds) else None
            least = _LEAST_CAP * self.n_folds if self._is_poor else 1.0
            trial = self._trials.run(proposal, learner.candidate, best, cap=self._cap_of(learner), left=max(self._left, least))
            if trial.status == "failed":
                self._note_failure(learner.name, self._trials.errors[learner.name], model=learner.name)
            self._write("trial", asked=learner.asked, **trial.to_line())
            learner.tell(trial)
            self._trials.forget(learner.trials)
            self._show(learner)
            if not self._is_resampled and self.clock.elapsed > _RESAMPLING * self._until:
                self._resample_the_best()

    def _next_resampled(self) -> Learner | None:
        """Where nothing else is left to try, resampled rows are."""
        if not self._is_resampled and self._left > 0:
            self._resample_the_best()
        return self._next()

    def _next(self) -> Learner | None:
        """The model to try next: of those that can end in time, the one that promises most."""
        begun = [one for one in self._learners.values() if one.trials]
        left = self._left
        open_ = [one for one in self._learners.values() if not one.is_over]
        if left <= 0:
            if not self._is_poor:
                return None
            return next((one for one in open_ if not one.trials), None)
        best = max((one.best.fold_scores[0] for one in begun if one.best is not None), default=None)
        first_cost = min((one.trials[0].seconds for one in begun), default=0.0)
        able = [one for one in open_ if (one.cost or 0.0) <= left]
        strong = [one for one in able if one.tier == 1 and not one.trials]
        leader = self._leader
        if leader is not None and leader in able and not strong and leader.cost_of_growing <= self._limit_of(leader):
            return leader
        return min(able, key=lambda one: one.promise(best, first_cost, self._limit_of(one)), default=None)

    @property
    def _leader(self) -> Learner | None:
        """The model that does best on the first fold, on however many rows."""
        begun = [one for one in self._learners.values() if one.best is not None]
        return max(begun, key=lambda one: one.best.fold_scores[0] if one.best else -np.inf, default=None)

    def _limit_of(self, learner: Learner) -> float:
        """How many seconds a fit to more rows may take before other settings are tried.

        The leader's may take any time where it can be ended on its way.
        """
        if learner is self._leader and self._left > _LEAST_GROWING * self.settings.seconds:
            return np.inf if learner.candidate.rounds is not None else _GROWING * self._left
        return (_GROWING if learner.tier == 1 else _CHEAP) * self._left

    def _cap_of(self, learner: Learner) -> float:
        """Seconds for one fit: few for the first of a model not known to be strong, and such that a final fit ends in time."""
        cap = self._cap if learner.tier == 1 or learner.best is not None else max(_FIRST_CAP * self._cap, _LEAST_CAP)
        left = self.settings.seconds - self.reporting - self.clock.elapsed
        return min(cap, max(left / (self.n_folds + self._final_seconds), _LEAST_CAP if self._is_poor else 0.1))

    @property
    def _is_poor(self) -> bool:
        """Whether so few models were scored that the next ones get their time, whatever is left."""
        n_scored = sum(one.best is not None for one in self._learners.values())
        return n_scored < min(_LEAST_SCORED, len(self._learners))

    @property
    def _until(self) -> float:
        """When the search ends, in seconds of the run: the final fit and the report come after it."""
        seconds = self.settings.seconds
        entry = next(iter(self.board.complete()), None)
        final = 0.0 if entry is None else self._final_seconds * (entry.fit_seconds or 0.0)
        final = max(final, min(_BLENDED_SECONDS * seconds, 4 * final))
        return max(_LEAST_SEARCH * seconds, seconds - self.reporting - final)

    @property
    def reporting(self) -> float:
        """Seconds for all that comes after the final fit, on a machine as busy as this one was."""
        return max(LEAST_REPORTING * self.clock.slowness, REPORTING * self.settings.seconds)

    @property
    def _left(self) -> float:
        return self._until - self.clock.elapsed

    def _show(self, learner: Learner) -> None:
        """Put a model on the board: its best complete trial, or else the best of those on few rows."""
        done = [one for one in learner.trials if one.is_complete(self.n_folds)] or [
            one for one in learner.trials if one.status == "ok"
        ]
        n_tried = sum(len(one.points) if one is not None else 1 for one in [learner.sweeping] * len(learner.trials))
        if not done:
            failed = learner.trials[-1]
            self.board.update(learner.name, status="failed", n_trials=n_tried, reason=failed.reason)
            return
        best = max(done, key=lambda one: one.score)
        self.board.update(
            learner.name,
            status="ok",
            fold_scores=best.fold_scores,
            fit_seconds=best.fit_seconds,
            predict_us_per_row=best.predict_us_per_row,
            size_bytes=best.size_bytes,
            n_trials=n_tried,
            params=dict(best.params),
            reason=self._remark(best),
        )
        self._members[learner.name] = Member(learner.name, best)

    def _remark(self, trial: Trial) -> str | None:
        """What is to be known of a score."""
        n_rows = len(self.folds.splits[0][0])
        remarks = []
        if trial.n_rows is not None:
            remarks.append(f"fitted to {trial.n_rows:,} of {n_rows:,} rows, as more took too long")
        if (n_scored := len(trial.fold_scores)) < len(self.folds):
            remarks.append("scored on one fold" if n_scored == 1 else f"scored on {n_scored} of {len(self.folds)} folds")
        return "; ".join(remarks) or None

    # ---- resampling

    def _resample_the_best(self) -> None:
        """Where a class is rare, the best models once more, each fitted to resampled rows inside the folds."""
        self._is_resampled = True
        resamplers = find_resamplers(self.folds.problem, self.pipelines.report(None), self.settings.seed)
        if not resamplers:
            return
        models = [(entry.model, dict(entry.params)) for entry in self.board.complete()[:_N_RESAMPLED]]
        lines = [
            [label, name, {key: _plain(value) for key, value in params.items()}]
            for label in resamplers
            for name, params in models
        ]
        self._write("resampling", models=lines)
        self._enter_resampled(lines)

    def _enter_resampled(self, lines: Sequence[Any]) -> None:
        self._is_resampled = True
        resamplers = find_resamplers(self.folds.problem, self.pipelines.report(None), self.settings.seed)
        for label, base, params in lines:
            estimator = clone(self._learners[base].candidate.estimator).set_params(
                **{key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
            )
            self._enter(Candidate(f"{label} + {base}", estimator, Outlook(1, space={}), resampler=resamplers[label]))

    # ---- blending

    def _blend_the_best(self) -> None:
        members = self._pool()
        if len(members) < 2:
            return
        self.board.begin("blending")
        rows = np.concatenate([test for _, test in self.folds.splits[: self.n_folds]])
        predictions = [self._trials.predictions(one.trial) for one in members]
        left = max(0.0, self.settings.seconds - self.reporting - self.clock.elapsed)
        limits = Limits(
            [self._final_rows * (one.trial.size_bytes or 0) for one in members],
            self.settings.max_size,
            [self._final_seconds * (one.trial.fit_seconds or 0.0) for one in members],
            max(left, _BLENDED_SECONDS * self.settings.seconds),
        )

        def score(prediction: Any, places: Any) -> float:
            return self.folds.score_of(prediction, rows[places])

        blend = find_blend(predictions, self._parts(), score, limits, self.settings.seed)
        chosen = {one.name: count for one, count in zip(members, blend.counts, strict=True) if count}
        if len(chosen) < 2:
            self.board.update(BLEND, status="skipped", reason=f"nothing improves {next(iter(chosen))}")
            return
        self._blended = self._as_folds(blend.held_out)
        everywhere = np.arange(len(rows))
        self._is_blend_better = score(blend.held_out, everywhere) > score(blend.picked, everywhere)
        self._members |= {one.name: one for one in members}
        times = [self._members[name].trial for name in chosen]
        self.board.update(
            BLEND,
            status="ok",
            fold_scores=tuple(
                self.folds.score_of(part, test)
                for part, (_, test) in zip(self._blended, self.folds.splits[: self.n_folds], strict=True)
            ),
            params={"weights": chosen},
            n_trials=1,
            fit_seconds=sum(one.fit_seconds or 0.0 for one in times),
            predict_us_per_row=sum(one.predict_us_per_row or 0.0 for one in times),
            size_bytes=sum(one.size_bytes or 0 for one in times),
            reason="a weighted mean of " + ", ".join(f"{name} ({count})" for name, count in chosen.items()),
        )

    def _pool(self) -> list[Member]:
        """Trials on all rows whose predictions are known, the best first, and the best of every model before the others."""
        found: list[tuple[int, float, Member]] = []
        for learner in self._learners.values():
            kept = [one for one in self._trials.kept(learner.trials) if one.n_rows is None]
            for place, trial in enumerate(kept):
                name = learner.name if place == 0 else f"{learner.name} {place + 1}"
                found.append((place > 0, -trial.score, Member(name, trial)))
        ranked = sorted(found, key=lambda one: one[1])
        firsts = [one for one in ranked if not one[0]][: _MOST_BLENDED // 2]
        others = [one for one in ranked if one not in firsts][: _MOST_BLENDED - len(firsts)]
        return [one[2] for one in sorted([*firsts, *others], key=lambda one: one[1])]

    def _parts(self) -> list[Any]:
        """The places of rows that a blend's weights are judged on in turn: the folds, or parts of the only one."""
        sizes = [len(test) for _, test in self.folds.splits[: self.n_folds]]
        if self.n_folds > 1:
            return np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        shuffled = np.random.default_rng(self.settings.seed).permutation(sizes[0])
        return [np.sort(part) for part in np.array_split(shuffled, 5)]

    def _as_folds(self, prediction: Any) -> list[Any]:
        sizes = [len(test) for _, test in self.folds.splits[: self.n_folds]]
        return np.split(prediction, np.cumsum(sizes)[:-1])

    # ---- the winner

    def best(self) -> str | None:
        """The model to keep: of those that were scored on all folds that count, or else on some of them.

        A blend is kept where it does better on rows that its weights were not chosen by than the single model that the same
        rows would choose: the score of the best of many trials is too good to be compared with. Of models whose difference is
        within a standard error, the one with the better probabilities is kept, and then one that is much smaller and faster.
        """
        if self._is_blend_better:
            return BLEND
        done = [entry for entry in self.board.complete() if entry.model != BLEND]
        if not done:
            return None
        tied = [entry for entry in done if entry.model == done[0].model or self._is_tied(entry.model, done[0].model)]
        if self.folds.problem.classes is not None:
            losses = [self._log_loss(entry.model) for entry in tied]
            tied = [entry for entry, loss in zip(tied, losses, strict=True) if loss <= min(losses) + _SAME_LOSS]
        first = tied[0]
        smaller = [entry for entry in tied if _MUCH_SMALLER * _burden(entry) < _burden(first)]
        return smaller[0].model if smaller else first.model

    def _is_tied(self, name: str, other: str) -> bool:
        """Whether the scores of two models differ by less than a standard error, over parts of the rows."""
        both = [self._known(one) for one in (name, other)]
        if any(one is None for one in both):
            return False
        rows = np.concatenate([test for _, test in self.folds.splits[: self.n_folds]])
        parts = np.array_split(np.random.default_rng(self.settings.seed).permutation(len(rows)), _N_PARTS)
        try:
            gaps = [
                self.folds.score_of(both[1][part], rows[part]) - self.folds.score_of(both[0][part], rows[part])
                for part in parts
            ]
        except ValueError:  # a part without one of the classes
            return False
        return bool(float(np.mean(gaps)) < float(np.std(gaps, ddof=1)) / np.sqrt(len(gaps)))

    def _known(self, name: str) -> Any:
        trial = self._members[name].trial
        is_known = trial.is_complete(self.n_folds) and self.folder.shelf.get(trial.key(0)) is not None
        return self._trials.predictions(trial) if is_known else None

    def _log_loss(self, name: str) -> float:
        """Of the known predictions; infinite where none are known."""
        predictions = self._known(name)
        if predictions is None:
            return np.inf
        rows = np.concatenate([test for _, test in self.folds.splits[: self.n_folds]])
        return self.folds.log_loss(predictions, rows)

    def estimator(self, name: str) -> Any:
        return self._learners[self._members[name].trial.model].candidate.estimator

    def make(self, name: str) -> Any:
        """The pipeline of a model as the board has it, not fitted."""
        if name != BLEND:
            trial = self._members[name].trial
            candidate = self._learners[trial.model].candidate
            return self.pipelines.make(trial.model, candidate.estimator, trial.params, candidate.resampler)
        weights = self.board.get(BLEND).params["weights"]
        members = [(member, self.make(member)) for member in weights]
        return make_blend(members, list(weights.values()), is_classifier=self.folds.problem.classes is not None)

    def n_rows(self, name: str) -> int | None:
        """To how many of the training rows a model is fitted; None: to all."""
        return None if name == BLEND else self._members[name].trial.n_rows

    def held_out(self, name: str) -> tuple[Any, Any]:
        """Rows (places among those of training) and what fits that have not seen them predict for them."""
        rows = np.concatenate([test for _, test in self.folds.splits[: self.n_folds]])
        if name == BLEND:
            return rows, np.concatenate(self._blended)
        trial = self._members[name].trial
        if trial.is_complete(self.n_folds) and self.folder.shelf.get(trial.key(0)) is not None:
            return rows, self._trials.predictions(trial)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they say the same as those of the final fit
            model = self.make(name)
            return rows, np.concatenate([self.folds.score(model, fold).prediction for fold in range(self.n_folds)])


def _burden(entry: Entry) -> float:
    """Of a model: the time of its fit and the bytes that it takes, multiplied so that neither unit matters."""
    return (entry.fit_seconds or 1.0) * (entry.size_bytes or 1)


def n_folds_that_count(folds: Folds, seconds: float) -> int:
    """How many of the folds are scored: fewer where the table is so large that the time is better spent on more settings."""
    n_cells = folds.X.height * folds.X.width
    return int(np.clip(_CELLS * seconds // n_cells, 1, len(folds)))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
