"""How much of the target one column tells, by predictions of rows that were not learnt from."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer._runs.leaks.target import Target
from mercer._tables import IntArray
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

NEARLY_ALL = 0.98  # of the way
_N_BINS = 32
_WORTH_A_TREE = 0.5
_N_LEAVES = 256
_N_FIRST, _MOST_ROWS = 1_000, 5_000


def told_alone(values: FloatArray, target: Target, *, is_words: bool) -> float:
    """The skill of the largest class (or the mean) of each value of words, of a tree on numbers; two halves predict each other.

    Numbers are looked at in bins of some rows first, and a tree is only grown where these tell something. O(n log n).
    """
    if is_words:
        return _of_words(values, target)
    if told_by_bins(values, target) < _WORTH_A_TREE:
        return 0.0
    step = -(-len(values) // _MOST_ROWS)
    return max(_of_tree(values[::step], target.take(slice(None, None, step))), _of_ranks(values, target))


def told_by_bins(values: FloatArray, target: Target) -> float:
    """The skill of bins of about equally many of some rows: near that of a tree where the column tells a lot, and quicker."""
    step = -(-len(values) // _N_FIRST)
    values, target = values[::step], target.take(slice(None, None, step))
    n = len(values)
    codes = np.empty(n, dtype=np.intp)
    codes[np.argsort(values, kind="stable")] = np.arange(n) * _N_BINS // n
    codes[np.isnan(values)] = _N_BINS
    return _by_halves(codes, _N_BINS + 1, target)


def _of_words(values: FloatArray, target: Target) -> float:
    """Each value by itself; missing ones are one of them."""
    is_missing = np.isnan(values)
    n_levels = int(values[~is_missing].max(initial=-1.0)) + 1
    codes = np.where(is_missing, n_levels, values).astype(np.intp)
    return _by_halves(codes, n_levels + 1, target)


def _by_halves(codes: IntArray, n_codes: int, target: Target) -> float:
    first = halves(len(codes))
    if first.all() or not first.any():
        return 0.0
    found = np.empty(len(codes))
    for learning in (first, ~first):
        found[~learning] = target.by_group(codes, n_codes, learning)[~learning]
    return target.skill(found)


@functools.lru_cache(maxsize=8)
def halves(n: int) -> npt.NDArray[np.bool_]:
    """Which of n rows are of the first half: the same for all columns."""
    return np.random.default_rng(0).random(n) < 0.5


def _of_ranks(values: FloatArray, target: Target) -> float:
    """The squared rank correlation of two columns of numbers: what rises with the target tells all of it."""
    if target.is_classes or np.isnan(values).any() or target.values.std() == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values), target.values)[0, 1] ** 2)


def _of_tree(values: FloatArray, target: Target) -> float:
    X = np.nan_to_num(values, nan=np.nanmin(values) - 1.0)[:, None]
    kind = DecisionTreeClassifier if target.is_classes else DecisionTreeRegressor
    first = halves(len(values))
    found = np.empty(len(values))
    for learning in (first, ~first):
        tree = kind(max_leaf_nodes=_N_LEAVES, random_state=0).fit(X[learning], target.values[learning])
        found[~learning] = tree.predict(X[~learning])
    return target.skill(found)
