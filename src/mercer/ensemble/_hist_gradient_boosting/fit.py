"""One call of fit: rounds of boosting with early stopping, and rounds again on all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._base import FitTask, run_solver
from mercer._trace import Certificate, Outcome, Record, Status
from mercer._trees.categories import CategoryCoder
from mercer._trees.store import TreeStore
from mercer.ensemble._boosting.certificate import FALL, IMPROVEMENT, boosting_certificate
from mercer.ensemble._boosting.stages import NO_STAGES, Stages
from mercer.ensemble._hist_gradient_boosting.bins import bin_rows
from mercer.ensemble._hist_gradient_boosting.constraints import Groups
from mercer.ensemble._hist_gradient_boosting.objectives import Objective
from mercer.ensemble._hist_gradient_boosting.rounds import Rounds
from mercer.ensemble._hist_gradient_boosting.stopping import N_SCORED, Data, HeldOut, Monitor, Scorer, Split
from mercer.metrics import check_scoring


@dataclass(frozen=True)
class Plan:
    """What all rounds of a fit have in common."""

    params: SimpleNamespace
    coder: CategoryCoder
    directions: npt.NDArray[np.int8] | None
    groups: Groups | None
    seed: int
    n_threads: int


@dataclass(frozen=True)
class Earlier:
    """An earlier fit to go on from."""

    trees: TreeStore
    baseline: FloatArray
    n_iter: int
    history: list[dict[str, float]]
    train_score: list[float]
    validation_score: list[float]


@dataclass(frozen=True)
class Result:
    attributes: dict[str, Any]
    outcome: Outcome
    best_n_iter: int


class BoostingFit:
    """Runs rounds for an estimator. `fixed` are the attributes that no round changes."""

    def __init__(
        self,
        estimator: Any,
        plan: Plan,
        objective: Objective,
        fixed: dict[str, Any],
        names: Callable[[FloatArray], npt.NDArray[Any]],
        earlier: Earlier | None,
    ) -> None:
        self._estimator, self._plan, self._objective = estimator, plan, objective
        self._fixed, self._names, self._earlier = fixed, names, earlier

    def run(self, task: FitTask, split: Split, *, is_early: bool, max_iter: int, stages: Stages = NO_STAGES) -> Result:
        """Boost on the training rows of a split, with early stopping or without."""
        plan, earlier, data = self._plan, self._earlier, split.train
        objective = self._objective.on(data.y, data.weights)
        baseline = objective.start(plan.n_threads) if earlier is None else earlier.baseline
        raw = np.ascontiguousarray(self._raw_of(data.X, baseline).T)
        monitor = self._monitor(split, baseline) if is_early else None
        rounds = Rounds(
            bin_rows(data.X, data.weights, plan.coder, max_bins=plan.params.max_bins, seed=plan.seed, n_threads=plan.n_threads),
            objective,
            raw,
            plan.params,
            directions=plan.directions,
            groups=plan.groups,
            seed=plan.seed,
            n_features=data.X.shape[1],
            n_done=0 if earlier is None else earlier.n_iter,
            monitor=monitor,
            n_threads=plan.n_threads,
        )
        if monitor is not None and not monitor.scores:
            monitor.observe(None, raw, rounds.loss)
        return self._boost(task, rounds, baseline, max_iter, stages)

    def refit(self, task: FitTask, all_rows: Data, searched: Result) -> Result:
        """Boost again, on all rows, for as many rounds as were best; the scores are those of the search."""
        fresh = BoostingFit(self._estimator, self._plan, self._objective, self._fixed, self._names, None)
        result = fresh.run(task, Split(all_rows, None), is_early=False, max_iter=searched.best_n_iter)
        scores = {name: searched.attributes[name] for name in ("train_score_", "validation_score_", "best_n_iter_")}
        certificate = replace(searched.outcome.certificate, primal=result.outcome.certificate.primal)
        return Result({**result.attributes, **scores}, replace(result.outcome, certificate=certificate), searched.best_n_iter)

    def _boost(self, task: FitTask, rounds: Rounds, baseline: FloatArray, max_iter: int, stages: Stages) -> Result:
        earlier, params = self._earlier, self._plan.params

        def attributes() -> dict[str, Any]:
            return self._attributes(rounds, baseline)

        def stage(history: list[Record]) -> dict[str, Any]:
            status = Status.CONVERGED if rounds.is_done else Status.MAX_ITER
            return {**attributes(), "history_": history, "certificate_": _certificate(rounds, status, params.tol)}

        most = max_iter - (0 if earlier is None else earlier.n_iter)
        run_task = task.subtask("run", n_subtasks=most)
        watched = stages.over(rounds, stage)
        status, history = run_solver(watched, run_task, max_iter=most, verbose=params.verbose, fitted=attributes)
        run_task.end(attributes)
        history = [*([] if earlier is None else earlier.history), *history]
        best = len(history) if rounds.monitor is None else rounds.monitor.best_n_iter
        return Result(attributes(), Outcome(_certificate(rounds, status, params.tol), history), best)

    def _attributes(self, rounds: Rounds, baseline: FloatArray) -> dict[str, Any]:
        store, monitor, earlier = rounds.trees.store(), rounds.monitor, self._earlier
        if earlier is not None:
            store = TreeStore.join([earlier.trees, store])
        return {
            **self._fixed,
            "_trees": store,
            "_baseline": baseline,
            "n_iter_": len(store) // self._objective.n_outputs,
            "best_n_iter_": len(store) // self._objective.n_outputs if monitor is None else monitor.best_n_iter,
            "train_score_": np.array([] if monitor is None else monitor.train),
            "validation_score_": np.array([] if monitor is None else monitor.validation),
        }

    def _raw_of(self, X: FloatArray, baseline: FloatArray) -> FloatArray:
        """The predictions to go on from, a line for each row."""
        raw = np.tile(baseline, (X.shape[0], 1))
        if self._earlier is not None:
            raw += self._earlier.trees.sum_leaves(X, n_groups=len(baseline), n_threads=self._plan.n_threads)
        return raw

    def _monitor(self, split: Split, baseline: FloatArray) -> Monitor:
        params, test = self._plan.params, split.test
        held_out = None
        if test is not None:
            held_out = HeldOut(test.X, self._raw_of(test.X, baseline), self._objective.on(test.y, test.weights))
        scored = np.arange(len(split.train.y))
        score_train = score_held_out = None
        if params.scoring != "loss":
            if len(scored) > N_SCORED:
                scored = np.sort(np.random.RandomState(self._plan.seed).choice(scored, N_SCORED, replace=False))
            score = check_scoring(self._estimator, params.scoring)
            score_train = Scorer(self._estimator, self._fixed, score, split.train.rows(scored), self._names)
            if test is not None:
                score_held_out = Scorer(self._estimator, self._fixed, score, test, self._names)
        monitor = Monitor(
            held_out,
            scored,
            score_train,
            score_held_out,
            tol=params.tol,
            n_iter_no_change=params.n_iter_no_change,
            n_threads=self._plan.n_threads,
        )
        if self._earlier is not None:
            monitor.recall(self._earlier.train_score, self._earlier.validation_score)
        return monitor


def _certificate(rounds: Rounds, status: Status, tol: float) -> Certificate:
    """Where early stopping ended, or how fast the loss still fell."""
    method = "second-order boosting of trees on histograms"
    if rounds.monitor is None:
        return boosting_certificate(method, status, rounds.loss, FALL, rounds.fall, tol)
    return boosting_certificate(method, status, rounds.loss, IMPROVEMENT, rounds.monitor.improvement, tol)
