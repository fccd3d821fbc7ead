"""`evaluate`: the whole protocol as one call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_consistent_length

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.predictions import ClassPredictions, NumberPredictions, predict_classes, predict_numbers
from mercer._params import (
    ArrayLike,
    Bool,
    Fittable,
    Integer,
    InvalidParameterError,
    Null,
    OneOf,
    RandomState,
    Real,
    check_value,
)
from mercer._random import as_random_state
from mercer._rows import take_rows
from mercer.model_selection._evaluate.evaluation import Evaluation
from mercer.model_selection._evaluate.hold_out import HoldOut
from mercer.model_selection._evaluate.measures import Measure, measure_test
from mercer.model_selection._folds import Table
from mercer.model_selection._scoring import Scoring
from mercer.model_selection._tune.space import own_space
from mercer.model_selection._tune.tune import tune

_RULES = {
    "estimator": Fittable(),
    "test_size": Real(above=0, below=1) | Integer(1),
    "validation_size": Real(above=0, below=1) | Integer(1) | Null(),
    "stratify": OneOf("auto") | Bool() | Null() | ArrayLike(),
    "level": Real(above=0, below=1),
    "n_bootstrap": Integer(1),
    "random_state": RandomState(),
}


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    space: Mapping[str, Any] | None = None,
    scoring: Any = None,
    test_size: float = 0.25,
    validation_size: float | None = None,
    cv: Any = None,
    stratify: Any = "auto",
    groups: Any = None,
    search: str = "auto",
    n_trials: int | None = None,
    time_limit: float | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Learn and test by the book: hold out a test set, tune on the rest by folds or a validation set, refit on all of it, and
    test once.

    Parameters
    ----------
    estimator : classifier, regressor or pipeline
        Left as it is.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    space : mapping or None, default=None
        What to search, as in `tune`. None takes what the estimator finds worth searching, if anything; an empty mapping means
        no search: the folds then tell how the estimator does as it is.
    scoring : str, callable or None, default=None
        What decides the search; None means accuracy for classes and R2 for numbers.
    test_size : float or int, default=0.25
        The share, or the number, of rows (with `groups`, of groups) to hold out.
    validation_size : float, int or None, default=None
        The share of all rows, or the number, that a validation set gets, in place of folds: each candidate learns once from the
        rows that are neither in it nor in the test set. None means folds.
    cv : int, splitter, iterable, "oob" or None, default=None
        As in `tune`: 5 folds, or out-of-bag rows where the estimator offers them.
    stratify : "auto", bool, array or None, default="auto"
        Whether the test set has the same shares of classes; an array gives strata of its own. "auto" means yes for classes of
        two rows or more each. Without effect on the folds, which scikit-learn always stratifies for classifiers.
    groups : array of shape (n_samples,), default=None
        Which rows belong together: none is on both sides of the split, or of a fold, and intervals come from resampled groups.
    search, n_trials, time_limit, n_jobs
        As in `tune`.
    level : float, default=0.95
        The confidence level of the intervals.
    n_bootstrap : int, default=1000
        Resamples behind the intervals that have no closed form.
    random_state : int, RandomState or None, default=None
        Of the split (which is that of `train_test_split`), the search and the resamples.

    Returns
    -------
    Evaluation

    Notes
    -----
    Intervals: Wilson's for shares (accuracy, recall, specificity, precision), DeLong's for the area under the ROC curve of
    two classes, and for the others percentiles of a bootstrap that keeps the number of rows of each class. They say how the
    test might have come out with other test rows, not with another training set.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer.linear_model import RidgeClassifier
    >>> from mercer.model_selection import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = evaluate(RidgeClassifier(), X, y, space={"alpha": [0.01, 1, 100]}, random_state=0)
    >>> len(result.test_rows)
    143
    >>> accuracy = result.measures["accuracy"]
    >>> accuracy.low < accuracy.value < accuracy.high
    True

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, "The Elements of Statistical Learning", 2nd edition, 2009, chapter 7.
    """
    given = {"estimator": estimator, "test_size": test_size, "validation_size": validation_size, "stratify": stratify}
    given |= {"level": level, "n_bootstrap": n_bootstrap, "random_state": random_state}
    for name, rule in _RULES.items():
        check_value("evaluate", name, given[name], rule)
    _check_kind(estimator, y)
    if validation_size is not None and cv is not None:
        raise InvalidParameterError(
            f"evaluate: cv={cv!r} is not valid with validation_size={validation_size!r}; give one of them."
        )
    X = X if hasattr(X, "shape") else np.asarray(X)
    check_consistent_length(X, y, groups)

    split = HoldOut(X, y, groups, is_classifier(estimator), stratify, random_state)
    train_rows, test_rows = split.whole(test_size)
    validation = None if validation_size is None else split.within(train_rows, validation_size)
    train, test = Table(X, y).rows(train_rows), Table(X, y).rows(test_rows)
    tuning = tune(
        estimator,
        train.X,
        train.y,
        {} if space is None and own_space(estimator) is None else space,
        scoring=scoring,
        cv=cv if validation is None else [validation],
        search=search,
        n_trials=n_trials,
        time_limit=time_limit,
        groups=take_rows(groups, train_rows),
        random_state=random_state,
        n_jobs=n_jobs,
    )
    model = tuning.best_estimator
    classes = np.unique(np.asarray(y)) if is_classifier(estimator) else None
    found = _predictions(model, test, classes)
    bootstrap = _bootstrap(found, take_rows(groups, test_rows), n_bootstrap, random_state)
    measures = {measure.name: measure for measure in measure_test(found, bootstrap, level)}
    score_by = Scoring(estimator, scoring)
    return Evaluation(
        task="regression" if classes is None else "two classes" if len(classes) == 2 else "many classes",
        model=model,
        tuning=tuning,
        test_score=_test_score(score_by, model, test, found, measures, bootstrap, level),
        train_score=score_by.score(model, train)[score_by.name],
        measures=measures,
        level=level,
        y_test=np.asarray(test.y),
        prediction=found.predicted if classes is None else classes[found.predicted],
        score=found.score if isinstance(found, ClassPredictions) else None,
        classes=classes,
        train_rows=train_rows,
        test_rows=test_rows,
        validation_rows=None if validation is None else train_rows[validation[1]],
    )


