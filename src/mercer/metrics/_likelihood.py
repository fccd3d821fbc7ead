"""Likelihood ratios of a diagnosis by two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mercer._trace import warn
from mercer.metrics._confusion import confusion_matrix
from mercer.metrics._tally import tally


def class_likelihood_ratios(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    replace_undefined_by: float | Mapping[str, float] = np.nan,
) -> tuple[float, float]:
    """How much a positive and a negative prediction change the odds of being positive.

        LR+ = sensitivity / (1 - specificity),   LR- = (1 - sensitivity) / specificity

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels of two classes; the greater is the positive one.
    labels : array-like of two labels, default=None
        The negative and the positive label, in that order.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    replace_undefined_by : nan, 1.0 or dict, default=nan
        The values where a ratio divides by zero; a dict has the keys "LR+" (1 or more) and "LR-" (from 0 to 1).

    Returns
    -------
    positive_ratio, negative_ratio : float

    Examples
    --------
    >>> from mercer.metrics import class_likelihood_ratios
    >>> class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    kind = tally(y_true, y_pred, sample_weight).kind
    if kind != "binary":
        raise ValueError(f"class_likelihood_ratios only supports binary classification problems, got targets of type: {kind}")
    instead_of_positive, instead_of_negative = _check_replacements(replace_undefined_by)
    table = confusion_matrix(y_true, y_pred, sample_weight=sample_weight, labels=labels)
    if table.shape != (2, 2):
        raise ValueError("class_likelihood_ratios needs two labels; name both by the parameter 'labels'.")
    tn, fp, fn, tp = table.ravel().astype(np.float64)
    if tp + fn == 0:
        _warn_undefined("No samples of the positive class are present in `y_true`: both ratios are")
    if fp == 0:
        nothing = "No samples were predicted for the positive class: " if tp == 0 else ""
        _warn_undefined(f"{nothing}`positive_likelihood_ratio` is")
    if tn == 0:
        _warn_undefined("`negative_likelihood_ratio` is")
    with np.errstate(invalid="ignore"):  # NaN where nothing is positive
        positive = instead_of_positive if fp == 0 else tp * (tn + fp) / (fp * (tp + fn))
        negative = instead_of_negative if tn == 0 else fn * (tn + fp) / (tn * (tp + fn))
    return float(positive), float(negative)


def _warn_undefined(beginning: str) -> None:
    warn(f"{beginning} ill-defined. Use the `replace_undefined_by` param to control this behavior.", UndefinedMetricWarning)


def _check_replacements(value: Any) -> tuple[float, float]:
    if isinstance(value, Mapping):
        if set(value) >= {"LR+", "LR-"}:
            positive, negative = value["LR+"], value["LR-"]
            is_number = all(isinstance(number, (int, float)) for number in (positive, negative))
            if is_number and not positive < 1 and not (negative < 0 or negative > 1):  # NaN is welcome
                return float(positive), float(negative)
    elif isinstance(value, (int, float)) and (value == 1 or np.isnan(value)):
        return float(value), float(value)
    raise ValueError(
        f"class_likelihood_ratios: replace_undefined_by={value!r} is not valid; it must be nan, 1.0 or a dict "
        "{'LR+': a number >= 1 or nan, 'LR-': a number in [0, 1] or nan}."
    )
