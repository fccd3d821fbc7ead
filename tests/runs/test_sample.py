"""The training rows that a run keeps."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from mercer._runs.errors import RunError
from mercer._runs.problem import make_problem
from mercer._runs.sample import TrainingSample
from mercer._runs.settings import Settings


def _problem(n_rows, kind="class"):
    random = np.random.default_rng(0)
    columns = {
        "row": random.normal(size=n_rows),  # names that the file has of its own
        "target": [None if i % 7 == 0 else f"word {i % 5}" for i in range(n_rows)],
        "columns": [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 900) for i in range(n_rows)],
        "flag": random.random(n_rows) < 0.5,
        "y": random.choice(["a", "b"], n_rows) if kind == "class" else random.normal(size=n_rows),
    }
    table = pl.DataFrame(columns)
    return make_problem(table, Settings("table.csv", "y"), np.arange(1, n_rows + 1) * 2), table


@pytest.mark.parametrize("kind", ["class", "number"])
def test_rows_come_back_as_they_were(tmp_path, kind):
    problem, table = _problem(100, kind)
    sample = TrainingSample.of(problem, 0)
    sample.write(tmp_path / "rows.parquet")
    found = TrainingSample.read(tmp_path / "rows.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    assert found.X.equals(problem.X[problem.train])
    assert found.X.schema == problem.X.schema
    assert found.n_train == len(problem.train)
    np.testing.assert_array_equal(found.y, problem.y[problem.train])
    assert found.X["columns"].to_list() == table["columns"].gather(found.numbers // 2 - 1).to_list()


def test_of_many_rows_a_sample_is_kept_that_the_seed_decides():
    problem, _ = _problem(4000)
    first, again, other = (TrainingSample.of(problem, seed) for seed in (0, 0, 1))
    assert len(first.numbers) == len(np.unique(first.numbers)) == 2000
    assert first.n_train == len(problem.train) > 2000
    assert np.all(np.diff(first.numbers) > 0)
    np.testing.assert_array_equal(first.numbers, again.numbers)
    assert not np.array_equal(first.numbers, other.numbers)
    assert set(first.numbers // 2 - 1) <= set(problem.train)


def test_a_damaged_file_is_one_clear_line(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"rows\.parquet: the file is damaged"):
        TrainingSample.read(tmp_path / "rows.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(RunError, match=r"rows\.parquet: the file is damaged"):
        TrainingSample.read(tmp_path / "rows.parquet")
