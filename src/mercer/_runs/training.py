"""`train`: from a table to a folder with a tested model, its report and the script that reproduces it."""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer._labels import choose_codes, pad_classes
from mercer._report import (
    Content,
    Costs,
    Cutoff,
    Intervals,
    Learner,
    card_of,
    describe,
    describe_costs,
    describe_intervals,
    describe_sets,
    serving_of,
)
from mercer._runs.board import BASELINE, Board
from mercer._runs.candidates import check_names, find_candidates
from mercer._runs.clock import Clock
from mercer._runs.columns import as_columns
from mercer._runs.course import Start, heading, write_report
from mercer._runs.decision import Decision, best_cutoff, cost_matrix
from mercer._runs.errors import DataError, NothingTrained
from mercer._runs.fits import sample_rows
from mercer._runs.folder import RunFolder, write_whole
from mercer._runs.folds import Folds
from mercer._runs.intervals import Calibration, check_coverage
from mercer._runs.leaks.find import find_leaks
from mercer._runs.pipelines import Pipelines, certificate_of
from mercer._runs.problem import Problem, check_kinds, make_problem
from mercer._runs.profile import Profile
from mercer._runs.reading import ReadTable, read_table
from mercer._runs.sample import TrainingSample
from mercer._runs.script import write_script
from mercer._runs.search import BLEND, Search, n_folds_that_count
from mercer._runs.settings import Settings
from mercer._runs.sources import embedded_name, in_test_file, origin_of
from mercer._runs.tested import TestedRows
from mercer._weighted import fit_weighted

_WRITING = 0.5  # seconds, for the report itself
_LEAST_REPORTING = 2.0


@dataclass(frozen=True)
class Watchers:
    """Who wants to see what happens: each is called with the thing in question."""

    problem: Callable[[Problem, Settings, list[dict[str, Any]]], None] = lambda problem, settings, columns: None
    board: Callable[[Board], None] = lambda board: None
    phase: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    folder: RunFolder
    content: Content  # of the report
    is_interrupted: bool


def train(
    settings: Settings,
    path: Path,
    *,
    command: str,
    resume: bool = False,
    watch: Watchers | None = None,
    begun: float | None = None,
) -> Outcome:
    """Run all of it, or go on where an earlier run of the same folder was ended.

    `begun` is when the time began to count, by the monotonic clock; None: now.
    """
    watch, begun = watch or Watchers(), time.monotonic() if begun is None else begun
    start = Start.of(settings, path, resume=resume)
    settings, source = start.settings, start.source
    read = read_table(source, settings.file, settings.kinds)
    test = start.sources.read_test(settings, read)
    problem = make_problem(read.table, settings, read.numbers, test, (*read.alerts, *in_test_file(test)))
    check_names(settings, problem.task)
    folds = Folds(problem, settings.folds, settings.seed)
    if settings.costs is not None:
        cost_matrix(settings.costs, problem.classes)  # or an error, before anything is fitted
    check_coverage(settings, folds.n_scored)
    candidates, skipped = find_candidates(problem, settings)
    check_kinds(problem.X, settings, problem.numbers)
    report = Pipelines(problem.X[problem.train], settings).report(None)
    columns = as_columns(report, read.notes)
    if not any(column["used"] for column in columns):
        found = "; ".join(f"{column['name']}: {column['reason']}" for column in columns[:5])
        raise DataError(f"{settings.source}: no column can be learnt from. {found}.")
    folder = start.folder(problem.X.schema)
    source = start.source
    watch.problem(problem, settings, columns)
    if not folder.journal.of("began"):  # a run that goes on with more time stays with the folds that it began with
        folder.journal.add("began", at=0.0, n_folds=n_folds_that_count(folds, settings.seconds))
    board = Board(folder.journal.of("began")[0]["n_folds"], watch.board)
    clock = Clock(settings.seconds, folder.seconds_spent + time.monotonic() - begun)
    search = Search(folds, settings, folder, clock, board)
    is_whole = search.run(candidates, skipped)
    best = _choose(board, search)
    calibration = _calibrate(settings, folds, search, best, watch)
    decision, cutoff = _decide(settings, folds, search, best)
    watch.phase(f"fitting {best} on all {len(problem.train)} training rows")
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _fitted(search, best, folds, settings.seed)
    fit_seconds = time.perf_counter() - started
    for path in (
        folder.intervals,
        folder.decision,
        folder.tested_model,
    ):  # of an earlier end of the run: they may be of another model
        path.unlink(missing_ok=True)
    mercer.save(model, folder.model)
    if calibration is not None:
        calibration.write(folder.intervals)
    if decision is not None:
        decision.write(folder.decision)
    TrainingSample.of(problem, settings.seed).write(folder.sample)
    used = {column.name: column.kind for column in report if column.used}
    Profile.of(problem.rows(problem.train)[0], used, read.marks).write(folder.profile)
    made, n_rows = search.make(best), search.n_rows(best)
    is_plain = read.is_plain and (test is None or test.is_plain)
    script = write_script(
        problem,
        settings,
        source,
        made,
        embedded_name(settings),
        calibration,
        decision,
        n_rows,
        test_source=start.sources.test,
        is_plain=is_plain,
    )
    write_whole(folder.script(settings.command), script)
    content = _content(problem, settings, read, search, best, model, command, watch, decision, cutoff)
    content["intervals"] = None if calibration is None else _tested(calibration, model, problem)
    tested = TestedRows.of(problem, model, decision)
    tested.write(folder.test_rows)
    content["costs"] = None if decision is None else _costs(decision, tested, problem)
    if settings.is_refitted:
        content["refit"] = _refit(search.make(best), problem, folder, watch)
    content["card"] = card_of(content, origin_of(settings))
    content["serving"] = serving_of(path, has_probabilities=hasattr(model, "predict_proba"))
    content["warnings"] = sorted({str(warning.message) for warning in caught})
    content["seconds"] = {"search": clock.elapsed, "final fit": fit_seconds}
    return Outcome(folder, write_report(content, folder), is_interrupted=not is_whole)


