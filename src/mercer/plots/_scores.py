"""Labels and scores as curves to draw: of one model or several, of two classes or each of many against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, check_labels, check_weights
from mercer.plots._models import name_of, require_rows, takes_model

Labels = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]


class Scored(NamedTuple):
    """One curve: its name, which rows are positive, and their scores."""

    name: str
    is_positive: npt.NDArray[np.bool_]
    score: FloatArray


def scored_curves(
    owner: str,
    y_true: Any,
    y_score: Any,
    y: Any,
    pos_label: Any,
    *,
    methods: Sequence[str] = ("predict_proba", "decision_function"),
) -> list[Scored]:
    """The curves of scores: one a model (a mapping), one a class (more than two columns), or one.

    The arguments are labels and scores, or a model (a mapping of models), its rows and their labels. `methods` are those
    which give a model's scores; the first that it has is called.
    """
    if takes_model(owner, "y_true, y_score", y_true, y_score, y, many=True):
        classes, codes, given = _of_models(owner, y_true, y_score, y, methods)
    else:
        (classes, codes), given = check_labels(y_true), y_score
    n_seen = len(np.unique(codes))
    if n_seen < 2:
        raise ValueError(f"{owner}: y_true holds 1 class only, {classes[codes[0]]!r}; a curve needs two.")
    if not isinstance(given, Mapping):
        scores = _check_scores(owner, given, len(codes))
        if len(classes) == 2:
            return [_binary(owner, "", classes, codes, scores, pos_label)]
        if scores.ndim != 2 or scores.shape[1] != len(classes):
            raise ValueError(
                f"{owner}: y_score has shape {scores.shape}, and y_true {len(classes)} classes; it must have one column each."
            )
        # A class that the model knows and no row has leaves nothing to draw.
        return [Scored(str(label), codes == k, scores[:, k]) for k, label in enumerate(classes.tolist()) if (codes == k).any()]
    if len(classes) > 2:
        raise ValueError(
            f"{owner}: y_score is a mapping of models, and y_true has {len(classes)} classes; compare models on one class, "
            "with y_true == label and the column of that class, or give the scores of one model."
        )
    models = {str(name): _check_scores(owner, scores, len(codes)) for name, scores in given.items()}
    return [_binary(owner, name, classes, codes, scores, pos_label) for name, scores in models.items()]


def _of_models(owner: str, models: Any, X: Any, y: Any, methods: Sequence[str]) -> tuple[Labels, Codes, Any]:
    """The classes of a model or of several, the places of `y` among them, and scores with a column a class."""
    require_rows(owner, X, y)
    seen, codes = check_labels(y)
    if not isinstance(models, Mapping):
        classes = _classes_of(models, seen)
        return classes, _places(owner, models, classes, seen)[codes], _scores_of(owner, models, X, methods)
    if not models:
        raise ValueError(f"{owner}: the mapping of models is empty; it must have one model at least.")
    known = {name: _classes_of(model, seen) for name, model in models.items()}
    first, *others = known.values()
    if any(len(each) != len(first) or (each != first).any() for each in others):
        raise ValueError(f"{owner}: the models know different classes; all must have been fitted with the same.")
    places = _places(owner, next(iter(models.values())), first, seen)
    return first, places[codes], {name: _scores_of(owner, model, X, methods) for name, model in models.items()}


def _classes_of(model: Any, seen: Labels) -> Labels:
    """The classes that a model was fitted with; a detector of outliers was fitted with none."""
    return np.asarray(getattr(model, "classes_", seen))


def _places(owner: str, model: Any, classes: Labels, seen: Labels) -> Codes:
    """The places of the labels seen among the classes of a model."""
    labels = classes.tolist()
    if unknown := [label for label in seen.tolist() if label not in labels]:
        raise ValueError(
            f"{owner}: y holds {unknown[0]!r}, which {name_of(model)} was not fitted with; its classes are {labels!r}."
        )
    return np.array([labels.index(label) for label in seen.tolist()], dtype=np.intp)


def _scores_of(owner: str, model: Any, X: Any, methods: Sequence[str]) -> FloatArray:
    """The scores of a model, with two columns where it gives one number a row for two classes."""
    for method in methods:
        if hasattr(model, method):
            scores = getattr(model, method)(X)
            if isinstance(scores, list):
                raise ValueError(f"{owner}: {name_of(model)} predicts {len(scores)} outputs; it must predict one.")
            scores = np.asarray(scores)
            return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    raise TypeError(f"{owner}: {name_of(model)} has no {' and no '.join(methods)}; it must be a classifier that has one.")


def _check_scores(owner: str, scores: Any, n_rows: int) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n_rows:
        raise ValueError(f"{owner}: y_score has shape {values.shape}; it must have one value, or one line, for {n_rows} rows.")
    if not np.isfinite(values).all():
        raise ValueError(f"{owner}: y_score contains NaN or infinity; every score must be a finite number.")
    return values


def _positive_place(owner: str, classes: Labels, pos_label: Any) -> int:
    """The place of the positive one of two classes: the second, if none is named."""
    labels = classes.tolist()
    if pos_label is None:
        return len(labels) - 1
    if pos_label not in labels:
        raise ValueError(f"{owner}: pos_label={pos_label!r} is no label of y_true; it must be one of {labels!r}.")
    return int(labels.index(pos_label))


def _binary(owner: str, name: str, classes: Labels, codes: Codes, scores: FloatArray, pos_label: Any) -> Scored:
    place = _positive_place(owner, classes, pos_label)
    if scores.ndim == 2:
        if scores.shape[1] not in (1, 2):
            raise ValueError(f"{owner}: y_score has {scores.shape[1]} columns, and y_true 2 classes; it must have 1 or 2.")
        return Scored(name, codes == place, scores[:, place if scores.shape[1] == 2 else 0])
    return Scored(name, codes == place, scores)


def row_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    return check_weights(sample_weight, n_rows, np.float64)


def entry(name: str, text: str) -> str:
    """An entry of a legend: the name of the curve, if it has one, and a figure."""
    return f"{name} ({text})" if name else text
