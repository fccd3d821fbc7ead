"""The search: proposals are scored side by side, and what is finished goes into the ledger at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from mercer._trace import log
from mercer.model_selection._tune.candidates import Candidate, Combination
from mercer.model_selection._tune.ledger import Ledger
from mercer.model_selection._tune.proposals import Proposals
from mercer.model_selection._tune.scores import FoldScore, make_trial
from mercer.model_selection._tune.trial import Trial, best_of
from mercer.model_selection._tune.workers import Workers

SearchStatus = Literal["finished", "time limit", "stopped", "interrupted"]


class Fits(Protocol):
    """How candidates are fitted and scored."""

    n_ahead: int  # combinations a worker in one round, so that few wait at its end

    def run(
        self, batches: Sequence[Sequence[Candidate]], workers: Workers
    ) -> AbstractContextManager[Iterator[list[list[FoldScore]] | None]]:
        """For each batch, in order, the scores of its candidates on each fold; None where the time was over before."""


@dataclass
class Search:
    """One search: proposals, a ledger, and fits, each of which knows nothing of the others."""

    proposals: Proposals
    ledger: Ledger
    fits: Fits
    workers: Workers
    names: Sequence[str]  # of the scorers
    error_score: float
    on_trial: Callable[[Trial], Any] | None = None
    verbose: int = 0
    trials: dict[int, Trial] = field(default_factory=dict)
    first_error: tuple[int, Exception] | None = None
    best_model: tuple[int, Any] | None = None  # number of its trial, and the model fitted on all rows

    def run(self) -> SearchStatus:
        """Until the proposals end, the time is over, `on_trial` says stop, or Ctrl-C with something finished."""
        try:
            while combinations := self.proposals.ask(self._width()):
                if (status := self._score(combinations)) is not None:
                    return status
        except KeyboardInterrupt:
            if not self.trials:
                raise
            return "interrupted"
        return "finished"

    def _width(self) -> int:
        return 1 if self.workers.n_workers == 1 else self.fits.n_ahead * self.workers.n_workers

    def _score(self, combinations: Sequence[Combination]) -> SearchStatus | None:
        """Score the combinations, in order, and tell about them; why the search ends with them, if it does."""
        missing = self._missing(combinations)
        with self.fits.run(missing, self.workers) as scored:
            for combination, candidates, by_fold in zip(combinations, missing, scored, strict=True):
                if by_fold is None:
                    return "time limit"
                trials = self._recorded(combination, candidates, by_fold)
                for twin in combination.candidates:
                    self._is_known(twin)
                if any([self._is_last(trial) for trial in trials]):  # every finished trial is told
                    return "stopped"
                self.proposals.tell(combination, [self.trials[one.number] for one in combination.candidates])
        return None

    def _missing(self, combinations: Sequence[Combination]) -> list[list[Candidate]]:
        """The candidates of each combination that are to be scored: a point that comes twice, only where it comes first."""
        keys: set[str] = set()
        missing = []
        for combination in combinations:
            left = [one for one in combination.candidates if one.key not in keys and not self._is_known(one)]
            keys.update(one.key for one in left)
            missing.append(left)
        return missing

    def _is_known(self, candidate: Candidate) -> bool:
        """Whether the candidate's point was scored, now or in an earlier process; if so, its trial is among ours."""
        if candidate.number not in self.trials and (trial := self.ledger.find(candidate)) is not None:
            self.trials[candidate.number] = trial
        return candidate.number in self.trials

    def _recorded(
        self, combination: Combination, candidates: Sequence[Candidate], by_fold: Sequence[Sequence[FoldScore]]
    ) -> list[Trial]:
        trials = []
        for place, candidate in enumerate(candidates):
            folds = [scores[place] for scores in by_fold]
            trial, error = make_trial(candidate, folds, self.names, self.error_score)
            self.ledger.add(combination, candidate, trial)
            self.trials[trial.number] = trial
            trials.append(trial)
            if error is not None and (self.first_error is None or trial.number < self.first_error[0]):
                self.first_error = trial.number, error
            self._keep_best(trial, folds[0].model)
        return trials

    def _keep_best(self, trial: Trial, model: Any) -> None:
        """Hold on to the model of the best trial so far, where there is one fitted on all rows."""
        if model is not None and trial.is_ranked and best_of(list(self.trials.values())) is trial:
            self.best_model = trial.number, model

    def _is_last(self, trial: Trial) -> bool:
        """Tell about a finished trial; True if the search is to stop."""
        if self.verbose:
            result = trial.error or f"{self.names[0]} {trial.score:.6g} (spread {trial.spread:.2g})"
            if trial.status == "stopped":
                result += f", stopped at {trial.n_spent}"
            params = ", ".join(f"{name}={value!r}" for name, value in trial.params.items())
            log(self.verbose, "tune: trial %d, %s: %s", trial.number, params or "parameters as they are", result)
        return self.on_trial is not None and self.on_trial(trial) is True
