"""The members of AdaBoost: fitted one after another on the same rows with other weights, and asked together.

Any estimator will do (`AnyMembers`). Mercer's trees go a shorter way (`TreeMembers`): their columns are ranked once, and
all trees lie in one store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._arrays import FloatArray, check_weights
from mercer._compat import validate_data
from mercer._labels import code_labels
from mercer._parallel import effective_threads
from mercer._trees.store import TreeStore
from mercer._trees.training import Training, check_query, check_training, require_counts
from mercer.ensemble._boosting.learners import draw_seed, fresh, input_tags
from mercer.ensemble._boosting.tree_source import TreeSource, is_plain_tree

Answers = npt.NDArray[Any]  # of one member, a row each: places of classes, or numbers


class Members(Protocol):
    """The members of one fit."""

    y: Answers  # places of classes, or numbers
    weights: FloatArray | None
    classes: npt.NDArray[Any] | None

    def fit_next(self, weights: FloatArray) -> Answers:
        """Fit one more on weighted rows, or on rows drawn by weight, and give its answers to the training rows."""
        ...

    def drop_last(self) -> None: ...

    def keep_last(self) -> None: ...

    def attributes(self) -> dict[str, Any]:
        """What the ensemble keeps of them."""
        ...


def make_members(
    owner: Any,
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    random: np.random.RandomState,
    *,
    is_classifier: bool,
    is_drawn: bool = False,
) -> Members:
    """Check the data of a fit and choose the way. `is_drawn`: a member is fitted on rows drawn by their weights."""
    y = y if y is None else column_or_1d(y, warn=True)
    # A row drawn twice is two rows to a fit and one row of weight two to a store: limits that count rows tell them apart.
    counts_rows = is_drawn and is_plain_tree(learner) and (learner.min_samples_split, learner.min_samples_leaf) != (2, 1)
    if not is_plain_tree(learner) or counts_rows:
        return AnyMembers(owner, learner, X, y, sample_weight, random, is_classifier=is_classifier, is_drawn=is_drawn)
    categories = learner.categorical_features
    data = check_training(owner, X, y, sample_weight, is_classifier=is_classifier, categorical_features=categories)
    require_counts(learner.criterion, data)
    return TreeMembers(owner, learner, data, random, is_drawn=is_drawn)


def _draw(weights: FloatArray, random: np.random.RandomState) -> npt.NDArray[np.intp]:
    """As many rows as there are, each with the probability of its weight."""
    return np.asarray(random.choice(len(weights), size=len(weights), replace=True, p=weights / weights.sum()))


@dataclass(frozen=True)
class AnyRows:
    """Checked data for learners of any kind."""

    X: Any
    given: npt.NDArray[Any]  # the targets in the user's words
    y: Answers
    classes: npt.NDArray[Any] | None
    weights: FloatArray | None


def check_any_rows(owner: Any, learner: Any, X: Any, y: Any, sample_weight: Any, *, is_classifier: bool) -> AnyRows:
    """Check what a fit is given: X may hold all that the learner says it takes."""
    X, y = validate_data(owner, X, y, **_checks(learner), y_numeric=not is_classifier)
    weights = check_weights(sample_weight, len(y), np.float64)
    if not is_classifier:
        return AnyRows(X, y, y, None, weights)
    check_classification_targets(y)
    classes, places = code_labels(y)
    return AnyRows(X, y, places, classes, weights)


def _checks(learner: Any) -> dict[str, Any]:
    """How to check X for a learner."""
    tags = input_tags(learner)
    finite = "allow-nan" if tags is not None and tags.allow_nan else True
    return {"accept_sparse": ["csr", "csc"], "allow_nd": True, "dtype": None, "ensure_all_finite": finite}


class AnyMembers:
    """Members of any kind."""

    def __init__(
        self,
        owner: Any,
        learner: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        random: np.random.RandomState,
        *,
        is_classifier: bool,
        is_drawn: bool,
    ) -> None:
        rows = check_any_rows(owner, learner, X, y, sample_weight, is_classifier=is_classifier)
        self._X, self._y, self.y, self.classes, self.weights = rows.X, rows.given, rows.y, rows.classes, rows.weights
        self._learner, self._random, self._is_drawn, self._members = learner, random, is_drawn, list[Any]()

    def fit_next(self, weights: FloatArray) -> Answers:
        member = fresh(self._learner, self._random)
        if self._is_drawn:
            draws = _draw(weights, self._random)
            member.fit(self._X[draws], self._y[draws])
        else:
            member.fit(self._X, self._y, sample_weight=weights)
        self._members.append(member)
        return answers(member, self._X, self.classes)

    def drop_last(self) -> None:
        self._members.pop()

    def keep_last(self) -> None:
        del self._members[:-1]

    def attributes(self) -> dict[str, Any]:
        return {"estimators_": list(self._members), "_trees": None}


class TreeMembers:
    """Members that are Mercer's trees."""

    def __init__(self, owner: Any, tree: Any, data: Training, random: np.random.RandomState, *, is_drawn: bool) -> None:
        self._owner, self._source, self._random = owner, TreeSource(tree, data), random
        self._targets, self._coder = data.targets, data.coder
        self.y, self.weights = data.targets.values[:, 0], data.weights
        self.classes = data.classes[0] if data.classes else None
        self._is_drawn, self._stores, self._seeds = is_drawn, list[TreeStore](), list[int]()

    def fit_next(self, weights: FloatArray) -> Answers:
        self._seeds.append(draw_seed(self._random))
        if self._is_drawn:
            weights = np.bincount(_draw(weights, self._random), minlength=len(self.y)).astype(np.float64)
        store = self._source.grow(self._targets, weights, self._seeds[-1])
        self._stores.append(store)
        return np.asarray(leaf_answers(store, self.classes)[self._source.leaves(store)])

    def drop_last(self) -> None:
        self._stores.pop()
        self._seeds.pop()

    def keep_last(self) -> None:
        del self._stores[:-1], self._seeds[:-1]

    def attributes(self) -> dict[str, Any]:
        store, facts = TreeStore.join(self._stores), self._source.facts(self._owner)
        trees = [self._source.member(store[t], facts, random_state=seed) for t, seed in enumerate(self._seeds)]
        return {"estimators_": trees, "_trees": store, "_coder": self._coder}


