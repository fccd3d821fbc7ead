"""Plots. Each takes an `ax` (or makes one) and returns it. Needs matplotlib: ``pip install mercer[plots]``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._params import OneOf, check_value

if TYPE_CHECKING:
    from mercer._arrays import FloatArray
    from mercer.cluster import ElbowCurve
    from mercer.losses import Loss
    from mercer.penalties import Penalty

__all__ = ["plot_elbow", "plot_losses", "plot_penalties"]


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


# Neighbours in a picture differ in colour and in dash: it can be read in grey.
_DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (7, 3)))


def _label(drawn: Any, *, shows_defaults: bool) -> str:
    """The class of a loss or a penalty, with the parameters that tell it from others; the strength 1 goes without saying."""
    fields = [(field.name, getattr(drawn, field.name), field.default) for field in dataclasses.fields(drawn)]
    shown = [f"{name}={value:g}" for name, value, default in fields if value != default or (shows_defaults and name != "alpha")]
    return type(drawn).__name__ + (f"({', '.join(shown)})" if shown else "")


def _draw_curves(ax: Any, curves: dict[str, tuple[FloatArray, FloatArray]]) -> None:
    """Named curves, each with a colour and a dash of its own."""
    for index, (label, (x, y)) in enumerate(curves.items()):
        colour = "black" if label == "ZeroOne" else f"C{index}"
        ax.plot(x, y, label=label, color=colour, linestyle=_DASHES[index % len(_DASHES)], linewidth=1.8)


def plot_losses(kind: str = "margin", *, losses: Sequence[Loss] | None = None, ax: Any = None) -> Any:
    """Draw the losses of one kind: against the margin, against the residual, or against the log of the mean.

    Parameters
    ----------
    kind : {"margin", "residual", "positive"}, default="margin"
        Which losses, and so what is on the horizontal axis. "positive" ones are drawn for y = 1, less their least value.
    losses : sequence of Loss or None, default=None
        What to draw, all of this kind; None draws every loss of the kind with its default parameters.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes
    """
    from mercer.losses import LOSSES

    check_value("plot_losses", "kind", kind, OneOf("margin", "residual", "positive"))
    if losses is None:
        losses = [loss() for loss in LOSSES.values() if loss.kind == kind]
    for loss in losses:
        if loss.kind != kind:
            raise ValueError(f"plot_losses: {loss!r} is of kind {loss.kind!r}; every loss must be of kind {kind!r}.")
    ax = _make_axes(ax)
    y = 0.0 if kind == "residual" else 1.0
    x = np.linspace(-2.5, 2.5, 1001) if kind == "margin" else np.linspace(-3, 3, 1001)
    least = {loss: float(loss.value(y, 0.0)) if kind == "positive" else 0.0 for loss in losses}
    _draw_curves(ax, {_label(loss, shows_defaults=False): (x, loss.value(y, x) - least[loss]) for loss in losses})
    labels = {"margin": "margin  y · raw", "residual": "residual  raw - y", "positive": "raw  (the log of the mean, for y = 1)"}
    names = {"margin": "classification", "residual": "regression", "positive": "counts and amounts"}
    ax.set(xlabel=labels[kind], ylabel="loss", title=f"Losses for {names[kind]}", xlim=(x[0], x[-1]))
    ax.set_ylim(-0.1, 7 if kind == "margin" else 4.5)  # the modified Huber loss leaves the squared hinge at 4
    ax.legend(framealpha=0.9, fontsize="small", loc="upper right" if kind == "margin" else "upper center")
    return ax


def _ball(penalty: Penalty) -> tuple[FloatArray, FloatArray]:
    """The edge of the set where a penalty of two coefficients is at most what it is at (1, 0), by bisection along rays."""
    angles = np.linspace(0, 2 * np.pi, 721)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    level = penalty.value([1.0, 0.0]) * (1 + 1e-12)
    low, high = np.zeros(len(angles)), np.full(len(angles), 4.0)
    for _ in range(40):
        middle = (low + high) / 2
        is_inside = np.array([penalty.value(radius * way) <= level for radius, way in zip(middle, directions, strict=True)])
        low, high = np.where(is_inside, middle, low), np.where(is_inside, high, middle)
    return low * directions[:, 0], low * directions[:, 1]


def plot_penalties(view: str = "curves", *, penalties: Sequence[Penalty] | None = None, ax: Any = None) -> Any:
    """Draw penalties: as functions of one coefficient, or as the balls of two coefficients that cost no more than (1, 0).

    Parameters
    ----------
    view : {"curves", "balls"}, default="curves"
        The corners of a ball are where solutions are sparse; for lp with p < 1 it is not convex.
    penalties : sequence of Penalty or None, default=None
        What to draw, each a sum over single coefficients; None draws lp (p = 1/2), l1, elastic net, l2 and the box [-1, 1].
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes
    """
    from mercer.penalties import L1, L2, Box, ElasticNet, Lp

    check_value("plot_penalties", "view", view, OneOf("curves", "balls"))
    if penalties is None:
        penalties = [Lp(), L1(), ElasticNet(), L2(), Box(low=-1.0, high=1.0)]
    for penalty in penalties:
        if not penalty.is_separable:
            raise ValueError(f"plot_penalties: {penalty!r} is not a sum over single coefficients and cannot be drawn.")
    ax = _make_axes(ax)
    w = np.linspace(-2, 2, 1001)
    if view == "balls":
        _draw_curves(ax, {_label(penalty, shows_defaults=True): _ball(penalty) for penalty in penalties})
        ax.set(xlabel="first coefficient", ylabel="second coefficient", title="Coefficients that cost no more than (1, 0)")
        ax.set(aspect="equal", xlim=(-1.2, 2.6), ylim=(-1.2, 1.2))  # room for the legend on the right
        ax.legend(framealpha=0.9, fontsize="small", loc="center right")
        return ax
    values = {_label(each, shows_defaults=True): np.array([each.value(one) for one in w]) for each in penalties}
    # The walls of a box: a curve that leaves the picture where it becomes infinite.
    _draw_curves(ax, {label: (w, np.where(np.isinf(value), 1e3, value)) for label, value in values.items()})
    ax.set(xlabel="coefficient", ylabel="penalty", title="Penalties of one coefficient", xlim=(-2, 2), ylim=(-0.05, 2.2))
    ax.legend(framealpha=0.9, fontsize="small", loc="upper center")
    return ax
