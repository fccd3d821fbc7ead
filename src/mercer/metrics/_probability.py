"""Losses of predicted probabilities: logarithmic and Brier's, and the share of them that a model explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import assert_all_finite, check_array, check_consistent_length

from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, OneOf, check_value
from mercer._trace import warn
from mercer.metrics._labels import Array, Coding, check_labels, code, is_multilabel, places_of
from mercer.metrics._ranked import classes_of
from mercer.metrics._weights import check_sample_weight


def _check_probabilities(y_proba: Any) -> Array:
    """Probabilities as a float array of one or two dimensions, without a look at the values."""
    if type(y_proba) is np.ndarray and y_proba.dtype in (np.float64, np.float32) and y_proba.ndim in (1, 2):
        proba: Array = y_proba
    else:
        checks = {"ensure_2d": False, "dtype": [np.float64, np.float32], "ensure_all_finite": False}
        proba = check_array(y_proba, **checks)
    return proba if proba.flags.aligned else proba.copy()


def _require_range(proba: Array, least: float, greatest: float) -> None:
    if not (np.isfinite(least) and np.isfinite(greatest)):
        assert_all_finite(proba, input_name="y_proba")
    if greatest > 1:
        raise ValueError(f"y_proba contains values greater than 1: {greatest}")
    if least < 0:
        raise ValueError(f"y_proba contains values lower than 0: {least}")


@dataclass(frozen=True)
class _Classes:
    """The classes of the columns of probabilities, and which is the one of each label."""

    names: Array
    coding: Coding
    columns: Array  # of each number of the coding

    @property
    def codes(self) -> Array:
        codes: Array = self.columns[self.coding.values[0] - self.coding.low]
        return codes

    def weight_of_each(self, weights: Array | None) -> Array:
        counts: Array = np.bincount(self.codes, weights=weights, minlength=len(self.names)).astype(np.float64)
        return counts


def _check_classes(y_true: Any, labels: Any, n_columns: int) -> _Classes:
    coding = code(check_labels(y_true, "y_true"))
    present = classes_of(coding)
    if labels is None:
        names = present
        if len(names) == 1:
            raise ValueError(
                f"y_true contains only one label ({names[0]}). Please provide the list of all expected class labels explicitly "
                "through the labels argument."
            )
    else:
        names = np.unique(np.asarray(labels))
        _check_given(names, labels, present)
    if len(names) != max(n_columns, 2):
        raise ValueError(
            f"y_true and y_proba contain different number of classes: {len(names)} vs {max(n_columns, 2)}. Please provide the "
            f"true labels explicitly through the labels argument. Classes found: {names.tolist()}"
        )
    return _Classes(names, coding, np.array(places_of(coding.names, names), dtype=np.int32))


def _check_given(names: Array, labels: Any, present: Array) -> None:
    if len(names) == 1:
        raise ValueError(f"The labels array needs to contain at least two labels, got {names.tolist()}.")
    if list(labels) != names.tolist():
        warn(
            f"Labels passed were {labels}. But this function assumes labels are ordered lexicographically. Pass the ordered "
            f"labels={names.tolist()} and ensure that the columns of y_proba correspond to this ordering."
        )
    if unknown := set(present.tolist()) - set(names.tolist()):
        raise ValueError(f"y_true contains values {unknown} not belonging to the passed labels {labels}.")


def _sum_of_log_losses(
    y_true: Any, y_proba: Any, sample_weight: Any, labels: Any
) -> tuple[float, float, _Classes, Array | None]:
    """The weighted sum of log losses, the sum of weights, and what was found of the classes."""
    proba = _check_probabilities(y_proba)
    matrix = proba[:, None] if proba.ndim == 1 else proba
    check_consistent_length(matrix, y_true, sample_weight)
    classes = _check_classes(y_true, labels, matrix.shape[1])
    weights = check_sample_weight(sample_weight, len(matrix))
    coding = classes.coding
    loss, weight, least, greatest, deviation, has_nan = kernels.log_loss(
        matrix, coding.values[0], coding.low, classes.columns, weights, effective_threads(None)
    )
    _require_range(proba, np.nan if has_nan else least, greatest)
    if deviation > np.sqrt(np.finfo(proba.dtype).eps) + 1e-8:
        warn("The y_proba values do not sum to one. Make sure to pass probabilities.")
    return loss, weight, classes, weights


def _by_either_name(owner: str, y_proba: Any, y_pred: Any) -> Any:
    """The probabilities, which scikit-learn calls `y_proba` from 1.9 on and called `y_pred` before."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        y_pred = None
    if (y_proba is None) == (y_pred is None):
        found = "neither was" if y_proba is None else "both were"
        raise ValueError(f"{owner}: `y_proba`, or `y_pred` as it was once called, must be given, and {found}.")
    return y_pred if y_proba is None else y_proba


