"""Fits whose rows to calibrate by they have not seen: one split, folds, or all but one row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import column_or_1d

from mercer._jobs import run_jobs
from mercer._params import (
    Fittable,
    Function,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    check_value,
)
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows

Index = npt.NDArray[np.intp]
Method = Literal["split", "cross", "jackknife+"]
Grouping = Callable[[Any], Any]


@dataclass(frozen=True)
class Calibrated:
    """Fitted models, and of every row that calibrates which model has not seen it.

    `rows` are the places of these rows in the table, and `folds` the model of each.
    """

    models: list[Any]
    whole: Any
    rows: Index
    folds: Index
    y: npt.NDArray[Any]

    def held_out(self, values: Callable[[Any, Any], npt.NDArray[Any]], X: Any) -> npt.NDArray[Any]:
        """Values that models give rows which they have not seen, in the order of `rows`."""
        parts = [values(model, take_rows(X, self.rows[self.folds == k])) for k, model in enumerate(self.models)]
        places = np.concatenate([np.flatnonzero(self.folds == k) for k in range(len(self.models))])
        out = np.empty_like(np.concatenate(parts))
        out[places] = np.concatenate(parts)
        return out


def calibrated(
    owner: str,
    estimator: Any,
    X: Any,
    y: Any,
    method: Any,
    cv: Any,
    calibration_size: Any,
    random_state: Any,
    n_jobs: int | None,
) -> tuple[Method, Calibrated]:
    """Check what both kinds of conformal prediction are given, and fit."""
    estimator = check_value(owner, "estimator", estimator, Fittable())
    chosen: Method = check_value(owner, "method", method, OneOf("split", "cross", "jackknife+"))
    cv = check_value(owner, "cv", cv, Integer(2))
    share = check_value(owner, "calibration_size", calibration_size, Real(above=0, below=1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    y = column_or_1d(y, warn=True)
    n = count_rows(X)
    if n != len(y) or n < 4:
        raise InvalidParameterError(f"{owner}: X has {n} rows and y {len(y)} values; give as many, four at least.")
    held = _held_out(chosen, y, is_classifier(estimator), cv, share, random)
    fits = [np.setdiff1d(np.arange(n), rows) for rows in held]
    jobs = [partial(_fitted, estimator, take_rows(X, rows), y[rows]) for rows in fits]
    if chosen != "split":  # predictions are of a fit to all rows
        jobs.append(partial(_fitted, estimator, X, y))
    with run_jobs(jobs, n_jobs) as results:
        models = list(results)
    whole = models.pop() if chosen != "split" else models[0]
    rows = np.concatenate(held)
    folds = np.repeat(np.arange(len(held)), [len(each) for each in held])
    return chosen, Calibrated(models, whole, rows, folds, y[rows])


def _fitted(estimator: Any, X: Any, y: Any) -> Any:
    return clone(estimator).fit(X, y)


def _held_out(
    method: Method, y: npt.NDArray[Any], is_stratified: bool, cv: int, share: float, random: np.random.RandomState
) -> list[Index]:
    """The rows that each fit leaves out. Folds have about equally many rows of each class, whatever their order."""
    n = len(y)
    if method == "jackknife+":
        return [np.array([row]) for row in range(n)]
    fewest = int(np.unique(y, return_counts=True)[1].min()) if is_stratified else n
    if method == "split":
        n_held = min(max(1, round(share * n)), n - 1)
        if is_stratified and fewest > 1 and min(n_held, n - n_held) >= len(np.unique(y)):
            return [next(StratifiedShuffleSplit(1, test_size=n_held, random_state=random).split(y, y))[1]]
        return [random.permutation(n)[:n_held]]
    splitter = StratifiedKFold if is_stratified and fewest >= cv else KFold
    return [held for _, held in splitter(min(cv, n), shuffle=True, random_state=random).split(y, y)]


def grouping(owner: str, group_by: Any) -> Grouping | None:
    """The function that says of which group a row is."""
    checked: Grouping | None = check_value(owner, "group_by", group_by, Function() | Null())
    return checked


def groups_of(owner: str, group_by: Grouping | None, X: Any) -> npt.NDArray[Any]:
    """The group of each row; one group where nothing is said."""
    n = count_rows(X)
    groups = np.zeros(n) if group_by is None else np.asarray(group_by(X))
    if groups.shape != (n,):
        raise InvalidParameterError(f"{owner}: group_by gave shape {groups.shape}; it must give a group for each of {n} rows.")
    return groups


def checked_alpha(owner: str, alpha: Any) -> float:
    """The share of rows whose truth may be missed."""
    return float(check_value(owner, "alpha", alpha, Real(above=0, below=1)))
