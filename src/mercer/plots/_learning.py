"""Learning and validation curves: scores against the number of rows, or against a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer.plots._axes import QUIET, band, make_axes, place_legend


def _moments(owner: str, name: str, scores: Any, n_points: int) -> tuple[FloatArray, FloatArray]:
    """The mean and standard deviation over folds; folds without a score are left out."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n_points:
        raise ValueError(f"{owner}: {name} has shape {values.shape}; it must have one value, or one line of folds, a point.")
    values = values.reshape(n_points, -1)
    if np.isnan(values).all(axis=1).any():
        raise ValueError(f"{owner}: {name} is NaN for all folds of a point; every point must have a score.")
    return np.nanmean(values, axis=1), np.nanstd(values, axis=1)


def plot_learning_curve(
    train_sizes: Any, train_scores: Any, test_scores: Any, *, score_name: str = "score", ax: Any = None
) -> Any:
    """Draw scores on training and held-out rows against the number of training rows, with one standard deviation over folds.

    Parameters
    ----------
    train_sizes : array-like of shape (n_points,)
        Numbers of training rows.
    train_scores, test_scores : array-like of shape (n_points,) or (n_points, n_folds)
        As `sklearn.model_selection.learning_curve` gives them.
    score_name : str, default="score"
        What the vertical axis is called.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_learning_curve
    >>> ax = plot_learning_curve([10, 20], [[1.0, 0.9], [0.9, 0.9]], [[0.5, 0.7], [0.7, 0.9]], score_name="accuracy")
    >>> ax.lines[1].get_ydata().round(2).tolist()
    [0.6, 0.8]
    """
    sizes = np.asarray(train_sizes)
    train = _moments("plot_learning_curve", "train_scores", train_scores, len(sizes))
    test = _moments("plot_learning_curve", "test_scores", test_scores, len(sizes))
    ax = make_axes(ax)
    band(ax, sizes, *train, "training rows", 0, "o")
    band(ax, sizes, *test, "held-out rows", 1, "s")
    ax.grid(alpha=0.25)
    ax.set(xlabel="number of training rows", ylabel=score_name, title="Learning curve")
    place_legend(ax, "best")
    return ax


def plot_validation_curve(
    values: Any,
    train_scores: Any,
    test_scores: Any,
    *,
    name: str = "parameter",
    score_name: str = "score",
    log: bool | None = None,
    ax: Any = None,
) -> Any:
    """Draw scores on training and held-out rows against a parameter, and mark the value that is best on held-out rows.

    Parameters
    ----------
    values : array-like of shape (n_points,)
        Values of the parameter; what is not a number is drawn at even distances.
    train_scores, test_scores : array-like of shape (n_points,) or (n_points, n_folds)
        As `sklearn.model_selection.validation_curve` gives them; larger is better.
    name : str, default="parameter"
        What the horizontal axis is called.
    score_name : str, default="score"
        What the vertical axis is called.
    log : bool or None, default=None
        Draw the parameter on a logarithmic scale; None where its values are positive and span a factor of 100 or more.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_validation_curve
    >>> ax = plot_validation_curve([0.01, 0.1, 1.0], [0.9, 0.8, 0.6], [0.5, 0.7, 0.6], name="alpha")
    >>> ax.get_xscale(), ax.texts[0].get_text()
    ('log', 'best: 0.1')
    """
    given = np.asarray(values)
    is_number = given.dtype.kind in "fiu"
    points = given if is_number else np.arange(len(given))
    train = _moments("plot_validation_curve", "train_scores", train_scores, len(points))
    test = _moments("plot_validation_curve", "test_scores", test_scores, len(points))
    ax = make_axes(ax)
    band(ax, points, *train, "training rows", 0, "o")
    band(ax, points, *test, "held-out rows", 1, "s")
    best = int(np.argmax(test[0]))
    ax.axvline(points[best], color=QUIET, linestyle=":", linewidth=1.2)
    text = f"best: {given[best]:.4g}" if is_number else f"best: {given[best]}"
    is_right = best >= len(points) / 2
    ax.annotate(
        text,
        (points[best], 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if is_right else 4, -4),
        textcoords="offset points",
        ha="right" if is_right else "left",
        va="top",
        fontsize="small",
    )
    if log is None:
        log = is_number and bool((points > 0).all()) and points.max() >= 100 * points.min()
    if log:
        ax.set_xscale("log")
    if not is_number:
        ax.set_xticks(points, [str(value) for value in given.tolist()])
    ax.grid(alpha=0.25)
    ax.set(xlabel=name, ylabel=score_name, title="Validation curve")
    place_legend(ax, "best")
    return ax
