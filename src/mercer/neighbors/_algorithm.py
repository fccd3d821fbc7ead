"""Which algorithm searches: what `algorithm="auto"` goes by.

How many leaves of a tree a search looks into depends on the data far more than on their shape: fifteen features may be fifteen
dimensions or a few clusters. So it is tried, on two small samples of the rows; what it grows by from one to the other says what
it would be among all rows. What a leaf costs, and what brute force does, was measured (`benchmarks/neighbors/_auto.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer.neighbors._measures import Measure

# Formulas of the kernels that are read off squared Euclidean lengths.
EUCLIDEAN_FORMULAS = ("euclidean", "squared", "half_squared", "arc")
# With fewer features than these, to measure every pair directly is as fast as to ask products which pairs to measure.
LEAST_PRODUCT_FEATURES = 6

# With fewer rows than these, all that is to be gained is less than what it takes to build a tree.
LEAST_ROWS = 200
# Up to so many features a k-d tree is worth it whatever the data are.
FEW_FEATURES = 4
SAMPLES, N_PROBES, LEAF_POINTS = (1024, 4096), 32, 32


def is_by_products(measure: Measure, n_features: int) -> bool:
    """Whether brute force goes by products."""
    return measure.formula in EUCLIDEAN_FORMULAS and n_features >= LEAST_PRODUCT_FEATURES


def choose_algorithm(measure: Measure, X: FloatArray, k: int) -> str:
    """The algorithm for rows of X, which the measure has mapped already, that will be asked for k neighbours each."""
    n_rows, n_features = X.shape
    trees = [name for name in measure.algorithms if name != "brute"]
    if not trees or n_rows < LEAST_ROWS or k >= n_rows // 4:
        return "brute"
    tree = "kd_tree" if "kd_tree" in trees else trees[0]
    if tree == "kd_tree" and n_features <= FEW_FEATURES:
        return tree
    return tree if is_tree_faster(measure, X, k, tree) else "brute"


def is_tree_faster(measure: Measure, X: FloatArray, k: int, tree: str, *, factor: float = 1.0) -> bool:
    """Whether a tree that looks into `factor` times as many leaves as for k neighbours is faster than brute force."""
    return _tree_cost(factor * expected_leaves(measure, X, k, tree), X.shape[1]) <= _brute_cost(measure, X.shape)


def _tree_cost(n_leaves: float, n_features: int) -> float:
    """Microseconds of a query: a way down, and leaves of some thirty rows with their share of the nodes above them."""
    return 1 + n_leaves * (0.03 + 0.005 * n_features)


def _brute_cost(measure: Measure, shape: tuple[int, int]) -> float:
    """Microseconds of a query among many: choosing, and a product or a measurement a row."""
    n_rows, n_features = shape
    if is_by_products(measure, n_features):
        return 3 + n_rows * (0.0003 + 0.00003 * n_features)
    return 2 + n_rows * (0.0002 + 0.00013 * n_features)


def expected_leaves(measure: Measure, X: FloatArray, k: int, tree: str) -> float:
    """How many leaves of a tree a search for k neighbours among all rows of X is expected to look into."""
    sizes = [size for size in SAMPLES if size < len(X)]
    if len(sizes) < len(SAMPLES):  # what can be tried itself need not be guessed
        return _leaves_of_search(measure, X, k, tree)
    few, many = (max(1.0, _leaves_of_search(measure, X[:: len(X) // size][:size], k, tree)) for size in sizes)
    growth = np.log(many / few) / np.log(sizes[1] / sizes[0])
    return float(many * (len(X) / sizes[1]) ** min(growth, 1.0))


def _leaves_of_search(measure: Measure, rows: FloatArray, k: int, tree: str) -> float:
    """How many leaves searches for neighbours of some of the rows look into, on average."""
    is_single = rows.dtype == np.float32
    if tree == "kd_tree":
        native: Any = (kernels.KdTree32 if is_single else kernels.KdTree64)(rows, LEAF_POINTS, False, 1)
    else:
        native = (kernels.BallTree32 if is_single else kernels.BallTree64)(rows, LEAF_POINTS, measure.kernel, 1)
    probes = rows[:: max(1, len(rows) // N_PROBES)]
    asked = (probes, None) if is_single else (None, probes)
    k = min(k + 1, len(rows))  # a row finds itself
    n_leaves, found = np.empty(len(probes), dtype=np.int64), np.empty((len(probes), k), dtype=np.int64)
    most = 2**40
    native.nearest_in_leaves(measure.kernel, *asked, False, most, n_leaves, np.empty((len(probes), k)), found, 1)
    return float(n_leaves.mean())
