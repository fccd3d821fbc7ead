"""Predictions of a stored model for the rows of a file, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mercer._labels import choose_codes
from mercer._runs.alerts import Alert
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
        self._wanted, model = wanted, stored.model
        is_class_model = stored.is_trained and hasattr(model, "classes_")
        if wanted.threshold is not None and (
            not is_class_model or len(model.classes_) != 2 or not hasattr(model, "predict_proba")
        ):
            raise RunError(f"--threshold {wanted.threshold:g}: the model has no probabilities of two classes.")
        self._file = stored.file(data, stored.options(*file_options))
        stored.check_columns(self._file, wanted.keep)
        self._classes = model.classes_ if is_class_model else None
        self._calibration = Calibration.of_run(stored.folder, stored.plan.settings)
        self._refuse_names_twice()
        self._watch = Watch(stored.profile)

    def _refuse_names_twice(self) -> None:
        """Columns that are kept must not have the names of those that predictions add."""
        own = [PREDICTION if self._stored.is_trained else CLUSTER]
        if self._calibration is not None:
            own += self._calibration.columns(self._classes)
        if self._classes is not None:
            own += [f"probability_{label}" for label in self._classes.tolist()]
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
        predict = _predict if self._stored.is_trained else _label
        for piece in scan_pieces(self._file):
            rows, columns, strange = self._stored.types.typed(piece.table, piece.numbers, str(self._file.path))
            self._watch.see(columns, strange)
            kept = piece.table.select(self._wanted.keep)
            if not rows.height:
                continue
            try:
                table = predict(self._stored.model, rows, kept, self._wanted.threshold)
            except (ValueError, TypeError) as error:
                raise DataError(f"{self._file.path}: {str(error).strip().splitlines()[0]}") from error
            if self._calibration is not None:
                table = self._calibration.beside(table, PREDICTION, self._classes, as_text=lists_as_text)
            yield table


def _predict(model: Any, batch: pl.DataFrame, kept: pl.DataFrame, threshold: float | None) -> pl.DataFrame:
    import polars as pl

    if not hasattr(model, "classes_"):
        return pl.DataFrame({**kept.to_dict(), PREDICTION: np.asarray(model.predict(batch), dtype=float)})
    if not hasattr(model, "predict_proba"):
        return pl.DataFrame({**kept.to_dict(), PREDICTION: model.predict(batch)})
    probability = model.predict_proba(batch)
    if threshold is None:
        codes = choose_codes(probability, len(model.classes_))
    else:
        codes = (probability[:, 1] >= threshold).astype(np.intp)
    columns = {f"probability_{label}": probability[:, place] for place, label in enumerate(model.classes_.tolist())}
    return pl.DataFrame({**kept.to_dict(), PREDICTION: model.classes_[codes], **columns})


def _label(model: Any, batch: pl.DataFrame, kept: pl.DataFrame, threshold: float | None) -> pl.DataFrame:
    """The cluster of each row, and its probability of each cluster where the method has probabilities of its own."""
    import polars as pl

    columns: dict[str, Any] = kept.to_dict()
    columns[CLUSTER] = np.asarray(model.predict(batch), dtype=np.int64)
    if hasattr(model.steps[-1][1], "means_") and hasattr(model, "predict_proba"):
        probability = model.predict_proba(batch)
        columns |= {f"probability_{cluster}": probability[:, cluster] for cluster in range(probability.shape[1])}
    return pl.DataFrame(columns)
