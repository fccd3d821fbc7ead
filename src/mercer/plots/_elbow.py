"""The elbow of k-means: inertia against the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mercer.plots._axes import make_axes

if TYPE_CHECKING:
    from mercer.cluster import KMeans


def plot_elbow(
    curve: Any,
    n_clusters: Iterable[int] | None = None,
    *,
    estimator: KMeans | None = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the inertias of k-means against the number of clusters, and mark the number at the elbow.

    Parameters
    ----------
    curve : {array-like, sparse matrix} of shape (n_samples, n_features) or ElbowCurve
        The data, or what `mercer.cluster.elbow` made of them.
    n_clusters : iterable of int or None, default=None
        With data: the numbers to try, at least three; None for 1 to 10, or to the number of rows if there are fewer.
    estimator : KMeans or None, default=None
        With data: what to fit, apart from `n_clusters`; None means ``KMeans(n_init=3, random_state=0)``.
    sample_weight : array-like of shape (n_samples,), default=None
        With data: the weights of the rows.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plots import plot_elbow
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([centre + random.randn(50, 2) for centre in ([0, 0], [9, 0], [0, 9], [9, 9])])
    >>> plot_elbow(X, range(1, 9)).texts[0].get_text()
    'elbow at 4'
    """
    from mercer.cluster import ElbowCurve

    if not isinstance(curve, ElbowCurve):
        curve = _curve_of(curve, n_clusters, estimator, sample_weight)
    elif n_clusters is not None or estimator is not None or sample_weight is not None:
        raise TypeError("plot_elbow: n_clusters, estimator and sample_weight go with data; a curve is drawn as it is.")
    ax = make_axes(ax)
    at = list(curve.n_clusters).index(curve.suggested)
    ax.plot(curve.n_clusters, curve.inertia, marker="o", color="tab:blue")
    ax.plot(
        [curve.suggested], [curve.inertia[at]], marker="o", markersize=13, fillstyle="none", markeredgewidth=2, color="tab:red"
    )
    ax.annotate(
        f"elbow at {curve.suggested}",
        (curve.suggested, curve.inertia[at]),
        xytext=(12, 12),
        textcoords="offset points",
        color="tab:red",
    )
    ax.set(xlabel="number of clusters", ylabel="inertia", title="Inertia against the number of clusters")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax


def _curve_of(X: Any, n_clusters: Iterable[int] | None, estimator: KMeans | None, sample_weight: Any) -> Any:
    from mercer._rows import count_rows
    from mercer.cluster import elbow

    if hasattr(X, "fit"):
        raise TypeError("plot_elbow: the data come first, as in plot_elbow(X, estimator=KMeans(n_init=5)).")
    if n_clusters is None:
        n_clusters = range(1, max(3, min(10, count_rows(X))) + 1)
    return elbow(X, n_clusters, estimator=estimator, sample_weight=sample_weight)
