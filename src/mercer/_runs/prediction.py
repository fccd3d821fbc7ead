"""Predictions of a stored model for the rows of a file, piece by piece."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
    options = stored.options(separator, encoding)
    rule, classes = LabelRule.of(stored, threshold), stored.classes
    stored.check_columns(data, options, keep)
    calibration = Calibration.of_run(stored.folder, stored.plan.settings)
    if calibration is not None and (taken := set(keep) & set(calibration.columns(classes))):
        raise RunError(f"--keep {min(taken)}: the run writes a column of its own of this name (train --intervals).")
    batches = scan_batches(data, options, schema=stored.schema())
    as_text = out is None or out.suffix == ".csv"
    tables = (prediction_table(stored, calibration, batch, keep, rule, as_text=as_text) for batch in batches)
    if out is None:
        return print_tables(tables)
    return write_tables(tables, out)


@dataclass(frozen=True)
class Predicted:
    """What a model says of some rows: numbers, labels or clusters, and probabilities where it has them."""

    values: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None  # of the columns of `probability`
    probability: npt.NDArray[Any] | None

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The probabilities, a column each."""
        if self.probability is None or self.labels is None:
            return {}
        return {f"probability_{label}": self.probability[:, place] for place, label in enumerate(self.labels.tolist())}


@dataclass(frozen=True)
class LabelRule:
    """How probabilities become labels: by the cut-off that is asked for, by what costs made of them, or by the likeliest."""

    asked: float | None = None  # the least probability of the second of two classes
    decision: Decision | None = None  # of the run, where costs were given

    @classmethod
    def of(cls, stored: StoredModel, asked: float | None) -> LabelRule:
        classes = stored.classes
        if asked is not None and (classes is None or len(classes) != 2 or not hasattr(stored.model, "predict_proba")):
            raise RunError(f"--threshold {asked:g}: the model has no probabilities of two classes.")
        return cls(asked, Decision.of_run(stored.folder, stored.plan.settings))

    @property
    def threshold(self) -> float | None:
        """The cut-off that is in force, if there is one."""
        return self.asked if self.asked is not None or self.decision is None else self.decision.threshold

    def codes(self, probability: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """The place of the label of each row."""
        if self.asked is not None:
            return (probability[:, 1] >= self.asked).astype(np.intp)
        return choose_codes(probability, probability.shape[1]) if self.decision is None else self.decision.codes(probability)


def predict_rows(stored: StoredModel, rows: Any, rule: LabelRule) -> Predicted:
    """The prediction of each row of a table, of any library; the cluster, where the model is one of clusters."""
    model = stored.model
    if not stored.is_trained:
        return _label_rows(model, rows)
    if not hasattr(model, "classes_"):
        return Predicted(np.asarray(model.predict(rows), dtype=float), None, None)
    if not hasattr(model, "predict_proba"):
        return Predicted(model.predict(rows), None, None)
    probability = model.predict_proba(rows)
    return Predicted(model.classes_[rule.codes(probability)], model.classes_, probability)


def _label_rows(model: Any, rows: Any) -> Predicted:
    """The cluster of each row, and its probability of each cluster where the method has probabilities of its own."""
    clusters = np.asarray(model.predict(rows), dtype=np.int64)
    if not (hasattr(model.steps[-1][1], "means_") and hasattr(model, "predict_proba")):
        return Predicted(clusters, None, None)
    probability = model.predict_proba(rows)
    return Predicted(clusters, np.arange(probability.shape[1]), probability)


def prediction_table(
    stored: StoredModel,
    calibration: Calibration | None,
    rows: pl.DataFrame,
    keep: Sequence[str],
    rule: LabelRule,
    *,
    as_text: bool,
) -> pl.DataFrame:
    """What a file of predictions holds of some rows. `as_text`: for a file that holds no lists."""
    import polars as pl

    found = predict_rows(stored, rows, rule)
    name = PREDICTION if stored.is_trained else CLUSTER
    table = pl.DataFrame({**{column: rows[column] for column in keep}, name: found.values, **found.columns})
    return table if calibration is None else calibration.beside(table, name, stored.classes, as_text=as_text)


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
