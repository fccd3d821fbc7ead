"""Fitted trees: one flat store for all trees of a model, and a view of one of them under scikit-learn's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FLOATS, FloatArray
from mercer._native import kernels
from mercer._saved import saved
from mercer._trees.rows import Rows, dense, kernel_rows

IntArray = npt.NDArray[np.int64]

# As in native/tree/node.hpp: sixteen bytes, the left child of a split is the next node, a right child of 0 marks a leaf.
NODE = np.dtype([("threshold", "f8"), ("tag", "u4"), ("right", "u4")])
MISSING_LEFT, OTHER_LEFT, CATEGORICAL = 1 << 31, 1 << 30, 1 << 29
FEATURE = CATEGORICAL - 1

TREE_LEAF, TREE_UNDEFINED = -1, -2


@saved("TreeStore")
class TreeStore:
    """All trees of a model, one after another, never changed once made.

    Parameters
    ----------
    trees : kernels.Trees
        The nodes.
    impurity, weight : ndarray of shape (n_nodes,)
        Of every node: its impurity, and the weight of its rows.
    n_rows : ndarray of shape (n_nodes,)
        The number of training rows in every node.
    values : ndarray of shape (n_nodes, n_outputs, n_values) or None
        What every node predicts: class shares or means. None where a leaf's own number is all there is.
    """

    __slots__ = ("impurity", "n_rows", "trees", "values", "weight")

    def __init__(
        self, trees: Any, impurity: FloatArray, n_rows: IntArray, weight: FloatArray, values: FloatArray | None = None
    ) -> None:
        n_nodes = len(trees.nodes)
        facts = {"impurity": impurity, "n_rows": n_rows, "weight": weight}
        for name, fact in facts.items():
            if fact.shape != (n_nodes,):
                raise ValueError(f"{name} has the shape {fact.shape}; there must be one value for each of the {n_nodes} nodes.")
        if values is not None and (values.ndim != 3 or len(values) != n_nodes):
            raise ValueError(f"values has the shape {values.shape}; its first of three axes must have the length {n_nodes}.")
        self.trees = trees
        self.impurity = _frozen(impurity, np.float64)
        self.n_rows = _frozen(n_rows, np.int64)
        self.weight = _frozen(weight, np.float64)
        self.values = None if values is None else _frozen(values, np.float64)

    def __len__(self) -> int:
        return int(self.trees.count)

    def __getitem__(self, index: int) -> Tree:
        if not -len(self) <= index < len(self):
            raise IndexError(f"There is no tree {index}; there are {len(self)}.")
        return Tree(self, index % len(self))

    @property
    def n_features(self) -> int:
        return int(self.trees.n_features)

    @property
    def nodes(self) -> npt.NDArray[Any]:
        """The nodes of all trees as a structured array (`NODE`), read only."""
        return self.trees.nodes.view(NODE)[:, 0] if len(self.trees.nodes) else np.empty(0, NODE)

    @property
    def starts(self) -> IntArray:
        """Where each tree's nodes begin, and where the last one's end."""
        return np.asarray(self.trees.node_starts, dtype=np.int64)

    @property
    def counts(self) -> tuple[IntArray, IntArray]:
        """How many nodes each tree has, and how many words its sets of categories take."""
        node_counts: IntArray = np.diff(self.starts)
        word_starts: IntArray = np.asarray(self.trees.word_starts, dtype=np.int64)
        return node_counts, np.diff(word_starts)

    @classmethod
    def empty(cls, n_features: int) -> TreeStore:
        """No trees: what boosting begins with."""
        none, nothing = np.empty(0, dtype=np.int64), np.empty(0)
        trees = kernels.Trees(np.empty((0, NODE.itemsize), dtype=np.uint8), none.astype(np.uint32), none, none, n_features)
        return cls(trees, nothing, none, nothing)

    @classmethod
    def join(cls, stores: Sequence[TreeStore]) -> TreeStore:
        """The trees of several stores in one."""
        if len(stores) == 1:
            return stores[0]
        trees = kernels.Trees(
            np.concatenate([store.trees.nodes for store in stores]),
            np.concatenate([store.trees.words for store in stores]),
            np.concatenate([store.counts[0] for store in stores]),
            np.concatenate([store.counts[1] for store in stores]),
            stores[0].n_features,
        )
        impurity = np.concatenate([store.impurity for store in stores])
        n_rows = np.concatenate([store.n_rows for store in stores])
        weight = np.concatenate([store.weight for store in stores])
        values = [store.values for store in stores if store.values is not None]
        return cls(trees, impurity, n_rows, weight, np.concatenate(values) if values else None)

    def rows(self, X: Rows) -> Any:
        """X as the kernels read it; of a sparse matrix the columns that the trees split on, where they are sooner told."""
        if not sp.issparse(X) or X.nnz < len(self.nodes):
            return kernel_rows(X)
        is_split_on = np.zeros(self.n_features, dtype=np.uint8)
        is_split_on[self.nodes["tag"] & FEATURE] = 1  # that of a leaf reads as feature 0, whose entries do no harm
        return kernel_rows(X, is_split_on)

    def sum_leaves(self, X: Rows, *, n_groups: int = 1, first: int = 0, last: int | None = None, n_threads: int) -> FloatArray:
        """Sums of the leaves' own numbers, of shape (n_rows, n_groups): the trees take turns at the groups."""
        out = np.zeros((X.shape[0], n_groups))
        kernels.add_leaf_values(self.trees, first, len(self) if last is None else last, self.rows(X), out, n_threads)
        return out

    def sum_values(
        self,
        X: Rows,
        *,
        weights: FloatArray | None = None,
        first: int = 0,
        last: int | None = None,
        n_threads: int,
    ) -> FloatArray:
        """Sums of the leaves' `values`, each tree's times its weight, of shape (n_rows, n_outputs, n_values)."""
        assert self.values is not None
        flat = self.values.reshape(len(self.values), -1)
        out = np.zeros((X.shape[0], flat.shape[1]))
        last = len(self) if last is None else last
        kernels.add_node_values(self.trees, first, last, self.rows(X), flat, weights, out, n_threads)
        return out.reshape(X.shape[0], *self.values.shape[1:])

    def apply(self, X: Rows, *, first: int = 0, last: int | None = None, n_threads: int) -> IntArray:
        """The leaf of each row in each tree."""
        last = len(self) if last is None else last
        out = np.empty((X.shape[0], last - first), dtype=np.int64)
        kernels.leaf_numbers(self.trees, first, last, self.rows(X), out, n_threads)
        return out

    def with_leaf_values(self, values: FloatArray) -> TreeStore:
        """The same regression trees with other values of their leaves; those given for other nodes are passed over."""
        assert self.values is not None
        nodes, kept = self.trees.nodes.copy(), self.values.copy()
        entries = nodes.view(NODE)[:, 0]
        is_leaf = entries["right"] == 0
        entries["threshold"][is_leaf] = kept[is_leaf, 0, 0] = values[is_leaf]
        trees = kernels.Trees(nodes, np.array(self.trees.words), *self.counts, self.n_features)
        return TreeStore(trees, self.impurity, self.n_rows, self.weight, kept)

    def __reduce__(self) -> Any:
        structure = (self.trees.nodes.copy(), self.trees.words.copy(), *self.counts, self.n_features)
        return _rebuild, (*structure, self.impurity, self.n_rows, self.weight, self.values)

    def __sizeof__(self) -> int:
        arrays = (self.trees.nodes, self.trees.words, self.impurity, self.n_rows, self.weight, self.values)
        return object.__sizeof__(self) + sum(0 if array is None else array.nbytes for array in arrays)


