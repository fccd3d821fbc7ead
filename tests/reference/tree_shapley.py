"""Shapley values of trees over all coalitions: slow, and as the definitions have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

Game = Callable[[frozenset[int]], float]


@dataclass(frozen=True)
class Leaf:
    value: float
    cover: float


@dataclass(frozen=True)
class Branch:
    feature: int
    goes_left: Callable[[float], bool]
    left: Any
    right: Any
    cover: float


def nodes_of(tree: Any, values: Any) -> Leaf | Branch:
    """A tree of Mercer's (`mercer._trees.store.Tree`) as nested nodes, with what each of its nodes adds as a leaf."""

    def build(i: int) -> Leaf | Branch:
        cover = float(tree.weighted_n_node_samples[i])
        if tree.children_left[i] < 0:
            return Leaf(float(values[i]), cover)
        left, right = build(int(tree.children_left[i])), build(int(tree.children_right[i]))
        return Branch(int(tree.feature[i]), _test(tree, i), left, right, cover)

    return build(0)


def _test(tree: Any, i: int) -> Callable[[float], bool]:
    missing_left = bool(tree.missing_go_to_left[i])
    if tree.is_categorical[i]:
        lefts = set(tree.left_categories(i))
        other_left = bool(int(tree.nodes[i]["tag"]) & (1 << 30))
        return lambda value: missing_left if np.isnan(value) else (other_left if value < 0 else int(value) in lefts)
    threshold = float(tree.threshold[i])
    return lambda value: missing_left if np.isnan(value) else bool(value <= threshold)


def predict(node: Leaf | Branch, x: Sequence[float]) -> float:
    while isinstance(node, Branch):
        node = node.left if node.goes_left(x[node.feature]) else node.right
    return node.value


def expectation(node: Leaf | Branch, x: Sequence[float], known: frozenset[int]) -> float:
    """What a tree predicts where some features are known; splits on others send shares of the row both ways, by their cover."""
    if isinstance(node, Leaf):
        return node.value
    if node.feature in known:
        return expectation(node.left if node.goes_left(x[node.feature]) else node.right, x, known)
    total = node.left.cover + node.right.cover
    share = node.left.cover / total if total > 0 else 0.5
    return share * expectation(node.left, x, known) + (1 - share) * expectation(node.right, x, known)


def path_game(trees: Sequence[Leaf | Branch], x: Sequence[float]) -> Game:
    return lambda known: sum(expectation(tree, x, known) for tree in trees)


def background_game(trees: Sequence[Leaf | Branch], x: Sequence[float], background: Any, output: Any = lambda raw: raw) -> Game:
    """The mean over background rows of what is predicted where the known features are the row's."""

    def value(known: frozenset[int]) -> float:
        mixed = np.array(background, dtype=float)
        mixed[:, list(known)] = np.asarray(x, dtype=float)[list(known)]
        return float(np.mean([output(sum(predict(tree, row) for tree in trees)) for row in mixed]))

    return value


def _subsets(players: Sequence[int]) -> list[frozenset[int]]:
    return [frozenset(each) for size in range(len(players) + 1) for each in combinations(players, size)]


def values(game: Game, n: int) -> np.ndarray:
    phi = np.zeros(n)
    worth = {each: game(each) for each in _subsets(range(n))}
    for j in range(n):
        for each in _subsets([k for k in range(n) if k != j]):
            weight = factorial(len(each)) * factorial(n - len(each) - 1) / factorial(n)
            phi[j] += weight * (worth[each | {j}] - worth[each])
    return phi


def interactions(game: Game, n: int) -> np.ndarray:
    """Shapley interactions, half at each of two places; the diagonal has what is left of the values."""
    phi = np.zeros((n, n))
    worth = {each: game(each) for each in _subsets(range(n))}
    for i, j in combinations(range(n), 2):
        for each in _subsets([k for k in range(n) if k not in (i, j)]):
            weight = factorial(len(each)) * factorial(n - len(each) - 2) / (2 * factorial(n - 1))
            gain = worth[each | {i, j}] - worth[each | {i}] - worth[each | {j}] + worth[each]
            phi[i, j] += weight * gain
            phi[j, i] += weight * gain
    phi[np.diag_indices(n)] = values(game, n) - phi.sum(axis=1)
    return phi
