"""No call from Python can make a kernel crash: whatever the arguments, it works or raises TypeError, ValueError or MemoryError.

The kernels and the types of their arguments are read from the compiled module, so that a new one is tested from its first day.
All dimensions are `SIZE`, which suits almost every kernel; SHAPES says where one needs another.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import resource
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._native import kernels
from tests.common.children import run_in_child, run_in_shared_child

SIZE = 6
GUARD = 64  # elements before and after each output that must stay as they are

# Where the shapes of a valid call are not all SIZE: the argument's number and its shape.
SHAPES = {
    "centred_gram": {4: (2 * SIZE, 2 * SIZE), 5: (2 * SIZE,)},
    "residual_gradient": {3: (2 * SIZE,)},
    "linear_values": {2: (SIZE + 1,)},
    "linear_loss": {5: (SIZE + 1,), 6: (SIZE + 1,), 7: (SIZE + 1, SIZE + 1)},
    "huber_loss": {6: (SIZE + 1,), 7: (SIZE + 2,), 8: (SIZE + 2, SIZE + 2)},
    "weighted_sums": {4: (SIZE + 1,), 5: (SIZE + 1, SIZE + 1)},
    "rough_centred_gram": {4: (2 * SIZE, 2 * SIZE), 5: (2 * SIZE,)},
    "left_out_errors": {7: (SIZE, SIZE * SIZE), 9: (SIZE * SIZE,), 10: (SIZE * SIZE, SIZE)},
    "stochastic_descent": {4: (SIZE, 2), 11: (SIZE, 10)},
    "stochastic_bound": {4: (SIZE, 2), 8: (SIZE, 10), 9: (2 * SIZE, SIZE)},
    "slope_sums": {3: (SIZE + 1,)},
    "interior_system": {0: (3, 2 * SIZE), 1: (3, 2 * SIZE)},
    "interior_predict": {0: (3, 2 * SIZE), 1: (3, 2 * SIZE), 4: (6,)},
    "interior_correct": {0: (3, 2 * SIZE), 1: (3, 2 * SIZE)},
    "interior_step": {0: (3, 2 * SIZE), 1: (3, 2 * SIZE), 6: (3, 2 * SIZE), 7: (2,)},
    "interior_move": {0: (3, SIZE), 3: (3, SIZE)},
    "interior_totals": {0: (3, 2 * SIZE), 1: (2 * SIZE,), 3: (5,)},
    "dual_epoch": {1: (SIZE, 5), 10: (SIZE + 1,), 11: (2,)},
    "curvature_product": {2: (SIZE + 1,), 3: (SIZE + 1,)},
    "multiclass_epoch": {11: (SIZE + 1, 8), 12: (2,)},
    "kmeans_plusplus": {4: (SIZE + 1,)},
    "gaussian_expectations": {7: (SIZE * SIZE, SIZE)},
    "gaussian_moments": {5: (SIZE * SIZE, SIZE)},
    "sparse_column_quantiles": {1: (SIZE + 1,)},
    "softmax_loss": {5: (SIZE, SIZE + 1), 6: (SIZE, SIZE + 1)},
    "SparseColumns": {2: (SIZE + 1,)},
    "SparseDesign32": {2: (SIZE + 1,)},
    "SparseDesign64": {2: (SIZE + 1,)},
    "ElasticNetDescent": {1: (1, SIZE)},
    "PositiveDescent": {1: (1, SIZE)},
    "LpDescent": {1: (1, SIZE)},
    "gram_descent": {1: (SIZE, 1), 3: (SIZE, 1), 4: (SIZE, 1)},
    "gram_descent_lp": {1: (SIZE, 1), 3: (SIZE, 1), 4: (SIZE, 1)},
    "find_bin_edges": {5: (SIZE, 254)},
    "BinnedRows": {1: (SIZE, 254)},
    "CsrRows32": {2: (SIZE + 1,)},
    "CsrRows64": {2: (SIZE + 1,)},
    "SparseRows": {2: (SIZE + 1,)},
    **{
        f"{kind}.{method}": {1: (SIZE, 1)}
        for kind in ("ElasticNetDescent", "PositiveDescent", "LpDescent")
        for method in ("set_coef", "coef", "moments")
    },
    "map_to_directions": {2: (SIZE, SIZE + 1)},
    "map_to_sphere": {0: (SIZE, 2), 1: (SIZE, 3)},
    "replace_rows": {1: (SIZE, 32), 7: (4, SIZE)},
    "surrogate_products": {3: (2 * SIZE + 1, 2 * SIZE + 1)},
}


def _tree_bytes():
    """Two trees of two features, which split on a number and on the set of categories {0, 3}, and their nodes as bytes."""
    node = np.dtype([("threshold", "f8"), ("tag", "u4"), ("right", "u4")])
    nodes = np.zeros(6, dtype=node)
    nodes[0], nodes[1:3]["threshold"] = (0.5, 1, 2), (-1.0, 1.0)
    nodes[3], nodes[4:]["threshold"] = (0.0, 1 << 29, 2), (-2.0, 2.0)
    return nodes.view(np.uint8).reshape(6, 16)


def _trees():
    counts = np.array([3, 3])
    return [_tree_bytes(), np.array([1, 9], dtype=np.uint32), counts, np.array([0, 2]), SIZE]


def _growth(*targets, has_directions):
    """The arguments of a kernel that grows trees, but for the columns."""
    draws = [np.linspace(0.5, 2, SIZE), np.arange(3, dtype=np.uint64), SIZE, 2]
    directions = [np.ones(SIZE, dtype=np.int8)] if has_directions else []
    return [*targets, *draws, *directions, kernels.GrowthLimits(3, 2, 1, 0.0, 0.0, 0), 2]


def _columns(name, number):
    """The kind of columns that an overload takes."""
    arguments = _signatures(getattr(kernels, name))[number]
    kind = next(argument.rows_class for argument in arguments if (argument.rows_class or "").endswith("Columns"))
    X = np.random.RandomState(0).randint(4, size=(SIZE, SIZE)).astype(float)
    arguments = {"WideColumns": (X, 2, 1), "PlainColumns": (X, None, 2, 1), "RankedColumns": (X, None, 1)}[kind]
    return getattr(kernels, kind)(*arguments)


def _tree_rows(number):
    """Rows as an overload of a kernel of trees takes them: in float64, in float32, or sparse."""
    values = np.random.RandomState(0).randint(4, size=(SIZE, SIZE)).astype(np.float64)
    if number < 2:
        return values.astype((np.float64, np.float32)[number])
    sparse = sp.csr_array(values)
    return kernels.SparseRows(sparse.data, sparse.indices, sparse.indptr, SIZE, None)


def _category_flags(number):
    return np.array([0, number < 2, 0, 0, 0, number < 2], dtype=np.uint8)  # sparse rows hold no categories


def _predictions(number, *rest):
    return [kernels.Trees(*_trees()), 0, 2, _tree_rows(number), *rest, 2]


def _replacement(dtype):
    """Rows whose first features are replaced by those of other rows: groups, columns, donors and orders."""
    X, group = np.ones((SIZE, SIZE), dtype=dtype), np.array([0, 1, 0, -1, -1, -1], dtype=np.int32)
    return [X, group, np.arange(SIZE, dtype=np.int32), X.copy(), np.zeros((SIZE, SIZE), dtype=np.uint32)]


def _tally(shape, *weights):
    """The arguments of a tally: in int64, or in float64 with weights."""
    labels, dtype = np.arange(SIZE) - 1, np.float64 if weights else np.int64
    return [labels, labels[::-1].copy(), *weights, -1, _guarded(shape, dtype), 2]


def _condensing(number):
    """Rows, dense or sparse, and two classes, of which every row is visited."""
    dtype, values = (np.float64, np.float32)[number // 2], np.linspace(0, 1, SIZE)
    identity = (values.astype(dtype), np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int32), SIZE)
    X = identity if number % 2 else (np.diag(values).astype(dtype),)
    return [*X, 2.0, np.arange(SIZE) % 2, 2, 1, np.arange(2), np.arange(SIZE), True, _guarded((SIZE,), np.int64), 2]


def _lists(number, *rest):
    """Lists of neighbours of one length or of any, their distances, and what is made of them."""
    rows, distances = np.tile(np.arange(3), (SIZE, 1)), np.tile(np.linspace(1, 2, 3), (SIZE, 1))
    lists = (rows, distances) if number == 0 else (np.arange(0, 3 * SIZE + 1, 3), rows.ravel(), distances.ravel())
    return [*lists, 1, 1.0, *rest, 2]


def _donors(number):
    """Receivers whose first cell is to be filled, and the rows that may."""
    dtype = (np.float64, np.float32)[number]
    X = np.random.RandomState(0).rand(SIZE, SIZE).astype(dtype)
    blocks = (kernels.DonorBlocks64, kernels.DonorBlocks32)[number](X, 1)
    cells = (np.arange(SIZE + 1), np.zeros(SIZE, dtype=np.int64))
    return [blocks, X, *cells, _guarded((SIZE, 2), dtype), _guarded((SIZE, 2), np.int64), 2]


def _kd_tree(kind, number):
    """A tree from rows, or from the arrays of one."""
    X = np.random.RandomState(0).rand(SIZE, SIZE).astype(np.float64 if kind is kernels.KdTree64 else np.float32)
    if number == 0:
        return [X, 8, True, 2]
    tree = kind(X, 8, True, 1)
    return [8, *(np.array(array) for array in (tree.rows, tree.points, tree.boxes)), SIZE]


def _given(number, *rest):
    """Distances, dense or as a graph that has one of each query, and what is asked of them."""
    dtype = (np.float64, np.float32)[number // 2]
    if number % 2 == 0:
        return [np.ones((SIZE, SIZE), dtype=dtype), 0, *rest]
    graph = (np.ones(SIZE, dtype=dtype), np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int32), SIZE)
    return [*graph, 0, *rest]


def _results(k=2):
    return [_guarded((SIZE, k), np.float64), _guarded((SIZE, k), np.int64)]


def _sparse_search(*rest):
    return [kernels.SearchMetric("euclidean", 2.0, None), _made("CsrRows64"), _made("CsrRows64"), *rest]


def _made(kind):
    """An object of a class of the kernels."""
    return _valid("", 0, Argument(f"arg0: mercer._native._kernels_native.{kind}"))


def _asked(kind, *rest):
    """A method of points that can be searched: the points, the metric, queries in double precision, what is asked of them."""
    return [_made(kind), kernels.SearchMetric("euclidean", 2.0, None), None, np.random.RandomState(1).rand(SIZE, SIZE), *rest]


def _cf_tree(number):
    """An empty tree of clustering features, or one from the arrays of another."""
    tree = kernels.CfTree(SIZE, 0.1, 2)
    tree.insert(np.random.RandomState(0).rand(SIZE, SIZE))
    return [SIZE, 0.1, 2, *(() if number == 0 else (np.array(array) for array in tree.state()))]


def _ball_tree(kind, number):
    """A tree from rows, or from the arrays of one."""
    X = np.random.RandomState(0).rand(SIZE, SIZE).astype(np.float64 if kind is kernels.BallTree64 else np.float32)
    metric = kernels.SearchMetric("manhattan", 1.0, None)
    if number == 0:
        return [X, 8, metric, 2]
    tree = kind(X, 8, metric, 1)
    return [8, *(np.array(array) for array in (tree.rows, tree.points, tree.centres, tree.radii)), SIZE]


def _tree_queries(number):
    """One of the four trees, a metric, and queries."""
    kind = (kernels.KdTree64, kernels.KdTree32, kernels.BallTree64, kernels.BallTree32)[number]
    arguments = _kd_tree(kind, 0) if number < 2 else _ball_tree(kind, 0)
    return [kind(*arguments), kernels.SearchMetric("manhattan", 1.0, None), np.zeros((SIZE, SIZE))]


def _density(number, *rest):
    """A tree, a metric, and what is asked of them."""
    kind, dtype = ((kernels.KdTree64, np.float64), (kernels.KdTree32, np.float32))[number]
    tree = kind(np.random.RandomState(0).rand(SIZE, SIZE).astype(dtype), 8, True, 1)
    return [tree, kernels.SearchMetric("euclidean", 2.0, None), *rest, 2]


def _path():
    """The edges of a spanning tree."""
    return [np.arange(SIZE), np.arange(1, SIZE + 1), np.linspace(1, 2, SIZE)]


def _rows_of(dtype, n=SIZE):
    return _guarded((n,), dtype)


def _merges(n=SIZE - 1):
    """Room for merges."""
    return [_guarded((n, 2), np.int64), _rows_of(np.float64, n), _rows_of(np.int64, n)]


def _half_matrix(n=SIZE):
    """Dissimilarities of all pairs."""
    values = _guarded((n * (n - 1) // 2,), np.float64)
    values[...] = np.random.RandomState(0).uniform(0.1, 1, size=len(values))
    return values


def _ring():
    """The neighbours of each of some points on a ring, in rows."""
    columns = np.array([sorted([(i - 1) % SIZE, (i + 1) % SIZE]) for i in range(SIZE)], dtype=np.int32).ravel()
    return columns, np.arange(0, 2 * SIZE + 1, 2, dtype=np.int32)


def _near(number):
    """Lists of neighbours, or a table of them."""
    marks = np.ones(SIZE, dtype=np.uint8)
    lists = [np.arange(SIZE + 1), np.arange(SIZE)] if number == 0 else [np.eye(SIZE, dtype=np.uint8)]
    return [*lists, marks, _rows_of(np.int64)]


def _floats(number, *shape):
    """Numbers above zero in the precision of an overload."""
    return np.random.RandomState(number).uniform(0.1, 1, size=shape).astype((np.float64, np.float32)[number])


def _pairs(number, *first):
    """Two matrices of rows, and room for a value of each pair."""
    x, y = _floats(number, SIZE, 3), _floats(number, SIZE - 1, 3)
    return [*first, x, y, _guarded((SIZE, SIZE - 1), x.dtype), 2]


def _sparse_pairs(number, *first):
    values = _floats(number, SIZE)
    rows = (kernels.CsrRows64, kernels.CsrRows32)[number](
        values, np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int32), SIZE
    )
    return [*first, rows, rows, _guarded((SIZE, SIZE), values.dtype), 2]


def _kernel_rows(is_sparse, number):
    """The arguments of a kernel of rows that stay, by its precision."""
    if is_sparse:
        return ["rbf", 0.5, 0.0, 1.0, _made(("CsrRows64", "CsrRows32")[number])]
    return ["rbf", 0.5, 0.0, 1.0, _floats(number, SIZE, SIZE), 2]


def _asked_lines(kind, method):
    """Lines of rows that stay, or of others."""
    number = 0 if kind.endswith("64") else 1
    kernel = getattr(kernels, kind)(*_kernel_rows(kind.startswith("Sparse"), number))
    out = _guarded((SIZE, SIZE), (np.float64, np.float32)[number])
    if method == "rows":
        return [kernel, np.arange(SIZE)[::-1].copy(), out, 2]
    if method == "times":
        return [kernel, _floats(number, SIZE, SIZE), _floats(number, SIZE, SIZE), out, 2]
    others = _kernel_rows(True, number)[-1] if kind.startswith("Sparse") else _floats(number, SIZE, SIZE)
    return [kernel, others, out, 2]


def _linear_map(*rest):
    """Rows of two classes, their images by a map of two components, and room for the gradient."""
    x, linear_map = _floats(0, SIZE, 3), _floats(0, 2, 3)
    return [x, x @ linear_map.T, linear_map, np.array([0, 2, SIZE]), *rest, _guarded((2, 3), np.float64), 2]


def _windows(*rest):
    """Rows by columns, a line of targets each, weights, and lists of two rows for each query."""
    lists = (np.arange(0, 2 * SIZE + 1, 2), np.arange(2 * SIZE) % SIZE, np.linspace(0, 1, 2 * SIZE))
    return [np.asfortranarray(_floats(0, SIZE, 3)), _floats(0, SIZE, 2), np.ones(SIZE), *lists, *rest]


def _chain(*rest):
    """Two sequences, as logarithms of emissions, and a chain of three states."""
    return [-_floats(0, SIZE, 3), np.array([0, 2, SIZE]), np.full(3, 1 / 3), np.full((3, 3), 1 / 3), *rest]


def _network(name, number):
    """A layer of two units that reads rows, dense or sparse, in double or single precision, and what a kernel does with it."""
    width, dtype = (("64", np.float64), ("32", np.float32))[number % 2]
    network = kernels.Network(SIZE, [([0], 2, "tanh", 0.0, False, -1), ([1], 1, "identity", 0.0, False, -1)])
    n = network.n_parameters
    rows = kernels.CsrRows64 if width == "64" else kernels.CsrRows32
    dense = kernels.DenseRows64 if width == "64" else kernels.DenseRows32
    values = _floats(number % 2, SIZE, SIZE)
    sparse = (values[0], np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int32), SIZE)
    x = rows(*sparse) if number > 1 else dense(values, None)
    if name == "network_outputs":
        coefs, intercepts = [np.ones((SIZE, 2), dtype), np.ones((2, 1), dtype)], [np.ones(2, dtype), np.ones(1, dtype)]
        return [network, x, coefs, intercepts, "logistic", _guarded((SIZE, 1), dtype), 2]
    targets = [None, np.ones((SIZE, 1), dtype), np.ones(SIZE, dtype)]
    objective, noise = kernels.NetworkObjective("squared", 0.0, 1.0, False, 0.0), kernels.NetworkNoise("none", 0.0)
    order, moved = np.arange(SIZE)[::-1].copy(), [_guarded((n,), dtype) for _ in range(3)]
    if name == "network_gradient":
        return [network, x, *targets, objective, noise, order, 2, 0, moved[0], np.ones(n, dtype), moved[1], 2]
    step = kernels.NetworkStep("adam", 0.9, 0.99, 1e-8, np.inf)
    return [network, x, *targets, objective, noise, step, order, 2, np.ones(3), 0, 0, *moved, np.ones(n, dtype), 2]


def _machine(number):
    """Rows, dense or sparse, of a restricted Boltzmann machine with two hidden units and three chains, and a batch of them."""
    dtype = (np.float64, np.float32)[number // 2]
    x = _made(("DenseRows64", "CsrRows64", "DenseRows32", "CsrRows32")[number])
    learnt = [_guarded(shape, dtype) for shape in ((SIZE, 2), (SIZE,), (2,), (3, 2))]
    return [x, 0, SIZE, 2, _floats(0, 3, 3 * (SIZE + 2)), 0.1, *learnt, 2]


def _tree_games(number, *background):
    """Two trees with covers and values of their nodes, rows, and room for what each feature gives."""
    dtype = (np.float64, np.float32)[number]
    nodes = [np.arange(2), np.array([6.0, 2, 4, 6, 3, 3]), _floats(0, 6)]
    others = [_floats(number, SIZE, SIZE), None] if background else []
    return [
        kernels.Trees(*_trees()),
        *nodes,
        _tree_rows(number).astype(dtype),
        *others,
        False,
        _guarded((SIZE, SIZE), np.float64),
        2,
    ]


def _coalitions(number):
    x, places = _floats(number, SIZE, SIZE), [np.zeros(SIZE, dtype=np.int32) for _ in range(3)]
    return [x, x.copy(), np.eye(SIZE, dtype=np.uint8), *places, _guarded((SIZE * SIZE, SIZE), x.dtype), 2]


def _decisions():
    """A chain of states to an end, of which the first has two ways on."""
    starts, next_states = np.array([0, 2, 3, 4, 5, 6, 6]), np.array([1, 2, 2, 3, 4, 5], dtype=np.int32)
    actions = np.array([0, 1, 0, 0, 0, 0], dtype=np.int32)
    return [starts, actions, np.arange(7), next_states, np.ones(SIZE), NUMBERS, None, None, np.eye(SIZE)[0], 0, 2]


def _planned(*rest):
    """A process of decisions, and what is asked of it."""
    return [kernels.DecisionModel(*_decisions()), *rest]


def _chain_of_policy(*rest):
    return [kernels.PolicyChain(*_planned(np.ones(SIZE), 1)), *rest]


def _lessons(*rest):
    """Two episodes over states in a table."""
    states, last = np.arange(SIZE, dtype=np.int32)[:, None], np.zeros((2, 1), dtype=np.int32)
    made = [states, last, NUMBERS, np.array([0, 2, SIZE]), np.ones(2, dtype=np.uint8), None, SIZE]
    return [kernels.Lessons(*made), *rest] if rest else made


def _learner(*rest, method=2, has_begun=False):
    """A learner by a table, which plans."""
    made = [_decisions()[0], method, 0, 0.9, 0.0, False, True, True, 0.0, 2, 0.0]
    if not rest:
        return made
    learner = kernels.TabularLearner(*made)
    if has_begun:
        learner.begin(0, 0.1, 0.1, 1.0, 0, 0)
    return [learner, *rest]


def _tiling(*rest):
    made = [np.zeros(SIZE), np.ones(SIZE), np.full(SIZE, 2), 2]
    return [kernels.Tiling(*made), *rest] if rest else made


def _tiled(*rest, method=2, has_begun=False):
    """A learner by tiles."""
    learner = kernels.TiledLearner(*_tiling(2, method, 0, 0.9, 0.0, False, 0.0))
    if has_begun:
        learner.begin(np.zeros(SIZE), 0.1, 0.1, 1.0, 0, 0)
    return [learner, *rest]


NUMBERS, PLACES = np.linspace(0, 1, SIZE), np.tile(np.arange(3), (2, 1))
# Valid arguments where zeros and the like do not do: by the number of the overload.
READY = {
    "sparse_column_moments": lambda number: [
        *(NUMBERS, np.arange(SIZE, dtype=np.int32), np.arange(SIZE + 1, dtype=np.int32), True, NUMBERS, SIZE),
        *(_guarded((SIZE,), np.float64) for _ in range(3)),
    ],
    "Trees": lambda number: _trees(),
    "RankedColumns": lambda number: [_tree_rows(number), _category_flags(number), 2],
    "PlainColumns": lambda number: [_tree_rows(number), _category_flags(number), 2, 2],
    "WideColumns": lambda number: [_tree_rows(number), 2, 2],
    "wide_columns_if_faster": lambda number: [_tree_rows(number), 2, 2, 2],
    "GrowthLimits": lambda number: [3, 2, 1, 0.0, 0.0, 0],
    "add_leaf_values": lambda number: _predictions(number, _guarded((SIZE, 2), np.float64)),
    "add_node_values": lambda number: _predictions(
        number, np.random.RandomState(0).rand(6, 3), np.ones(2), _guarded((SIZE, 3), np.float64)
    ),
    "add_left_out_values": lambda number: _predictions(
        number,
        np.random.RandomState(0).rand(6, 3),
        np.ones(2),
        np.random.RandomState(0).randint(2, size=(2, SIZE)).astype(np.uint8),
        _guarded((SIZE, 3), np.float64),
        _guarded((SIZE,), np.float64),
    ),
    "bootstrap_marks": lambda number: [
        np.arange(3, dtype=np.uint64),
        SIZE,
        np.arange(1.0, SIZE + 1),
        _guarded((3, SIZE), np.uint8),
        2,
    ],
    "leaf_numbers": lambda number: _predictions(number, _guarded((SIZE, 2), np.int64)),
    "replaced_sums": lambda number: [
        *_predictions(number)[:3],
        np.random.RandomState(0).rand(6, 3),
        np.ones(2),
        *_replacement([np.float64, np.float32][number]),
        2,
        _guarded((2 * SIZE, 3 * SIZE), np.float64),
        2,
    ],
    "weighted_walk": lambda number: [
        *_predictions(number)[:3],
        np.random.RandomState(0).rand(6, 3),
        np.ones(2),
        np.ones(6),
        np.full(SIZE, -1, dtype=np.int32),
        np.ones((2, SIZE), dtype=[np.float64, np.float32][number]),
        _guarded((3, SIZE), np.float64),
        2,
    ],
    "distances": lambda number: [
        "manhattan",
        *(np.ones((SIZE, SIZE), dtype=[np.float64, np.float32][number]) for _ in range(2)),
        _guarded((SIZE, SIZE), [np.float64, np.float32][number]),
        2,
    ],
    "bootstrap_counts": lambda number: [3, SIZE, np.arange(1.0, SIZE + 1), _guarded((SIZE,), np.float64)],
    "grow_pair": lambda number: [
        "gini",
        _columns("grow_pair", number),
        *_growth((NUMBERS > 0.5).astype(float), 0.0, True, has_directions=True),
    ],
    "grow_classes": lambda number: [
        "entropy",
        _columns("grow_classes", number),
        *_growth(np.arange(2 * SIZE, dtype=np.int32).reshape(SIZE, 2) % 3, 3, has_directions=False),
    ],
    "grow_means": lambda number: [
        "poisson",
        _columns("grow_means", number),
        *_growth(np.stack([NUMBERS, NUMBERS[::-1]], axis=1), np.zeros(2), has_directions=False),
    ],
    "grow_absolute": lambda number: [
        _columns("grow_absolute", number),
        *_growth(NUMBERS[:, None].copy(), has_directions=True),
    ],
    "grow_isolation": lambda number: [
        _tree_rows(number),
        PLACES,
        PLACES,
        np.arange(2, dtype=np.uint64),
        3,
        2,
    ],
    "log_loss": lambda number: [
        np.random.RandomState(0).dirichlet(np.ones(3), size=SIZE).astype((np.float64, np.float32)[number]),
        np.arange(SIZE) % 3 - 1,
        -1,
        np.arange(3, dtype=np.int32),
        np.ones(SIZE),
        2,
    ],
    "count_labels": lambda number: [np.arange(SIZE) - 1, -1, _guarded((SIZE,), np.int64), 2],
    "tally_labels": lambda number: _tally((3, SIZE)),
    "tally_pairs": lambda number: _tally((SIZE, SIZE)),
    "weigh_labels": lambda number: _tally((3, SIZE), np.ones(SIZE)),
    "weigh_pairs": lambda number: _tally((SIZE, SIZE), np.ones(SIZE)),
    "draw_samples": lambda number: [
        np.arange(2, dtype=np.uint64),
        SIZE,
        SIZE,
        NUMBERS + 1,
        True,
        _guarded((2, SIZE), np.int64),
        _guarded((2, 3), np.int64),
        2,
    ],
    "condense": _condensing,
    "vote_shares": lambda number: _lists(number, np.arange(SIZE, dtype=np.int32) % 2, _guarded((SIZE, 2), np.float64)),
    "elect": lambda number: _lists(number, np.arange(SIZE, dtype=np.int32) % 2, 2, True, _guarded((SIZE,), np.int64)),
    "average_neighbors": lambda number: _lists(number, np.ones((SIZE, 2)), _guarded((SIZE, 2), np.float64)),
    "nearest_donors": _donors,
    "pairwise_products": lambda number: _pairs(number, "polynomial", 0.5, 1.0, 3.0),
    "pairwise_squared": lambda number: _pairs(number, "exponential", -1.0),
    "pairwise_features": lambda number: _pairs(number, "chi2", -1.0),
    "sparse_manhattan": lambda number: _sparse_pairs(number, -1.0),
    "sparse_squared": lambda number: _sparse_pairs(number, "root", 1.0),
    "fourier_features": lambda number: [
        *(_floats(number, SIZE, 3), _floats(number, 3, SIZE), _floats(number, SIZE), 0.5),
        *(_guarded((SIZE, SIZE), (np.float64, np.float32)[number]), 2),
    ],
    "subsequence_kernels": lambda number: [
        *(2, 0.5, *(np.arange(SIZE, dtype=np.int32) % 2, np.arange(SIZE + 1)) * 2, False),
        *(_guarded((SIZE, SIZE), np.float64), 2),
    ],
    "subsequence_diagonal": lambda number: [
        *(2, 0.5, np.arange(SIZE, dtype=np.int32) % 2, np.arange(SIZE + 1), _guarded((SIZE,), np.float64), 2),
    ],
    "neighbourhood_components": lambda number: _linear_map(),
    "large_margins": lambda number: _linear_map(np.array([[1], [0], [3], [4], [5], [2]]), 0.5, 1.0),
    "window_fits": lambda number: [
        *("tricube", 1.5, True, *_windows(_floats(0, SIZE, 3))),
        *(_guarded((SIZE, 2), np.float64), _guarded((SIZE,), np.uint8), 2),
    ],
    "left_out_fits": lambda number: [
        *("gaussian", np.array([2.0, 1.0, 0.5]), True, *_windows(np.arange(SIZE)[::-1].copy(), NUMBERS, 0)),
        *(_guarded((SIZE, 6), np.float64), 2),
    ],
    "score_sequences": lambda number: _chain(True, _guarded((2,), np.float64), 2),
    "expect_sequences": lambda number: _chain(
        True,
        np.ones(2),
        *(_guarded(shape, np.float64) for shape in ((2,), (SIZE, 3), (3,), (3, 3))),
        2,
    ),
    "most_likely_paths": lambda number: _chain(_guarded((SIZE,), np.int64), _guarded((2,), np.float64), 2),
    **{
        name: lambda number, name=name: _network(name, number)
        for name in ("train_network_epoch", "network_gradient", "network_outputs")
    },
    "train_boltzmann": _machine,
    "SearchMetric": lambda number: ["minkowski", 3.0, np.ones(SIZE)],
    "dbscan": lambda number: _density(number, 0.5, 2.0, np.ones(SIZE), _rows_of(np.int64), _rows_of(np.uint8)),
    "optics": lambda number: _density(number, 2, 5.0, *map(_rows_of, (np.int64, np.float64, np.float64, np.int64))),
    "core_distances": lambda number: _density(number, 2, _rows_of(np.float64)),
    "spanning_tree": lambda number: _density(
        number, 2, 1.0, *(_rows_of(dtype, SIZE - 1) for dtype in (np.int64, np.int64, np.float64))
    ),
    "product_spanning_tree": lambda number: [
        *(kernels.ProductPoints64(np.ones((SIZE, SIZE)), 1), 2, 1.0),
        *(*(_rows_of(dtype, SIZE - 1) for dtype in (np.int64, np.int64, np.float64)), 2),
    ],
    "label_reached": _near,
    "condense_rows": lambda number: [_floats(0, 2, SIZE), 3, SIZE, _half_matrix(), 2],
    "merge_matrix": lambda number: ["average", _half_matrix(), SIZE, *_merges(), 2],
    "merge_by_ward": lambda number: [_floats(0, SIZE, 3), *_merges(), 2],
    "merge_graph": lambda number: ["complete", _floats(0, 2 * SIZE), *_ring(), *_merges()],
    "merge_graph_by_ward": lambda number: [_floats(0, SIZE, 3), *_ring(), *_merges(), np.zeros(2 * SIZE)],
    "split_matrix": lambda number: [_half_matrix(), SIZE, *_merges(), 2],
    "label_leaves": lambda number: [np.array([[0, 1], [2, 3]]), _rows_of(np.int64, 5)],
    "measure_clusters": lambda number: [
        *("sum", "manhattan", _floats(0, SIZE, 3), 1, np.array([2, SIZE]), _guarded((3, 2), np.float64), 2)
    ],
    "gather_clusters": lambda number: ["least", _floats(0, 3, SIZE), np.arange(SIZE) % 2, _guarded((3, 2), np.float64), 2],
    "single_linkage": lambda number: [*_path(), _guarded((SIZE, 2), np.int64), _rows_of(np.float64), _rows_of(np.int64)],
    "condensed_labels": lambda number: [
        *(*_path(), 2, 10, True, True, 0.1),
        *(_rows_of(dtype, SIZE + 1) for dtype in (np.int64, np.float64)),
    ],
    "cut_tree": lambda number: [*_path(), 1.5, 2, _rows_of(np.int64, SIZE + 1)],
    "xi_clusters": lambda number: [NUMBERS, np.arange(SIZE) - 1, 0.05, 2, 2, True, _guarded((SIZE, 2), np.int64)],
    "CfTree": lambda number: _cf_tree(number),
    "KdTree64": lambda number: _kd_tree(kernels.KdTree64, number),
    "KdTree32": lambda number: _kd_tree(kernels.KdTree32, number),
    "LpDescent.set_penalty": lambda number: [_made("LpDescent"), 1.0, 0.5],
    "CountGrower.grow": lambda number: [_made("CountGrower"), NUMBERS, None, 2, 2],
    "nearest_given": lambda number: _given(number, *_results(), 2),
    "given_within": lambda number: _given(number, 1.0, True, 2),
    "sparse_nearest": lambda number: _sparse_search(0, *_results(), 2),
    "sparse_within": lambda number: _sparse_search(0, 1.0, True, 2),
    "sparse_count_within": lambda number: _sparse_search(1.0, _guarded((SIZE,), np.int64), 2),
    "BallTree64": lambda number: _ball_tree(kernels.BallTree64, number),
    "BallTree32": lambda number: _ball_tree(kernels.BallTree32, number),
    "LshTables64": lambda number: [np.ones((SIZE, SIZE)), np.ones((SIZE, SIZE)), np.ones(SIZE), 2, 2],
    "LshTables32": lambda number: [np.ones((SIZE, SIZE), np.float32), np.ones((SIZE, SIZE)), np.ones(SIZE), 2, 2],
    "kernel_densities": lambda number: [
        *(*_tree_queries(number), False, "gaussian", 1.0, 0.0, 0.0, np.ones(SIZE), _guarded((SIZE,), np.float64), 2),
    ],
    "count_pairs": lambda number: [*_tree_queries(number), np.linspace(0, 1, SIZE), _guarded((SIZE,), np.int64), 2],
    "add_path_dependent": _tree_games,
    "add_interventional": lambda number: _tree_games(number, "background"),
    "coalition_rows": _coalitions,
    "means_of_runs": lambda number: [_floats(number, SIZE * SIZE, 2), NUMBERS, _guarded((SIZE, 2), np.float64), 2],
    "exact_shapley_values": lambda number: [_floats(0, SIZE, 8), 3, 1, _guarded((SIZE, 3), np.float64), 2],
    "exact_shapley_interactions": lambda number: [_floats(0, SIZE, 8), 3, 1, _guarded((SIZE, 9), np.float64), 2],
    "DecisionModel": lambda number: _decisions(),
    "DecisionModel.pair_values": lambda number: _planned(0.9, NUMBERS, _rows_of(np.float64), 2),
    "DecisionModel.backup": lambda number: _planned(0.9, NUMBERS, _rows_of(np.float64), _rows_of(np.int64), 2),
    "DecisionModel.backup_in_place": lambda number: _planned(0.9, NUMBERS, _rows_of(np.float64), True, 2),
    "DecisionModel.sweep_by_priority": lambda number: _planned(0.9, 0.1, 20, _rows_of(np.float64)),
    "PolicyChain": lambda number: _planned((np.ones(SIZE), np.array([0, 2, 3, 4, 5, -1]))[number], 2),
    "PolicyChain.backup": lambda number: _chain_of_policy(0.9, NUMBERS, _rows_of(np.float64), 2),
    "PolicyChain.solve": lambda number: _chain_of_policy(0.9, _rows_of(np.float64), 1e-6, 20, 2),
    "sample_episodes": lambda number: _planned(np.ones(SIZE), 2, 10, 0, 0, 2),
    "step_model": lambda number: _planned(0, 1, 0, 0),
    "draw_first_state": lambda number: _planned(0, 0),
    "Lessons": lambda number: _lessons(),
    "Lessons.sum_returns": lambda number: _lessons(0.9, True, True, True, *(_rows_of(np.float64) for _ in range(3))),
    "Lessons.step_to_returns": lambda number: _lessons(0.9, True, 0.1, _rows_of(np.float64)),
    "Lessons.step_to_differences": lambda number: _lessons(
        *(0.9, 0.5, False, 1, 0.1, 0.0), *(_rows_of(np.float64) for _ in range(2))
    ),
    "Lessons.sum_equations": lambda number: _lessons(0.9, 0.5, _guarded((SIZE, SIZE), np.float64), _rows_of(np.float64)),
    "TabularLearner": lambda number: _learner(),
    "TabularLearner.set_weights": lambda number: _learner(NUMBERS),
    "TabularLearner.set_second": lambda number: _learner(NUMBERS, method=3),
    "TabularLearner.set_visits": lambda number: _learner(NUMBERS),
    "TabularLearner.set_memory": lambda number: _learner(
        np.arange(SIZE), NUMBERS, np.zeros(SIZE, dtype=np.int64), np.zeros(SIZE, dtype=np.uint8)
    ),
    "TabularLearner.begin": lambda number: _learner(0, 0.1, 0.1, 1.0, 0, 0),
    "TabularLearner.observe": lambda number: _learner(1.0, 1, False, False, has_begun=True),
    "TabularLearner.run": lambda number: _learner(
        *(kernels.DecisionModel(*_decisions()), NUMBERS, NUMBERS, NUMBERS, 10, False, 0, 0),
        *(_rows_of(dtype) for dtype in (np.float64, np.int64, np.float64)),
    ),
    "Tiling": lambda number: _tiling(),
    "Tiling.encode": lambda number: _tiling(_floats(0, SIZE, SIZE), _guarded((SIZE, 2), np.int32)),
    "TiledLearner": lambda number: _tiling(2, 2, 0, 0.9, 0.0, False, 0.0),
    "TiledLearner.set_weights": lambda number: _tiled(np.zeros(2916)),
    "TiledLearner.set_second": lambda number: _tiled(np.zeros(2916), method=3),
    "TiledLearner.begin": lambda number: _tiled(_floats(number, SIZE), 0.1, 0.1, 1.0, 0, 0),
    "TiledLearner.observe": lambda number: _tiled(1.0, _floats(number, SIZE), False, False, has_begun=True),
    "TiledLearner.greedy": lambda number: _tiled(_floats(number, SIZE)),
}  # fmt: skip
# Points that can be searched all have the same methods.
for _kind in [name for name, target in vars(kernels).items() if hasattr(target, "count_within")]:
    READY |= {
        f"{_kind}.nearest": lambda number, kind=_kind: _asked(kind, True, *_results(), 2),
        f"{_kind}.nearest_in_leaves": lambda number, kind=_kind: _asked(
            kind, True, 3, _guarded((SIZE,), np.int64), *_results(), 2
        ),
        f"{_kind}.within": lambda number, kind=_kind: _asked(kind, 1.0, True, True, 2),
        f"{_kind}.count_within": lambda number, kind=_kind: _asked(kind, 1.0, _guarded((SIZE,), np.int64), 2),
    }
for _number, _width in enumerate(("64", "32")):
    for _kind in (f"KernelRows{_width}", f"SparseKernelRows{_width}"):
        READY[_kind] = lambda _, kind=_kind, number=_number: _kernel_rows(kind.startswith("Sparse"), number)
        for _method in ("rows", "against", *(() if _kind.startswith("Sparse") else ("times",))):
            READY[f"{_kind}.{_method}"] = lambda _, kind=_kind, method=_method: _asked_lines(kind, method)
for _kind in ("LshTables64", "LshTables32"):
    READY[f"{_kind}.nearest"] = lambda number, kind=_kind: _asked(
        kind, 2, np.full(SIZE, -1), _guarded((SIZE,), np.int64), *_results(), 2
    )
# Classes that take values, indices, offsets and a number of columns.
SPARSE = ("CsrRows", "SparseColumns", "SparseDesign", "SparseRows")
# Not kernels: they take no arrays, and some of them would run or allocate for as long or as much as they are told.
EXEMPT = {
    "exchange_progress",
    "exchange_stop",
    "get_num_threads",
    "set_num_threads",
    "spin",
    "count_tasks",
    "philox_uniforms",
    "philox_below",
}


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel, as its signature describes it."""

    text: str

    @property
    def is_sequence(self):
        return "Sequence[" in self.text

    @property
    def is_array(self):
        return "ndarray[" in self.text and not self.is_sequence

    @property
    def item(self):
        """What a sequence holds."""
        return Argument(re.search(r"Sequence\[(.*)\]$", self.text)[1])

    @property
    def is_optional(self):
        return "None" in self.text

    @property
    def dtype(self):
        return np.dtype(re.search(r"dtype=(\w+)", self.text)[1])

    @property
    def n_dimensions(self):
        return re.search(r"shape=\(([^)]*)\)", self.text)[1].count("*")

    @property
    def is_output(self):
        return self.is_array and "writable=False" not in self.text

    @property
    def is_contiguous(self):
        return "order='C'" in self.text

    @property
    def rows_class(self):
        found = re.search(r"_kernels_\w+\.(\w+)", self.text)
        return found and found[1]


