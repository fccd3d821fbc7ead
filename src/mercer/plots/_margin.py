"""The boundary of a support vector machine over two features, its margins, and where each row lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Integer, check_value
from mercer.plots._axes import make_axes, place_legend
from mercer.plots._models import name_of, require_rows
from mercer.plots._plane import make_plane

_LOOKS = {  # of the rows, by where they lie: size, width of the ring
    "outside": (25, 0.0),
    "on": (90, 1.8),
    "inside": (60, 1.0),
    "misclassified": (70, 1.4),
}
_MARKERS = {"outside": "o", "on": "o", "inside": "s", "misclassified": "X"}


def plot_margin(
    model: Any, X: Any, y: Any, *, features: Any = None, held: Any = None, n_points: int = 300, ax: Any = None
) -> Any:
    """Draw the boundary and the margins of a support vector machine for two classes, and where each row lies.

    The boundary is where `decision_function` is 0, the margins (dashed) where it is -1 and +1. Rows have the colour of their
    class; those on the margin have a thick ring, those inside it are squares, misclassified ones crosses.

    Parameters
    ----------
    model : fitted classifier
        A machine with `margins(X, y)`: `SVC`, `NuSVC`, `LinearSVC`, for two classes.
    X : array-like or table of shape (n_samples, n_features)
        The rows, with all features that the model knows.
    y : array-like of shape (n_samples,)
        Their labels.
    features : pair of int or str, default=None
        Which two features to draw; needed where there are more.
    held : mapping from features to values, default=None
        The values of the others. What it does not name has its median, or the most frequent value if it is no number.
    n_points : int, default=300
        The model is asked at so many places along each axis.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.plots import plot_margin
    >>> from mercer.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear").fit(X[:100, :2], y[:100])
    >>> ax = plot_margin(model, X[:100, :2], y[:100])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['boundary', 'margin']
    """
    check_value("plot_margin", "n_points", n_points, Integer(10))
    if not hasattr(model, "margins") or not hasattr(model, "classes_"):
        raise TypeError(f"plot_margin: {name_of(model)} has no margins; give a fitted SVC, NuSVC or LinearSVC.")
    if len(model.classes_) != 2:
        raise ValueError(f"plot_margin: {name_of(model)} tells {len(model.classes_)} classes apart; there must be 2.")
    require_rows("plot_margin", X, y)
    places = model.margins(X, y).place
    plane = make_plane("plot_margin", X, features, held, n_points)
    picture = plane.picture(np.asarray(model.decision_function(plane.grid)))
    ax = make_axes(ax)
    for levels, style, label in (([0.0], "-", "boundary"), ([-1.0, 1.0], "--", "margin")):
        ax.contour(plane.horizontal, plane.vertical, picture, levels=levels, colors="black", linestyles=style, linewidths=1.2)
        ax.plot([], [], color="black", linewidth=1.2, linestyle=style, label=label)
    labels = np.asarray(y)
    for place, (size, width) in _LOOKS.items():
        for number, label in enumerate(model.classes_):
            chosen = (places == place) & (labels == label)
            if not chosen.any():
                continue
            ax.scatter(
                *plane.points[chosen].T,
                s=size,
                color=f"C{number}",
                edgecolor="black",
                linewidth=width,
                marker=_MARKERS[place],
                zorder=3,
                label=f"{label}: {place} ({int(chosen.sum())})",
            )
    left, right, bottom, top = plane.extent
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1], xlim=(left, right), ylim=(bottom, top))
    ax.set_title(f"Margin of {name_of(model)}" + (f"\n{plane.others}" if plane.others else ""))
    place_legend(ax, "best")
    return ax
