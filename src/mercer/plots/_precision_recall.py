"""The precision-recall curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.metrics import average_precision_score, precision_recall_curve
from mercer.plots._axes import QUIET, make_axes, place_legend, style, unit_square
from mercer.plots._scores import entry, row_weights, scored_curves


def plot_precision_recall(
    y_true: Any, y_score: Any, y: Any = None, *, pos_label: Any = None, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Draw precision against recall over all cut-offs, with the average precision (AP) of each curve in the legend.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), fitted model or mapping
        Labels of two or more classes. Or a fitted classifier, or a mapping from names to several (two classes).
    y_score : array-like of shape (n_samples,), (n_samples, n_classes) or mapping
        Scores, as `predict_proba` or `decision_function` gives them. Of many classes each is drawn against the
        rest. A mapping from names to scores draws several models (two classes). With a model in the first place: X.
    y : array-like of shape (n_samples,), default=None
        With a model in the first place: the labels of the rows of X.
    pos_label : label, default=None
        The positive one of two classes; None for the second in sorted order.
    sample_weight : float or array-like of shape (n_samples,), default=None
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Notes
    -----
    A curve is drawn as the steps whose area the average precision is. The line of chance is the share of positive rows; with
    many classes, where each has one of its own, there is none.

    Examples
    --------
    >>> from mercer.plots import plot_precision_recall
    >>> ax = plot_precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['AP 0.833', 'chance (0.500)']
    """
    curves = scored_curves("plot_precision_recall", y_true, y_score, y, pos_label)
    weights = row_weights(sample_weight, len(curves[0].score))
    ax = make_axes(ax)
    for index, (name, is_positive, score) in enumerate(curves):
        precision, recall, _ = precision_recall_curve(is_positive, score, sample_weight=weights)
        area = average_precision_score(is_positive, score, sample_weight=weights)
        ax.plot(recall, precision, drawstyle="steps-post", label=entry(name, f"AP {area:.3f}"), **style(index))
    first, *others = (curve.is_positive for curve in curves)
    if all(np.array_equal(first, other) for other in others):
        share = float(np.average(first, weights=weights))
        ax.axhline(share, color=QUIET, linestyle=":", linewidth=1.2, label=f"chance ({share:.3f})")
    unit_square(ax)
    ax.set(xlabel="recall", ylabel="precision", title="Precision-recall curve")
    place_legend(ax, "best")
    return ax
