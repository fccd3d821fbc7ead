"""The public trees: what they answer, what they hold, and that they are kept as they are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn.neighbors
from hypothesis import given, settings, strategies as st

import mercer
from mercer.neighbors import BallTree, KDTree, KNeighborsClassifier, NearestNeighbors
from tests.reference import kernel_density as density, neighbors as reference

TREES = [KDTree, BallTree]
KERNELS = list(density.KERNELS)


def _rows(n=300, d=3, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


@pytest.mark.parametrize("tree", TREES)
def test_queries_of_any_shape_are_answered_as_scikit_learn_does(tree):
    X, queries = _rows(), _rows(24, seed=1).reshape(2, 12, 3)
    mine, theirs = tree(X, leaf_size=8), getattr(sklearn.neighbors, tree.__name__)(X)
    for k in (1, 4):
        found, wanted = mine.query(queries, k), theirs.query(queries.reshape(24, 3), k)
        np.testing.assert_allclose(found[0].reshape(24, k), wanted[0])
        np.testing.assert_array_equal(found[1].reshape(24, k), wanted[1])
        assert found[0].shape == (2, 12, k)
        ways = {"dualtree": True, "breadth_first": True, "sort_results": False}
        np.testing.assert_array_equal(mine.query(queries, k, return_distance=False, **ways), found[1])
    np.testing.assert_array_equal(mine.query(X[0], 2)[1], theirs.query(X[:1], 2)[1][0])


@pytest.mark.parametrize("tree", TREES)
def test_radii_may_be_one_or_one_a_query(tree):
    X, queries = _rows(), _rows(30, seed=1)
    mine, distances = tree(X, leaf_size=8), reference.distances("euclidean", queries, X)
    for radii in (0.7, np.linspace(0, 2, 30), np.repeat([0.0, 1.0, 2.0], 10)):
        limits = np.broadcast_to(radii, 30)
        np.testing.assert_array_equal(mine.query_radius(queries, radii, count_only=True), (distances <= limits[:, None]).sum(1))
        by_number = mine.query_radius(queries, radii)
        rows, found = mine.query_radius(queries, radii, return_distance=True, sort_results=True)
        for line, limit, some, all_rows, near in zip(distances, limits, by_number, rows, found, strict=True):
            np.testing.assert_array_equal(some, np.flatnonzero(line <= limit))
            np.testing.assert_array_equal(np.sort(all_rows), some)
            np.testing.assert_allclose(near, line[all_rows])
            assert (np.diff(near) >= 0).all()


@settings(deadline=None, max_examples=40)
@given(
    tree=st.sampled_from(TREES),
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 1000),
    n=st.integers(1, 200),
    d=st.integers(1, 6),
    h=st.sampled_from([0.01, 0.3, 1.0, 30.0]),
    is_weighted=st.booleans(),
    tolerance=st.sampled_from([(0.0, 0.0), (1e-2, 0.0), (0.0, 1e-2), (1e-4, 1e-3)]),
)
def test_densities_are_within_the_tolerance_of_their_sum(tree, kernel, seed, n, d, h, is_weighted, tolerance):
    X, queries = _rows(n, d, seed), np.concatenate([_rows(10, d, seed + 1), 100 + _rows(1, d)])
    weights = np.random.RandomState(seed).uniform(size=n) if is_weighted else None
    grown, (atol, rtol) = tree(X, leaf_size=8, sample_weight=weights), tolerance
    wanted = density.log_density(reference.distances("euclidean", queries, X), kernel, h, d, weights)
    if atol == rtol == 0:
        logs = grown.kernel_density(queries, h, kernel=kernel, rtol=0, return_log=True)
        np.testing.assert_allclose(logs, wanted, rtol=1e-9, atol=1e-9)
    found = grown.kernel_density(queries, h, kernel=kernel, atol=atol, rtol=rtol)
    assert (np.abs(found - np.exp(wanted)) <= (atol + rtol * np.exp(wanted)) * (1 + 1e-6) + 1e-9 * np.exp(wanted)).all()


def test_tolerance_saves_work_and_is_used():
    X = _rows(2000)
    exact = KDTree(X).kernel_density(X[:50], 0.5, rtol=0)
    rough = KDTree(X).kernel_density(X[:50], 0.5, rtol=0.05)
    assert (rough != exact).any()
    np.testing.assert_allclose(rough, exact, rtol=0.05)


@pytest.mark.parametrize("tree", TREES)
def test_pairs_are_counted_for_radii_in_any_order(tree):
    X, queries, radii = _rows(), _rows(50, seed=1), [0.5, 0.0, 9.0, 0.1, 0.5]
    distances = reference.distances("euclidean", queries, X)
    counts = tree(X, leaf_size=8).two_point_correlation(queries, radii)
    np.testing.assert_array_equal(counts, [(distances <= radius).sum() for radius in radii])


@pytest.mark.parametrize("tree", TREES)
def test_trees_hold_their_rows_in_order_and_bound_them(tree):
    X = _rows(203)
    grown = tree(X, leaf_size=8)
    data, order, nodes, bounds = grown.get_arrays()
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(np.sort(order), np.arange(203))
    for node, bound in zip(nodes, np.moveaxis(bounds, 1, 0), strict=True):
        points = X[order[node["idx_start"] : node["idx_end"]]]
        if tree is KDTree:
            np.testing.assert_array_equal(bound, [points.min(axis=0), points.max(axis=0)])
        else:
            assert np.linalg.norm(points - bound[0], axis=1).max() <= node["radius"]
    assert nodes["is_leaf"].sum() == grown.get_tree_stats()[1]
    assert (nodes["idx_end"] - nodes["idx_start"])[nodes["is_leaf"] == 1].sum() == 203


def test_rows_are_split_by_spread_or_by_variance():
    X = np.stack([np.r_[np.zeros(206), 100.0, -100.0], np.tile([0.0, 30.0], 104)], axis=1)
    widest, varied = (KDTree(X, leaf_size=104, split=split).node_bounds for split in ("widest", "variance"))
    assert (varied[1] - varied[0])[:, 1].max() == 0  # halved along the second feature
    assert (widest[1] - widest[0])[:, 1].max() == 30


@pytest.mark.parametrize("metric", ["minkowski", "cosine"])
@pytest.mark.parametrize("tree", TREES)
def test_trees_are_pickled_and_saved(tree, metric, tmp_path):
    X = _rows(100).astype(np.float32)
    grown = tree(X, leaf_size=8, metric=metric, sample_weight=np.arange(1.0, 101))
    mercer.save(grown, tmp_path / "tree.mercer")
    copies = [pickle.loads(pickle.dumps(grown, protocol)) for protocol in (0, 2, 5)]
    copies += [mercer.load(tmp_path / "tree.mercer", mmap=is_mapped) for is_mapped in (False, True)]
    for copy in copies:
        assert type(copy) is tree
        np.testing.assert_array_equal(copy.query(X, 3), grown.query(X, 3))
        np.testing.assert_array_equal(copy.kernel_density(X, 0.5), grown.kernel_density(X, 0.5))
        np.testing.assert_array_equal(copy.data, X)
        assert copy.sum_weight == grown.sum_weight == 5050


@pytest.mark.parametrize("tree", TREES)
def test_a_bounded_search_reports_the_recall_that_all_queries_have(tree):
    X = np.random.RandomState(0).uniform(size=(4000, 6))
    grown, queries = tree(X, leaf_size=16), np.random.RandomState(1).uniform(size=(1000, 6))
    exact, recalls = grown.query(queries, 5), []
    assert not hasattr(grown, "recall_")
    for max_leaves in (1, 4, 16, 10_000):
        distances, rows = grown.query(queries, 5, max_leaves=max_leaves)
        np.testing.assert_allclose(distances, np.linalg.norm(queries[:, None] - X[rows], axis=2), rtol=1e-12)
        recalls.append((distances <= exact[0][:, -1:]).mean())
        assert grown.recall_ == pytest.approx(recalls[-1], abs=0.1)
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.8
    assert grown.recall_ == recalls[-1] == 1


def _largest(x, y, scale=1.0):
    return scale * np.abs(x - y).max()


def test_a_function_of_two_rows_is_a_metric_of_ball_trees():
    X = _rows(60)
    tree = pickle.loads(pickle.dumps(BallTree(X, metric=_largest, scale=2.0)))
    distances, rows = BallTree(X, metric="chebyshev").query(X[:5], 3)
    np.testing.assert_array_equal(tree.query(X[:5], 3), (2 * distances, rows))
    with pytest.raises(ValueError, match="only query"):
        tree.kernel_density(X, 1.0)
    with pytest.raises(TypeError, match="must accept two vectors and return a float"):
        BallTree(X, metric=lambda x, y: "1")


def test_wrong_arguments_are_refused():
    X = _rows(20)
    tree = KDTree(X)
    wrong = [
        (lambda: KDTree(X, leaf_size=0), "leaf_size"),
        (lambda: KDTree(X, metric="canberra"), r"KDTree; it must be one of \["),
        (lambda: KDTree(X, split="middle"), "split='middle'"),
        (lambda: BallTree(X, metric="yule"), "BallTree"),
        (lambda: BallTree(X, metric="haversine"), "two features"),
        (lambda: KDTree([[np.nan, 1.0]]), "NaN"),
        (lambda: tree.query(X[:, :2]), "dimension must match"),
        (lambda: tree.query(X, max_leaves=0), "max_leaves=0"),
        (lambda: tree.query(X, k=21), "k must be less than or equal to the number of training points"),
        (lambda: tree.query_radius(X, [1.0, 2.0]), "broadcastable"),
        (lambda: tree.query_radius(X, 1, return_distance=True, count_only=True), "count_only"),
        (lambda: tree.query_radius(X, 1, sort_results=True), "sort_results"),
        (lambda: tree.kernel_density(X, 0.0), "h=0.0"),
        (lambda: tree.kernel_density(X, 1.0, kernel="box"), "kernel"),
        (lambda: tree.two_point_correlation(X, 1.0), "1-dimensional"),
    ]
    for call, words in wrong:
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("n_leaves", [1, 3, 10])
def test_bounded_searches_look_into_the_nearest_leaves(n_leaves):
    random = np.random.RandomState(0)
    X, queries = random.normal(size=(3000, 5)), random.normal(size=(60, 5))
    tree = KDTree(X, leaf_size=24)
    is_leaf = np.asarray(tree.node_data["is_leaf"]) == 1
    lows, highs = tree.node_bounds[:, is_leaf]
    leaves = [tree.idx_array[node["idx_start"] : node["idx_end"]] for node in tree.node_data[is_leaf]]
    found = tree.query(queries, 4, max_leaves=n_leaves)[1]
    differs = False
    for query, rows in zip(queries, found, strict=True):
        order = np.argsort(np.linalg.norm(np.maximum(np.maximum(lows - query, query - highs), 0), axis=1), kind="stable")
        for n_taken in (n_leaves, n_leaves + 5):
            taken = np.concatenate([leaves[leaf] for leaf in order[:n_taken]])
            nearest = taken[np.argsort(np.linalg.norm(X[taken] - query, axis=1))[:4]]
            if n_taken == n_leaves:
                np.testing.assert_array_equal(rows, nearest)
            differs = differs or bool((nearest != rows).any())
    assert differs


@pytest.mark.parametrize("tree", ["KDTree", "BallTree"])
@pytest.mark.parametrize(("metric", "given"), [("manhattan", {}), ("minkowski", {"p": 3}), ("chebyshev", {})])
def test_a_tree_of_scikit_learns_is_taken_with_its_rows_and_its_metric(tree, metric, given):
    X = np.random.RandomState(0).randn(60, 3)
    grown = getattr(sklearn.neighbors, tree)(X, leaf_size=5, metric=metric, **given)
    distances, indices = NearestNeighbors(n_neighbors=4).fit(grown).kneighbors(X[:9])
    expected_distances, expected = grown.query(X[:9], k=4)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, expected_distances, atol=1e-6)
    labels = KNeighborsClassifier(3).fit(grown, np.arange(60) % 2).predict(X[:9])
    assert set(labels) <= {0, 1}
