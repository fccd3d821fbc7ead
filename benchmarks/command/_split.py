"""A table split for a seed, as the files that all contenders read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.command._tables import TARGET, Table
from mercer._lazy import lazy_property

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Case:
    """What contenders are compared on: a split of a table and a budget."""

    table: Table
    seed: int
    seconds: float

    @property
    def label(self) -> str:
        return f"{self.table.kind}: {self.table.name}: seed {self.seed}: {self.seconds:g} s"


class Split:
    """Training and test rows in a shuffled order, so that an order among rows tells nothing, and the truth of the test rows."""

    def __init__(self, table: Table, seed: int, folder: Path) -> None:
        self.table, self.train, self.test = table, folder / "train.parquet", folder / "test.parquet"
        self._seed = seed

    @lazy_property
    def classes(self) -> list[str] | None:
        return sorted(map(str, self._frame[TARGET].unique())) if self.table.is_classification else None

    @lazy_property
    def y_test(self) -> npt.NDArray[np.float64]:
        y = self._frame[TARGET].to_numpy()[self._rows[1]]
        if self.classes is None:
            return y.astype(float)
        return np.array([self.classes.index(str(label)) for label in y], dtype=float)

    @lazy_property
    def digest(self) -> str:
        """Of columns, values and test rows: results of another version of a table are no longer this one's."""
        import pandas as pd

        parts = (" ".join(self._frame.columns).encode(), pd.util.hash_pandas_object(self._frame).to_numpy().tobytes())
        return hashlib.sha256(b"".join([*parts, self.y_test.tobytes()])).hexdigest()[:16]

    def write(self) -> None:
        """The files; the one of the test rows has no target."""
        train, test = self._rows
        _write(self._frame.iloc[train], self.train)
        _write(self._frame.iloc[test].drop(columns=[TARGET]), self.test)

    @lazy_property
    def _frame(self) -> Any:
        frame = self.table.read()
        if self.table.is_classification and frame[TARGET].dtype.kind == "f":
            frame[TARGET] = frame[TARGET].astype(int)
        return frame

    @lazy_property
    def _rows(self) -> tuple[Any, Any]:
        from sklearn.model_selection import train_test_split

        stratify = self._frame[TARGET] if self.table.is_classification else None
        rows = np.arange(len(self._frame))
        return tuple(train_test_split(rows, test_size=TEST_SHARE, random_state=self._seed, stratify=stratify))


def _write(frame: Any, path: Path) -> None:
    """By polars column by column: pandas would ask for pyarrow, which this environment does not need otherwise."""
    import polars as pl

    columns = {}
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind in "biuf":
            columns[name] = pl.Series(name, values.to_numpy(), nan_to_null=True)
        else:
            columns[name] = pl.Series(name, [None if value != value else str(value) for value in values], dtype=pl.String)
    pl.DataFrame(columns).write_parquet(path)
