"""The base learners of AnyBoost: each is fitted to a direction in the space of functions.

A regressor is fitted to the direction itself; a classifier to its signs, with its sizes as weights. Mercer's trees rank
their columns once, and all lie in one store.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._trees.growth import Targets
from mercer._trees.store import TreeStore
from mercer._trees.training import Training, check_training
from mercer.ensemble._boosting.learners import draw_seed, fresh, require_weights
from mercer.ensemble._boosting.members import AnyRows, check_any_rows
from mercer.ensemble._boosting.tree_source import TreeSource, is_plain_tree

_SIGNS = np.array([-1.0, 1.0])


class Directions(Protocol):
    """The learners of one fit."""

    y: npt.NDArray[Any]  # numbers, or places of classes
    weights: FloatArray | None
    classes: npt.NDArray[Any] | None

    def fit_next(self, direction: FloatArray) -> FloatArray:
        """Fit one more to a direction, and give its values on the training rows."""
        ...

    def drop_last(self) -> None: ...

    def attributes(self) -> dict[str, Any]:
        """What the ensemble keeps of them."""
        ...


def make_directions(
    owner: Any, learner: Any, X: Any, y: Any, sample_weight: Any, random: np.random.RandomState, *, has_classes: bool
) -> Directions:
    """Check the data of a fit and choose the way. `has_classes`: y holds labels."""
    y = y if y is None else column_or_1d(y, warn=True)
    if is_plain_tree(learner) and learner.criterion != "poisson":  # a direction is no count: such a tree's own fit will say so
        categories = learner.categorical_features
        data = check_training(owner, X, y, sample_weight, is_classifier=has_classes, categorical_features=categories)
        return TreeDirections(owner, learner, data, random)
    rows = check_any_rows(owner, learner, X, y, sample_weight, is_classifier=has_classes)
    return AnyDirections(learner, rows, random)


def _signs(direction: FloatArray, weights: FloatArray | None) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """A direction as a problem of two classes: 0 or 1 a row, and what the row weighs."""
    size = np.abs(direction)
    return (direction > 0).astype(np.intp), size if weights is None else size * weights


class AnyDirections:
    """Learners of any kind."""

    def __init__(self, learner: Any, rows: AnyRows, random: np.random.RandomState) -> None:
        self._learner, self._random, self._X = learner, random, rows.X
        self.y, self.weights, self.classes = rows.y, rows.weights, rows.classes
        self._is_classifier, self._members = is_classifier(learner), list[Any]()
        if self._is_classifier or self.weights is not None:
            require_weights("AnyBoost", learner, "the rows are weighted")

    def fit_next(self, direction: FloatArray) -> FloatArray:
        member = fresh(self._learner, self._random)
        if self._is_classifier:
            places, weights = _signs(direction, self.weights)
            member.fit(self._X, _SIGNS[places], sample_weight=weights)
        elif self.weights is None:
            member.fit(self._X, direction)
        else:
            member.fit(self._X, direction, sample_weight=self.weights)
        self._members.append(member)
        return np.asarray(member.predict(self._X), dtype=np.float64)

    def drop_last(self) -> None:
        self._members.pop()

    def attributes(self) -> dict[str, Any]:
        return {"estimators_": list(self._members), "_trees": None}


class TreeDirections:
    """Learners that are Mercer's trees."""

    def __init__(self, owner: Any, tree: Any, data: Training, random: np.random.RandomState) -> None:
        self._owner, self._random, self._coder = owner, random, data.coder
        self.y, self.weights = data.targets.values[:, 0], data.weights
        self.classes = data.classes[0] if data.classes else None
        self._is_classifier = is_classifier(tree)
        targets = (
            Targets(np.zeros((len(self.y), 1), dtype=np.int32), 2)
            if self._is_classifier
            else Targets(np.zeros((len(self.y), 1)))
        )
        classes = [_SIGNS] if self._is_classifier else []
        self._source = TreeSource(tree, Training(data.X, targets, data.weights, data.coder, classes, True))
        self._stores, self._seeds = list[TreeStore](), list[int]()

    def fit_next(self, direction: FloatArray) -> FloatArray:
        self._seeds.append(draw_seed(self._random))
        if self._is_classifier:
            places, weights = _signs(direction, self.weights)
            store = self._source.grow(Targets(places.astype(np.int32)[:, None], 2), weights, self._seeds[-1])
        else:
            store = self._source.grow(Targets(direction[:, None]), self.weights, self._seeds[-1])
        self._stores.append(store)
        return np.asarray(node_values(store)[self._source.leaves(store)])

    def drop_last(self) -> None:
        self._stores.pop()
        self._seeds.pop()

    def attributes(self) -> dict[str, Any]:
        if not self._stores:
            return {"estimators_": [], "_trees": None}
        store, facts = TreeStore.join(self._stores), self._source.facts(self._owner)
        trees = [self._source.member(store[t], facts, random_state=seed) for t, seed in enumerate(self._seeds)]
        return {"estimators_": trees, "_trees": store, "_coder": self._coder}


def node_values(store: TreeStore) -> FloatArray:
    """What each node of a store predicts: a number, or the sign of the class with the larger share."""
    assert store.values is not None
    values = store.values[:, 0]
    return values[:, 0] if values.shape[1] == 1 else _SIGNS[values.argmax(axis=1)]


def each_direction(owner: Any, rows: Any) -> Any:
    """What the learners of a fitted ensemble make of checked rows, one after another."""
    if owner._trees is None:
        for member in owner.estimators_:
            yield np.asarray(member.predict(rows), dtype=np.float64)
        return
    store, n_threads = owner._trees, effective_threads(None)
    values, starts, rows = node_values(store), store.starts, store.rows(rows)
    for t in range(len(store)):
        yield values[starts[t] + store.apply(rows, first=t, last=t + 1, n_threads=n_threads)[:, 0]]
