"""What a model may have learnt that it will not know of new rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from mercer._runs.leaks.alone import told_alone
from mercer._runs.leaks.find import find_leaks
from mercer._runs.leaks.repeats import repeats_of
from mercer._runs.leaks.target import Target
from mercer._runs.problem import make_problem
from mercer._runs.settings import Settings
from mercer.datasets import list_datasets, load_dataset

N = 600


def _rng():
    return np.random.default_rng(0)


def _leaks(table, *, group=None, used=None, task=None):
    problem = make_problem(table, Settings("t.csv", "y", task=task))
    X, y = problem.rows(problem.train)
    model = (DummyRegressor() if problem.classes is None else DummyClassifier(strategy="prior")).fit(np.zeros((len(y), 1)), y)
    return find_leaks(problem, model, used or X.columns, seed=0, group=group, seconds=60.0)


def _flags(found):
    return [alert.flag for alert in found]


@pytest.mark.parametrize("name", list_datasets())
def test_the_tables_that_come_with_mercer_have_no_leaks(name):
    data = load_dataset(name, frame="polars")
    assert _leaks(data.frame.rename({data.target: "y"})) == []


@pytest.mark.parametrize("n_classes", [None, 2, 5])
def test_noise_has_no_leaks(n_classes):
    rng = _rng()
    table = pl.DataFrame({f"c{i}": rng.normal(size=N) for i in range(12)} | {"w": rng.choice(list("abcdef"), N)})
    y = rng.normal(size=N) if n_classes is None else rng.integers(0, n_classes, N).astype(str)
    assert _leaks(table.with_columns(y=pl.Series(y), count=pl.Series(rng.poisson(5, N)))) == []


def test_a_continuous_column_that_tells_the_classes_alone_is_found_before_the_search():
    rng = _rng()
    y = rng.integers(0, 2, N)
    table = pl.DataFrame({"score": y + 0.1 * rng.normal(size=N), "x": y + rng.normal(size=N), "y": y})
    said = [alert for alert in make_problem(table, Settings("t.csv", "y")).alerts if "alone tells" in alert.message]
    assert [(alert.column, alert.flag) for alert in said] == [("score", "--drop score")]
    assert _leaks(table) == []  # it is not said twice


@pytest.mark.parametrize("is_words", [False, True])
def test_what_tells_nothing_of_new_rows_tells_nothing(is_words):
    rng = _rng()
    unique = rng.permutation(N).astype(float)  # each value once: by heart it would tell all
    for y, classes in ((rng.integers(0, 3, N), [0, 1, 2]), (rng.normal(size=N), None)):
        assert told_alone(unique, Target.of(y, classes), is_words=is_words) < 0.1


def test_any_shape_and_gaps_are_told():
    rng = _rng()
    x = rng.normal(size=4 * N)
    gappy = np.where(x > 1.5, np.nan, x)
    assert told_alone(gappy, Target.of(np.where((np.abs(x) > 1), "out", "in"), ["in", "out"]), is_words=False) > 0.98
    assert told_alone(x, Target.of(np.exp(9 * x), None), is_words=False) == pytest.approx(1)
    words = rng.integers(0, 40, 4 * N).astype(float)
    assert told_alone(words, Target.of(words % 3, [0.0, 1.0, 2.0]), is_words=True) == 1
    assert told_alone(np.full(N, np.nan), Target.of(x[:N], None), is_words=True) < 0.01


@pytest.mark.parametrize(
    ("formula", "words", "flag"),
    [
        (lambda c: c[1] + c[4], "c1 + c4 gives", "--drop c1 --drop c4"),
        (lambda c: c[2] - c[7], "c2 - c7 gives", "--drop c2 --drop c7"),
        (lambda c: 2.5 * c[0] - c[3] + c[5] - 7, "2.5 x c0 - c3 + c5 gives", "--drop c0 --drop c3 --drop c5"),
    ],
)
def test_sums_that_give_the_target_are_found(formula, words, flag):
    columns = _rng().normal(size=(9, N))
    table = pl.DataFrame({f"c{i}": column for i, column in enumerate(columns)}).with_columns(y=pl.Series(formula(columns)))
    found = _leaks(table)
    assert _flags(found) == [flag]
    assert words in found[0].message


def test_sums_that_come_near_are_no_sums():
    columns = _rng().normal(size=(5, N))
    table = pl.DataFrame({f"c{i}": column for i, column in enumerate(columns)})
    assert (
        _leaks(table.with_columns(y=pl.Series(columns[0] + columns[1] + 0.05 * np.random.default_rng(5).normal(size=N)))) == []
    )


def test_a_difference_that_tells_who_won_is_found():
    home, away = _rng().poisson(3, (2, N))
    table = pl.DataFrame({"home": home, "away": away, "y": np.where(home > away, "won", "not")})
    found = _leaks(table)
    assert found[0].flag == "--drop home --drop away"
    assert "home - away tells" in found[0].message


def test_columns_that_were_filled_in_afterwards_are_found_by_their_gaps():
    rng = _rng()
    survived = rng.random(N) < 0.4
    boat = np.where(survived & (rng.random(N) < 0.9), "A", None)
    body = np.where(~survived & (rng.random(N) < 0.2), 5.0, np.nan)
    both = np.where(survived ^ (rng.random(N) < 0.02), "x", None)
    plain = np.where(rng.random(N) < 0.5, "z", None)
    table = pl.DataFrame({"boat": boat, "body": body, "both": both, "plain": plain, "y": survived.astype(int)})
    found = {alert.column: alert for alert in _leaks(table.with_columns(pl.col("body").fill_nan(None)))}
    assert found.keys() == {"boat", "body", "both"}
    assert "all of them with the target 1" in found["boat"].message
    assert "all of them with the target 0" in found["body"].message
    assert "whether it is missing tells" in found["both"].message
    assert found["boat"].flag == "--drop boat"


def test_gaps_where_a_number_is_always_the_same_are_found():
    rng = _rng()
    claimed = rng.random(N) < 0.3
    table = pl.DataFrame({"day": np.where(claimed, rng.integers(1, 30, N).astype(float), np.nan), "y": claimed * rng.random(N)})
    found = _leaks(table.with_columns(pl.col("day").fill_nan(None), x=pl.Series(rng.normal(size=N))))
    assert [alert.column for alert in found] == ["day"]
    assert "missing in" in found[0].message
    assert "with the target 0:" in found[0].message


def test_numberings_are_found_and_measurements_are_not():
    rng = _rng()
    ids = rng.permutation(2 * N)[:N] + 1000
    table = pl.DataFrame({"id": ids, "people": (np.exp(12 + rng.normal(size=N))).astype(int), "y": rng.normal(size=N)})
    found = _leaks(table)
    assert _flags(found) == ["--drop id"]
    assert "a whole number of its own" in found[0].message
    assert _leaks(table, used=["people"]) == []  # a column that the model does not use is no matter


@pytest.mark.parametrize("is_words", [False, True])
def test_a_key_under_which_the_target_is_the_same_is_found(is_words):
    rng = _rng()
    person = rng.integers(0, 60, N)
    key = pl.Series([f"p{i}" for i in person]) if is_words else pl.Series(person)
    table = pl.DataFrame({"person": key, "x": rng.normal(size=N), "y": rng.integers(0, 2, 60)[person]})
    found = _leaks(table)
    assert [(alert.column, alert.flag) for alert in found] == [("person", "--group person")]
    assert _leaks(table, group="person") == []
    amounts = table.with_columns(y=pl.Series(rng.normal(size=60)[person] + 0.01 * rng.normal(size=N)))
    assert _flags(_leaks(amounts)) == ["--group person"]


def test_a_number_whose_order_tells_the_target_is_no_key():
    rng = _rng()
    age = rng.integers(20, 80, N)
    assert _leaks(pl.DataFrame({"age": age, "y": age + 3 * rng.normal(size=N), "x": rng.normal(size=N)})) == []


def test_repeated_rows_are_counted_with_their_target():
    train = pl.DataFrame({"a": [1, 1, 2, 3, 3], "b": ["x", "x", "y", None, None], "id": [1, 2, 3, 4, 5]})
    test = pl.DataFrame({"a": [1, 2, 2, 3, 4], "b": ["x", "y", "y", None, "x"], "id": [6, 7, 8, 9, 10]})
    found = repeats_of(train, [0, 1, 1, 0, 0], test, [0, 1, 0, 0, 0], ["a", "b"])
    assert found.is_repeated.tolist() == [True, True, True, True, False]
    assert (found.n, found.n_same, found.n_other, found.n_both) == (4, 2, 1, 1)


def test_repeated_test_rows_are_told_with_the_score_without_them():
    rng = _rng()
    table = pl.DataFrame({"x": np.round(rng.normal(size=N), 2), "z": np.round(rng.normal(size=N), 2)})
    table = table.with_columns(y=pl.Series(rng.integers(0, 3, N).astype(str)))
    twice = pl.concat([table, table[: N // 2]])
    found = next(alert for alert in _leaks(twice) if "test rows of" in alert.message)
    assert found.level == "warning"
    assert "with the same target, 0 with another, 0 with both; without them accuracy is" in found.message
    assert not any("test rows of" in alert.message for alert in _leaks(table))