def _calibrate(settings: Settings, folds: Folds, search: Search, best: str, watch: Watchers) -> Calibration | None:
    """What intervals take, where they are asked for."""
    if settings.intervals is None:
        return None
    watch.phase(f"calibrating intervals of {best}")
    rows, predicted = search.held_out(best)
    return Calibration.of(settings.intervals, folds.y[rows], predicted, folds.problem.classes, folds.weights_of(rows))


def _fitted(search: Search, best: str, folds: Folds, seed: int) -> Any:
    """The model from all training rows, or from as many as there was time for."""
    n_rows = search.n_rows(best)
    if n_rows is None:
        return fit_weighted(search.make(best), folds.X, folds.y, folds.weights)
    rows = sample_rows(folds.y, n_rows, seed, has_classes=folds.problem.classes is not None)
    return fit_weighted(search.make(best), folds.X[rows], folds.y[rows], folds.weights_of(rows))


def _decide(settings: Settings, folds: Folds, search: Search, best: str) -> tuple[Decision | None, Cutoff | None]:
    """What labels are predicted by where costs are given, and the cut-off of two classes that the page shows: out of fold."""
    classes = folds.problem.classes
    if classes is None or (settings.costs is None and len(classes) > 2):
        return None, None
    rows, predicted = search.held_out(best)
    if predicted is None:
        return None, None
    codes, weights = np.searchsorted(np.asarray(classes), folds.y[rows]), folds.weights_of(rows)
    if settings.costs is None:
        if len(np.unique(codes)) < 2:
            return None, None
        return None, Cutoff(best_cutoff(codes, predicted, weights), "best balanced accuracy")
    decision = Decision.of(cost_matrix(settings.costs, classes), codes, predicted, weights)
    return decision, None if decision.threshold is None else Cutoff(decision.threshold, "least cost")


def _costs(decision: Decision, tested: TestedRows, problem: Problem) -> Costs:
    """What the test rows cost, by this decision, by the likeliest label, and by the same label for all."""
    assert tested.probability is not None
    classes = np.asarray(problem.classes)
    true = np.searchsorted(classes, tested.true)
    return describe_costs(
        [str(label) for label in classes.tolist()],
        decision.costs,
        decision.mean_cost(true, decision.codes(tested.probability), tested.weights),
        decision.mean_cost(true, choose_codes(tested.probability, len(classes)), tested.weights),
        [decision.mean_cost(true, np.full(len(true), code), tested.weights) for code in range(len(classes))],
    )


def _refit(model: Any, problem: Problem, folder: RunFolder, watch: Watchers) -> dict[str, Any]:
    """The model once more, from all rows; the one that was tested is kept beside it."""
    n_rows = len(problem.y)
    watch.phase(f"fitting it on all {n_rows:,} rows, those of the test too")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they say the same as those of the tested model
        final = fit_weighted(model, problem.X, problem.y, problem.weights)
    shutil.copyfile(folder.model, folder.tested_model)
    mercer.save(final, folder.model)
    reading = (
        f"After the test the final model ({folder.model.name}) learned from all {n_rows:,} rows. Everything on this page is "
        f"of the model that was tested ({folder.tested_model.name}), which learned from {len(problem.train):,}."
    )
    return {"n_rows": n_rows, "tested_model": folder.tested_model.name, "reading": reading}


