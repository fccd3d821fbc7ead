"""What a forest learns from the rows that each of its trees has not seen: predictions, errors, votes, importances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trees.growth import Targets
from mercer._trees.rows import Rows, dense
from mercer._trees.store import IntArray, TreeStore
from mercer.ensemble._forest.bags import Bags

_LEAVES_AT_ONCE = 2_000_000  # rows times trees whose leaves are held at a time
_MARKS_AT_ONCE = 32_000_000  # rows times trees of which it is held at a time who has seen whom


def leaves_by_tree(store: TreeStore, X: Rows, n_threads: int, *, first: int = 0) -> Iterator[tuple[int, IntArray]]:
    """Each tree from `first` on, with the leaf of every row of X in it."""
    step = max(1, _LEAVES_AT_ONCE // max(X.shape[0], 1))
    rows = store.rows(X)
    for begin in range(first, len(store), step):
        end = min(begin + step, len(store))
        leaves = store.apply(rows, first=begin, last=end, n_threads=n_threads)
        yield from ((begin + place, leaves[:, place]) for place in range(end - begin))


@dataclass(frozen=True)
class Scorer:
    """The error of one tree on some rows: the share of wrong classes, or the squared error over that of the mean (1 - R2)."""

    targets: Targets

    def answers(self, values: FloatArray) -> npt.NDArray[Any]:
        """What each node predicts, of shape (n_nodes, n_outputs)."""
        return np.asarray(values.argmax(axis=2) if self.targets.n_classes else values[:, :, 0])

    def error(self, truth: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
        """The mean over the outputs."""
        if self.targets.n_classes:
            return float(np.mean(truth != answers))
        spread = np.square(truth - truth.mean(axis=0)).mean(axis=0)
        return float(np.mean(np.square(truth - answers).mean(axis=0) / np.where(spread > 0, spread, 1.0)))

    def weight(self, error: float, n_rows: int) -> float:
        """The weight of a tree's vote: the logarithm of its odds against a guess, or the inverse of its squared error."""
        if not self.targets.n_classes:
            return 1 / max(error, 1e-10)
        half_a_row = 0.5 / n_rows
        error = min(max(error, half_a_row), 1 - half_a_row)
        return max(float(np.log((1 - error) / error) + np.log(max(self.targets.n_classes - 1, 1))), 0.0)


@dataclass
class OutOfBag:
    """What was found. `predictions` are NaN for a row that every tree has seen."""

    predictions: FloatArray
    weights: FloatArray  # of the trees, of sum one
    importance: FloatArray | None = None

    @property
    def is_known(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.predictions[:, 0, 0])


def look_out_of_bag(
    store: TreeStore,
    bags: Bags,
    X: Rows,
    targets: Targets,
    *,
    is_weighted: bool,
    has_importance: bool,
    n_threads: int,
) -> OutOfBag:
    """A pass over the trees for the predictions, and one before that if trees are to be judged or features permuted."""
    weights, importance = np.ones(len(store)), None
    if is_weighted or has_importance:
        weights, importance = _judge_trees(store, bags, X, targets, is_weighted, has_importance, n_threads)
    predictions = _predict_left_out(store, bags, X, weights if is_weighted else None, n_threads)
    return OutOfBag(predictions, weights / weights.sum(), importance)


def _predict_left_out(store: TreeStore, bags: Bags, X: Rows, weights: FloatArray | None, n_threads: int) -> FloatArray:
    """The weighted mean of the values of each row's leaves, in the trees that have not seen it."""
    assert store.values is not None
    flat = store.values.reshape(len(store.values), -1)
    rows, n_rows = store.rows(X), X.shape[0]
    sums, totals = np.zeros((n_rows, flat.shape[1])), np.zeros(n_rows)
    step = max(1, _MARKS_AT_ONCE // max(n_rows, 1))
    for first in range(0, len(store), step):
        last = min(first + step, len(store))
        part = None if weights is None else weights[first:last]
        marks = bags.marks(first, last, n_threads)
        kernels.add_left_out_values(store.trees, first, last, rows, flat, part, marks, sums, totals, n_threads)
    with np.errstate(invalid="ignore"):
        means: FloatArray = sums / np.where(totals > 0, totals, np.nan)[:, None]
    return means.reshape(n_rows, *store.values.shape[1:])


def _judge_trees(
    store: TreeStore,
    bags: Bags,
    X: Rows,
    targets: Targets,
    is_weighted: bool,
    has_importance: bool,
    n_threads: int,
) -> tuple[FloatArray, FloatArray | None]:
    """The weight of each tree by its error on the rows that it has not seen, and the importances of the features."""
    assert store.values is not None
    scorer, starts = Scorer(targets), store.starts
    weights, falls = np.ones(len(store)), np.zeros(store.n_features)
    for tree, leaves in leaves_by_tree(store, X, n_threads):
        rows = bags.rows_left_out(tree)
        if not len(rows):
            continue
        if is_weighted:
            answers = scorer.answers(store.values[starts[tree] : starts[tree + 1]])
            weights[tree] = scorer.weight(scorer.error(targets.values[rows], answers[leaves[rows]]), len(rows))
        if has_importance:
            falls += _falls(store, tree, _own_rows(X, rows), targets.values[rows], scorer, int(bags.states[tree]), n_threads)
    if not weights.any():  # every tree is as bad as a guess
        weights = np.ones(len(store))
    return weights, falls / len(store) if has_importance else None


def _falls(
    store: TreeStore,
    tree: int,
    X: Rows,
    truth: npt.NDArray[Any],
    scorer: Scorer,
    seed: int,
    n_threads: int,
) -> FloatArray:
    """By how much a tree's error rises as each feature is permuted among the rows of X; 0 for those that it never splits."""

    def error() -> float:
        return scorer.error(truth, answers[store.apply(X, first=tree, last=tree + 1, n_threads=n_threads)[:, 0]])

    view, random = store[tree], np.random.Generator(np.random.Philox(seed))
    answers, out = scorer.answers(view.value), np.zeros(store.n_features)
    before = error()
    for feature in np.unique(view.feature[~view.is_leaf]).tolist():
        column = dense(X[:, [feature]])[:, 0]
        _replace(X, feature, random.permutation(column))
        out[feature] = error() - before
        _replace(X, feature, column)
    return out


def _own_rows(X: Rows, rows: npt.NDArray[np.intp]) -> Rows:
    """Some rows of X, whose columns can be replaced."""
    if not sp.issparse(X):
        return X[rows]
    part = X[rows].tocsc()
    part.sum_duplicates()
    part.eliminate_zeros()
    return part


def _replace(X: Rows, feature: int, values: FloatArray) -> None:
    """Put the values of a column in another order; a sparse X has as many entries as before."""
    if not sp.issparse(X):
        X[:, feature] = values
        return
    part = slice(X.indptr[feature], X.indptr[feature + 1])
    X.indices[part] = np.flatnonzero(values)
    X.data[part] = values[X.indices[part]]
