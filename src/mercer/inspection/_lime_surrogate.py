"""The surrogate of LIME: which features it has, and the weighted linear fit to what the model says near a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._arrays import FloatArray
from mercer._native import kernels

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
    """The row to be explained and samples near it, their weights (the row's first) and what the model says of them.

    Products of all columns and targets are summed in one pass; the row itself is apart, as all rows may share the samples.
    """

    def __init__(self, row: FloatArray, samples: FloatArray, weights: FloatArray, targets: FloatArray) -> None:
        self.row, self.samples, self.weights, self.targets = row, samples, weights, targets
        sums = self._products(weights)
        self._total = sums[0, 0]
        self._means: FloatArray = sums[0, 1:] / self._total
        products = sums[1:, 1:] - np.outer(self._means, self._means) * self._total
        p = len(row)
        self.gram, self._towards = products[:p, :p], products[:p, p:]
        self._squares = np.maximum(np.diagonal(products)[p:], 0.0)

    def _products(self, weights: FloatArray) -> FloatArray:
        """The weighted sums of products of (1, features, targets)."""
        first = np.concatenate([[1.0], self.row, self.targets[0]])
        sums = np.empty((len(first), len(first)))
        kernels.surrogate_products(self.samples, self.targets[1:], weights[1:], sums, 1)  # rows are side by side, if at all
        total: FloatArray = sums + weights[0] * np.outer(first, first)
        return total

    def ridge(self, output: int, features: IntArray, alpha: float) -> Surrogate:
        """Weighted ridge regression on some features; the intercept is free of the penalty."""
        p = len(self.row)
        gram, towards = self.gram[np.ix_(features, features)], self._towards[features, output]
        inverse = np.linalg.inv(gram + alpha * np.eye(len(features)))
        coef = inverse @ towards
        means = self._means[features]
        intercept = float(self._means[p + output] - means @ coef)
        every = np.zeros(p)
        every[features] = coef
        said = np.concatenate([[self.row @ every], self.samples @ every]) + intercept
        residuals = self.targets[:, output] - said
        squares = self._products((self.weights * residuals) ** 2)[: p + 1, : p + 1]
        places = 1 + features
        crossed = np.outer(squares[0, places], means)
        middle = squares[np.ix_(places, places)] - crossed - crossed.T + squares[0, 0] * np.outer(means, means)
        errors = np.sqrt(np.maximum(np.diagonal(inverse @ middle @ inverse), 0.0))
        lost = float(self.weights @ residuals**2)
        order = np.argsort(-np.abs(coef), kind="stable")
        score = _share(lost, float(self._squares[output]))
        return Surrogate(features[order], coef[order], intercept, score, float(said[0]), errors[order])

    def fitted(self, output: int, features: IntArray, regressor: Any) -> Surrogate:
        """The same by another linear regressor."""
        data, target = self._whole[:, features], self.targets[:, output]
        model = clone(regressor).fit(data, target, sample_weight=self.weights)
        coef = np.asarray(model.coef_, dtype=np.float64).ravel()
        said = np.asarray(model.predict(data), dtype=np.float64)
        order = np.argsort(-np.abs(coef), kind="stable")
        score = _share(float(self.weights @ (target - said) ** 2), float(self._squares[output]))
        intercept = float(np.ravel(model.intercept_)[0]) if hasattr(model, "intercept_") else 0.0
        return Surrogate(features[order], coef[order], intercept, score, float(said[0]), None)

    @property
    def _whole(self) -> FloatArray:
        return np.concatenate([self.row[None], self.samples])

    # ---- which features

    def selected(self, output: int, n_features: int, method: str) -> IntArray:
        if method == "auto":
            method = "forward_selection" if n_features <= 6 else "highest_weights"
        if method == "none":
            return np.arange(len(self.row))
        if method == "forward_selection":
            return self._forwards(output, n_features)
        if method == "highest_weights":
            return self._heaviest(output, n_features)
        return self._by_lasso(output, n_features)

    def _forwards(self, output: int, n_features: int) -> IntArray:
        """One after another, that which explains most of what is left: sweeps of one matrix."""
        table = np.column_stack([self.gram, self._towards[:, output]])
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
                table = table - np.outer(table[:, best], table[best] / pivots[best])
        return np.array(chosen)

    def _heaviest(self, output: int, n_features: int) -> IntArray:
        """Those with the largest terms of a ridge regression on all, at the row itself."""
        coef = np.linalg.solve(self.gram + _SELECTION_PENALTY * np.eye(len(self.gram)), self._towards[:, output])
        return np.argsort(-np.abs(coef * self.row), kind="stable")[:n_features]

    def _by_lasso(self, output: int, n_features: int) -> IntArray:
        """The last set on the lasso path that has no more."""
        from sklearn.linear_model import lars_path

        p, roots = len(self.row), np.sqrt(self.weights)
        centred = (self._whole - self._means[:p]) * roots[:, None]
        apart = (self.targets[:, output] - self._means[p + output]) * roots
        _, _, coefs = lars_path(centred, apart, method="lasso")
        kept = np.arange(p)
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
