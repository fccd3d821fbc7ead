"""The share of the spread of a target that predictions explain."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Bool, Real, check_value
from mercer.metrics._deviance import check_power, deviance, tweedie_targets
from mercer.metrics._regression import pinball_losses
from mercer.metrics._targets import Targets, check_targets, explained, is_too_short, weighted_quantiles


def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """The coefficient of determination: R^2 = 1 - sum_i (y_i - f_i)^2 / sum_i (y_i - mean(y))^2.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True and predicted values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    multioutput : {"uniform_average", "variance_weighted", "raw_values"}, array-like or None, default="uniform_average"
        The mean over outputs, that by their variance, one score an output, or a mean by these weights.
    force_finite : bool, default=True
        Whether a constant target scores 1 (perfect) or 0 (not) instead of NaN or -infinity.

    Returns
    -------
    r2 : float, or ndarray of shape (n_outputs,)
        NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import r2_score
    >>> round(r2_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.9486
    """
    check_value("r2_score", "force_finite", force_finite, Bool())
    targets = check_targets(y_true, y_pred, sample_weight)
    if is_too_short(targets, "R^2"):
        return float("nan")
    left = targets.mean(targets.residuals**2)
    total = targets.mean((targets.true - targets.mean(targets.true)) ** 2)
    return explained(left, total, multioutput, "r2_score", force_finite=force_finite, more=("variance_weighted",))


def explained_variance_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """The share of variance explained, whatever the bias: 1 - var(y - f) / var(y).

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput, force_finite
        As in :func:`r2_score`.

    Returns
    -------
    score : float, or ndarray of shape (n_outputs,)

    Examples
    --------
    >>> from mercer.metrics import explained_variance_score
    >>> explained_variance_score([1, 2, 3], [3, 4, 5])
    1.0
    """
    check_value("explained_variance_score", "force_finite", force_finite, Bool())
    targets = check_targets(y_true, y_pred, sample_weight)
    residuals = targets.residuals
    left = targets.mean((residuals - targets.mean(residuals)) ** 2)
    total = targets.mean((targets.true - targets.mean(targets.true)) ** 2)
    owner = "explained_variance_score"
    return explained(left, total, multioutput, owner, force_finite=force_finite, more=("variance_weighted",))


def d2_tweedie_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: float = 0) -> float:
    """The share of Tweedie deviance explained: D^2 = 1 - dev(y, f) / dev(y, mean(y)).

    Parameters
    ----------
    y_true, y_pred, sample_weight, power
        As in :func:`mean_tweedie_deviance`.

    Returns
    -------
    d2 : float
        NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import d2_tweedie_score
    >>> round(d2_tweedie_score([0.5, 1, 2.5, 7], [1, 1, 5, 3.5], power=1), 4)
    0.4879
    """
    power = check_power("d2_tweedie_score", power)
    targets = check_targets(y_true, y_pred, sample_weight, single_for="d2_tweedie_score")
    if is_too_short(targets, "D^2"):
        return float("nan")
    left = deviance(tweedie_targets(y_true, y_pred, sample_weight, power), power)
    mean = np.full_like(targets.true, targets.mean(targets.true))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(1 - np.float64(left) / deviance(Targets(targets.true, mean, targets.weights), power))


def d2_pinball_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
) -> Any:
    """The share of pinball loss explained: D^2 = 1 - pinball(y, f) / pinball(y, alpha-quantile of y).

    Parameters
    ----------
    y_true, y_pred, sample_weight, alpha, multioutput
        As in :func:`mean_pinball_loss`.

    Returns
    -------
    d2 : float, or ndarray of shape (n_outputs,)
        NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import d2_pinball_score
    >>> d2_pinball_score([1, 2, 3], [1, 3, 3])
    0.5
    """
    alpha = check_value("d2_pinball_score", "alpha", alpha, Real(least=0, most=1))
    targets = check_targets(y_true, y_pred, sample_weight)
    if is_too_short(targets, "D^2"):
        return float("nan")
    quantile = np.broadcast_to(weighted_quantiles(targets.true, targets.weights, alpha), targets.true.shape)
    total = pinball_losses(Targets(targets.true, quantile, targets.weights), alpha)
    return explained(pinball_losses(targets, alpha), total, multioutput, "d2_pinball_score")


def d2_absolute_error_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The share of absolute error explained: D^2 = 1 - MAE(y, f) / MAE(y, median(y)).

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As in :func:`mean_absolute_error`.

    Returns
    -------
    d2 : float, or ndarray of shape (n_outputs,)
        NaN, with a warning, for fewer than two rows.

    Examples
    --------
    >>> from mercer.metrics import d2_absolute_error_score
    >>> round(d2_absolute_error_score([3, -0.5, 2, 7], [2.5, 0.0, 2, 8]), 4)
    0.7647
    """
    return d2_pinball_score(y_true, y_pred, sample_weight=sample_weight, alpha=0.5, multioutput=multioutput)