def _check_kind(estimator: Any, y: Any) -> None:
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise InvalidParameterError(
            f"evaluate: estimator={estimator!r} is not valid; it must be a classifier, a regressor or "
            "a pipeline that ends in one."
        )
    shape = np.shape(y)
    if len(shape) != 1:
        raise ValueError(f"evaluate: y of shape {shape} is not valid; it must have one value for each row of X.")


def _predictions(model: Any, test: Table, classes: Any) -> ClassPredictions | NumberPredictions:
    return predict_numbers(model, test.X, test.y) if classes is None else predict_classes(model, test.X, test.y, classes)


def _bootstrap(found: ClassPredictions | NumberPredictions, groups: Any, n_resamples: int, random_state: Any) -> Bootstrap:
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    strata = found.true if isinstance(found, ClassPredictions) else None
    return Bootstrap(len(found.true), n_resamples, as_random_state(random_state), strata, codes)


_SAME = {"accuracy": "accuracy", "r2": "R2", "roc_auc": "ROC AUC"}  # scorers that are among the measures


def _test_score(
    score_by: Scoring,
    model: Any,
    test: Table,
    found: ClassPredictions | NumberPredictions,
    measures: Mapping[str, Measure],
    bootstrap: Bootstrap,
    level: float,
) -> Measure:
    """The measure that decided the search, on the test rows; of any function of predictions, by bootstrap."""
    name = score_by.name
    value = score_by.score(model, test)[name]
    same = measures.get(_SAME.get(name, ""))
    if same is not None:
        return Measure(name, value, same.low, same.high, same.method)
    if not score_by.is_by_predictions:
        return Measure(name, value, math.nan, math.nan, "no interval")

    def scores(counts: FloatArray) -> FloatArray:
        drawn = (np.repeat(np.arange(len(found.true)), count.astype(np.intp)) for count in counts)
        tables = ((rows, Table(np.zeros((len(rows), 1)), found.truth(rows))) for rows in drawn)  # a stand-in looks at no X
        return np.array([score_by.score(found.stand_in(rows), table)[name] for rows, table in tables])

    return Measure(name, value, *bootstrap.intervals({name: scores}, level)[name], bootstrap.name)
