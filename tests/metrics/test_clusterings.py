"""Measures of clusterings: as scikit-learn's, as the formulas by hand, and whatever the names of the clusters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as peer
from hypothesis import given, settings, strategies as st
from sklearn.metrics import cluster as peer_cluster

from mercer import metrics
from mercer.cluster import AgglomerativeClustering, KMeans
from mercer.metrics import cluster
from tests.versions import against_scikit_learn_1_9

OF_TWO = (
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "completeness_score",
    "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "rand_score",
    "v_measure_score",
)
labelings = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 3)), min_size=1, max_size=60)


@pytest.mark.parametrize("name", [pytest.param(OF_TWO[0], marks=against_scikit_learn_1_9), *OF_TWO[1:]])
@given(labelings)
@settings(max_examples=40, deadline=None)
def test_agreement_is_that_of_scikit_learn(name, pairs):
    a, b = np.array(pairs).T
    np.testing.assert_allclose(getattr(metrics, name)(a, b), getattr(peer, name)(a, b), atol=1e-10)


@given(labelings)
@settings(max_examples=40, deadline=None)
def test_tables_are_those_of_scikit_learn(pairs):
    a, b = np.array(pairs).T
    assert (cluster.contingency_matrix(a, b) == peer_cluster.contingency_matrix(a, b)).all()
    assert (cluster.contingency_matrix(a, b, sparse=True).toarray() == peer_cluster.contingency_matrix(a, b)).all()
    assert (cluster.pair_confusion_matrix(a, b) == peer_cluster.pair_confusion_matrix(a, b)).all()
    table = cluster.contingency_matrix(a, b)
    expected = peer_cluster.expected_mutual_information(sp.csr_matrix(table), len(a))
    assert cluster.expected_mutual_information(table, len(a)) == pytest.approx(expected, abs=1e-10)


def test_names_of_clusters_do_not_matter():
    a, b = [0, 0, 1, 1, 2], ["x", "x", "y", "y", "z"]
    for name in OF_TWO[:5]:
        assert np.min(getattr(metrics, name)(a, b)) == pytest.approx(1.0)


def test_pairs_are_counted_without_overflow():
    a = np.zeros(3_000_000, dtype=np.int64)
    b = a.copy()
    b[0] = 1
    assert metrics.adjusted_rand_score(a, b) == pytest.approx(0)
    assert 0 < metrics.rand_score(a, b) < 1


METRICS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "canberra")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "k"), [(4, 2), (9, 8), (200, 3), (700, 40)])
def test_silhouettes_are_those_of_scikit_learn(metric, n, k):
    random = np.random.default_rng(n)
    X, labels = random.normal(size=(n, 3)), random.permutation(np.arange(n) % k)
    np.testing.assert_allclose(
        metrics.silhouette_samples(X, labels, metric=metric), peer.silhouette_samples(X, labels, metric=metric), atol=1e-9
    )
    D = peer.pairwise_distances(X, metric=metric)
    np.testing.assert_allclose(
        metrics.silhouette_samples(D, labels, metric="precomputed"),
        peer.silhouette_samples(X, labels, metric=metric),
        atol=1e-9,
    )
    is_same = labels[:, None] == labels
    wide = D[is_same].max()
    assert metrics.dunn_index(X, labels, metric=metric) == pytest.approx(D[~is_same].min() / wide if wide else np.inf)


def test_silhouettes_by_hand():
    # Row 0: a = 1, b = (9 + 10) / 2.
    assert metrics.silhouette_samples([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])[0] == pytest.approx(1 - 1 / 9.5)
    assert metrics.silhouette_samples([[0.0], [1.0], [9.0]], [0, 0, 1])[2] == 0  # alone


def test_silhouettes_do_not_depend_on_place_or_type():
    random = np.random.default_rng(0)
    X, labels = random.normal(size=(100, 4)), random.integers(0, 3, 100)
    wanted = metrics.silhouette_samples(X, labels)
    np.testing.assert_allclose(metrics.silhouette_samples(X + 1e6, labels), wanted, atol=1e-8)
    np.testing.assert_allclose(metrics.silhouette_samples(X.astype(np.float32), labels), wanted, atol=1e-6)
    np.testing.assert_allclose(metrics.silhouette_samples(sp.csr_matrix(X), labels), wanted, atol=1e-9)


@pytest.mark.parametrize("name", ["davies_bouldin_score", "calinski_harabasz_score", "silhouette_score"])
def test_internal_measures_are_those_of_scikit_learn(name):
    random = np.random.default_rng(0)
    X, labels = random.normal(size=(150, 4)) + 100, random.integers(0, 5, 150)
    assert getattr(metrics, name)(X, labels) == pytest.approx(getattr(peer, name)(X, labels), rel=1e-9)


def test_davies_bouldin_takes_means():
    # Spreads 1 and 2, centres 0 and 10: (1 + 2) / 10, whatever the number of rows.
    X = np.array([[-1.0], [1.0]] * 5 + [[8.0], [12.0]])
    assert metrics.davies_bouldin_score(X, [0] * 10 + [1] * 2) == pytest.approx(0.3)


@pytest.mark.parametrize("name", ["silhouette_score", "davies_bouldin_score", "calinski_harabasz_score", "dunn_index"])
@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_one_cluster_and_clusters_of_one_row_are_refused(name, labels):
    with pytest.raises(ValueError, match="Number of labels is"):
        getattr(metrics, name)([[0.0], [1.0], [2.0]], labels)


def test_scorers_of_clusterings_are_known_by_name():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    for name in OF_TWO[:4]:
        assert metrics.get_scorer(name)(KMeans(2, random_state=0).fit(X), X, ["a", "a", "b", "b"]) == pytest.approx(1)


def test_stability_finds_the_number_of_clusters_again():
    random = np.random.default_rng(0)
    X = np.concatenate([centre + random.normal(size=(25, 2)) for centre in ([0, 0], [12, 0], [0, 12])])
    found = metrics.cluster_stability(AgglomerativeClustering(), X, n_clusters=[2, 3, 5], n_resamples=6, random_state=0)
    assert found.n_clusters == 3
    assert found.mean == found.by_n_clusters[3].mean == 1.0
    assert found.by_n_clusters[5].mean < 1.0
    assert "   3 1.0000 +- 0.0000  <-" in repr(found)
    one = metrics.cluster_stability(AgglomerativeClustering(5), X, n_resamples=6, random_state=0)
    np.testing.assert_array_equal(one.scores, found.by_n_clusters[5].scores)
    with pytest.raises(TypeError, match="no fit_predict"):
        metrics.cluster_stability(object(), X)
