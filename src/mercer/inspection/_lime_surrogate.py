"""The surrogate of LIME: which features it has, and the weighted linear fit to what the model says near a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._arrays import FloatArray

IntArray = npt.NDArray[np.intp]

_SELECTION_PENALTY = 0.01  # of the ridge whose largest terms are kept
_LEAST_SHARE = 1e-10  # of a column's variance that others leave, below which it adds nothing


@dataclass(frozen=True)
class Surrogate:
    """A fitted surrogate: its features, largest coefficient first, and how well it fits."""

    features: IntArray
    coef: FloatArray
    intercept: float
    score: float  # weighted R2
    local_pred: float
    standard_errors: FloatArray | None


class Neighbours:
    """Rows near the one to be explained, first that itself, and their weights; products that all outputs share."""

    def __init__(self, data: FloatArray, weights: FloatArray) -> None:
        self.data, self.weights = data, weights
        self._total = weights.sum()
        self._mean = weights @ data / self._total
        self.centred = data - self._mean
        self._weighted = self.centred * weights[:, None]
        self.gram: FloatArray = self._weighted.T @ self.centred

    def moments(self, target: FloatArray) -> tuple[float, FloatArray, float]:
        """The mean of a target, its products with the centred columns, and its sum of squares about the mean."""
        mean = float(self.weights @ target / self._total)
        apart = target - mean
        return mean, self._weighted.T @ apart, float(self.weights @ apart**2)

    def ridge(self, target: FloatArray, features: IntArray, alpha: float) -> Surrogate:
        """Weighted ridge regression on some features; the intercept is free of the penalty."""
        mean, products, squares = self.moments(target)
        gram = self.gram[np.ix_(features, features)] + alpha * np.eye(len(features))
        inverse = np.linalg.inv(gram) if alpha > 0 else np.linalg.pinv(gram)
        coef = inverse @ products[features]
        residuals = target - mean - self.centred[:, features] @ coef
        scores = self._weighted[:, features] * residuals[:, None]
        errors = np.sqrt(np.maximum(np.diagonal(inverse @ (scores.T @ scores) @ inverse), 0.0))
        lost = float(self.weights @ residuals**2)
        order = np.argsort(-np.abs(coef), kind="stable")
        return Surrogate(
            features[order],
            coef[order],
            mean - float(self._mean[features] @ coef),
            _share(lost, squares),
            float(target[0] - residuals[0]),
            errors[order],
        )

    def fitted(self, target: FloatArray, features: IntArray, regressor: Any) -> Surrogate:
        """The same by another linear regressor."""
        model = clone(regressor).fit(self.data[:, features], target, sample_weight=self.weights)
        coef = np.asarray(model.coef_, dtype=np.float64).ravel()
        said = np.asarray(model.predict(self.data[:, features]), dtype=np.float64)
        _, _, squares = self.moments(target)
        order = np.argsort(-np.abs(coef), kind="stable")
        lost = float(self.weights @ (target - said) ** 2)
        intercept = float(np.ravel(model.intercept_)[0]) if hasattr(model, "intercept_") else 0.0
        return Surrogate(features[order], coef[order], intercept, _share(lost, squares), float(said[0]), None)

    # ---- which features

    def selected(self, target: FloatArray, n_features: int, method: str) -> IntArray:
        if method == "auto":
            method = "forward_selection" if n_features <= 6 else "highest_weights"
        if method == "none":
            return np.arange(self.data.shape[1])
        if method == "forward_selection":
            return self._forwards(target, n_features)
        if method == "highest_weights":
            return self._heaviest(target, n_features)
        return self._by_lasso(target, n_features)

    def _forwards(self, target: FloatArray, n_features: int) -> IntArray:
        """One after another, that which explains most of what is left: sweeps of one matrix."""
        _, products, _ = self.moments(target)
        table = np.column_stack([self.gram, products])
        variances = np.diagonal(self.gram).copy()
        is_free = np.ones(len(variances), dtype=bool)
        chosen: list[int] = []
        for _ in range(min(n_features, len(variances))):
            pivots = np.diagonal(table[:, :-1])
            usable = is_free & (pivots > _LEAST_SHARE * variances)
            gains = np.where(usable, table[:, -1] ** 2 / np.where(usable, pivots, 1.0), np.where(is_free, -1.0, -2.0))
            best = int(np.argmax(gains))
            chosen.append(best)
            is_free[best] = False
            if usable[best]:
                line = table[best] / pivots[best]
                table = table - np.outer(table[:, best], line)
                table[best] = 0.0
        return np.array(chosen)

    def _heaviest(self, target: FloatArray, n_features: int) -> IntArray:
        """Those with the largest terms of a ridge regression on all, at the row itself."""
        _, products, _ = self.moments(target)
        coef = np.linalg.solve(self.gram + _SELECTION_PENALTY * np.eye(len(self.gram)), products)
        return np.argsort(-np.abs(coef * self.data[0]), kind="stable")[:n_features]

    def _by_lasso(self, target: FloatArray, n_features: int) -> IntArray:
        """The last set on the lasso path that has no more."""
        from sklearn.linear_model import lars_path

        mean, _, _ = self.moments(target)
        roots = np.sqrt(self.weights)
        _, _, coefs = lars_path(self.centred * roots[:, None], (target - mean) * roots, method="lasso")
        kept = np.arange(self.data.shape[1])
        for step in range(coefs.shape[1] - 1, 0, -1):
            kept = np.flatnonzero(coefs[:, step])
            if len(kept) <= n_features:
                break
        return kept


def _share(lost: float, squares: float) -> float:
    """The weighted R2; 1 where there is nothing to explain and nothing is lost."""
    if squares > 0:
        return 1 - lost / squares
    return 1.0 if lost <= 1e-20 else 0.0
