"""Tables in files that are read part by part: Parquet, Arrow and CSV, by polars, in bounded memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from mercer._lazy import lazy_property
from mercer._parts.memory import select
from mercer._parts.merging import merged
from mercer._parts.passes import Part, Parted

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

PART_BYTES = 64 << 20  # of numbers in double precision: two parts are in memory, the one that is worked on and the next
_PARQUET, _ARROW, _CSV = (".parquet", ".pq"), (".arrow", ".feather", ".ipc"), (".csv", ".tsv", ".txt", ".csv.gz")


class FileSource:
    """Files of one table, cut into parts of equally many rows, whatever the file's own blocks are."""

    def __init__(self, paths: Sequence[str], rows: int, separator: str = ",") -> None:
        self.paths, self.rows, self.separator = tuple(paths), rows, separator

    def scan(self) -> pl.LazyFrame:
        import polars as pl

        first, paths = self.paths[0].lower(), list(self.paths)
        if first.endswith(_PARQUET):
            return pl.scan_parquet(paths)
        if first.endswith(_ARROW):
            return pl.scan_ipc(paths)
        return pl.scan_csv(paths, separator=self.separator, infer_schema_length=10_000)

    @lazy_property
    def schema(self) -> dict[str, Any]:
        return dict(self.scan().collect_schema())

    def names(self) -> list[str]:
        return list(self.schema)

    def sample(self) -> Any:
        return self.scan().head(1).collect()

    @lazy_property
    def _lengths(self) -> list[int]:
        import polars as pl

        n = int(self.scan().select(pl.len()).collect().item())
        return [min(self.rows, n - first) for first in range(0, n, self.rows)]

    def lengths(self) -> list[int]:
        return self._lengths

    def results(self, job: Callable[[Part], T], wanted: Sequence[Parted]) -> Iterator[T]:
        """The next part is read while a job goes on with this one."""
        if any(one.source is not self for one in wanted):
            raise ValueError("X, y and weights must come from one table: select columns of what one `read_parts` has given.")
        frames = self._frames(_all_columns(wanted))
        with ThreadPoolExecutor(1, thread_name_prefix="mercer-parts") as reader:
            coming: Future[Any] = reader.submit(next, frames, None)
            number = 0
            while (frame := coming.result()) is not None:
                coming = reader.submit(next, frames, None)
                yield job(Part(number, tuple(select(frame, one.columns) for one in wanted)))
                number += 1

    def total(self, job: Callable[[Part], T | None], wanted: Sequence[Parted]) -> T | None:
        return merged(self.results(job, wanted))

    def _frames(self, columns: list[str] | None) -> Iterator[pl.DataFrame]:
        """The parts, each of `rows` rows but the last."""
        import polars as pl

        lazy = self.scan() if columns is None else self.scan().select(columns)
        waiting: list[pl.DataFrame] = []
        n_waiting = 0
        for batch in lazy.collect_batches(chunk_size=self.rows, maintain_order=True):
            waiting.append(batch)
            n_waiting += batch.height
            while n_waiting >= self.rows:
                whole = pl.concat(waiting, rechunk=True) if len(waiting) > 1 else waiting[0]
                yield whole[: self.rows]
                rest = whole[self.rows :]
                waiting, n_waiting = ([rest] if rest.height else []), rest.height
        if n_waiting:
            yield pl.concat(waiting, rechunk=True)


def _all_columns(wanted: Sequence[Parted]) -> list[str] | None:
    found: dict[str, None] = {}
    for one in wanted:
        if one.columns is None:
            return None
        found |= dict.fromkeys(one.columns if isinstance(one.columns, tuple) else (one.columns,))
    return list(found)


