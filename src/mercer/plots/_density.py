"""Density clustering: the curve of k-distances and the reachability plot."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.plots._axes import make_axes


def plot_k_distances(curve: Any, min_samples: int | None = None, *, method: str | None = None, ax: Any = None) -> Any:
    """Draw the sorted distances of all rows to their `min_samples`-th nearest, and the radius that is proposed.

    Parameters
    ----------
    curve : {array-like, sparse matrix} of shape (n_samples, n_features) or KDistanceCurve
        The data, or what `mercer.cluster.estimate_eps` made of them.
    min_samples : int or None, default=None
        With data: that of DBSCAN; None is 5.
    method : {"slope", "knee", "noise"} or None, default=None
        With data: the rule of `estimate_eps`; None is "slope".
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plots import plot_k_distances
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(90, 2), random.uniform(-20, 20, size=(10, 2))])
    >>> plot_k_distances(X, method="noise").texts[0].get_text()
    'eps = 11.2'
    """
    from mercer.cluster import KDistanceCurve, estimate_eps

    if not isinstance(curve, KDistanceCurve):
        curve = estimate_eps(curve, 5 if min_samples is None else min_samples, method="slope" if method is None else method)
    elif min_samples is not None or method is not None:
        raise TypeError("plot_k_distances: min_samples and method go with data; a curve is drawn as it is.")
    ax = make_axes(ax)
    ax.plot(np.arange(len(curve.distances)), curve.distances, color="tab:blue")
    ax.axhline(curve.eps, color="tab:red", linestyle="--", linewidth=1)
    ax.plot([curve.place], [curve.eps], marker="o", markersize=11, fillstyle="none", markeredgewidth=2, color="tab:red")
    ax.annotate(
        f"eps = {curve.eps:.3g}",
        (curve.place, curve.eps),
        xytext=(12, 12),
        textcoords="offset points",
        color="tab:red",
    )
    ax.set(
        xlabel="rows, from the loneliest on",
        ylabel=f"distance to the {_ordinal(curve.min_samples)} nearest, itself included",
        title=f"k-distances: {curve.noise:.1%} of the rows would not be core",
    )
    return ax


def plot_reachability(model: Any, *, ax: Any = None) -> Any:
    """Draw the reachability of a fitted OPTICS in its order: valleys are clusters, coloured as they are labelled.

    Parameters
    ----------
    model : OPTICS
        Fitted.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Notes
    -----
    Rows that nothing reaches have an infinite reachability; their bars end a little above the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import OPTICS
    >>> from mercer.plots import plot_reachability
    >>> X = np.array([[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]])
    >>> [text.get_text() for text in plot_reachability(OPTICS(min_samples=2).fit(X)).get_legend().get_texts()]
    ['0', '1']
    """
    if not hasattr(model, "cluster_method"):
        raise TypeError(f"plot_reachability: a fitted OPTICS comes first; got {type(model).__name__}.")
    check_is_fitted(model, "reachability_")
    ax = make_axes(ax)
    heights, labels = model.reachability_[model.ordering_], model.labels_[model.ordering_]
    is_finite = np.isfinite(heights)
    top = 1.1 * heights[is_finite].max(initial=0) or 1.0
    heights = np.where(is_finite, heights, top)
    places = np.arange(len(heights))
    for label in np.unique(labels):
        # One outline a cluster: a bar for each of many rows would take minutes to draw.
        shown = np.where(labels == label, heights, 0.0)
        color = "0.7" if label < 0 else f"C{label % 10}"
        ax.fill_between(places, shown, step="mid", color=color, linewidth=0, label="noise" if label < 0 else str(label))
    ax.set(xlabel="rows in the order of OPTICS", ylabel="reachability", title="Reachability: valleys are clusters")
    ax.set(xlim=(-0.5, len(heights) - 0.5), ylim=(0, None))
    if len(np.unique(labels)) <= 12:
        ax.legend(title="cluster")
    return ax


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
