"""Intervals for numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._saved import saved
from mercer.conformal._fits import Calibrated, Grouping, Method, calibrated, checked_alpha, grouping, groups_of

Values = npt.NDArray[np.float64]


@saved("mercer.conformal.ConformalRegressor", is_model=True)
@dataclass(frozen=True)
class ConformalRegressor:
    """A fitted model with intervals: what :func:`conformal_regressor` makes.

    Attributes
    ----------
    model : fitted estimator
        That of `predict`.
    residuals : array of shape (n_calibration,)
        The absolute errors on rows that were held out.
    method : {"split", "cross", "jackknife+"}

    Examples
    --------
    See :func:`conformal_regressor`.
    """

    model: Any
    residuals: Values
    method: Method
    group_by: Grouping | None = field(default=None, repr=False)
    groups: npt.NDArray[Any] | None = field(default=None, repr=False)
    folds: npt.NDArray[np.intp] | None = field(default=None, repr=False)
    models: tuple[Any, ...] = field(default=(), repr=False)

    def predict(self, X: Any) -> Values:
        """The model's own predictions."""
        return np.asarray(self.model.predict(X))

    def predict_interval(self, X: Any, alpha: float = 0.1) -> Values:
        """An interval for each row that holds its target with probability 1 - alpha.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        alpha : float, default=0.1
            The share of rows whose target may lie outside.

        Returns
        -------
        intervals : array of shape (n_samples, 2)
            Infinite where there are fewer rows to calibrate by than 1 / alpha - 1, in a group where there are groups.
        """
        owner = "predict_interval"
        alpha = checked_alpha(owner, alpha)
        groups = groups_of(owner, self.group_by, X)
        centres = self.predict(X)[:, None] if self.folds is None else np.stack([m.predict(X) for m in self.models], axis=1)
        intervals = np.empty((len(centres), 2))
        for group in np.unique(groups):
            rows = groups == group
            is_own = np.ones(len(self.residuals), dtype=bool) if self.groups is None else self.groups == group
            own = centres[rows] if self.folds is None else centres[rows][:, self.folds[is_own]]
            intervals[rows] = _ends(own, self.residuals[is_own], alpha)
        return intervals


def _ends(centres: Values, residuals: Values, alpha: float) -> Values:
    """Of one centre a row, plus and minus the k-th residual; of one for each residual, the k-th of all ends (jackknife+)."""
    n = len(residuals)
    k = math.ceil((1 - alpha) * (n + 1) - 1e-9)
    if k > n:
        return np.tile([-np.inf, np.inf], (len(centres), 1))
    if centres.shape[1] == 1 and n != 1:
        half = np.partition(residuals, k - 1)[k - 1]
        return np.column_stack([centres[:, 0] - half, centres[:, 0] + half])
    low, high = np.sort(centres - residuals, axis=1), np.sort(centres + residuals, axis=1)
    return np.column_stack([low[:, n - k], high[:, k - 1]])


def conformal_regressor(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: Method = "split",
    cv: int = 10,
    calibration_size: float = 0.25,
    group_by: Grouping | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConformalRegressor:
    r"""Fit a regressor whose intervals hold the target with a probability that is chosen, whatever the law of the rows.

    .. math:: \mathbb P\big( y \in \hat f(x) \pm Q \big) \ge 1 - \alpha, \qquad
              Q = \text{the } \lceil (1 - \alpha)(n + 1) \rceil\text{-th smallest of } |y_i - \hat f(x_i)|

    Parameters
    ----------
    estimator : regressor
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    method : {"split", "cross", "jackknife+"}, default="split"
        Where the n rows that calibrate come from. "split" holds out some. "cross" (CV+) takes the folds of a cross-validation
        and "jackknife+" leaves out each row: no row is lost to the fit, at the price of `cv` or n fits.
    cv : int, default=10
        Folds.
    calibration_size : float, default=0.25
        The share that a split holds out.
    group_by : callable or None, default=None
        ``group_by(X)`` says of which group each row is; intervals then hold in each group (Mondrian), which calibrates alone.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    ConformalRegressor

    Notes
    -----
    Rows must be exchangeable, and nothing else. The probability is over rows that calibrate and the row that is predicted: it
    is at least 1 - alpha for "split", and at most 1 / (n + 1) more without ties. For "jackknife+" the guarantee is 1 - 2 alpha
    (for "cross" less about :math:`\sqrt{2 / n}`), and what is seen is about 1 - alpha.

    Examples
    --------
    >>> from mercer.conformal import conformal_regressor
    >>> from mercer.datasets import load_diabetes
    >>> from mercer.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = conformal_regressor(Ridge(alpha=0.1), X[:300], y[:300], method="cross", random_state=0)
    >>> low, high = model.predict_interval(X[300:], alpha=0.1).T
    >>> round(float(((low <= y[300:]) & (y[300:] <= high)).mean()), 2)
    0.92

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer, Algorithmic Learning in a Random World, Springer 2005; R. Barber, E. Candès, A. Ramdas
    and R. Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49 (2021).
    """
    owner = "conformal_regressor"
    group_by = grouping(owner, group_by)
    chosen, fits = calibrated(owner, estimator, X, y, method, cv, calibration_size, random_state, n_jobs)
    residuals = np.abs(fits.y - fits.held_out(lambda model, rows: np.asarray(model.predict(rows), dtype=np.float64), X))
    groups = None if group_by is None else groups_of(owner, group_by, X)[fits.rows]
    return _made(chosen, fits, residuals, group_by, groups)


def _made(
    method: Method, fits: Calibrated, residuals: Values, group_by: Grouping | None, groups: npt.NDArray[Any] | None
) -> ConformalRegressor:
    if method == "split":
        return ConformalRegressor(fits.whole, residuals, method, group_by, groups)
    return ConformalRegressor(fits.whole, residuals, method, group_by, groups, fits.folds, tuple(fits.models))
