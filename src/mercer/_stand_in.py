"""A stand-in for a fitted model: known predictions of known rows, as a scorer asks for them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _StandIn(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predicts the rows that it was made for, whatever X it is handed."""

    def __init__(self, prediction: Any) -> None:
        self.prediction = prediction

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.prediction


class _Regressor(RegressorMixin, _StandIn):  # type: ignore[misc]
    """Stands in for a regressor."""


class _Classifier(ClassifierMixin, _StandIn):  # type: ignore[misc]
    """Stands in for a classifier."""

    def __init__(self, prediction: Any, classes_: Any) -> None:
        super().__init__(prediction)
        self.classes_ = classes_


class _WithProbabilities(_Classifier):
    def __init__(self, prediction: Any, classes_: Any, probability: Any) -> None:
        super().__init__(prediction, classes_)
        self.probability = probability

    def predict_proba(self, X: Any) -> Any:
        return self.probability


class _WithDecisions(_Classifier):
    def __init__(self, prediction: Any, classes_: Any, decision: Any) -> None:
        super().__init__(prediction, classes_)
        self.decision = decision

    def decision_function(self, X: Any) -> Any:
        return self.decision


def stand_in(prediction: Any, *, classes: Any = None, probability: Any = None, decision: Any = None) -> Any:
    """What scores as a model does that gave these predictions; without classes it is a regressor."""
    if classes is None:
        return _Regressor(prediction)
    if probability is not None:
        return _WithProbabilities(prediction, classes, probability)
    return _Classifier(prediction, classes) if decision is None else _WithDecisions(prediction, classes, decision)
