"""New rows beside those of training: their types, and what is otherwise."""

from __future__ import annotations

import datetime
import json

import numpy as np
import polars as pl
import pytest

from mercer._runs.errors import DataError, RunError
from mercer._runs.new_rows import TrainingTypes
from mercer._runs.profile import Profile, Watch

KINDS = {"x": "number", "city": "category", "day": "date", "is_new": "boolean", "code": "category"}
N = 300


def _training(rng):
    return pl.DataFrame(
        {
            "x": rng.normal(size=N).clip(-2, 2).round(3),
            "city": rng.choice(["Köln", "Oslo", "Paris"], N),
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 30, N)],
            "is_new": rng.random(N) < 0.5,
            "code": rng.integers(1, 4, N),
        }
    )


@pytest.fixture
def table():
    return _training(np.random.default_rng(0))


def _types(table, marks=None):
    return TrainingTypes({name: str(kind) for name, kind in table.schema.items()}, KINDS, marks or {}, "point", ("", "NA"))


def _seen(table, new, marks=None, is_stored_in=None):
    """The typed rows, and what is said of them."""
    profile = Profile.of(table, KINDS, marks or {})
    if is_stored_in is not None:
        profile.write(is_stored_in)
        profile = Profile.read(is_stored_in)
    watch, pieces = Watch(profile), []
    for start in range(0, new.height, 50):
        piece = new[start : start + 50]
        numbers = np.arange(start + 1, start + 1 + piece.height)
        rows, columns, strange = _types(table, marks).typed(piece, numbers, "new.csv")
        watch.see(columns, strange)
        pieces.append(rows)
    return pl.concat(pieces), {alert.column: alert.message for alert in watch.alerts()}


def _as_texts(table):
    return table.with_columns(pl.all().cast(pl.String))


@pytest.mark.parametrize("written", [lambda table: table, _as_texts])
def test_the_rows_of_training_come_back_in_its_types_and_nothing_is_said(table, written, tmp_path):
    rows, said = _seen(table, written(table), is_stored_in=tmp_path / "profile.json")
    assert said == {}
    assert rows.equals(table.with_columns(pl.col("code").cast(float)))


def test_texts_that_are_nothing_of_the_kind_are_missing_and_counted(table):
    new = _as_texts(table).with_columns(
        x=pl.when(pl.int_range(N) == 60).then(pl.lit("1..5")).otherwise("x"),
        day=pl.when(pl.int_range(N).is_in([3, 70])).then(pl.lit("2024-02-31")).otherwise("day"),
        is_new=pl.when(pl.int_range(N) == 7).then(pl.lit("maybe")).otherwise("is_new"),
    )
    rows, said = _seen(table, new)
    assert rows["x"][60] is rows["day"][3] is rows["day"][70] is rows["is_new"][7] is None
    assert sum(rows.null_count().row(0)) == 4
    assert said["x"] == "1 value is no number: '1..5' in row 61; taken as missing"
    assert said["day"] == "2 values are not a date: '2024-02-31' in rows 4 and 71; taken as missing"
    assert said["is_new"] == "1 value is not true or false: 'maybe' in row 8; taken as missing"


@pytest.mark.parametrize(
    ("column", "value"), [("x", "long"), ("day", "soon"), ("is_new", "maybe"), ("x", datetime.date(2024, 1, 1)), ("x", np.inf)]
)
def test_a_column_that_is_mostly_something_else_is_refused_with_its_first_row(table, column, value):
    shown = value if isinstance(value, str) else ""
    with pytest.raises(DataError, match=rf"new.csv: column '{column}' is not what it was in training.*{shown}.* in rows 1, 2"):
        _seen(table, table.with_columns(pl.lit(value).alias(column)))


def test_numbers_are_read_as_they_were_written_in_training(table):
    new = _as_texts(table).with_columns(x=pl.Series(["1.234,50 €"] * N))
    rows, _ = _seen(table, new, {"x": "comma"})
    assert rows["x"].unique().to_list() == [1234.5]
    plain = _as_texts(table).with_columns(x=pl.Series(["$1,200"] * N))
    assert _seen(table, plain)[0]["x"].unique().to_list() == [1200.0]


def test_what_training_never_saw_is_counted(table, tmp_path):
    new = table.with_columns(
        city=pl.when(pl.int_range(N) < 3).then(pl.lit("Rom")).when(pl.int_range(N) == 3).then(pl.lit("Bern")).otherwise("city"),
        x=pl.when(pl.int_range(N) == 9).then(5.0).when(pl.int_range(N) == 10).then(-3.5).otherwise("x"),
        day=pl.when(pl.int_range(N) == 9).then(datetime.date(2025, 1, 1)).otherwise("day"),
        code=pl.when(pl.int_range(N) == 9).then(9).otherwise("code"),
    )
    _, said = _seen(table, new, is_stored_in=tmp_path / "profile.json")
    assert said["city"] == "4 of 300 rows have a category that training had not: 'Rom' (3), 'Bern' (1)"
    assert said["code"] == "1 of 300 rows has a category that training had not: '9' (1)"
    low, high = table["x"].min(), table["x"].max()
    assert said["x"].startswith("2 of 300 rows have a value out of the range of training")
    assert said["x"].endswith(f"to {high:.0f}: 1 below, down to \u22123.50; 1 above, up to 5")
    assert low == -2
    assert "1 above, up to 2025-01-01" in said["day"]


def test_drift_is_said_and_chance_is_not():
    quiet, loud = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table, new = _training(rng), _training(rng)
        quiet += [words for words in _seen(table, new)[1].values() if "distributed" in words]
        moved = new.with_columns(x=pl.lit(rng.normal(1.5, 0.3, N).clip(-2, 2)), city=pl.Series(rng.choice(["Köln", "Oslo"], N)))
        loud += [words for words in _seen(table, moved)[1].values() if "distributed" in words]
    assert len(quiet) <= 1
    assert len(loud) == 40
    assert "of the values are at most" in loud[0]
    assert "in training" in loud[1]


def test_more_missing_values_than_in_training_are_said(table):
    new = table.with_columns(x=pl.when(pl.int_range(N) % 2 == 0).then("x"))
    assert _seen(table, new)[1]["x"] == "missing in 50% of the rows, in training in 0%"


def test_a_damaged_profile_is_refused_and_none_says_nothing(table, tmp_path):
    path = tmp_path / "profile.json"
    assert Profile.read(path) == Profile()
    Profile.of(table, KINDS, {}).write(path)
    stored = json.loads(path.read_text())
    for damaged in ("", "[]", json.dumps({**stored, "format": 9}), json.dumps({**stored, "columns": {"x": {"size": 1}}})):
        path.write_text(damaged)
        with pytest.raises(RunError, match=r"profile\.json: "):
            Profile.read(path)
