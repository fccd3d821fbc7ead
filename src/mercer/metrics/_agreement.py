"""Measures of predicted classes over all classes at once: accuracy and error, balanced and weighted, correlation, kappa."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.exceptions import UndefinedMetricWarning

from mercer import _confusion
from mercer._confusion import geometric_mean_of_defined, kappa, mcc, mean_of_defined
from mercer._params import Bool, Null, OneOf, Real, check_value
from mercer._trace import warn
from mercer.metrics._averages import ZeroDivision, ratio
from mercer.metrics._confusion import confusion_matrix
from mercer.metrics._labels import Array, is_multilabel
from mercer.metrics._tally import Tally, tally


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows with the right label (for multilabel data: with all labels right).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    normalize : bool, default=True
        If False, the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    score : float

    Examples
    --------
    Accuracy says little where one class is rare: all-negative predictions for 1,000 positives among 100,000 rows.

    >>> import numpy as np
    >>> from mercer.metrics import accuracy_score, recall_score
    >>> y_true, y_pred = np.repeat([1, 0], [1_000, 99_000]), np.zeros(100_000, dtype=int)
    >>> accuracy_score(y_true, y_pred), recall_score(y_true, y_pred)
    (0.99, 0.0)
    """
    check_value("accuracy_score", "normalize", normalize, Bool())
    if is_multilabel(y_true) or is_multilabel(y_pred):
        return float(sklearn.metrics.accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight))
    counts = tally(y_true, y_pred, sample_weight)
    right, total = map(float, counts.accuracy)
    return right / total if normalize else right


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows with a wrong label: 1 - accuracy.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    normalize : bool, default=True
        If False, the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import zero_one_loss
    >>> zero_one_loss(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.25
    """
    check_value("zero_one_loss", "normalize", normalize, Bool())
    if is_multilabel(y_true) or is_multilabel(y_pred):
        return float(sklearn.metrics.zero_one_loss(y_true, y_pred, normalize=normalize, sample_weight=sample_weight))
    counts = tally(y_true, y_pred, sample_weight)
    wrong = float(counts.total - counts.hits.sum())
    return wrong / float(counts.total) if normalize else wrong


def error_rate(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of rows with a wrong label, under the name that the textbooks use; the same as :func:`zero_one_loss`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    rate : float

    Examples
    --------
    >>> from mercer.metrics import error_rate
    >>> error_rate([1, 1, 0, 0], [1, 0, 0, 0])
    0.25
    """
    return zero_one_loss(y_true, y_pred, sample_weight=sample_weight)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of labels that are wrong; with one label a row this is the error rate.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.metrics import hamming_loss
    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]]))
    0.25
    """
    if is_multilabel(y_true) or is_multilabel(y_pred):
        return float(sklearn.metrics.hamming_loss(y_true, y_pred, sample_weight=sample_weight))
    return zero_one_loss(y_true, y_pred, sample_weight=sample_weight)


def _recalls_of_true_classes(counts: Tally) -> Array:
    """The recall of each class that has rows."""
    has_rows = counts.n_true != 0
    if not has_rows.all():
        warn("y_pred contains classes not in y_true; they are left out of the mean.")
    recalls: Array = _confusion.ratio(*counts.recall)[has_rows]
    return recalls


def _tally_single(y_true: Any, y_pred: Any, sample_weight: Any, owner: str) -> Tally:
    counts = tally(y_true, y_pred, sample_weight)
    if counts.is_multilabel:
        raise ValueError(f"{owner}: multilabel-indicator is not supported; y_true and y_pred must hold one label a row.")
    return counts


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
    recalls = _recalls_of_true_classes(_tally_single(y_true, y_pred, sample_weight, "balanced_accuracy_score"))
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
    recalls = _recalls_of_true_classes(_tally_single(y_true, y_pred, sample_weight, "g_mean_score"))
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
    counts = _tally_single(y_true, y_pred, sample_weight, owner)
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


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Matthews' correlation of true and predicted classes: 1 is perfect, 0 no better than chance, -1 all wrong.

    For two classes, (TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN)); for many, with t_c and p_c the number of
    rows of class c and predicted as c, and h those that are right among n,

        MCC = (h n - sum_c t_c p_c) / sqrt((n^2 - sum_c p_c^2) (n^2 - sum_c t_c^2)).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    mcc : float
        0 where `y_true` or `y_pred` has one class only.

    References
    ----------
    J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", 2004.

    Examples
    --------
    >>> from mercer.metrics import matthews_corrcoef
    >>> matthews_corrcoef([1, 1, 0, 0], [1, 1, 0, 0])
    1.0
    """
    return float(mcc(_tally_single(y_true, y_pred, sample_weight, "matthews_corrcoef")))


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = np.nan,
) -> float:
    """Cohen's kappa: the agreement of two labellings beyond what chance would give.

    With the confusion matrix C, the one expected by chance E_ij = n_i m_j / n, and costs w_ij of a disagreement (1 by default),

        kappa = 1 - sum_ij w_ij C_ij / sum_ij w_ij E_ij.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_samples,)
        The two labellings; their order does not matter.
    labels : array-like, default=None
        The labels to look at, in the order that `weights` go by; all that occur by default.
    weights : {"linear", "quadratic"} or None, default=None
        Costs |i - j| or (i - j)^2 of taking the i-th label for the j-th.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    replace_undefined_by : float in [-1, 1] or nan, default=nan
        The value where kappa divides by zero.

    Returns
    -------
    kappa : float

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960).

    Examples
    --------
    >>> from mercer.metrics import cohen_kappa_score
    >>> cohen_kappa_score([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    check_value("cohen_kappa_score", "weights", weights, OneOf("linear", "quadratic") | Null())
    if not (isinstance(replace_undefined_by, float) and np.isnan(replace_undefined_by)):
        check_value("cohen_kappa_score", "replace_undefined_by", replace_undefined_by, Real(least=-1, most=1))
    try:
        table = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    except ValueError as error:
        if "must be in y_true" in str(error):
            raise ValueError("At least one label in `labels` must be present in `y1`.") from error
        raise
    found = float(kappa(table, _costs(weights, len(table))))
    if np.isnan(found):
        warn(
            "`y1` and `y2` have fewer than two labels (of `labels`) in common: `cohen_kappa_score` is undefined and set to "
            f"`replace_undefined_by`, which is {replace_undefined_by}.",
            UndefinedMetricWarning,
        )
        return replace_undefined_by
    return found


def _costs(weights: str | None, n_classes: int) -> Array | None:
    """What it costs to take the i-th label for the j-th; None stands for 1, whatever the labels."""
    if weights is None:
        return None
    distance: Array = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(np.float64)
    return distance if weights == "linear" else distance**2
