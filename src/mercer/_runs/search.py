"""The search for the best model: all of them once, the best ones tuned, then blended. After a kill it goes on where it was."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from mercer._runs.blend import find_blend
from mercer._runs.board import BASELINE, Board, Entry
from mercer._runs.candidates import Candidate, Skipped
from mercer._runs.clock import Clock, time_cap
from mercer._runs.course import StagedSearch
from mercer._runs.folder import RunFolder
from mercer._runs.folds import Folds
from mercer._runs.pipelines import ESTIMATOR, Pipelines, make_blend
from mercer._runs.resampling import find_resamplers
from mercer._runs.settings import Settings
from mercer._tuning import Sweep
from mercer.model_selection import tune

BLEND = "Blend"
DEFAULT, TUNED = "default", "tuned"  # parameters
_SCREENING = 0.35  # of the time, for the first look at every model
_TUNING = 0.85  # of the time, at which tuning ends
_ALL_FOLDS = 0.25  # of the time: if the remaining folds of all models take less, all are scored on all
_RESAMPLING = 0.92  # of the time, at which no resampled model is begun any more
_N_TUNED = 4
_N_RESAMPLED = 2
_N_BLENDED = 6
_N_TRIALS = 60
_N_SWEPT = 100
_LEAST_KEPT = 6


class Search(StagedSearch):
    """One pass over all stages; what the folder holds from an earlier pass is not done again."""

    def __init__(self, folds: Folds, settings: Settings, folder: RunFolder, clock: Clock, board: Board) -> None:
        super().__init__(settings, folder, clock)
        self.folds, self.settings, self.board = folds, settings, board
        self.pipelines = Pipelines(folds.X, settings)
        self._candidates: dict[str, Candidate] = {}
        self._blended: Any = None  # what the blend predicts for training rows

    def run(self, candidates: Sequence[Candidate], skipped: Sequence[Skipped]) -> bool:
        """Fill the board. False if the user interrupted."""
        self._candidates = {candidate.name: candidate for candidate in candidates}
        for model in skipped:
            self.board.update(model.name, status="skipped", reason=model.reason)
        for name in self._candidates:
            self.board.update(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of models that may not be chosen; those of the final fit are shown
                self._screen()
                self._tune_the_best()
                self._resample_for_the_best()
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

    # ---- the first look

    def _screen(self) -> None:
        self.board.begin("first look")
        self._score_baseline()
        for name in self._candidates:
            is_known = bool(self.folder.journal.of("fold", model=name, fold=0, stage=DEFAULT))
            if not is_known and self.clock.elapsed > _SCREENING * self.clock.seconds and self.board.n_scored >= 3:
                self.board.update(name, status="skipped", reason="the time for a first look was up")
                continue
            self._score_fold(name, 0)
        kept = self._worth_all_folds()
        for name in kept:
            for fold in range(1, len(self.folds)):
                if self.board.get(name).status == "ok":
                    self._score_fold(name, fold)

    def _worth_all_folds(self) -> list[str]:
        """The names of the models to score on the other folds, the best first."""
        begun = [entry for entry in self.board.ranked() if entry.status == "ok"]
        left = (len(self.folds) - 1) * sum(entry.fit_seconds or 0.0 for entry in begun)
        kept = begun if left <= _ALL_FOLDS * self.clock.seconds else begun[: max(_LEAST_KEPT, len(begun) // 2)]
        for entry in begun[len(kept) :]:
            self.board.update(entry.model, reason="scored on one fold: others did better there")
        return [entry.model for entry in kept]

    def _score_baseline(self) -> None:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        model = DummyRegressor() if self.folds.problem.classes is None else DummyClassifier(strategy="prior")
        for fold in range(len(self.folds)):
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

    def _score_fold(self, name: str, fold: int) -> None:
        """Score one model, as it comes, on one fold, or take what the folder has of it."""
        if failed := self.folder.journal.of("failed", model=name, stage=DEFAULT):
            self.board.update(name, status="failed", reason=failed[-1]["reason"])
            return
        if not self.folder.journal.of("fold", model=name, fold=fold, stage=DEFAULT):
            self.board.update(name, status="running")
            try:
                self._run_fold(name, fold, DEFAULT)
            except Exception as error:
                self.board.update(name, status="failed", fold_scores=(), reason=self._failed(name, DEFAULT, error))
                return
        line, entry = self.folder.journal.of("fold", model=name, fold=fold, stage=DEFAULT)[-1], self.board.get(name)
        self.board.update(
            name,
            status="ok",
            fold_scores=(*entry.fold_scores, line["score"]),
            n_trials=max(1, entry.n_trials),
            **{key: line[key] for key in ("fit_seconds", "predict_us_per_row", "size_bytes")},
        )

    def _run_fold(self, name: str, fold: int, stage: str, params: Mapping[str, Any] | None = None) -> None:
        """Score and write down: first the predictions, then the line that says that they are there."""
        with time_cap(min(self._cap, max(self.clock.left, 1.0))):
            result = self.folds.score(self._pipeline(name, params), fold)
        if result.prediction is not None:
            self.folder.shelf.put(f"{name}-{stage}-{fold}", result.prediction)
        values = {key: value for key, value in vars(result).items() if key != "prediction"}
        self._write("fold", model=name, fold=fold, stage=stage, **values)

    def _failed(self, name: str, stage: str, error: Exception) -> str:
        return self._note_failure(name, error, model=name, stage=stage)

    # ---- tuning

    def _tune_the_best(self) -> None:
        self.board.begin("tuning")
        chosen = [entry.model for entry in self.board.complete() if self._candidates[entry.model].space][:_N_TUNED]
        for place, name in enumerate(chosen):
            until = _TUNING * self.clock.seconds - self.clock.elapsed
            if until <= 0.5 and not self.folder.journal.of("tuned", model=name):
                break
            self._tune(name, until / (len(chosen) - place))

    def _tune(self, name: str, seconds: float) -> None:
        """Tune one model within its share of the time; its trials are on disk as they finish."""
        known = self.folder.journal.of("tuned", model=name)
        if known:
            self._take_tuned(name, known[-1])
            return
        self.board.update(name, status="running")
        try:
            result = tune(
                self._pipeline(name),
                self.folds.X,
                self.folds.y,
                {f"{ESTIMATOR}__{parameter}": space for parameter, space in self._candidates[name].space.items()},
                scoring=self.folds.problem.metric.name,
                cv=self.folds.splits,
                sample_weight=self.folds.weights,
                time_limit=max(seconds, 0.5),
                n_trials=self._n_trials(name),
                storage=self.folder.trials,
                name=name,
                refit=False,
                random_state=self.settings.seed,
                on_trial=lambda trial: self.board.notify(),
            )
        except Exception as error:
            self.board.update(name, reason=f"tuning failed: {self._failed(name, TUNED, error)}")
            return
        finally:
            self.board.update(name, status="ok")
        line = {
            "params": {key.removeprefix(f"{ESTIMATOR}__"): _plain(value) for key, value in result.best_params.items()},
            "fold_scores": [float(score) for score in result.best_trial.fold_scores],
            "n_trials": len(result.trials),
        }
        self._take_tuned(name, line)
        if result.status == "interrupted":  # not written down as done: a resumed run goes on
            raise KeyboardInterrupt
        self._write("tuned", model=name, **line)

    def _n_trials(self, name: str) -> int:
        """Values that a sweep covers come for about the price of one, so that there may be many more."""
        learner = self._pipeline(name).steps[-1][1]
        swept = learner.sweep_parameters() if isinstance(learner, Sweep) else ()
        return _N_TRIALS * (1 if self._candidates[name].space.keys().isdisjoint(swept) else _N_SWEPT)

    def _take_tuned(self, name: str, line: Mapping[str, Any]) -> None:
        """Put the best of tuning on the board, if it is better than the defaults."""
        entry = self.board.get(name)
        changes: dict[str, Any] = {"n_trials": entry.n_trials + line["n_trials"]}
        if sum(line["fold_scores"]) > sum(entry.fold_scores):
            changes |= {"fold_scores": tuple(line["fold_scores"]), "params": line["params"]}
        self.board.update(name, **changes)

    # ---- resampling

    def _resample_for_the_best(self) -> None:
        """Where a class is rare, the best models once more, each fitted to resampled rows inside the folds."""
        columns = self.pipelines.report(None)
        resamplers = find_resamplers(self.folds.problem, columns, self.settings.seed)
        if not resamplers:
            return
        self.board.begin("resampling")
        for entry in self.board.complete()[:_N_RESAMPLED]:
            base = self._candidates[entry.model]
            for label, resampler in resamplers.items():
                name = f"{label} + {entry.model}"
                estimator = clone(base.estimator).set_params(**entry.params)
                self._candidates[name] = Candidate(name, estimator, resampler=resampler)
                if self.clock.elapsed <= _RESAMPLING * self.clock.seconds or self.folder.journal.of("fold", model=name):
                    self._score_resampled(name, entry)

    def _score_resampled(self, name: str, base: Entry) -> None:
        self.board.update(name, reason=f"{base.model} as it stands above, fitted to resampled rows")
        for fold in range(len(self.folds)):
            if self.board.get(name).status != "failed":
                self._score_fold(name, fold)

    # ---- blending

    def _unseen_predictions(self, entry: Entry) -> Any:
        """Predictions of every training row by fits that have not seen it; None where there are none and no time for them."""
        stage = TUNED if entry.params else DEFAULT
        for fold in range(len(self.folds)):
            if stage == TUNED and not self.folder.journal.of("fold", model=entry.model, fold=fold, stage=TUNED):
                if self.clock.left <= 0:
                    return None
                try:
                    self._run_fold(entry.model, fold, TUNED, entry.params)
                except Exception as error:
                    self._failed(entry.model, TUNED, error)
                    return None
        return self.folds.assemble(lambda fold: self.folder.shelf.get(f"{entry.model}-{stage}-{fold}"))

    def _blend_the_best(self) -> None:
        if len(self.board.complete()) < 2:
            return
        self.board.begin("blending")
        found = {entry.model: self._unseen_predictions(entry) for entry in self.board.complete()[:_N_BLENDED]}
        predictions = {name: values for name, values in found.items() if values is not None}
        if len(predictions) < 2:
            return
        blend = find_blend(self.folds, list(predictions.values()))
        self._blended = blend.held_out
        weights = {name: count for name, count in zip(predictions, blend.counts, strict=True) if count}
        if len(weights) < 2:
            self.board.update(BLEND, status="skipped", reason=f"nothing improves {next(iter(weights))}")
            return
        times = [self.board.get(name) for name in weights]
        self.board.update(
            BLEND, status="ok", fold_scores=blend.fold_scores, params={"weights": weights}, n_trials=1,
            fit_seconds=sum(entry.fit_seconds or 0.0 for entry in times),
            predict_us_per_row=sum(entry.predict_us_per_row or 0.0 for entry in times),
            size_bytes=sum(entry.size_bytes or 0 for entry in times),
            reason="a weighted mean of " + ", ".join(f"{name} ({count})" for name, count in weights.items()),
        )  # fmt: skip

    def estimator(self, name: str) -> Any:
        return self._candidates[name].estimator

    def _pipeline(self, name: str, params: Mapping[str, Any] | None = None) -> Any:
        candidate = self._candidates[name]
        return self.pipelines.make(name, candidate.estimator, params, candidate.resampler)

    # ---- the winner

    def make(self, name: str) -> Any:
        """The pipeline of a model as the board has it, not fitted."""
        entry = self.board.get(name)
        if name != BLEND:
            return self._pipeline(name, entry.params)
        weights = entry.params["weights"]
        members = [(member, self.make(member)) for member in weights]
        return make_blend(members, list(weights.values()), is_classifier=self.folds.problem.classes is not None)

    def held_out(self, name: str) -> tuple[Any, Any]:
        """Rows (places among those of training) and what fits that have not seen them predict for them.

        What the search left out is made here.

        Nothing of that is written down: where tuning was interrupted, a resumed run may find other parameters.
        """
        rows = self.folds.held
        if name == BLEND:
            return rows, self._blended[rows]
        entry = self.board.get(name)
        stage = TUNED if entry.params else DEFAULT
        is_settled = stage == DEFAULT or bool(self.folder.journal.of("tuned", model=name))

        def of_fold(fold: int) -> Any:
            known = self.folder.shelf.get(f"{name}-{stage}-{fold}") if is_settled else None
            return self.folds.score(self.make(name), fold).prediction if known is None else known

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they say the same as those of the final fit
            found = self.folds.assemble(of_fold)
        return rows, None if found is None else found[rows]


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it: NumPy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else value
