"""The silhouette plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plots._axes import COLOURS, QUIET, make_axes


def plot_silhouette(X: Any, labels: Any, *, metric: Any = "euclidean", ax: Any = None, **kwds: Any) -> Any:
    """Draw the silhouettes of all rows, cluster by cluster and sorted within: a knife for each cluster.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    labels : array-like of shape (n_samples,) or fitted clusterer
        The cluster of each row, or a model whose `labels_` they are. Noise (-1) has no cluster and is left out.
    metric : str or callable, default="euclidean"
        As of :func:`mercer.metrics.silhouette_samples`.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.
    **kwds
        Parameters of the metric.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_silhouette
    >>> plot_silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).get_title()
    'Silhouettes: 0.889 on average'
    """
    from mercer._rows import take_rows
    from mercer.metrics import silhouette_samples

    labels = np.asarray(getattr(labels, "labels_", labels))
    if labels.dtype.kind in "iuf" and (labels == -1).any() and len(np.unique(labels)) > 2:
        rows = np.flatnonzero(labels != -1)
        X, labels = take_rows(X, rows), labels[rows]
        if isinstance(metric, str) and metric == "precomputed":
            X = np.asarray(X)[:, rows]
    values = silhouette_samples(X, labels, metric=metric, **kwds)
    ax = make_axes(ax)
    names, gap, first = np.unique(labels), max(1, len(values) // 50), 0
    for i, name in enumerate(names):
        own = np.sort(values[labels == name])
        places = first + np.arange(len(own))
        # One outline a cluster, with a value as wide as a bar.
        edges, widths = np.append(places, places[-1] + 1), np.append(own, own[-1])
        ax.fill_betweenx(edges, 0, widths, step="post", color=COLOURS[i % len(COLOURS)], alpha=0.85, linewidth=0)
        ax.text(-0.02, first + len(own) / 2, f"{name} ({len(own):,})", ha="right", va="center", fontsize="small")
        first += len(own) + gap
    mean = float(values.mean())
    ax.axvline(mean, color="black", linestyle="--", linewidth=1)
    ax.axvline(0, color=QUIET, linewidth=0.8)
    ax.set(xlim=(min(-0.15, 1.1 * float(values.min())), 1), ylim=(first - gap, -gap), yticks=[])
    ax.set(xlabel="silhouette", ylabel="clusters (rows)", title=f"Silhouettes: {mean:.3f} on average")
    return ax
