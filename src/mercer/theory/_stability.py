"""The stability of a learner, measured: rows are replaced, or left out, one at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils import column_or_1d

from mercer._jobs import run_jobs
from mercer._params import Integer, InvalidParameterError, Null, NumberOfJobs, OneOf, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows
from mercer.theory._known_stability import KnownStability, known_stability
from mercer.theory._losses import Loss, as_loss
from mercer.theory._ridge_stability import RidgeRows

Values = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Stability:
    """What a learner makes of a training set in which one row has changed.

    Attributes
    ----------
    on_average : float
        The mean increase of the loss of the row that went. In expectation it is the gap between the risk in truth and on the
        rows of the fit, where a row was replaced by an independent one.
    interval : tuple of float
        Its confidence interval.
    pointwise : float
        The mean absolute change of the loss over all rows.
    uniform : float
        The largest change of the loss seen anywhere: a lower bound of the uniform stability.
    coefficients, largest_coefficients : float or None
        The mean and largest Euclidean norm of the change of `coef_`; None where the estimator has none.
    known : KnownStability
        What theory says that these are no larger than, and why it says nothing where it does not.
    changes : array of shape (n_rows,)
        The increase of the loss of each row that went.
    rows : int array of shape (n_rows,)
        These rows.
    mode, loss : str

    Examples
    --------
    See :func:`stability`.
    """

    on_average: float
    interval: tuple[float, float]
    pointwise: float
    uniform: float
    coefficients: float | None
    largest_coefficients: float | None
    known: KnownStability
    changes: Values
    rows: Rows
    mode: str
    loss: str

    def __repr__(self) -> str:
        low, high = self.interval
        lines = [
            f"Stability ({self.mode} one of {len(self.rows)} rows, {self.loss} loss)",
            f"  on average    {self.on_average:.4g}  ({low:.4g} to {high:.4g})",
            f"  pointwise     {self.pointwise:.4g}" + self._beside(self.known.pointwise),
            f"  uniform    >= {self.uniform:.4g}" + self._beside(self.known.uniform),
        ]
        if self.coefficients is not None:
            lines.append(
                f"  coefficients  {self.coefficients:.4g}, largest {self.largest_coefficients:.4g}"
                + self._beside(self.known.coefficients)
            )
        return "\n".join([*lines, f"  theory: {self.known.note}"])

    @staticmethod
    def _beside(value: float | None) -> str:
        return "" if value is None else f"  (theory: <= {value:.4g})"


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    mode: Literal["replace", "leave_out"] = "replace",
    loss: Any = None,
    X_new: Any = None,
    y_new: Any = None,
    n_rows: int | None = None,
    level: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    r"""Measure how stable a learner is: on average, uniformly, and in its parameters.

    .. math:: \mathbb E \left[ R - \hat R \right] = \mathbb E \left[ \ell(A(S^{(i)}), z_i) - \ell(A(S), z_i) \right]

    where :math:`S^{(i)}` is the training set with row i replaced by an independent one.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted once for each row that is changed.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    mode : {"replace", "leave_out"}, default="replace"
    loss : {"zero_one", "squared", "absolute", "hinge"}, callable or None, default=None
        A callable takes true and predicted values, and gives a loss for each row. None is the 0-1 loss of classifiers and the
        squared loss of regressors.
    X_new, y_new : array-like, default=None
        Rows of the same law, from which those that come in are drawn. None draws another row of X, which then is there twice: a
        bootstrap of the law.
    n_rows : int or None, default=None
        How many rows to change, drawn at random; None is every one.
    level : float, default=0.95
        Of the interval.
    random_state : int, RandomState or None, default=None
        Draws the rows.
    n_jobs : int or None, default=None
        How many fits run side by side.

    Returns
    -------
    Stability

    Notes
    -----
    Costs a fit and a prediction of all rows for each row changed. `mercer.linear_model.Ridge` with the squared loss is not
    fitted again: an update of rank two gives the same coefficients, in O(n d^2) for the fit and O(n d) for each row changed.

    Intervals treat the rows' changes as independent, which holds up to terms of order 1/n.

    Examples
    --------
    >>> from mercer.datasets import load_diabetes
    >>> from mercer.linear_model import Ridge
    >>> from mercer.theory import stability
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = stability(Ridge(alpha=0.1), X, y / 100, random_state=0)
    >>> round(found.on_average, 3), round(found.largest_coefficients, 2)
    (0.012, 0.35)

    References
    ----------
    O. Bousquet and A. Elisseeff, Stability and generalization, JMLR 2 (2002); S. Shalev-Shwartz and S. Ben-David, Understanding
    Machine Learning, Cambridge 2014, theorem 13.2.
    """
    owner = "stability"
    mode = check_value(owner, "mode", mode, OneOf("replace", "leave_out"))
    level = check_value(owner, "level", level, Real(above=0, below=1))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    name, chosen = as_loss(owner, loss, estimator)
    y = column_or_1d(y, warn=True)
    m = len(y)
    if count_rows(X) != m or m < 3:
        raise InvalidParameterError(f"{owner}: X has {count_rows(X)} rows and y {m} values; give as many, three at least.")
    n_rows = check_value(owner, "n_rows", n_rows, Integer(2, most=m) | Null())
    out = np.arange(m) if n_rows is None else np.sort(random.permutation(m)[:n_rows])
    table = _Table.of(X, y, X_new, y_new, mode)
    into = table.draw(out, random, mode)
    known = known_stability(estimator, X, y, name, mode)
    made = RidgeRows.of(estimator, table.X, table.y, m) if name == "squared" else None
    if made is not None:
        measured = made.changes(out, into, n_jobs)
    else:
        measured = _by_fits(estimator, table, out, into, chosen, n_jobs)
    return _summary(measured, out, known, mode, name, level)


@dataclass(frozen=True)
class _Table:
    """The rows of the fit, and after them those that may come in."""

    X: Any
    y: Any
    m: int

    @classmethod
    def of(cls, X: Any, y: Any, X_new: Any, y_new: Any, mode: str) -> _Table:
        if X_new is None and y_new is None:
            return cls(X, y, len(y))
        if mode == "leave_out":
            raise InvalidParameterError("stability: X_new is for mode='replace'; no row comes in where one is left out.")
        if X_new is None or y_new is None or count_rows(X_new) != len(y_new) or len(y_new) == 0:
            raise InvalidParameterError(
                "stability: X_new and y_new belong together and have as many rows; give both or neither."
            )
        return cls(_stacked(X, X_new), np.concatenate([y, column_or_1d(y_new, warn=True)]), len(y))

    def draw(self, out: npt.NDArray[np.intp], random: np.random.RandomState, mode: str) -> Rows:
        """What comes in for each row that goes; -1 is nothing."""
        if mode == "leave_out":
            return np.full(len(out), -1, dtype=np.int64)
        n_new = len(self.y) - self.m
        if n_new:
            return np.asarray(self.m + random.randint(n_new, size=len(out)), dtype=np.int64)
        return np.asarray((out + 1 + random.randint(self.m - 1, size=len(out))) % self.m, dtype=np.int64)


def _stacked(X: Any, X_new: Any) -> Any:
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.concat([X, X_new], ignore_index=True)
    import scipy.sparse as sp

    return sp.vstack([X, X_new]).tocsr() if sp.issparse(X) else np.concatenate([np.asarray(X), np.asarray(X_new)])


def _by_fits(estimator: Any, table: _Table, out: Any, into: Rows, loss: Loss, n_jobs: int | None) -> list[Values]:
    base = clone(estimator).fit(take_rows(table.X, np.arange(table.m)), table.y[: table.m])
    before = loss(base, table.X, table.y)
    coefficients = _coefficients(base)
    jobs = [partial(_refit, estimator, table, i, j, loss, before, coefficients) for i, j in zip(out, into, strict=True)]
    with run_jobs(jobs, n_jobs) as results:
        return list(np.array(list(results)).T)


def _refit(estimator: Any, table: _Table, out: int, into: int, loss: Loss, before: Values, coefficients: Any) -> list[float]:
    """Mean and largest absolute change of the loss, the change of the row that went, the norm of that of the coefficients."""
    rows = np.arange(table.m)
    rows = np.delete(rows, out) if into < 0 else np.where(rows == out, into, rows)
    model = clone(estimator).fit(take_rows(table.X, rows), table.y[rows])
    change = loss(model, table.X, table.y) - before
    now = _coefficients(model)
    distance = math.nan if coefficients is None or now is None or now.shape != coefficients.shape else now - coefficients
    return [float(np.abs(change).mean()), float(np.abs(change).max()), float(change[out]), float(np.linalg.norm(distance))]


def _coefficients(model: Any) -> Values | None:
    coef = getattr(model, "coef_", None)
    if coef is None:
        return None
    return np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef).astype(np.float64)


def _summary(
    measured: list[Values], out: npt.NDArray[np.intp], known: KnownStability, mode: str, loss: str, level: float
) -> Stability:
    mean, largest, own, coefficients = measured
    centre, half = float(own.mean()), float(norm.ppf((1 + level) / 2) * own.std(ddof=1) / math.sqrt(len(own)))
    has_coefficients = bool(np.isfinite(coefficients).all())
    return Stability(
        on_average=centre,
        interval=(centre - half, centre + half),
        pointwise=float(mean.mean()),
        uniform=float(largest.max()),
        coefficients=float(coefficients.mean()) if has_coefficients else None,
        largest_coefficients=float(coefficients.max()) if has_coefficients else None,
        known=known,
        changes=own,
        rows=np.asarray(out, dtype=np.int64),
        mode=mode,
        loss=loss,
    )
