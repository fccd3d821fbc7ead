"""One fit of a gradient boosting model: its rows, its start, its rounds, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
import sklearn

from mercer._arrays import FloatArray
from mercer._random import as_random_state
from mercer._trees.growth import GROWTH_RULES, Targets
from mercer._trees.store import TreeStore
from mercer._trees.training import Training
from mercer.ensemble._boosting.tree_source import TreeSource
from mercer.ensemble._gradient_boosting.objectives import Objective
from mercer.ensemble._gradient_boosting.rounds import GradientRounds, Part, Scores
from mercer.ensemble._gradient_boosting.start import Start, make_start
from mercer.tree import DecisionTreeRegressor


class Session:
    """Made of checked parameters and data; `rounds` is to be run, then `attributes` says what the estimator is.

    Parameters
    ----------
    owner : estimator
        Whose fit it is.
    params : namespace
    data : Training
    objective : Objective
    before : dict or None
        The fitted attributes to go on from; None for a fit from the start.
    """

    def __init__(
        self, owner: Any, params: SimpleNamespace, data: Training, objective: Objective, before: dict[str, Any] | None
    ) -> None:
        self._owner, self._params, self._data, self._objective = owner, params, data, objective
        self._earlier = [] if before is None else before["estimators_"].ravel().tolist()
        train, held_out = self._split(objective.targets(data.targets.values[:, 0]))
        if before is None:
            self._start, random = self._begin(train), as_random_state(params.random_state)
            store, scores = None, Scores()
        else:
            check_continuation(type(owner).__name__, params, data, before)
            self._start, random = before["_start"], deepcopy(before["_random"])
            store, scores = before["_trees"], Scores.of(before)
        rows = Training(train.X, Targets(np.zeros((len(train.y), 1))), train.weights, data.coder, [], True)
        tree = DecisionTreeRegressor(**{name: getattr(params, name) for name in GROWTH_RULES}, unseen=params.unseen)
        self._source = TreeSource(tree, rows)
        for part in (train, held_out):
            if part is None:
                continue
            part.raw = self._start.raw(part.X, objective)
            if store is not None:
                options = {"n_groups": objective.n_outputs, "n_threads": self._source.n_threads}
                part.raw += params.learning_rate * store.sum_leaves(part.X, **options)
        self.rounds = GradientRounds(objective, self._source, train, held_out, params, random, store, scores)

    @property
    def n_before(self) -> int:
        return len(self._earlier) // self._objective.n_outputs

    def _begin(self, train: Part) -> Start:
        classes = self._data.classes[0] if self._data.classes else None
        owner = type(self._owner).__name__
        return make_start(owner, self._params.init, self._objective, train.X, train.y, train.weights, classes)

    def _split(self, y: FloatArray) -> tuple[Part, Part | None]:
        """Rows to learn from, and rows to judge by where that says when to stop."""
        data, params, owner = self._data, self._params, type(self._owner).__name__
        if params.n_iter_no_change is None:
            return Part(data.X, y, data.weights), None
        options = {"random_state": params.random_state, "test_size": params.validation_fraction}
        parts = []
        split = sklearn.model_selection.train_test_split
        for rows in split(np.arange(len(y)), stratify=y if data.classes else None, **options):
            weights = None if data.weights is None else data.weights[rows]
            if weights is not None and not weights.any():
                raise ValueError(
                    f"{owner}: one side of the early stopping split holds rows of weight zero alone; set another random_state, "
                    "or n_iter_no_change=None."
                )
            parts.append(Part(data.X[rows], y[rows], weights))
        if data.classes and len(np.unique(parts[0].y)) < len(data.classes[0]):
            raise ValueError(
                f"{owner}: The training data after the early stopping split is missing some classes. Try using another "
                "random seed."
            )
        return parts[0], parts[1]

    def _earlier_members(self, store: TreeStore) -> Iterator[Any]:
        """Those of a warm start keep the parameters that they were grown with."""
        for t, earlier in enumerate(self._earlier):
            member = copy(earlier)
            member.tree_ = store[t]
            yield member

    def _new_members(self, store: TreeStore) -> Iterator[Any]:
        facts = self._source.facts(self._owner)
        for t, seed in enumerate(self.rounds.seeds, start=len(self._earlier)):
            yield self._source.member(store[t], facts, random_state=seed)

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes after the rounds so far."""
        store, n_outputs, source = self.rounds.trees(), self._objective.n_outputs, self._source
        members = np.empty(len(store), dtype=object)
        members[:] = [*self._earlier_members(store), *self._new_members(store)]
        labels = {"classes_": self._data.classes[0], "n_classes_": len(self._data.classes[0])} if self._data.classes else {}
        return {
            "estimators_": members.reshape(-1, n_outputs),
            "n_estimators_": len(store) // n_outputs,
            "n_trees_per_iteration_": n_outputs,
            "init_": self._start.init,
            "max_features_": source.max_features,
            **labels,
            **self.rounds.scores.attributes(),
            "_trees": store,
            "_objective": copy(self._objective),  # which some losses adapt in every round
            "_start": self._start,
            "_coder": self._data.coder,
            "_learning_rate": self._params.learning_rate,
            "_random": deepcopy(self.rounds.random),
        }


def check_continuation(owner: str, params: SimpleNamespace, data: Training, before: dict[str, Any]) -> None:
    """Refuse what cannot be the same model with more trees."""
    n_before, n_features = len(before["estimators_"]), before["_trees"].n_features
    if params.n_estimators < n_before:
        raise ValueError(
            f"{owner}: n_estimators={params.n_estimators} must be larger or equal to estimators_.shape[0]={n_before} when "
            "warm_start==True"
        )
    if params.learning_rate != before["_learning_rate"]:
        raise ValueError(
            f"{owner}: learning_rate={params.learning_rate:g} is not that of the trees there are, "
            f"{before['_learning_rate']:g}; a warm start must keep it."
        )
    if data.X.shape[1] != n_features:
        raise ValueError(
            f"{owner}: X has {data.X.shape[1]} features, but the trees there are have {n_features}; a warm start must keep "
            "them."
        )
    if data.classes and not np.array_equal(data.classes[0], before["classes_"]):
        raise ValueError(f"{owner}: y holds other classes than those of the trees there are; a warm start must keep them.")
