"""Predictions of a stored model for rows of a file, explained in the columns of the file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._explaining.contributions import METHODS, Unexplained, contributions
from mercer._explaining.counterfactuals import Goal
from mercer._explaining.lime import lime_weights
from mercer._explaining.table_model import TableModel, Unit
from mercer._runs.decision import Decision
from mercer._runs.errors import DataError, RunError
from mercer._runs.prediction import PREDICTION
from mercer._runs.reading import read_texts
from mercer._runs.sample import TrainingSample
from mercer._runs.settings import Settings
from mercer._runs.stored_model import StoredModel
from mercer._tables import as_text
from mercer.inspection import Explanation

if TYPE_CHECKING:
    import polars as pl

_N_BACKGROUND = 100
_MARGIN = 0.5  # of the standard deviation of predictions: what counts as another number where nothing is said
_ROUNDING = 1e-12
_BATCH = 200  # rows that are explained at a time
LIME = "lime"


@dataclass(frozen=True)
class Explained:
    """What the columns gave, with the axes row, feature and output."""

    explanation: Explanation
    unit: Unit
    fidelity: FloatArray | None = None  # of a surrogate near each row, whose values do not add up


@dataclass(frozen=True)
class Asked:
    """What the user asked for, apart from the rows."""

    method: str = "auto"
    label: str | None = None  # the class that is explained; None: the one that is predicted
    margin: float | None = None
    separator: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.method not in (*METHODS, LIME):
            raise RunError(f"--method {self.method}: it must be one of {', '.join((*METHODS, LIME))}.")
        if self.margin is not None and not self.margin > 0:
            raise RunError(f"--margin {self.margin:g}: it must be a positive number.")


class Explaining:
    """A run and a file, or a table, whose rows are explained."""

    def __init__(self, run: Path, data: Path, asked: Asked) -> None:
        stored = StoredModel.of(run)
        self._take_run(stored, asked)
        self._file = stored.file(data, stored.options(asked.separator, asked.encoding, asked.sheet))
        stored.check_columns(self._file)
        read = stored.read(self._file)
        self.alerts = read.alerts
        self._take_rows(data, read.table, read.numbers)

    @classmethod
    def of_run(cls, stored: StoredModel, asked: Asked) -> Explaining:
        """The run alone, for rows that are yet to come (`with_row`)."""
        found = cls.__new__(cls)
        found._take_run(stored, asked)
        return found

    def with_row(self, source: str, row: pl.DataFrame, texts: dict[str, str], label: Any = None) -> Explaining:
        """The same run with a table of one row; `texts` are its values as they were given, `label` the class to explain."""
        found = copy.copy(self)
        if label is not None:
            found._asked = replace(self._asked, label=str(label))
            found._label = found._chosen_label()
        found._take_rows(Path(source), row, np.ones(1, dtype=np.intp))
        found._texts = {name: texts[name] for name in self.columns}
        return found

    def _take_run(self, stored: StoredModel, asked: Asked) -> None:
        run = stored.folder.path
        self.run, self._asked = run, asked
        if not isinstance(stored.plan.settings, Settings):
            raise RunError(
                f"{run}: this is a run of `mercer {stored.plan.settings.command}`; runs of `mercer train` are explained."
            )
        self.settings = stored.plan.settings
        if not stored.folder.sample.is_file():
            raise RunError(
                f"{run}: the run keeps no training rows to explain with: an earlier version of Mercer made it. "
                f"`mercer train --resume {run}` adds them, where its data still are."
            )
        decision = Decision.of_run(stored.folder, self.settings)
        classes = getattr(stored.model, "classes_", np.zeros(0)).tolist() or None
        self.found = TableModel.of(stored.model, classes, None if decision is None else decision.codes)
        if asked.margin is not None and self.found.classes is not None:
            raise RunError(f"--margin {asked.margin:g}: the model predicts classes; a margin is for numbers.")
        self._label = self._chosen_label()
        self.columns = list(self.found.reports())
        self.kinds = {name: column.kind for name, column in self.found.reports().items()}
        self.sample = TrainingSample.read(stored.folder.sample)

    def _take_rows(self, data: Path, rows: pl.DataFrame, numbers: npt.NDArray[np.intp]) -> None:
        self.data, self._numbers = data, numbers
        self._texts: dict[str, str] | None = None
        self.table, self.rows = _alike(self.sample.X, rows, self.kinds, data)
        chosen = np.random.default_rng(self.settings.seed).permutation(self.table.height)[:_N_BACKGROUND]
        self.background = self.table[np.sort(chosen)]

    def _chosen_label(self) -> int | None:
        """The place of the class that was asked for."""
        label, classes = self._asked.label, self.found.classes
        if label is None:
            return None
        if classes is None:
            raise RunError(f"--class {label}: the model predicts a number and has no classes.")
        if label not in map(str, classes):
            raise RunError(f"--class {label}: there is no such class; there are {', '.join(map(str, classes))}.")
        return list(map(str, classes)).index(label)

    # ---- rows

    @property
    def n_rows(self) -> int:
        return self.rows.height

    def place_of(self, number: int) -> int:
        """The place of the row that has this number in the file."""
        places = np.flatnonzero(self._numbers == number)
        if len(places):
            return int(places[0])
        last = int(self._numbers[-1])
        if 1 <= number <= last:
            raise RunError(f"--row {number}: line {number} below the header of {self.data} is blank.")
        raise RunError(f"--row {number}: {self.data} has the rows 1 to {last}, counted from the first below its header.")

    def texts(self, place: int) -> dict[str, str]:
        """The values of a row as they are written in the file."""
        if self._texts is not None:
            return self._texts
        if not self._file.is_text:
            return {name: as_text(self.rows[name][place]) for name in self.columns}
        texts = read_texts(self.data, self._file.options)
        return {name: texts[name][int(self._numbers[place]) - 1] or "" for name in self.columns}

    # ---- explanations

    def explained(self, rows: pl.DataFrame) -> Explained:
        """What the columns gave to every output."""
        method, seed = self._asked.method, self.settings.seed
        try:
            if method == LIME:
                weights, fidelity = lime_weights(self.found, rows, self.table, seed)
                return Explained(weights, self.found.unit, fidelity)
            return Explained(*contributions(self.found, rows, self.background, method, seed))
        except Unexplained as error:
            raise RunError(f"--method {method}: {str(error).rstrip('.')}.") from error

    def output_of(self, outputs: FloatArray) -> npt.NDArray[np.intp]:
        """The output of each row that is explained: of the class asked for, or else of the one predicted."""
        if self._label is not None:
            return np.full(len(outputs), self._label, dtype=np.intp)
        return np.zeros(len(outputs), dtype=np.intp) if self.found.classes is None else self.found.codes(outputs)

    def goal(self, outputs: FloatArray) -> Goal:
        """Another prediction than this: the class asked for if it is not the one predicted, else any other; or a number."""
        if self.found.classes is None:
            margin = self._asked.margin or _MARGIN * float(np.std(self.found(self.table)))
            return Goal(self.found, outputs, margin=margin or 1.0)
        own = int(self.found.codes(outputs[None])[0])
        return Goal(self.found, outputs, None if self._label in (None, own) else self._label)

    def tables(self, told: Callable[[int], None] = lambda count: None) -> Iterator[pl.DataFrame]:
        """A line for every row of the file: its prediction, and what each column gave to the output that is explained."""
        import polars as pl

        for start in range(0, self.n_rows, _BATCH):
            rows = self.rows[start : start + _BATCH]
            explained = self.explained(rows)
            explanation = explained.explanation
            outputs, each = self.found(rows), np.arange(rows.height)
            at = self.output_of(outputs)
            columns: dict[str, Any] = {"row": self._numbers[start : start + _BATCH].astype(np.int64)}
            if self.found.classes is None:
                columns[PREDICTION] = outputs[:, 0]
            else:
                labels = np.asarray(self.found.classes)
                columns |= {PREDICTION: labels[self.found.codes(outputs)], "explained": labels[at]}
                columns["output"] = _values(explanation.predictions, explanation.sums)[each, at]
            columns["base"] = explanation.base_values[each, at]
            values = without_rounding(explanation.values[each, :, at], explanation.base_values[each, at])
            if explained.fidelity is not None:
                columns["fidelity"] = explained.fidelity[each, at]
            columns |= {f"contribution_{name}": values[:, j] for j, name in enumerate(self.columns)}
            told(start + rows.height)
            yield pl.DataFrame(columns)


def without_rounding(values: FloatArray, base: FloatArray) -> FloatArray:
    """What columns gave to rows, with nothing where there is no more than rounding of all that adds up."""
    scale = np.maximum(1.0, np.maximum(np.abs(base), np.abs(values).max(axis=1, initial=0.0)))
    return np.where(np.abs(values) > _ROUNDING * scale[:, None], values, 0.0)


def _values(predictions: FloatArray | None, sums: FloatArray) -> FloatArray:
    return sums if predictions is None else predictions


def _alike(sample: pl.DataFrame, rows: pl.DataFrame, kinds: dict[str, str], path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns in use of both tables, in the same types."""
    import polars as pl

    mine, theirs = sample.select(list(kinds)), rows.select(list(kinds))
    for name, kind in kinds.items():
        wanted = mine.schema[name]
        if kind == "number" and wanted.is_numeric():
            wanted = pl.Float64()
        try:
            mine, theirs = (table.with_columns(pl.col(name).cast(wanted)) for table in (mine, theirs))
        except pl.exceptions.PolarsError:
            raise DataError(
                f"{path}: column {name!r} holds values of the type {rows.schema[name]}; in training they were {wanted}."
            ) from None
    return mine, theirs