def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
) -> float:
    """The logarithmic loss (cross-entropy): minus the mean log of the probability given to the true label.

        L = -1/n sum_i log p_i[y_i]

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        Labels. Where several are true of a row, their losses are added.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probabilities, with columns in the order of the sorted labels; a vector is that of the greater of two labels. They are
        cut to [eps, 1 - eps], eps being that of their type, so that the loss is finite.
    normalize : bool, default=True
        If False, the sum instead of the mean.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    labels : array-like, default=None
        All labels, where not all of them occur.
    y_pred : array-like, default="deprecated"
        The name of `y_proba` before scikit-learn 1.9.

    Returns
    -------
    loss : float

    Notes
    -----
    One pass, shared among the threads, that checks the probabilities on its way; no indicator matrix is made.

    Examples
    --------
    >>> from mercer.metrics import log_loss
    >>> round(log_loss(["spam", "ham", "ham", "spam"], [0.9, 0.1, 0.2, 0.65]), 4)
    0.2162
    """
    check_value("log_loss", "normalize", normalize, Bool())
    y_proba = _by_either_name("log_loss", y_proba, y_pred)
    if is_multilabel(y_true):
        truth, proba = _truth(y_true, y_proba, sample_weight, None, labels)
        loss, weight = truth.log_loss(proba), truth.weight
    else:
        loss, weight, _, _ = _sum_of_log_losses(y_true, y_proba, sample_weight, labels)
    return float(loss / weight) if normalize else float(loss)


def d2_log_loss_score(
    y_true: Any, y_proba: Any = None, *, sample_weight: Any = None, labels: Any = None, y_pred: Any = "deprecated"
) -> float:
    """The share of log loss that a model explains: 1 - L(model) / L(class frequencies).

    Parameters
    ----------
    y_true, y_proba, sample_weight, labels, y_pred
        As in :func:`log_loss`.

    Returns
    -------
    d2 : float
        1 is perfect, 0 as good as the frequencies of the classes; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import d2_log_loss_score
    >>> d2_log_loss_score([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    y_proba = _by_either_name("d2_log_loss_score", y_proba, y_pred)
    check_consistent_length(y_proba, y_true, sample_weight)
    if _is_too_short(y_proba):
        return float("nan")
    if is_multilabel(y_true):
        truth, proba = _truth(y_true, y_proba, sample_weight, None, labels)
        return float(1 - truth.log_loss(proba) / truth.log_loss(truth.shares))
    loss, _, classes, weights = _sum_of_log_losses(y_true, y_proba, sample_weight, labels)
    of_class = classes.weight_of_each(weights)
    eps = np.finfo(np.float64).eps  # frequencies are float64, whatever the type of the probabilities
    frequency = np.clip(of_class / of_class.sum(), eps, 1 - eps)
    return float(1 - loss / -np.sum(of_class * np.log(frequency)))


def _is_too_short(y_proba: Any) -> bool:
    if len(y_proba) >= 2:
        return False
    warn("D^2 score is not well-defined with less than two samples.", UndefinedMetricWarning)
    return True


@dataclass(frozen=True)
class _Truth:
    """Which classes rows are of: whether it is the positive one of two, or a row of zeros and ones; and weights of rows."""

    indicator: Array
    weights: Array | None

    @property
    def n_classes(self) -> int:
        return 2 if self.indicator.ndim == 1 else int(self.indicator.shape[1])

    @property
    def shares(self) -> Array:
        return np.asarray(np.average(self.indicator, axis=0, weights=self.weights))

    @property
    def weight(self) -> float:
        """Of all rows."""
        return float(len(self.indicator) if self.weights is None else self.weights.sum())

    def log_loss(self, proba: Array) -> float:
        """Minus the logs of the probabilities of rows' classes, summed over classes and rows."""
        eps = np.finfo(proba.dtype).eps
        of_rows = -np.sum(self.indicator * np.log(np.clip(proba, eps, 1 - eps)), axis=1)
        return float(of_rows.sum() if self.weights is None else self.weights @ of_rows)

    def distance(self, proba: Array) -> float:
        """The mean over rows of the squared distance from probabilities, summed over classes."""
        squares = (proba - self.indicator) ** 2
        of_rows = 2 * squares if squares.ndim == 1 else np.sum(squares, axis=1)
        return float(np.average(of_rows, weights=self.weights))


