"""What one feature gives, against its value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer.inspection import Explanation
from mercer.plots._axes import QUIET, make_axes
from mercer.plots._contributions import rows, scatter_shaded, shade_bar, shades_of, shortened, value_text


def plot_shap_scatter(explanation: Any, feature: Any, *, color: Any = "auto", ax: Any = None) -> Any:
    """Draw what a feature gives to each prediction against its value, coloured by the value of another feature.

    Where points of one value differ in height, the feature works together with others. The histogram below shows where the rows
    are; a bar through a point is its standard error, where contributions were sampled.

    Parameters
    ----------
    explanation : Explanation
        Of rows and one output, with the data.
    feature : str or int
        Which one, by name or place.
    color : str, int or None, default="auto"
        The feature whose values colour the points; None for none. "auto" takes that which works together with `feature` most:
        by the explanation's interactions, or else by the rank correlation of its values with what differs from the
        contributions at near values of the feature.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> from mercer.plots import plot_shap_scatter
    >>> explanation = Explanation(
    ...     np.array([[2.0, -0.5], [0.5, 1.0]]), np.array([1.0, 1.0]), np.array([[31.0, 4.0], [8.0, 6.0]]),
    ...     feature_names=["age", "size"],
    ... )
    >>> plot_shap_scatter(explanation, "age").get_xlabel()
    'age'
    """
    explanation = rows("plot_shap_scatter", explanation)
    if explanation.data is None:
        raise TypeError("plot_shap_scatter: the explanation has no data; it draws contributions against values.")
    place = _place(explanation, feature, "feature")
    other = _colouring(explanation, place, color)
    values, column = np.asarray(explanation.values[:, place]), explanation.data[:, place]
    x, levels = _positions(column)
    ax = make_axes(ax)
    ax.axhline(0.0, color=QUIET, linewidth=0.8, zorder=0)
    if explanation.standard_errors is not None:
        errors = explanation.standard_errors[:, place]
        ax.errorbar(x, values, yerr=errors, fmt="none", ecolor=QUIET, elinewidth=0.6, alpha=0.6, zorder=0)
    shades = None if other is None else shades_of(explanation.data[:, other])
    spread = 0.0 if levels is None else np.random.RandomState(0).uniform(-0.15, 0.15, size=len(x))  # of points on one level
    points = scatter_shaded(ax, x + spread, values, shades, s=float(np.clip(8000 / len(x), 5, 26)), linewidths=0)
    _draw_histogram(ax, x, levels)
    name = shortened(str(explanation.feature_names[place]))
    ax.set(xlabel=name, ylabel=f"what {name} gave to a prediction")
    if levels is not None:
        ax.set_xticks(np.arange(len(levels)), levels, rotation=45 if max(map(len, levels)) > 6 else 0)
    if points is not None and other is not None:
        shade_bar(ax, points, shortened(str(explanation.feature_names[other])))
    return ax


def _place(explanation: Explanation, feature: Any, what: str) -> int:
    names = [str(name) for name in explanation.feature_names]
    if isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    raise ValueError(
        f"plot_shap_scatter: {what}={feature!r} is not valid; it must be one of {names!r} or a place up to {len(names) - 1}."
    )


def _colouring(explanation: Explanation, place: int, color: Any) -> int | None:
    """The feature that colours the points."""
    if color is None or len(explanation.feature_names) < 2:
        return None
    if not (isinstance(color, str) and color == "auto"):
        return _place(explanation, color, "color")
    if explanation.interactions is not None:
        sizes = np.abs(explanation.interactions[:, place]).mean(axis=0)
    else:
        sizes = _together(explanation, place)
    sizes = np.where(np.arange(len(sizes)) == place, -1.0, sizes)
    return int(np.argmax(sizes))


def _together(explanation: Explanation, place: int) -> FloatArray:
    """For each feature the mean absolute rank correlation of its values with the contributions of `place`, among rows of near
    values of that: where the effect of one depends on the other, whichever way it goes here and there."""
    assert explanation.data is not None
    x, _ = _positions(explanation.data[:, place])
    parts = np.array_split(np.argsort(x, kind="stable"), int(np.clip(len(x) // 10, 1, 20)))
    values, data = np.asarray(explanation.values[:, place]), explanation.data
    return np.array(
        [
            np.mean([_rank_correlation(data[part, j], values[part]) for part in parts])
            for j in range(len(explanation.feature_names))
        ]
    )


def _rank_correlation(column: npt.NDArray[Any], values: FloatArray) -> float:
    """Its absolute value; 0 for values without an order."""
    shades = shades_of(column)
    if shades is None or np.isnan(shades).sum() > len(shades) - 3:
        return 0.0
    known = ~np.isnan(shades)
    one, other = rankdata(np.asarray(column, dtype=np.float64)[known]), rankdata(values[known])
    if one.std() == 0 or other.std() == 0:
        return 0.0
    return float(abs(np.corrcoef(one, other)[0, 1]))


def _positions(column: npt.NDArray[Any]) -> tuple[FloatArray, list[str] | None]:
    """Where values stand on the axis, and its labels where they are no numbers."""
    try:
        return np.asarray(column, dtype=np.float64), None
    except (TypeError, ValueError):
        texts = [value_text(value) for value in column.tolist()]
        levels, places = np.unique(texts, return_inverse=True)
        return places.ravel().astype(np.float64), [shortened(str(level)) for level in levels]


def _draw_histogram(ax: Any, x: FloatArray, levels: list[str] | None) -> None:
    """How many rows have about which value, in the lowest part of the axes."""
    known = x[np.isfinite(x)]
    if not len(known):
        return
    edges: Any = np.arange(len(levels) + 1) - 0.5 if levels is not None else min(50, max(5, len(known) // 10))
    counts, edges = np.histogram(known, bins=edges)
    heights = 0.15 * counts / max(counts.max(), 1)
    ax.bar(
        edges[:-1], heights, width=np.diff(edges), align="edge", color=QUIET, alpha=0.25, linewidth=0, zorder=0,
        transform=ax.get_xaxis_transform(),
    )  # fmt: skip