def _split(arguments):
    """The arguments of a signature: commas inside brackets do not count."""
    parts, depth, part = [], 0, ""
    for char in arguments:
        depth += (char in "[(") - (char in "])")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return [text for text in map(str.strip, [*parts, part]) if text and text not in ("self", "/")]


@functools.cache
def _signatures(target):
    """The arguments of each overload."""
    function = target.__init__ if isinstance(target, type) else target
    signatures = [re.match(r"def \w+\((.*)\) -> ", signature)[1] for signature, *_ in function.__nb_signature__]
    return [[Argument(text) for text in _split(arguments)] for arguments in signatures]


def _overloads(is_testing, name):
    """The arguments of each overload of a kernel; the first one of a method is the object."""
    overloads = _signatures(_target(is_testing, name))
    own = [Argument(f"self: mercer._native._kernels_native.{name.split('.')[0]}")] if "." in name else []
    return [own + arguments for arguments in overloads]


def _names():
    """Functions, classes and methods ("Class.method")."""
    for module in (kernels, kernels.testing):
        for name, target in vars(module).items():
            if name in EXEMPT:
                continue
            if isinstance(target, type):
                yield module is kernels.testing, name
                methods = [key for key, value in vars(target).items() if hasattr(value, "__nb_signature__")]
                yield from ((module is kernels.testing, f"{name}.{method}") for method in methods if method != "__init__")
            elif hasattr(target, "__nb_signature__"):
                yield module is kernels.testing, name


