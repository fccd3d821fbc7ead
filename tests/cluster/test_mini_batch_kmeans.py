from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans as PeerMiniBatchKMeans
from sklearn.datasets import make_blobs

from mercer import load, save
from mercer.cluster import KMeans, MiniBatchKMeans
from tests.reference import clusters as naive


@pytest.fixture(scope="module")
def X():
    return make_blobs(2_000, 5, centers=6, cluster_std=1.5, random_state=3)[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_centres_are_running_means_of_their_rows(X, dtype, shift):
    X = (X + shift).astype(dtype)
    batches = np.array_split(X[:1_000], 7)
    start = X[[1, 200, 800]]
    model = MiniBatchKMeans(3, init=start, reassignment_ratio=0, n_init=1)
    for batch in batches:
        model.partial_fit(batch)
    # Between batches the centres of single precision are rounded, and with them a nearest centre may change; not in these.
    shifted = [batch.astype(float) - shift for batch in batches]
    expected, counts = naive_by_batches(shifted, start.astype(float) - shift)
    np.testing.assert_allclose(
        model.cluster_centers_ - shift, expected, atol=1e-9 if dtype == np.float64 else 2e-6 * (1 + shift)
    )
    np.testing.assert_array_equal(model._state.weights, counts)
    assert model.cluster_centers_.dtype == dtype
    assert model.n_steps_ == 7


def naive_by_batches(batches, start):
    """All rows of a batch go by the centres before it."""
    sums, totals, centres = np.zeros_like(start), np.zeros(len(start)), start.copy()
    for batch in batches:
        labels = naive.assign(batch, centres)
        for c in range(len(start)):
            sums[c] += batch[labels == c].sum(axis=0)
            totals[c] += (labels == c).sum()
        centres = np.where(totals[:, None] > 0, sums / np.maximum(totals, 1)[:, None], centres)
    return centres, totals


def test_one_batch_is_the_rule_of_one_over_n(X):
    start = X[[5, 50, 500]]
    batch = X[:40]
    model = MiniBatchKMeans(3, init=start, reassignment_ratio=0).partial_fit(batch)
    labels = naive.assign(batch, start)
    for c in range(3):
        alone, _ = naive.running_means([batch[labels == c]], start[[c]])
        np.testing.assert_allclose(model.cluster_centers_[c], alone[0], rtol=1e-12)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"tol": 0.01}, {"init": "random", "n_init": 2}, {"reassignment_ratio": 0.5}])
def test_takes_the_steps_of_the_peer(X, is_sparse, is_weighted, options):
    random = np.random.RandomState(0)
    if is_sparse:
        X = sp.csr_matrix(np.where(random.rand(*X.shape) < 0.5, 0, X))
    weights = random.randint(1, 4, X.shape[0]).astype(float) if is_weighted else None
    params = {"n_clusters": 6, "batch_size": 128, "random_state": 1, **options}
    model, peer = (kind(**params).fit(X, sample_weight=weights) for kind in (MiniBatchKMeans, PeerMiniBatchKMeans))
    if not (is_weighted and "tol" in options):  # the variance that scales tol counts the weights here
        assert model.n_steps_ == peer.n_steps_
        np.testing.assert_allclose(model.cluster_centers_, peer.cluster_centers_, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(model.labels_, peer.labels_)
        assert model.inertia_ == pytest.approx(peer.inertia_)


def test_the_inertia_is_near_that_of_k_means(X):
    model = MiniBatchKMeans(6, random_state=0, batch_size=256).fit(X)
    assert model.inertia_ < 1.02 * KMeans(6, random_state=0, n_init=5).fit(X).inertia_
    smoothed = [record["smoothed_inertia"] for record in model.history_[1:]]
    assert min(smoothed) < smoothed[0]


def test_the_certificate_says_how_far_a_step_over_all_rows_would_go(X):
    model = MiniBatchKMeans(6, random_state=0).fit(X)
    labels = naive.assign(X, model.cluster_centers_)
    means = np.array([X[labels == c].mean(axis=0) for c in range(6)])
    assert model.certificate_.residual == pytest.approx(((means - model.cluster_centers_) ** 2).sum(), rel=1e-6)
    assert not model.certificate_.converged
    assert MiniBatchKMeans(6, random_state=0, tol=10.0).fit(X).certificate_.converged


def test_rows_of_weight_zero_are_absent(X):
    weights = np.r_[np.zeros(700), np.ones(len(X) - 700)]
    model = MiniBatchKMeans(4, random_state=0).fit(X, sample_weight=weights)
    alone = MiniBatchKMeans(4, random_state=0).fit(X[700:])
    np.testing.assert_array_equal(model.cluster_centers_, alone.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == alone.inertia_


def test_centres_without_rows_move_to_rows():
    X = make_blobs(500, 2, centers=[[0, 0], [10, 0], [0, 10]], cluster_std=0.1, random_state=0)[0]
    start = np.array([[0.0, 0], [1e6, 0], [0, 1e6]])
    model = MiniBatchKMeans(3, init=start, batch_size=50, random_state=0, max_no_improvement=None, max_iter=20).fit(X)
    assert np.bincount(model.labels_, minlength=3).min() > 100
    still = MiniBatchKMeans(3, init=start, batch_size=50, random_state=0, reassignment_ratio=0).fit(X)
    assert 1e6 in still.cluster_centers_


def test_partial_fit_goes_on_after_saving(X, tmp_path):
    one = MiniBatchKMeans(4, random_state=0).partial_fit(X[:500])
    save(one, tmp_path / "model.mercer")
    other = load(tmp_path / "model.mercer")
    for model in (one, other):
        model.partial_fit(X[500:900]).partial_fit(X[900:])
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)


def test_a_refused_batch_leaves_the_model_as_it_was(X):
    model = MiniBatchKMeans(4, random_state=0).partial_fit(X)
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(X[0, 0] == X, np.nan, X))
    np.testing.assert_array_equal(model.cluster_centers_, before)
    model.partial_fit(X)


@pytest.mark.parametrize("X", [np.zeros((10, 2)), np.repeat([[1.0, 2], [3, 4]], 5, axis=0), np.arange(3.0)[:, None]])
def test_hard_data_end_in_finite_centres(X):
    model = MiniBatchKMeans(min(3, len(X)), random_state=0).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ < 1e-12 or len(X) == 3


def test_wrong_parameters_are_refused(X):
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        MiniBatchKMeans().fit(X[:3])
    with pytest.raises(ValueError, match="batch_size=0"):
        MiniBatchKMeans(batch_size=0).fit(X)
    with pytest.raises(ValueError, match=r"init holds centres of shape \(2, 5\)"):
        MiniBatchKMeans(3, init=X[:2]).fit(X)
    with pytest.warns(RuntimeWarning, match="init_size=2 should be larger than n_clusters=5"):
        MiniBatchKMeans(5, init_size=2, random_state=0).fit(X)
