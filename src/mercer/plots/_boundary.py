"""The regions of a classifier in the plane of two features, with its margin where it has one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._params import Bool, Integer, OneOf, check_value
from mercer.plots._axes import make_axes, place_legend
from mercer.plots._models import is_model, name_of, require_rows
from mercer.plots._plane import Plane, make_plane
from mercer.plots._regions import draw_boundaries, draw_regions, draw_rows, find_regions

_ON_MARGIN = 1e-3  # rows whose value is this near 1 lie on the margin: a fit ends within its tolerance of it


def plot_boundary(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    features: Any = None,
    held: Any = None,
    margin: bool | str = "auto",
    n_points: int = 300,
    ax: Any = None,
) -> Any:
    """Draw which class a fitted classifier predicts where, over two features, with the rows of X.

    A region has the colour of its class, the stronger the surer the model is of it (`predict_proba`), and ends where the
    prediction changes. A support vector machine for two classes has its margin drawn as well: dashed lines where
    `decision_function` is -1 and +1, and rings around the rows that lie on it, inside it or on the wrong side.

    Parameters
    ----------
    model : fitted classifier
        Anything with `predict`: pipelines and searches, clusterings and detectors of outliers as well. A margin is drawn of
        models with a hinge loss (`LinearSVC`, `SGDClassifier`) or support vectors (`SVC`).
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The rows, with all features that the model knows. Their range is what is drawn.
    y : array-like of shape (n_samples,), default=None
        The labels of the rows, which are then drawn in the colours of their classes; None draws all alike.
    features : pair of int or str, default=None
        Which two features to draw; needed where there are more.
    held : mapping from features to values, default=None
        The values of the others. What it does not name has its median, or the most frequent value if it is no number.
    margin : {"auto"} or bool, default="auto"
        Whether to draw the margin; "auto" where the model maximises one.
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
    >>> from mercer.plots import plot_boundary
    >>> from mercer.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(loss="hinge").fit(X[:100, :2], y[:100])
    >>> ax = plot_boundary(model, X[:100, :2], y[:100])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1', 'boundary', 'margin', 'on or inside the margin: 17 rows']
    """
    check_value("plot_boundary", "n_points", n_points, Integer(10))
    check_value("plot_boundary", "margin", margin, OneOf("auto") | Bool())
    _check_model(model)
    if y is not None:
        require_rows("plot_boundary", X, y)
    plane = make_plane("plot_boundary", X, features, held, n_points)
    regions = find_regions("plot_boundary", model, plane, y)
    ax = make_axes(ax)
    draw_regions(ax, plane, regions)
    draw_rows(ax, plane, regions.classes, y)
    draw_boundaries(ax, plane, regions)
    if margin is True or (margin == "auto" and len(regions.classes) == 2 and _maximises_margin(model)):
        _draw_margin(ax, plane, model, X, y)
    left, right, bottom, top = plane.extent
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1], xlim=(left, right), ylim=(bottom, top))
    ax.set_title(f"Regions of {name_of(model)}" + (f"\n{plane.others}" if plane.others else ""))
    place_legend(ax, "best")
    return ax


def _check_model(model: Any) -> None:
    if isinstance(model, type):
        raise TypeError(f"plot_boundary: {model.__name__} is a class; give a fitted model.")
    if not is_model(model):
        raise TypeError(f"plot_boundary: {name_of(model)} cannot predict; call plot_boundary(model, X, y).")
    if is_regressor(model):
        raise TypeError(f"plot_boundary: {name_of(model)} is a regressor; it must be a classifier.")
    check_is_fitted(model)


def _maximises_margin(model: Any) -> bool:
    """Whether the last step of a model is a support vector machine."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            model = model.steps[-1][1]
        else:
            break
    return hasattr(model, "support_vectors_") or getattr(model, "loss", None) in ("hinge", "squared_hinge")


def _draw_margin(ax: Any, plane: Plane, model: Any, X: Any, y: Any) -> None:
    values = np.asarray(model.decision_function(plane.grid)) if hasattr(model, "decision_function") else np.empty((0, 0))
    if values.ndim != 1:
        raise TypeError(
            f"plot_boundary: {name_of(model)} has no margin to draw (margin=True); it must have a decision_function of two "
            "classes."
        )
    look: dict[str, Any] = {"colors": "black", "linewidths": 1.2, "linestyles": "--", "zorder": 2}
    ax.contour(plane.horizontal, plane.vertical, plane.picture(values), levels=[-1.0, 1.0], **look)
    ax.plot([], [], color="black", linewidth=1.2, linestyle="--", label="margin")
    if y is None:
        return
    signs = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    is_inside = signs * np.asarray(model.decision_function(X)) <= 1 + _ON_MARGIN
    count = int(is_inside.sum())
    ax.scatter(
        *plane.points[is_inside].T,
        s=90,
        facecolor="none",
        edgecolor="black",
        linewidth=1.0,
        zorder=4,
        label=f"on or inside the margin: {count} row{'' if count == 1 else 's'}",
    )
