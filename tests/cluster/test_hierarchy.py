"""Hierarchies: merges by definition and as SciPy's and fastcluster's, cuts, graphs, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy as scipy_hierarchy
import sklearn.cluster
from hypothesis import given, settings, strategies as st
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import kneighbors_graph

import mercer._memory
from mercer.cluster import (
    AgglomerativeClustering,
    DivisiveClustering,
    FeatureAgglomeration,
    cut_linkage,
    linkage,
    linkage_tree,
    suggest_n_clusters,
    ward_tree,
)
from mercer.cluster._dissimilarities import FEW_FEATURES
from tests.reference.hierarchy import divided_sets, merged_sets, sets_of

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
MONOTONE = LINKAGES[:5]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def same_sets(found, wanted):
    assert {members for members, _ in found} == {members for members, _ in wanted}
    heights = dict(wanted)
    for members, height in found:
        assert height == pytest.approx(heights[members], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward", "centroid"])
@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_merges_are_those_of_the_definition(method, n):
    X = rows(n, 2, seed=n)
    same_sets(sets_of(linkage(X, method)), merged_sets(X, method))


@given(st.integers(2, 60), st.integers(1, 5), st.sampled_from(LINKAGES), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_merges_are_those_of_scipy(n, d, method, seed):
    X = rows(n, d, seed)
    np.testing.assert_allclose(linkage(X, method), scipy_hierarchy.linkage(X, method), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", LINKAGES)
def test_merges_of_many_rows_are_those_of_scipy_in_rounds_and_along_the_chain(method):
    spread = np.concatenate([rows(500, 3), 20 + rows(200, 3, 1), np.exp(rows(100, 3, 2))])
    np.testing.assert_allclose(linkage(spread, method), scipy_hierarchy.linkage(spread, method), rtol=1e-9, atol=1e-12)
    # One mutual pair at a time: nothing but the chain.
    line = np.cumsum(1.01 ** np.arange(600))[:, None]
    np.testing.assert_allclose(linkage(line, method)[:, 2], scipy_hierarchy.linkage(line, method)[:, 2], rtol=1e-7)


def test_ward_with_many_features_keeps_a_matrix_and_merges_alike():
    X = rows(400, FEW_FEATURES + 8)
    np.testing.assert_allclose(linkage(X, "ward"), scipy_hierarchy.linkage(X, "ward"), rtol=1e-9)


@pytest.mark.parametrize("method", MONOTONE)
def test_merges_are_those_of_fastcluster(method):
    fastcluster = pytest.importorskip("fastcluster")
    X = rows(300, 4)
    np.testing.assert_allclose(linkage(X, method)[:, 2], fastcluster.linkage(X, method)[:, 2], rtol=1e-9)


@given(st.integers(2, 40), st.sampled_from(MONOTONE), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_with_ties_each_merge_is_the_nearest_there_is(n, method, seed):
    """Any of equally near pairs may come first; but no two clusters are merged while others are nearer."""
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    found = linkage(X, method)
    distances = pairwise_distances(X)
    assert (np.diff(found[:, 2]) >= -1e-12).all()
    clusters = {i: [i] for i in range(n)}
    values = {(i, j): distances[i, j] for i in range(n) for j in range(i)}
    for step, (left, right, height, size) in enumerate(found):
        a, b, new = int(left), int(right), n + step
        ab = values[max(a, b), min(a, b)]
        assert height == pytest.approx(ab, abs=1e-9)
        assert height == pytest.approx(min(values.values()), abs=1e-9)
        sizes = {node: len(members) for node, members in clusters.items()}
        clusters[new] = clusters.pop(a) + clusters.pop(b)
        assert len(clusters[new]) == size
        for c in clusters:
            if c == new:
                continue
            ac, bc = values.pop((max(a, c), min(a, c))), values.pop((max(b, c), min(b, c)))
            values[new, c] = {
                "single": min(ac, bc),
                "complete": max(ac, bc),
                "average": (sizes[a] * ac + sizes[b] * bc) / size,
                "weighted": (ac + bc) / 2,
                "ward": np.sqrt(
                    max(0, (sizes[a] + sizes[c]) * ac**2 + (sizes[b] + sizes[c]) * bc**2 - sizes[c] * ab**2) / (size + sizes[c])
                ),
            }[method]
        values.pop((max(a, b), min(a, b)))


def test_single_linkage_has_the_cophenetic_distances_of_scipy_whatever_the_ties():
    X = np.random.default_rng(0).integers(0, 4, size=(80, 2)).astype(float)
    own, peer = linkage(X, "single"), scipy_hierarchy.linkage(X, "single")
    np.testing.assert_allclose(scipy_hierarchy.cophenet(own), scipy_hierarchy.cophenet(peer))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "correlation", "sqeuclidean", "canberra", "braycurtis"])
@pytest.mark.parametrize("method", ["single", "average"])
def test_any_metric_gives_what_its_distances_give(metric, method):
    X = np.abs(rows(60, 5)) + 0.1
    given = linkage(pairwise_distances(X, metric=metric), method, "precomputed")
    np.testing.assert_allclose(linkage(X, method, metric), given, rtol=1e-7, atol=1e-12)


def test_a_metric_may_be_a_function_of_x_or_of_two_rows():
    X = rows(30, 3)
    wanted = linkage(X, "average", "manhattan")
    np.testing.assert_allclose(linkage(X, "average", lambda X: pairwise_distances(X, metric="manhattan")), wanted)
    np.testing.assert_allclose(linkage(X, "average", lambda x, y: np.abs(x - y).sum()), wanted)


@pytest.mark.parametrize("method", MONOTONE)
def test_threads_change_no_bit(method):
    X = rows(900, 3)
    one, two = linkage(X, method, n_jobs=1), linkage(X, method, n_jobs=2)
    assert (one == two).all()


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("scale", [1e-180, 1e-6, 1e180])
def test_scale_and_place_of_the_rows_change_nothing(method, scale):
    X = rows(60, 2)
    np.testing.assert_allclose(linkage(X * scale, method)[:, 2] / scale, linkage(X, method)[:, 2], rtol=1e-9)
    np.testing.assert_allclose(linkage(X + 1e6, method)[:, 2], linkage(X, method)[:, 2], rtol=1e-6)


@pytest.mark.parametrize("method", LINKAGES)
def test_equal_rows_are_merged_at_zero(method):
    found = linkage(np.ones((50, 3)), method)
    assert (found[:, 2] == 0).all()
    assert found[-1, 3] == 50


def test_float32_rows_are_measured_in_double_precision():
    X = rows(200, 3).astype(np.float32)
    assert (linkage(X, "average") == linkage(X.astype(np.float64), "average")).all()


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_inversions_are_told_and_cut_as_scipy_cuts_them(method):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9], [4.0, 4.0], [5.0, 4.0], [4.5, 4.9]])
    model = AgglomerativeClustering(linkage=method, compute_distances=True).fit(X)
    assert model.certificate_.residual > 0
    assert model.certificate_.converged
    for height in (0.5, 0.95, 1.0, 2.0, 20.0):
        own = cut_linkage(model, height=height)
        peer = scipy_hierarchy.fcluster(model.linkage_matrix_, height * (1 - 1e-12), "distance")
        assert adjusted_rand_score(own, peer) == 1.0


@pytest.mark.parametrize("name", ["ward", "average", "complete", "single"])
@pytest.mark.parametrize("n_clusters", [1, 2, 7, 60])
def test_labels_are_those_of_scikit_learn(name, n_clusters):
    X = rows(60, 3)
    own = AgglomerativeClustering(n_clusters, linkage=name, compute_distances=True).fit(X)
    peer = sklearn.cluster.AgglomerativeClustering(n_clusters, linkage=name, compute_distances=True).fit(X)
    assert adjusted_rand_score(own.labels_, peer.labels_) == 1.0
    assert name == "single" or (own.labels_ == peer.labels_).all()  # there, nodes of a merge have any order
    np.testing.assert_allclose(own.distances_, peer.distances_)
    threshold = own.distances_[20]
    own.set_params(n_clusters=None, distance_threshold=threshold).fit(X)
    assert own.n_clusters_ == 60 - 20
    assert (cut_linkage(own, height=threshold) == own.labels_).all()


@pytest.mark.parametrize("name", ["ward", "average", "complete", "single"])
@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("n_clusters", [3, 120])
def test_along_a_graph_merges_are_those_of_scikit_learn_in_several_pieces_too(name, k, n_clusters):
    X = np.concatenate([rows(100, 3), 30 + rows(100, 3, 1)])
    graph = kneighbors_graph(X, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = AgglomerativeClustering(n_clusters, linkage=name, connectivity=graph).fit(X)
        peer = sklearn.cluster.AgglomerativeClustering(n_clusters, linkage=name, connectivity=graph).fit(X)
    assert own.n_connected_components_ == peer.n_connected_components_ > 1
    assert adjusted_rand_score(own.labels_, peer.labels_) == 1.0


def test_a_graph_in_pieces_is_completed_with_a_warning():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    graph = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    with pytest.warns(UserWarning, match="connected components of the connectivity matrix is 2"):
        model = AgglomerativeClustering(2, linkage="single", connectivity=graph, compute_distances=True).fit(X)
    np.testing.assert_allclose(model.distances_, [1, 1, 9])
    with pytest.raises(ValueError, match="Wrong shape for connectivity"):
        AgglomerativeClustering(2, connectivity=np.ones((3, 3))).fit(X)


def test_the_tree_functions_return_what_scikit_learns_return():
    X = rows(30, 2)
    for own, peer in (
        (ward_tree(X, return_distance=True), sklearn.cluster.ward_tree(X, return_distance=True)),
        (linkage_tree(X, return_distance=True), sklearn.cluster.linkage_tree(X, return_distance=True)),
    ):
        assert (own[0] == peer[0]).all()
        assert own[1:4] == peer[1:4]
        np.testing.assert_allclose(own[4], peer[4])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((1, 2)), {}, "minimum of 2 is required"),
        (np.ones((3, 2)), {"n_clusters": 4}, "n_clusters=4 was given for 3 rows"),
        (np.ones((3, 2)), {"distance_threshold": 1.0}, "Exactly one of n_clusters and distance_threshold"),
        (np.ones((3, 2)), {"metric": "cosine"}, "Ward can only work with euclidean"),
        (np.ones((3, 2)), {"linkage": "centroid", "metric": "cosine"}, "made of the means"),
        (np.ones((3, 2)), {"linkage": "average", "metric": "precomputed"}, "square"),
        (np.array([[0, 1.0], [2.0, 0]]), {"linkage": "average", "metric": "precomputed"}, r"symmetric; X\[0, 1\] is 1"),
        (np.array([[0, -1.0], [-1.0, 0]]), {"linkage": "single", "metric": "precomputed"}, "negative"),
        (np.array([[0, np.nan], [np.nan, 0]]), {"linkage": "average", "metric": "precomputed"}, "NaN"),
        (np.ones((3, 2)), {"n_clusters": None, "distance_threshold": 1.0, "compute_full_tree": False}, "compute_full_tree"),
    ],
)
def test_what_cannot_be_clustered_is_refused_by_name(X, options, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**options).fit(X)


def test_what_does_not_fit_in_memory_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr(mercer._memory, "free_memory", lambda: 1e6)
    X = rows(2_000, 2)
    with pytest.raises(MemoryError, match=r"linkage='average' keeps half a matrix.*15.3 MiB.*Use linkage='single' or 'ward'"):
        AgglomerativeClustering(linkage="average").fit(X)
    for name in ("single", "ward"):
        AgglomerativeClustering(linkage=name).fit(X)


def test_a_cut_is_by_number_or_by_height():
    Z = linkage(np.array([[0.0], [1.0], [5.0], [9.0]]))
    assert adjusted_rand_score(cut_linkage(Z, 2), [0, 0, 0, 1]) == 1.0
    assert len(set(cut_linkage(Z, 4))) == len(set(cut_linkage(Z, height=0.5))) == 4
    with pytest.raises(TypeError, match="exactly one"):
        cut_linkage(Z)
    with pytest.raises(ValueError, match="no linkage matrix"):
        cut_linkage(Z[::-1], 2)


def test_the_longest_gap_says_how_many_clusters():
    X = np.concatenate([centre + 0.1 * rows(20, 2, i) for i, centre in enumerate(([0, 0], [9, 0], [0, 9], [9, 9], [5, 20]))])
    for name in LINKAGES:
        assert suggest_n_clusters(AgglomerativeClustering(linkage=name).fit(X)) == 5
    assert suggest_n_clusters(linkage(X, "average"), max_clusters=3) <= 3
    assert suggest_n_clusters(linkage(np.ones((5, 2)))) == 1


@pytest.mark.parametrize("n", [2, 3, 10, 40])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_divisive_splits_are_those_of_the_definition(n, metric):
    X = rows(n, 2, seed=n)
    model = DivisiveClustering(metric=metric).fit(X)
    same_sets(sets_of(model.linkage_matrix_), divided_sets(pairwise_distances(X, metric=metric)))
    assert (np.diff(model.distances_) >= 0).all()
    assert 0 <= model.divisive_coefficient_ <= 1


def test_divisive_clustering_of_equal_rows_is_flat():
    model = DivisiveClustering(3).fit(np.ones((6, 2)))
    assert (model.distances_ == 0).all()
    assert len(set(model.labels_)) == 3


def test_features_are_pooled_and_spread_as_by_scikit_learn():
    X = rows(40, 9)
    own, peer = FeatureAgglomeration(4).fit(X), sklearn.cluster.FeatureAgglomeration(4).fit(X)
    np.testing.assert_allclose(own.transform(X), peer.transform(X))
    np.testing.assert_allclose(own.inverse_transform(own.transform(X)), peer.inverse_transform(peer.transform(X)))
    assert list(own.get_feature_names_out()) == [f"featureagglomeration{i}" for i in range(4)]
    own.set_params(pooling_func=np.median).fit(X)
    np.testing.assert_allclose(own.transform(X)[:, 0], np.median(X[:, own.labels_ == 0], axis=1))
    assert own.transform(X.astype(np.float32)).dtype == np.float32
