"""The embedded tables: what each is, where its file is, and its columns as arrays."""

from __future__ import annotations

import csv
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Columns = dict[str, npt.NDArray[Any]]
_FOLDER = Path(__file__).parent / "data"
_FRAMES = ("auto", "polars", "pandas", None)


@dataclass(frozen=True)
class Dataset:
    """A table with a column to predict.

    Attributes
    ----------
    name : str
        What `load_dataset` calls it.
    frame : polars DataFrame, pandas DataFrame or dict of arrays
        All columns, the target among them.
    target : str
        The name of the column to predict.
    description, licence, source : str
        What the table is about, on what terms it may be used, and where it comes from.
    """

    name: str
    frame: Any
    target: str
    description: str
    licence: str
    source: str

    def split(self) -> tuple[Any, npt.NDArray[Any]]:
        """The table without the target, and the target as an array."""
        if isinstance(self.frame, Mapping):
            rest = {name: values for name, values in self.frame.items() if name != self.target}
            return rest, self.frame[self.target]
        target = self.frame[self.target].to_numpy()
        is_pandas = hasattr(self.frame, "iloc")
        rest = self.frame.drop(columns=self.target) if is_pandas else self.frame.drop(self.target)
        return rest, np.asarray(target)


@dataclass(frozen=True)
class Entry:
    """What is known of a table without reading it."""

    target: str
    description: str
    licence: str
    source: str
    dates: tuple[str, ...] = ()


ENTRIES: dict[str, Entry] = {
    "cars": Entry(
        target="mpg",
        description="398 cars of the years 1970 to 1982: fuel consumption in miles per gallon, by engine, weight, year, origin "
        "and name. Regression, with six unknown values of horsepower.",
        licence="CC BY 4.0",
        source="R. Quinlan (1993), Auto MPG, UCI Machine Learning Repository, https://doi.org/10.24432/C5859H",
        dates=("year",),
    ),
    "election": Entry(
        target="vote",
        description="944 voters before the American election of 1996: whom they will vote for, Clinton or Dole, by party, age, "
        "income (24 steps), education (7 steps), population of the place in thousands, days a week with TV news, and where "
        "from 1 (left) to 7 (right) they see themselves and the candidates. Two classes.",
        licence="public domain",
        source="American National Election Studies 1996, http://www.electionstudies.org/",
    ),
    "penguins": Entry(
        target="species",
        description="344 penguins of three species on three islands of the Palmer Archipelago: bill, flipper, mass, sex, year. "
        "Three classes, with missing values.",
        licence="CC0 1.0",
        source="K. Gorman, T. Williams, W. Fraser (2014), PLoS ONE 9(3): e90081, https://doi.org/10.1371/journal.pone.0090081",
    ),
}


def list_datasets() -> list[str]:
    """The names of the embedded tables.

    Examples
    --------
    >>> from mercer.datasets import list_datasets
    >>> list_datasets()
    ['cars', 'election', 'penguins']
    """
    return sorted(ENTRIES)


def dataset_path(name: str) -> Path:
    """The file of an embedded table: CSV, UTF-8, a header, empty fields for missing values.

    Examples
    --------
    >>> from mercer.datasets import dataset_path
    >>> dataset_path("penguins").name
    'penguins.csv'
    """
    _entry(name)
    return _FOLDER / f"{name}.csv"


def load_dataset(name: str, *, frame: str | None = "auto") -> Dataset:
    """An embedded table by its name.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.
    frame : {"auto", "polars", "pandas"} or None, default="auto"
        What the table is given as. None: a dict of NumPy arrays, with NaN, NaT or None for missing values. "auto": polars if it
        is installed, otherwise pandas, otherwise the dict.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from mercer.datasets import load_dataset
    >>> cars = load_dataset("cars", frame=None)
    >>> cars.target, round(float(cars.frame["mpg"].mean()), 2)
    ('mpg', 23.51)
    """
    entry = _entry(name)
    if frame not in _FRAMES:
        raise ValueError(f"frame={frame!r} is not valid; it must be 'auto', 'polars', 'pandas' or None.")
    columns = _read(_FOLDER / f"{name}.csv", entry.dates)
    return Dataset(name, _as_frame(columns, frame), entry.target, entry.description, entry.licence, entry.source)


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        raise ValueError(f"name={name!r} is not an embedded table; it must be one of {', '.join(map(repr, list_datasets()))}.")
    return ENTRIES[name]


def _read(path: Path, dates: tuple[str, ...]) -> Columns:
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {name: _typed(values, name in dates) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def _typed(values: tuple[str, ...], is_date: bool) -> npt.NDArray[Any]:
    """Whole numbers, numbers, dates or words, whichever holds all values."""
    if is_date:
        return np.array([value or "NaT" for value in values], dtype="datetime64[D]")
    for read in (_integers, _floats):
        try:
            return read(values)
        except ValueError:
            continue
    return np.array([value or None for value in values], dtype=object)


def _integers(values: tuple[str, ...]) -> npt.NDArray[Any]:
    return np.array([int(value) for value in values], dtype=np.int64)


def _floats(values: tuple[str, ...]) -> npt.NDArray[Any]:
    return np.array([float(value) if value else np.nan for value in values], dtype=np.float64)


def _as_frame(columns: Columns, frame: str | None) -> Any:
    if frame == "auto":
        frame = next((library for library in ("polars", "pandas") if importlib.util.find_spec(library) is not None), None)
    if frame is None:
        return columns
    try:
        library = importlib.import_module(frame)
    except ImportError as error:
        raise ImportError(
            f"frame={frame!r} needs {frame}: pip install {frame} (polars also: pip install 'mercer[cli]'), or set frame=None."
        ) from error
    if frame == "polars":
        return library.DataFrame(columns, nan_to_null=True)
    return library.DataFrame(columns)


def load_cars(*, frame: str | None = "auto") -> Dataset:
    """398 cars and their fuel consumption (`mpg`): regression with a date, names, an origin and missing values.

    Parameters as in `load_dataset`.

    Examples
    --------
    >>> from mercer.datasets import load_cars
    >>> X, y = load_cars(frame=None).split()
    >>> list(X), y.shape
    (['cylinders', 'displacement', 'horsepower', 'weight', 'acceleration', 'year', 'origin', 'name'], (398,))
    """
    return load_dataset("cars", frame=frame)


def load_election(*, frame: str | None = "auto") -> Dataset:
    """944 American voters of 1996 and whom they will vote for (`vote`): two classes.

    Parameters as in `load_dataset`.

    Examples
    --------
    >>> from mercer.datasets import load_election
    >>> X, y = load_election(frame=None).split()
    >>> sorted(set(y)), len(X)
    (['Clinton', 'Dole'], 9)
    """
    return load_dataset("election", frame=frame)


def load_penguins(*, frame: str | None = "auto") -> Dataset:
    """344 penguins and their species (`species`): three classes, with categories and missing values.

    Parameters as in `load_dataset`.

    Examples
    --------
    >>> from mercer.datasets import load_penguins
    >>> X, y = load_penguins(frame=None).split()
    >>> sorted(set(y)), len(X)
    (['Adelie', 'Chinstrap', 'Gentoo'], 7)
    """
    return load_dataset("penguins", frame=frame)
