"""Trees of one kind on the same rows, grown again and again with other weights or targets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import check_params
from mercer._trees.growth import Targets, check_directions, make_growth, make_seeds
from mercer._trees.pruning import prune
from mercer._trees.rows import kernel_rows
from mercer._trees.store import CATEGORICAL, FEATURE, MISSING_LEFT, IntArray, Tree, TreeStore
from mercer._trees.training import Training
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


def is_plain_tree(learner: Any) -> bool:
    """Whether a learner is one of Mercer's trees whose fits differ in weights or targets alone."""
    is_tree = type(learner) in (DecisionTreeClassifier, DecisionTreeRegressor)
    return is_tree and getattr(learner, "class_weight", None) is None


class TreeSource:
    """Grows what fits of `tree` would, but ranks the columns once for all of them.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Not fitted; says how to grow.
    data : Training
        The rows.
    """

    def __init__(self, tree: Any, data: Training) -> None:
        self._kind, self._given, self._data = type(tree), tree.get_params(deep=False), data
        self._params: SimpleNamespace = check_params(tree)
        self._directions = check_directions(self._params.monotonic_cst, data.targets, data.coder.mask, data.coder.names)
        self.n_threads = effective_threads(None)
        growth = make_growth(self._params, data.targets, data.weights, data.X.shape[1], self._directions)
        self.max_features = growth.max_features
        self._columns = growth.columns(data.X, data.coder.flags, self.n_threads)
        self._rows = kernel_rows(data.X)

    @property
    def n_features(self) -> int:
        return int(self._data.X.shape[1])

    @property
    def unseen(self) -> str:
        return str(self._params.unseen)

    def grow(self, targets: Targets, weights: FloatArray | None, seed: int | np.random.RandomState) -> TreeStore:
        """One tree: that of a fit with `random_state=seed`."""
        growth = make_growth(self._params, targets, weights, self._data.X.shape[1], self._directions)
        random = seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)
        store = growth.grow(self._columns, targets, weights, seeds=make_seeds(random, 1), n_threads=self.n_threads)
        return prune(store, self._params.ccp_alpha)

    def leaves(self, store: TreeStore) -> IntArray:
        """The leaf of each training row in a store of one tree."""
        tag = int(store.nodes["tag"][0])
        if len(store.nodes) != 3 or tag & CATEGORICAL or self._rows is not self._data.X:
            return store.apply(self._rows, n_threads=self.n_threads)[:, 0]
        column = self._data.X[:, tag & FEATURE]  # of a stump: ten times as fast as to go through rows
        is_left = column <= store.nodes["threshold"][0]
        if tag & MISSING_LEFT:
            is_left |= np.isnan(column)
        return np.asarray(2 - is_left.astype(np.int64))

    def member(self, tree: Tree, facts: dict[str, Any], **params: Any) -> Any:
        """A fitted estimator around a tree; `facts` are what every member has (see `facts`)."""
        member = self._kind(**{**self._given, **params})
        vars(member).update(facts, tree_=tree)
        return member

    def facts(self, owner: Any) -> dict[str, Any]:
        """The fitted attributes that all members share, given the estimator whose fit checked the data."""
        seen = {name: getattr(owner, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(owner, name)}
        labels = self._data.label_attributes() if self._kind is DecisionTreeClassifier else {"n_outputs_": 1}
        return {**seen, **labels, "max_features_": self.max_features, "_coder": self._data.coder, "_has_one_output": True}
