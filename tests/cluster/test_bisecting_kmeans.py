from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer.cluster import BisectingKMeans, KMeans
from tests.reference import kmeans as naive

STRATEGIES = ["biggest_inertia", "largest_cluster"]


@pytest.fixture(scope="module")
def X():
    return make_blobs(600, 4, centers=9, random_state=5)[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32), np.asfortranarray])
def test_rows_go_down_the_tree_to_the_labels_of_the_fit(X, strategy, form):
    model = BisectingKMeans(7, bisecting_strategy=strategy, random_state=0).fit(form(X))
    np.testing.assert_array_equal(model.predict(form(X)), model.labels_)
    assert set(model.labels_) == set(range(7))
    assert model.inertia_ == pytest.approx(naive.inertia(X, model.cluster_centers_.astype(float), model.labels_), rel=1e-4)


def test_each_centre_is_the_mean_of_its_rows(X):
    model = BisectingKMeans(7, random_state=0, tol=0).fit(X)
    for c, centre in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(centre, X[model.labels_ == c].mean(axis=0))


def test_two_clusters_are_those_of_k_means(X):
    model = BisectingKMeans(2, random_state=0, init="k-means++").fit(X)
    other = KMeans(2, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(other.inertia_)


def test_every_halving_lowers_the_inertia(X):
    history = BisectingKMeans(9, random_state=0).fit(X).history_
    assert (np.diff([record["inertia"] for record in history]) < 0).all()


def test_strategies_halve_what_they_say():
    X = np.concatenate([np.random.RandomState(0).randn(300, 2), [[50, 0], [50, 9], [53, 0]]])
    by_inertia = BisectingKMeans(3, random_state=0).fit(X)
    by_size = BisectingKMeans(3, random_state=0, bisecting_strategy="largest_cluster").fit(X)
    assert by_inertia.history_[1]["n_rows"] in (300, 3)
    assert by_size.history_[1]["n_rows"] == 300


def test_weights_count_as_repeated_rows_and_zeros_as_absent_ones(X):
    weights = np.random.RandomState(0).randint(0, 3, len(X)).astype(float)

    def ends(X, n_clusters, random_state):
        return X[np.argsort(X[:, 0])[[0, -1]]]

    model = BisectingKMeans(5, init=ends, tol=0).fit(X, sample_weight=weights)
    repeated = BisectingKMeans(5, init=ends, tol=0).fit(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(model.cluster_centers_, repeated.cluster_centers_)
    assert model.inertia_ == pytest.approx(repeated.inertia_)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("value", [0.1, 1e9 + 0.3])
def test_duplicates_give_as_many_clusters_as_rows_differ(strategy, value):
    X = np.repeat([[value, 0.0], [value, 1.0], [value, 5.0]], 7, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(3\) found smaller than n_clusters \(5\)"):
        model = BisectingKMeans(5, bisecting_strategy=strategy, random_state=0).fit(X)
    assert len(model.cluster_centers_) == 3
    assert model.inertia_ == pytest.approx(0, abs=1e-9)


def test_one_cluster_is_the_mean_and_more_than_the_rows_are_refused(X):
    model = BisectingKMeans(1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0))
    assert model.certificate_.converged
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        BisectingKMeans().fit(X[:3])


@pytest.mark.parametrize("child", [0, -1])
def test_a_tree_that_leads_back_is_an_error(X, child):
    model = BisectingKMeans(4, random_state=0).fit(X)
    model._children = np.where(model._children > 0, child, model._children)
    with pytest.raises(ValueError, match="tree of halvings is damaged"):
        model.predict(X)
