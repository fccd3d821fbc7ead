"""What all plots share: axes, colours that most eyes tell apart, dashes, legends that hide nothing."""

from __future__ import annotations

from typing import Any

from mercer._arrays import FloatArray

# Of Okabe and Ito: told apart with any kind of colour vision, and by lightness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Neighbours in a picture differ in colour and in dash: it can be read in grey.
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (7, 3)))
QUIET = "#767676"  # for what is there to compare with
_MOST_INSIDE = 6  # entries of a legend that has room within the axes


def make_axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.plots needs matplotlib: pip install 'mercer[plots]'") from error
    return plt.subplots(layout="constrained")[1]


def style(index: int) -> dict[str, Any]:
    """Colour and dash of the curve at some place; more curves than colours have other dashes."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[(index + index // len(COLOURS)) % len(DASHES)],
        "linewidth": 1.8,
    }


def band(ax: Any, x: Any, mean: FloatArray, spread: FloatArray, label: str, index: int, marker: str) -> None:
    """A line with marks, and a band of one standard deviation on both sides."""
    ax.plot(x, mean, label=label, marker=marker, markersize=5, **style(index))
    ax.fill_between(x, mean - spread, mean + spread, color=COLOURS[index], alpha=0.18, linewidth=0)


def place_legend(ax: Any, loc: str, *, most_inside: int = _MOST_INSIDE) -> None:
    """Within the axes where a few entries have room; right of them otherwise."""
    n_entries = len(ax.get_legend_handles_labels()[1])
    if n_entries > most_inside:
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    elif n_entries:
        ax.legend(fontsize="small", loc=loc, framealpha=0.9)


def mark_place(ax: Any, place: Any, text: str, *, is_right: bool, below: int = 4) -> None:
    """A vertical line with a label at its top, on the side that has room: to the left of a place that is on the right."""
    ax.axvline(place, color=QUIET, linestyle=":", linewidth=1.2)
    ax.annotate(
        text,
        (place, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if is_right else 4, -below),
        textcoords="offset points",
        ha="right" if is_right else "left",
        va="top",
        fontsize="small",
    )


def unit_square(ax: Any) -> None:
    """Both axes from 0 to 1, with lines at the edges wholly visible."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    ax.grid(alpha=0.25)
