"""Locally weighted regression as the textbook has it: one weighted least-squares fit for each query, float64."""

from __future__ import annotations

import numpy as np


def predict(X, y, queries, tau, degree, weights=None):
    predictions = []
    for query in queries:
        logs = -((X - query) ** 2).sum(axis=1) / tau**2
        if weights is not None:
            with np.errstate(divide="ignore"):
                logs = logs + np.log(weights)
        roots = np.exp((logs - logs.max()) / 2)
        A = np.column_stack([np.ones(len(X)), X - query]) if degree == 1 else np.ones((len(X), 1))
        predictions.append(np.linalg.lstsq(A * roots[:, None], (y.T * roots).T, rcond=None)[0][0])
    return np.array(predictions)
