"""Information criteria: how good a fit is for its number of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Bool, Integer, Real, check_value


def aic(
    n_parameters: int,
    *,
    log_likelihood: float | None = None,
    rss: float | None = None,
    n_samples: int | None = None,
    corrected: bool = False,
) -> float:
    """Akaike's information criterion: twice the number of parameters, minus twice the log-likelihood. The less, the better.

        AIC = 2 k - 2 log L,   where for least squares log L = -n/2 (log(2 pi RSS / n) + 1)

    Parameters
    ----------
    n_parameters : int >= 0
        The number k of coefficients, the intercept included; the variance of a least-squares fit is not counted.
    log_likelihood : float, default=None
        The log-likelihood log L at its maximum; or else give `rss` and `n_samples`.
    rss : float >= 0, default=None
        The residual sum of squares of a least-squares fit.
    n_samples : int >= 1, default=None
        The number n of rows.
    corrected : bool, default=False
        Whether to add 2 k (k + 1) / (n - k - 1) for few rows (AICc).

    Returns
    -------
    aic : float
        -infinity for a perfect fit by least squares.

    References
    ----------
    H. Akaike, "A new look at the statistical model identification", IEEE Transactions on Automatic Control 19 (1974).

    Examples
    --------
    >>> from mercer.metrics import aic
    >>> aic(3, log_likelihood=-120.0)
    246.0
    >>> round(aic(3, rss=80.0, n_samples=100), 4)
    267.4734
    """
    k = check_value("aic", "n_parameters", n_parameters, Integer(0))
    check_value("aic", "corrected", corrected, Bool())
    value: float = 2 * k - 2 * _log_likelihood("aic", log_likelihood, rss, n_samples)
    if not corrected:
        return value
    n = check_value("aic", "n_samples", n_samples, Integer(k + 2))
    return float(value + 2 * k * (k + 1) / (n - k - 1))


def bic(n_parameters: int, n_samples: int, *, log_likelihood: float | None = None, rss: float | None = None) -> float:
    """The Bayesian information criterion: log(n) a parameter, minus twice the log-likelihood. The less, the better.

        BIC = k log n - 2 log L,   where for least squares log L = -n/2 (log(2 pi RSS / n) + 1)

    Parameters
    ----------
    n_parameters : int >= 0
        The number k of coefficients, the intercept included; the variance of a least-squares fit is not counted.
    n_samples : int >= 1
        The number n of rows.
    log_likelihood : float, default=None
        The log-likelihood log L at its maximum; or else give `rss`.
    rss : float >= 0, default=None
        The residual sum of squares of a least-squares fit.

    Returns
    -------
    bic : float
        -infinity for a perfect fit by least squares.

    References
    ----------
    G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6 (1978).

    Examples
    --------
    >>> from mercer.metrics import bic
    >>> round(bic(3, 100, log_likelihood=-120.0), 4)
    253.8155
    """
    k = check_value("bic", "n_parameters", n_parameters, Integer(0))
    n = check_value("bic", "n_samples", n_samples, Integer(1))
    return float(k * np.log(n) - 2 * _log_likelihood("bic", log_likelihood, rss, n))


def _log_likelihood(owner: str, log_likelihood: Any, rss: Any, n_samples: Any) -> float:
    if (log_likelihood is None) == (rss is None):
        raise ValueError(f"{owner}: give either log_likelihood or rss (with n_samples); got both or neither.")
    if rss is None:
        return float(check_value(owner, "log_likelihood", log_likelihood, Real()))
    rss = check_value(owner, "rss", rss, Real(least=0))
    n = check_value(owner, "n_samples", n_samples, Integer(1))
    with np.errstate(divide="ignore"):
        return float(-n / 2 * (np.log(2 * np.pi * np.float64(rss) / n) + 1))
