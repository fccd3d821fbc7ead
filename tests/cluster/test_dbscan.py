"""DBSCAN is what its definition says, whatever the metric and the way to measure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from mercer.cluster import DBSCAN, _dbscan as module, dbscan
from tests.reference import density_clusters as density

METRICS = ["euclidean", "manhattan", "chebyshev", "minkowski"]


def table(seed, n, d, kind):
    """Scattered rows, rows on a grid (with equal ones), rows in clumps, or rows of which most are equal."""
    random = np.random.RandomState(seed)
    X = random.uniform(size=(n, d))
    if kind == "grid":
        return np.floor(4 * X)
    if kind == "clumps":
        return np.round(3 * X) + random.normal(scale=0.05, size=(n, d))
    return np.where(X > 0.3, 0.5, X) if kind == "equal" else X


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 200),
    d=st.integers(1, 5),
    kind=st.sampled_from(["scattered", "grid", "clumps", "equal"]),
    metric=st.sampled_from(METRICS),
    eps=st.sampled_from([0.01, 0.1, 0.35, 1.0, 5.0]),
    min_samples=st.integers(1, 12),
    leaf_size=st.sampled_from([1, 30]),
    is_weighted=st.booleans(),
)
def test_labels_are_those_of_the_definition(seed, n, d, kind, metric, eps, min_samples, leaf_size, is_weighted):
    X = table(seed, n, d, kind)
    weights = np.append(np.random.RandomState(seed).randint(-1, 4, size=n - 1), 2.0) if is_weighted else None
    power = {"p": 3.0} if metric == "minkowski" else {}
    model = DBSCAN(eps, min_samples=min_samples, metric=metric, leaf_size=leaf_size, **power).fit(X, sample_weight=weights)
    name = "cityblock" if metric == "manhattan" else metric
    labels, is_core = density.dbscan(cdist(X, X, name, **power), eps, min_samples, weights)
    np.testing.assert_array_equal(model.core_sample_indices_, np.flatnonzero(is_core))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.components_, X[is_core])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "eps"), [(3000, 2, 0.3), (2000, 3, 0.6), (1500, 8, 1.5), (3000, 2, 3.0), (800, 30, 4.0)])
def test_labels_are_scikit_learns(n, d, eps, dtype):
    X = make_blobs(n, d, centers=6, random_state=0)[0].astype(dtype)
    own = DBSCAN(eps, min_samples=8, n_jobs=2).fit(X)
    peer = sklearn.cluster.DBSCAN(eps=eps, min_samples=8).fit(X)
    np.testing.assert_array_equal(own.labels_, peer.labels_)
    np.testing.assert_array_equal(own.core_sample_indices_, peer.core_sample_indices_)
    np.testing.assert_array_equal(DBSCAN(eps, min_samples=8, n_jobs=1).fit(X).labels_, own.labels_)


def test_every_way_to_give_the_same_distances_gives_the_same_labels(monkeypatch):
    X = table(1, 150, 2, "clumps")
    distances = cdist(X, X)
    stored = sp.csr_array(np.where(distances <= 0.3, distances, 0))
    own = DBSCAN(0.2).fit(X).labels_
    assert own.max() > 3
    assert (own < 0).any()
    others = [
        DBSCAN(0.2, metric="precomputed").fit(distances),
        DBSCAN(0.2, metric="precomputed").fit(stored),
        DBSCAN(0.2).fit(sp.csr_array(X)),
        DBSCAN(0.2, metric=lambda a, b: np.linalg.norm(a - b)).fit(X),
        DBSCAN(0.2).fit(pl.DataFrame(X, schema=["a", "b"])),
        DBSCAN(0.2, metric="seuclidean", metric_params={"V": np.ones(2)}).fit(X),
    ]
    monkeypatch.setattr(module, "MOST_TABLED", 0)  # as if there were too many rows to keep who is near whom
    others.append(DBSCAN(0.2, metric="precomputed").fit(distances))
    for other in others:
        np.testing.assert_array_equal(other.labels_, own)
    np.testing.assert_array_equal(dbscan(X, 0.2)[1], own)


def test_paths_of_a_directed_graph_are_followed_as_they_point():
    graph = sp.csr_array(np.array([[0, 1.0, 0], [0, 0, 0], [1.0, 0, 0]]))
    peer = sklearn.cluster.DBSCAN(eps=1, min_samples=2, metric="precomputed").fit(graph)
    own = DBSCAN(1, min_samples=2, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(own.labels_, peer.labels_)


def test_the_certificate_counts_rows():
    X = np.array([[0.0], [0.5], [1.0], [1.5], [9.0]])
    method = DBSCAN(0.6, min_samples=3).fit(X).certificate_.method
    assert method == "DBSCAN: 1 clusters; 2 rows are core, 2 border, 1 noise"


def test_memory_stays_small_where_everybody_is_near():
    X = np.random.RandomState(0).uniform(size=(50_000, 3))  # 2.5e9 pairs within eps
    model = DBSCAN(10.0, min_samples=20).fit(X)
    assert (model.labels_ == 0).all()


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({"eps": 0.0}, [[1.0]], "eps=0.0 is not valid"),
        ({"min_samples": 0}, [[1.0]], "min_samples=0 is not valid"),
        ({"metric": "nearest"}, [[1.0]], "metric='nearest' is not valid"),
        ({"metric": "canberra", "algorithm": "kd_tree"}, [[1.0]], "not a valid metric for a KDTree"),
        ({"metric": "precomputed"}, [[1.0, 2.0]], "square"),
        ({}, [[np.nan]], "NaN"),
        ({}, np.empty((0, 2)), "0 sample"),
        ({"metric_params": {"q": 1}}, [[1.0]], "has no parameter 'q'"),
    ],
)
def test_what_cannot_be_is_refused(params, X, words):
    with pytest.raises(ValueError, match=words):
        DBSCAN(**params).fit(X)


def test_weights_that_cannot_be_are_refused():
    for weights, words in (([1.0], "expected"), ([np.nan, 1.0], "NaN"), (["a", "b"], "number")):
        with pytest.raises(ValueError, match=words):
            DBSCAN().fit([[0.0], [1.0]], sample_weight=weights)
