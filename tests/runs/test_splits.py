"""Which rows learn, test and count."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from mercer._runs.blend import find_blend
from mercer._runs.candidates import find_candidates
from mercer._runs.errors import DataError, RunError
from mercer._runs.folds import Folds
from mercer._runs.intervals import Calibration
from mercer._runs.problem import make_problem
from mercer._runs.reading import ReadTable
from mercer._runs.resampling import find_resamplers
from mercer._runs.settings import Settings
from mercer.linear_model import Ridge

N = 300


def _table(n=N, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pl.DataFrame({"x": x, "y": x + rng.normal(size=n), **columns})


def _problem(table, test=None, **options):
    return make_problem(table, Settings("table.csv", "y", **options), None, test)


def _said(problem):
    return " ".join(alert.message for alert in problem.alerts)


# ---- groups


def _are_apart(groups, problem, n_folds=5):
    train, test = groups[problem.train], groups[problem.test]
    assert not set(train) & set(test)
    splits = problem.division.folds(n_folds, 0)
    for fit, held in splits:
        assert not set(train[fit]) & set(train[held])
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(len(train)))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.75])
@pytest.mark.parametrize("is_class", [False, True])
def test_rows_of_a_group_are_never_on_both_sides(share, is_class):
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 40, N)
    table = _table(site=[f"s{group}" for group in groups])
    if is_class:
        table = table.with_columns(y=np.where(table["y"].to_numpy() > 1, "high", "low"))
    problem = _problem(table, group="site", test_size=share)
    _are_apart(groups, problem)
    assert problem.X.columns == ["x"]
    assert len(problem.test) / N == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ([1, 2, 3], {}, "3 groups are too few for a test of 0.2 of the rows and 5 folds, which takes 6"),
        ([1, None], {}, "rows 2 and 149 more have no value; every row needs a group"),
        (list(range(300)), {"group": "sight"}, "there is no such column"),
        (list(range(300)), {"group": "y"}, "is the target already"),
        (list(range(300)), {"weights": "site"}, "is what --group names already"),
        (list(range(300)), {"time_column": "x"}, "--time-column x: it must be without --no-time and without --group"),
    ],
)
def test_groups_that_cannot_be_are_refused(groups, options, message):
    table = _table(site=groups * (N // len(groups)))
    with pytest.raises(RunError, match=message):
        _problem(table, **{"group": "site", **options})


# ---- time


def _days(n=N):
    return [datetime.date(2020, 1, 1) + datetime.timedelta(days=day) for day in range(n)]


def test_rows_in_time_are_learnt_from_before_they_are_tested_on():
    place = np.random.default_rng(0).permutation(N)
    problem = _problem(_table(day=_days())[place], time_column="day")
    assert problem.X["day"].is_sorted()
    np.testing.assert_array_equal(problem.X["day"].to_numpy(), np.array(_days(), dtype="datetime64[D]"))
    np.testing.assert_array_equal(problem.numbers, np.argsort(place) + 1)
    np.testing.assert_array_equal(problem.train, np.arange(240))
    np.testing.assert_array_equal(problem.test, np.arange(240, N))
    splits = problem.division.folds(5, 0)
    ends = [fit[-1] for fit, _ in splits]
    assert ends == [199, 159, 119, 79, 39]  # the first look is at the one that learns from most
    for fit, held in splits:
        np.testing.assert_array_equal(fit, np.arange(held[0]))
    assert splits[0][1][-1] == 239


def test_rows_of_one_time_stay_together():
    times = np.sort(np.random.default_rng(0).integers(0, 30, N))
    problem = _problem(_table(week=times), time_column="week")
    for before, after in [(problem.train, problem.test), *problem.division.folds(5, 0)]:
        assert times[before].max() < times[after].min()
    assert len(problem.test) == pytest.approx(0.2 * N, abs=12)
    with pytest.raises(RunError, match="of one time"):
        _problem(_table(week=[3] * N), time_column="week")
    with pytest.raises(RunError, match="too unevenly spread"):
        _problem(_table(week=[1] * 200 + list(range(2, 102))), time_column="week")


def test_a_series_is_divided_forward_unless_that_is_refused():
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=N)) + np.arange(N) / 10
    table = _table(day=_days()).with_columns(y=y)
    problem = _problem(table)
    assert problem.division.kind == "time"
    assert problem.division.order.column == "day"
    assert problem.claims.forward < 0 < 0.9 < problem.claims.at_random
    said = _said(problem)
    assert "of the target's variance lies between parts of the time" in said
    assert f"it would claim {problem.claims.at_random:.3f}" in said
    refused = _problem(table, is_timeless=True)
    assert refused.division.kind == "random"
    assert refused.claims is None
    asked = _problem(table, time_column="ROWS")
    np.testing.assert_array_equal(asked.test, problem.test)
    assert asked.division.order.evidence is None
    assert "day" in problem.X.columns
    assert "day" not in _problem(table, drop=("day",), time_column="day").X.columns


def test_an_order_in_the_file_that_flatters_nothing_divides_nothing():
    y = np.cumsum(np.random.default_rng(0).normal(size=N))
    noise = pl.DataFrame({"x": np.random.default_rng(1).normal(size=N), "y": y - y.mean()})
    problem = _problem(noise)
    assert problem.division.kind == "random" or problem.claims.at_random > problem.claims.forward
    trend = noise.with_columns(row=np.arange(N) + 0.5)
    assert _problem(trend).division.kind == "time"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b", "c"], "values such as a, b are no times"),
        ([1.0, None, 2.0], "rows 2 and 99 more have no value; every row needs a time"),
        ([1.0, float("inf"), 2.0], "row 2 has no finite time"),
        (["01/02/2020", "03/04/2020", "05/06/2020"], "are no times"),  # days or months first?
    ],
)
def test_what_is_no_time_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        _problem(_table(when=values * 100), time_column="when")


def test_classes_that_a_part_of_the_time_lacks_are_refused_or_pass_for_no_order():
    y = np.where(np.arange(N) < 200, "early", "late")
    table = _table(day=_days()).with_columns(y=y)
    with pytest.raises(RunError, match="fold 1 of 1 holds out rows of the class 'late' alone"):
        _problem(table, time_column="day")
    problem = _problem(table)
    assert problem.division.kind == "random"
    assert "cannot be divided by it" in _said(problem)


# ---- weights


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, -2.0, 1.0], "row 2 has the weight -2"),
        ([1.0, 1.0, float("inf")], "row 3 has the weight inf"),
        ([None, 1.0, 2.0], "rows 1 and 99 more have no value; every row needs a weight"),
        ([0.0, 0.0, 0.0], "every weight of the rows is zero"),
        (["a", "b", "c"], "no numbers"),
    ],
)
def test_weights_that_are_none_are_refused_with_their_row(values, message):
    with pytest.raises(DataError, match=message):
        _problem(_table(w=values * 100), weights="w")


def test_weights_count_in_fits_and_scores_as_repeated_rows_do():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, N)
    weighted = _problem(_table(w=weights), weights="w", metric="rmse", is_timeless=True)
    assert weighted.X.columns == ["x"]
    folds = Folds(weighted, 5, 0)
    train, test = folds.splits[0]
    found = folds.score(Ridge(), 0)
    rows, held = np.repeat(train, folds.weights[train].astype(int)), np.repeat(test, folds.weights[test].astype(int))
    repeated = Ridge().fit(folds.X[rows].to_numpy(), folds.y[rows])
    errors = folds.y[held] - repeated.predict(folds.X[held].to_numpy())
    assert found.score == pytest.approx(-np.sqrt(np.mean(errors**2)))


def test_models_that_take_no_weights_are_passed_over_and_rows_are_not_resampled():
    y = ["rare"] * 20 + ["common"] * 280
    problem = _problem(_table(w=[1.0] * N).with_columns(y=pl.Series(y)), weights="w")
    settings = Settings("table.csv", "y", weights="w")
    found, skipped = find_candidates(problem, settings)
    names = {model.name for model in found}
    assert {"LogisticRegression", "RandomForestClassifier", "HistGradientBoostingClassifier"} <= names
    reasons = {model.name: model.reason for model in skipped}
    assert "--weights" in reasons["KNeighborsClassifier"]
    assert not find_resamplers(problem, [], 0)


def test_a_measure_without_weights_is_refused():
    with pytest.raises(RunError, match="--metric neg_max_error: this measure takes no weights"):
        _problem(_table(w=[1.0] * N), weights="w", metric="neg_max_error")


def test_equal_weights_calibrate_as_none_and_whole_ones_as_repeated_rows():
    rng = np.random.default_rng(0)
    y, held_out = rng.normal(size=(2, 99))
    for coverage in (0.5, 0.8, 0.9, 0.95):
        plain = Calibration.of(coverage, y, held_out, None)
        assert Calibration.of(coverage, y, held_out, None, np.full(99, 2.5)) == plain
        assert Calibration.of(coverage, np.r_[y, 9.0], np.r_[held_out, 0.0], None, np.r_[np.ones(99), 0.0]) == plain
    heavy = np.where(np.abs(y - held_out) > 1, 5.0, 1.0)
    assert Calibration.of(0.5, y, held_out, None, heavy).limit > Calibration.of(0.5, y, held_out, None).limit


# ---- a file of test rows


def _with_test(table, test, **options):
    return _problem(table, ReadTable(test, np.arange(1, test.height + 1)), test_file="test.csv", **options)


def test_rows_of_a_test_file_teach_nothing_and_all_others_learn():
    table = _table()
    test = _table(50).select("y", "x").with_columns(more=pl.lit(1))
    problem = _with_test(table, test)
    np.testing.assert_array_equal(problem.train, np.arange(N))
    np.testing.assert_array_equal(problem.test, np.arange(N, N + 50))
    np.testing.assert_array_equal(problem.numbers[problem.test], np.arange(1, 51))
    np.testing.assert_array_equal(problem.y[problem.test], test["y"].to_numpy())
    assert problem.X.columns == ["x"]


def test_columns_of_a_test_file_are_read_as_those_that_learn():
    table = _table(whole=range(N), word=[f"0{n % 3}" for n in range(N)], gone=[1] * N)
    test = _table(50).with_columns(whole=pl.lit(0.5), word=pl.lit("01"))
    problem = _with_test(table, test, drop=("gone",), time_column="whole")
    assert problem.X["whole"].dtype == pl.Float64
    np.testing.assert_array_equal(problem.train, np.arange(N))
    with pytest.raises(DataError, match=r"there is no column 'gone', as table\.csv has"):
        _with_test(table, test)
    with pytest.raises(DataError, match=r"column 'whole' holds 'x' in row 1; in table\.csv its values are of the type Int64"):
        _with_test(table.drop("gone"), test.with_columns(whole=pl.lit("x")))


def test_classes_and_groups_of_a_test_file_are_checked():
    table = _table(site=np.arange(N) % 30).with_columns(y=pl.Series(["a", "b", "c"] * 100))
    test = table.head(20).with_columns(site=pl.lit(99))
    assert _with_test(table, test, group="site").division.kind == "groups"
    with pytest.raises(DataError, match=r"20 rows of test\.csv are of groups that learn, the first in row 1"):
        _with_test(table, table.head(20), group="site")
    strange = test.with_columns(y=pl.when(pl.int_range(20) > 16).then(pl.lit("new")).otherwise(pl.col("y")))
    with pytest.raises(DataError, match=r"3 rows are of classes that no two rows of table\.csv have, the first in row 18"):
        _with_test(table, strange)
    with pytest.raises(DataError, match="no row has a known target"):
        _with_test(table, test.with_columns(y=pl.lit(None, dtype=pl.String)))


# ---- what is not held out


def test_in_time_the_earliest_rows_are_never_held_out_and_a_blend_does_without_them():
    rng = np.random.default_rng(0)
    folds = Folds(_problem(_table(day=_days(), w=rng.integers(1, 4, N)), time_column="day", weights="w"), 5, 0)
    np.testing.assert_array_equal(folds.held, np.arange(folds.splits[-1][1][0], 240))
    rows = np.concatenate([test for _, test in folds.splits])
    parts = np.split(np.arange(len(rows)), np.cumsum([len(test) for _, test in folds.splits])[:-1])
    blend = find_blend([folds.y[rows] + 0.1, folds.y[rows] + 2.0], parts, lambda values, at: folds.score_of(values, rows[at]))
    assert blend.counts[1] == 0
    np.testing.assert_allclose(blend.held_out, folds.y[rows] + 0.1)