def _tested(calibration: Calibration, model: Any, problem: Problem) -> Intervals:
    """What the test rows, which decided nothing, say of the coverage."""
    (X, y), weights = problem.rows(problem.test), problem.weights_of(problem.test)
    if problem.classes is None:
        ends = calibration.ends(np.asarray(model.predict(X), dtype=np.float64))
        return describe_intervals(calibration.coverage, calibration.n_rows, *ends, y, problem.y[problem.train], weights)
    classes = np.asarray(problem.classes)
    places = np.searchsorted(classes, model.classes_)
    probability = pad_classes(model.predict_proba(X), places, len(classes), dtype=np.float64)  # the fit may lack some
    codes = np.searchsorted(classes, y)
    return describe_sets(calibration.coverage, calibration.n_rows, calibration.is_in(probability), codes, weights)


def _choose(board: Board, search: Search) -> str:
    """The best model that was scored on every fold, or else on as many as any."""
    if (best := search.best()) is not None:
        return best
    begun = [entry for entry in board.ranked() if entry.fold_scores and entry.status in ("ok", "interrupted")]
    if begun:
        return begun[0].model
    tried = [entry for entry in board.ranked() if entry.status == "failed"]
    if not tried:
        raise NothingTrained("the time was up before any model was scored. Give more --time.")
    first = tried[0].model
    detail = search.errors.get(first, tried[0].reason or "")
    raise NothingTrained(f"all {len(tried)} models failed. The first, {first}: {tried[0].reason}\n{detail}")


def _content(
    problem: Problem,
    settings: Settings,
    read: ReadTable,
    search: Search,
    best: str,
    model: Any,
    command: str,
    watch: Watchers,
    decision: Decision | None,
    cutoff: Cutoff | None,
) -> dict[str, Any]:
    """All that the report says."""
    board = search.board
    entry = board.get(best)
    counts = None if problem.classes is None else np.unique(problem.y, return_counts=True)[1].tolist()
    described = describe(
        model,
        *problem.rows(problem.train),
        *problem.rows(problem.test),
        task=problem.kind,
        classes=problem.classes,
        scoring=problem.metric.name,
        random_state=settings.seed,
        cv_score=entry.score,
        cv_spread=entry.spread,
        seconds=max(_LEAST_REPORTING, search.clock.left - _WRITING),
        on_phase=watch.phase,
        test_rows=problem.numbers[problem.test],
        target=settings.target,
        cutoff=cutoff,
        decide=None if decision is None else decision.codes,
        test_weights=problem.weights_of(problem.test),
        learner=Learner(search.folds.splits, search.folds.weights, is_in_time=problem.division.times is not None),
    )
    baseline = board.get(BASELINE).score
    columns = _columns_of(search, best, read)
    watch.phase("leaks")
    used = [column["name"] for column in columns if column["used"]]
    leaks = find_leaks(problem, model, used, seed=settings.seed, group=settings.group, seconds=_LEAST_REPORTING)
    alerts = [alert.to_dict() for alert in (*problem.alerts, *leaks)]
    if baseline is not None and entry.score is not None and entry.score <= baseline:
        alerts.insert(
            0, {"level": "warning", "column": None, "message": "no model does better than the baseline", "flag": None}
        )
    return {
        **heading(f"{settings.target} from {Path(settings.source).name}", command),
        "data": {
            "source": settings.source,
            "n_rows": read.table.height,
            "n_columns": read.table.width,
            "target": settings.target,
            "task": problem.kind,
            "task_reason": problem.task_reason,
            "classes": None if problem.classes is None else [str(label) for label in problem.classes],
            "class_counts": counts,
            "metric": problem.metric.to_dict(),
            "n_train": len(problem.train),
            "n_test": len(problem.test),
            "division": problem.division.in_words,
            "weights": settings.weights,
        },
        "alerts": alerts,
        "columns": columns,
        "leaderboard": board.to_list(best),
        "best": {"model": best, "params": dict(entry.params), "how": entry.reason, "certificate": certificate_of(model)},
        **described,
    }


def _columns_of(search: Search, best: str, read: ReadTable) -> list[dict[str, Any]]:
    """The same for the best model, or the first member of a blend."""
    name = best if best != BLEND else next(iter(search.board.get(BLEND).params["weights"]))
    return as_columns(search.pipelines.report(search.estimator(name)), read.notes)