def answers(member: Any, X: Any, classes: npt.NDArray[Any] | None) -> Answers:
    """What a member of any kind makes of X: places among the classes, or numbers."""
    predicted = np.asarray(member.predict(X))
    return predicted if classes is None else np.searchsorted(classes, predicted)


def leaf_answers(store: TreeStore, classes: npt.NDArray[Any] | None) -> Answers:
    """What each node of a store answers."""
    assert store.values is not None
    values = store.values[:, 0]
    return values[:, 0] if classes is None else values.argmax(axis=1)


def check_rows(owner: Any, X: Any) -> Any:
    """X of a prediction, as the members of a fitted ensemble take it."""
    if owner._trees is not None:
        return check_query(owner, X, unseen=owner.estimator_.unseen)
    return validate_data(owner, X, **_checks(owner.estimator_), reset=False)


def each_answer(owner: Any, X: Any, classes: npt.NDArray[Any] | None) -> Iterator[Answers]:
    """What the members of a fitted ensemble make of checked X, one after another."""
    if owner._trees is None:
        for member in owner.estimators_:
            yield answers(member, X, classes)
        return
    store, n_threads = owner._trees, effective_threads(None)
    of_node, starts, X = leaf_answers(store, classes), store.starts, store.rows(X)
    for t in range(len(store)):
        yield of_node[starts[t] + store.apply(X, first=t, last=t + 1, n_threads=n_threads)[:, 0]]
