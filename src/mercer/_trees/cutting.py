"""Trees without some of their nodes: what is left of a store when branches become leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mercer._native import kernels
from mercer._trees.store import NODE, IntArray, TreeStore

Mask = npt.NDArray[np.bool_]


def keep_nodes(store: TreeStore, is_kept: Mask, is_split: Mask) -> TreeStore:
    """The nodes of all trees that are kept, every root among them; those that lost their branch have the values they had."""
    assert store.values is not None
    starts, (node_counts, word_counts) = store.starts[:-1], store.counts
    places = np.cumsum(is_kept) - 1
    shifts = np.repeat(starts, node_counts)  # from a node's number in its tree to that in the store
    kept = np.flatnonzero(is_kept)
    nodes, values, shifts, is_leaf = store.nodes[kept], store.values[kept], shifts[kept], ~is_split[kept]
    nodes["threshold"][is_leaf] = values.reshape(len(nodes), -1)[is_leaf, -1]  # the number that a node has as a leaf
    nodes["tag"][is_leaf] = 0
    nodes["right"] = np.where(is_leaf, 0, places[nodes["right"] + shifts] - places[shifts])
    kept_counts = np.add.reduceat(is_kept, starts, dtype=np.int64)
    lines = nodes.view(np.uint8).reshape(-1, NODE.itemsize)
    trees = kernels.Trees(lines, np.array(store.trees.words), kept_counts, word_counts, store.n_features)
    return TreeStore(trees, store.impurity[kept], store.n_rows[kept], store.weight[kept], values)


def cut_at_depths(store: TreeStore, max_depths: Sequence[int | None]) -> list[TreeStore]:
    """Every tree without the nodes below each depth: what growth to that depth gives, since draws are named by the node."""
    depths = depths_of(store)
    limits = [int(depths.max(initial=0)) if limit is None else limit for limit in max_depths]
    cut: dict[int, TreeStore] = {}
    for limit in sorted(set(limits), reverse=True):  # each from the one before, which has fewer nodes
        is_kept = depths <= limit
        if not is_kept.all():
            store = keep_nodes(store, is_kept, (store.nodes["right"] > 0) & (depths < limit))
            depths = depths[is_kept]
        cut[limit] = store
    return [cut[limit] for limit in limits]


def depths_of(store: TreeStore) -> IntArray:
    """How many splits lead to each node, of all trees, a level at a time."""
    starts, right = store.starts[:-1], store.nodes["right"]
    shifts = np.repeat(starts, store.counts[0])
    depths = np.zeros(len(right), dtype=np.int64)
    at, depth = starts, 0
    while len(at):
        at, depth = at[right[at] > 0], depth + 1
        at = np.concatenate([at + 1, right[at] + shifts[at]])
        depths[at] = depth
    return depths


def first_trees(store: TreeStore, n_trees: int) -> TreeStore:
    """Some trees from the beginning; what is known of their nodes is shared."""
    if n_trees == len(store):
        return store
    node_counts, word_counts = (counts[:n_trees] for counts in store.counts)
    n_nodes, n_words = int(node_counts.sum()), int(word_counts.sum())
    words = np.ascontiguousarray(store.trees.words[:n_words])
    trees = kernels.Trees(store.trees.nodes[:n_nodes], words, node_counts, word_counts, store.n_features)
    values = None if store.values is None else store.values[:n_nodes]
    return TreeStore(trees, store.impurity[:n_nodes], store.n_rows[:n_nodes], store.weight[:n_nodes], values)
