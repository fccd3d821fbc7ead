"""The search of `mercer train`, in its parts."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from mercer._runs import fits, learner, search as whole
from mercer._runs.board import Board
from mercer._runs.candidates import Candidate, find_candidates
from mercer._runs.clock import Clock
from mercer._runs.fits import Fitter, sample_rows
from mercer._runs.folder import RunFolder
from mercer._runs.folds import Folds
from mercer._runs.learner import Learner
from mercer._runs.pipelines import Pipelines
from mercer._runs.portfolio import Outlook
from mercer._runs.problem import make_problem
from mercer._runs.search import Search, n_folds_that_count
from mercer._runs.settings import Settings
from mercer._runs.trial import Trial
from mercer._runs.walk import Box, Walk
from mercer._tuning import Choices, Integers, Reals
from mercer.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from mercer.linear_model import Ridge


def table_of(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return pl.DataFrame({**dict(zip("abc", X.T, strict=True)), "y": X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)})


def problem_of(table, **options):
    settings = Settings("table.csv", "y", **options)
    return make_problem(table, settings), settings


def search_in(path, table=None, n_folds=3, **options):
    problem, settings = problem_of(table_of() if table is None else table, **{"seconds": 10_000.0, **options})
    folds = Folds(problem, n_folds, 0)
    folder = RunFolder.begin(path, settings, "", {}) if not path.exists() else RunFolder.existing(path)
    return Search(folds, settings, folder, Clock(settings.seconds), Board(n_folds, lambda board: None))


def boosting():
    settings = ({"learning_rate": 0.2, "max_leaf_nodes": 6}, {"learning_rate": 0.3, "max_leaf_nodes": 15})
    return Candidate(
        "HistGradientBoostingRegressor",
        HistGradientBoostingRegressor(random_state=0, min_samples_leaf=5),
        Outlook(1, settings, {}, {"early_stopping": False, "max_iter": 300}),
    )


def test_a_fit_finds_its_number_of_rounds_by_looks_on_its_way():
    problem, settings = problem_of(table_of())
    folds = Folds(problem, 3, 0)
    candidate = boosting()
    model = Pipelines(folds.X, settings).make("h", candidate.estimator, {**candidate.outlook.fixed, "learning_rate": 0.3})
    found = Fitter(folds, 0).fit(model, 0, seconds=100.0)
    rounds = [seen.point["max_iter"] for seen in found.seen]
    assert rounds == sorted(rounds)
    assert rounds[-1] < 300  # it got no better, and was ended
    best = found.best
    train = folds.splits[0][0]
    again = model.set_params(estimator__max_iter=best.point["max_iter"]).fit(folds.X[train], folds.y[train])
    np.testing.assert_allclose(again.predict(folds.X[folds.splits[0][1]]), best.prediction, rtol=1e-10)
    assert found.scores[tuple(best.point.items())] == pytest.approx(folds.score(again, 0).score)


def test_what_a_late_fit_had_come_to_is_scored(monkeypatch):
    problem, settings = problem_of(table_of(2000))
    folds = Folds(problem, 3, 0)
    model = Pipelines(folds.X, settings).make("h", HistGradientBoostingRegressor(early_stopping=False, max_iter=1_000_000))
    monkeypatch.setattr(fits, "_GRACE", 1e9)  # no alarm: the fit itself looks at the time
    found = Fitter(folds, 0).fit(model, 0, seconds=1e-6)
    assert found.is_cut
    assert [seen.point for seen in found.seen] == [{"max_iter": 1}]


def test_a_model_on_few_rows_sees_every_class():
    y = np.repeat(["a", "b", "c"], [500, 499, 1])
    rows = sample_rows(y, 20, 0, has_classes=True)
    assert set(y[rows]) == {"a", "b", "c"}
    assert len(rows) <= 23


def test_settings_and_points_are_the_same_thing():
    space = {"rate": Reals(0.01, 1.0, log=True), "leaves": Integers(2, 64, log=True), "kind": Choices("x", "y", None)}
    box = Box(space)
    for settings in ({"rate": 0.1, "leaves": 8, "kind": None}, {"rate": 0.01, "leaves": 64, "kind": "x"}):
        assert box.settings(box.point(settings, {})) == settings


def test_a_walk_comes_down_to_the_best_settings():
    walk = Walk(Box({"a": Reals(0.0, 1.0), "b": Reals(1e-4, 1.0, log=True)}), [0.9, 0.9], (0,))

    def loss(settings):
        return (settings["a"] - 0.3) ** 2 + 0.1 * (np.log10(settings["b"]) + 2) ** 2

    best, n_trials = np.inf, 0
    while not walk.is_over:
        found = loss(walk.propose())
        walk.tell(is_better=found < best)
        best, n_trials = min(best, found), n_trials + 1
    assert best < 0.01
    assert n_trials < 120


def test_a_killed_search_goes_on_with_the_trials_that_are_left(tmp_path, monkeypatch):
    monkeypatch.setitem(learner._MOST_TRIALS, 1, 6)
    space = {"max_leaf_nodes": Integers(3, 30)}
    candidate = boosting()
    candidate = Candidate(
        candidate.name, candidate.estimator, Outlook(1, candidate.outlook.settings, space, candidate.outlook.fixed)
    )
    one = search_in(tmp_path / "one")
    assert one.run([candidate], [])
    lines = [json.loads(line) for line in (tmp_path / "one" / "journal.jsonl").read_text().splitlines()]
    kept = [line for line in lines if line["kind"] == "trial"]
    assert len(kept) == 6
    two = search_in(tmp_path / "two")
    for line in kept[:3]:
        two.folder.journal.add(**line)
    for path in one.folder.shelf.folder.iterdir():
        (two.folder.shelf.folder / path.name).write_bytes(path.read_bytes())
    assert two.run([candidate], [])
    again = [line for line in two.folder.journal.of("trial")]
    assert [(line["number"], line["params"], list(line["fold_scores"])) for line in again] == [
        (line["number"], line["params"], line["fold_scores"]) for line in kept
    ]
    assert two.board.get(candidate.name).params == one.board.get(candidate.name).params


def test_a_model_that_fails_on_more_rows_stays_with_fewer():
    candidate = Candidate("Ridge", Ridge(), Outlook(1, space={}, first_rows=100))
    ridge = Learner(candidate, 10_000, 1, 0)
    assert ridge.propose(1000.0).n_rows == 100
    ridge.tell(Trial("Ridge", 0, {}, 100, "ok", (0.5,), 0.1))
    assert ridge.propose(1000.0).n_rows == 400
    ridge.tell(Trial("Ridge", 1, {}, 400, "failed", (), 9.0, reason="time: not done after 9 s"))
    assert ridge.is_over
    assert ridge.best is not None
    assert ridge.best.n_rows == 100


def test_models_that_would_be_too_large_are_not_chosen(tmp_path):
    search = search_in(tmp_path / "run", max_size=20_000)
    forest = Candidate("ExtraTreesRegressor", ExtraTreesRegressor(100, random_state=0), Outlook(1, space={}))
    assert search.run([forest, Candidate("Ridge", Ridge(), Outlook(1, space={}))], [])
    assert [entry.model for entry in search.board.complete()] == ["Ridge"]
    assert "--max-size" in search.board.get("ExtraTreesRegressor").reason


def test_one_fold_counts_where_there_is_much_to_fit_in_little_time():
    folds = Folds(problem_of(table_of())[0], 4, 0)
    assert n_folds_that_count(folds, 60.0) == 4
    assert n_folds_that_count(folds, 0.01) == 1


def test_the_strongest_models_come_first_and_counts_get_poisson():
    table = table_of().with_columns(y=pl.Series(np.random.default_rng(0).poisson(3.0, size=300)).cast(pl.Float64))
    problem, settings = problem_of(table, task="regression")
    candidates, _ = find_candidates(problem, settings)
    assert candidates[0].name == "HistGradientBoostingRegressor"
    assert candidates[0].space["loss"].values == ("squared_error", "poisson")
    tiers = [candidate.outlook.tier for candidate in candidates]
    assert tiers == sorted(tiers)


def test_what_a_search_leaves_out_says_why(tmp_path):
    search = search_in(tmp_path / "run", n_folds=3)
    assert search.run([Candidate("Ridge", Ridge(), Outlook(1, space={}))], [])
    assert search.board.get("Ridge").status == "ok"
    assert whole.BLEND not in [entry.model for entry in search.board]


def test_of_equals_a_much_smaller_model_is_kept_and_a_blend_only_where_it_is_better(tmp_path, monkeypatch):
    search = search_in(tmp_path / "run")
    forest = Candidate("ExtraTreesRegressor", ExtraTreesRegressor(20, random_state=0), Outlook(1, space={}))
    assert search.run([forest, Candidate("Ridge", Ridge(), Outlook(1, space={}))], [])
    assert search.board.complete()[0].model != "Ridge"  # the target is a product
    monkeypatch.setattr(search, "_is_blend_better", False)
    assert search.best() == "ExtraTreesRegressor"
    monkeypatch.setattr(search, "_is_tied", lambda name, other: True)
    assert search.best() == "Ridge"
    monkeypatch.setattr(search, "_is_blend_better", True)
    assert search.best() == whole.BLEND