def _truth(y_true: Any, y_proba: Any, sample_weight: Any, pos_label: Any, labels: Any) -> tuple[_Truth, Array]:
    """The truth, and the probabilities, checked: a vector for two classes, or a matrix."""
    proba = _check_probabilities(y_proba)
    check_consistent_length(proba, y_true, sample_weight)
    weights = check_sample_weight(sample_weight, len(proba))
    if proba.size:
        _require_range(proba, float(proba.min()), float(proba.max()))
    if proba.ndim == 1 or proba.shape[1] == 1:
        return _Truth(_is_positive(y_true, pos_label), weights), proba.ravel()
    if (np.abs(proba.sum(axis=1) - 1) > np.sqrt(np.finfo(proba.dtype).eps) + 1e-8).any():
        warn("The y_proba values do not sum to one. Make sure to pass probabilities.")
    return _Truth(_indicators(y_true, labels, proba.shape), weights), proba


def _indicators(y_true: Any, labels: Any, shape: tuple[int, ...]) -> Array:
    """One where a row is of a class, from labels or from a matrix that is that already."""
    if is_multilabel(y_true):
        given = np.asarray(y_true.toarray() if hasattr(y_true, "toarray") else y_true, dtype=np.float64)
        if given.shape != shape:
            raise ValueError(f"y_true of shape {given.shape} is not valid; with y_proba it must have the shape {shape}.")
        return given
    truth = np.zeros(shape)
    truth[np.arange(len(truth)), _check_classes(y_true, labels, shape[1]).codes] = 1
    return truth


def _is_positive(y_true: Any, pos_label: Any) -> Array:
    """Which rows are of the positive class: 1, or the greater of two numbers, where none is named."""
    coding = code(check_labels(y_true, "y_true"))
    classes = classes_of(coding)
    if len(classes) > 2:
        raise ValueError(
            "The type of the target inferred from y_true is multiclass but should be binary according to the shape of y_proba."
        )
    if pos_label is None:
        names = classes.tolist()
        if classes.dtype.kind == "U":
            raise ValueError(
                f"y_true takes value in {{{', '.join(map(repr, names))}}} and pos_label is not specified: either make y_true "
                "take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
        pos_label = 1 if set(names) <= {0, 1} or set(names) <= {-1, 1} else names[-1]
    return np.asarray(coding.values[0] == coding.number_of(pos_label))


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Brier's score: the mean squared distance of the predicted probabilities from the truth.

        B = 1/n sum_i sum_c (p_i[c] - [y_i = c])^2, halved for two classes

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, or a matrix with 1 where a row is of a class and 0 elsewhere.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive class, or of all classes in the order of the sorted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    pos_label : label, default=None
        The positive class, where `y_proba` is a vector; by default 1 or the greater number.
    labels : array-like, default=None
        All labels, where `y_proba` is a matrix and not all of them occur.
    scale_by_half : bool or "auto", default="auto"
        Whether to halve, so that the score lies in [0, 1]; "auto" does so for two classes.

    Returns
    -------
    score : float

    References
    ----------
    G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950).

    Examples
    --------
    >>> from mercer.metrics import brier_score_loss
    >>> round(brier_score_loss([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 4)
    0.0375
    """
    check_value("brier_score_loss", "scale_by_half", scale_by_half, Bool() | OneOf("auto"))
    truth, proba = _truth(y_true, y_proba, sample_weight, pos_label, labels)
    is_halved = truth.n_classes < 3 if scale_by_half == "auto" else scale_by_half
    return truth.distance(proba) / (2 if is_halved else 1)


def d2_brier_score(y_true: Any, y_proba: Any, *, sample_weight: Any = None, pos_label: Any = None, labels: Any = None) -> float:
    """The share of Brier's score that a model explains: 1 - B(model) / B(class frequencies).

    Parameters
    ----------
    y_true, y_proba, sample_weight, pos_label, labels
        As in :func:`brier_score_loss`.

    Returns
    -------
    d2 : float
        1 is perfect, 0 as good as the frequencies of the classes; NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import d2_brier_score
    >>> d2_brier_score([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    check_consistent_length(y_proba, y_true, sample_weight)
    if _is_too_short(y_proba):
        return float("nan")
    truth, proba = _truth(y_true, y_proba, sample_weight, pos_label, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(1 - np.float64(truth.distance(proba)) / np.float64(truth.distance(truth.shares)))
