"""Predictions of a stored model for the rows of a file, piece by piece."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._labels import choose_codes
from mercer._runs.decision import Decision
from mercer._runs.errors import RunError
from mercer._runs.intervals import Calibration
from mercer._runs.reading import scan_batches
from mercer._runs.stored_model import StoredModel

if TYPE_CHECKING:
    import polars as pl

PREDICTION, CLUSTER = "prediction", "cluster"
TABLES = (".csv", ".parquet", ".pq")


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
    """Write a prediction for every row, with probabilities of classes and the run's intervals. Returns the number of rows."""
    check_table_path(out)
    stored = StoredModel.of(run)
    options, model = stored.options(separator, encoding), stored.model
    is_class_model = stored.is_trained and hasattr(model, "classes_")
    if threshold is not None and (not is_class_model or len(model.classes_) != 2 or not hasattr(model, "predict_proba")):
        raise RunError(f"--threshold {threshold:g}: the model has no probabilities of two classes.")
    stored.check_columns(data, options, keep)
    decision = Decision.of_run(stored.folder, stored.plan.settings)
    calibration = Calibration.of_run(stored.folder, stored.plan.settings)
    classes = model.classes_ if is_class_model else None
    if calibration is not None and (taken := set(keep) & set(calibration.columns(classes))):
        raise RunError(f"--keep {min(taken)}: the run writes a column of its own of this name (train --intervals).")
    batches = scan_batches(data, options, schema=stored.schema())
    predict = _predict if stored.is_trained else _label
    tables = (predict(model, batch, keep, threshold, decision) for batch in batches)
    if calibration is not None:
        as_text = out is None or out.suffix == ".csv"
        tables = (calibration.beside(table, PREDICTION, classes, as_text=as_text) for table in tables)
    if out is None:
        return print_tables(tables)
    return write_tables(tables, out)


def _predict(
    model: Any, batch: pl.DataFrame, keep: Sequence[str], threshold: float | None, decision: Decision | None
) -> pl.DataFrame:
    import polars as pl

    kept = {name: batch[name] for name in keep}
    if not hasattr(model, "classes_"):
        return pl.DataFrame({**kept, PREDICTION: np.asarray(model.predict(batch), dtype=float)})
    if not hasattr(model, "predict_proba"):
        return pl.DataFrame({**kept, PREDICTION: model.predict(batch)})
    probability = model.predict_proba(batch)
    if threshold is None and decision is not None:
        codes = decision.codes(probability)
    elif threshold is None:
        codes = choose_codes(probability, len(model.classes_))
    else:
        codes = (probability[:, 1] >= threshold).astype(np.intp)
    columns = {f"probability_{label}": probability[:, place] for place, label in enumerate(model.classes_.tolist())}
    return pl.DataFrame({**kept, PREDICTION: model.classes_[codes], **columns})


def _label(
    model: Any, batch: pl.DataFrame, keep: Sequence[str], threshold: float | None, decision: Decision | None
) -> pl.DataFrame:
    """The cluster of each row, and its probability of each cluster where the method has probabilities of its own."""
    import polars as pl

    columns: dict[str, Any] = {name: batch[name] for name in keep}
    columns[CLUSTER] = np.asarray(model.predict(batch), dtype=np.int64)
    if hasattr(model.steps[-1][1], "means_") and hasattr(model, "predict_proba"):
        probability = model.predict_proba(batch)
        columns |= {f"probability_{cluster}": probability[:, cluster] for cluster in range(probability.shape[1])}
    return pl.DataFrame(columns)


def check_table_path(out: Path | None) -> None:
    """Refuse a file of a kind that cannot be written."""
    if out is not None and out.suffix not in TABLES:
        raise RunError(f"--out {out}: it must end in .csv or .parquet.")


def print_tables(tables: Iterator[pl.DataFrame]) -> int:
    count = 0
    for table in tables:
        sys.stdout.write(table.write_csv(include_header=count == 0))
        count += table.height
    return count


def write_tables(tables: Iterator[pl.DataFrame], out: Path) -> int:
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
