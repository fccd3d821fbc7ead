"""Scoring: how good a fitted model is on rows, by one or several scorers that share its predictions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor

from mercer._params import InvalidParameterError
from mercer.metrics import Measure, accuracy_score, check_scoring, get_measure, get_scorer_names, make_scorer
from mercer.model_selection._folds import Table

_Scorer = type(make_scorer(accuracy_score))


class Scoring:
    """The scorers of a search, looked up once. The first decides; higher is better.

    Several are computed from one call of `predict`, `predict_proba` or `decision_function` each.
    """

    def __init__(self, estimator: Any, scoring: Any) -> None:
        several = _named(scoring)
        try:
            self._scorer = check_scoring(estimator, scoring=_usual(estimator, scoring) if several is None else several)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(
                f"tune: scoring={scoring!r} is not valid; it must be None, the name of a scorer, a callable "
                f"(estimator, X, y) -> number, or a list or a mapping of these. {_complaint(scoring, error)}"
            ) from error
        self._is_several = several is not None
        self.names: tuple[str, ...] = tuple(several) if several is not None else (_name_of(estimator, scoring),)
        scorers = [_usual(estimator, scoring)] if several is None else several.values()
        # Scorers of scikit-learn look at predictions alone: any object that predicts the same will do.
        self.is_by_predictions = all(isinstance(scorer, (str, _Scorer)) for scorer in scorers)
        self._measure = _measure_of_predict(None if several is not None else _usual(estimator, scoring))

    @property
    def name(self) -> str:
        return self.names[0]

    def score(self, model: Any, rows: Table) -> dict[str, float]:
        """Scores by name; with weights, each scorer gets them."""
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        try:
            if self._measure is not None and rows.y is not None:
                found = self._measure.score(rows.y, model.predict(rows.X), **weights)
            else:
                found = self._scorer(model, *((rows.X,) if rows.y is None else (rows.X, rows.y)), **weights)
        except TypeError as error:
            if not weights or "sample_weight" not in str(error):
                raise
            raise TypeError(
                f"tune: scoring={', '.join(self.names)} takes no weights, but sample_weight is given; choose a measure "
                "that takes them."
            ) from error
        scores = found if self._is_several else {self.name: found}
        return {name: _number(name, score) for name, score in scores.items()}


def _usual(estimator: Any, scoring: Any) -> Any:
    """The measure that scikit-learn's own `score` is, by name: our measures take less time for the same number."""
    learner = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    own = inspect.unwrap(getattr(type(learner), "score", _no_score))  # what answers for rows in parts too is scikit-learn's
    if scoring is not None or own not in (ClassifierMixin.score, RegressorMixin.score):
        return scoring
    return "accuracy" if own is ClassifierMixin.score else "r2"


def _no_score() -> None:
    """Stands for a method that there is not."""


def _measure_of_predict(scoring: Any) -> Measure | None:
    """The measure of a name that looks at what `predict` gives: no scorer needs to ask each model what it is."""
    measure = get_measure(scoring) if isinstance(scoring, str) else None
    return measure if measure is not None and measure.response_method == "predict" else None


def _complaint(scoring: Any, error: Exception) -> str:
    return f"Names are: {', '.join(get_scorer_names())}." if isinstance(scoring, str) else str(error)


def _named(scoring: Any) -> dict[str, Any] | None:
    """Several scorers by name, or None for a single one."""
    if isinstance(scoring, Mapping):
        return dict(scoring)
    if isinstance(scoring, (list, tuple)):
        return {scorer if isinstance(scorer, str) else _name_of(None, scorer): scorer for scorer in scoring}
    return None


def _name_of(estimator: Any, scoring: Any) -> str:
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "r2" if is_regressor(estimator) else "score"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", scoring))


def _number(name: str, score: Any) -> float:
    if hasattr(score, "item"):
        score = score.item()
    if not isinstance(score, (int, float)):
        raise ValueError(f"tune: scoring={name} gave {score!r} of type {type(score).__name__}; it must give a number.")
    return float(score)