def _found():
    """Each overload of each kernel: a readable name, where to find it, and its arguments."""
    for is_testing, name in _names():
        for number, arguments in enumerate(_overloads(is_testing, name)):
            given = arguments[1:] if "." in name else arguments
            if given and any(argument.is_array or argument.rows_class for argument in arguments):
                yield pytest.param(is_testing, name, number, id=f"{name}-{number}")


def _target(is_testing, name):
    return functools.reduce(getattr, name.split("."), kernels.testing if is_testing else kernels)


class Guarded(np.ndarray):
    """An output that lies in the middle of a larger array."""

    whole = None

    def guards_hold(self):
        return self.whole is None or bool((self.whole[:GUARD] == 77).all() and (self.whole[-GUARD:] == 77).all())


def _guarded(shape, dtype):
    size = int(np.prod(shape))
    whole = np.full(size + 2 * GUARD, 77, dtype=dtype)
    inner = whole[GUARD : GUARD + size].reshape(shape).view(Guarded)
    inner[...] = 0
    inner.whole = whole  # copies and views of it have none
    return inner


def _valid(name, position, argument):
    if argument.rows_class:
        kind = argument.rows_class
        values = _arguments(False, kind, 0)
        if kind.startswith("DenseRows") and name.startswith("stochastic"):
            values[1] = None  # these want rows as they are
        return getattr(kernels, kind)(*values)
    if argument.is_array:
        shape = SHAPES.get(name, {}).get(position, (SIZE,) * argument.n_dimensions)
        if argument.is_output:
            return _guarded(shape, argument.dtype)
        if argument.dtype.kind == "f":
            values = np.random.RandomState(position).uniform(0.1, 1, size=shape).astype(argument.dtype)
            return values + 3 * np.eye(*shape, dtype=argument.dtype) if len(shape) == 2 else values
        if name.startswith(SPARSE):
            return np.arange(shape[0], dtype=argument.dtype)  # one entry a row, on the diagonal
        return np.zeros(shape, dtype=argument.dtype)
    plain = {"int": SIZE if name.startswith(SPARSE) else 2, "float": 1.0, "bool": True, "str": "logistic"}
    return plain[argument.text.split(": ")[1]]


