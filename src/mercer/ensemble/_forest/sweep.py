"""Forests for many values of one parameter from trees that are grown once, and what the rows out of their bags say of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

from sklearn.base import is_classifier

from mercer._candidates import Candidates
from mercer._parallel import effective_threads
from mercer._trees.cutting import first_trees
from mercer._trees.store import TreeStore
from mercer._trees.training import Training
from mercer._trees.variants import largest, parameters_of_variants, variants
from mercer._tuning import OutOfBagView
from mercer.ensemble._forest.bags import Bags
from mercer.ensemble._forest.out_of_bag import OutOfBag

# What may be swept by a fit for each value, where the rows out of the bags take the place of folds.
BY_FITS = (
    "min_samples_leaf",
    "min_samples_split",
    "max_features",
    "max_leaf_nodes",
    "max_samples",
    "min_impurity_decrease",
    "min_weight_fraction_leaf",
    "criterion",
    "class_weight",
    "tree_weights",
)


@dataclass(frozen=True)
class Variant:
    """The trees of one forest, what they were grown on, and facts about them that are known already."""

    store: TreeStore
    bags: Bags
    facts: dict[str, Any] | None = None


class ForestSweep:
    """Mixin for forests of any kind."""

    bootstrap: bool
    max_leaf_nodes: int | None

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return ["n_estimators", *parameters_of_variants(self.max_leaf_nodes)]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value in the order given, from trees that are grown once: some of them, cut or pruned.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"n_estimators", "max_depth", "ccp_alpha"}
        values : sequence

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        data, forests = _grow_once(candidates, X, y, sample_weight)
        return (candidates.fit(place, _store, data, forest, None) for place, forest in enumerate(forests))

    def out_of_bag_parameters(self) -> list[str]:
        """The parameters that `sweep_out_of_bag` takes: first those that need one growth for all; none without a bootstrap."""
        if not self.bootstrap:
            return []
        swept = self.sweep_parameters()
        return [*swept, *(name for name in ("max_depth", *BY_FITS) if hasattr(self, name) and name not in swept)]

    def sweep_out_of_bag(
        self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None
    ) -> Iterator[tuple[Self, OutOfBagView]]:
        """Fitted clones, one for each value in the order given, and the rows as trees that have not seen them predict them.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : str
            See `out_of_bag_parameters`.
        values : sequence

        Returns
        -------
        iterator of (estimator, OutOfBagView)
        """
        candidates = Candidates(self, name, values, self.out_of_bag_parameters())
        if name in self.sweep_parameters():
            data, forests = _grow_once(candidates, X, y, sample_weight)
            return (_judge(candidates, place, data, forest) for place, forest in enumerate(forests))
        return (_judge(candidates, place, *_grow(candidates, place, X, y, sample_weight)) for place in range(len(candidates)))


def _grow_once(candidates: Candidates, X: Any, y: Any, sample_weight: Any) -> tuple[Training, Iterator[Variant]]:
    """The data, and the trees of every candidate."""
    first, name, params = candidates.estimators[0], candidates.name, candidates.params
    most = largest(name, params)
    if name == "n_estimators":
        most = copy.copy(params[0])
        most.n_estimators = max(candidates.values)
    data = first._training(X, y, sample_weight, most, is_classifier=is_classifier(first))
    candidates.share_input(first)
    bags, n_threads = first._draw(most, data, 0), effective_threads(most.n_jobs)
    store = first._grow(most, data, bags, n_threads)
    if name != "n_estimators":
        return data, (Variant(each, bags) for each in variants(store, name, params))
    facts = first._facts(store, store, bags, data, n_threads)
    return data, (_first(store, bags, facts, each.n_estimators) for each in params)


def _first(store: TreeStore, bags: Bags, facts: dict[str, Any], n_trees: int) -> Variant:
    trees = first_trees(store, n_trees)
    return Variant(trees, bags.first(n_trees), {name: fact.first(len(trees.nodes)) for name, fact in facts.items()})


def _grow(candidates: Candidates, place: int, X: Any, y: Any, sample_weight: Any) -> tuple[Training, Variant]:
    """The data and the trees of one candidate alone."""
    forest, params = candidates.estimators[place], candidates.params[place]
    data = forest._training(X, y, sample_weight, params, is_classifier=is_classifier(forest))
    bags = forest._draw(params, data, 0)
    return data, Variant(forest._grow(params, data, bags, effective_threads(params.n_jobs)), bags)


def _judge(candidates: Candidates, place: int, data: Training, variant: Variant) -> tuple[Any, OutOfBagView]:
    """A fitted forest, and how it does out of its bags."""
    forest, params = candidates.estimators[place], candidates.params[place]
    found = forest._look_out_of_bag(params, variant.store, (variant.bags,), data)
    return candidates.fit(place, _store, data, variant, found), forest._left_out_view(found, data)


def _store(forest: Any, data: Training, variant: Variant, found: OutOfBag | None) -> Any:
    params: SimpleNamespace = forest._checked_params()
    facts = variant.facts
    if facts is None:
        facts = forest._facts(variant.store, variant.store, variant.bags, data, effective_threads(params.n_jobs))
    forest._store(forest._attributes(params, data, variant.store, (variant.bags,), found) | facts)
    return forest
