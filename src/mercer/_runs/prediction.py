"""Predictions of a stored model for the rows of a file, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._labels import choose_codes
from mercer._runs.alerts import Alert
from mercer._runs.decision import Decision
from mercer._runs.errors import DataError, RunError
from mercer._runs.intervals import Calibration
from mercer._runs.profile import Watch
from mercer._runs.reading import scan_pieces
from mercer._runs.stored_model import StoredModel

if TYPE_CHECKING:
    import polars as pl

PREDICTION, CLUSTER = "prediction", "cluster"


class FileChoice(NamedTuple):
    """What the user says of a file of new rows, where it is not read as the one of training."""

    separator: str | None = None
    encoding: str | None = None
    sheet: str | None = None


NO_CHOICE = FileChoice()


@dataclass(frozen=True)
class Wanted:
    """What is asked of predictions."""

    keep: tuple[str, ...] = ()
    threshold: float | None = None


class Predicting:
    """A run and a file whose rows are predicted, piece by piece."""

    def __init__(self, run: Path, data: Path, wanted: Wanted, file_options: FileChoice = NO_CHOICE) -> None:
        self._stored = stored = StoredModel.of(run)
        self._wanted, self._rule = wanted, LabelRule.of(stored, wanted.threshold)
        self._file = stored.file(data, stored.options(*file_options))
        stored.check_columns(self._file, wanted.keep)
        self._calibration = Calibration.of_run(stored.folder, stored.plan.settings)
        self._refuse_names_twice()
        self._watch = Watch(stored.profile)

    def _refuse_names_twice(self) -> None:
        """Columns that are kept must not have the names of those that predictions add."""
        classes, own = self._stored.classes, [PREDICTION if self._stored.is_trained else CLUSTER]
        if self._calibration is not None:
            own += self._calibration.columns(classes)
        if classes is not None:
            own += [f"probability_{label}" for label in classes.tolist()]
        if taken := set(self._wanted.keep) & set(own):
            raise RunError(f"--keep {min(taken)}: predictions have a column of their own of this name.")

    @property
    def guesses(self) -> list[str]:
        """What was guessed of the file, in words."""
        return self._file.guesses

    def alerts(self) -> list[Alert]:
        """What was met in the rows that were read so far."""
        return self._watch.alerts()

    def tables(self, *, lists_as_text: bool) -> Iterator[pl.DataFrame]:
        """A line for every row, with probabilities of classes and the run's intervals."""
        for piece in scan_pieces(self._file):
            rows, columns, strange = self._stored.types.typed(piece.table, piece.numbers, str(self._file.path))
            self._watch.see(columns, strange)
            kept = piece.table.select(self._wanted.keep)
            if not rows.height:
                continue
            try:
                table = prediction_table(self._stored, self._calibration, rows, kept, self._rule, as_text=lists_as_text)
            except (ValueError, TypeError) as error:
                raise DataError(f"{self._file.path}: {str(error).strip().splitlines()[0]}") from error
            yield table


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
    kept: pl.DataFrame | None,
    rule: LabelRule,
    *,
    as_text: bool,
) -> pl.DataFrame:
    """What a file of predictions holds of some rows, beside columns that are `kept`. `as_text`: for a file without lists."""
    import polars as pl

    found = predict_rows(stored, rows, rule)
    name = PREDICTION if stored.is_trained else CLUSTER
    copied = {} if kept is None else kept.to_dict()
    table = pl.DataFrame({**copied, name: found.values, **found.columns})
    return table if calibration is None else calibration.beside(table, name, stored.classes, as_text=as_text)
