"""OPTICS has the order of its definition, ties included, and the valleys of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from mercer.cluster import OPTICS, cluster_optics_dbscan, cluster_optics_xi
from tests.cluster.test_dbscan import table
from tests.reference import density_clusters as density


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 120),
    d=st.integers(1, 4),
    kind=st.sampled_from(["scattered", "grid", "equal"]),
    metric=st.sampled_from(["manhattan", "chebyshev"]),  # whose rounding is the same whoever adds up
    min_samples=st.integers(2, 8),
    max_eps=st.sampled_from([0.3, 1.0, np.inf]),
)
def test_the_order_is_that_of_the_definition(seed, n, d, kind, metric, min_samples, max_eps):
    X = np.round(256 * table(seed, n, d, kind)) / 256  # sums are exact, so that equal reachabilities are
    min_samples = min(min_samples, n)
    model = OPTICS(min_samples=min_samples, max_eps=max_eps, metric=metric, cluster_method="dbscan", leaf_size=1).fit(X)
    order, reach, before = density.optics(cdist(X, X, "cityblock" if metric == "manhattan" else metric), min_samples, max_eps)
    np.testing.assert_array_equal(model.ordering_, order)
    np.testing.assert_array_equal(model.reachability_, reach)
    np.testing.assert_array_equal(model.predecessor_, before)


@pytest.mark.parametrize(
    ("params", "n", "d"),
    [
        ({}, 500, 2),
        ({"min_samples": 20, "max_eps": 2.0}, 400, 3),
        ({"predecessor_correction": False, "xi": 0.1}, 500, 2),
        ({"min_samples": 0.02, "min_cluster_size": 0.1}, 500, 2),
        ({"cluster_method": "dbscan", "eps": 0.5, "max_eps": 1.0}, 400, 5),
    ],
)
def test_everything_is_scikit_learns(params, n, d):
    X = make_blobs(n, d, centers=5, random_state=1)[0]
    own, peer = OPTICS(**params).fit(X), sklearn.cluster.OPTICS(**params).fit(X)
    for name in ("ordering_", "predecessor_", "labels_"):
        np.testing.assert_array_equal(getattr(own, name), getattr(peer, name))
    for name in ("reachability_", "core_distances_"):
        np.testing.assert_allclose(getattr(own, name), getattr(peer, name), rtol=1e-13)
    assert hasattr(own, "cluster_hierarchy_") == hasattr(peer, "cluster_hierarchy_")
    if hasattr(own, "cluster_hierarchy_"):
        np.testing.assert_array_equal(own.cluster_hierarchy_, peer.cluster_hierarchy_)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 60), xi=st.sampled_from([0.0, 0.05, 0.4]), corrects=st.booleans())
def test_valleys_are_scikit_learns_on_any_plot(seed, n, xi, corrects):
    random = np.random.RandomState(seed)
    plot = np.where(random.uniform(size=n) < 0.1, np.inf, random.randint(1, 12, size=n) / 4)
    order = {"reachability": plot, "predecessor": random.randint(-1, n, size=n), "ordering": random.permutation(n)}
    options = {"min_samples": random.randint(2, 5), "xi": xi, "predecessor_correction": corrects, **order}
    labels, clusters = cluster_optics_xi(**options)
    with np.errstate(all="ignore"):
        peer_labels, peer_clusters = sklearn.cluster.cluster_optics_xi(**options)
    np.testing.assert_array_equal(labels, peer_labels)
    np.testing.assert_array_equal(clusters, peer_clusters.reshape(-1, 2))


def test_every_way_to_give_the_same_distances_gives_the_same_order(tmp_path):
    X = table(1, 120, 2, "clumps")
    own = OPTICS().fit(X)
    others = [
        OPTICS(metric="precomputed").fit(cdist(X, X)),
        OPTICS(metric="precomputed").fit(sp.csr_array(cdist(X, X))),
        OPTICS(metric=lambda a, b: np.linalg.norm(a - b)).fit(X),
        OPTICS(memory=str(tmp_path)).fit(X),
        OPTICS(n_jobs=2).fit(X),
    ]
    for other in others:
        np.testing.assert_array_equal(other.ordering_, own.ordering_)
        np.testing.assert_allclose(other.reachability_, own.reachability_)
        np.testing.assert_array_equal(other.labels_, own.labels_)
    order = {"reachability": own.reachability_, "core_distances": own.core_distances_, "ordering": own.ordering_}
    peer = sklearn.cluster.cluster_optics_dbscan(eps=0.3, **order)
    np.testing.assert_array_equal(cluster_optics_dbscan(eps=0.3, **order), peer)


def test_nothing_reached_is_warned_about():
    with pytest.warns(UserWarning, match="All reachability values are inf"):
        model = OPTICS(max_eps=0.1).fit(10 * np.arange(10.0)[:, None])
    np.testing.assert_array_equal(model.ordering_, np.arange(10))
    assert (model.labels_ == -1).all()


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"min_samples": 11}, "must be no greater than the number of samples"),
        ({"min_cluster_size": 11, "min_samples": 2}, "must be no greater than the number of samples"),
        ({"min_samples": -1}, "min_samples=-1 is not valid"),
        ({"cluster_method": "dbscan", "eps": 2.0, "max_eps": 1.0}, "Specify an epsilon smaller than 1.0"),
        ({"xi": 1.5}, "xi=1.5 is not valid"),
    ],
)
def test_what_cannot_be_is_refused(params, words):
    with pytest.raises(ValueError, match=words):
        OPTICS(**params).fit(np.arange(20.0).reshape(10, 2))
