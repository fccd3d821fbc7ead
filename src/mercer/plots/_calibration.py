"""The calibration curve, also called reliability diagram."""

from __future__ import annotations

from typing import Any

from mercer.calibration import calibration_curve
from mercer.metrics import brier_score_loss
from mercer.plots._axes import QUIET, make_axes, place_legend, style, unit_square
from mercer.plots._scores import entry, row_weights, scored_curves

_MARKERS = "osD^vPX"


def plot_calibration(
    y_true: Any,
    y_prob: Any,
    y: Any = None,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    pos_label: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw how often rows are positive against the probability that was predicted, with the Brier score in the legend.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), fitted model or mapping
        Labels of two or more classes. Or a fitted classifier, or a mapping from names to several (two classes).
    y_prob : array-like of shape (n_samples,), (n_samples, n_classes) or mapping
        Probabilities, as `predict_proba` gives them. Of many classes each is drawn against the
        rest. A mapping from names to scores draws several models (two classes). With a model in the first place: X.
    y : array-like of shape (n_samples,), default=None
        With a model in the first place: the labels of the rows of X.
    pos_label : label, default=None
        The positive one of two classes; None for the second in sorted order.
    n_bins : int, default=10
        Number of bins of the predicted probability.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with as many rows each, or of equal width.
    sample_weight : float or array-like of shape (n_samples,), default=None
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_calibration
    >>> ax = plot_calibration([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], n_bins=2)
    >>> ax.lines[0].get_xydata().tolist()
    [[0.25, 0.0], [0.75, 1.0]]
    """
    curves = scored_curves("plot_calibration", y_true, y_prob, y, pos_label, methods=("predict_proba",))
    weights = row_weights(sample_weight, len(curves[0].score))
    ax = make_axes(ax)
    for index, (name, is_positive, prob) in enumerate(curves):
        share, predicted = calibration_curve(
            is_positive, prob, pos_label=True, n_bins=n_bins, strategy=strategy, sample_weight=weights
        )
        brier = brier_score_loss(is_positive, prob, sample_weight=weights)
        marker = _MARKERS[index % len(_MARKERS)]
        ax.plot(predicted, share, marker=marker, markersize=5, label=entry(name, f"Brier {brier:.3f}"), **style(index))
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle=":", linewidth=1.2, label="perfect")
    unit_square(ax)
    ax.set(xlabel="mean predicted probability", ylabel="share of positive rows", title="Calibration")
    place_legend(ax, "upper left")
    return ax
