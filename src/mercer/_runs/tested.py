"""What the tested model says of the test rows, kept in the folder of a run: what runs are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._labels import pad_classes
from mercer._runs.decision import Decision
from mercer._runs.errors import RunError
from mercer._runs.problem import Problem
from mercer._stand_in import stand_in

if TYPE_CHECKING:
    import polars as pl

_NUMBER, _TARGET, _WEIGHT, _PREDICTION, _PROBABILITY = "row", "target", "weight", "prediction", "probability"


@dataclass(frozen=True)
class TestedRows:
    """Rows by their numbers in their file, with the truth, the prediction, and probabilities in the order of the classes."""

    numbers: Any
    true: Any
    weights: FloatArray | None
    predicted: Any
    probability: FloatArray | None

    @classmethod
    def of(cls, problem: Problem, model: Any, decision: Decision | None = None) -> TestedRows:
        """Those of a fitted model, which predicts by the decision if there is one."""
        X, y = problem.rows(problem.test)
        probability = None
        if problem.classes is not None and hasattr(model, "predict_proba"):
            classes = np.asarray(problem.classes)
            places = np.searchsorted(classes, model.classes_)
            probability = pad_classes(model.predict_proba(X), places, len(classes), dtype=np.float64)
        numbers = np.asarray(problem.numbers)[problem.test]
        if decision is not None and probability is not None:
            predicted = np.asarray(problem.classes)[decision.codes(probability)]
        else:
            predicted = np.asarray(model.predict(X))
        return cls(numbers, y, problem.weights_of(problem.test), predicted, probability)

    def take(self, places: Any) -> TestedRows:
        parts = (self.numbers, self.true, self.weights, self.predicted, self.probability)
        return TestedRows(*(None if part is None else part[places] for part in parts))

    def score(self, metric: Any, classes: Any) -> float:
        """By a measure, rows counting by their weights."""
        labels = None if classes is None else np.asarray(classes)
        model = stand_in(self.predicted, classes=labels, probability=self.probability)
        return float(metric.score(model, np.zeros((len(self.true), 1)), self.true, self.weights))

    def write(self, path: Path) -> None:
        """The whole file or none."""
        import polars as pl

        table = pl.DataFrame({_NUMBER: self.numbers.astype(np.int64), _TARGET: self.true, _PREDICTION: self.predicted})
        if self.weights is not None:
            table = table.with_columns(pl.Series(_WEIGHT, self.weights))
        for place in range(0 if self.probability is None else self.probability.shape[1]):
            assert self.probability is not None
            table = table.with_columns(pl.Series(f"{_PROBABILITY}_{place}", self.probability[:, place]))
        partial = path.with_name(f".{path.name}.partial")
        table.write_parquet(partial)
        partial.replace(path)

    @classmethod
    def read(cls, path: Path) -> TestedRows:
        """The rows that `write` wrote."""
        import polars as pl

        try:
            table = pl.read_parquet(path)
            weights = table[_WEIGHT].to_numpy() if _WEIGHT in table.columns else None
            names = [name for name in table.columns if name.startswith(f"{_PROBABILITY}_")]
            probability = table.select(names).to_numpy() if names else None
            true, predicted = (_values(table[name]) for name in (_TARGET, _PREDICTION))
            return cls(table[_NUMBER].to_numpy(), true, weights, predicted, probability)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RunError(f"{path}: the file is damaged ({type(error).__name__}).") from error


def _values(column: pl.Series) -> Any:
    import polars as pl

    return np.asarray(column.to_list(), dtype=str) if column.dtype == pl.String else column.to_numpy()
