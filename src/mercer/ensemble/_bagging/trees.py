"""The fast way of bagging Mercer's own trees: all of them in one store, on columns that are ranked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import check_params
from mercer._saved import saved
from mercer._trees.cutting import first_trees
from mercer._trees.growth import check_directions, make_growth
from mercer._trees.pruning import prune
from mercer._trees.rows import Rows
from mercer._trees.store import TreeStore
from mercer._trees.training import Training, check_query, require_counts
from mercer.ensemble._bagging.draws import BagDraws, Indices
from mercer.ensemble._bagging.members import NO_METADATA, Metadata
from mercer.ensemble._forest.bags import seeds_of
from mercer.ensemble._forest.out_of_bag import leaves_by_tree
from mercer.ensemble._forest.tree_sequence import TreeSequence
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

_KINDS = (DecisionTreeClassifier, DecisionTreeRegressor)
_WEIGHTS_AT_ONCE = 16_000_000  # rows times trees whose weights are held at a time


def can_grow(base: Any, params: Any) -> bool:
    """Whether members like `base` are trees of ours that look at all columns and weigh classes and rows alike in every bag."""
    if type(base) not in _KINDS or params.max_features != 1.0 or params.bootstrap_features:
        return False
    return getattr(base, "class_weight", None) is None and (params.bootstrap or base.min_weight_fraction_leaf == 0)


@saved("BaggedTrees")
@dataclass(frozen=True)
class BaggedTrees:
    """Members that are trees of one store."""

    store: TreeStore
    coder: Any
    max_features: int
    base: Any  # what the members are clones of
    n_classes: int  # 0 in regression
    has_one_output: bool

    @classmethod
    def grow(cls, base: Any, data: Training, weights: FloatArray | None, draws: BagDraws, n_threads: int) -> BaggedTrees:
        """A tree for each member, on its draw of the rows times their `weights`."""
        params = check_params(base)
        require_counts(params.criterion, data)
        directions = check_directions(params.monotonic_cst, data.targets, data.coder.mask, data.coder.names)
        n_features = data.X.shape[1]
        growth = make_growth(params, data.targets, None, n_features, directions, n_draws=draws.n_draws)
        columns = growth.columns(data.X, data.coder.flags, n_threads, n_trees=len(draws))
        states = np.array([tree_state(draws, member) for member in range(len(draws))])
        if draws.has_all_rows:
            store = growth.grow(columns, data.targets, weights, seeds=seeds_of(states), n_threads=n_threads)
        else:
            stores = []
            step = max(1, _WEIGHTS_AT_ONCE // draws.n_rows)
            for begin in range(0, len(draws), step):
                members = range(begin, min(begin + step, len(draws)))
                lines = np.stack([draws.counts(member) for member in members])
                lines = lines if weights is None else lines * weights
                seeds = seeds_of(states[members.start : members.stop])
                stores.append(growth.grow(columns, data.targets, lines, seeds=seeds, n_threads=n_threads))
            store = TreeStore.join(stores) if len(stores) > 1 else stores[0]
        return cls(
            prune(store, params.ccp_alpha), data.coder, growth.max_features, base, data.targets.n_classes, data.has_one_output
        )

    def __len__(self) -> int:
        return len(self.store)

    def first(self, n_members: int) -> BaggedTrees:
        return replace(self, store=first_trees(self.store, n_members))

    def joined(self, later: BaggedTrees) -> BaggedTrees:
        return replace(later, store=TreeStore.join([self.store, later.store]))

    @property
    def is_one_share(self) -> bool:
        """Whether a leaf's own number, the share of the second of two classes, says it all."""
        return self.n_classes == 2

    def query(self, owner: Any, X: Any) -> Rows:
        """X of a prediction, checked."""
        return check_query(owner, X, self.base.unseen)

    def mean(self, X: Rows, n_jobs: int | None, metadata: Metadata = NO_METADATA) -> FloatArray:
        """The mean over the trees: class shares, or numbers. Trees are asked without `metadata`, as they request none."""
        n_threads = effective_threads(n_jobs)
        if self.is_one_share or self._is_one_number:
            number = self.store.sum_leaves(X, n_threads=n_threads) / len(self)
            return np.concatenate([1 - number, number], axis=1) if self.is_one_share else number[:, 0]
        return self._shaped(self.store.sum_values(X, n_threads=n_threads) / len(self))

    def each(self, X: Rows, n_jobs: int | None, rows: Callable[[int], Indices] | None = None) -> Iterator[FloatArray]:
        """What each tree predicts for all rows, or for those that `rows` says, of the shape of `mean`."""
        assert self.store.values is not None
        for tree, leaves in leaves_by_tree(self.store, X, effective_threads(n_jobs)):
            places = leaves if rows is None else leaves[rows(tree)]
            yield self._shaped(self.store.values[self.store.starts[tree] + places])

    @property
    def _is_one_number(self) -> bool:
        return self.store.values is not None and self.store.values.shape[1:] == (1, 1) and not self.n_classes

    def _shaped(self, values: FloatArray) -> FloatArray:
        if self.n_classes:
            return values[:, 0]
        return values[:, 0, 0] if self.has_one_output else values[:, :, 0]

    def estimators(self, owner: Any, draws: Sequence[BagDraws]) -> TreeSequence:
        """The trees as estimators, which speak of the classes by number."""
        states = [tree_state(each, member) for each in draws for member in range(len(each))]
        shared = {name: getattr(owner, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(owner, name)}
        shared |= {"n_outputs_": self.store[0].n_outputs, "_coder": self.coder, "_has_one_output": self.has_one_output}
        if self.n_classes:
            shared |= {"classes_": np.arange(self.n_classes), "n_classes_": self.n_classes}

        def view(index: int) -> Any:
            member: Any = type(self.base)(**{**self.base.get_params(deep=False), "random_state": states[index]})
            member._store({**shared, "tree_": self.store[index], "max_features_": self.max_features})
            return member

        return TreeSequence(view, len(self))


def tree_state(draws: BagDraws, member: int) -> int:
    """The `random_state` of a member that is a tree."""
    return int(draws.set_states(DecisionTreeRegressor(), member).random_state)
