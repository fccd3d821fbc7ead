"""Partial dependence of one feature as a curve over those of single rows, and of two as contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from mercer._arrays import FloatArray
from mercer._params import Bool, Integer, Null, RandomState, check_value
from mercer._random import as_random_state
from mercer._tables import Table, as_table
from mercer.inspection import partial_dependence
from mercer.plots._axes import COLOURS, QUIET, make_axes
from mercer.plots._contributions import LOW_TO_HIGH, shortened, value_text

_OWNER = "plot_partial_dependence"


def plot_partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    target: Any = None,
    max_curves: int | None = 50,
    centered: bool = False,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Sequence[str] | None = None,
    response_method: str = "auto",
    grid_resolution: int = 50,
    random_state: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw what a model answers on average at each value of a feature, over the curves of single rows; of two contours.

    The marks along the axis are the deciles of the rows: between them a curve stands on as many rows everywhere.

    Parameters
    ----------
    estimator : object
        A fitted classifier or regressor.
    X : array-like or table of shape (n_samples, n_features)
        The rows to average over.
    features : int, str or pair of these
        One feature or two.
    target : object, default=None
        The class, where there are more than two, or the number of the target of a regressor with several.
    max_curves : int or None, default=50
        How many rows are drawn as curves, at random; 0 for none, None for all.
    centered : bool, default=False
        Have all curves begin at 0: what differs between them then is interaction.
    sample_weight, categorical_features, feature_names, response_method, grid_resolution
        As in `mercer.inspection.partial_dependence`.
    random_state : int, RandomState or None, default=0
        Draws the rows that are shown.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.ensemble import HistGradientBoostingRegressor
    >>> from mercer.plots import plot_partial_dependence
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_partial_dependence(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, "bmi")
    >>> ax.get_xlabel()
    'bmi'
    """
    check_value(_OWNER, "max_curves", max_curves, Null() | Integer(0))
    check_value(_OWNER, "centered", centered, Bool())
    check_value(_OWNER, "random_state", random_state, RandomState())
    chosen = [features] if isinstance(features, (str, int, np.integer)) else list(features)
    if not 1 <= len(chosen) <= 2:
        raise ValueError(f"{_OWNER}: features={features!r} is not valid; it must be one feature or two.")
    has_curves = len(chosen) == 1 and max_curves != 0
    found = partial_dependence(
        estimator, X, chosen, sample_weight=sample_weight, categorical_features=categorical_features,
        feature_names=feature_names, response_method=response_method, grid_resolution=grid_resolution, method="brute",
        kind="both" if has_curves else "average", centered=centered,
    )  # fmt: skip
    output = _output(estimator, target, len(found.average))
    table = as_table(X, "X")
    places, names = zip(*(_named(table, feature, feature_names) for feature in chosen), strict=True)
    answer = _answer_words(estimator, target, response_method)
    ax = make_axes(ax)
    if len(chosen) == 2:
        return _draw_pair(ax, found.grid_values, found.average[output], names, answer)
    curves = None if not has_curves else _some(found.individual[output], max_curves, random_state)
    axis, column = found.grid_values[0], table.column(places[0])
    ylabel = f"{answer}, less that at the first value" if centered else answer
    if axis.dtype.kind not in "fiu" or _is_named(categorical_features, chosen[0], places[0], table):
        return _draw_levels(ax, axis, found.average[output], curves, names[0], ylabel)
    return _draw_curve(ax, axis, found.average[output], curves, column, names[0], ylabel)


def _output(estimator: Any, target: Any, n_outputs: int) -> int:
    """Which output is drawn."""
    if n_outputs == 1:
        return 0
    names = list(range(n_outputs)) if is_regressor(estimator) else np.asarray(estimator.classes_).tolist()
    if target not in names:
        kind = "targets" if is_regressor(estimator) else "classes"
        raise ValueError(f"{_OWNER}: target={target!r} is not valid; it must be one of the {kind} {names!r}.")
    return names.index(target)


def _answer_words(estimator: Any, target: Any, response_method: str) -> str:
    if is_regressor(estimator):
        return "prediction" if target is None else f"prediction of target {target}"
    chosen = estimator.classes_[1] if len(estimator.classes_) == 2 else target
    is_share = response_method == "predict_proba" or (response_method == "auto" and hasattr(estimator, "predict_proba"))
    return f"{'probability' if is_share else 'score'} of {chosen}"


