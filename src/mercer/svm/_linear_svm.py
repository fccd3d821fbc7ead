"""Linear support vector machines as problems: one for a regression, one for each class to tell apart.

Every problem is to minimise penalty(w) + sum_i cost_i loss(target_i, x_i' w + b).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._matrix import Columns
from mercer._native import kernels
from mercer._solvers.dual_descent import DualTerms
from mercer._solvers.linear_loss import LinearLoss, LinearRows, make_linear_rows

SQUARED = ("squared_hinge", "squared_epsilon_insensitive")


@dataclass(frozen=True)
class Machine:
    """X and the parts of the objective that all classes share."""

    X: Any
    loss: str
    epsilon: float
    prior: float | None  # inverse strength of the penalty on the intercept; 0: no intercept, None: a free one
    n_threads: int

    @classmethod
    def of(cls, X: Any, params: SimpleNamespace, *, epsilon: float = 0.0, n_threads: int) -> Machine:
        # A scaling other than 1 is of the intercept's penalty, and asks for one as scikit-learn's objective has it.
        is_penalised = params.penalize_intercept or params.intercept_scaling != 1
        prior = 0.0 if not params.fit_intercept else params.intercept_scaling**2 if is_penalised else None
        return cls(X, params.loss, epsilon, prior, n_threads)

    @lazy_property
    def rows(self) -> LinearRows:
        """X for sums over its rows; shifted if there is a free intercept to take the shift up."""
        return make_linear_rows(self.X, is_shifted=self.prior is None, n_threads=self.n_threads)

    @lazy_property
    def columns(self) -> Columns:
        """X by columns, the last one for an intercept that has a penalty."""
        X = self.X
        if self.prior:
            column = np.full((X.shape[0], 1), np.sqrt(self.prior))
            X = sp.hstack([X, column], format="csc") if sp.issparse(X) else np.hstack([X, column])
        return Columns(X, n_threads=self.n_threads)

    @property
    def has_intercept(self) -> bool:
        return self.prior != 0

    @property
    def l2_of_intercept(self) -> float:
        return 1 / self.prior if self.prior else 0.0

    def pieces(self, target: FloatArray, costs: FloatArray) -> FloatArray:
        """A piecewise linear loss, as rows target, low, up."""
        if self.loss == "hinge":
            return np.stack([target, np.where(target < 0, costs, 0.0), np.where(target > 0, costs, 0.0)])
        if self.epsilon == 0:
            return np.stack([target, costs, costs])
        none = np.zeros_like(costs)
        under, over = np.stack([target - self.epsilon, none, costs]), np.stack([target + self.epsilon, costs, none])
        return np.hstack([under, over])

    def dual_terms(self, target: FloatArray, costs: FloatArray) -> DualTerms:
        is_squared = self.loss in SQUARED
        bounds = np.where(costs > 0, np.inf, 0.0) if is_squared else costs
        low, up = (
            (np.where(target < 0, bounds, 0.0), np.where(target > 0, bounds, 0.0)) if "hinge" in self.loss else (bounds,) * 2
        )
        curvature = 1 / (2 * np.where(costs > 0, costs, 1.0)) if is_squared else np.zeros_like(costs)
        return DualTerms(target, low, up, curvature, self.epsilon)

    def smooth(self, target: FloatArray, costs: FloatArray, *, l2: float) -> LinearLoss:
        loss = kernels.RowLoss(self.loss, self.epsilon)
        of_intercept = self.l2_of_intercept if l2 else 0.0
        return LinearLoss(self.rows, target, costs, loss, l2, has_intercept=self.has_intercept, l2_of_intercept=of_intercept)
