"""Files of predictions: written piece by piece, whole or not at all."""

from __future__ import annotations

import weakref

import polars as pl
import pytest

from mercer._runs.errors import RunError
from mercer._runs.outputs import write_tables

SUFFIXES = (".csv", ".parquet", ".pq")


def _table(number):
    return pl.DataFrame({"key": [number, number + 1], "prediction": ["ü", None], "probability_a": [0.25, 1e-300]})


def _read(path):
    return pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("n_tables", [1, 30])
def test_pieces_become_one_file_in_their_order(tmp_path, suffix, n_tables):
    out = tmp_path / f"out{suffix}"
    tables = [_table(10 * number) for number in range(n_tables)]
    assert write_tables(iter(tables), out) == 2 * n_tables
    assert _read(out).equals(pl.concat(tables))
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pieces_are_not_kept(tmp_path, suffix):
    made = []

    def tables():
        for number in range(20):
            table = _table(number)
            made.append(weakref.ref(table))
            assert sum(known() is not None for known in made) <= 2  # this one, and the one before that the writer may hold yet
            yield table

    assert write_tables(tables(), tmp_path / f"out{suffix}") == 40


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("exists", [False, True])
def test_a_writing_that_is_broken_off_leaves_all_as_it_was(tmp_path, suffix, error, exists):
    def tables():
        yield _table(0)
        yield _table(1)
        raise error

    out = tmp_path / f"out{suffix}"
    if exists:
        out.write_text("before")
    with pytest.raises(error):
        write_tables(tables(), out)
    assert [path.read_text() for path in tmp_path.iterdir()] == (["before"] if exists else [])


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"])
def test_a_joining_that_is_broken_off_leaves_nothing(tmp_path, monkeypatch, error):
    def sink(self, path, **options):
        path.write_text("half")
        raise error

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", sink)
    with pytest.raises((RunError, KeyboardInterrupt)):
        write_tables(iter([_table(0)]), tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_not_there_is_named(tmp_path, suffix):
    with pytest.raises(RunError, match=r"--out .*nowhere.*No such file or directory"):
        write_tables(iter([_table(0)]), tmp_path / "nowhere" / f"out{suffix}")
