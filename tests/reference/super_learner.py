"""The super learner as in the paper: folds by hand, weights by a general solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone


def predictions_out_of_fold(
    members: list[tuple[str, Any]], X: Any, y: Any, splits: Any, method: str, n_classes: int = 0
) -> Any:
    """For each member an array of what it predicts of each row when fitted without that row's fold."""
    shape = (len(y), n_classes) if n_classes else (len(y),)
    outputs = []
    for _, member in members:
        output = np.zeros(shape)
        for train, test in splits:
            fitted = clone(member).fit(X[train], y[train])
            predicted = getattr(fitted, method)(X[test])
            if n_classes:
                output[np.ix_(test, fitted.classes_)] = predicted
            else:
                output[test] = predicted
        outputs.append(output)
    return outputs


def squared_risk(weights: Any, outputs: Any, y: Any, shares: Any) -> float:
    return float(shares @ (y - sum(w * output for w, output in zip(weights, outputs, strict=True))) ** 2)


def log_risk(weights: Any, outputs: Any, y: Any, shares: Any) -> float:
    observed = [np.maximum(output[np.arange(len(y)), y], np.finfo(float).eps) for output in outputs]
    return float(-shares @ np.log(sum(w * p for w, p in zip(weights, observed, strict=True))))


def brier_risk(weights: Any, outputs: Any, y: Any, shares: Any) -> float:
    mixed = sum(w * output for w, output in zip(weights, outputs, strict=True))
    losses = ((mixed - np.eye(mixed.shape[1])[y]) ** 2).sum(axis=1)
    return float(shares @ losses) / (2 if mixed.shape[1] == 2 else 1)


def best_weights(risk: Any, n_members: int) -> Any:
    """The weights on the simplex that a general solver finds, from the mean."""
    start = np.full(n_members, 1 / n_members)
    sum_is_one = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like}
    scale = risk(start)
    found = minimize(
        lambda w: risk(w) / scale,
        start,
        method="SLSQP",
        bounds=[(0, 1)] * n_members,
        constraints=[sum_is_one],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x
