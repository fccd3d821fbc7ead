"""The elbow of k-means: inertia against the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer.plots._axes import make_axes

if TYPE_CHECKING:
    from mercer.cluster import ElbowCurve


def plot_elbow(curve: ElbowCurve, *, ax: Any = None) -> Any:
    """Draw the inertias of `mercer.cluster.elbow` and mark the suggested number of clusters.

    Parameters
    ----------
    curve : ElbowCurve
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes
    """
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
