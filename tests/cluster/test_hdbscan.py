"""HDBSCAN's spanning tree is minimal, and its clusters are scikit-learn's as far as ties let them be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from mercer._native import kernels
from mercer.cluster import HDBSCAN
from mercer.cluster._density import is_for_products
from mercer.cluster._spanning import SpanningTree
from mercer.neighbors._search import ProductIndex
from tests.cluster.test_dbscan import table
from tests.reference import density_clusters as density


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 200),
    d=st.sampled_from([1, 2, 3, 6, 25]),
    kind=st.sampled_from(["scattered", "grid", "clumps", "equal"]),
    metric=st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    min_samples=st.integers(1, 20),
    alpha=st.sampled_from([1.0, 0.7, 1.6]),
    leaf_size=st.sampled_from([1, 40]),
)
def test_the_spanning_tree_is_minimal(seed, n, d, kind, metric, min_samples, alpha, leaf_size):
    X, min_samples = table(seed, n, d, kind), min(min_samples, n)
    options = {"min_samples": min_samples, "alpha": alpha, "metric": metric, "leaf_size": leaf_size}
    tree = SpanningTree.of(X, **options)
    reach = density.reachability(cdist(X, X, "cityblock" if metric == "manhattan" else metric), min_samples, alpha)
    np.testing.assert_allclose(np.sort(tree.weights), density.spanning_weights(reach), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tree.weights, reach[tree.start, tree.end], rtol=1e-12, atol=1e-12)
    again = SpanningTree.of(X, n_threads=2, **options)
    np.testing.assert_array_equal(again.table, tree.table)


def test_the_spanning_tree_of_many_rows_is_minimal():
    X = make_blobs(3000, 2, centers=8, random_state=0)[0]
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        tree = SpanningTree.of(rows, min_samples=5, metric="euclidean", n_threads=2)
        reach = density.reachability(cdist(rows, rows), 5)
        assert tree.weights.sum() == pytest.approx(density.spanning_weights(reach).sum(), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["scattered", "clusters", "grid", "equal", "far"])
@pytest.mark.parametrize(("n", "min_samples", "alpha"), [(2, 1, 1.0), (65, 1, 0.7), (700, 5, 1.0), (700, 40, 1.6)])
def test_tiles_of_products_span_minimally(n, min_samples, alpha, kind, dtype):
    random = np.random.RandomState(0)
    X = random.normal(size=(n, 16))
    X = {
        "scattered": X,
        "clusters": X + 20 * random.normal(size=(5, 16))[random.randint(5, size=n)],
        "grid": random.randint(0, 2, size=(n, 16)) * 1.0,
        "equal": np.zeros((n, 16)),
        "far": X + 1e5,
    }[kind].astype(dtype)
    min_samples = min(min_samples, n)
    trees = []
    for n_threads in (1, 2):
        tree = SpanningTree(np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1))
        points = ProductIndex(X).points
        assert kernels.product_spanning_tree(points, min_samples, alpha, tree.start, tree.end, tree.weights, n_threads)
        trees.append(tree.table)
    np.testing.assert_array_equal(*trees)
    reach = density.reachability(cdist(X.astype(np.float64), X.astype(np.float64)), min_samples, alpha)
    np.testing.assert_allclose(np.sort(tree.weights), density.spanning_weights(reach), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tree.weights, reach[tree.start, tree.end], rtol=1e-12, atol=1e-12)
    by_tree = SpanningTree.of(
        X, min_samples=min_samples, alpha=alpha, metric="minkowski", p=2, metric_params={"w": np.ones(16)}
    )
    np.testing.assert_allclose(np.sort(by_tree.weights), np.sort(tree.weights), rtol=1e-12)


def test_many_features_that_no_tree_parts_are_spanned_by_tiles():
    random = np.random.RandomState(0)
    X = random.normal(size=(3000, 30))
    assert is_for_products(X, metric="euclidean", k=5)
    assert not is_for_products(X, metric="manhattan", k=5)
    assert not is_for_products(X[:, :3], metric="euclidean", k=5)
    assert not is_for_products(0.01 * X + random.normal(size=(300, 30))[random.randint(300, size=3000)], metric="l2", k=5)


def test_single_linkage_is_scipys():
    X = np.random.RandomState(0).normal(size=(200, 3))
    tree = SpanningTree.of(X, min_samples=1, metric="euclidean")
    nodes, heights, sizes = np.empty((199, 2), dtype=np.int64), np.empty(199), np.empty(199, dtype=np.int64)
    kernels.single_linkage(tree.start, tree.end, tree.weights, nodes, heights, sizes)
    expected = linkage(X, "single")
    np.testing.assert_array_equal(nodes, expected[:, :2])
    np.testing.assert_allclose(heights, expected[:, 2])
    np.testing.assert_array_equal(sizes, expected[:, 3])


DATA = {
    **{f"blobs {seed}": make_blobs(400, 2, centers=4, random_state=seed)[0] for seed in range(10)},
    **{f"six features {seed}": make_blobs(400, 6, centers=4, random_state=seed)[0] for seed in range(8)},
    **{f"moons {seed}": make_moons(400, noise=0.06, random_state=seed)[0] for seed in range(4)},
    **{f"circles {seed}": make_circles(400, noise=0.04, factor=0.5, random_state=seed)[0] for seed in range(4)},
    **{f"densities {seed}": make_blobs(400, 2, cluster_std=[0.2, 1.0, 2.0], random_state=seed)[0] for seed in range(2)},
    "iris": load_iris().data,
    "wine": load_wine().data,
}


@pytest.mark.parametrize("name", DATA)
def test_clusters_are_scikit_learns(name):
    X = DATA[name]
    own = HDBSCAN(min_cluster_size=15).fit(X)
    peer = sklearn.cluster.HDBSCAN(min_cluster_size=15, copy=True).fit(X)
    assert adjusted_rand_score(own.labels_, peer.labels_) >= 0.99


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 60),
    size=st.integers(2, 6),
    min_samples=st.integers(1, 4),
    method=st.sampled_from(["eom", "leaf"]),
    epsilon=st.sampled_from([0.0, 0.15, 0.5]),
    allows_root=st.booleans(),
)
def test_clusters_are_those_of_the_definition(seed, n, size, min_samples, method, epsilon, allows_root):
    X = table(seed, n, 2, "clumps")
    model = HDBSCAN(
        size,
        min_samples=min_samples,
        cluster_selection_method=method,
        cluster_selection_epsilon=epsilon,
        allow_single_cluster=allows_root,
    ).fit(X)
    tree = SpanningTree.from_table(model.spanning_tree_)  # its weights, so that what ties there ties here
    reach = np.full((n, n), np.inf)
    reach[tree.start, tree.end] = reach[tree.end, tree.start] = tree.weights
    expected = density.hdbscan(reach, size, method, epsilon, allows_root)
    assert adjusted_rand_score(model.labels_, expected) == 1
    np.testing.assert_array_equal(model.labels_ < 0, expected < 0)


@pytest.mark.parametrize(
    "params",
    [
        {"cluster_selection_method": "leaf"},
        {"allow_single_cluster": True},
        {"max_cluster_size": 90},
        {"alpha": 1.3},
    ],
    ids=str,
)
def test_choices_are_scikit_learns_where_nothing_ties(params):
    for seed in range(3):
        X = make_blobs(300, 2, centers=4, random_state=seed)[0]
        own = HDBSCAN(10, min_samples=1, **params).fit(X)  # with distances as they are, no two edges weigh the same
        peer = sklearn.cluster.HDBSCAN(10, min_samples=1, copy=True, **params).fit(X)
        assert adjusted_rand_score(own.labels_, peer.labels_) == 1
        np.testing.assert_allclose(own.probabilities_, peer.probabilities_, rtol=1e-10)


def test_clusters_do_not_depend_on_the_order_of_rows():
    X = make_blobs(500, 2, centers=5, random_state=0)[0]
    order = np.random.RandomState(0).permutation(len(X))
    for params in ({}, {"cluster_selection_method": "leaf"}):
        own, other = HDBSCAN(**params).fit(X), HDBSCAN(**params).fit(X[order])
        assert adjusted_rand_score(own.labels_[order], other.labels_) == 1
        np.testing.assert_allclose(own.probabilities_[order], other.probabilities_)


def test_every_way_to_give_the_same_distances_gives_the_same_clusters():
    X = table(1, 200, 2, "clumps")
    distances = cdist(X, X)
    own = HDBSCAN(n_jobs=2).fit(X)
    others = [
        HDBSCAN(metric="precomputed").fit(distances),
        HDBSCAN(metric="precomputed").fit(sp.csr_array(distances + 1e-300)),
        HDBSCAN(metric=lambda a, b: np.linalg.norm(a - b)).fit(X),
        HDBSCAN(n_jobs=1).fit(np.asfortranarray(X)),
    ]
    for other in others:
        np.testing.assert_array_equal(other.labels_, own.labels_)
        assert other.certificate_.primal == pytest.approx(own.certificate_.primal)
    assert (np.diff(own.spanning_tree_[:, 2]) >= 0).all()


def test_rows_that_are_not_finite_take_no_part():
    X = make_blobs(100, 2, random_state=0)[0]
    broken = np.concatenate([[[np.nan, 1.0]], X, [[np.inf, 1.0], [np.inf, np.nan]]])
    own, whole = HDBSCAN(store_centers="both").fit(broken), HDBSCAN(store_centers="both").fit(X)
    np.testing.assert_array_equal(own.labels_[1:-2], whole.labels_)
    np.testing.assert_array_equal(own.labels_[[0, -2, -1]], [-3, -2, -3])
    np.testing.assert_array_equal(own.probabilities_[[0, -2, -1]], [np.nan, 0, np.nan])
    np.testing.assert_array_equal(own.dbscan_clustering(1.0)[1:-2], whole.dbscan_clustering(1.0))
    np.testing.assert_array_equal(own.medoids_, whole.medoids_)


def test_a_cut_is_dbscan_without_borders():
    X = make_blobs(400, 2, centers=4, random_state=3)[0]
    model = HDBSCAN(min_samples=5).fit(X)
    peer = sklearn.cluster.HDBSCAN(min_samples=5, copy=True).fit(X)
    for distance in (0.2, 0.4, 1.0):
        cut = model.dbscan_clustering(distance, min_cluster_size=3)
        assert adjusted_rand_score(cut, peer.dbscan_clustering(distance, min_cluster_size=3)) == 1


def test_centres_are_scikit_learns():
    X = make_blobs(300, 3, centers=3, random_state=0)[0]
    own = HDBSCAN(20, store_centers="both").fit(X)
    for label in range(3):
        rows, firmness = X[own.labels_ == label], own.probabilities_[own.labels_ == label]
        np.testing.assert_allclose(own.centroids_[label], np.average(rows, axis=0, weights=firmness))
        np.testing.assert_array_equal(own.medoids_[label], rows[np.argmin(cdist(rows, rows) @ firmness)])
    assert not hasattr(own.set_params(store_centers=None).fit(X), "medoids_")


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({}, [[1.0]], "requires more than one sample"),
        ({"min_samples": 4}, [[1.0], [2.0], [3.0]], "must be at most the number of samples"),
        ({"min_cluster_size": 1}, [[1.0], [2.0]], "min_cluster_size=1 is not valid"),
        ({"metric": "precomputed"}, [[1.0, 2.0]], "symmetric"),
        ({"metric": "precomputed", "min_samples": 1}, [[0.0, 2.0], [1.0, 0.0]], "asymmetric"),
        ({"metric": "precomputed", "store_centers": "both"}, [[0.0, 2.0], [2.0, 0.0]], "Cannot store centers"),
        ({"metric": "yule", "algorithm": "ball_tree"}, [[1.0], [2.0]], "not a valid metric for a BallTree"),
        ({}, np.empty((0, 2)), "0 sample"),
    ],
)
def test_what_cannot_be_is_refused(params, X, words):
    with pytest.raises(ValueError, match=words):
        HDBSCAN(**params).fit(X)


@pytest.mark.parametrize(
    ("metric", "algorithm"), [("cosine", "kd_tree"), ("sqeuclidean", "ball_tree"), ("matching", "ball_tree")]
)
def test_a_tree_is_taken_for_every_metric_that_trees_have(metric, algorithm):
    X = np.random.RandomState(0).normal(size=(40, 3)).round()
    labels = HDBSCAN(metric=metric, algorithm=algorithm).fit_predict(X)
    np.testing.assert_array_equal(labels, HDBSCAN(metric=metric).fit_predict(X))
    if metric == "matching":
        np.testing.assert_array_equal(labels, HDBSCAN(metric="hamming").fit_predict(X != 0))
