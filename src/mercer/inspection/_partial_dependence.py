"""Partial dependence: what a model answers on average where some features have given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.inspection import partial_dependence as peers_partial_dependence
from sklearn.utils import Bunch, check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights
from mercer._base import MercerEstimator
from mercer._parallel import effective_threads
from mercer._params import Bool, Having, Integer, Mapped, Null, OneOf, check_value
from mercer._tables import Table, as_table
from mercer._trace import warn
from mercer.inspection._grid import Values, axes_of, categorical_mask, names_of, places_of, points_of
from mercer.inspection._responses import Responses, coded_points, response_names
from mercer.inspection._sums import BoostingSums, ForestSums, HistogramBoostingSums, SingleTreeSums, TreeSums, sums_of

_OWNER = "partial_dependence"
_RECURSIVE = (
    "GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor, "
    "DecisionTreeRegressor, ExtraTreeRegressor, RandomForestRegressor, ExtraTreesRegressor"
)


def partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: str = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    method: str = "auto",
    kind: str = "average",
    centered: bool = False,
) -> Any:
    r"""What a model answers on average where some features have given values, and what it answers to each row.

    .. math:: f_S(x_S) = \sum_i w_i f(x_S, x_{i, -S}) \Big/ \sum_i w_i .

    The terms of the sum are the rows' individual conditional expectations (ICE). Rows are put at values that may not go with
    the rest of them: where features are correlated, see `accumulated_local_effects`.

    Parameters
    ----------
    estimator : object
        A fitted classifier or regressor.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The rows to average over, of which the grid is made too.
    features : int, str or sequence of these
        One feature, or several whose values are combined.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the average; they go with `method="brute"`.
    categorical_features : array-like of bool, int or str, default=None
        Features whose values are all on the grid, as a mask, by number or by name.
    feature_names : sequence of str, default=None
        Names of the columns of X.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What classifiers are asked for; "auto" asks for probabilities, or for scores where there are none.
    percentiles : tuple of float, default=(0.05, 0.95)
        The ends of the grid of a feature of numbers.
    grid_resolution : int, default=100
        The number of values of each feature. A feature of fewer values has all of them on the grid.
    custom_values : dict, default=None
        Values of some of the features, by the entry of `features`.
    method : {"auto", "recursion", "brute"}, default="auto"
        "brute" averages answers to the rows. "recursion" reads the model's trees: where they ask for other features a point
        goes both ways, by the share of the training rows that did; the answers are scores then. "auto" takes it where
        scikit-learn does: regression trees, random forest regressors and boosting, without weights, averages alone.
    kind : {"average", "individual", "both"}, default="average"
        What to return.
    centered : bool, default=False
        Have every curve begin at 0: what it is at the first point of the grid is taken off.

    Returns
    -------
    result : Bunch
        average : ndarray of shape (n_outputs, n_values_0, n_values_1, ...)
            The averages; an output for regression and for two classes (the second one), else one for each class or target.
        individual : ndarray of shape (n_outputs, n_samples, n_values_0, n_values_1, ...)
            The answers to each row.
        grid_values : list of ndarray
            The values of each feature.

    Notes
    -----
    Models of Mercer that add up are asked once: a row's way through a tree is walked for all points of the grid together,
    which part where the tree asks for their feature, and linear models change by one term. The averages have the same bits as
    those of answers to rows written out, for any number of threads. As in scikit-learn the recursion leaves out what boosting
    starts from; for histogram boosting a training row counts once, whatever its weight.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.ensemble import RandomForestRegressor
    >>> from mercer.inspection import partial_dependence
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(random_state=0).fit(X, y)
    >>> result = partial_dependence(model, X, "bmi", grid_resolution=3, method="brute")
    >>> [round(value) for value in result.average[0]]
    [129, 175, 210]

    References
    ----------
    J. H. Friedman, "Greedy function approximation: A gradient boosting machine", Annals of Statistics 29, 2001.
    """
    _check_options(estimator, grid_resolution, custom_values, method, kind, centered, response_method)
    check_model(estimator, response_method)
    if kind != "average" and method == "recursion":
        raise ValueError("The 'recursion' method only applies when 'kind' is set to 'average'")
    if method == "recursion" and sample_weight is not None:
        raise ValueError("The 'recursion' method can only be applied when sample_weight is None.")
    table = as_checked_table(X)
    if method == "auto":
        by_trees = kind == "average" and sample_weight is None and _is_recursive(estimator)
        method = "recursion" if by_trees else "brute"
    if method == "recursion":
        _check_recursion(estimator, response_method)
    weights = check_weights(sample_weight, table.n_rows, np.float64)
    places = places_of(features, table)
    axes = _axes(table, features, places, feature_names, categorical_features, percentiles, grid_resolution, custom_values)
    if method == "recursion" and not isinstance(estimator, MercerEstimator):
        return _by_peer(estimator, table, places, axes, centered)
    if method == "recursion":
        found = {"average": _recursion(estimator, table, places, points_of(axes))}
    else:
        responses = Responses(estimator, response_names(estimator, response_method))
        found = _brute(responses, table, places, points_of(axes), weights, kind)
    shape = [len(axis) for axis in axes]
    shaped = {name: values.reshape(*values.shape[:-1], *shape) for name, values in found.items()}
    return _result(axes, shaped, centered)


def as_checked_table(X: Any) -> Table:
    """X as a table; lists become arrays of whatever they hold."""
    if not (hasattr(X, "__array__") or hasattr(X, "columns") or sp.issparse(X)):
        X = check_array(X, ensure_all_finite="allow-nan", dtype=object)
    return as_table(X, "X")


def _check_options(
    estimator: Any, grid_resolution: Any, custom_values: Any, method: Any, kind: Any, centered: Any, response_method: Any
) -> None:
    rules = Having("fit", "predict") | Having("fit", "predict_proba") | Having("fit", "decision_function")
    check_value(_OWNER, "estimator", estimator, rules)
    check_value(_OWNER, "grid_resolution", grid_resolution, Integer(1))
    check_value(_OWNER, "custom_values", custom_values, Null() | Mapped())
    check_value(_OWNER, "method", method, OneOf("auto", "recursion", "brute"))
    check_value(_OWNER, "kind", kind, OneOf("average", "individual", "both"))
    check_value(_OWNER, "centered", centered, Bool())
    check_value(_OWNER, "response_method", response_method, OneOf("auto", "predict_proba", "decision_function"))


def check_model(estimator: Any, response_method: str) -> None:
    check_is_fitted(estimator)
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError("'estimator' must be a fitted regressor or classifier.")
    if is_classifier(estimator) and isinstance(estimator.classes_[0], np.ndarray):
        raise ValueError("Multiclass-multioutput estimators are not supported")
    if is_regressor(estimator) and response_method != "auto":
        raise ValueError("The response_method parameter is ignored for regressors and must be 'auto'.")


def _axes(
    table: Table,
    features: Any,
    places: Sequence[int],
    feature_names: Any,
    categorical_features: Any,
    percentiles: tuple[float, float],
    grid_resolution: int,
    custom_values: Mapping[Any, Any] | None,
) -> list[Values]:
    """The values of each feature, after a look at what the columns hold."""
    mask = categorical_mask(categorical_features, names_of(table, feature_names))
    entries = [features] if isinstance(features, (str, int, np.integer)) else list(features)
    for place, entry in zip(places, entries, strict=False):
        if not mask[place] and table.column(place).dtype.kind in "iu":
            raise ValueError(
                f"The column {entry!r} contains integer data. Partial dependence plots are not supported for integer data: "
                "values between two integers would be rounded. Please convert numerical features to floating point dtypes, or "
                "name the column in categorical_features."
            )
    given = custom_values or {}
    custom = {number: given[entry] for number, entry in enumerate(entries) if entry in given}
    return axes_of(table, places, [bool(mask[place]) for place in places], percentiles, grid_resolution, custom)


def _result(axes: list[Values], found: dict[str, FloatArray], centered: bool) -> Any:
    result = Bunch(grid_values=axes)
    for name, values in found.items():
        n_leading = 2 if name == "individual" else 1
        first = (slice(None),) * n_leading + (0,) * len(axes)
        start = values[first].reshape(*values.shape[:n_leading], *[1] * len(axes))
        result[name] = values - start if centered else values
    return result


# ---- by answers to rows


def _brute(
    responses: Responses,
    table: Table,
    places: Sequence[int],
    points: Sequence[Values],
    weights: FloatArray | None,
    kind: str,
) -> dict[str, FloatArray]:
    """Averages of shape (n_targets, n_points) and answers of shape (n_targets, n_rows, n_points), those that are wanted."""
    n_points, individual, average = len(points[0]), None, None
    of_rows = np.ones(table.n_rows) if weights is None else weights
    for at, rows, answers in responses.at(table, places, points):
        n_targets = answers.shape[2]
        if kind != "average":
            if individual is None:
                individual = np.empty((n_targets, table.n_rows, n_points))
            individual[:, rows, at] = answers.transpose(2, 1, 0)
        if average is None:
            average = np.zeros((n_targets, n_points))
        average[:, at] += np.einsum("i,pit->tp", of_rows[rows], answers)
    assert average is not None
    average /= of_rows.sum()
    found = {"average": average, "individual": individual}
    return {name: values for name, values in found.items() if values is not None and kind in (name, "both")}


# ---- by the trees


def _is_recursive(estimator: Any) -> bool:
    """Whether "auto" reads the trees: the models of which scikit-learn does."""
    sums = sums_of(estimator)
    if isinstance(sums, BoostingSums):
        return estimator.init is None
    if isinstance(sums, ForestSums):
        return is_regressor(estimator) and type(estimator).__name__ == "RandomForestRegressor"
    if isinstance(sums, SingleTreeSums):
        return bool(is_regressor(estimator))
    if isinstance(estimator, MercerEstimator):
        return isinstance(sums, HistogramBoostingSums)
    return _is_recursive_peer(estimator) and getattr(estimator, "init", None) is None


def _is_recursive_peer(estimator: Any) -> bool:
    from sklearn import ensemble, tree

    kinds = [getattr(ensemble, name) for name in _RECURSIVE.split(", ") if name.startswith(("Gradient", "Hist", "Random"))]
    return isinstance(estimator, (*kinds, tree.DecisionTreeRegressor))


def _check_recursion(estimator: Any, response_method: str) -> None:
    sums = sums_of(estimator)
    is_boosting = isinstance(sums, (HistogramBoostingSums, BoostingSums)) or _has_start(estimator)
    suits = is_boosting or (isinstance(sums, TreeSums) and is_regressor(estimator)) or _is_recursive_peer(estimator)
    if not suits:
        raise ValueError(
            f"Only the following estimators support the 'recursion' method: {_RECURSIVE}. Try using method='brute'."
        )
    if response_method not in ("auto", "decision_function"):
        raise ValueError(
            f"With the 'recursion' method, the response_method must be 'decision_function'. Got {response_method}."
        )


def _has_start(estimator: Any) -> bool:
    """Whether this is Mercer's gradient boosting, from whatever start."""
    return isinstance(estimator, MercerEstimator) and hasattr(estimator, "_start") and hasattr(estimator, "_learning_rate")


