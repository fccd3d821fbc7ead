"""Predictions of a stored model for the rows of a file, piece by piece."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mercer
from mercer._labels import choose_codes
from mercer._runs.errors import DataError, RunError
from mercer._runs.folder import RunFolder
from mercer._runs.pipelines import PREPARER, first_pipeline
from mercer._runs.reading import columns_of, scan_batches
from mercer._runs.settings import Settings

if TYPE_CHECKING:
    import polars as pl

PREDICTION, CLUSTER = "prediction", "cluster"


def predict_file(
    run: Path,
    data: Path,
    out: Path | None,
    *,
    keep: Sequence[str] = (),
    threshold: float | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> int:
    """Write a prediction for every row, with the probability of every class. Returns the number of rows."""
    folder = RunFolder.existing(run)
    plan = folder.read_plan()
    if not folder.model.is_file():
        if folder.report_json.is_file():
            raise RunError(f"{run}: the model of this run could not be stored in a file; its report says why.")
        command = plan.settings.command
        raise RunError(f"{run}: the run has no model yet. `mercer {command} --resume {run}` goes on with it.")
    if out is not None and out.suffix not in (".csv", ".parquet", ".pq"):
        raise RunError(f"--out {out}: it must end in .csv or .parquet.")
    options = replace(plan.settings.file, separator=separator, encoding=encoding or plan.settings.file.encoding)
    model = mercer.load(folder.model)
    is_class_model = isinstance(plan.settings, Settings) and hasattr(model, "classes_")
    if threshold is not None and (not is_class_model or len(model.classes_) != 2 or not hasattr(model, "predict_proba")):
        raise RunError(f"--threshold {threshold:g}: the model has no probabilities of two classes.")
    _check_columns(data, columns_of(data, options), needed=_needed(model), keep=keep)
    batches = scan_batches(data, options, schema=_schema(model, plan.schema))
    predict = _predict if isinstance(plan.settings, Settings) else _label
    tables = (predict(model, batch, keep, threshold) for batch in batches)
    if out is None:
        return _print(tables)
    return _write(tables, out)


def _needed(model: Any) -> list[str]:
    """The columns that the preparation uses."""
    return [column.name for column in first_pipeline(model).named_steps[PREPARER].report_ if column.used]


def _schema(model: Any, trained: Mapping[str, str]) -> dict[str, Any]:
    """The types of columns as they were in training, where polars could take them for others; numbers need not be whole."""
    import polars as pl

    kinds = first_pipeline(model).named_steps[PREPARER].kinds_
    known = {"String": pl.String, "Int64": pl.Int64, "Float64": pl.Float64}
    types = {
        name: pl.Float64 if kinds.get(name) == "number" and kind != "String" else known.get(kind)
        for name, kind in trained.items()
    }
    return {name: kind for name, kind in types.items() if kind is not None and name in kinds}


def _check_columns(path: Path, columns: Sequence[str], *, needed: Sequence[str], keep: Sequence[str]) -> None:
    if lacking := [name for name in needed if name not in columns]:
        shown = ", ".join(map(repr, lacking[:8])) + (" …" if len(lacking) > 8 else "")
        raise DataError(f"{path}: the model needs {shown}, which {'is' if len(lacking) == 1 else 'are'} not in the file.")
    if unknown := [name for name in keep if name not in columns]:
        raise RunError(f"--keep {unknown[0]}: there is no such column in {path}.")


def _predict(model: Any, batch: pl.DataFrame, keep: Sequence[str], threshold: float | None) -> pl.DataFrame:
    import polars as pl

    kept = {name: batch[name] for name in keep}
    if not hasattr(model, "classes_"):
        return pl.DataFrame({**kept, PREDICTION: np.asarray(model.predict(batch), dtype=float)})
    if not hasattr(model, "predict_proba"):
        return pl.DataFrame({**kept, PREDICTION: model.predict(batch)})
    probability = model.predict_proba(batch)
    if threshold is None:
        codes = choose_codes(probability, len(model.classes_))
    else:
        codes = (probability[:, 1] >= threshold).astype(np.intp)
    columns = {f"probability_{label}": probability[:, place] for place, label in enumerate(model.classes_.tolist())}
    return pl.DataFrame({**kept, PREDICTION: model.classes_[codes], **columns})


def _label(model: Any, batch: pl.DataFrame, keep: Sequence[str], threshold: float | None) -> pl.DataFrame:
    """The cluster of each row, and its probability of each cluster where the method has probabilities of its own."""
    import polars as pl

    columns: dict[str, Any] = {name: batch[name] for name in keep}
    columns[CLUSTER] = np.asarray(model.predict(batch), dtype=np.int64)
    if hasattr(model.steps[-1][1], "means_") and hasattr(model, "predict_proba"):
        probability = model.predict_proba(batch)
        columns |= {f"probability_{cluster}": probability[:, cluster] for cluster in range(probability.shape[1])}
    return pl.DataFrame(columns)


def _print(tables: Iterator[pl.DataFrame]) -> int:
    count = 0
    for table in tables:
        sys.stdout.write(table.write_csv(include_header=count == 0))
        count += table.height
    return count


def _write(tables: Iterator[pl.DataFrame], out: Path) -> int:
    """Whole or not at all: the file appears when its last row is written, and what was written on the way goes in any case."""
    write = _write_csv if out.suffix == ".csv" else _write_parquet
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            whole = Path(folder) / f"whole{out.suffix}"
            count = write(tables, whole)
            whole.replace(out)
    except OSError as error:
        raise RunError(f"--out {out}: {error.strerror}.") from error
    return count


def _write_csv(tables: Iterator[pl.DataFrame], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for table in tables:
            table.write_csv(file, include_header=count == 0)
            count += table.height
    return count


def _write_parquet(tables: Iterator[pl.DataFrame], path: Path) -> int:
    """A file a table, all of which polars then streams into one: it has no writer to hand tables to one by one."""
    import polars as pl

    parts: list[Path] = []
    count = 0
    for table in tables:
        parts.append(path.with_name(f"part-{len(parts)}.arrow"))
        table.write_ipc(parts[-1])
        count += table.height
    pl.scan_ipc(parts).sink_parquet(path)
    return count
