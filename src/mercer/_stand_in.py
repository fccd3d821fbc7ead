"""A stand-in for a fitted model: known predictions of known rows, as a scorer asks for them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if


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
    """Stands in for a classifier, with the methods whose answers are known."""

    def __init__(self, prediction: Any, classes_: Any, probability: Any, decision: Any) -> None:
        super().__init__(prediction)
        self.classes_, self.probability, self.decision = classes_, probability, decision

    @available_if(lambda self: self.probability is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        return self.probability

    @available_if(lambda self: self.decision is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        return self.decision


def stand_in(prediction: Any, *, classes: Any = None, probability: Any = None, decision: Any = None) -> Any:
    """What scores as a model does that gave these predictions; without classes it is a regressor."""
    return _Regressor(prediction) if classes is None else _Classifier(prediction, classes, probability, decision)
