"""Labels and scores as curves to draw: of one model or several, of two classes or each of many against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray, check_labels, check_weights


class Scored(NamedTuple):
    """One curve: its name, which rows are positive, and their scores."""

    name: str
    is_positive: npt.NDArray[np.bool_]
    score: FloatArray


def scored_curves(owner: str, y_true: Any, y_score: Any, pos_label: Any) -> list[Scored]:
    """The curves of scores: one a model (`y_score` is a mapping), one a class (more than two columns), or one."""
    classes, codes = check_labels(y_true)
    if len(classes) < 2:
        raise ValueError(f"{owner}: y_true holds 1 class only, {classes[0]!r}; a curve needs two.")
    if not isinstance(y_score, Mapping):
        scores = _check_scores(owner, y_score, len(codes))
        if len(classes) == 2:
            return [_binary(owner, "", classes, codes, scores, pos_label)]
        if scores.ndim != 2 or scores.shape[1] != len(classes):
            raise ValueError(
                f"{owner}: y_score has shape {scores.shape}, and y_true {len(classes)} classes; it must have one column each."
            )
        return [Scored(str(label), codes == k, scores[:, k]) for k, label in enumerate(classes.tolist())]
    if len(classes) > 2:
        raise ValueError(
            f"{owner}: y_score is a mapping of models, and y_true has {len(classes)} classes; compare models on one class, "
            "with y_true == label and the column of that class, or give the scores of one model."
        )
    models = {str(name): _check_scores(owner, scores, len(codes)) for name, scores in y_score.items()}
    return [_binary(owner, name, classes, codes, scores, pos_label) for name, scores in models.items()]


def _check_scores(owner: str, scores: Any, n_rows: int) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n_rows:
        raise ValueError(f"{owner}: y_score has shape {values.shape}; it must have one value, or one line, for {n_rows} rows.")
    if not np.isfinite(values).all():
        raise ValueError(f"{owner}: y_score contains NaN or infinity; every score must be a finite number.")
    return values


def positive_place(owner: str, classes: npt.NDArray[Any], pos_label: Any) -> int:
    """The place of the positive one of two classes: the second, if none is named."""
    labels = classes.tolist()
    if pos_label is None:
        return len(labels) - 1
    if pos_label not in labels:
        raise ValueError(f"{owner}: pos_label={pos_label!r} is no label of y_true; it must be one of {labels!r}.")
    return int(labels.index(pos_label))


def _binary(
    owner: str, name: str, classes: npt.NDArray[Any], codes: npt.NDArray[np.intp], scores: FloatArray, pos_label: Any
) -> Scored:
    place = positive_place(owner, classes, pos_label)
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
