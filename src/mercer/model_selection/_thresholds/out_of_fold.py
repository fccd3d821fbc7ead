"""Scores of rows by models that have not seen them, fold by fold."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit, check_cv

from mercer._arrays import FloatArray
from mercer._base import FitTask
from mercer._jobs import run_tasks
from mercer._rows import take_rows
from mercer._wrapped import Metadata, class_scores, index_rows
from mercer.model_selection._thresholds.setting import Setting, decision_scores
from mercer.model_selection._thresholds.steps import Fold

Rows = npt.NDArray[np.intp]


def make_splits(cv: Any, X: Any, y: npt.NDArray[Any], metadata: Metadata, random_state: Any) -> list[tuple[Rows, Rows]]:
    """(train, test) rows: one stratified draw for a share, scikit-learn's folds for all else."""
    if isinstance(cv, float):
        cv = StratifiedShuffleSplit(n_splits=1, test_size=cv, random_state=random_state)
    splits = check_cv(cv, y, classifier=True).split(index_rows(X, y), y, **metadata.split)
    return [(np.asarray(train), np.asarray(test)) for train, test in splits]


def make_fold(setting: Setting, scores: FloatArray, codes: Rows, weights: FloatArray | None) -> Fold:
    """Scored rows, without those of weight zero: these are as if absent."""
    scores = decision_scores(scores, setting.method, positive=setting.positive, costs=setting.costs)
    if weights is None:
        return Fold(scores, codes, np.ones(len(codes)))
    kept = weights > 0
    return Fold(scores[kept], codes[kept], weights[kept])


def _score_fold(setting: Setting, model: Any, X: Any, y: npt.NDArray[Any], split: tuple[Rows, Rows], metadata: Metadata) -> Any:
    """The model, fitted on the first rows of the split, and its scores of the others."""
    train, test = split
    model = model.fit(take_rows(X, train), y[train], **metadata.fit_rows(train, len(y)))
    return model, class_scores(setting.owner, model, take_rows(X, test), setting.method, setting.classes)


def score_folds(
    setting: Setting,
    estimator: Any,
    X: Any,
    codes: Rows,
    weights: FloatArray | None,
    splits: list[tuple[Rows, Rows]],
    metadata: Metadata,
    task: FitTask,
    n_jobs: int | None,
) -> tuple[list[Any], list[Fold]]:
    """The fitted model of each split, and the folds that have rows to judge by."""
    y = setting.classes[codes]
    X = index_rows(X, y)
    # Clones are made here, so that a generator among their parameters is copied in the same state for any n_jobs.
    jobs = [partial(_score_fold, setting, clone(estimator), X, y, split, metadata) for split in splits]
    parent, models, folds = task.subtask("folds", n_subtasks=len(splits)), [], []
    for (_, test), (model, scores) in zip(splits, run_tasks(jobs, parent, "fold", n_jobs), strict=True):
        models.append(model)
        folds.append(make_fold(setting, scores, codes[test], None if weights is None else weights[test]))
    parent.end()
    kept = [fold for fold in folds if len(fold.codes)]
    if not kept:
        raise ValueError(f"{setting.owner}: no fold has a test row of positive sample_weight; at least one must.")
    return models, kept
