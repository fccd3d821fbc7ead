"""Errors of predicted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Real, check_value
from mercer.metrics._labels import Array
from mercer.metrics._targets import Targets, check_targets, combine, weighted_quantiles


def _mean_squares(targets: Targets) -> Array:
    residuals = targets.residuals
    return targets.mean(np.multiply(residuals, residuals, out=residuals))


def mean_squared_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average") -> Any:
    """The mean squared error: MSE = 1/n sum_i (y_i - f_i)^2.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,), default="uniform_average"
        The mean over outputs, one error an output, or a mean by these weights.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import mean_squared_error
    >>> mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    """
    return combine(_mean_squares(check_targets(y_true, y_pred, sample_weight)), multioutput, "mean_squared_error")


def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The square root of the mean squared error, in the units of the target.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_error`; the root is taken of each output before they are averaged.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import root_mean_squared_error
    >>> root_mean_squared_error([1, 2, 3], [3, 4, 5])
    2.0
    """
    of_output = np.sqrt(_mean_squares(check_targets(y_true, y_pred, sample_weight)))
    return combine(of_output, multioutput, "root_mean_squared_error")


def mean_absolute_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average") -> Any:
    """The mean absolute error: MAE = 1/n sum_i |y_i - f_i|.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_error`.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import mean_absolute_error
    >>> mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    residuals = targets.residuals
    return combine(targets.mean(np.abs(residuals, out=residuals)), multioutput, "mean_absolute_error")


def median_absolute_error(y_true: Any, y_pred: Any, *, multioutput: Any = "uniform_average", sample_weight: Any = None) -> Any:
    """The median of |y_i - f_i|: an error that outliers do not move.

    Parameters
    ----------
    y_true, y_pred, multioutput, sample_weight
        As in :func:`mean_squared_error`; with weights it is the weighted median.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import median_absolute_error
    >>> median_absolute_error([3, -0.5, 2, 700], [2.5, 0.0, 2, 8])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    errors = np.abs(targets.residuals)
    is_plain = targets.weights is None
    of_output = np.median(errors, axis=0) if is_plain else weighted_quantiles(errors, targets.weights, 0.5)
    return combine(np.asarray(of_output), multioutput, "median_absolute_error")


def mean_absolute_percentage_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The mean absolute error relative to the true value: MAPE = 1/n sum_i |y_i - f_i| / max(eps, |y_i|). Not in per cent.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_error`. True values of 0 give arbitrarily large errors.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import mean_absolute_percentage_error
    >>> mean_absolute_percentage_error([1, 2, 4], [2, 2, 2])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    least = np.asarray(np.finfo(np.float64).eps, dtype=targets.true.dtype)
    errors = np.abs(targets.residuals) / np.maximum(np.abs(targets.true), least)
    return combine(targets.mean(errors), multioutput, "mean_absolute_percentage_error")


def _check_log_targets(y_true: Any, y_pred: Any, sample_weight: Any, name: str) -> Targets:
    targets = check_targets(y_true, y_pred, sample_weight)
    if (targets.true <= -1).any() or (targets.predicted <= -1).any():
        raise ValueError(f"{name} cannot be used when targets contain values less than or equal to -1.")
    return Targets(np.log1p(targets.true), np.log1p(targets.predicted), targets.weights)


def mean_squared_log_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average") -> Any:
    """The mean squared error of logarithms: MSLE = 1/n sum_i (log(1 + y_i) - log(1 + f_i))^2.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_error`; values must be above -1.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import mean_squared_log_error
    >>> round(mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 4)
    0.0397
    """
    targets = _check_log_targets(y_true, y_pred, sample_weight, "Mean Squared Logarithmic Error")
    return combine(_mean_squares(targets), multioutput, "mean_squared_log_error")


def root_mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The square root of the mean squared error of logarithms.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_log_error`; the root is taken of each output before they are averaged.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import root_mean_squared_log_error
    >>> round(root_mean_squared_log_error([3, 5, 2.5, 7], [2.5, 5, 4, 8]), 4)
    0.1993
    """
    targets = _check_log_targets(y_true, y_pred, sample_weight, "Root Mean Squared Logarithmic Error")
    return combine(np.sqrt(_mean_squares(targets)), multioutput, "root_mean_squared_log_error")


def max_error(y_true: Any, y_pred: Any) -> float:
    """The largest error: max_i |y_i - f_i|.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted values.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import max_error
    >>> max_error([3, 2, 7, 1], [4, 2, 7, 1])
    1.0
    """
    return float(np.max(np.abs(check_targets(y_true, y_pred, single_for="max_error").residuals)))


def pinball_losses(targets: Targets, alpha: float) -> Array:
    """The mean pinball loss of each output."""
    residuals = targets.residuals
    return targets.mean(np.maximum(alpha * residuals, (alpha - 1) * residuals))


def mean_pinball_loss(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
) -> Any:
    """The loss of a predicted quantile: 1/n sum_i max(alpha (y_i - f_i), (1 - alpha) (f_i - y_i)).

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_squared_error`.
    alpha : float in [0, 1], default=0.5
        The quantile; 0.5 gives half the mean absolute error.

    Returns
    -------
    loss : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import mean_pinball_loss
    >>> round(mean_pinball_loss([1, 2, 3], [1, 2, 4], alpha=0.9), 4)
    0.0333
    """
    alpha = check_value("mean_pinball_loss", "alpha", alpha, Real(least=0, most=1))
    targets = check_targets(y_true, y_pred, sample_weight)
    return combine(pinball_losses(targets, alpha), multioutput, "mean_pinball_loss")
