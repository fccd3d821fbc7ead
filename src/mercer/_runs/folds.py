"""Scores of models on folds of the training rows, the same folds for all."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import mercer
from mercer._labels import choose_labels, pad_classes
from mercer._runs.pipelines import ESTIMATOR, PREPARER
from mercer._runs.problem import Problem
from mercer._stand_in import stand_in
from mercer._weighted import fit_weighted


@dataclass(frozen=True)
class FoldScore:
    """What one fit on all folds but one showed on that one."""

    score: float
    fit_seconds: float
    predict_us_per_row: float
    size_bytes: int | None
    prediction: Any  # probabilities, or predicted numbers; None where a classifier has no probabilities


_MOST_KEPT = 500_000_000  # bytes of prepared tables that are kept for the next model


class Folds:
    """The training rows, cut into folds once; models that want their columns prepared alike share the prepared tables.

    Attributes
    ----------
    X, y : the training rows
    weights : their weights; None where rows have none
    splits : pairs of positions among the training rows, those that learn and those that are held out
    held : the positions that some fold holds out, rising: all of them but forward in time, where the earliest only learn
    """

    def __init__(self, problem: Problem, n_folds: int, seed: int) -> None:
        self.problem = problem
        self.X, self.y = problem.rows(problem.train)
        self.weights = problem.weights_of(problem.train)
        self.splits = problem.division.folds(n_folds, seed)
        self.held = np.sort(np.concatenate([test for _, test in self.splits]))
        self._prepared: dict[tuple[str, int], Prepared] = {}

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def n_scored(self) -> int:
        """How many rows are held out and count."""
        return len(self.held) if self.weights is None else int((self.weights[self.held] > 0).sum())

    def weights_of(self, rows: Any) -> Any:
        """Weights of some training rows; None where rows have none."""
        return None if self.weights is None else self.weights[rows]

    def score(self, model: Any, fold: int) -> FoldScore:
        """Fit a clone on the other folds and score it on this one."""
        train, test = self.splits[fold]
        tables = self.prepare(model, fold)
        started = time.perf_counter()
        fitted = fit_weighted(clone(tables.estimator_of(model)), tables.train, self.y[train], self.weights_of(train))
        fit_seconds = tables.fit_seconds + time.perf_counter() - started
        started = time.perf_counter()
        prediction = self.predict(fitted, tables.test)
        predict_seconds = tables.transform_seconds + time.perf_counter() - started
        score = self.problem.metric.score(fitted, tables.test, self.y[test], self.weights_of(test))
        if not np.isfinite(score):
            raise ValueError(f"its score is {score}")
        return FoldScore(score, fit_seconds, 1e6 * predict_seconds / len(test), size_of(tables.whole(fitted)), prediction)

    def score_of(self, prediction: Any, rows: Any) -> float:
        """The score of what is predicted for some of the training rows: numbers, or probabilities of all classes."""
        classes = self.problem.classes
        if classes is None:
            model = stand_in(prediction)
        else:
            labels = np.asarray(classes)
            model = stand_in(choose_labels(prediction, labels), classes=labels, probability=prediction)
        score = self.problem.metric.score(model, np.zeros((len(rows), 1)), self.y[rows], self.weights_of(rows))
        if not np.isfinite(score):
            raise ValueError(f"its score is {score}")
        return score

    def log_loss(self, prediction: Any, rows: Any) -> float:
        """Of probabilities predicted for some of the training rows; zero for numbers."""
        if self.problem.classes is None:
            return 0.0
        codes = np.searchsorted(np.asarray(self.problem.classes), self.y[rows])
        likely = np.clip(prediction[np.arange(len(rows)), codes], 1e-15, 1.0)
        return float(-np.average(np.log(likely), weights=self.weights_of(rows)))

    def prepare(self, model: Any, fold: int) -> Prepared:
        """The tables of a fold as the first step of a pipeline makes them, or made them for an earlier model."""
        train, test = self.splits[fold]
        if not isinstance(model, Pipeline):
            return Prepared(None, self.X[train], self.X[test], 0.0, 0.0)
        preparer = model.named_steps[PREPARER]
        key = (repr(sorted(preparer.get_params(deep=False).items(), key=lambda item: item[0])), fold)
        if key not in self._prepared:
            started = time.perf_counter()
            fitted = clone(preparer)
            rows = fitted.fit_transform(self.X[train])
            fit_seconds = time.perf_counter() - started
            started = time.perf_counter()
            made = Prepared(fitted, rows, fitted.transform(self.X[test]), fit_seconds, time.perf_counter() - started)
            if sum(kept.n_bytes for kept in self._prepared.values()) + made.n_bytes > _MOST_KEPT:
                return made
            self._prepared[key] = made
        return self._prepared[key]

    def predict(self, fitted: Any, X: Any) -> Any:
        if self.problem.classes is None:
            return np.asarray(fitted.predict(X), dtype=float)
        if not hasattr(fitted, "predict_proba"):
            fitted.predict(X)  # for its time
            return None
        places = np.searchsorted(np.asarray(self.problem.classes), fitted.classes_)
        return pad_classes(fitted.predict_proba(X), places, len(self.problem.classes), dtype=np.float64)  # a fold may lack some


@dataclass(frozen=True)
class Prepared:
    """The training and test rows of one fold, made ready."""

    preparer: Any
    train: Any
    test: Any
    fit_seconds: float
    transform_seconds: float

    @property
    def n_bytes(self) -> int:
        return int(self.train.nbytes + self.test.nbytes)

    def estimator_of(self, model: Any) -> Any:
        """What is fitted to prepared rows: the estimator, after a resampler if there is one."""
        if self.preparer is None:
            return model
        return model[1:] if len(model.steps) > 2 else model.named_steps[ESTIMATOR]

    def whole(self, fitted: Any) -> Any:
        """The model as it would be stored."""
        if self.preparer is None:
            return fitted
        if isinstance(fitted, Pipeline):
            return type(fitted)([(PREPARER, self.preparer), *fitted.steps])
        return Pipeline([(PREPARER, self.preparer), (ESTIMATOR, fitted)])


def size_of(model: Any) -> int | None:
    """The bytes that a model takes in a file; None where it cannot be stored."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        try:
            mercer.save(model, path)
        except (TypeError, ValueError):
            return None
        return path.stat().st_size
