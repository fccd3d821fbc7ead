"""Measures that treat classes alike, however rare: means of their recalls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer import _confusion
from mercer._confusion import geometric_mean_of_defined, mean_of_defined
from mercer._params import Bool, Real, check_value
from mercer._trace import warn
from mercer.metrics._averages import ZeroDivision, ratio
from mercer.metrics._labels import Array
from mercer.metrics._tally import Tally, tally_single


def _recalls_of_true_classes(counts: Tally) -> Array:
    """The recall of each class that has rows."""
    has_rows = counts.n_true != 0
    if not has_rows.all():
        warn("y_pred contains classes not in y_true; they are left out of the mean.")
    recalls: Array = _confusion.ratio(*counts.recall)[has_rows]
    return recalls


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """The mean recall of the classes: accuracy as if all classes were equally frequent.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    adjusted : bool, default=False
        Whether to shift and scale the score so that chance gives 0 and perfection 1.

    Returns
    -------
    score : float

    Examples
    --------
    >>> from mercer.metrics import balanced_accuracy_score
    >>> balanced_accuracy_score([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    0.75
    """
    check_value("balanced_accuracy_score", "adjusted", adjusted, Bool())
    recalls = _recalls_of_true_classes(tally_single(y_true, y_pred, sample_weight, "balanced_accuracy_score"))
    score = mean_of_defined(recalls)
    if adjusted:
        with np.errstate(invalid="ignore"):  # one class only: 0 / 0
            score = (score - 1 / len(recalls)) / np.float64(1 - 1 / len(recalls))
    return float(score)


def g_mean_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, correction: float = 0.0) -> float:
    """The geometric mean of the recalls of all classes.

    For two classes it is sqrt(sensitivity * specificity); for k classes the k-th root of the product of their recalls. A
    class that is never found makes it 0, however rare the class is.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    correction : float in [0, 1], default=0.0
        The value that takes the place of recalls of 0, so that the other classes still show.

    Returns
    -------
    score : float

    Notes
    -----
    Classes that occur in `y_pred` only have no recall and are left out, with a warning.

    References
    ----------
    M. Kubat and S. Matwin, "Addressing the curse of imbalanced training sets: one-sided selection", ICML 1997.

    Examples
    --------
    >>> from mercer.metrics import g_mean_score
    >>> g_mean_score([1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0])
    0.5
    """
    correction = check_value("g_mean_score", "correction", correction, Real(least=0, most=1))
    recalls = _recalls_of_true_classes(tally_single(y_true, y_pred, sample_weight, "g_mean_score"))
    return float(geometric_mean_of_defined(np.where(recalls == 0, correction, recalls)))


def class_weighted_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    alpha: Any = 0.5,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> float:
    """A weighted mean of the recalls of the classes, by weights of one's own choice.

    For two classes, CWA = alpha * sensitivity + (1 - alpha) * specificity. For many classes with weights alpha_c,
    CWA = sum_c alpha_c recall_c / sum_c alpha_c.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    alpha : float in [0, 1], or dict of {label: weight}, default=0.5
        The weight of the positive class, or one of each class, which also does for many classes.
    pos_label : label, default=None
        The positive class, where `alpha` is a number; by default the greater label, or True, or 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        The recall of a class that has no rows in `y_true`; "warn" is 0 with a warning.

    Returns
    -------
    score : float

    References
    ----------
    G. Cohen et al., "Learning from imbalanced data in surveillance of nosocomial infection", Artificial Intelligence in
    Medicine 37 (2006).

    Examples
    --------
    >>> from mercer.metrics import class_weighted_accuracy
    >>> y_true, y_pred = [1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]
    >>> class_weighted_accuracy(y_true, y_pred, alpha=0.8)
    0.55
    >>> class_weighted_accuracy(y_true, y_pred, alpha={0: 1, 1: 3})
    0.5625
    """
    owner = "class_weighted_accuracy"
    zero_division = check_value(owner, "zero_division", zero_division, ZeroDivision())
    counts = tally_single(y_true, y_pred, sample_weight, owner)
    of_class = _check_class_weights(alpha, pos_label, counts.present, owner)
    weighed = counts.of(list(of_class))
    recalls = ratio(*weighed.recall, name="Recall", lacking="true", average=None, zero_division=zero_division)
    return float(_confusion.class_weighted_accuracy(recalls, list(of_class.values())))


def _check_class_weights(alpha: Any, pos_label: Any, present: Array, owner: str) -> dict[Any, float]:
    """The weight of each label."""
    labels = present.tolist()
    if isinstance(alpha, Mapping):
        weights = {label: check_value(owner, f"alpha[{label!r}]", weight, Real(least=0)) for label, weight in alpha.items()}
        if missing := [label for label in labels if label not in weights]:
            raise ValueError(f"{owner}: alpha={alpha!r} has no weight for the label {missing[0]!r}; it must name every label.")
        if sum(weights.values()) == 0:
            raise ValueError(f"{owner}: alpha={alpha!r} gives all classes weight 0; at least one must be positive.")
        return weights
    alpha = check_value(owner, "alpha", alpha, Real(least=0, most=1))
    if len(labels) > 2:
        raise ValueError(
            f"{owner}: alpha={alpha!r} is the weight of one of two classes, but there are {len(labels)}; "
            "alpha must be a dict with the weight of each label."
        )
    if pos_label is None:
        pos_label = labels[-1] if len(labels) == 2 else _other(labels[0], is_positive_wanted=True)
    elif len(labels) == 2 and pos_label not in labels:
        raise ValueError(f"{owner}: pos_label={pos_label!r} is not a valid label. It should be one of {labels!r}.")
    others = [label for label in labels if label != pos_label]
    negative = others[0] if others else _other(pos_label, is_positive_wanted=False)
    return {negative: 1 - alpha, pos_label: alpha}


def _other(label: Any, *, is_positive_wanted: bool) -> Any:
    """A name for the class that does not occur, or for the only one if that is the one wanted."""
    if isinstance(label, str):
        return label if is_positive_wanted else f"not {label}"
    if is_positive_wanted:
        return label if label > 0 else 1
    return 0 if label > 0 else label - 1
