"""The gap statistic against the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer.plots._axes import make_axes


def plot_gap(curve: Any, n_clusters: Iterable[int] | None = None, *, ax: Any = None, **options: Any) -> Any:
    """Draw the gap statistic with its standard errors, and mark the number that it suggests.

    Parameters
    ----------
    curve : array-like of shape (n_samples, n_features) or GapCurve
        The data, or what `mercer.cluster.gap_statistic` made of them.
    n_clusters : iterable of int or None, default=None
        With data: the numbers to try, at least two; None for 1 to 10, or to the number of rows if there are fewer.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.
    **options
        With data: what else `mercer.cluster.gap_statistic` takes.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plots import plot_gap
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([centre + random.randn(50, 2) for centre in ([0, 0], [9, 0], [0, 9])])
    >>> plot_gap(X, range(1, 6), n_references=10).texts[0].get_text()
    '3 clusters suggested'
    """
    from mercer._rows import count_rows
    from mercer.cluster import GapCurve, gap_statistic

    if not isinstance(curve, GapCurve):
        if hasattr(curve, "fit"):
            raise TypeError("plot_gap: the data come first, as in plot_gap(X, estimator=KMeans(n_init=5)).")
        numbers = range(1, max(2, min(10, count_rows(curve))) + 1) if n_clusters is None else n_clusters
        curve = gap_statistic(curve, numbers, **options)
    elif n_clusters is not None or options:
        raise TypeError("plot_gap: n_clusters and what gap_statistic takes go with data; a curve is drawn as it is.")
    ax = make_axes(ax)
    at = list(curve.n_clusters).index(curve.suggested)
    ax.errorbar(curve.n_clusters, curve.gap, yerr=curve.standard_error, marker="o", capsize=3, color="tab:blue")
    ax.plot([curve.suggested], [curve.gap[at]], marker="o", markersize=13, fillstyle="none", markeredgewidth=2, color="tab:red")
    ax.annotate(
        f"{curve.suggested} clusters suggested",
        (curve.suggested, curve.gap[at]),
        xytext=(0, -24),
        ha="center",
        textcoords="offset points",
        color="tab:red",
    )
    ax.set(xlabel="number of clusters", ylabel="gap", title="Gap of the log inertia to data without clusters")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax
