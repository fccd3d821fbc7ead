"""Grids of values of features: which columns are meant, which hold categories, and the points at which a model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats.mstats import mquantiles

from mercer._tables import Table

Values = npt.NDArray[Any]


def places_of(features: Any, table: Table) -> list[int]:
    """The columns that features name: numbers, names or a mask."""
    listed = [features] if isinstance(features, (str, int, np.integer)) else list(features)
    names = list(table.data.columns) if hasattr(table.data, "columns") else None
    if listed and all(isinstance(each, (bool, np.bool_)) for each in listed):
        if len(listed) != len(table.names):
            raise ValueError(f"features is a mask of {len(listed)} values; X has {len(table.names)} columns.")
        return [place for place, is_meant in enumerate(listed) if is_meant]
    return [_place(each, names, len(table.names)) for each in listed]


def _place(feature: Any, names: list[Any] | None, n_features: int) -> int:
    if isinstance(feature, str):
        if names is None:
            raise ValueError(
                f"Specifying the columns using strings is only supported for dataframes: features holds {feature!r}, and X "
                "has no names."
            )
        if feature not in names:
            raise ValueError(f"A given column is not a column of the dataframe: features holds {feature!r}.")
        return names.index(feature)
    if not isinstance(feature, (int, np.integer)):
        raise ValueError(f"features holds {feature!r}; it must hold numbers or names of columns.")
    if not 0 <= feature < n_features:
        raise ValueError(f"all features must be in [0, {n_features - 1}]; features holds {feature!r}.")
    return int(feature)


def names_of(table: Table, feature_names: Any) -> list[str]:
    """Names of all columns, those of the table where none are given."""
    if feature_names is None:
        return table.names
    names = list(feature_names)
    if len(set(names)) != len(names):
        raise ValueError("feature_names should not contain duplicates.")
    return names


def number_of(feature: Any, names: Sequence[str]) -> int:
    """The number of a feature that is given by number or name."""
    if not isinstance(feature, str):
        return int(feature)
    if feature not in names:
        raise ValueError(f"Feature {feature!r} not in feature_names")
    return list(names).index(feature)


def categorical_mask(categorical_features: Any, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which columns hold categories, by a mask, numbers or names."""
    mask = np.zeros(len(names), dtype=bool)
    if categorical_features is None:
        return mask
    given = np.asarray(categorical_features)
    if given.size == 0:
        raise ValueError(
            "Passing an empty list (`[]`) to `categorical_features` is not supported. Use `None` instead to indicate that "
            "there are no categorical features."
        )
    if given.dtype.kind == "b":
        if given.size != len(names):
            raise ValueError(
                "When `categorical_features` is a boolean array-like, the array should be of shape (n_features,). Got "
                f"{given.size} elements while `X` contains {len(names)} features."
            )
        return given
    if given.dtype.kind not in "iuOU":
        raise ValueError(
            f"Expected `categorical_features` to be an array-like of boolean, integer, or string. Got {given.dtype} instead."
        )
    for feature in given.tolist():
        mask[number_of(feature, names)] = True
    return mask


def check_percentiles(percentiles: Any) -> None:
    if not isinstance(percentiles, Iterable) or len(tuple(percentiles)) != 2:
        raise ValueError("'percentiles' must be a sequence of 2 elements.")
    low, high = percentiles
    if not all(0 <= each <= 1 for each in percentiles):
        raise ValueError("'percentiles' values must be in [0, 1].")
    if low >= high:
        raise ValueError("percentiles[0] must be strictly less than percentiles[1].")


def axes_of(
    table: Table,
    places: Sequence[int],
    is_categorical: Sequence[bool],
    percentiles: tuple[float, float],
    grid_resolution: int,
    custom: Mapping[int, Any],
) -> list[Values]:
    """The values of each feature at which a model is asked, by the feature's place in `places`.

    Those that are given; all that there are, of a category or where they are fewer than the resolution; otherwise numbers in
    equal steps between the percentiles. Missing values take no part.
    """
    check_percentiles(percentiles)
    if grid_resolution <= 1:
        raise ValueError("'grid_resolution' must be strictly greater than 1.")
    given = {number: _as_array(values) for number, values in custom.items()}
    if wrong := {number: values.ndim for number, values in given.items() if values.ndim != 1}:
        words = ", ".join(f"Feature {number}: {ndim} dimensions" for number, ndim in wrong.items())
        raise ValueError(f"The custom grid for some features is not a one-dimensional array. {words}")
    return [
        given[number] if number in given else _axis(table.column(place), number, is_cat, percentiles, grid_resolution)
        for number, (place, is_cat) in enumerate(zip(places, is_categorical, strict=True))
    ]


def _as_array(values: Any) -> Values:
    return np.asarray(values, dtype=object if any(isinstance(value, str) for value in values) else None)


def _axis(column: Values, number: int, is_categorical: bool, percentiles: tuple[float, float], resolution: int) -> Values:
    if column.dtype.kind == "f":
        column = column[~np.isnan(column)]
    try:
        levels = np.unique(column)
    except TypeError as error:
        raise ValueError(
            f"The column #{number} contains mixed data types. Finding unique categories fail due to sorting. It usually means "
            "that the column contains `np.nan` values together with `str` categories; give its values as custom_values."
        ) from error
    if is_categorical or len(levels) < resolution:
        return levels
    low, high = mquantiles(column.astype(np.float64), prob=percentiles)
    if np.allclose(low, high):
        raise ValueError(
            "percentiles are too close to each other, unable to build the grid. Please choose percentiles that are further "
            "apart."
        )
    return np.linspace(low, high, num=resolution)


def points_of(axes: Sequence[Values]) -> list[Values]:
    """All points of a grid, the last axis moving first: a vector for each axis."""
    return [each.ravel() for each in np.meshgrid(*axes, indexing="ij")]
