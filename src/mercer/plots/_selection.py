"""The steps of a selection of features, with their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.plots._axes import make_axes

MOST_NAMED = 40  # steps whose columns are named below the axis


def plot_selection(selector: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Draw the cross-validated score of every step of a selection, with its spread over the folds, and mark the set that stays.

    Parameters
    ----------
    selector : SequentialFeatureSelector or RFECV
        A fitted one. The steps of a sequential selection are drawn in their order, each named by the column that it puts in (+)
        or leaves out (-); those of a recursive one by the number of columns.
    feature_names : sequence of str, default=None
        Names of the columns; None takes those that the selector has seen, or x0, x1, and so on.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.feature_selection import SequentialFeatureSelector
    >>> from mercer.linear_model import LinearRegression
    >>> from mercer.plots import plot_selection
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=3).fit(X, y)
    >>> [tick.get_text() for tick in plot_selection(selector).get_xticklabels()]
    ['+bmi', '+s5', '+bp']
    """
    if hasattr(selector, "history_") and hasattr(selector, "n_features_to_select_"):
        return _draw_steps(selector, feature_names, make_axes(ax))
    if hasattr(selector, "cv_results_") and hasattr(selector, "ranking_"):
        if feature_names is not None:
            raise TypeError(
                "plot_selection: feature_names go with a sequential selection; RFECV is drawn by numbers of columns."
            )
        return _draw_numbers(selector, make_axes(ax))
    raise TypeError(
        f"plot_selection: selector={selector!r} has no steps to draw; it must be a fitted SequentialFeatureSelector or RFECV."
    )


def _draw_steps(selector: Any, feature_names: Sequence[str] | None, ax: Any) -> Any:
    names = selector.feature_names_in_ if feature_names is None and hasattr(selector, "feature_names_in_") else feature_names
    names = [f"x{j}" for j in range(selector.n_features_in_)] if names is None else list(names)
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"plot_selection: feature_names has {len(names)} names; there must be {selector.n_features_in_}, one a column."
        )
    steps = selector.history_
    places = np.arange(1, len(steps) + 1)
    scores, spreads = (np.array([step[name] for step in steps]) for name in ("score", "score_std"))
    _draw_scores(ax, places, scores, spreads)
    stays = [place for place, step in zip(places, steps, strict=True) if (step["support"] == selector.support_).all()]
    if stays:
        _mark(ax, stays[-1], scores[stays[-1] - 1], int(selector.support_.sum()))
    is_named = len(steps) <= MOST_NAMED
    if is_named:
        labels = [f"{'+' if step['is_addition'] else '-'}{names[step['feature']]}" for step in steps]
        ax.set_xticks(places, labels, rotation=90 if len(steps) > 12 else 45, ha="center" if len(steps) > 12 else "right")
    ax.set(
        xlabel="step: the column put in (+) or left out (-)" if is_named else "step",
        ylabel="cross-validated score",
        title=f"Selection of features ({_direction(selector)})",
    )
    return ax


def _direction(selector: Any) -> str:
    return f"{selector.direction}, floating" if selector.floating else str(selector.direction)


def _draw_numbers(selector: Any, ax: Any) -> Any:
    results = selector.cv_results_
    numbers, scores = results["n_features"], results["mean_test_score"]
    _draw_scores(ax, numbers, scores, results["std_test_score"])
    _mark(ax, selector.n_features_, scores[list(numbers).index(selector.n_features_)], selector.n_features_)
    ax.set(xlabel="number of features", ylabel="cross-validated score", title="Recursive elimination of features")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax


def _draw_scores(ax: Any, places: Any, scores: Any, spreads: Any) -> None:
    ax.fill_between(places, scores - spreads, scores + spreads, color="tab:blue", alpha=0.15, linewidth=0)
    ax.plot(places, scores, marker="o", color="tab:blue", label="mean, and deviation over the folds")
    ax.legend(loc="best")


def _mark(ax: Any, place: Any, score: Any, n_features: int) -> None:
    ax.plot([place], [score], marker="o", markersize=13, fillstyle="none", markeredgewidth=2, color="tab:red")
    text = f"{n_features} feature{'s' * (n_features != 1)} selected"
    low, high = ax.get_xlim()
    side = "left" if place < low + (high - low) / 3 else "right" if place > high - (high - low) / 3 else "center"
    ax.annotate(text, (place, score), xytext=(0, -22), textcoords="offset points", ha=side, color="tab:red")
