"""Deviances of the Tweedie family: normal, Poisson, gamma and what lies between."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from mercer._params import Real, check_value
from mercer.metrics._targets import Targets, check_targets


def check_power(owner: str, power: Any) -> float:
    """A power that has a distribution: none lies between 0 and 1."""
    checked: float = check_value(owner, "power", power, Real(most=0) | Real(least=1))
    return checked


def deviance(targets: Targets, power: float) -> float:
    """The mean unit deviance."""
    y, f, p = targets.true, targets.predicted, power
    if p == 0:
        unit = (y - f) ** 2
    elif p == 1:
        unit = 2 * (xlogy(y, y / f) - y + f)
    elif p == 2:
        unit = 2 * (np.log(f / y) + y / f - 1)
    else:
        base = np.maximum(y, 0) if p < 0 else y
        unit = 2 * (base ** (2 - p) / ((1 - p) * (2 - p)) - y * f ** (1 - p) / (1 - p) + f ** (2 - p) / (2 - p))
    return float(targets.mean(unit)[0])


def tweedie_targets(y_true: Any, y_pred: Any, sample_weight: Any, power: float) -> Targets:
    """Targets that the distribution of that power can have."""
    targets = check_targets(y_true, y_pred, sample_weight, single_for="mean_tweedie_deviance")
    message = f"Mean Tweedie deviance error with power={power:g} can only be used on "
    is_mean_bad = power != 0 and bool((targets.predicted <= 0).any())
    if power < 0 and is_mean_bad:
        raise ValueError(message + "strictly positive y_pred.")
    if 1 <= power < 2 and (is_mean_bad or (targets.true < 0).any()):
        raise ValueError(message + "non-negative y and strictly positive y_pred.")
    if power >= 2 and (is_mean_bad or (targets.true <= 0).any()):
        raise ValueError(message + "strictly positive y and y_pred.")
    return targets


def mean_tweedie_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None, power: float = 0) -> float:
    """The mean deviance of a Tweedie distribution, whose variance is proportional to mean^power.

        d(y, f) = 2 (max(y, 0)^(2-p) / ((1-p)(2-p)) - y f^(1-p) / (1-p) + f^(2-p) / (2-p)), and its limits at p = 0, 1, 2

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True values and predicted means.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    power : float <= 0 or >= 1, default=0
        0: normal (squared error); 1: Poisson; between 1 and 2: compound Poisson; 2: gamma; 3: inverse Gaussian.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import mean_tweedie_deviance
    >>> round(mean_tweedie_deviance([2, 0, 1, 4], [0.5, 0.5, 2., 2.], power=1), 4)
    1.426
    """
    power = check_power("mean_tweedie_deviance", power)
    return deviance(tweedie_targets(y_true, y_pred, sample_weight, power), power)


def mean_poisson_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The mean Poisson deviance: 2/n sum_i (y_i log(y_i / f_i) - y_i + f_i).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Counts or rates, >= 0.
    y_pred : array-like of shape (n_samples,)
        Predicted means, > 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import mean_poisson_deviance
    >>> round(mean_poisson_deviance([2, 0, 1, 4], [0.5, 0.5, 2., 2.]), 4)
    1.426
    """
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=1)


def mean_gamma_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The mean gamma deviance: 2/n sum_i (log(f_i / y_i) + y_i / f_i - 1).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values, > 0.
    y_pred : array-like of shape (n_samples,)
        Predicted means, > 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import mean_gamma_deviance
    >>> round(mean_gamma_deviance([2, 0.5, 1, 4], [0.5, 0.5, 2., 2.]), 4)
    1.0569
    """
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=2)
