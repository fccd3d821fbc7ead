"""Plots. Each takes an `ax` (or makes one) and returns it. Needs matplotlib: ``pip install mercer[plots]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.cluster import ElbowCurve

__all__ = ["plot_elbow"]


def _make_axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plots needs matplotlib: pip install 'mercer[plots]'") from error
    return plt.subplots(layout="constrained")[1]


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
    ax = _make_axes(ax)
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