def _arguments(is_testing, name, number):
    """A valid call."""
    if name in READY:
        return READY[name](number)
    return [_valid(name, *pair) for pair in enumerate(_overloads(is_testing, name)[number])]


def _misaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype)[: array.size].reshape(array.shape)
    raw[...] = array
    return raw


def _read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def _with_axis(array, axis, size):
    shape = list(array.shape)
    shape[axis] = size
    out = _guarded(tuple(shape), array.dtype)
    out[...] = 0
    return out


DTYPES = [np.dtype(name) for name in ("f8", "f4", "f2", "i8", "i4", "u4", "?", "c16", "O", "S4")]


def _element(argument):
    return argument.item if argument.is_sequence else argument


def _refused(argument, value, dtypes):
    """Values that no kernel may take for this argument."""
    yield "a word", "word"
    yield "an object", object()
    yield "a date", np.datetime64(1, "s")  # its buffer says that it has a dimension, and has no strides
    if not argument.is_optional:
        yield "None", None
    if argument.is_sequence:
        for what, item in _refused(argument.item, value[0], dtypes):
            yield f"first of all {what}", [item, *value[1:]]
    if argument.is_array:
        for dtype in DTYPES:
            if dtype not in dtypes:
                yield f"dtype {dtype}", value.astype(dtype)
        yield "one dimension more", value[None].copy()
        yield "one dimension fewer", np.zeros(value.shape[1:], dtype=value.dtype)
        yield "a list", value.tolist()
        if value.itemsize > 1:
            yield "other byte order", value.astype(value.dtype.newbyteorder())
            yield "misaligned", _misaligned(value)
        if argument.is_contiguous:
            yield "every other element", np.repeat(value, 2, axis=-1)[..., ::2]
            if value.ndim == 2:
                yield "Fortran order", np.asfortranarray(np.ones((SIZE, SIZE + 1), dtype=value.dtype))
        if argument.is_output:
            yield "read-only", _read_only(value)


