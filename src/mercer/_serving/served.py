"""The model that is served: predictions and explanations of rows, by the code of `mercer predict` and `mercer explain`."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mercer
from mercer._report.explained.content import RowContent
from mercer._runs.alerts import Alert
from mercer._runs.errors import DataError, RunError
from mercer._runs.explained_row import explain_row
from mercer._runs.explanation import Asked, Explaining
from mercer._runs.files import packing_of
from mercer._runs.intervals import Calibration
from mercer._runs.pipelines import model_name
from mercer._runs.prediction import CLUSTER, PREDICTION, LabelRule, Predicted, predict_rows, prediction_table
from mercer._runs.reading import ReadTable
from mercer._runs.sample import TrainingSample
from mercer._runs.stored_model import StoredModel
from mercer._serving.problems import Problem, Refused, of_values
from mercer._serving.rows import Rows, RowSchema, unseen_words

if TYPE_CHECKING:
    import polars as pl

_SOURCE = "the request"
_N_TRIALS = 20


class Served:
    """A finished run, ready for rows."""

    def __init__(self, run: Path, *, threshold: float | None = None, longest: int = 10_000) -> None:
        stored = StoredModel.of(run)
        self.stored = stored
        self.rule = LabelRule.of(stored, threshold)
        self.calibration = Calibration.of_run(stored.folder, stored.plan.settings)
        sample = TrainingSample.read(stored.folder.sample) if stored.is_trained and stored.folder.sample.is_file() else None
        self.schema = RowSchema.of(stored, sample, longest)
        self.unexplained = ""  # why rows cannot be explained, where that is so
        self._explaining: Explaining | None = None
        try:
            self._explaining = Explaining.of_run(stored, Asked())
        except RunError as error:
            self.unexplained = str(error)
        self.seconds_per_row = self._time_of_a_row()

    def _time_of_a_row(self) -> float:
        """How long a prediction of one row takes, what is made on first use left out."""
        rows = self.schema.read([{column.name: column.typical for column in self.schema.columns}])
        best = np.inf
        for _ in range(_N_TRIALS):
            start = time.perf_counter()
            self.predict(rows)
            best = min(best, time.perf_counter() - start)
        return float(best)

    # ---- what it is

    @property
    def model_name(self) -> str:
        return model_name(self.stored.model)

    @property
    def target(self) -> str | None:
        """The column that is predicted; None for clusters."""
        return getattr(self.stored.plan.settings, "target", None)

    @property
    def classes(self) -> list[Any] | None:
        return None if self.stored.classes is None else list(self.stored.classes.tolist())

    @property
    def task(self) -> str:
        if self.target is None:
            return "clustering"
        return "regression" if self.classes is None else "classification"

    @property
    def is_explained(self) -> bool:
        return self._explaining is not None

    def about(self) -> dict[str, Any]:
        """What is served, in a few words."""
        return {
            "run": self.stored.folder.path.resolve().name,
            "model": self.model_name,
            "task": self.task,
            "target": self.target,
            "classes": self.classes,
            "coverage": None if self.calibration is None else self.calibration.coverage,
            "threshold": self.rule.threshold,
            "explains": self.is_explained,
            "mercer": mercer.__version__,
        }

    # ---- predictions

    def predict(self, rows: Rows) -> list[dict[str, Any]]:
        """A prediction of each row."""
        with _refusing():
            return self._as_dicts(predict_rows(self.stored, rows.table(), self.rule))

    def _as_dicts(self, found: Predicted) -> list[dict[str, Any]]:
        name = CLUSTER if self.target is None else PREDICTION
        said: list[dict[str, Any]] = [{name: _finite(value)} for value in found.values.tolist()]
        if found.probability is not None and found.labels is not None:
            labels = [str(label) for label in found.labels.tolist()]
            for each, line in zip(said, found.probability.tolist(), strict=True):
                each["probabilities"] = dict(zip(labels, map(_finite, line), strict=True))
        if self.calibration is None:
            return said
        if found.probability is None or found.labels is None:
            lower, upper = (ends.tolist() for ends in self.calibration.ends(found.values))
            for each, low, high in zip(said, lower, upper, strict=True):
                each["interval"] = {"lower": _finite(low), "upper": _finite(high), "coverage": self.calibration.coverage}
        else:
            order = np.argsort(-found.probability, axis=1, kind="stable")
            is_in = np.take_along_axis(self.calibration.is_in(found.probability), order, axis=1)
            for each, line, kept in zip(said, order, is_in, strict=True):
                each["labels"] = found.labels[line[kept]].tolist()
        return said

    def predict_file(self, body: bytes, most_rows: int, *, as_csv: bool) -> tuple[bytes | list[dict[str, Any]], int, list[str]]:
        """The predictions of a CSV file, as JSON or as the file that `mercer predict` writes; how many; and warnings."""
        read = self._read_csv(body, most_rows)
        table = read.table
        unseen = {
            column.name: unseen_words(column, table[column.name].unique().to_list())
            for column in self.schema.columns
            if column.levels
        }
        warnings = [words for found in unseen.values() for words in found]
        warnings += [_in_words(alert) for alert in read.alerts if not unseen.get(alert.column or "")]
        with _refusing():
            if as_csv:
                made = prediction_table(self.stored, self.calibration, table, None, self.rule, as_text=True)
                return made.write_csv().encode(), table.height, warnings
            return self._as_dicts(predict_rows(self.stored, table, self.rule)), table.height, warnings

    def _read_csv(self, body: bytes, most_rows: int) -> ReadTable:
        """The table of a file, read by the code that reads files: from a folder that is there for the moment."""
        import polars as pl

        with tempfile.TemporaryDirectory(prefix="mercer-serve-") as folder:
            path = Path(folder) / "body.csv"
            path.write_bytes(body)
            try:
                file = self.stored.file(path, self.stored.options())
                if not file.is_text or packing_of(path) is not None:  # what is packed has no size that a limit knows
                    raise DataError(f"{path}: this is not the text of a table.")
                self.stored.check_columns(file)
                read = self.stored.read(file)
            except DataError as error:
                message = str(error).removeprefix(f"{path}: ").replace(str(path), "the table")
                raise Refused(422, f"CSV: {message}", [Problem(message)]) from error
            except pl.exceptions.PolarsError as error:
                message = str(error).strip().splitlines()[0]
                raise Refused(422, f"CSV: {message}", [Problem(message)]) from error
        if read.table.height > most_rows:
            raise Refused(413, f"{read.table.height:,} rows are more than the {most_rows:,} that a request may have.")
        self._refuse_long_texts(read.table)
        return read

    def _refuse_long_texts(self, table: pl.DataFrame) -> None:
        import polars as pl

        for column in self.schema.columns:
            if table.schema[column.name] == pl.String:
                lengths = table[column.name].str.len_chars()
                if (lengths.max() or 0) > column.longest:  # type: ignore[operator]
                    row = int(lengths.arg_max() or 0)
                    words = (
                        f"a text of {lengths[row]:,} characters cannot be used; it takes at most {column.longest:,} characters."
                    )
                    raise of_values([Problem(f"row {row + 1}, column {column.name!r}: {words}", row + 1, column.name)])

    # ---- explanations

    def explain(self, rows: Rows, values: dict[str, Any], label: Any = None) -> RowContent:
        """Why the one row is predicted as it is; `values` are as they were given."""
        if self._explaining is None:
            raise Refused(501, self.unexplained)
        classes = self.classes
        if label is not None and (classes is None or str(label) not in map(str, classes)):
            what = "the model predicts a number" if classes is None else f"the classes are {', '.join(map(str, classes))}"
            raise Refused(422, f"class {label!r}: there is no such class; {what}.")
        texts = {
            name: "" if value is None else value if isinstance(value, str) else _text(value) for name, value in values.items()
        }
        with _refusing():
            return explain_row(self._explaining.with_row(_SOURCE, self.schema.frame(rows), texts, label), 1, None)


def _in_words(alert: Alert) -> str:
    return alert.message if alert.column is None else f"column {alert.column!r}: {alert.message}"


@contextmanager
def _refusing() -> Iterator[None]:
    """What the model says against values, such as numbers beyond all that it can reckon with, is an answer."""
    try:
        yield
    except (RunError, ValueError) as error:
        raise Refused(422, f"The model cannot use these values: {str(error).strip().splitlines()[0]}") from error


def _finite(value: Any) -> Any:
    """A value as JSON has it, which knows neither infinity nor NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