def _rebuild(
    nodes: Any,
    words: Any,
    node_counts: Any,
    word_counts: Any,
    n_features: int,
    impurity: Any,
    n_rows: Any,
    weight: Any,
    values: Any,
) -> TreeStore:
    """A store from arrays that may come from anywhere: whatever is not a set of trees is refused."""
    return TreeStore(kernels.Trees(nodes, words, node_counts, word_counts, n_features), impurity, n_rows, weight, values)


def _frozen(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    array = np.ascontiguousarray(array, dtype=dtype).view()
    array.flags.writeable = False
    return array


def _query(X: Any) -> Rows:
    """X as the kernels read it: lists and integers as floats."""
    if sp.issparse(X):
        return X if X.dtype in FLOATS else X.astype(np.float64)
    rows: npt.NDArray[Any] = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimensions; it must have two: rows and features.")
    return rows if rows.dtype in FLOATS and rows.flags.aligned else rows.astype(np.float64)


@saved("Tree")
class Tree:
    """One tree of a store, with the arrays that scikit-learn's `tree_` has.

    The nodes are numbered parents first, left before right. `threshold` is NaN where a split is on categories (see
    `left_categories`), and -2 in a leaf.
    """

    __slots__ = ("_index", "_store")

    def __init__(self, store: TreeStore, index: int = 0) -> None:
        self._store, self._index = store, index

    def _part(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        starts = self._store.trees.node_starts
        return array[int(starts[self._index]) : int(starts[self._index + 1])]

    @property
    def place(self) -> tuple[TreeStore, int]:
        """The store that the tree is a view of, and which of its trees it is."""
        return self._store, self._index

    @property
    def nodes(self) -> npt.NDArray[Any]:
        return self._part(self._store.nodes)

    @property
    def n_features(self) -> int:
        return self._store.n_features

    @property
    def node_count(self) -> int:
        return len(self.nodes)

    @property
    def capacity(self) -> int:
        return self.node_count

    @property
    def n_leaves(self) -> int:
        return int((self.nodes["right"] == 0).sum())

    @property
    def n_outputs(self) -> int:
        return 1 if self._store.values is None else self._store.values.shape[1]

    @property
    def max_n_classes(self) -> int:
        return 1 if self._store.values is None else self._store.values.shape[2]

    @property
    def n_classes(self) -> IntArray:
        """How many classes each output has; 1 in regression."""
        if self.max_n_classes == 1:
            return np.ones(self.n_outputs, dtype=np.int64)
        assert self._store.values is not None
        largest = self._store.values[self._store.starts[:-1]].max(axis=0)  # share of each class in the root of some tree
        return np.asarray(self.max_n_classes - (largest[:, ::-1] > 0).argmax(axis=1), dtype=np.int64)

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.nodes["right"] == 0)

    @property
    def children_left(self) -> IntArray:
        return np.where(self.is_leaf, TREE_LEAF, np.arange(1, self.node_count + 1))

    @property
    def children_right(self) -> IntArray:
        return np.where(self.is_leaf, TREE_LEAF, self.nodes["right"].astype(np.int64))

    @property
    def feature(self) -> IntArray:
        return np.where(self.is_leaf, TREE_UNDEFINED, (self.nodes["tag"] & FEATURE).astype(np.int64))

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        return np.asarray((self.nodes["tag"] & CATEGORICAL) != 0)

    @property
    def threshold(self) -> FloatArray:
        numeric = np.where(self.is_categorical, np.nan, self.nodes["threshold"])
        return np.where(self.is_leaf, float(TREE_UNDEFINED), numeric)

    @property
    def missing_go_to_left(self) -> npt.NDArray[np.uint8]:
        return np.asarray((self.nodes["tag"] & MISSING_LEFT) != 0, dtype=np.uint8)

    @property
    def impurity(self) -> FloatArray:
        return self._part(self._store.impurity)

    @property
    def n_node_samples(self) -> IntArray:
        return self._part(self._store.n_rows)

    @property
    def weighted_n_node_samples(self) -> FloatArray:
        return self._part(self._store.weight)

    @property
    def value(self) -> FloatArray:
        if self._store.values is None:
            return np.where(self.is_leaf, self.nodes["threshold"], np.nan)[:, None, None]
        return self._part(self._store.values)

    @property
    def parents(self) -> IntArray:
        """The parent of every node; -1 for the root."""
        out = np.full(self.node_count, -1)
        splits = np.flatnonzero(~self.is_leaf)
        out[splits + 1] = splits
        out[self.nodes["right"][splits]] = splits
        return out

    @property
    def depths(self) -> IntArray:
        """How many splits lead to each node."""
        depths = np.zeros(self.node_count, dtype=np.int64)
        for node, parent in enumerate(self.parents[1:].tolist(), start=1):
            depths[node] = depths[parent] + 1
        return depths

    @property
    def max_depth(self) -> int:
        return int(self.depths.max())

    @property
    def words(self) -> npt.NDArray[np.uint32]:
        """The sets of categories of the tree's splits."""
        starts = self._store.trees.word_starts
        return np.asarray(self._store.trees.words[int(starts[self._index]) : int(starts[self._index + 1])])

    def left_categories(self, node: int) -> list[int]:
        """The categories that the split of a node sends left, as their places among the feature's categories."""
        entry = self.nodes[node]
        if not (int(entry["tag"]) & CATEGORICAL and entry["right"]):
            raise ValueError(f"Node {node} does not split on categories.")
        start = int(entry["threshold"])
        words = self.words[start + 1 : start + 1 + int(self.words[start])]
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return [int(category) for category in np.flatnonzero(bits)]

    def apply(self, X: Any, *, n_threads: int = 1) -> IntArray:
        """The leaf of each row of X: an array of any number type, or a sparse matrix."""
        return self._store.apply(_query(X), first=self._index, last=self._index + 1, n_threads=n_threads)[:, 0]

    def leaf_values(self, X: Any, *, n_threads: int = 1) -> FloatArray:
        """The values of each row's leaf, of shape (n_rows, n_outputs, n_values)."""
        which: dict[str, Any] = {"first": self._index, "last": self._index + 1, "n_threads": n_threads}
        if self._store.values is None:
            return self._store.sum_leaves(_query(X), **which)[:, :, None]
        return self._store.sum_values(_query(X), **which)

    def predict(self, X: Any, *, n_threads: int = 1) -> FloatArray:
        """The values of each row's leaf, of shape (n_rows, n_values), or (n_rows, n_outputs, n_values) for several outputs."""
        values = self.leaf_values(X, n_threads=n_threads)
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X: Any, *, n_threads: int = 1) -> sp.csr_matrix:
        """The nodes on each row's way from the root to its leaf, as a sparse indicator matrix."""
        leaves, depths, parents = self.apply(X, n_threads=n_threads), self.depths, self.parents
        indptr = np.concatenate([[0], np.cumsum(depths[leaves] + 1)])
        indices = np.empty(indptr[-1], dtype=np.int64)
        at, places = leaves.copy(), indptr[1:] - 1
        while (moving := at >= 0).any():  # from the leaves up, one level at a time
            indices[places[moving]] = at[moving]
            at[moving] = parents[at[moving]]
            places = places - 1
        return sp.csr_matrix((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(len(leaves), self.node_count))

    def compute_node_depths(self) -> IntArray:
        """The depth of every node, that of the root being 1."""
        return self.depths + 1

    def compute_partial_dependence(self, X: Any, target_features: Any, out: FloatArray) -> None:
        """Add to `out` the tree's mean prediction where some features have the values of a row of X.

        At a split on another feature a row goes both ways, in proportion to the weights of the training rows that did.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_target_features)
        target_features : array-like of int of shape (n_target_features,)
            The feature that each column of X is.
        out : ndarray of shape (n_rows,)
        """
        X = _query(dense(X))
        columns = {feature: X[:, place] for place, feature in enumerate(np.asarray(target_features).tolist())}
        right, weight, value = self.children_right, self.weighted_n_node_samples, self.value[:, 0, 0]
        share = np.zeros((self.node_count, len(X)))  # of each row's way that passes a node
        share[0] = 1.0
        for node, feature in enumerate(self.feature.tolist()):
            if feature < 0:
                out += share[node] * value[node]
                continue
            goes_left = self._goes_left(node, columns[feature]) if feature in columns else weight[node + 1] / weight[node]
            share[node + 1], share[right[node]] = share[node] * goes_left, share[node] * (1 - goes_left)

    def _goes_left(self, node: int, column: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether a split sends each value of its feature left."""
        tag = int(self.nodes["tag"][node])
        is_left = np.isin(column, self.left_categories(node)) if tag & CATEGORICAL else column <= self.threshold[node]
        return np.where(np.isnan(column), bool(tag & MISSING_LEFT), is_left)

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """The impurity that the splits on each feature remove, weighted by the rows that pass; of sum one if `normalize`."""
        splits = np.flatnonzero(~self.is_leaf)
        weighted = self.weighted_n_node_samples * self.impurity
        removed = weighted[splits] - weighted[splits + 1] - weighted[self.nodes["right"][splits]]
        out: FloatArray = (
            np.bincount(self.feature[splits], weights=removed, minlength=self.n_features) / self.weighted_n_node_samples[0]
        )
        return out / out.sum() if normalize and out.sum() > 0 else out

    def __reduce__(self) -> Any:
        words, trees = self.words, self._store.trees
        values = None if self._store.values is None else self.value
        state = (
            self._part(trees.nodes).copy(), words.copy(), np.array([self.node_count]), np.array([len(words)]),
            self.n_features, self.impurity, self.n_node_samples, self.weighted_n_node_samples, values,
        )  # fmt: skip
        return _rebuild_tree, state


def _rebuild_tree(*state: Any) -> Tree:
    return Tree(_rebuild(*state))
