"""Paths of descent methods over the level sets of what they minimise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from mercer._arrays import FloatArray
from mercer._params import Function, Integer, Interval, Null, Real, check_value
from mercer.optim import Trace
from mercer.plots._axes import COLOURS, make_axes, place_legend

_N_PLACES = 120  # along each axis, where the function is computed
_FREE = 0.15  # of the range of the paths, on each side


def plot_descent(
    result: Any,
    fun: Callable[[Any], float] | None = None,
    *,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    n_levels: int = 15,
    spacing: float = 2.0,
    ax: Any = None,
) -> Any:
    """Draw the path of a descent in two variables over the level sets of its function.

    A square is the start, a star the end, and each dot one iteration. Both axes have one scale, so that a step along the
    gradient is at right angles to the level sets.

    Parameters
    ----------
    result : OptimizeResult, Trace, array-like of shape (n_iter + 1, 2) or a mapping from names to these
        What `mercer.optim.minimize` or `sgd_minimize` gave, or its `trace`; several are drawn in colours of their own.
    fun : callable or None, default=None
        ``fun(x)`` gives a number, as for `minimize`; None draws the path alone.
    xlim, ylim : pair of float or None, default=None
        What is drawn of each variable; None for the range of the paths. What leaves the picture is cut off.
    n_levels : int, default=15
        The number of level sets.
    spacing : float, default=2.0
        Levels go from the least value to the largest as the power `spacing`: the larger, the closer they are at the bottom;
        1 makes the differences of neighbouring levels equal.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> from mercer.plots import plot_descent
    >>> valley = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
    >>> results = {method: minimize(valley, [-3.2, 1.6], method=method, step="optimal") for method in ("gd", "newton")}
    >>> ax = plot_descent(results, valley)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['gd: 15 steps', 'newton: 1 step']
    """
    check_value("plot_descent", "fun", fun, Null() | Function())
    check_value("plot_descent", "n_levels", n_levels, Integer(1))
    check_value("plot_descent", "spacing", spacing, Real(above=0))
    # A result of SciPy's kind is itself a mapping, of its fields.
    is_several = isinstance(result, Mapping) and not isinstance(result, OptimizeResult)
    paths = {str(name): _path(each) for name, each in (result.items() if is_several else [("", result)])}
    if not paths:
        raise ValueError("plot_descent: the mapping of results is empty; it must have one at least.")
    together = np.concatenate(list(paths.values()))
    x, y = (
        _limits(name, limits, values) for name, limits, values in zip(("xlim", "ylim"), (xlim, ylim), together.T, strict=True)
    )
    ax = make_axes(ax)
    if fun is not None:
        _draw_levels(ax, fun, x, y, n_levels, spacing)
    for index, (name, path) in enumerate(paths.items()):
        _draw_path(ax, path, f"{name}: {_steps(path)}" if name else None, COLOURS[(index + 1) % len(COLOURS)])
    title = "Paths of descent" if len(paths) > 1 else f"Path of descent: {_steps(together)}"
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=title, xlim=x, ylim=y, aspect="equal")
    place_legend(ax, "best")
    return ax


def _path(result: Any) -> FloatArray:
    """The points of a descent, one a row."""
    if isinstance(result, OptimizeResult):
        if not isinstance(result.get("trace"), Trace):
            raise TypeError("plot_descent: the result holds no path; mercer.optim.minimize keeps one.")
        result = result.trace
    try:
        path = np.asarray(result.x if isinstance(result, Trace) else result, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"plot_descent: result={result!r} is not valid; it must be what mercer.optim.minimize gave, or an array of points."
        ) from error
    if path.ndim != 2 or path.shape[1] != 2 or len(path) == 0:
        raise ValueError(f"plot_descent: the path has shape {path.shape}; it must be one of points in two variables.")
    return path


def _limits(name: str, limits: tuple[float, float] | None, values: FloatArray) -> tuple[float, float]:
    given: tuple[float, float] | None = check_value("plot_descent", name, limits, Null() | Interval())
    if given is not None:
        return given
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    free = _FREE * (high - low) or 1.0
    return low - free, high + free


def _draw_levels(
    ax: Any, fun: Callable[[Any], float], x: tuple[float, float], y: tuple[float, float], n: int, spacing: float
) -> None:
    horizontal, vertical = np.linspace(*x, _N_PLACES), np.linspace(*y, _N_PLACES)
    values = np.array([[float(fun(np.array([a, b]))) for a in horizontal] for b in vertical])
    finite = values[np.isfinite(values)]
    if len(finite) == 0 or finite.min() == finite.max():
        return  # nothing to draw: no level separates two places
    low, high = finite.min(), finite.max()
    levels = low + (high - low) * np.linspace(0, 1, n + 2)[1:-1] ** spacing
    ax.contour(horizontal, vertical, np.ma.masked_invalid(values), levels=levels, cmap="Blues_r", linewidths=0.8, alpha=0.7)


def _steps(path: FloatArray) -> str:
    return "1 step" if len(path) == 2 else f"{len(path) - 1} steps"


def _draw_path(ax: Any, path: FloatArray, label: str | None, colour: str) -> None:
    ax.plot(*path.T, color=colour, linewidth=1.3, marker="o", markersize=3, label=label)
    ax.plot(*path[0], marker="s", markersize=7, color=colour)
    ax.plot(*path[-1], marker="*", markersize=12, color=colour, markeredgecolor="white", markeredgewidth=0.6)