def _extremes(dtype):
    if dtype.kind == "f":
        return (np.nan, np.inf, -np.inf, 1e30, -1.0, 0.0)
    limits = np.iinfo(dtype)
    return [number for number in (-1, SIZE, 10**6, limits.max) if limits.min <= number <= limits.max]


def _survived(argument, value, dtypes):
    """Values that a kernel may take or refuse, but must survive."""
    if argument.is_optional:
        yield "None", None
    if argument.is_sequence:
        yield from (("nothing", []), ("one fewer", value[1:]), ("one more", [*value, value[0]]), ("backwards", value[::-1]))
        for what, item in _survived(argument.item, value[0], dtypes):
            yield f"first of all {what}", [item, *value[1:]]
    if argument.is_array:
        for axis in range(value.ndim):
            for size in (0, 1, value.shape[axis] - 1, value.shape[axis] + 1, 10 * SIZE):
                yield f"axis {axis} of size {size}", _with_axis(value, axis, size)
        for extreme in _extremes(value.dtype):
            yield f"full of {extreme}", np.full_like(value, extreme)
        if not argument.is_contiguous:
            yield "backwards", value[::-1, ::-1]
            yield "broadcast", np.broadcast_to(value[:1], value.shape)
            yield "Fortran order", np.asfortranarray(value)
        if value.dtype.kind == "i" and not argument.is_output:
            yield "falling", np.arange(len(value))[::-1].astype(value.dtype)
            yield "least number", np.full_like(value, np.iinfo(value.dtype).min)
    elif argument.text.endswith(": int"):
        for number in (-(2**31), -1, 0, SIZE + 1, 2**31 - 1, 2**40, 2**70):
            yield f"{number}", number
    elif argument.text.endswith(": float"):
        for number in (np.nan, np.inf, -1e300):
            yield f"{number}", number


