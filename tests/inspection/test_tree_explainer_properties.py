"""Properties of Shapley values on random trees of any depth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer._trees.store import NODE, TreeStore
from mercer.inspection._tree_models import part_of
from mercer.inspection._tree_sum import Output, TreeSum
from tests.inspection.tree_cases import random_sum, trees_of
from tests.reference import tree_shapley as reference

_SEEDS = st.integers(0, 2**31)
_SHAPES = st.sampled_from([(1, 1), (2, 3), (3, 9), (8, 30), (40, 60), (150, 200), (400, 200)])  # features, depth


def _rows(sums: TreeSum, seed: int, n: int) -> np.ndarray:
    random = np.random.default_rng(seed + 1)
    rows = random.normal(size=(n, sums.store.n_features))
    rows[random.random(rows.shape) < 0.1] = np.nan
    return rows


def _exact(node: Any, x: np.ndarray) -> list[Fraction]:
    """Path-dependent values of one tree in fractions: of each leaf, by the coefficients of the product over its path."""
    phi = [Fraction(0)] * len(x)

    def visit(at: Any, path: dict[int, tuple[int, Fraction]]) -> None:
        if isinstance(at, reference.Leaf):
            for j, (h, c) in path.items():
                weights = [Fraction(1)]  # of the coalitions without j by their size
                for k, (h_k, c_k) in path.items():
                    if k != j:
                        longer = [c_k * each for each in weights] + [Fraction(0)]
                        for size, each in enumerate(weights):
                            longer[size + 1] += h_k * each
                        weights = longer
                d, binomial, total = len(path), 1, Fraction(0)
                for size, each in enumerate(weights):
                    total += each / (d * binomial)
                    binomial = binomial * (d - 1 - size) // (size + 1)
                phi[j] += Fraction(at.value) * (h - c) * total
            return
        total = Fraction(at.left.cover) + Fraction(at.right.cover)
        goes_left = at.goes_left(x[at.feature])
        for child, follows in ((at.left, goes_left), (at.right, not goes_left)):
            h, c = path.get(at.feature, (1, Fraction(1)))
            share = Fraction(child.cover) / total if total else Fraction(1, 2)
            visit(child, {**path, at.feature: (h * follows, c * share)})

    visit(node, {})
    return phi


@settings(max_examples=15, deadline=None)
@given(_SEEDS, _SHAPES)
def test_values_add_up_at_any_depth(seed, shape):
    sums = random_sum(seed, *shape, n_trees=2)
    rows, background = _rows(sums, seed, 3), _rows(sums, seed + 7, 4)
    raw = sums.raw(rows, 1)[:, 0]
    path = sums.path_dependent(rows, 1)[..., 0].sum(axis=1) + sums.expected()
    np.testing.assert_allclose(path, raw, rtol=1e-9, atol=1e-9)
    between = sums.interventional(rows, background, 1)[..., 0].sum(axis=1) + sums.raw(background, 1).mean()
    np.testing.assert_allclose(between, raw, rtol=1e-9, atol=1e-9)


@settings(max_examples=4, deadline=None)
@given(_SEEDS, st.sampled_from([(12, 30), (40, 45)]))
def test_values_are_those_of_exact_arithmetic(seed, shape):
    sums = random_sum(seed, *shape)
    row = _rows(sums, seed, 1)
    expected = [float(each) for each in _exact(trees_of(sums, 0)[0], row[0])]
    np.testing.assert_allclose(sums.path_dependent(row, 1)[0, :, 0], expected, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(_SEEDS, st.sampled_from([(3, 6), (5, 8), (6, 12)]))
def test_random_trees_are_explained_as_over_all_coalitions(seed, shape):
    sums = random_sum(seed, *shape, n_trees=2)
    rows, background = _rows(sums, seed, 1), _rows(sums, seed + 7, 3)
    trees, n = trees_of(sums, 0), shape[0]
    path, between = reference.path_game(trees, rows[0]), reference.background_game(trees, rows[0], background)
    np.testing.assert_allclose(sums.path_dependent(rows, 1)[0, :, 0], reference.values(path, n), atol=1e-11)
    np.testing.assert_allclose(sums.interventional(rows, background, 1)[0, :, 0], reference.values(between, n), atol=1e-11)
    off = ~np.eye(n, dtype=bool)
    pairs = sums.path_dependent(rows, 1, has_pairs=True)[0, ..., 0]
    np.testing.assert_allclose(pairs[off], reference.interactions(path, n)[off], atol=1e-11)
    pairs = sums.interventional(rows, background, 1, has_pairs=True)[0, ..., 0]
    np.testing.assert_allclose(pairs[off], reference.interactions(between, n)[off], atol=1e-11)


@settings(max_examples=8, deadline=None)
@given(_SEEDS)
def test_features_that_no_split_asks_for_are_worth_nothing(seed):
    sums = random_sum(seed, 200, 40)
    rows, background = _rows(sums, seed, 2), _rows(sums, seed + 7, 2)
    asked = np.isin(np.arange(200), [int(feature) for feature in sums.store[0].feature if feature >= 0])
    for values in (sums.path_dependent(rows, 1), sums.interventional(rows, background, 1)):
        np.testing.assert_array_equal(values[:, ~asked], 0.0)


def test_features_that_play_the_same_part_have_the_same_value():
    # x0 and x1 in turn at the root and below it: what both satisfy is worth one.
    one = [(0.0, 0, 4), (0.0, 1, 3), (1.0, 0, 0), (0.0, 0, 0), (0.0, 0, 0)]
    other = [(threshold, 1 - feature if right else 0, right) for threshold, feature, right in one]
    nodes = np.array([*one, *other], dtype=NODE)
    structure = np.array([5, 5]), np.zeros(2, np.int64), 2
    trees = kernels.Trees(nodes.view(np.uint8).reshape(-1, NODE.itemsize), np.empty(0, np.uint32), *structure)
    store = TreeStore(trees, np.zeros(10), np.zeros(10, np.int64), np.tile([8.0, 4.0, 2.0, 2.0, 4.0], 2))
    both = TreeSum(store, (Output(np.where(nodes["right"] == 0, nodes["threshold"], 0.0)),), np.asarray, np.asarray)
    for row in ([-1.0, -1.0], [1.0, 1.0]):
        values = both.path_dependent(np.array([row]), 1)[0, :, 0]
        assert values[0] == pytest.approx(values[1], abs=1e-15)


@settings(max_examples=8, deadline=None)
@given(_SEEDS)
def test_the_values_of_a_sum_are_the_sums_of_values(seed):
    sums = random_sum(seed, 10, 20, n_trees=3)
    rows = _rows(sums, seed, 2)
    starts, total = sums.store.starts, 0.0
    for t in range(3):
        one = TreeSum(
            part_of(sums.store, t), (Output(sums.outputs[0].values[starts[t] : starts[t + 1]]),), np.asarray, np.asarray
        )
        total = total + one.path_dependent(rows, 1)
    np.testing.assert_allclose(sums.path_dependent(rows, 1), total, atol=1e-12)


@settings(max_examples=6, deadline=None)
@given(_SEEDS, st.sampled_from([(4, 6), (9, 9), (9, 30)]))
def test_many_rows_are_explained_as_one_is(seed, shape):
    """Many rows are looked up in tables, one is walked for."""
    sums = random_sum(seed, *shape, n_trees=3, spread=0.8)
    rows, background = _rows(sums, seed, 2000), _rows(sums, seed + 7, 300)
    for has_pairs in (False, True):
        many = sums.path_dependent(rows, 2, has_pairs=has_pairs)
        between = sums.interventional(rows, background, 2, has_pairs=has_pairs)
        ones = np.ones((1, len(background)))
        for i in (0, 1, 1999):
            row = rows[i : i + 1]
            np.testing.assert_allclose(many[i : i + 1], sums.path_dependent(row, 1, has_pairs=has_pairs), atol=1e-11)
            walked = sums.interventional(row, background, 1, scales=ones, has_pairs=has_pairs)
            np.testing.assert_allclose(between[i : i + 1], walked, atol=1e-11)


def test_kernels_refuse_what_would_leave_their_arrays():
    sums = random_sum(0, 3, 4)
    trees, values, rows = sums.store.trees, sums.outputs[0].values, np.zeros((2, 3))
    first, out = np.array([0]), np.zeros((2, 3))
    given = {"chosen": first, "cover": sums.store.weight, "values": values, "rows": rows, "out": out}
    wrong = {
        "chosen": [np.array([1]), np.array([-1])],
        "cover": [np.ones(2)],
        "values": [np.ones(2)],
        "rows": [np.zeros((2, 2)), np.zeros((3, 3))],
        "out": [np.zeros((2, 4)), np.zeros((1, 3))],
    }
    for name, each in wrong.items():
        for value in each:
            args = {**given, name: value}
            common = (trees, args["chosen"], args["cover"], args["values"], args["rows"])
            with pytest.raises(ValueError):
                kernels.add_path_dependent(*common, False, args["out"], 1)
            with pytest.raises(ValueError):
                kernels.add_interventional(*common, rows, None, False, args["out"], 1)
    with pytest.raises(ValueError):
        kernels.add_interventional(trees, first, sums.store.weight, values, rows, np.zeros((2, 4)), None, False, out, 1)
    with pytest.raises(ValueError):
        kernels.add_interventional(trees, first, sums.store.weight, values, rows, rows, np.ones((2, 3)), False, out, 1)
    with pytest.raises(ValueError):
        kernels.add_path_dependent(trees, first, sums.store.weight, values, rows, True, out, 1)
    nothing = np.full(len(values), np.nan)
    kernels.add_path_dependent(trees, first, nothing, nothing, rows, False, out, 1)  # nonsense, and no crash
