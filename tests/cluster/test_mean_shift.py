from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.cluster import MeanShift as PeerMeanShift, estimate_bandwidth as peer_bandwidth, get_bin_seeds as peer_seeds
from sklearn.datasets import make_blobs

from mercer.cluster import MeanShift, estimate_bandwidth, get_bin_seeds, mean_shift
from tests.reference import clusters as naive


@pytest.fixture(scope="module")
def X():
    return make_blobs(400, 2, centers=4, cluster_std=0.7, random_state=2)[0]


@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_a_seed_ends_where_the_textbook_says(d, offset):
    X = make_blobs(300, d, centers=3, random_state=d)[0] + offset
    for seed in X[:5]:
        model = MeanShift(bandwidth=2.0, seeds=[seed]).fit(X)
        end, count = naive.climb(X, seed, 2.0)
        np.testing.assert_allclose(model.cluster_centers_[0] - offset, end - offset, atol=1e-6 if offset else 1e-9)
        assert model.intensity_[0] == count


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_clusters_are_those_of_the_peer(data):
    n, d = data.draw(st.integers(5, 120)), data.draw(st.integers(1, 4))
    X = np.random.RandomState(data.draw(st.integers(0, 999))).randn(n, d)
    params = {
        "bandwidth": data.draw(st.floats(0.3, 3)),
        "bin_seeding": data.draw(st.booleans()),
        "cluster_all": data.draw(st.booleans()),
    }
    model, peer = MeanShift(**params).fit(X), PeerMeanShift(**params).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, atol=1e-9)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    assert model.n_iter_ == peer.n_iter_


def test_rows_beyond_the_bandwidth_are_noise_if_told_so(X):
    X = np.concatenate([X, [[100.0, 100.0]]])
    seeds = X[:20]
    model = MeanShift(bandwidth=1.5, seeds=seeds, cluster_all=False).fit(X)
    assert model.labels_[-1] == -1
    assert MeanShift(bandwidth=1.5, seeds=seeds).fit(X).labels_[-1] >= 0


def test_bandwidths_and_bins_are_those_of_the_peer(X):
    for quantile in (0.0, 0.1, 0.5, 1.0):
        assert estimate_bandwidth(X, quantile=quantile) == pytest.approx(peer_bandwidth(X, quantile=quantile))
    assert estimate_bandwidth(X, n_samples=50, random_state=3) == pytest.approx(peer_bandwidth(X, n_samples=50, random_state=3))
    np.testing.assert_allclose(get_bin_seeds(X, 1.0, 3), peer_seeds(X, 1.0, 3))
    centres, labels = mean_shift(X, bandwidth=1.5, bin_seeding=True)
    np.testing.assert_array_equal(labels, MeanShift(bandwidth=1.5, bin_seeding=True).fit(X).predict(X))
    assert len(centres) == labels.max() + 1


@pytest.mark.parametrize(
    ("X", "n_clusters"), [(np.zeros((5, 2)), 1), (np.array([[3.0, 4.0]]), 1), (np.repeat([[0.0], [7.0]], 6, axis=0), 2)]
)
def test_equal_rows_are_one_cluster(X, n_clusters):
    model = MeanShift().fit(X)
    assert len(model.cluster_centers_) == n_clusters
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.cluster_centers_[model.labels_], X)


def test_seeds_far_from_all_rows_are_refused(X):
    with pytest.raises(ValueError, match="No point was within bandwidth"):
        MeanShift(bandwidth=0.5, seeds=[[1e3, 1e3]]).fit(X)
    with pytest.raises(ValueError, match="seeds have 3 columns; X has 2"):
        MeanShift(bandwidth=0.5, seeds=[[1.0, 1.0, 1.0]]).fit(X)


def test_single_precision_is_kept(X):
    model = MeanShift(bandwidth=1.5).fit(X.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(model.cluster_centers_, MeanShift(bandwidth=1.5).fit(X).cluster_centers_, atol=0.05)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_estimated_bandwidth_has_the_precision_of_the_rows(dtype):
    assert type(estimate_bandwidth(np.arange(12.0).reshape(6, 2).astype(dtype))) is dtype
