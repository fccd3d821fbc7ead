"""Losses against the margin, the residual or the log of the mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._params import OneOf, check_value
from mercer.plots._axes import make_axes
from mercer.plots._concepts import concept_label, draw_concepts

if TYPE_CHECKING:
    from mercer.losses import Loss


def plot_losses(kind: str = "margin", *, losses: Loss | str | Sequence[Loss | str] | None = None, ax: Any = None) -> Any:
    """Draw the losses of one kind: against the margin, against the residual, or against the log of the mean.

    Parameters
    ----------
    kind : {"margin", "residual", "positive"}, default="margin"
        Which losses, and so what is on the horizontal axis. "positive" ones are drawn for y = 1, less their least value.
    losses : Loss, name of one, sequence of these or None, default=None
        What to draw, all of this kind; None draws every loss of the kind with its default parameters.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes
    """
    from mercer.losses import LOSSES, Loss, get_loss

    check_value("plot_losses", "kind", kind, OneOf("margin", "residual", "positive"))
    if losses is None:
        losses = [loss() for loss in LOSSES.values() if loss.kind == kind]
    drawn = [get_loss(loss) for loss in ([losses] if isinstance(losses, (Loss, str)) else losses)]
    for loss in drawn:
        if loss.kind != kind:
            raise ValueError(f"plot_losses: {loss!r} is of kind {loss.kind!r}; every loss must be of kind {kind!r}.")
    ax = make_axes(ax)
    y = 0.0 if kind == "residual" else 1.0
    x = np.linspace(-2.5, 2.5, 1001) if kind == "margin" else np.linspace(-3, 3, 1001)
    least = {loss: float(loss.value(y, 0.0)) if kind == "positive" else 0.0 for loss in drawn}
    draw_concepts(ax, {concept_label(loss, shows_defaults=False): (x, loss.value(y, x) - least[loss]) for loss in drawn})
    labels = {"margin": "margin  y · raw", "residual": "residual  raw - y", "positive": "raw  (the log of the mean, for y = 1)"}
    names = {"margin": "classification", "residual": "regression", "positive": "counts and amounts"}
    ax.set(xlabel=labels[kind], ylabel="loss", title=f"Losses for {names[kind]}", xlim=(x[0], x[-1]))
    ax.set_ylim(-0.1, 7 if kind == "margin" else 4.5)  # the modified Huber loss leaves the squared hinge at 4
    ax.legend(framealpha=0.9, fontsize="small", loc="upper right" if kind == "margin" else "upper center")
    return ax
