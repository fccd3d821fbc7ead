"""The store of fitted trees: pickles, views, and the refusal of everything that is not a tree."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer._trees.store import NODE, TreeStore, _rebuild
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.common.children import run_in_child
from tests.common.state import bits


@cache
def make_store(n_trees=3):
    """Trees by turns with splits on categories and without: predictions take different ways."""
    random = np.random.default_rng(0)
    stores = []
    for index in range(n_trees):
        X = np.column_stack([random.integers(0, 70, 200), random.normal(size=(200, 3))])
        y = np.sin(X[:, 0]) + X[:, 1] + random.normal(size=200)
        columns = [0] if index % 2 == 0 else None
        stores.append(DecisionTreeRegressor(max_depth=4, categorical_features=columns).fit(X, y).tree_._store)
    return TreeStore.join(stores)


def rows():
    random = np.random.default_rng(1)
    X = np.column_stack([random.integers(-1, 90, 300), random.normal(size=(300, 3))])
    X[random.random(X.shape) < 0.1] = np.nan
    return X


def state_of(store):
    return list(store.__reduce__()[1])


def use(store):
    """Every way to read a store."""
    X = rows()[:, : store.n_features] if store.n_features <= 4 else np.zeros((10, store.n_features))
    X = np.ascontiguousarray(X)
    store.sum_leaves(X, n_threads=1)
    store.apply(X.astype(np.float32), n_threads=2)
    if store.values is not None:
        store.sum_values(X, n_threads=1)
    for index in range(len(store)):
        tree = store[index]
        tree.decision_path(X)
        _ = tree.depths, tree.feature, tree.threshold, tree.compute_feature_importances()
        for node in np.flatnonzero(tree.is_categorical & ~tree.is_leaf):
            tree.left_categories(int(node))


# ---- copies and views


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_keeps_every_bit(protocol):
    store, X = make_store(), rows()
    again = pickle.loads(pickle.dumps(store, protocol=protocol))
    assert bits(state_of(again)) == bits(state_of(store))
    np.testing.assert_array_equal(again.sum_values(X, n_threads=1), store.sum_values(X, n_threads=1))
    tree = copy.deepcopy(store[1])
    np.testing.assert_array_equal(tree.predict(X), store[1].predict(X))
    np.testing.assert_array_equal(tree.words, store[1].words)


def test_the_sum_over_a_store_is_the_sum_over_its_trees():
    store, X = make_store(), rows()
    total = sum(store[index].leaf_values(X) for index in range(3))
    np.testing.assert_allclose(store.sum_values(X, n_threads=2), total)
    np.testing.assert_allclose(store.sum_leaves(X, n_threads=2), total[:, :, 0])
    weighted = store.sum_values(X, weights=np.array([1.0, 0.0, 2.0]), n_threads=1)
    np.testing.assert_allclose(weighted, store[0].leaf_values(X) + 2 * store[2].leaf_values(X))
    np.testing.assert_array_equal(store.apply(X, n_threads=1)[:, 1], store[1].apply(X))


def test_views_are_read_only_and_out_of_range_trees_are_refused():
    store = make_store()
    for array in (store.nodes, store[0].impurity, store[0].value, store[0].n_node_samples):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(IndexError, match="no tree 3"):
        store[3]
    with pytest.raises(ValueError, match="does not split on categories"):
        store[0].left_categories(store[0].node_count - 1)


def test_a_node_takes_sixteen_bytes():
    assert NODE.itemsize == 16
    assert make_store().trees.nodes.shape[1] == 16


# ---- corrupt arrays


def damage(data):
    """A state with one thing changed at random: a bit, a value, a length, a type."""
    random = np.random.default_rng(data)
    state = state_of(make_store(2))
    which = int(random.integers(len(state)))
    value = state[which]
    if not isinstance(value, np.ndarray):
        state[which] = int(random.choice([-1, 0, 1, 3, 5, 2**29, 2**40]))
        return state
    kind = random.integers(4)
    if kind == 0 or value.size == 0:
        value = value[: int(random.integers(len(value) + 1))]
    elif kind == 1:
        value = np.concatenate([value, value[: int(random.integers(1, len(value) + 1))]])
    else:
        raw = np.ascontiguousarray(value).copy()
        flat = raw.reshape(-1).view(np.uint8)
        for _ in range(int(random.integers(1, 4))):
            place = int(random.integers(len(flat)))
            flat[place] = random.integers(256) if kind == 2 else flat[place] ^ (1 << int(random.integers(8)))
        value = raw
    state[which] = np.ascontiguousarray(value)
    return state


def _rebuild_damaged(first, last):
    n_refused = 0
    for seed in range(first, last):
        try:
            store = _rebuild(*damage(seed))
        except (ValueError, TypeError):
            n_refused += 1
        else:
            use(store)
    return n_refused


def test_damaged_stores_are_refused_or_harmless():
    assert run_in_child(_rebuild_damaged, 0, 1500, timeout=120) > 300


def _break_nodes(index, changes):
    """Nodes with fields of chosen values are refused, or predictions end."""
    state = list(make_store(2)[index].__reduce__()[1])
    nodes = state[0].copy().view(NODE)[:, 0]
    for place, field, value in changes:
        nodes[field][place % len(nodes)] = value
    state[0] = nodes.view(np.uint8).reshape(-1, NODE.itemsize)
    try:
        store = _rebuild(*state)
    except ValueError:
        return True
    use(store)
    return False


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 1),
    st.lists(
        st.tuples(
            st.integers(0, 40),
            st.just("right") | st.just("tag"),
            st.integers(0, 40) | st.integers(0, 2**32 - 1),
        )
        | st.tuples(st.integers(0, 40), st.just("threshold"), st.floats() | st.integers(-3, 300).map(float)),
        min_size=1,
        max_size=4,
    ),
)
def test_any_node_can_hold_any_number_without_harm(index, changes):
    _break_nodes(index, changes)


def node(threshold=0.0, tag=0, right=0):
    return (threshold, tag, right)


BROKEN = {
    "no nodes": ([], [], 1),
    "a child that is its parent": ([node(right=0, tag=1), node(), node()], [], 1),
    "a right child before the left": ([node(right=1), node(), node()], [], 1),
    "a right child out of range": ([node(right=3), node(), node()], [], 1),
    "a node of nobody": ([node(), node()], [], 1),
    "a missing node": ([node(right=2), node()], [], 1),
    "a feature out of range": ([node(tag=1, right=2), node(), node()], [], 1),
    "a set where there are none": ([node(0.0, 1 << 29, 2), node(), node()], [], 1),
    "a set that begins between words": ([node(0.5, 1 << 29, 2), node(), node()], [1, 3], 1),
    "a set that begins at NaN": ([node(np.nan, 1 << 29, 2), node(), node()], [1, 3], 1),
    "a set before the first": ([node(-1.0, 1 << 29, 2), node(), node()], [1, 3], 1),
    "a set that is too long": ([node(0.0, 1 << 29, 2), node(), node()], [2, 3], 1),
    "no feature": ([node()], [], 0),
    "a negative number of features": ([node()], [], -1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_a_tree_is_refused(name):
    nodes, words, n_features = BROKEN[name]
    raw = np.array(nodes, dtype=NODE).view(np.uint8).reshape(-1, NODE.itemsize)
    with pytest.raises(ValueError):
        kernels.Trees(raw, np.array(words, np.uint32), np.array([len(nodes)]), np.array([len(words)]), n_features)


@pytest.mark.parametrize("counts", [[3], [1], [-1, 3], [2**62, 2], []])
def test_counts_that_do_not_add_up_are_refused(counts):
    raw = np.array([node(), node()], dtype=NODE).view(np.uint8).reshape(-1, NODE.itemsize)
    with pytest.raises(ValueError):
        kernels.Trees(raw, np.empty(0, np.uint32), np.array(counts, np.int64), np.zeros(len(counts), np.int64), 1)


def test_facts_of_other_lengths_are_refused():
    store = make_store(1)
    for place in (5, 6, 7, 8):
        state = state_of(store)
        state[place] = state[place][:-1]
        with pytest.raises(ValueError, match="must"):
            _rebuild(*state)


def test_an_estimator_with_a_damaged_tree_does_not_load():
    model = DecisionTreeClassifier(max_depth=2).fit(np.arange(20.0)[:, None], np.arange(20) // 7)
    state = state_of(model.tree_._store)
    text = pickle.dumps(model)
    raw = state[0].tobytes()
    assert text.count(raw) == 1
    broken = np.frombuffer(raw, NODE).copy()
    broken["right"][0] = 1000
    with pytest.raises(ValueError, match="out of range"):
        pickle.loads(text.replace(raw, broken.tobytes()))
