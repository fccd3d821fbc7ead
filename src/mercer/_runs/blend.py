"""Weights for a blend of models, from predictions of rows that the models had not seen.

Models are added one at a time, with repetition, each time the one that helps the score most (Caruana et al., 2004). The score
that is reported is honest: each fold is predicted with weights chosen on the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._labels import choose_labels
from mercer._runs.folds import Folds
from mercer._stand_in import stand_in

_N_STEPS = 15


@dataclass(frozen=True)
class Blend:
    """How often each model was chosen, and what the blend predicts and scores on every fold by weights of the other folds."""

    counts: tuple[int, ...]
    fold_scores: tuple[float, ...]
    held_out: Any


def find_blend(folds: Folds, predictions: Sequence[Any]) -> Blend:
    """`predictions` hold one array a model, over the training rows."""
    held_out, scores = np.full_like(predictions[0], np.nan), []
    for _, test in folds.splits:
        others = np.setdiff1d(folds.held, test)
        held_out[test] = _mix(predictions, _choose(folds, predictions, others))[test]
        scores.append(_score(folds, held_out, test))
    counts = _choose(folds, predictions, folds.held)
    return Blend(tuple(int(count) for count in counts), tuple(scores), held_out)


def _choose(folds: Folds, predictions: Sequence[Any], rows: Any) -> Any:
    """Counts of the best blend on the way: the first of equals."""
    counts = np.zeros(len(predictions), dtype=int)
    best, best_score = counts, -np.inf
    for _ in range(_N_STEPS):
        options = [counts + np.eye(len(counts), dtype=int)[member] for member in range(len(counts))]
        scores = [_score(folds, _mix(predictions, option), rows) for option in options]
        at = int(np.argmax(scores))
        counts = options[at]
        if scores[at] > best_score:
            best, best_score = counts, scores[at]
    return best


def _mix(predictions: Sequence[Any], counts: Any) -> Any:
    return sum(count * prediction for count, prediction in zip(counts, predictions, strict=True) if count) / counts.sum()


def _score(folds: Folds, prediction: Any, rows: Any) -> float:
    known, classes = prediction[rows], folds.problem.classes
    if classes is None:
        model = stand_in(known)
    else:
        labels = np.asarray(classes)
        model = stand_in(choose_labels(known, labels), classes=labels, probability=known)
    return folds.problem.metric.score(model, np.zeros((len(rows), 1)), folds.y[rows], folds.weights_of(rows))
