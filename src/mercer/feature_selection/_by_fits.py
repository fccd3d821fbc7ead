"""Scores of sets of columns by fits of the estimator itself: whatever it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer.feature_selection._walks import Features, Mask

LARGEST = 1e100

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


class ByFits:
    """One cross-validation a set, side by side where `n_jobs` asks for that.

    `splits` are pairs of training and held-out rows, or a splitter where metadata are for it too.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Any,
        *,
        scoring: Any,
        metadata: Mapping[str, Any],
        n_jobs: int | None,
    ) -> None:
        self.estimator, self.X, self.y, self.splits = estimator, X, y, splits
        self.scoring, self.metadata, self.n_jobs = scoring, dict(metadata), n_jobs

    def changed(self, base: Mask, features: Features) -> FloatArray:
        options = {"cv": self.splits, "scoring": self.scoring, "params": self.metadata or None}
        jobs = []
        for feature in features:
            support = base.copy()
            support[feature] = ~base[feature]
            columns = np.flatnonzero(support)
            jobs.append(partial(_cross_validated, clone(self.estimator), self.X, columns, self.y, options))
        with run_jobs(jobs, self.n_jobs) as results:
            return np.array(list(results))


def _cross_validated(estimator: Any, X: Any, columns: Features, y: Any, options: Mapping[str, Any]) -> FloatArray:
    scores: FloatArray = cross_val_score(estimator, X[:, columns], y, **options)
    return scores


def are_moderate(X: FloatArray) -> bool:
    """Whether sums of squares of values as large as these are finite; the estimator's own error says what to do of others."""
    return float(np.abs(X).max(initial=0)) < LARGEST
