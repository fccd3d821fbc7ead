"""Measures of a decision against its cut-off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import OneOf, Real, check_value
from mercer.plots._axes import make_axes, mark_place, place_legend, style
from mercer.plots._scores import row_weights, scored_curves


class _Counts(NamedTuple):
    """Weights of rows by truth and prediction, for each threshold."""

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _recall(c: _Counts) -> FloatArray:
    return _ratio(c.tp, c.tp + c.fn)


def _specificity(c: _Counts) -> FloatArray:
    return _ratio(c.tn, c.tn + c.fp)


def _measures(beta: float, alpha: float) -> dict[str, tuple[str, Callable[[_Counts], FloatArray]]]:
    """Labels and formulas by name."""
    square = beta**2
    return {
        "accuracy": ("accuracy", lambda c: _ratio(c.tp + c.tn, c.tp + c.tn + c.fp + c.fn)),
        "balanced_accuracy": ("balanced accuracy", lambda c: (_recall(c) + _specificity(c)) / 2),
        "cwa": (f"CWA, alpha {alpha:g}", lambda c: alpha * _recall(c) + (1 - alpha) * _specificity(c)),
        "f_beta": (f"F{beta:g}", lambda c: _ratio((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)),
        "g_mean": ("G-mean", lambda c: np.sqrt(_recall(c) * _specificity(c))),
        "precision": ("precision", lambda c: _ratio(c.tp, c.tp + c.fp)),
        "recall": ("recall", _recall),
        "specificity": ("specificity", _specificity),
    }


def plot_threshold(
    y_true: Any,
    y_score: Any,
    y: Any = None,
    *,
    measures: Sequence[str] = ("precision", "recall", "f_beta", "g_mean"),
    best: str = "f_beta",
    beta: float = 1.0,
    alpha: float = 0.5,
    threshold: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw measures of a decision against its cut-off, and mark the best cut-off, or one that is given.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or fitted model
        Labels of two classes. Or a fitted classifier.
    y_score : array-like of shape (n_samples,) or (n_samples, 2)
        Scores; rows with a score of the positive class that is no less than the cut-off are predicted positive.
        With a model in the first place: X, whose scores are those of `predict_proba` or else `decision_function`.
    y : array-like of shape (n_samples,), default=None
        With a model in the first place: the labels of the rows of X.
    measures : sequence of str, default=("precision", "recall", "f_beta", "g_mean")
        What to draw, of "accuracy", "balanced_accuracy", "cwa", "f_beta", "g_mean", "precision", "recall" and "specificity".
    best : str, default="f_beta"
        The measure whose largest value is marked; one of the same.
    beta : float, default=1.0
        For "f_beta": recall counts beta times as much as precision.
    alpha : float, default=0.5
        For "cwa": alpha * sensitivity + (1 - alpha) * specificity.
    threshold : float or None, default=None
        Mark this cut-off, such as `best_threshold_` of a `TunedThresholdClassifier`, in place of the best.
    pos_label : label, default=None
        The positive class; None for the second in sorted order.
    sample_weight : float or array-like of shape (n_samples,), default=None
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_threshold
    >>> ax = plot_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.texts[0].get_text()
    'F1: 0.8 at 0.35'
    """
    known = _measures(
        check_value("plot_threshold", "beta", beta, Real(least=0)),
        check_value("plot_threshold", "alpha", alpha, Real(least=0, most=1)),
    )
    for name in measures:
        check_value("plot_threshold", "measures", name, OneOf(*known))
    check_value("plot_threshold", "best", best, OneOf(*known))
    (curve, *others) = scored_curves("plot_threshold", y_true, y_score, y, pos_label)
    if others:
        raise ValueError(
            "plot_threshold: y_true has more than two classes, or y_score several models; it must be one decision."
        )
    weights = row_weights(sample_weight, len(curve.score))
    cuts, counts = _count(curve.score, curve.is_positive, weights)
    ax = make_axes(ax)
    for index, name in enumerate(measures):
        label, formula = known[name]
        ax.plot(cuts, formula(counts), drawstyle="steps-pre", label=label, **style(index))
    label, formula = known[best]
    values = formula(counts)
    at = int(np.argmax(values)) if threshold is None else min(int(np.searchsorted(cuts, threshold)), len(cuts) - 1)
    place = float(cuts[at]) if threshold is None else float(threshold)
    # In the free strip above the curves.
    mark_place(ax, place, f"{label}: {values[at]:.3g} at {place:.3g}", is_right=place > (cuts[0] + cuts[-1]) / 2, below=3)
    ax.set(xlabel="cut-off of the score", ylabel="measure", title="Measures against the cut-off", ylim=(-0.02, 1.1))
    ax.grid(alpha=0.25)
    place_legend(ax, "best")
    return ax


def _count(score: FloatArray, is_positive: Any, weights: FloatArray | None) -> tuple[FloatArray, _Counts]:
    """All cut-offs that differ in what they predict, ascending, and the counts at each. O(n log n)."""
    weights = np.ones(len(score)) if weights is None else weights
    order = np.argsort(score, kind="stable")
    cuts, first = np.unique(score[order], return_index=True)
    below_positive, below_negative = (
        np.concatenate([[0.0], np.cumsum(weights[order] * mask[order])]) for mask in (is_positive, ~is_positive)
    )
    fn, tn = below_positive[first], below_negative[first]
    return cuts, _Counts(below_positive[-1] - fn, below_negative[-1] - tn, fn, tn)
