"""Models that add up: sums over trees or over features, from which their answers follow.

Where some features of the rows change, only a part of such a sum does, and no model need be asked again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import MercerEstimator
from mercer._linear import LinearModel, linear_predictions
from mercer._native import kernels
from mercer._trees.store import TreeStore
from mercer._trees.training import check_query

Orders = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Change:
    """What takes the place of what: features of a group are replaced together, and the groups one at a time.

    `group` has the group of each feature or -1, `column` where its values are among those of `donors`. A line of `orders` has
    the donor of each row; without orders every donor is an alternative for all rows.
    """

    group: Numbers
    column: Numbers
    donors: FloatArray
    orders: Orders | None
    n_groups: int

    @classmethod
    def shuffling(cls, groups: Sequence[Sequence[int]], rows: FloatArray, orders: Orders) -> Change:
        """Each group takes its values from other rows."""
        group = np.full(rows.shape[1], -1, dtype=np.int32)
        for number, features in enumerate(groups):
            group[list(features)] = number
        return cls(group, np.arange(rows.shape[1], dtype=np.int32), rows, orders, len(groups))

    @classmethod
    def setting(cls, features: Sequence[int], points: FloatArray, n_features: int) -> Change:
        """All rows have the values of one point after another; `points` has a column for each of the features."""
        group, column = np.full((2, n_features), -1, dtype=np.int32)
        group[list(features)], column[list(features)] = 0, np.arange(len(features))
        return cls(group, column, points, None, 1)

    @property
    def n_alternatives(self) -> int:
        return len(self.donors) if self.orders is None else len(self.orders)


class Sums(ABC):
    """A fitted model whose answers follow from sums, of shape (n_rows, n_sums)."""

    n_sums: int

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    @abstractmethod
    def coded(self, X: Any) -> Any:
        """X as the model reads it."""

    @abstractmethod
    def changed(self, rows: FloatArray, change: Change, n_threads: int) -> FloatArray:
        """The sums of coded rows, of shape (n_groups * n_alternatives, n_rows, n_sums), group after group."""

    @abstractmethod
    def answering(self, sums: FloatArray) -> Any:
        """An estimator that has these sums for whatever rows it is asked about."""

    def _twin(self, **stand_ins: Any) -> Any:
        """The same estimator, with functions in the place of the one method through which all its answers go."""
        twin = object.__new__(type(self._estimator))
        vars(twin).update(vars(self._estimator), **stand_ins)
        return twin


class TreeSums(Sums):
    """Sums of leaves' own numbers, or of the lines of values of all nodes."""

    store: TreeStore
    lines: FloatArray | None = None
    weights: FloatArray | None = None
    first, last = 0, 0

    def coded(self, X: Any) -> Any:
        return check_query(self._estimator, X)

    def changed(self, rows: FloatArray, change: Change, n_threads: int) -> FloatArray:
        out = np.empty((change.n_groups * change.n_alternatives, len(rows) * self.n_sums))
        donors = np.asarray(change.donors, dtype=rows.dtype)
        kernels.replaced_sums(
            *self._leaves, rows, change.group, change.column, donors, change.orders, change.n_groups, out, n_threads
        )
        return out.reshape(len(out), len(rows), self.n_sums)

    def walked(self, features: Sequence[int], points: FloatArray, node_weights: FloatArray, n_threads: int) -> FloatArray:
        """The sums at points of some features, of shape (n_sums, n_points); other features go both ways by these weights."""
        column = np.full(self.store.n_features, -1, dtype=np.int32)
        column[list(features)] = np.arange(len(features))
        out = np.zeros((self.n_sums, len(points)))
        lines = np.ascontiguousarray(points.T)
        kernels.weighted_walk(*self._leaves, node_weights, column, lines, out, n_threads)
        return out

    @property
    def _leaves(self) -> tuple[Any, ...]:
        return self.store.trees, self.first, self.last, self.lines, self.weights

    def _take(self, store: TreeStore, *, first: int = 0, last: int | None = None) -> None:
        self.store, self.first, self.last = store, first, len(store) if last is None else last

    def _take_lines(self) -> None:
        assert self.store.values is not None
        self.lines = self.store.values.reshape(len(self.store.values), -1)
        self.n_sums = self.lines.shape[1]

    def _shaped(self, sums: FloatArray) -> FloatArray:
        """Sums of lines as an array of outputs and values."""
        assert self.store.values is not None
        return sums.reshape(len(sums), *self.store.values.shape[1:])


