"""What a fitted model says of the test rows, once, in a form that measures, curves and lists of errors share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._labels import pad_classes
from mercer._stand_in import stand_in

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ClassPredictions:
    """Codes are positions in `labels`; the columns of `probability` are in that order."""

    labels: list[Any]
    true: IntArray
    predicted: IntArray
    probability: FloatArray | None
    decision: FloatArray | None  # where the model gives these and no probabilities

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def score(self) -> FloatArray | None:
        """For two classes: what ranks rows by the second class."""
        if self.n_classes != 2:
            return None
        return self.probability[:, 1] if self.probability is not None else self.decision

    def truth(self, rows: Any = slice(None)) -> npt.NDArray[Any]:
        """The true labels of some rows."""
        found: npt.NDArray[Any] = np.asarray(self.labels)[self.true[rows]]
        return found

    def stand_in(self, rows: Any = slice(None)) -> Any:
        """A model that predicts these rows as ours did, whatever X it is handed."""
        classes = np.asarray(self.labels)
        parts = {"probability": self.probability, "decision": self.decision}
        taken = {name: None if part is None else part[rows] for name, part in parts.items()}
        return stand_in(classes[self.predicted[rows]], classes=classes, **taken)


@dataclass(frozen=True)
class NumberPredictions:
    """The true numbers and the predicted ones."""

    true: FloatArray
    predicted: FloatArray

    def truth(self, rows: Any = slice(None)) -> FloatArray:
        """The true numbers of some rows."""
        found: FloatArray = self.true[rows]
        return found

    def stand_in(self, rows: Any = slice(None)) -> Any:
        """A model that predicts these rows as ours did, whatever X it is handed."""
        return stand_in(self.predicted[rows])


def as_codes(y: Any, labels: Sequence[Any], name: str) -> IntArray:
    """The positions in `labels` of the values of `y`, which may hold labels as they are or as text."""
    values = np.asarray(y).tolist()
    for spelling in (lambda label: label, str):
        codes = {spelling(label): code for code, label in enumerate(labels)}
        if all(spelling(value) in codes for value in values):
            return np.array([codes[spelling(value)] for value in values], dtype=np.intp)
    unknown = next(value for value in values if str(value) not in codes)
    raise ValueError(f"{name} holds the label {unknown!r}, which is not among the classes {list(labels)!r}.")


def predict_classes(model: Any, X: Any, y: Any, labels: Sequence[Any]) -> ClassPredictions:
    """What a classifier says of rows with known labels; it may have seen fewer than `labels`."""
    labels = np.asarray(labels).tolist() if not isinstance(labels, list) else labels
    known = as_codes(np.asarray(getattr(model, "classes_", labels)), labels, "model.classes_")
    probability = decision = None
    if hasattr(model, "predict_proba"):
        given = np.asarray(model.predict_proba(X), dtype=np.float64)
        probability = pad_classes(given, known, len(labels))
    elif hasattr(model, "decision_function"):
        decision = np.asarray(model.decision_function(X), dtype=np.float64)
        decision = decision.ravel() if len(labels) == 2 else decision
    predicted = as_codes(model.predict(X), labels, "model.predict(X_test)")
    return ClassPredictions(labels, as_codes(y, labels, "y_test"), predicted, probability, decision)


def predict_numbers(model: Any, X: Any, y: Any) -> NumberPredictions:
    """Predicted numbers beside the true ones."""
    true, predicted = (np.asarray(values, dtype=np.float64).ravel() for values in (y, model.predict(X)))
    return NumberPredictions(true, predicted)
