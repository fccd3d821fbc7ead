"""Learning and validation curves: scores against the number of rows, or against a parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import learning_curve, validation_curve

from mercer._arrays import FloatArray
from mercer.plots._axes import band, make_axes, mark_place, place_legend
from mercer.plots._models import is_model


class _Curve(NamedTuple):
    """Scores of training and held-out rows at some points."""

    points: npt.NDArray[Any]
    train_scores: Any
    test_scores: Any
    score_name: str = "score"
    name: str = "parameter"


@overload
def plot_learning_curve(
    train_sizes: Any, train_scores: Any, test_scores: Any, *, score_name: str | None = None, ax: Any = None
) -> Any: ...
@overload
def plot_learning_curve(
    model: Any, X: Any, y: Any = None, *, score_name: str | None = None, ax: Any = None, **options: Any
) -> Any: ...
def plot_learning_curve(*data: Any, score_name: str | None = None, ax: Any = None, **options: Any) -> Any:
    """Draw scores on training and held-out rows against the number of training rows, with one standard deviation over folds.

    Called as ``plot_learning_curve(model, X, y)``, or with scores that are at hand as
    ``plot_learning_curve(train_sizes, train_scores, test_scores)``.

    Parameters
    ----------
    model : estimator
        What to fit, on more and more rows.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
    **options
        With a model: `cv`, `scoring`, `n_jobs`, `train_sizes` and what else `sklearn.model_selection.learning_curve` takes.
        Training rows are shuffled (`random_state=0`) unless ``shuffle=False``: the first of rows that are sorted by class are
        of one class.
    train_sizes : array-like of shape (n_points,)
        Numbers of training rows.
    train_scores, test_scores : array-like of shape (n_points,) or (n_points, n_folds)
        As `sklearn.model_selection.learning_curve` gives them.
    score_name : str or None, default=None
        What the vertical axis is called; None for the name of the scoring, where it is known.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.plots import plot_learning_curve
    >>> from mercer.tree import DecisionTreeClassifier
    >>> ax = plot_learning_curve(DecisionTreeClassifier(), *load_iris(return_X_y=True))
    >>> ax.get_ylabel(), ax.lines[0].get_xdata().tolist()
    ('accuracy', [12, 39, 66, 93, 120])
    >>> ax = plot_learning_curve([10, 20], [[1.0, 0.9], [0.9, 0.9]], [[0.5, 0.7], [0.7, 0.9]], score_name="accuracy")
    >>> ax.lines[1].get_ydata().round(2).tolist()
    [0.6, 0.8]
    """
    curve = _read("plot_learning_curve", data, options, _learning_of_model, _given_learning)
    train, test = _both_moments("plot_learning_curve", curve)
    ax = make_axes(ax)
    band(ax, curve.points, *train, "training rows", 0, "o")
    band(ax, curve.points, *test, "held-out rows", 1, "s")
    ax.grid(alpha=0.25)
    ax.set(xlabel="number of training rows", ylabel=score_name or curve.score_name, title="Learning curve")
    place_legend(ax, "best")
    return ax


@overload
def plot_validation_curve(
    values: Any,
    train_scores: Any,
    test_scores: Any,
    *,
    name: str | None = None,
    score_name: str | None = None,
    log: bool | None = None,
    ax: Any = None,
) -> Any: ...
@overload
def plot_validation_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    param_name: str,
    param_range: Any,
    name: str | None = None,
    score_name: str | None = None,
    log: bool | None = None,
    ax: Any = None,
    **options: Any,
) -> Any: ...
def plot_validation_curve(
    *data: Any,
    name: str | None = None,
    score_name: str | None = None,
    log: bool | None = None,
    ax: Any = None,
    **options: Any,
) -> Any:
    """Draw scores on training and held-out rows against a parameter, and mark the value that is best on held-out rows.

    Called as ``plot_validation_curve(model, X, y, param_name="alpha", param_range=[0.1, 1, 10])``, or with scores that are at
    hand as ``plot_validation_curve(values, train_scores, test_scores)``.

    Parameters
    ----------
    model : estimator
        What to fit, with every value of the parameter.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
    param_name : str
        With a model: its parameter, as `set_params` knows it.
    param_range : array-like of shape (n_points,)
        With a model: the values to try.
    **options
        With a model: `cv`, `scoring`, `n_jobs` and what else `sklearn.model_selection.validation_curve` takes.
    values : array-like of shape (n_points,)
        Values of the parameter; what is not a number is drawn at even distances.
    train_scores, test_scores : array-like of shape (n_points,) or (n_points, n_folds)
        As `sklearn.model_selection.validation_curve` gives them; larger is better.
    name : str or None, default=None
        What the horizontal axis is called; None for `param_name`, or "parameter".
    score_name : str or None, default=None
        What the vertical axis is called; None for the name of the scoring, where it is known.
    log : bool or None, default=None
        Draw the parameter on a logarithmic scale; None where its values are positive and span a factor of 100 or more.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.plots import plot_validation_curve
    >>> from mercer.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ax = plot_validation_curve(DecisionTreeRegressor(), X, y, param_name="max_depth", param_range=[1, 2, 3, 4, 5])
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.texts[0].get_text()
    ('max_depth', 'R2', 'best: 2')
    >>> ax = plot_validation_curve([0.01, 0.1, 1.0], [0.9, 0.8, 0.6], [0.5, 0.7, 0.6], name="alpha")
    >>> ax.get_xscale(), ax.texts[0].get_text()
    ('log', 'best: 0.1')
    """
    curve = _read("plot_validation_curve", data, options, _validation_of_model, _given_validation)
    given = curve.points
    is_number = given.dtype.kind in "fiu"
    points = given if is_number else np.arange(len(given))
    train, test = _both_moments("plot_validation_curve", curve)
    ax = make_axes(ax)
    band(ax, points, *train, "training rows", 0, "o")
    band(ax, points, *test, "held-out rows", 1, "s")
    best = int(np.argmax(test[0]))
    text = f"best: {given[best]:.4g}" if is_number else f"best: {given[best]}"
    mark_place(ax, points[best], text, is_right=best >= len(points) / 2)
    if log is None:
        log = is_number and bool((points > 0).all()) and points.max() >= 100 * points.min()
    if log:
        ax.set_xscale("log")
    if not is_number:
        ax.set_xticks(points, [str(value) for value in given.tolist()])
    ax.grid(alpha=0.25)
    ax.set(xlabel=name or curve.name, ylabel=score_name or curve.score_name, title="Validation curve")
    place_legend(ax, "best")
    return ax


def _learning_of_model(
    model: Any, X: Any, y: Any = None, *, scoring: Any = None, shuffle: bool = True, random_state: Any = 0, **options: Any
) -> _Curve:
    _require_known("plot_learning_curve", options, learning_curve)
    sizes, train, test, *_ = learning_curve(
        model, X, y, scoring=scoring, shuffle=shuffle, random_state=random_state if shuffle else None, **options
    )
    return _Curve(sizes, train, test, _score_name(model, scoring))


def _given_learning(train_sizes: Any, train_scores: Any, test_scores: Any) -> _Curve:
    return _Curve(_points("plot_learning_curve", "train_sizes", train_sizes), train_scores, test_scores)


def _validation_of_model(
    model: Any, X: Any, y: Any = None, *, param_name: str, param_range: Any, scoring: Any = None, **options: Any
) -> _Curve:
    _require_known("plot_validation_curve", options, validation_curve)
    train, test = validation_curve(model, X, y, param_name=param_name, param_range=param_range, scoring=scoring, **options)
    return _Curve(
        _points("plot_validation_curve", "param_range", param_range), train, test, _score_name(model, scoring), param_name
    )


def _given_validation(values: Any, train_scores: Any, test_scores: Any) -> _Curve:
    return _Curve(_points("plot_validation_curve", "values", values), train_scores, test_scores)


def _require_known(owner: str, options: dict[str, Any], function: Callable[..., Any]) -> None:
    known = list(inspect.signature(function).parameters)[3:]
    for name in options:
        if name not in known:
            raise TypeError(f"{owner}: there is no option {name!r}; options are {', '.join(map(repr, known))}.")


def _points(owner: str, name: str, values: Any) -> npt.NDArray[Any]:
    """Values along the horizontal axis; what is not all numbers stays what it is (None among numbers, tuples, estimators)."""
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TypeError(f"{owner}: {name}={values!r} is not valid; it must be a sequence of values.")
    try:
        points = np.asarray(values)
    except ValueError:  # sequences of different lengths
        points = np.empty(0, dtype=object)
    if points.ndim == 1 and points.dtype.kind != "U":
        return points
    listed = list(values)
    points = np.empty(len(listed), dtype=object)
    points[:] = listed
    return points


def _score_name(model: Any, scoring: Any) -> str:
    if isinstance(scoring, str):
        return scoring
    if scoring is None and (is_classifier(model) or is_regressor(model)):
        return "accuracy" if is_classifier(model) else "R2"
    return "score"


def _read(
    owner: str, data: tuple[Any, ...], options: dict[str, Any], of_model: Callable[..., _Curve], given: Callable[..., _Curve]
) -> _Curve:
    """The curve of a model and data, or the one given: the arguments are bound to the function that takes them."""
    model = data[0] if data else options.get("model")
    if isinstance(model, type):
        raise TypeError(f"{owner}: {model.__name__} is a class; give a model of it, {model.__name__}().")
    function = of_model if hasattr(model, "fit") else given
    try:
        arguments = inspect.signature(function).bind(*data, **options)
    except TypeError as error:
        raise TypeError(f"{owner}: {error}; call {_call(owner, of_model)} or {_call(owner, given)}.") from None
    if function is given and any(is_model(value) for value in arguments.arguments.values()):
        raise TypeError(f"{owner}: the model comes first; call {_call(owner, of_model)}.")
    return function(*arguments.args, **arguments.kwargs)


def _call(owner: str, function: Callable[..., Any]) -> str:
    """How the function is called, with the arguments that it cannot do without."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.name == "y" or (p.default is p.empty and p.kind is not p.VAR_KEYWORD)]
    keywords = [f"{name}=..." if name.startswith("param_") else name for name in needed]
    return f"{owner}({', '.join(keywords)})"


def _both_moments(owner: str, curve: _Curve) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    n_points = len(curve.points)
    train = _moments(owner, "train_scores", curve.train_scores, n_points)
    return train, _moments(owner, "test_scores", curve.test_scores, n_points)


def _moments(owner: str, name: str, scores: Any, n_points: int) -> tuple[FloatArray, FloatArray]:
    """The mean and standard deviation over folds; folds without a score are left out."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim not in (1, 2) or len(values) != n_points:
        raise ValueError(f"{owner}: {name} has shape {values.shape}; it must have one value, or one line of folds, a point.")
    values = values.reshape(n_points, -1)
    if np.isnan(values).all(axis=1).any():
        raise ValueError(f"{owner}: {name} is NaN for all folds of a point; every point must have a score.")
    return np.nanmean(values, axis=1), np.nanstd(values, axis=1)
