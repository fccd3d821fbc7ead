"""Principal components: how much variance each explains, and rows and features in the plane of two of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import Integer, Null, check_value
from mercer.plots._axes import COLOURS, QUIET, make_axes, place_legend
from mercer.plots._models import name_of
from mercer.plots._points import draw_points

_REACH = 0.92  # how far the longest arrow goes towards the rows furthest from the centre
_APART = 0.055  # of the height of the plot: names of features keep this distance from one another


def plot_explained_variance(
    components: Any, *, share: float | None = 0.95, max_components: int | None = 30, ax: Any = None
) -> Any:
    """Draw the share of the variance that each component explains, and their sum so far.

    Parameters
    ----------
    components : fitted PCA, IncrementalPCA or TruncatedSVD, or array-like of shape (n_components,)
        A model has `explained_variance_ratio_`; an array holds such shares.
    share : float or None, default=0.95
        Mark the least number of components that together explain this share; None marks nothing.
    max_components : int or None, default=30
        Show so many of the first; None for all.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.decomposition import PCA
    >>> from mercer.plots import plot_explained_variance
    >>> ax = plot_explained_variance(PCA().fit(load_iris().data))
    >>> ax.texts[0].get_text()
    '2 components explain 97.8 %'
    """
    check_value("plot_explained_variance", "max_components", max_components, Null() | Integer(1))
    ratios = _ratios(components)
    if share is not None and not 0 < share < 1:
        raise ValueError(
            f"plot_explained_variance: share={share!r} is not valid; it must be a number between 0 and 1, or None."
        )
    sums, numbers = np.cumsum(ratios), np.arange(1, len(ratios) + 1)
    n_shown = len(ratios) if max_components is None else min(max_components, len(ratios))
    ax = make_axes(ax)
    ax.bar(numbers[:n_shown], ratios[:n_shown], color=COLOURS[0], width=0.8, label="each component")
    line = {"color": COLOURS[1], "marker": "o", "markersize": 4.5 if n_shown <= 30 else 0, "linewidth": 1.8}
    ax.plot(numbers[:n_shown], sums[:n_shown], label="all up to it", **line)
    if share is not None:
        _mark_share(ax, sums, share, n_shown)
    left_out = len(ratios) - n_shown
    title = "Explained variance" + (f" ({left_out} more are not shown)" if left_out else "")
    ax.set(xlabel="component", ylabel="share of the variance", title=title, ylim=(0, 1.04), xlim=(0.4, n_shown + 0.6))
    ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)
    place_legend(ax, "center right")
    return ax


def plot_biplot(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    names: Any = None,
    max_features: int | None = 12,
    ax: Any = None,
) -> Any:
    """Draw rows and features in the plane of two components (Gabriel's biplot).

    Points are the scores of the rows. Arrows are the features: the coordinates of an arrow are the feature's weights in the two
    components times the standard deviations along them, all in one unit of length; so a long arrow is a feature that varies
    much in this plane, and the cosine between two arrows is about the correlation of their features.

    Parameters
    ----------
    model : fitted PCA, IncrementalPCA or TruncatedSVD
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,), default=None
        Labels, which colour the rows.
    components : pair of int, default=(0, 1)
        The numbers of the two components, from 0.
    names : sequence of str, default=None
        Names of the features; None for those that the model knows, or x0, x1, ...
    max_features : int or None, default=12
        Show so many of the longest arrows; None for all.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.decomposition import PCA
    >>> from mercer.plots import plot_biplot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_biplot(PCA().fit(X), X, y, max_features=2)
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['petal length (cm)', 'sepal length (cm)']
    """
    check_value("plot_biplot", "max_features", max_features, Null() | Integer(1))
    _require_components("plot_biplot", model)
    pair = _pair(components, len(model.components_))
    scores = np.asarray(model.transform(X), dtype=np.float64)[:, pair]
    spread = np.sqrt(np.asarray(model.explained_variance_, dtype=np.float64)[pair])
    loadings = np.asarray(model.components_, dtype=np.float64)[pair].T * spread
    labels = _names(names if names is not None else getattr(model, "feature_names_in_", None), len(loadings))
    ax = make_axes(ax)
    ax.margins(0.05)
    draw_points("plot_biplot", ax, scores, y)
    _draw_arrows(ax, scores, loadings, labels, max_features)
    shares = np.asarray(model.explained_variance_ratio_, dtype=np.float64)[pair]
    along, up = (f"component {number + 1} ({share:.1%} of the variance)" for number, share in zip(pair, shares, strict=True))
    ax.set(xlabel=along, ylabel=up, title="Rows and features in the plane of two components")
    ax.axhline(0, color=QUIET, linewidth=0.8, zorder=0)
    ax.axvline(0, color=QUIET, linewidth=0.8, zorder=0)
    place_legend(ax, "best")
    return ax


def _mark_share(ax: Any, sums: FloatArray, share: float, n_shown: int) -> None:
    """A line at the share, and a ring at the least number of components that reach it."""
    ax.axhline(share, color=QUIET, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    reached = np.flatnonzero(sums >= share)
    if len(reached) == 0 or reached[0] >= n_shown:
        return
    k, sum_so_far = int(reached[0]) + 1, float(sums[reached[0]])
    ring = {"marker": "o", "markersize": 12, "fillstyle": "none", "markeredgewidth": 2, "color": COLOURS[1]}
    ax.plot([k], [sum_so_far], linestyle="none", **ring)
    words = f"{k} component{'s' * (k != 1)} explain{'s' * (k == 1)} {sum_so_far:.1%}".replace("%", " %")
    is_right = k > 0.55 * n_shown  # of the picture: the words go left, far enough below the curve not to meet it
    place = {"xytext": (-4 if is_right else 8, -64), "ha": "right" if is_right else "left"}
    stem = {"arrowstyle": "-", "color": COLOURS[1], "linewidth": 0.8, "shrinkB": 7}
    ax.annotate(words, (k, sum_so_far), textcoords="offset points", va="top", color=COLOURS[1], arrowprops=stem, **place)


def _draw_arrows(ax: Any, scores: FloatArray, loadings: FloatArray, labels: list[str], max_features: int | None) -> None:
    """The longest arrows, all in one unit, so that the longest reaches about as far as the rows do."""
    lengths = np.hypot(*loadings.T)
    order = np.argsort(-lengths, kind="stable")[:max_features]
    order = order[lengths[order] > 0]
    if len(order) == 0:
        return
    half = np.maximum(np.abs(scores).max(axis=0), np.finfo(np.float64).tiny) if len(scores) else np.ones(2)
    tips = loadings[order] * _REACH / (np.abs(loadings[order]) / half).max()
    for tip in tips:
        arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow, zorder=4)
    places = _places_of_names(tips / half)
    for feature, tip, place in zip(order, tips, places * half, strict=True):
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        side = "left" if tip[0] >= 0 else "right"
        ax.text(*place, labels[feature], ha=side, va="center", fontsize="small", bbox=box, zorder=3.5)
    _make_room(ax)


def _make_room(ax: Any) -> None:
    """Widen the axes until the names of features are within them; a wider picture makes names longer in its units."""
    for _ in range(2):
        for text in ax.texts:
            if text.get_text():
                ax.update_datalim(text.get_window_extent().transformed(ax.transData.inverted()).get_points())
        ax.autoscale_view()


def _places_of_names(tips: FloatArray) -> FloatArray:
    """Where names stand, in halves of the picture: behind the tips, and moved up or down until none covers another."""
    lengths = np.maximum(np.hypot(*tips.T), 1e-12)[:, None]
    places: FloatArray = tips + 0.035 * tips / lengths
    for side in (tips[:, 0] >= 0, tips[:, 0] < 0):
        members = np.flatnonzero(side)[np.argsort(places[side, 1], kind="stable")]
        for before, after in pairwise(members):
            places[after, 1] = max(places[after, 1], places[before, 1] + 2 * _APART)
    return places


def _ratios(components: Any) -> FloatArray:
    if hasattr(components, "fit"):
        check_is_fitted(components)
    shares = getattr(components, "explained_variance_ratio_", components)
    try:
        ratios = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        ratios = np.empty(0)
    if ratios.ndim != 1 or len(ratios) == 0 or not (np.isfinite(ratios).all() and (ratios >= 0).all()):
        raise ValueError(
            f"plot_explained_variance: components={components!r} is not valid; it must be a fitted model with "
            "explained_variance_ratio_, or a vector of shares of the variance."
        )
    return ratios


def _require_components(owner: str, model: Any) -> None:
    check_is_fitted(model)
    if not (hasattr(model, "components_") and hasattr(model, "explained_variance_")):
        raise TypeError(
            f"{owner}: {name_of(model)} has no components_ and explained_variance_; the model must be a fitted PCA, "
            "IncrementalPCA or TruncatedSVD."
        )


def _pair(components: Any, n_components: int) -> npt.NDArray[np.intp]:
    pair = np.asarray(components)
    is_pair = pair.shape == (2,) and pair.dtype.kind in "iu" and bool(((pair >= 0) & (pair < n_components)).all())
    if not is_pair or pair[0] == pair[1]:
        raise ValueError(
            f"plot_biplot: components={components!r} is not valid; it must be a pair of different numbers from 0 to "
            f"{n_components - 1}, the components that the model has."
        )
    return np.asarray(pair, dtype=np.intp)


def _names(names: Any, n_features: int) -> list[str]:
    labels = [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]
    if len(labels) != n_features:
        raise ValueError(f"plot_biplot: names has {len(labels)} values; it must have one for {n_features} features.")
    return labels
