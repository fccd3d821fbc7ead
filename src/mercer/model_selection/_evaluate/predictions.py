"""What a model says of the test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.model_selection._folds import Table
from mercer.model_selection._stand_in import stand_in


@dataclass(frozen=True)
class Predictions:
    """The truth and the predictions, for classes as codes from 0, with scores and probabilities where the model has them."""

    true: Any
    predicted: Any
    labels: npt.NDArray[Any]  # as the model gave them
    truth: npt.NDArray[Any]  # as the user gave it
    classes: npt.NDArray[Any] | None = None  # None: numbers
    score: FloatArray | None = None  # of the second of two classes
    probability: FloatArray | None = None
    decision: FloatArray | None = None

    def stand_in(self, index: Any) -> Any:
        """A model that predicts these rows as ours did."""
        parts = {"probability": self.probability, "decision": self.decision}
        taken = {name: None if part is None else part[index] for name, part in parts.items()}
        return stand_in(self.labels[index], classes=self.classes, **taken)

    def table(self, index: Any) -> Table:
        """The truth about these rows; a stand-in looks at no X."""
        return Table(np.zeros((len(index), 1)), self.truth[index])


def predict_rows(model: Any, test: Table, classes: npt.NDArray[Any] | None) -> Predictions:
    """Predictions of the test rows; `classes` are those of all rows, of which the model may have seen fewer."""
    truth, labels = np.asarray(test.y), np.asarray(model.predict(test.X))
    if classes is None:
        return Predictions(truth.astype(np.float64), np.asarray(labels, dtype=np.float64).reshape(truth.shape), labels, truth)
    codes = np.searchsorted(classes, truth), np.searchsorted(classes, labels)
    if hasattr(model, "predict_proba"):
        probability = np.zeros((len(truth), len(classes)))
        probability[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(test.X)
        score = probability[:, 1] if len(classes) == 2 else None
        return Predictions(*codes, labels, truth, classes, score, probability)
    if hasattr(model, "decision_function"):
        decision = np.asarray(model.decision_function(test.X), dtype=np.float64)
        score = decision if decision.ndim == 1 and len(classes) == 2 else None
        return Predictions(*codes, labels, truth, classes, score, decision=decision)
    return Predictions(*codes, labels, truth, classes)