def _recursion(estimator: Any, table: Table, places: Sequence[int], points: Sequence[Values]) -> FloatArray:
    """Sums over the trees at each point, of shape (n_targets, n_points), without what boosting starts from."""
    sums = sums_of(estimator) if not _has_start(estimator) else BoostingSums(estimator)
    assert isinstance(sums, TreeSums)
    if isinstance(sums, BoostingSums) and sums.start is None:
        warn(
            "Using recursion method with a non-constant init predictor will lead to incorrect partial dependence values. "
            f"Got init={estimator.init}."
        )
    coded = coded_points(sums, table, places, points)
    by_count = isinstance(sums, HistogramBoostingSums)
    weights: npt.NDArray[Any] = sums.store.n_rows.astype(np.float64) if by_count else sums.store.weight
    walked = sums.walked(places, coded, weights, effective_threads(getattr(estimator, "n_jobs", None)))
    if isinstance(sums, BoostingSums):
        return np.asarray(sums.rate * walked)
    return np.asarray(walked / sums.divisor) if isinstance(sums, ForestSums) else walked


def _by_peer(estimator: Any, table: Table, places: Sequence[int], axes: list[Values], centered: bool) -> Any:
    """Scikit-learn's own recursion, for its own trees, on this grid."""
    custom = dict(zip(places, axes, strict=True))
    data = table.data
    if hasattr(data, "columns"):
        custom = {data.columns[place]: axis for place, axis in custom.items()}
    found = peers_partial_dependence(estimator, data, list(custom), method="recursion", custom_values=custom)
    return _result(axes, {"average": found["average"]}, centered)
