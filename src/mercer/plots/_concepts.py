"""Curves of losses and penalties: labels and lines."""

from __future__ import annotations

import dataclasses
from typing import Any

from mercer._arrays import FloatArray
from mercer.plots._axes import DASHES


def concept_label(drawn: Any, *, shows_defaults: bool) -> str:
    """The class of a loss or a penalty, with the parameters that tell it from others; the strength 1 goes without saying."""
    fields = [(field.name, getattr(drawn, field.name), field.default) for field in dataclasses.fields(drawn)]
    shown = [f"{name}={value:g}" for name, value, default in fields if value != default or (shows_defaults and name != "alpha")]
    return type(drawn).__name__ + (f"({', '.join(shown)})" if shown else "")


def draw_concepts(ax: Any, curves: dict[str, tuple[FloatArray, FloatArray]]) -> None:
    """Named curves, each with a colour and a dash of its own."""
    for index, (label, (x, y)) in enumerate(curves.items()):
        colour = "black" if label == "ZeroOne" else f"C{index}"
        ax.plot(x, y, label=label, color=colour, linestyle=DASHES[index % len(DASHES)], linewidth=1.8)
