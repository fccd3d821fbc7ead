"""What a fitted model says of rows, once, in a form that measures, curves and lists of errors share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from mercer._arrays import FloatArray
from mercer._report.frames import IntArray


@dataclass(frozen=True)
class ClassPredictions:
    """Codes are positions in `labels`; the columns of `probability` are in that order."""

    labels: list[Any]
    true: IntArray
    predicted: IntArray
    probability: FloatArray | None
    decision: FloatArray | None  # of the second class of two, where the model gives one

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def score(self) -> FloatArray | None:
        """For two classes: what ranks rows by the second class."""
        return self.probability[:, 1] if self.probability is not None else self.decision


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
    """Labels, probabilities and decision values of a fitted classifier on rows with known labels."""
    labels = np.asarray(labels).tolist() if not isinstance(labels, list) else labels
    known = as_codes(np.asarray(getattr(model, "classes_", labels)), labels, "model.classes_")
    probability = decision = None
    if hasattr(model, "predict_proba"):
        given = np.asarray(model.predict_proba(X), dtype=np.float64)
        probability = np.zeros((len(given), len(labels)))
        probability[:, known] = given
    elif hasattr(model, "decision_function") and len(labels) == 2:
        decision = np.asarray(model.decision_function(X), dtype=np.float64).ravel()
    predicted = as_codes(model.predict(X), labels, "model.predict(X_test)")
    return ClassPredictions(labels, as_codes(y, labels, "y_test"), predicted, probability, decision)


class _Replay(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Repeats what a model has said of the rows whose positions it is handed as X, so that any scorer can be resampled."""

    def __init__(self, predicted: Any = None) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any = None) -> Any:
        raise TypeError("a replay repeats predictions and learns nothing")

    def predict(self, X: Any) -> Any:
        return self.predicted[X[:, 0]]


class ReplayRegressor(RegressorMixin, _Replay):  # type: ignore[misc]
    """Repeats the values of a regressor."""


class ReplayClassifier(ClassifierMixin, _Replay):  # type: ignore[misc]
    """Repeats the labels of a classifier, and its probabilities or decision values where it gave them."""

    def __init__(self, predicted: Any = None, classes: Any = None, probability: Any = None, decision: Any = None) -> None:
        super().__init__(predicted)
        self.classes = classes
        self.probability = probability
        self.decision = decision

    @property
    def classes_(self) -> Any:
        return self.classes

    @available_if(lambda self: self.probability is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        return self.probability[X[:, 0]]

    @available_if(lambda self: self.decision is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        return self.decision[X[:, 0]]


def replay_of(found: ClassPredictions | tuple[FloatArray, FloatArray]) -> tuple[Any, Any]:
    """The replay of predictions, and the true values in the form that it predicts."""
    if isinstance(found, tuple):
        true, predicted = found
        return ReplayRegressor(predicted), true
    labels = np.asarray(found.labels)
    replay = ReplayClassifier(labels[found.predicted], labels, found.probability, found.decision)
    return replay, labels[found.true]
