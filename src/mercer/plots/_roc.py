"""The ROC curve."""

from __future__ import annotations

from typing import Any

from mercer.metrics import roc_auc_score, roc_curve
from mercer.plots._axes import QUIET, make_axes, place_legend, style, unit_square
from mercer.plots._scores import entry, row_weights, scored_curves


def plot_roc(
    y_true: Any, y_score: Any, y: Any = None, *, pos_label: Any = None, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Draw ROC curves, true against false positive rate over all cut-offs, with the area under each in the legend.

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

    Examples
    --------
    >>> from mercer.plots import plot_roc
    >>> ax = plot_roc([0, 0, 1, 1], {"first": [0.1, 0.4, 0.35, 0.8], "second": [0.1, 0.2, 0.3, 0.4]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['first (AUC 0.750)', 'second (AUC 1.000)', 'chance']
    >>> from mercer.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> ax = plot_roc(model, [[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> ax.get_legend().get_texts()[0].get_text()
    'AUC 0.750'
    """
    curves = scored_curves("plot_roc", y_true, y_score, y, pos_label)
    weights = row_weights(sample_weight, len(curves[0].score))
    ax = make_axes(ax)
    for index, (name, is_positive, score) in enumerate(curves):
        false, true, _ = roc_curve(is_positive, score, sample_weight=weights)
        area = roc_auc_score(is_positive, score, sample_weight=weights)
        ax.plot(false, true, label=entry(name, f"AUC {area:.3f}"), **style(index))
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", linewidth=1.2, label="chance")
    unit_square(ax)
    ax.set(xlabel="false positive rate", ylabel="true positive rate (recall)", title="ROC curve")
    place_legend(ax, "lower right")
    return ax
