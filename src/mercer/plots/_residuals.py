"""Residuals of a regression: against the fitted values, against normal quantiles, or as a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_consistent_length, column_or_1d

from mercer._arrays import FloatArray
from mercer._params import OneOf, check_value
from mercer.plots._axes import COLOURS, QUIET, make_axes, place_legend
from mercer.plots._models import predictions

_N_PARTS = 10  # of the fitted values, for the mean residual in each


def plot_residuals(y_true: Any, y_pred: Any, y: Any = None, *, kind: str = "fitted", ax: Any = None) -> Any:
    """Draw the residuals y_true - y_pred of a regression.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted values. Or a fitted regressor and X.
    y : array-like of shape (n_samples,), default=None
        With a model in the first place: the targets of the rows of X.
    kind : {"fitted", "qq", "histogram"}, default="fitted"
        Against the predicted values, with the mean residual of each tenth of the rows, which is near zero where the model
        lacks no curve; standardised against normal quantiles, where normal residuals lie on the line; or as a histogram.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_residuals
    >>> ax = plot_residuals([1.0, 2.0, 4.0], [1.5, 2.0, 3.0])
    >>> ax.collections[0].get_offsets().tolist()
    [[1.5, -0.5], [2.0, 0.0], [3.0, 1.0]]
    """
    check_value("plot_residuals", "kind", kind, OneOf("fitted", "qq", "histogram"))
    y_true, y_pred = predictions("plot_residuals", y_true, y_pred, y)
    true, fitted = _numbers("y_true", y_true), _numbers("y_pred", y_pred)
    check_consistent_length(true, fitted)
    residuals = true - fitted
    if not np.isfinite(residuals).all():
        raise ValueError("plot_residuals: y_true or y_pred contains NaN or infinity; every value must be finite.")
    ax = make_axes(ax)
    draw = {"fitted": _draw_fitted, "qq": _draw_quantiles, "histogram": _draw_histogram}[kind]
    draw(ax, residuals, fitted)
    ax.grid(alpha=0.25)
    return ax


def _numbers(name: str, values: Any) -> FloatArray:
    column = column_or_1d(values)
    try:
        return np.asarray(column, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"plot_residuals: {name} holds {column.tolist()[0]!r}; residuals are those of numbers.") from error


def _draw_fitted(ax: Any, residuals: FloatArray, fitted: FloatArray) -> None:
    alpha = float(np.clip(200 / len(fitted), 0.15, 0.8))  # many points would hide each other
    ax.scatter(fitted, residuals, s=14, color=COLOURS[0], alpha=alpha, linewidth=0)
    ax.axhline(0.0, color=QUIET, linestyle=":", linewidth=1.2)
    if len(fitted) >= 2 * _N_PARTS:
        parts = np.array_split(np.argsort(fitted, kind="stable"), _N_PARTS)
        x, y = ([values[part].mean() for part in parts] for values in (fitted, residuals))
        ax.plot(x, y, color=COLOURS[1], marker="s", markersize=5, linewidth=1.8, label="mean of each tenth of the rows")
        place_legend(ax, "best")
    ax.set(xlabel="predicted value", ylabel="residual  y_true - y_pred", title="Residuals against predictions")


def _draw_quantiles(ax: Any, residuals: FloatArray, fitted: FloatArray) -> None:
    spread = residuals.std()
    standard = np.sort((residuals - residuals.mean()) / (spread if spread > 0 else 1.0))
    normal = ndtri((np.arange(len(standard)) + 0.5) / len(standard))
    ax.scatter(normal, standard, s=14, color=COLOURS[0], alpha=0.7, linewidth=0)
    ax.axline((0.0, 0.0), slope=1.0, color=QUIET, linestyle=":", linewidth=1.2, label="normal")
    ax.set(xlabel="quantile of the normal distribution", ylabel="standardised residual", title="Normal Q-Q plot of residuals")
    place_legend(ax, "upper left")


def _draw_histogram(ax: Any, residuals: FloatArray, fitted: FloatArray) -> None:
    ax.hist(residuals, bins="auto" if len(residuals) <= 100_000 else 100, color=COLOURS[0], edgecolor="white", linewidth=0.5)
    ax.axvline(0.0, color=QUIET, linestyle=":", linewidth=1.2)
    ax.set(xlabel="residual  y_true - y_pred", ylabel="number of rows", title="Histogram of residuals")