def _call(is_testing, name, number, position=None, value=None):
    """Call with one argument replaced. Returns what happened: "worked", or the name of the error."""
    values = _arguments(is_testing, name, number)
    if position is not None:
        values[position] = value
    try:
        _target(is_testing, name)(*values)
        happened = "worked"
    except (TypeError, ValueError, MemoryError) as error:
        happened = type(error).__name__
    assert all(given.guards_hold() for given in values if isinstance(given, Guarded)), f"{name} wrote outside its output"
    return happened


@contextlib.contextmanager
def _little_memory():
    """A wild size is then a MemoryError, not a wait."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if "MERCER_SANITIZED" not in os.environ:  # AddressSanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@_little_memory()
def _try_all(is_testing, name, number, make_values):
    overloads = _overloads(is_testing, name)
    outcomes = {}
    for position, argument in enumerate(overloads[number]):
        valid = _arguments(is_testing, name, number)[position]
        if valid is None:  # left out: what it would be
            valid = _valid(name, position, argument)
        alike = [overload[position] for overload in overloads if len(overload) == len(overloads[number])]
        dtypes = {_element(other).dtype for other in alike if _element(other).is_array}  # of one overload or another
        for what, value in make_values(argument, valid, dtypes):
            outcomes[position, argument.text, what] = _call(is_testing, name, number, position, value)
    return outcomes


every_kernel = pytest.mark.parametrize(("is_testing", "name", "number"), list(_found()))


def test_kernels_are_found():
    names = {param.values[1] for param in _found()}
    assert {"lloyd_step", "nearest_centres", "column_moments", "DenseRows64", "CsrRows32", "multiply"} <= names
    assert {"KdTree64.nearest", "FlatPoints32.within", "ElasticNetDescent.step", "RankedScores64.curve"} <= names


@every_kernel
def test_the_valid_call_is_valid(is_testing, name, number):
    assert run_in_shared_child(_call, is_testing, name, number) == "worked", "say in SHAPES what this kernel needs"


@every_kernel
def test_arguments_of_a_wrong_type_are_refused(is_testing, name, number):
    outcomes = run_in_shared_child(_try_all, is_testing, name, number, _refused)
    taken = [what for what, happened in outcomes.items() if happened == "worked"]
    assert not taken


@every_kernel
def test_wrong_shapes_and_wild_values_never_crash(is_testing, name, number):
    assert run_in_shared_child(_try_all, is_testing, name, number, _survived)


@every_kernel
def test_too_few_and_too_many_arguments_are_refused(is_testing, name, number):
    target = _target(is_testing, name)
    values = _arguments(is_testing, name, number)
    for wrong in ([], values[:-1], [*values, 1]):
        with pytest.raises(TypeError):
            target(*wrong)


# ---- what the kernels must refuse by name


def _rows(kind="DenseRows64"):
    return _made(kind)


@pytest.mark.parametrize("kind", ["CsrRows32", "CsrRows64"])
@pytest.mark.parametrize(
    ("row_starts", "columns", "n_columns"),
    [
        ([], [0, 1], 3),
        ([1, 2], [0, 1], 3),
        ([0, 2, 1], [0, 1], 3),
        ([0, -1], [0, 1], 3),
        ([0, 3], [0, 1], 3),
        ([0, 2**31 - 1], [0, 1], 3),
        ([0, 2], [0, 3], 3),
        ([0, 2], [0, -1], 3),
        ([0, 2], [0], 3),
        ([0, 0], [0, 1], 0),
    ],
)
def test_malformed_sparse_rows_are_refused(kind, row_starts, columns, n_columns):
    dtype = np.float64 if kind == "CsrRows64" else np.float32
    values = np.ones(2, dtype=dtype)
    with pytest.raises(ValueError, match=r"sparse matrix|there must be a column"):
        getattr(kernels, kind)(values, np.array(columns, dtype=np.int32), np.array(row_starts, dtype=np.int32), n_columns)


@pytest.mark.parametrize("kind", ["DenseRows64", "CsrRows64"])
@pytest.mark.parametrize("label", [-1, SIZE, 2**31 - 1, -(2**31)])
def test_labels_out_of_range_are_refused(kind, label):
    rows, centres, labels = _rows(kind), np.zeros((SIZE, SIZE)), np.zeros(SIZE, dtype=np.int32)
    labels[-1] = label
    with pytest.raises(ValueError, match="label is out of range"):
        kernels.inertia(rows, None, centres, labels, 1)
    with pytest.raises(ValueError, match="label is out of range"):
        kernels.update_centres(
            rows, None, centres, labels, np.zeros((SIZE, SIZE)), np.zeros(SIZE), np.zeros(SIZE, dtype=np.int64),
            np.zeros((SIZE, SIZE)), np.zeros(SIZE), 1,
        )  # fmt: skip


def _corrupt_trees(n_times):
    """Trees with some bytes overwritten: how often they were refused. Those that were not must give predictions and end."""
    random, n_refused = np.random.RandomState(0), 0
    X = random.randint(-2, 60, size=(50, 2)).astype(float)
    X[::5] = np.nan
    for _ in range(n_times):
        nodes, words, *rest = _trees()
        nodes, words = nodes.copy(), words.copy()
        for _ in range(random.randint(1, 4)):
            nodes[random.randint(6), random.randint(16)] = random.randint(256)
        words[random.randint(2)] = random.choice([0, 1, 2, 9, 2**31])
        try:
            trees = kernels.Trees(nodes, words, *rest[:-1], 2)
        except ValueError:
            n_refused += 1
            continue
        kernels.add_leaf_values(trees, 0, 2, X, np.zeros((50, 1)), 1)
    return n_refused


def test_corrupt_trees_are_refused_or_harmless():
    assert 1000 < run_in_child(_corrupt_trees, 2000) < 2000


def test_trees_of_rows_without_weight_are_refused():
    X = np.zeros((SIZE, 2))
    for columns in (kernels.RankedColumns(X, None, 1), kernels.PlainColumns(X, None, 2, 1), kernels.WideColumns(X, 2, 1)):
        with pytest.raises(ValueError, match="needs rows"):
            kernels.grow_absolute(
                columns, np.zeros((SIZE, 1)), np.zeros(SIZE), np.zeros(1, dtype=np.uint64), 0, 2, None,
                kernels.GrowthLimits(3, 2, 1, 0.0, 0.0, 0), 1,
            )  # fmt: skip


def test_rows_keep_their_arrays_alive():
    def make():
        return kernels.DenseRows64(np.full((50_000, 8), 3.0), np.full(8, 1.0))

    rows = make()
    junk = [np.full((50_000, 8), -1.0) for _ in range(5)]
    distances = np.empty((50_000, 1))
    kernels.centre_distances(rows, np.zeros((1, 8)), distances, 2)
    np.testing.assert_allclose(distances, np.sqrt(8 * 4.0))
    assert junk


def test_no_rows_at_all_are_no_rows_at_all():
    rows = kernels.DenseRows64(np.empty((0, SIZE)), None)
    labels = np.empty(0, dtype=np.int32)
    kernels.nearest_centres(rows, np.zeros((2, SIZE)), labels, 2)
    assert kernels.inertia(rows, None, np.zeros((2, SIZE)), labels, 2) == 0.0
    with pytest.raises(ValueError, match="not a row"):
        kernels.kmeans_plusplus(rows, None, 0, np.zeros((1, 2)), np.zeros(2, dtype=np.int64), 1)


def _die():
    import ctypes

    ctypes.string_at(0)


def test_a_crash_would_be_noticed():
    with pytest.raises(AssertionError, match=r"died with exit code -(11|6)"):  # a sanitizer aborts instead
        run_in_child(_die)