def read_parts(path: Any, *, rows: int | None = None, separator: str = ",") -> PartedTable:
    """A table in files that is never in memory as a whole: estimators that add up go over its parts.

    Parameters
    ----------
    path : str, path, or sequence of them
        Parquet, Arrow or CSV files of one table, in this order; a pattern such as `"data/*.parquet"` stands for its files in
        the order of their names. All are of one kind.
    rows : int or None, default=None
        How many rows a part has. None: as many as take 64 MB as numbers in double precision. The same parts give the same
        model to the bit; others give it up to rounding.
    separator : str, default=","
        Between the fields of CSV files.

    Returns
    -------
    PartedTable
        `table["price"]` is a column, `table.drop("price")` and `table[["age", "income"]]` are tables; fits, predictions and
        transformations of many estimators take them.

    Examples
    --------
    >>> import mercer
    >>> from mercer.linear_model import Ridge
    >>> table = mercer.read_parts(mercer.datasets.dataset_path("cars"), rows=100)
    >>> X, y = table[["weight", "horsepower"]], table["mpg"]
    >>> round(Ridge().fit(X, y).score(X, y), 2)
    0.71
    """
    paths = _paths_of(path)
    source = FileSource(paths, 1, separator)
    names = source.names()
    if rows is not None and rows < 1:
        raise ValueError(f"read_parts: rows={rows!r} is not valid; it must be an integer >= 1.")
    source.rows = rows or max(1, PART_BYTES // (8 * max(1, len(names))))
    return PartedTable(source, tuple(names))


def _paths_of(path: Any) -> list[str]:
    """The files that a path, a pattern or several of them name; an error where there are none, or of several kinds."""
    given = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
    paths = [found for each in given for found in (sorted(glob.glob(each)) if glob.has_magic(each) else [each])]
    if not paths:
        raise FileNotFoundError(f"read_parts: {path!r} names no file.")
    for each in paths:
        if not os.path.isfile(each):
            raise FileNotFoundError(f"read_parts: {each!r} is no file.")
        if not each.lower().endswith(_PARQUET + _ARROW + _CSV):
            raise ValueError(f"read_parts: {each!r} cannot be read; by its ending it must be Parquet, Arrow or CSV.")
    if len({_kind_of(each) for each in paths}) > 1:
        raise ValueError(f"read_parts: the files are of several kinds ({paths[0]!r} is the first); they must be of one.")
    return paths


def _kind_of(path: str) -> int:
    return next(number for number, endings in enumerate((_PARQUET, _ARROW, _CSV)) if path.lower().endswith(endings))


class PartedTable:
    """Columns of a table in files, read part by part; `read_parts` makes it."""

    def __init__(self, source: FileSource, columns: tuple[str, ...]) -> None:
        self._source, self._columns = source, columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, names: Any) -> Any:
        """A column by its name, or a table of several."""
        if isinstance(names, str):
            self._require([names])
            return PartedColumn(self._source, names)
        self._require(list(names))
        return PartedTable(self._source, tuple(names))

    def drop(self, *names: str) -> PartedTable:
        """The table without some columns."""
        self._require(list(names))
        return PartedTable(self._source, tuple(name for name in self._columns if name not in names))

    def head(self, n_rows: int = 5) -> pl.DataFrame:
        """The first rows, as polars' frame."""
        return self._source.scan().select(self._columns).head(n_rows).collect()

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self._source.lengths()), len(self._columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        source = self._source
        return f"PartedTable({len(self._columns)} columns of {len(source.paths)} file(s), {source.rows} rows a part)"

    def parted(self) -> Parted:
        """As passes take it."""
        return Parted(self._source, self._columns, n_columns=len(self._columns))

    def _require(self, names: list[str]) -> None:
        if unknown := [name for name in names if name not in self._columns]:
            raise KeyError(f"PartedTable: there is no column {unknown[0]!r}; the columns are {self.columns}.")


class PartedColumn:
    """One column of a table in files."""

    def __init__(self, source: FileSource, name: str) -> None:
        self._source, self.name = source, name

    def __len__(self) -> int:
        return sum(self._source.lengths())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.parted().__array__(dtype)

    def __repr__(self) -> str:
        return f"PartedColumn({self.name!r})"

    def parted(self) -> Parted:
        """As passes take it."""
        return Parted(self._source, self.name)
