"""The family with one mean for each class, which logistic regression fits for `GeneralizedLinearRegressor`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import xlogy

from mercer._arrays import FloatArray, check_weights
from mercer._params import InvalidParameterError
from mercer.linear_model._logistic.logistic import LogisticRegression


def fit_classes(estimator: Any, X: Any, y: Any, sample_weight: Any, offset: Any, params: SimpleNamespace) -> LogisticRegression:
    """Softmax of linear values: relative to the first class where nothing is penalised, alike for all classes otherwise."""
    owner = type(estimator).__name__
    if offset is not None or params.warm_start:
        what = "offset" if offset is not None else "warm_start=True"
        raise InvalidParameterError(f"{owner}: {what} is not valid for family='multinoulli'; leave it out.")
    if params.link not in ("auto", "logit"):
        raise InvalidParameterError(
            f"{owner}: link={params.link!r} is not valid for family='multinoulli'; it must be 'auto' or 'logit' (softmax)."
        )
    weights = check_weights(sample_weight, len(y), np.float64)
    total = float(len(y)) if weights is None else float(weights.sum())
    model = LogisticRegression(
        C=np.inf if params.alpha == 0 else 1 / (params.alpha * total),
        parametrization="reference" if params.alpha == 0 else "softmax",
        fit_intercept=params.fit_intercept,
        solver={"newton-cholesky": "newton", "lbfgs": "quasi-newton"}.get(params.solver, "lbfgs"),
        max_iter=params.max_iter,
        tol=params.tol,
        verbose=params.verbose,
        n_jobs=params.n_jobs,
    )
    return model.fit(X, y, sample_weight)


def explained_by_classes(model: LogisticRegression, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of the deviance explained by a fit, against the shares of the classes in y."""
    codes = np.searchsorted(model.classes_, y)
    is_known = (codes < len(model.classes_)) & (model.classes_[np.minimum(codes, len(model.classes_) - 1)] == y)
    if not is_known.all():
        raise ValueError(f"y holds {np.asarray(y)[~is_known][0]!r}, a class that the fit has not seen.")
    weights = check_weights(sample_weight, len(codes), np.float64)
    weights = np.ones(len(codes)) if weights is None else weights
    logarithms: FloatArray = model.predict_log_proba(X)
    deviance = -float(weights @ logarithms[np.arange(len(codes)), codes])
    counts = np.bincount(codes, weights=weights)
    null_deviance = -float(xlogy(counts, counts / counts.sum()).sum())
    return 1 - deviance / null_deviance