def _named(table: Table, feature: Any, feature_names: Sequence[str] | None) -> tuple[int, str]:
    names = table.names if feature_names is None else [str(name) for name in feature_names]
    place = table.names.index(feature) if isinstance(feature, str) else int(feature)
    return place, shortened(names[place])


def _is_named(categorical_features: Any, feature: Any, place: int, table: Table) -> bool:
    if categorical_features is None:
        return False
    given = np.asarray(categorical_features)
    if given.dtype.kind == "b":
        return bool(given[place])
    return any(each in (feature, place, table.names[place]) for each in given)


def _some(individual: FloatArray, most: int | None, random_state: Any) -> FloatArray:
    n_rows = len(individual)
    if most is None or most >= n_rows:
        return individual
    return individual[np.sort(as_random_state(random_state).permutation(n_rows)[:most])]


def _draw_curve(
    ax: Any, axis: FloatArray, average: FloatArray, curves: FloatArray | None, column: Any, name: str, ylabel: str
) -> Any:
    if curves is not None:
        ax.plot(axis, curves.T, color=COLOURS[5], linewidth=0.7, alpha=max(0.2, min(0.6, 15 / len(curves))), zorder=1)
        ax.plot([], [], color=COLOURS[5], linewidth=0.9, label=f"{len(curves)} single rows")
    ax.plot(axis, average, color=COLOURS[1], linewidth=2.4, zorder=2, label="average of all rows")
    known = np.asarray(column, dtype=np.float64)
    deciles = np.quantile(known[~np.isnan(known)], np.arange(0.1, 1.0, 0.1))
    inside = deciles[(deciles >= axis.min()) & (deciles <= axis.max())]
    ax.vlines(inside, 0, 0.04, transform=ax.get_xaxis_transform(), color="black", linewidth=1, label="deciles of the rows")
    ax.legend(fontsize="small", loc="best", framealpha=0.9)
    return _finished(ax, name, ylabel)


def _draw_levels(
    ax: Any, axis: npt.NDArray[Any], average: FloatArray, curves: FloatArray | None, name: str, ylabel: str
) -> Any:
    """Levels have no between: points for the average, and the single rows as small ones beside them."""
    places = np.arange(len(axis))
    if curves is not None:
        shifts = np.linspace(-0.18, 0.18, len(curves))
        for place in places:
            ax.scatter(place + shifts, curves[:, place], s=8, color=COLOURS[5], alpha=0.6, linewidths=0, zorder=1)
        ax.scatter([], [], s=14, color=COLOURS[5], label=f"{len(curves)} single rows")
    ax.scatter(places, average, s=70, marker="D", color=COLOURS[1], zorder=2, label="average of all rows")
    labels = [shortened(value_text(value)) for value in axis.tolist()]
    ax.set_xticks(places, labels, rotation=45 if max(map(len, labels)) > 6 else 0)
    ax.legend(fontsize="small", loc="best", framealpha=0.9)
    return _finished(ax, name, ylabel)


def _finished(ax: Any, name: str, ylabel: str) -> Any:
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.set(xlabel=name, ylabel=ylabel, title="Partial dependence")
    return ax


def _draw_pair(ax: Any, axes: Sequence[Any], average: FloatArray, names: Sequence[str], answer: str) -> Any:
    """Contours of two features of numbers; cells, with their figures, where one has levels."""
    positions, ticks = zip(*(_positions(axis) for axis in axes), strict=True)
    if all(tick is None for tick in ticks):
        filled = ax.contourf(*positions, average.T, levels=12, cmap=LOW_TO_HIGH)
        lines = ax.contour(*positions, average.T, levels=filled.levels[::2], colors="white", linewidths=0.6)
        ax.clabel(lines, fontsize=8, fmt="%.3g")
    else:
        filled = ax.pcolormesh(*positions, average.T, cmap=LOW_TO_HIGH, shading="nearest")
    for tick, place in zip(ticks, (ax.xaxis, ax.yaxis), strict=True):
        if tick is not None:
            place.set_ticks(np.arange(len(tick)), tick)
    bar = ax.figure.colorbar(filled, ax=ax, aspect=40, pad=0.02)
    bar.set_label(answer)
    bar.outline.set_color(QUIET)
    ax.set(xlabel=names[0], ylabel=names[1], title="Partial dependence")
    return ax


def _positions(axis: npt.NDArray[Any]) -> tuple[FloatArray, list[str] | None]:
    if axis.dtype.kind in "fiu":
        return np.asarray(axis, dtype=np.float64), None
    return np.arange(len(axis), dtype=np.float64), [shortened(value_text(value)) for value in axis.tolist()]
