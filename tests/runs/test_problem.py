"""What is to be learnt: the task, the measure, the rows, and what a careful analyst would notice."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from mercer._runs.errors import DataError, RunError
from mercer._runs.metric import choose_metric
from mercer._runs.problem import make_problem
from mercer._runs.settings import Settings

RNG = np.random.default_rng(0)
N = 300


def _problem(target, **options):
    table = pl.DataFrame({"x": RNG.normal(size=len(target)), "y": target})
    return make_problem(table, Settings("table.csv", "y", **options))


@pytest.mark.parametrize(
    ("target", "kind", "metric"),
    [
        (["no", "yes"] * 150, "binary", "roc_auc"),
        ([True, False] * 150, "binary", "roc_auc"),
        ([0, 1] * 150, "binary", "roc_auc"),
        ([0.0, 1.0] * 150, "binary", "roc_auc"),
        (["a", "b", "c"] * 100, "multiclass", "accuracy"),
        (["a"] * 250 + ["b"] * 40 + ["c"] * 10, "multiclass", "balanced_accuracy"),
        (list(range(N)), "regression", "r2"),
        (RNG.normal(size=N).tolist(), "regression", "r2"),
    ],
)
def test_the_task_and_the_measure_follow_from_the_target(target, kind, metric):
    problem = _problem(target)
    assert (problem.kind, problem.metric.name) == (kind, metric)
    assert problem.task_reason
    assert problem.metric.reason
    assert len(problem.test) == round(0.2 * len(target))
    assert not set(problem.train) & set(problem.test)


def test_the_user_may_choose_otherwise():
    assert _problem(list(range(5)) * 60, task="regression").kind == "regression"
    assert _problem([0, 1] * 150, metric="accuracy").metric.name == "accuracy"
    problem = _problem(RNG.normal(size=N).tolist(), metric="rmse")
    assert problem.metric.name == "neg_root_mean_squared_error"
    assert problem.metric.shown(-3.0) == 3.0


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        ([1] * N, {}, DataError, "one value only"),
        ([None] * N, {}, DataError, "every value of the target 'y' is missing"),
        (["a", "b"], {}, DataError, "too few"),
        ([f"text {number}" for number in range(N)], {}, DataError, "too many to be classes"),
        (["a", "b"] * 150, {"task": "regression"}, RunError, "--task regression"),
        (RNG.normal(size=N).tolist(), {"task": "classification"}, RunError, "--task classification"),
        (["a", "b"] * 150, {"metric": "rmse"}, RunError, "--metric neg_root_mean_squared_error cannot be computed"),
        (["a", "b"] * 150, {"metric": "acuracy"}, RunError, "accuracy"),
        (["a", "b"] * 150, {"drop": ("z",)}, RunError, "--drop z"),
        (["a", "b"] * 150, {"drop": ("y",)}, RunError, "the target"),
        (["a", "b"] * 150, {"kinds": {"z": "text"}}, RunError, "--kind z"),
        (["a", "b"] * 150, {"drop": ("x",)}, DataError, "only column"),
    ],
)
def test_what_cannot_be_learnt_is_refused_with_why(target, options, error, message):
    with pytest.raises(error, match=message):
        _problem(target, **options)


def test_a_target_that_is_not_there_is_asked_for_with_what_is():
    table = pl.DataFrame({"Price": [1.0] * 20, "x": [1.0] * 20})
    with pytest.raises(DataError, match="Did you mean 'Price'"):
        make_problem(table, Settings("table.csv", "price"))
    with pytest.raises(DataError, match="The columns are 'Price', 'x'"):
        make_problem(table, Settings("table.csv", "cost"))


def test_rows_without_a_target_and_lone_classes_are_left_out_and_said():
    problem = _problem(["a", "b"] * 150 + [None] * 7 + ["c"])
    assert len(problem.y) == N
    assert problem.lone == ("c",)
    said = " ".join(alert.message for alert in problem.alerts)
    assert "missing in 7 rows" in said
    assert "single row" in said
    numbers = RNG.normal(size=N)
    numbers[3], numbers[5] = np.nan, np.inf
    assert len(_problem(numbers.tolist()).y) == N - 2


def test_rows_keep_the_numbers_that_they_have_in_their_file():
    problem = _problem([None, "c", *["a", "b"] * 150, None])
    np.testing.assert_array_equal(problem.numbers, np.arange(3, N + 3))
    table = pl.DataFrame({"x": RNG.normal(size=N), "y": [math.nan, *RNG.normal(size=N - 1)]})
    problem = make_problem(table, Settings("table.csv", "y"), 10 * np.arange(N))
    np.testing.assert_array_equal(problem.numbers, 10 * np.arange(1, N))


def _alerts(table, **options):
    return " ".join(
        f"{alert.column} {alert.message}" for alert in make_problem(table, Settings("t.csv", "y", **options)).alerts
    )


def test_alerts_name_what_is_odd():
    y = np.arange(N) % 2
    x = RNG.normal(size=N)
    mostly_missing = [1.0 if number % 10 == 0 else None for number in range(N)]
    table = pl.DataFrame({"x": x, "leak": np.where(y == 1, "sold", "open"), "holes": mostly_missing, "y": y})
    said = _alerts(table)
    assert "leak this column alone tells 100.0% of the target" in said
    assert "holes 90% of the values are missing" in said
    assert "x this column" not in said
    rare = pl.DataFrame({"x": x, "y": ["rare"] * 3 + ["common"] * (N - 3)})
    assert "'rare' has" in _alerts(rare)
    assert "rows repeat others" in _alerts(pl.DataFrame({"x": np.arange(N) % 5, "y": RNG.normal(size=N)}))
    assert "few" in _alerts(pl.DataFrame({"x": x[:50], "y": RNG.normal(size=50)}))
    assert "more columns" in _alerts(
        pl.DataFrame({f"x{j}": RNG.normal(size=20) for j in range(30)} | {"y": RNG.normal(size=20)})
    )
    assert "symmetric" in _alerts(pl.DataFrame({"x": x, "y": np.exp(3 * RNG.normal(size=N))}))
    doubled = pl.DataFrame({"x": x, "twice": 2.0 * x, "y": x * 1.0})
    assert "twice this column alone tells 100.0%" in _alerts(doubled)


def test_a_clean_table_has_no_alerts():
    clean = pl.DataFrame({"a": RNG.normal(size=1000), "b": RNG.normal(size=1000), "y": RNG.integers(0, 2, size=1000)})
    assert _alerts(clean) == ""


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"task": "clustering"}, "--task clustering"),
        ({"seconds": 0.0}, "--time"),
        ({"model_seconds": -1.0}, "--model-time"),
        ({"folds": 1}, "--folds 1"),
        ({"test_size": 1.0}, "--test-size 1.0"),
        ({"seed": -1}, "--seed -1"),
    ],
)
def test_settings_out_of_range_are_refused_by_their_flag(options, flag):
    with pytest.raises(RunError, match=flag):
        Settings("t.csv", "y", **options)


def test_settings_survive_a_trip_through_json():
    import json

    settings = Settings("t.csv", "y", models=("a", "b"), kinds={"x": "text"}, drop=("z",))
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    with pytest.raises(RunError, match="another version"):
        Settings.from_dict({**settings.to_dict(), "novel": 1})


def test_the_measure_of_unequal_classes_is_balanced():
    assert choose_metric(None, "classification", [100, 100, 100]).name == "accuracy"
    assert choose_metric(None, "classification", [100, 100, 10]).name == "balanced_accuracy"
