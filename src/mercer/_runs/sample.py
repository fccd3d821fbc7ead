"""Training rows that stay in the folder of a run: what its predictions are explained against.

A run is explained wherever its folder lies, with or without the file that it learnt from. So the folder holds a sample of the
training rows, as they were in the file: a Parquet file with the number of each row in its file, its target, and its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._runs.errors import RunError
from mercer._runs.problem import Problem

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS = 2000
_MOST_CELLS = 4_000_000  # of very broad tables fewer rows are kept,
_LEAST_ROWS = 200  # but no fewer than these
_NUMBER, _TARGET, _COLUMNS = "row", "target", "columns"  # the columns are nested, so that no name of theirs meets the others


@dataclass(frozen=True)
class TrainingSample:
    """Some of the rows that a model was fitted to."""

    X: pl.DataFrame
    y: Any
    numbers: npt.NDArray[np.intp]  # of the rows in their file
    n_train: int  # of how many rows these are a sample

    @classmethod
    def of(cls, problem: Problem, seed: int) -> TrainingSample:
        """Rows drawn by the seed, in the order of the file."""
        train = problem.train
        n_rows = min(len(train), max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_CELLS // problem.X.width)))
        chosen = np.sort(np.random.default_rng([seed, len(train)]).permutation(train)[:n_rows])
        return cls(*problem.rows(chosen), np.asarray(problem.numbers)[chosen], len(train))

    def write(self, path: Path) -> None:
        """The whole file or none."""
        import polars as pl

        nested = self.X.to_struct(_COLUMNS)
        table = pl.DataFrame({_NUMBER: self.numbers.astype(np.int64), _TARGET: self.y, _COLUMNS: nested})
        partial = path.with_name(f".{path.name}.partial")
        table.write_parquet(partial, metadata={"n_train": str(self.n_train)})
        partial.replace(path)

    @classmethod
    def read(cls, path: Path) -> TrainingSample:
        """The rows that `write` wrote."""
        import polars as pl

        try:
            table = pl.read_parquet(path)
            n_train = int(pl.read_parquet_metadata(path)["n_train"])
            numbers = table[_NUMBER].to_numpy().astype(np.intp)
            return cls(table[_COLUMNS].struct.unnest(), table[_TARGET].to_numpy(), numbers, n_train)
        except (pl.exceptions.PolarsError, OSError, KeyError, ValueError, TypeError) as error:
            raise RunError(f"{path}: the file is damaged ({type(error).__name__}).") from error
