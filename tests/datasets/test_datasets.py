"""The embedded tables: complete, typed alike in every library, and of known origin."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import mercer.datasets
from mercer.datasets import Dataset, dataset_path, list_datasets, load_cars, load_dataset, load_election, load_penguins

FOLDER = Path(mercer.datasets.__file__).parent
SHAPES = {"cars": (398, 9), "election": (944, 10), "penguins": (344, 8)}
MISSING = {"cars": 6, "election": 0, "penguins": 19}
every_table = pytest.mark.parametrize("name", SHAPES)


def test_all_tables_are_listed_and_small():
    assert list_datasets() == sorted(SHAPES)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.csv")) < 400_000


@every_table
def test_a_table_names_its_target_source_and_licence(name):
    table = load_dataset(name)
    assert isinstance(table, Dataset)
    assert table.name == name
    assert table.description
    assert "http" in table.source
    assert f"`{name}.csv`" in (FOLDER / "LICENSES.md").read_text()
    assert table.licence.split()[0] in (FOLDER / "LICENSES.md").read_text()
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.name = "other"


@every_table
def test_the_file_is_plain_csv_with_the_columns_of_the_table(name):
    with dataset_path(name).open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert (len(rows), len(head)) == SHAPES[name]
    assert list(load_dataset(name, frame=None).frame) == head
    assert sum(value == "" for row in rows for value in row) == MISSING[name]


@every_table
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_hold_what_the_arrays_hold(name, library):
    frames = pytest.importorskip(library)
    plain, table = load_dataset(name, frame=None), load_dataset(name, frame=library)
    assert isinstance(table.frame, frames.DataFrame)
    assert table.frame.shape == SHAPES[name]
    X, y = table.split()
    expected_X, expected_y = plain.split()
    np.testing.assert_array_equal(y, expected_y)
    assert list(X.columns) == list(expected_X)
    for column, values in expected_X.items():
        other = X[column]
        n_missing = int(other.isna().sum()) if library == "pandas" else other.null_count()
        is_missing = np.array([value is None or value != value for value in values.tolist()])
        assert n_missing == is_missing.sum()
        if values.dtype.kind in "fi":
            np.testing.assert_array_equal(other.to_numpy().astype(float), values.astype(float))


def test_the_tables_hold_what_their_sources_say():
    penguins, cars, election = (load(frame=None) for load in (load_penguins, load_cars, load_election))
    species, counts = np.unique(penguins.frame["species"], return_counts=True)
    assert dict(zip(species, counts, strict=True)) == {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}
    assert np.isnan(cars.frame["horsepower"]).sum() == 6
    years, counts = np.unique(cars.frame["year"].astype("datetime64[Y]").astype(int) + 1970, return_counts=True)
    assert years.tolist() == list(range(1970, 1983))
    assert counts.tolist() == [29, 28, 28, 40, 27, 30, 34, 28, 36, 29, 29, 29, 31]
    assert (election.frame["vote"] == "Clinton").sum() == 551
    assert len(set(election.frame["party"])) == 7


def test_cars_are_those_of_seaborn_and_others():
    cars = load_cars(frame=None).frame
    np.testing.assert_allclose([cars["mpg"].mean(), cars["weight"].mean()], [23.514573, 2970.424623], rtol=1e-6)


def test_the_election_is_that_of_statsmodels():
    anes96 = pytest.importorskip("statsmodels.datasets").anes96.load_pandas().data
    election = load_election(frame=None).frame
    np.testing.assert_array_equal(election["age"], anes96["age"])
    np.testing.assert_array_equal(election["vote"] == "Dole", anes96["vote"] == 1)


def test_auto_takes_a_frame_library_that_is_there(monkeypatch):
    import importlib.util

    there = {"pandas"}
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: found(name) if name in there or name not in ("polars", "pandas") else None
    )
    pandas = pytest.importorskip("pandas")
    assert isinstance(load_penguins().frame, pandas.DataFrame)
    there.clear()
    assert isinstance(load_penguins().frame, dict)


def test_wrong_names_are_refused():
    with pytest.raises(
        ValueError, match="name='iris' is not an embedded table; it must be one of 'cars', 'election', 'penguins'"
    ):
        load_dataset("iris")
    with pytest.raises(ValueError, match=r"name='\.\./secret'"):
        dataset_path("../secret")
    with pytest.raises(ValueError, match="frame='numpy' is not valid"):
        load_penguins(frame="numpy")
