"""Over- and underfitting, read off learning and validation curves, with what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import learning_curve, validation_curve
from sklearn.utils import column_or_1d

from mercer._fit_verdict import REMEDIES, Verdict, verdict_by_skill, verdict_by_target
from mercer._params import InvalidParameterError, Null, NumberOfJobs, RandomState, Real, Splitter, Text, check_value

Values = npt.NDArray[np.float64]
Trend = Literal["falling", "flat", "rising"]


@dataclass(frozen=True, repr=False)
class FitDiagnosis:
    """What the errors of a model on fitted and on held-out rows say.

    Attributes
    ----------
    verdict : {"overfitting", "underfitting", "balanced"}
    reading : str
        The figures and the verdict in words.
    remedies : tuple of str
        What would help, by the course notes.
    train_error, test_error : float
        At the full number of training rows, over folds: the share of errors, or the mean squared error.
    spread : float
        The standard deviation of the held-out error over folds.
    target_error : float or None
    trend : {"falling", "flat", "rising"}
        How the held-out error moved with the last rows, by more than its standard error.
    train_sizes : int array of shape (n_sizes,)
    train_errors, test_errors : array of shape (n_sizes, n_folds)
        The learning curve.
    param_name : str or None
    param_range : tuple
    param_train_errors, param_test_errors : array of shape (n_values, n_folds) or None
        The validation curve.
    best_value : object
        The value of the parameter with the smallest held-out error; None without a parameter.
    """

    verdict: Verdict
    reading: str
    remedies: tuple[str, ...]
    train_error: float
    test_error: float
    spread: float
    target_error: float | None
    trend: Trend
    train_sizes: npt.NDArray[np.intp]
    train_errors: Values
    test_errors: Values
    param_name: str | None = None
    param_range: tuple[Any, ...] = ()
    param_train_errors: Values | None = None
    param_test_errors: Values | None = None

    @property
    def best_value(self) -> Any:
        if self.param_test_errors is None:
            return None
        return self.param_range[int(self.param_test_errors.mean(axis=1).argmin())]

    def __repr__(self) -> str:
        lines = [f"FitDiagnosis: {self.verdict}", f"  {self.reading}"]
        lines += [f"  try {remedy}" for remedy in self.remedies]
        if self.param_name is not None:
            lines.append(f"  {self.param_name}={self.best_value!r} has the smallest held-out error of those tried")
        return "\n".join(lines)


def diagnose_fit(
    estimator: Any,
    X: Any,
    y: Any,
    target_error: float | None = None,
    *,
    param_name: str | None = None,
    param_range: Sequence[Any] = (),
    train_sizes: Any = (0.1, 0.25, 0.5, 0.75, 1.0),
    cv: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> FitDiagnosis:
    """Say whether a model over- or underfits, and what would help.

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    target_error : float or None, default=None
        The error that would do: a share of errors, or a mean squared error. Training rows that miss it show bias
        (underfitting: both errors are high then); where they reach it and held-out rows do not, the model overfits. None
        measures both by the way from a constant model to a perfect one, as reports of ``mercer train`` do.
    param_name : str or None, default=None
        A parameter for a validation curve.
    param_range : sequence, default=()
        Its values.
    train_sizes : array-like, default=(0.1, 0.25, 0.5, 0.75, 1.0)
        Of the learning curve, as `sklearn.model_selection.learning_curve` takes them.
    cv : int, splitter or None, default=None
    random_state : int, RandomState or None, default=0
        Shuffles the rows before the smaller sizes are taken.
    n_jobs : int or None, default=None

    Returns
    -------
    FitDiagnosis

    Notes
    -----
    A held-out error above the training error is no sign of underfitting, nor by itself of overfitting: it nearly always is
    above.

    Examples
    --------
    >>> from mercer.datasets import load_breast_cancer
    >>> from mercer.theory import diagnose_fit
    >>> from mercer.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> deep = diagnose_fit(DecisionTreeClassifier(random_state=0), X, y, target_error=0.05)
    >>> deep.verdict, "bagging" in deep.remedies
    ('overfitting', True)
    >>> diagnose_fit(DecisionTreeClassifier(max_depth=1), X, y, target_error=0.05).verdict
    'underfitting'

    References
    ----------
    K. Weinberger, CS4780 lecture notes 12: bias-variance tradeoff, Cornell 2018.
    """
    owner = "diagnose_fit"
    target_error = check_value(owner, "target_error", target_error, Real(least=0) | Null())
    param_name = check_value(owner, "param_name", param_name, Text() | Null())
    cv = check_value(owner, "cv", cv, Splitter())
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    random_state = check_value(owner, "random_state", random_state, RandomState())
    if (param_name is None) != (len(param_range) == 0):
        raise InvalidParameterError(f"{owner}: param_name and param_range belong together; give both or neither.")
    y = column_or_1d(y, warn=True)
    options = {"cv": cv, "n_jobs": n_jobs, "scoring": "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"}
    sizes, train, test = learning_curve(
        estimator, X, y, train_sizes=train_sizes, shuffle=True, random_state=random_state, **options
    )[:3]
    best = 1.0 if is_classifier(estimator) else 0.0
    train, test = best - train, best - test
    if not np.isfinite([train[-1], test[-1]]).all():
        raise InvalidParameterError(
            f"{owner}: {type(estimator).__name__} has no finite error on all folds of the training rows."
        )
    validation = {}
    if param_name is not None:
        found = validation_curve(estimator, X, y, param_name=param_name, param_range=param_range, **options)
        validation = {"param_train_errors": best - found[0], "param_test_errors": best - found[1]}
    return _diagnosis(
        sizes, train, test, target_error, _constant_error(estimator, y), param_name, tuple(param_range), validation
    )


def _constant_error(estimator: Any, y: npt.NDArray[Any]) -> float:
    """The error of a model that knows the target alone."""
    X = np.zeros((len(y), 1))
    if is_classifier(estimator):
        return float(1 - DummyClassifier(strategy="prior").fit(X, y).score(X, y))
    return float(((DummyRegressor().fit(X, y).predict(X) - y) ** 2).mean())


def _diagnosis(
    sizes: npt.NDArray[np.intp],
    train: Values,
    test: Values,
    target: float | None,
    constant: float,
    param_name: str | None,
    param_range: tuple[Any, ...],
    validation: dict[str, Values],
) -> FitDiagnosis:
    train_error, test_error = float(train[-1].mean()), float(test[-1].mean())
    spread = float(test[-1].std(ddof=1)) if test.shape[1] > 1 else 0.0
    if target is not None:
        verdict = verdict_by_target(train_error, test_error, target)
    else:
        skill = 1 - train_error / constant if constant > 0 else 1.0
        verdict = verdict_by_skill(test_error - train_error, spread, constant, skill, test.shape[1])
    trend = _trend(test, spread)
    beside = "" if target is None else f", the target {target:.4g}"
    reading = f"the error is {train_error:.4g} on rows fitted and {test_error:.4g} on rows held out{beside}"
    if len(sizes) > 1 and trend != "flat":
        reading += f"; it was still {trend} with the last rows"
    remedies = REMEDIES[verdict]
    if verdict == "overfitting" and trend != "falling":  # more of these rows would not help much
        remedies = (*remedies[1:], remedies[0])
    return FitDiagnosis(
        verdict=verdict,
        reading=reading,
        remedies=remedies,
        train_error=train_error,
        test_error=test_error,
        spread=spread,
        target_error=target,
        trend=trend,
        train_sizes=sizes,
        train_errors=train,
        test_errors=test,
        param_name=param_name,
        param_range=param_range,
        **validation,
    )


def _trend(test: Values, spread: float) -> Trend:
    means = [float(np.mean(line)) for line in test]
    if len(means) < 2 or not math.isfinite(means[-2]):
        return "flat"
    step = means[-1] - means[-2]
    if abs(step) <= spread / math.sqrt(test.shape[1]):
        return "flat"
    return "falling" if step < 0 else "rising"
