"""Importances of features as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import Integer, Null, check_value
from mercer.inspection import permutation_importance
from mercer.plots._axes import COLOURS, QUIET, make_axes
from mercer.plots._models import is_model, name_of, require_rows

_LONGEST = 32  # characters of a name; the rest gives way to the bars


def plot_importances(
    importances: Any,
    X: Any = None,
    y: Any = None,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = 0,
    spread: Any = None,
    names: Any = None,
    max_features: int | None = 20,
    ax: Any = None,
) -> Any:
    """Draw the importances of features as bars, the largest on top, with their spread as error bars.

    Parameters
    ----------
    importances : array-like of shape (n_features,), a fitted model or the result of a permutation importance
        A model has `feature_importances_`; a result `importances_mean` and `importances_std`, as
        `sklearn.inspection.permutation_importance` gives it.
    X : array-like, sparse matrix or table of shape (n_samples, n_features), default=None
        With a model: draw how much its score on these rows falls when a feature is permuted, whatever the model has.
    y : array-like of shape (n_samples,), default=None
        What is true of the rows of X.
    scoring : str, callable or None, default=None
        With X: the score that falls; None for the model's own.
    n_repeats : int, default=5
        With X: how often each feature is permuted.
    random_state : int, RandomState or None, default=0
        With X: seeds the permutations.
    spread : array-like of shape (n_features,), default=None
        Standard deviations, where `importances` is an array.
    names : sequence of str, default=None
        Names of the features; None for those that the model knows, or x0, x1, ...
    max_features : int or None, default=20
        Show so many of the largest; None for all.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_importances
    >>> ax = plot_importances([0.1, 0.7, 0.2], spread=[0.01, 0.05, 0.02], names=["age", "income", "height"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['income', 'height', 'age']
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = plot_importances(Ridge(alpha=0.1).fit(X, y), X, y, max_features=3)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['bmi', 's5', 'bp']
    """
    check_value("plot_importances", "max_features", max_features, Null() | Integer(1))
    known = getattr(importances, "feature_names_in_", getattr(X, "columns", None))
    label = "importance"
    if X is not None:
        importances = _of_permutations(importances, X, y, scoring=scoring, n_repeats=n_repeats, random_state=random_state)
        label = "fall of the score when the feature is permuted"
    if spread is None:
        spread = getattr(importances, "importances_std", None)
    values = _values(importances)
    labels = _names(names if names is not None else known, len(values))
    deviations = None if spread is None else np.asarray(spread, dtype=np.float64)
    if deviations is not None and deviations.shape != values.shape:
        raise ValueError(
            f"plot_importances: spread has shape {deviations.shape}; it must have one value for {len(values)} features."
        )
    order = np.argsort(-values, kind="stable")[:max_features]
    ax = make_axes(ax)
    places = np.arange(len(order))
    errors = None if deviations is None else deviations[order]
    ax.barh(places, values[order], xerr=errors, color=COLOURS[0], ecolor="black", capsize=2, error_kw={"linewidth": 1})
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    ax.set_yticks(places, [labels[i] for i in order], fontsize="small" if len(order) > 12 else "medium")
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    left_out = len(values) - len(order)
    ax.set(xlabel=label, title="Importances of features" + (f" ({left_out} more are not shown)" if left_out else ""))
    return ax


def _of_permutations(model: Any, X: Any, y: Any, *, scoring: Any, n_repeats: int, random_state: Any) -> Any:
    """How much the score falls when a column is shuffled."""
    if not is_model(model):
        raise TypeError("plot_importances: X and y go with a model; call plot_importances(model, X, y).")
    if y is None:
        raise TypeError("plot_importances: the score of a model needs y; call plot_importances(model, X, y).")
    check_value("plot_importances", "n_repeats", n_repeats, Integer(1))
    require_rows("plot_importances", X, y)
    return permutation_importance(model, X, y, scoring=scoring, n_repeats=n_repeats, random_state=random_state)


def _values(importances: Any) -> FloatArray:
    for name in ("importances_mean", "feature_importances_"):
        if hasattr(importances, name):
            return np.asarray(getattr(importances, name), dtype=np.float64)
    if is_model(importances):
        check_is_fitted(importances)
        raise TypeError(
            f"plot_importances: {name_of(importances)} has no feature_importances_; with rows, plot_importances(model, X, y), "
            "importances by permutation are drawn of any model."
        )
    try:
        values = np.asarray(importances, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"plot_importances: importances={importances!r} is not valid; it must be a vector of finite numbers, a fitted "
            "model with feature_importances_, or a result with importances_mean."
        )
    return values


def _names(names: Any, n_features: int) -> list[str]:
    labels = [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]
    if len(labels) != n_features:
        raise ValueError(f"plot_importances: names has {len(labels)} values; it must have one for {n_features} features.")
    return [label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…" for label in labels]