class ForestSums(TreeSums):
    """A forest: the mean of its trees."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        self._take(estimator._trees)
        self.weights = estimator._vote_weights
        one_number = estimator.n_outputs_ == 1 and self.weights is None
        self._is_number = one_number and (not is_classifier(estimator) or len(estimator.classes_) == 2)
        if self._is_number:
            self.n_sums = 1
        else:
            self._take_lines()

    @property
    def divisor(self) -> float:
        return 1.0 if self.weights is not None else float(len(self.store))

    def answering(self, sums: FloatArray) -> Any:
        if self._is_number:
            return self._twin(_mean_numbers=lambda X: sums[:, 0] / self.divisor)
        values = self._shaped(sums)
        return self._twin(_mean_values=lambda X: values if self.weights is not None else values / self.divisor)


class SingleTreeSums(TreeSums):
    """One tree, a view of a store."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        store, index = estimator.tree_.place
        self._take(store, first=index, last=index + 1)
        self._take_lines()

    def coded(self, X: Any) -> Any:
        return check_query(self._estimator, X, check_input=True)

    def answering(self, sums: FloatArray) -> Any:
        values = self._shaped(sums)
        return self._twin(_values=lambda X, check_input=True: values)


class BoostingSums(TreeSums):
    """Gradient boosting that starts from a constant."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        self._take(estimator._trees)
        self.start: FloatArray | None = estimator._start.constant
        self.n_sums = estimator._objective.n_outputs
        self.rate = estimator._learning_rate

    def answering(self, sums: FloatArray) -> Any:
        return self._twin(_raw=lambda X: self.start + self.rate * sums)


class HistogramBoostingSums(TreeSums):
    """Histogram boosting."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        self._take(estimator._trees)
        self.n_sums = estimator.n_trees_per_iteration_

    def coded(self, X: Any) -> Any:
        return check_query(self._estimator, X, check_input=False)

    def answering(self, sums: FloatArray) -> Any:
        return self._twin(_raw_predict=lambda X: self._estimator._baseline + sums)


class LinearSums(Sums):
    """A linear model: a feature that changes adds its difference times its coefficients."""

    def __init__(self, estimator: Any) -> None:
        super().__init__(estimator)
        self._lines = np.atleast_2d(estimator.coef_)
        self.n_sums = len(self._lines)

    def coded(self, X: Any) -> Any:
        return check_X(self._estimator, X, sparse=("csr", "csc"), reset=False)

    def changed(self, rows: FloatArray, change: Change, n_threads: int) -> FloatArray:
        before = linear_predictions(rows, self._lines, self._estimator.intercept_)
        out = np.empty((change.n_groups * change.n_alternatives, *before.shape), dtype=before.dtype)
        for group in range(change.n_groups):
            features = np.flatnonzero(change.group == group)
            coef = self._lines[:, features].T
            own, donors = rows[:, features], change.donors[:, change.column[features]]
            for alternative in range(change.n_alternatives):
                taken = donors[alternative] if change.orders is None else donors[change.orders[alternative]]
                np.add(before, (taken - own) @ coef, out=out[group * change.n_alternatives + alternative])
        return out

    def answering(self, sums: FloatArray) -> Any:
        shape = np.shape(self._estimator.intercept_) if np.ndim(self._estimator.coef_) == 1 else (self.n_sums,)
        values = sums.reshape(len(sums), *shape)
        return self._twin(_linear_values=lambda X: values)


def sums_of(estimator: Any) -> Sums | None:
    """How a fitted model adds up; None for one of which nothing is known, as of classes that others derive from Mercer's."""
    is_own = isinstance(estimator, MercerEstimator) and type(estimator).__module__.startswith("mercer.")
    if not (is_own and (is_classifier(estimator) or is_regressor(estimator))):
        return None
    check_is_fitted(estimator)
    if isinstance(estimator, LinearModel):
        is_plain = not sp.issparse(estimator.coef_) and getattr(estimator, "_classes", None) is None
        return LinearSums(estimator) if is_plain else None
    if hasattr(estimator, "_trees") and hasattr(estimator, "_mean_values"):
        return ForestSums(estimator)
    if hasattr(estimator, "_trees") and hasattr(estimator, "_raw_predict"):
        return HistogramBoostingSums(estimator)
    if hasattr(estimator, "_start") and hasattr(estimator, "_raw"):
        return BoostingSums(estimator) if estimator._start.constant is not None else None
    if hasattr(estimator, "tree_") and hasattr(estimator, "_values"):
        return SingleTreeSums(estimator)
    return None
