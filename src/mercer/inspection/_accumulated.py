"""Accumulated local effects: what a feature does to a model's answers where the other features go with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils import Bunch

from mercer._arrays import FloatArray, check_weights
from mercer._params import Integer, InvalidParameterError, OneOf, check_value
from mercer._tables import Table
from mercer.inspection._grid import Values, categorical_mask, names_of, places_of
from mercer.inspection._level_order import order_of_levels
from mercer.inspection._partial_dependence import as_checked_table, check_model
from mercer.inspection._responses import Responses, response_names

_OWNER = "accumulated_local_effects"
Places = npt.NDArray[np.intp]


def accumulated_local_effects(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: str = "auto",
    grid_resolution: int = 40,
) -> Any:
    r"""How a model's answers change with a feature, or with two together, seen from the rows that are near.

    The values of a feature are cut into intervals :math:`(z_{k-1}, z_k]` of about equally many rows. In each, the rows
    are moved to both ends, and what that changes is averaged and added up:

    .. math:: g(z_k) = \sum_{l \le k} \frac{1}{n_l} \sum_{i: x_{ij} \in (z_{l-1}, z_l]}
              \big[f(z_l, x_{i,-j}) - f(z_{l-1}, x_{i,-j})\big],

    less its mean over the rows. No row is put far from where it was, so that the model is not asked about rows that cannot be,
    as `partial_dependence` asks where features are correlated. Of two features the differences of differences are added up, and
    what each does alone is taken off: what stays is their interaction.

    Parameters
    ----------
    estimator : object
        A fitted classifier or regressor.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        Rows like those that the model is for.
    features : int, str, or sequence of one or two of these
        The feature, or two features of numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the means.
    categorical_features : array-like of bool, int or str, default=None
        Features that hold categories; columns of words and categorical types do without being named. Their levels are put in
        an order in which neighbours are alike in the other features (Apley and Zhu): by the first coordinate of scaling the
        distances between the distributions of the other features; levels of numbers and ordered categories keep their order.
    feature_names : sequence of str, default=None
        Names of the columns of X.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What classifiers are asked for.
    grid_resolution : int, default=40
        The most intervals of each feature.

    Returns
    -------
    result : Bunch
        average : ndarray of shape (n_outputs, n_values_0[, n_values_1])
            The effects at the ends of the intervals, or at the levels; their mean over the rows is 0.
        grid_values : list of ndarray
            The ends of the intervals, or the levels in their order.
        counts : ndarray
            How many rows each interval, cell or level has. A cell without rows has the mean of the nearest that has some.

    Notes
    -----
    Every row is asked about twice, or four times for two features: O(n) answers whatever the resolution.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import accumulated_local_effects
    >>> from mercer.linear_model import LinearRegression
    >>> random = np.random.RandomState(0)
    >>> X = random.uniform(size=(200, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0] - X[:, 1])
    >>> effects = accumulated_local_effects(model, X, 0, grid_resolution=4)
    >>> ends = effects.grid_values[0]
    >>> print((np.diff(effects.average[0]) / np.diff(ends)).round(6))
    [3. 3. 3. 3.]

    References
    ----------
    D. W. Apley and J. Zhu, "Visualizing the effects of predictor variables in black box supervised learning models", Journal of
    the Royal Statistical Society B 82, 2020.
    """
    check_value(_OWNER, "grid_resolution", grid_resolution, Integer(1))
    check_value(_OWNER, "response_method", response_method, OneOf("auto", "predict_proba", "decision_function"))
    check_model(estimator, response_method)
    table = as_checked_table(X)
    places = places_of(features, table)
    if not 1 <= len(places) <= 2 or len(set(places)) < len(places):
        raise InvalidParameterError(
            f"{_OWNER}: features={features!r} is not valid; it must be one feature or two different ones."
        )
    mask = categorical_mask(categorical_features, names_of(table, feature_names))
    is_categorical = [bool(mask[place]) or table.column(place).dtype.kind not in "fiub" for place in places]
    weights = check_weights(sample_weight, table.n_rows, np.float64)
    rows = np.ones(table.n_rows) if weights is None else weights
    responses = Responses(estimator, response_names(estimator, response_method))
    if len(places) == 2:
        if any(is_categorical):
            raise InvalidParameterError(
                f"{_OWNER}: features={features!r} holds a feature of categories; two-way effects need two features of numbers."
            )
        return _two_way(responses, table, places, rows, grid_resolution)
    if is_categorical[0]:
        return _of_levels(responses, table, places[0], rows)
    return _one_way(responses, table, places[0], rows, grid_resolution)


def _intervals(table: Table, place: int, resolution: int) -> tuple[Values, Places]:
    """The ends of intervals of about equally many rows, and the interval of each row; missing values are refused."""
    column = table.column(place)
    if np.isnan(column.astype(np.float64)).any():
        raise ValueError(
            f"{_OWNER}: the feature {table.names[place]!r} has missing values, which are between no two others; leave these "
            "rows out."
        )
    ends = np.unique(np.quantile(column, np.linspace(0, 1, resolution + 1), method="inverted_cdf"))
    if len(ends) < 2:
        raise ValueError(f"{_OWNER}: the feature {table.names[place]!r} is constant; there are no effects to find.")
    return ends, np.clip(np.searchsorted(ends, column) - 1, 0, len(ends) - 2)


def _means(changes: FloatArray, cells: Places, weights: FloatArray, n_cells: int) -> tuple[FloatArray, FloatArray]:
    """The weighted mean of each cell, of shape (n_targets, n_cells), NaN where it has no weight, and these weights."""
    totals = np.bincount(cells, weights, minlength=n_cells)
    sums = np.stack([np.bincount(cells, weights * change, minlength=n_cells) for change in changes.T])
    with np.errstate(invalid="ignore"):
        return sums / totals, totals


def _one_way(responses: Responses, table: Table, place: int, weights: FloatArray, resolution: int) -> Any:
    ends, cells = _intervals(table, place, resolution)
    low, high = responses.chosen(table, [place], [ends], np.stack([cells, cells + 1]).astype(np.uint32))
    means, totals = _means(high - low, cells, weights, len(ends) - 1)
    effects = _accumulated(np.nan_to_num(means))
    middles = (effects[:, 1:] + effects[:, :-1]) / 2
    effects -= (middles @ totals / totals.sum())[:, None]
    return Bunch(average=effects, grid_values=[ends], counts=np.bincount(cells, minlength=len(ends) - 1))


def _accumulated(steps: FloatArray) -> FloatArray:
    """Sums of steps along the last axis, from 0 on."""
    return np.concatenate([np.zeros((*steps.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)


def _two_way(responses: Responses, table: Table, places: Sequence[int], weights: FloatArray, resolution: int) -> Any:
    (first, rows), (second, columns) = (_intervals(table, place, resolution) for place in places)
    n, m = len(first) - 1, len(second) - 1
    corners = [each.ravel() for each in np.meshgrid(first, second, indexing="ij")]
    orders = np.stack([(rows + i) * (m + 1) + columns + j for i in (0, 1) for j in (0, 1)]).astype(np.uint32)
    low_low, low_high, high_low, high_high = responses.chosen(table, places, corners, orders)
    changes = (high_high - high_low) - (low_high - low_low)
    means, totals = _means(changes, rows * m + columns, weights, n * m)
    means, totals = _filled(means, totals, first, second).reshape(-1, n, m), totals.reshape(n, m)
    effects = _accumulated(_accumulated(means).swapaxes(1, 2)).swapaxes(1, 2)
    effects -= _alone(effects, totals)[:, :, None] + _alone(effects.swapaxes(1, 2), totals.T)[:, None, :]
    middles = (effects[:, 1:, 1:] + effects[:, 1:, :-1] + effects[:, :-1, 1:] + effects[:, :-1, :-1]) / 4
    effects -= (np.einsum("tnm,nm->t", middles, totals) / totals.sum())[:, None, None]
    counts = np.bincount(rows * m + columns, minlength=n * m).reshape(n, m)
    return Bunch(average=effects, grid_values=[first, second], counts=counts)


def _filled(means: FloatArray, totals: FloatArray, first: Values, second: Values) -> FloatArray:
    """The means of cells, those without rows from the nearest that has some, in units of the ranges."""
    middles = [(ends[1:] + ends[:-1]) / 2 / (ends[-1] - ends[0]) for ends in (first, second)]
    centres = np.stack([each.ravel() for each in np.meshgrid(*middles, indexing="ij")], axis=1)
    known, empty = np.flatnonzero(totals > 0), np.flatnonzero(totals == 0)
    out = means.copy()
    if len(empty):
        out[:, empty] = means[:, known[cdist(centres[empty], centres[known]).argmin(axis=1)]]
    return out


def _alone(effects: FloatArray, totals: FloatArray) -> FloatArray:
    """What the first of two features does alone, of shape (n_targets, n_values): its accumulated mean change."""
    steps = np.diff(effects, axis=1)
    weighted = np.einsum("tnm,nm->tn", (steps[:, :, 1:] + steps[:, :, :-1]) / 2, totals)
    of_row = totals.sum(axis=1)
    return _accumulated(np.divide(weighted, of_row, out=np.zeros_like(weighted), where=of_row > 0))


def _of_levels(responses: Responses, table: Table, place: int, weights: FloatArray) -> Any:
    """Rows of a level are moved to its neighbours on both sides; so are those of the neighbours to it."""
    levels, codes = order_of_levels(table, place)
    last = len(levels) - 1
    if last < 1:
        raise ValueError(f"{_OWNER}: the feature {table.names[place]!r} is constant; there are no effects to find.")
    moves = np.stack([np.maximum(codes - 1, 0), codes, np.minimum(codes + 1, last)]).astype(np.uint32)
    down, own, up = responses.chosen(table, [place], [levels], moves)
    rises, falls = codes < last, codes > 0
    changes = np.concatenate([(up - own)[rises], (own - down)[falls]])
    steps = np.concatenate([codes[rises], codes[falls] - 1])
    means, _ = _means(changes, steps, np.concatenate([weights[rises], weights[falls]]), last)
    effects = _accumulated(np.nan_to_num(means))
    totals = np.bincount(codes, weights, minlength=last + 1)
    effects -= (effects @ totals / totals.sum())[:, None]
    return Bunch(average=effects, grid_values=[levels], counts=np.bincount(codes, minlength=last + 1))
