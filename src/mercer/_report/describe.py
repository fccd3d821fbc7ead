"""What a report says of one fitted model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._assessment.confusion import confusion_matrix
from mercer._assessment.predictions import ClassPredictions, NumberPredictions, as_codes, predict_classes, predict_numbers
from mercer._random import as_random_state
from mercer._report.baseline import baseline_of, cautions_of
from mercer._report.content import ClassMeasures, Confusion, Curves, Description, Measure, Residuals, Scores, Test
from mercer._report.cutoffs import Cutoff, calibration_of, roc_and_pr, scores_of, threshold_curves, tuned_threshold
from mercer._report.data.content import Drift, Profile
from mercer._report.data.profile import describe_table
from mercer._report.errors import row_numbers, worst_class_errors, worst_regression_errors
from mercer._report.explained.model import Rows, explain_model
from mercer._report.importance import permutation_importance
from mercer._report.learning import Learner, learning_curve
from mercer._report.measures import LEVEL, class_measures, measures_per_class, metric_of, regression_measures
from mercer._report.numbers import decimals_for, interval, level, number
from mercer._report.residuals import residuals_of
from mercer._report.scoring import Scoring, as_scoring
from mercer._report.segments.content import Segments
from mercer._report.segments.errors import segments_of
from mercer._tables import Table, as_table

PHASES = ("test", "importance", "errors", "data", "explanations", "learning")

_IMPORTANCE_SHARE, _DATA_SHARE, _EXPLANATION_SHARE = 0.25, 0.15, 0.35  # of the time that is left after the test


def describe(
    model: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    task: str,
    classes: Sequence[Any] | None,
    scoring: Any,
    random_state: Any,
    cv_score: float | None = None,
    cv_spread: float | None = None,
    seconds: float = 60.0,
    on_phase: Callable[[str], None] | None = None,
    test_rows: Any = None,
    cutoff: Cutoff | None = None,
    decide: Callable[[FloatArray], Any] | None = None,
    test_weights: Any = None,
    learner: Learner | None = None,
    target: str = "target",
) -> Description:
    """Measures with intervals, curves, importance, worst errors, explanations and the learning curve of a fitted model.

    Parameters
    ----------
    model : fitted estimator
        Takes the tables as they are: a pipeline over raw columns, say.
    X_train, y_train, X_test, y_test : polars or pandas frames or arrays
        What the model was fitted on, and rows that it has not seen.
    task : {"binary", "multiclass", "regression"}
    classes : sequence or None
        The labels; of two, the second is the positive one. None for a regression.
    scoring : str or callable
        What models were compared by, by scikit-learn's convention. Losses ("neg_…") are reported as losses.
    random_state : int, RandomState instance or None
        Same seed, same description, so long as the time allows all of it. Less time gives fewer rounds, folds and sizes,
        never other ones.
    cv_score, cv_spread : float or None, default=None
        The score in cross-validation and its standard deviation over folds. The sign of a loss does not matter.
    seconds : float, default=60.0
        Time for importance, explanations and the learning curve, the parts that call the model again. One fit is never cut
        short.
    on_phase : callable or None, default=None
        Called with the name of each phase (`PHASES`) as it begins.
    test_rows : array of int or None, default=None
        The numbers that the rows of X_test have in their source; None numbers them from 0.
    cutoff : Cutoff or None, default=None
        Of two classes, a cut-off of the probability of the second that was chosen out of fold.
    decide : callable or None, default=None
        What labels (their places) are predicted by probabilities; None is what the model itself predicts.
    test_weights : array or None, default=None
        How much each test row counts in measures; curves and tables of counts are of rows.
    learner : Learner or None, default=None
        How the learning curve divides and weighs the training rows; None is at random, and equally.
    target : str, default="target"
        What the target is called.

    Returns
    -------
    description : dict
        The keys test, confusion, scores, curves, residuals, importance, errors, profile, drift, segments, explained, learning
        and notes (what was cut short, in words), as `Description` declares; JSON-able, without NaN.
    """
    if task not in ("binary", "multiclass", "regression"):
        raise ValueError(f"describe: task is {task!r}; it must be 'binary', 'multiclass' or 'regression'.")
    if not (isinstance(seconds, (int, float)) and seconds > 0):
        raise ValueError(f"describe: seconds is {seconds!r}; it must be a positive number.")
    train, test = as_table(X_train, "X_train"), as_table(X_test, "X_test")
    _check_rows("train", train, y_train)
    _check_rows("test", test, y_test)
    tell = on_phase or (lambda phase: None)
    measure = as_scoring(scoring)
    seed = int(as_random_state(random_state).randint(np.iinfo(np.int32).max))
    numbers = row_numbers(test_rows, test.n_rows)
    tell("test")
    if task == "regression":
        part = _regression_part(model, test, y_test, measure, seed, test_weights)
    else:
        labels = _checked_classes(task, classes)
        part = _class_part(model, test, y_test, labels, measure, seed, test_weights, cutoff, decide)
    if test_weights is not None:
        part.notes.append("Measures count rows by their weights; curves, residuals and tables of counts are of rows.")
    tell("importance")
    start = time.monotonic()
    importance, importance_note = permutation_importance(
        model, test, y_test, measure, seed, start + _IMPORTANCE_SHARE * seconds
    )
    tell("errors")
    if isinstance(part.found, ClassPredictions):
        errors = worst_class_errors(part.found, test, importance, numbers)
        strata = as_codes(y_train, part.found.labels, "y_train")
    else:
        errors = worst_regression_errors(part.found.true, part.found.predicted, test, importance, numbers)
        strata = None
    tell("data")
    leading = [row["column"] for row in importance]
    about = _AboutData()
    try:
        about = _about_data(part.found, train, y_train, test, y_test, target, classes, leading, seed, _DATA_SHARE * seconds)
    except Exception as error:  # whatever a table may hold: the rest of the report stands
        about.notes.append(f"Data: there are no figures of the table ({type(error).__name__}: {error}).")
    tell("explanations")
    try:
        rows = Rows.of(model, classes, train, test, numbers)
        explained, explanation_notes = explain_model(rows, y_train, errors, seed, _EXPLANATION_SHARE * seconds)
    except Exception as error:  # a model may fail at rows that are put together: the rest of the report stands
        explained, explanation_notes = None, [f"Explanations: there are none ({type(error).__name__}: {error})."]
    tell("learning")
    learning, learning_note = learning_curve(model, train, y_train, strata, measure, seed, start + seconds, learner)
    cv_score, cv_spread = _natural(cv_score, measure), _finite(cv_spread)
    return Description(
        test=Test(
            n=test.n_rows,
            level=LEVEL,
            measures=part.measures,
            per_class=part.per_class,
            cv_score=cv_score,
            cv_spread=cv_spread,
            reading=_test_reading(metric_of(part.measures), cv_score, cv_spread),
            baseline=baseline_of(
                part.found,
                y_train,
                y_test,
                part.measures,
                measure,
                seed,
                train_weights=None if learner is None else learner.weights,
                test_weights=test_weights,
            ),
            cautions=cautions_of(part.measures, part.per_class),
        ),
        confusion=part.confusion,
        scores=part.scores,
        curves=part.curves,
        residuals=part.residuals,
        importance=importance,
        errors=errors,
        profile=about.profile,
        drift=about.drift,
        segments=about.segments,
        explained=explained,
        learning=learning,
        notes=[note for note in (*part.notes, importance_note, *about.notes, *explanation_notes, learning_note) if note],
    )


@dataclass
class _Part:
    """What depends on the kind of task."""

    found: ClassPredictions | NumberPredictions
    measures: list[Measure]
    per_class: list[ClassMeasures] | None = None
    confusion: Confusion | None = None
    scores: Scores | None = None
    curves: Curves | None = None
    residuals: Residuals | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class _AboutData:
    """What depends on the tables rather than on the model."""

    profile: Profile | None = None
    drift: Drift | None = None
    segments: Segments | None = None
    notes: list[str] = field(default_factory=list)


def _about_data(
    found: ClassPredictions | NumberPredictions,
    train: Table,
    y_train: Any,
    test: Table,
    y_test: Any,
    target: str,
    classes: Sequence[Any] | None,
    leading: Sequence[str],
    seed: int,
    seconds: float,
) -> _AboutData:
    described = describe_table(
        train, y_train, test, y_test, name=target, classes=classes, leading=leading, seed=seed, seconds=seconds
    )
    segments = segments_of(found, described.features, described.test_rows)
    return _AboutData(described.profile, described.drift, segments, described.notes)


def _regression_part(model: Any, test: Table, y_test: Any, scoring: Scoring, seed: int, weights: Any) -> _Part:
    found = predict_numbers(model, test.data, y_test)
    if not np.isfinite(found.predicted).all():
        raise ValueError("describe: the model predicts NaN or infinite values for rows of X_test.")
    measures = regression_measures(found, scoring, np.random.RandomState(seed), weights)
    return _Part(found, measures, residuals=residuals_of(found.true, found.predicted))


def _class_part(
    model: Any,
    test: Table,
    y_test: Any,
    classes: list[Any],
    scoring: Scoring,
    seed: int,
    weights: Any,
    cutoff: Cutoff | None,
    decide: Callable[[FloatArray], Any] | None,
) -> _Part:
    found = predict_classes(model, test.data, y_test, classes)
    if decide is not None and found.probability is not None:
        found = replace(found, predicted=decide(found.probability))
    part = _Part(found, class_measures(found, scoring, np.random.RandomState(seed), weights))
    matrix = confusion_matrix(found.true, found.predicted, found.n_classes)
    part.confusion = Confusion(labels=[str(label) for label in classes], matrix=matrix.tolist())
    absent = [str(label) for code, label in enumerate(classes) if not np.any(found.true == code)]
    if absent:
        part.notes.append(f"The test rows hold no row of {', '.join(absent)}: some measures and curves are not defined.")
    if found.n_classes > 2:
        part.per_class = measures_per_class(found)
    if found.n_classes == 2 and found.score is not None and np.isfinite(found.score).all():
        if cutoff is not None and found.probability is not None:
            part.scores = scores_of(found, cutoff.value, cutoff.chosen_for)
        else:
            part.scores = scores_of(found, tuned_threshold(model))
        if part.scores["at"] is None:
            part.notes.append("No cut-off of the scores gives the model's own predictions: it decides by something else.")
    part.curves = _curves(found, part.scores)
    return part


def _curves(found: ClassPredictions, scores: Scores | None) -> Curves:
    """Curves of the positive class of two, or of each class against the rest; the more classes, the fewer points a curve."""
    codes = [1] if found.n_classes == 2 else list(range(found.n_classes))
    curves = Curves(roc=[], pr=[], calibration=[], threshold=threshold_curves(scores) if scores else None)
    for code in codes:
        score = found.probability[:, code] if found.probability is not None else found.score
        if score is None or not np.isfinite(score).all():
            continue
        is_positive = found.true == code
        if pair := roc_and_pr(found.labels[code], is_positive, score, max(40, 400 // len(codes))):
            curves["roc"].append(pair[0])
            curves["pr"].append(pair[1])
        if found.probability is not None:
            curves["calibration"].append(calibration_of(found.labels[code], is_positive, score))
    return curves


def _check_rows(which: str, table: Table, y: Any) -> None:
    n_labels = len(np.asarray(y))
    if table.n_rows != n_labels or n_labels == 0:
        raise ValueError(
            f"describe: X_{which} has {table.n_rows} rows and y_{which} {n_labels}; they must be equally many, and some."
        )


def _checked_classes(task: str, classes: Sequence[Any] | None) -> list[Any]:
    labels = [] if classes is None else np.asarray(classes).tolist()
    if len(labels) < 2 or (task == "binary") != (len(labels) == 2) or len(set(labels)) < len(labels):
        wanted = "two distinct labels" if task == "binary" else "three or more distinct labels"
        raise ValueError(f"describe: classes is {classes!r}; for task={task!r} it must hold {wanted}.")
    return labels


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _natural(value: float | None, scoring: Scoring) -> float | None:
    """A score in the units it is shown in: losses are not negative, whichever sign they were handed with."""
    known = _finite(value)
    return abs(known) if known is not None and scoring.is_loss else known


def _test_reading(metric: Measure, cv_score: float | None, cv_spread: float | None) -> str:
    """The test score beside that of cross-validation.

    They agree if they differ by no more than twice the root of the sum of squares of the spread over folds and of the standard
    error on the test (half the way to the end of the interval on that side, as the interval is about two of them either way).
    """
    label, value = metric["label"], metric["value"]
    if value is None:
        return f"{label} is not defined on the test rows."
    decimals = decimals_for([value])
    ends = "" if metric["low"] is None else f" ({level(LEVEL)} {interval(metric['low'], metric['high'], decimals)})"
    text = f"{label} on the test rows is {number(value, decimals)}{ends}"
    if cv_score is None:
        return f"{text}."
    text += f"; in cross-validation it was {number(cv_score, decimals)}"
    if cv_spread is None or metric["low"] is None or metric["high"] is None:
        return f"{text}."
    text += f" with a spread of {number(cv_spread, decimals)} over the folds"
    reach = metric["high"] - value if cv_score > value else value - metric["low"]
    noise = 2 * math.hypot(cv_spread, reach / 2)
    gain = (value - cv_score) * (1 if metric["greater_is_better"] else -1)
    if abs(gain) <= noise:
        return f"{text}. The two agree: nothing points to a choice that flattered itself."
    if gain > 0:
        return f"{text}. The test rows came out easier than the folds: expect new rows to be nearer to cross-validation."
    return (
        f"{text}. The test score is clearly worse: the search fitted its folds, or the test rows differ from the training rows."
    )
