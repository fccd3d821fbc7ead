"""Penalties as curves of one coefficient and as balls of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._params import OneOf, check_value
from mercer.plots._axes import make_axes
from mercer.plots._concepts import concept_label, draw_concepts

if TYPE_CHECKING:
    from mercer._arrays import FloatArray
    from mercer.penalties import Penalty


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


def plot_penalties(
    view: str = "curves", *, penalties: Penalty | str | Sequence[Penalty | str] | None = None, ax: Any = None
) -> Any:
    """Draw penalties: as functions of one coefficient, or as the balls of two coefficients that cost no more than (1, 0).

    Parameters
    ----------
    view : {"curves", "balls"}, default="curves"
        The corners of a ball are where solutions are sparse; for lp with p < 1 it is not convex.
    penalties : Penalty, name of one, sequence of these or None, default=None
        What to draw, each a sum over single coefficients; None draws lp (p = 1/2), l1, elastic net, l2 and the box [-1, 1].
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes
    """
    from mercer.penalties import L1, L2, Box, ElasticNet, Lp, Penalty, get_penalty

    check_value("plot_penalties", "view", view, OneOf("curves", "balls"))
    if penalties is None:
        penalties = [Lp(), L1(), ElasticNet(), L2(), Box(low=-1.0, high=1.0)]
    drawn = [get_penalty(each) for each in ([penalties] if isinstance(penalties, (Penalty, str)) else penalties)]
    for penalty in drawn:
        if not penalty.is_separable:
            raise ValueError(f"plot_penalties: {penalty!r} is not a sum over single coefficients and cannot be drawn.")
    ax = make_axes(ax)
    w = np.linspace(-2, 2, 1001)
    if view == "balls":
        draw_concepts(ax, {concept_label(penalty, shows_defaults=True): _ball(penalty) for penalty in drawn})
        ax.set(xlabel="first coefficient", ylabel="second coefficient", title="Coefficients that cost no more than (1, 0)")
        ax.set(aspect="equal", xlim=(-1.2, 2.6), ylim=(-1.2, 1.2))  # room for the legend on the right
        ax.legend(framealpha=0.9, fontsize="small", loc="center right")
        return ax
    values = {concept_label(each, shows_defaults=True): np.array([each.value(one) for one in w]) for each in drawn}
    # The walls of a box: a curve that leaves the picture where it becomes infinite.
    draw_concepts(ax, {label: (w, np.where(np.isinf(value), 1e3, value)) for label, value in values.items()})
    ax.set(xlabel="coefficient", ylabel="penalty", title="Penalties of one coefficient", xlim=(-2, 2), ylim=(-0.05, 2.2))
    ax.legend(framealpha=0.9, fontsize="small", loc="upper center")
    return ax
