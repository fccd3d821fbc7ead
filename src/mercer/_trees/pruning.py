"""Minimal cost-complexity pruning: the weakest branch goes first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from sklearn.utils import Bunch

from mercer._trees.cutting import keep_nodes
from mercer._trees.store import Tree, TreeStore


class _Pruner:
    """A tree that loses branches: of each node, whether it is still there and what the leaves under it cost."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.parents = tree.parents
        self.is_split = ~tree.is_leaf
        self.risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
        self.n_leaves = np.where(self.is_split, 0, 1)
        self.branch_risk = np.where(self.is_split, 0.0, self.risk)
        for node in range(tree.node_count - 1, 0, -1):  # children come after their parents
            self.n_leaves[self.parents[node]] += self.n_leaves[node]
            self.branch_risk[self.parents[node]] += self.branch_risk[node]
        self.is_gone = np.zeros(tree.node_count, dtype=bool)
        self.queue = [(self.strength(node), node) for node in np.flatnonzero(self.is_split).tolist()]
        heapq.heapify(self.queue)

    def strength(self, node: int) -> float:
        """What a branch saves for each leaf that it costs."""
        return float((self.risk[node] - self.branch_risk[node]) / (self.n_leaves[node] - 1))

    def weakest(self) -> tuple[float, int] | None:
        """The weakest branch that is left."""
        while self.queue:
            strength, node = self.queue[0]
            if self.is_split[node] and not self.is_gone[node] and strength == self.strength(node):
                return strength, node
            heapq.heappop(self.queue)
        return None

    def cut(self, node: int) -> None:
        """Make a leaf of a branch. O(depth) besides the branch itself."""
        end = int(self.tree.nodes["right"][node])
        while self.tree.nodes["right"][end]:  # the last node of the branch: right children all the way down
            end = int(self.tree.nodes["right"][end])
        self.is_gone[node + 1 : end + 1] = True
        self.is_split[node] = False
        saved_leaves, saved_risk = self.n_leaves[node] - 1, self.branch_risk[node] - self.risk[node]
        at = node
        while at >= 0:
            self.n_leaves[at] -= saved_leaves
            self.branch_risk[at] -= saved_risk
            if at != node:
                heapq.heappush(self.queue, (self.strength(at), at))
            at = int(self.parents[at])


def pruning_path(tree: Tree) -> Bunch:
    """The costs of a leaf at which the tree loses its weakest branch, and the total impurity of the leaves after that."""
    pruner = _Pruner(tree)
    alphas, impurities = [0.0], [float(pruner.branch_risk[0])]
    while (found := pruner.weakest()) is not None:
        alphas.append(max(found[0], alphas[-1]))
        pruner.cut(found[1])
        impurities.append(float(pruner.branch_risk[0]))
    kept = [i for i in range(len(alphas)) if i + 1 == len(alphas) or alphas[i + 1] > alphas[i]]  # the last of equal ones
    return Bunch(ccp_alphas=np.array(alphas)[kept], impurities=np.array(impurities)[kept])


def prune(store: TreeStore, ccp_alpha: float) -> TreeStore:
    """Every tree of a store without the branches that save less than `ccp_alpha` for each leaf; at zero all are kept."""
    return prune_each(store, [ccp_alpha])[0]


def prune_each(store: TreeStore, ccp_alphas: Sequence[float]) -> list[TreeStore]:
    """`prune` for each of several costs, in their order: the weakest branches go first, whatever the cost, so once for all."""
    order = [place for place in np.argsort(ccp_alphas).tolist() if ccp_alphas[place] > 0]
    masks = {place: (np.ones(len(store.nodes), dtype=bool), store.nodes["right"] > 0) for place in order}
    for index in range(len(store)) if order else ():
        pruner, part = _Pruner(store[index]), slice(store.starts[index], store.starts[index + 1])
        for place in order:
            while (found := pruner.weakest()) is not None and found[0] <= ccp_alphas[place]:
                pruner.cut(found[1])
            is_kept, is_split = masks[place]
            is_kept[part], is_split[part] = ~pruner.is_gone, pruner.is_split
    return [keep_nodes(store, *masks[place]) if place in masks else store for place in range(len(ccp_alphas))]
