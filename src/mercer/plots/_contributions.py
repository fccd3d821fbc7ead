"""What pictures of explanations share: which part is drawn, features with the user's values, colours of sign and size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._tables import as_text
from mercer.inspection import Explanation
from mercer.plots._axes import COLOURS, QUIET

RISE, FALL = COLOURS[1], COLOURS[0]  # vermilion and blue: told apart by all eyes, and by lightness
LOW_TO_HIGH = "viridis"  # rises in lightness, and has no grey, which stands for what has no value
_LONGEST = 36  # characters of a label; the rest gives way to the picture


def one_row(owner: str, explanation: Any) -> Explanation:
    """The explanation of one row and one output, or an error that says how to take it."""
    _check(owner, explanation)
    if explanation.axes != ("feature",):
        how = f"one row{_of_output(explanation)}, {_example(explanation, '0')}"
        raise TypeError(f"{owner}: {_words(explanation)}; it draws {how}.")
    return explanation  # type: ignore[no-any-return]


def rows(owner: str, explanation: Any) -> Explanation:
    """The explanation of rows for one output, or an error that says how to take it."""
    _check(owner, explanation)
    if explanation.axes != ("row", "feature"):
        how = "" if "row" in explanation.axes else " of the whole"
        example = "explanation[..., 0]" if "output" in explanation.axes else "as an explainer gives it"
        raise TypeError(f"{owner}: {_words(explanation)}; it draws rows{how}{_of_output(explanation)}, {example}.")
    return explanation  # type: ignore[no-any-return]


def _check(owner: str, explanation: Any) -> None:
    if not isinstance(explanation, Explanation):
        raise TypeError(f"{owner}: explanation is a {type(explanation).__name__}; it must be a mercer.inspection.Explanation.")


def _words(explanation: Explanation) -> str:
    return f"the explanation has {' and '.join(f'{axis}s' for axis in explanation.axes or ()) or 'one value'}"


def _of_output(explanation: Explanation) -> str:
    return " of one output" if "output" in (explanation.axes or ()) else ""


def _example(explanation: Explanation, row: str) -> str:
    axes = explanation.axes or ()
    places = [row] if "row" in axes else []
    return f"explanation[{', '.join([*places, '...', '0'] if 'output' in axes else places)}]"


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def labels_of(explanation: Explanation, order: Sequence[int]) -> list[str]:
    """The names of features of one row, with their values where these are known."""
    if explanation.data is None:
        return [shortened(str(explanation.feature_names[j])) for j in order]
    return [shortened(f"{explanation.feature_names[j]} = {value_text(explanation.data[j])}") for j in order]


def value_text(value: Any) -> str:
    """A value as its user wrote it: four figures of a number, nothing known of a missing one."""
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        return f"{value:.4g}"
    return as_text(value) or "missing"


def leading(sizes: FloatArray, most: int) -> tuple[list[int], list[int]]:
    """The places of the largest, and those that are left out: of one too many, two are left, so that nothing stands for one."""
    order = np.argsort(-sizes, kind="stable").tolist()
    return (order, []) if len(order) <= most else (order[: max(most - 1, 1)], order[max(most - 1, 1) :])


def colour_of(value: float) -> str:
    return RISE if value >= 0 else FALL


def signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "\N{MINUS SIGN}")


def make_room(ax: Any, *places: Any, share: float = 0.16) -> None:
    """Have the axis of values end so far outside of all these places that numbers beside bars have room."""
    values = np.concatenate([np.ravel(np.asarray(each, dtype=np.float64)) for each in places])
    low, high = float(values.min()), float(values.max())
    span = (high - low) or abs(high) or 1.0
    ax.set_xlim(low - share * span if low < 0 or len(places) > 1 else low, high + share * span)


def shades_of(column: npt.NDArray[Any] | None) -> FloatArray | None:
    """Where each value of a feature is between its 5th and 95th percentile, from 0 to 1; NaN for missing ones.

    None for values without an order.
    """
    if column is None:
        return None
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    known = values[np.isfinite(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    low, high = np.quantile(known, [0.05, 0.95])
    if low == high:
        low, high = known.min(), known.max()
    span = high - low
    shades: FloatArray = np.clip((values - low) / (span if span > 0 else 1.0), 0, 1)
    return shades


def scatter_shaded(ax: Any, x: FloatArray, y: FloatArray, shades: FloatArray | None, **style: Any) -> Any:
    """Points by their shades, those without one in grey beneath; returns what a colour bar is for, if anything is shaded."""
    is_plain = np.ones(len(x), dtype=bool) if shades is None else np.isnan(shades)
    ax.scatter(x[is_plain], y[is_plain], color=QUIET, **style)
    if shades is None or is_plain.all():
        return None
    return ax.scatter(x[~is_plain], y[~is_plain], c=shades[~is_plain], cmap=LOW_TO_HIGH, vmin=0, vmax=1, **style)


def shade_bar(ax: Any, points: Any, label: str) -> None:
    bar = ax.figure.colorbar(points, ax=ax, ticks=[0, 1], aspect=40, pad=0.02)
    bar.ax.set_yticklabels(["low", "high"])
    bar.set_label(label, labelpad=-12)
    bar.outline.set_visible(False)
