"""Rare classes: resamplers are tried inside the folds, and never touch a row that is predicted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from mercer._runs.folds import Folds
from mercer._runs.pipelines import ESTIMATOR, PREPARER, RESAMPLER, Pipelines
from mercer._runs.problem import make_problem
from mercer._runs.resampling import find_resamplers
from mercer._runs.settings import Settings
from mercer.neighbors import KNeighborsClassifier
from tests.command.driver import run_json

RNG = np.random.default_rng(0)


def make_table(n=400, share=0.06, **columns):
    is_rare = np.arange(n) < share * n
    numbers = {name: RNG.normal(size=n) + is_rare for name in ("a", "b")}
    return pl.DataFrame({**numbers, **columns, "y": np.where(is_rare, "rare", "usual")})


def found(table):
    settings = Settings("table.csv", "y")
    problem = make_problem(table, settings)
    return find_resamplers(problem, Pipelines(problem.X[problem.train], settings).report(None), 0)


def test_resamplers_are_found_where_a_class_is_rare():
    assert list(found(make_table())) == ["RandomOverSampler", "SMOTE"]
    assert found(make_table(share=0.3)) == {}
    assert found(make_table(n=100, share=0.05)) == {}  # too few to make others of
    assert list(found(make_table(words=RNG.choice(["x", "y", "z"], 400)))) == ["RandomOverSampler"]
    numbers = pl.DataFrame({"a": RNG.normal(size=100), "y": RNG.normal(size=100)})
    assert found(numbers) == {}


@pytest.mark.parametrize("name", ["SMOTE", "RandomOverSampler"])
def test_a_fold_is_scored_as_it_is_by_a_model_of_resampled_others(name):
    table, settings = make_table(), Settings("table.csv", "y")
    problem = make_problem(table, settings)
    folds, resampler = Folds(problem, 5, 0), found(table)[name]
    model = KNeighborsClassifier(3)
    pipeline = Pipelines(folds.X, settings).make("k-NN", model, {"n_neighbors": 5}, resampler)
    assert list(pipeline.named_steps) == [PREPARER, RESAMPLER, ESTIMATOR]
    result = folds.score(pipeline, 2)
    train, test = folds.splits[2]
    preparer = clone(pipeline.named_steps[PREPARER])
    rows, y = clone(resampler).fit_resample(preparer.fit_transform(folds.X[train]), folds.y[train])
    assert len(y) > len(train)
    fitted = KNeighborsClassifier(5).fit(rows, y)
    unseen = preparer.transform(folds.X[test])
    assert result.score == folds.problem.metric.score(fitted, unseen, folds.y[test])
    assert (result.prediction == fitted.predict_proba(unseen)).all()


@pytest.mark.slow  # it wants time enough for two models, whatever else the machine does
def test_the_board_has_neighbours_and_the_best_models_on_resampled_rows(tmp_path):
    make_table().write_csv(tmp_path / "table.csv")
    options = ("--models", "kneighbors,logistic", "--time", "20s", "--out", "run")
    summary = run_json("train", "table.csv", "--target", "y", *options, cwd=tmp_path)
    entries = {entry["model"]: entry for entry in summary["leaderboard"]}
    assert entries["KNeighborsClassifier"]["status"] == "ok"
    assert len(entries["KNeighborsClassifier"]["fold_scores"]) == 5
    resampled = [name for name in entries if name.startswith(("SMOTE + ", "RandomOverSampler + "))]
    assert len(resampled) == 4  # two resamplers, the two best models
    assert all(entries[name]["status"] == "ok" and len(entries[name]["fold_scores"]) == 5 for name in resampled)
