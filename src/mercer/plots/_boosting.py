"""Boosting round by round: the error after each, with AdaBoost's bounds of it, and what one round of AdaBoost sees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._params import Integer, check_value
from mercer.metrics import mean_squared_error, zero_one_loss
from mercer.plots._axes import QUIET, make_axes, place_legend, style
from mercer.plots._models import name_of, require_rows
from mercer.plots._plane import make_plane
from mercer.plots._regions import draw_boundaries, draw_regions, draw_rows, find_regions
from mercer.plots._scores import row_weights

_MEAN_SIZE, _LARGEST_SIZE = 30.0, 900.0  # square points that a row takes: of mean weight, and at most


def plot_staged_error(
    model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, sample_weight: Any = None, ax: Any = None
) -> Any:
    r"""Draw the error of a boosted model after each round, and for AdaBoost the bounds of its training error.

    With :math:`\varepsilon_t` the error of the member of round t on the weighted rows and
    :math:`\gamma_t = \frac12 - \varepsilon_t`, the training error of AdaBoost for two classes is at most
    :math:`\prod_t 2 \sqrt{\varepsilon_t (1 - \varepsilon_t)} \le \exp(-2 \sum_t \gamma_t^2)`.

    Parameters
    ----------
    model : fitted model with `staged_predict`
        AdaBoost or gradient boosting.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        What is true of them.
    X_test, y_test : as X and y, default=None
        Held-out rows, whose error is drawn as well.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the training rows, as the model was fitted with.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Notes
    -----
    The error of a classifier is the share of rows that it gets wrong, that of a regressor the mean squared error. With many
    classes or a learning rate other than 1 the product is that of
    :math:`(1 - \varepsilon_t + \varepsilon_t e^{\alpha_t}) e^{-\alpha_t / 2}`, for members of weight :math:`\alpha_t`, and
    the second bound does not hold and is not drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer.ensemble import AdaBoostClassifier
    >>> from mercer.plots import plot_staged_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ax = plot_staged_error(AdaBoostClassifier(n_estimators=20).fit(X, y), X, y)
    >>> error, product, exponential = (line.get_ydata()[-1] for line in ax.lines)
    >>> bool(error <= product <= exponential)
    True
    """
    if not hasattr(model, "staged_predict"):
        raise TypeError(f"plot_staged_error: {name_of(model)} has no staged_predict; it must be a boosted model.")
    if (X_test is None) != (y_test is None):
        raise TypeError("plot_staged_error: X_test and y_test go together; give both or neither.")
    check_is_fitted(model)
    require_rows("plot_staged_error", X, y)
    errors = _staged_errors(model, X, y, row_weights(sample_weight, len(y)))
    rounds = np.arange(1, len(errors) + 1)
    ax = make_axes(ax)
    ax.plot(rounds, errors, label="training rows", **style(0))
    if X_test is not None:
        require_rows("plot_staged_error", X_test, y_test)
        ax.plot(rounds, _staged_errors(model, X_test, y_test, None), label="held-out rows", **style(1))
    for index, (label, bound) in enumerate(_bounds(model).items()):
        ax.plot(rounds, bound, label=label, color=QUIET, linestyle=("--", ":")[index], linewidth=1.4)
    ylabel = "share of wrong rows" if is_classifier(model) else "mean squared error"
    ax.set(xlabel="round", ylabel=ylabel, title=f"Error of {name_of(model)} after each round")
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.25)
    place_legend(ax, "best")
    return ax


def plot_boosting_round(
    model: Any,
    X: Any,
    y: Any,
    round: int = 1,
    *,
    sample_weight: Any = None,
    features: Any = None,
    held: Any = None,
    n_points: int = 300,
    ax: Any = None,
) -> Any:
    """Draw what one round of AdaBoost sees: the rows as large as their weights, and the regions of the member fitted to them.

    Rows that the member gets wrong are crossed out; they gain weight for the next round.

    Parameters
    ----------
    model : fitted AdaBoostClassifier
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    round : int, default=1
        Which round, from 1.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the training rows, as the model was fitted with.
    features : pair of int or str, default=None
        Which two features to draw; needed where there are more.
    held : mapping from features to values, default=None
        The values of the others; None, and what it does not name, is the median.
    n_points : int, default=300
        The member is asked at so many places along each axis.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.ensemble import AdaBoostClassifier
    >>> from mercer.plots import plot_boosting_round
    >>> X, y = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 1], [5, 0]], [0, 0, 1, 1, 0, 0]
    >>> ax = plot_boosting_round(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y, round=2)
    >>> ax.get_title()
    'Round 2 of 3: error 0.250, weight 1.099'
    """
    if not (hasattr(model, "estimator_errors_") and hasattr(model, "classes_")):
        if not isinstance(model, type) and hasattr(model, "fit"):
            check_is_fitted(model)
        raise TypeError(f"plot_boosting_round: model={model!r} is not valid; it must be a fitted AdaBoostClassifier.")
    members = model.estimators_
    check_value("plot_boosting_round", "round", round, Integer(1, most=len(members)))
    check_value("plot_boosting_round", "n_points", n_points, Integer(10))
    require_rows("plot_boosting_round", X, y)
    plane = make_plane("plot_boosting_round", X, features, held, n_points)
    if not hasattr(members[0], "feature_names_in_"):
        plane = plane._replace(grid=np.asarray(plane.grid), table=np.asarray(plane.table))
    labels = np.asarray(y)
    wrong = np.array([member.predict(plane.table) != labels for member in members[:round]])
    weights = _weights_before(model, wrong[:-1], row_weights(sample_weight, len(labels)))
    regions = find_regions("plot_boosting_round", members[round - 1], plane, y)
    ax = make_axes(ax)
    draw_regions(ax, plane, regions)
    sizes = np.minimum(_MEAN_SIZE * weights * len(weights), _LARGEST_SIZE)
    draw_rows(ax, plane, regions.classes, y, sizes=sizes)
    draw_boundaries(ax, plane, regions)
    ax.scatter(*plane.points[wrong[-1]].T, marker="x", s=18, color="black", linewidth=0.8, zorder=4, label="wrong")
    left, right, bottom, top = plane.extent
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1], xlim=(left, right), ylim=(bottom, top))
    error, weight = model.estimator_errors_[round - 1], model.estimator_weights_[round - 1]
    ax.set_title(f"Round {round} of {len(members)}: error {error:.3f}, weight {weight:.3f}")
    place_legend(ax, "best")
    return ax


def _staged_errors(model: Any, X: Any, y: Any, weights: FloatArray | None) -> FloatArray:
    error = zero_one_loss if is_classifier(model) else mean_squared_error
    return np.array([error(y, predicted, sample_weight=weights) for predicted in model.staged_predict(X)])


def _bounds(model: Any) -> dict[str, FloatArray]:
    """The bounds of AdaBoost's training error after each round; scikit-learn's errors and weights go on after the last."""
    if not (is_classifier(model) and hasattr(model, "estimator_errors_")):
        return {}
    error, weight = (values[: len(model.estimators_)] for values in (model.estimator_errors_, model.estimator_weights_))
    if len(model.classes_) == 2 and model.learning_rate == 1:
        return {
            r"$\prod_t 2\sqrt{\varepsilon_t (1 - \varepsilon_t)}$": np.cumprod(2 * np.sqrt(error * (1 - error))),
            r"$\exp(-2 \sum_t \gamma_t^2)$": np.exp(-2 * np.cumsum((0.5 - error) ** 2)),
        }
    product = np.cumprod((1 - error + error * np.exp(weight)) * np.exp(-weight / 2))
    return {r"$\prod_t (1 - \varepsilon_t + \varepsilon_t e^{\alpha_t}) e^{-\alpha_t/2}$": np.minimum(product, 1.0)}


def _weights_before(model: Any, wrong: Any, given: FloatArray | None) -> FloatArray:
    """The weights of the rows after the rounds whose members' mistakes are given: a mistake gains the factor exp(weight)."""
    start = np.ones(wrong.shape[1]) if given is None else given
    gains = (model.estimator_weights_[: len(wrong), None] * wrong).sum(axis=0)
    weights = start * np.exp(gains - gains.max())
    return np.asarray(weights / weights.sum())
