from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings, strategies as st
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer.cluster import KMeans, MiniBatchKMeans
from tests.reference import kmeans as naive

ALGORITHMS = ["lloyd", "elkan"]
SHAPES = [(50, 1, 3), (300, 4, 8), (1000, 12, 20), (700, 60, 31), (400, 130, 7), (2000, 3, 100), (40, 5, 33)]


def blobs(n, d, k, *, seed=0, dtype=np.float64, spread=2.0, offset=0.0):
    random = np.random.RandomState(seed)
    centres = spread * random.randn(k, d)
    return (centres[random.randint(k, size=n)] + random.randn(n, d) + offset).astype(dtype)


def layouts(X):
    wide = np.zeros((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[:, ::2] = X
    return {"C": X, "F": np.asfortranarray(X), "strided": wide[:, ::2], "reversed": X[::-1].copy()[::-1]}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_fit_takes_the_same_steps_as_the_naive_algorithm(n, d, k, algorithm):
    X = blobs(n, d, k)
    start = X[:k].copy()
    _, centres, history = naive.lloyd(X, start, max_iter=25)
    model = KMeans(k, init=start, max_iter=25, tol=0, algorithm=algorithm).fit(X)
    np.testing.assert_array_equal(model.labels_, naive.assign(X, centres))
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([record["inertia"] for record in model.history_], history, rtol=1e-9, atol=1e-9 * X.var() * n)
    assert model.n_iter_ == len(history) == len(model.history_)


@pytest.mark.parametrize("layout", ["F", "strided", "reversed"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_memory_order_does_not_change_the_result(layout, dtype):
    X = blobs(3000, 13, 9, dtype=dtype)
    expected = KMeans(9, random_state=0).fit(X)
    model = KMeans(9, random_state=0).fit(layouts(X)[layout])
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.cluster_centers_, expected.cluster_centers_, rtol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.filterwarnings("ignore:.*distinct clusters")
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_fit_agrees_with_scikit_learn_from_the_same_start(data, is_weighted, is_sparse, algorithm):
    n = data.draw(st.integers(12, 400))
    d = data.draw(st.integers(1, 30))
    k = data.draw(st.integers(1, 10))
    seed = data.draw(st.integers(0, 10_000))
    random = np.random.RandomState(seed)
    X = blobs(n, d, k, seed=seed, offset=0.0 if is_sparse else 50.0)
    if is_sparse:
        X[random.rand(n, d) < 0.7] = 0
        X = sp.csr_matrix(X)
    weights = random.rand(n) + 0.1 if is_weighted else None
    rows = X.toarray() if is_sparse else X
    # Different rows, so that no cluster is empty: which row an empty one takes over differs between the peer's own variants.
    start = np.unique(rows, axis=0)[:: max(len(np.unique(rows, axis=0)) // k, 1)][:k]
    assume(len(start) == k)
    # tol=0: the peer's tolerance ignores the weights
    peer = PeerKMeans(k, init=start, n_init=1, tol=0).fit(X, sample_weight=weights)
    variant = PeerKMeans(k, init=start, n_init=1, tol=0, algorithm="elkan").fit(X, sample_weight=weights)
    assume(np.isclose(variant.inertia_, peer.inertia_))  # else a cluster became empty on the way
    model = KMeans(k, init=start, tol=0, algorithm=algorithm).fit(X, sample_weight=weights)
    assert model.inertia_ == pytest.approx(peer.inertia_, rel=1e-8, abs=1e-9)
    used = np.unique(peer.labels_)  # where rows repeat, a cluster may stay empty, and then its centre means nothing
    np.testing.assert_allclose(model.cluster_centers_[used], peer.cluster_centers_[used], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("n_init", ["auto", 3])
def test_the_same_random_state_gives_what_it_gives_in_scikit_learn(init, n_init):
    X = blobs(4000, 8, 12)
    options = {"init": init, "n_init": n_init, "random_state": 3}
    peer, model = PeerKMeans(12, **options).fit(X), KMeans(12, **options).fit(X)
    assert (model.n_iter_, model.inertia_) == (peer.n_iter_, pytest.approx(peer.inertia_, rel=1e-10))
    np.testing.assert_array_equal(model.labels_, peer.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_predict_transform_and_score_agree_with_the_naive_ones(dtype, is_sparse):
    X = blobs(500, 9, 6, dtype=dtype)
    model = KMeans(6, random_state=0).fit(X)
    new = blobs(200, 9, 6, seed=1, dtype=dtype)
    given_rows = sp.csr_matrix(new) if is_sparse else new
    centres = model.cluster_centers_.astype(np.float64)
    distances = np.sqrt(naive.squared_distances(new.astype(np.float64), centres))
    tol = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(model.transform(given_rows), distances, rtol=tol, atol=tol)
    np.testing.assert_array_equal(model.predict(given_rows), distances.argmin(axis=1))
    assert model.score(given_rows) == pytest.approx(-(distances.min(axis=1) ** 2).sum(), rel=tol)
    weights = np.arange(1, 201, dtype=dtype)
    expected = -(weights * distances.min(axis=1) ** 2).sum()
    assert model.score(given_rows, sample_weight=weights) == pytest.approx(expected, rel=tol)
    assert model.transform(given_rows).dtype == dtype
    assert model.labels_.dtype == np.int32


def test_labels_of_the_training_rows_are_what_predict_says():
    X = blobs(5000, 12, 40)
    model = KMeans(40, random_state=0, max_iter=3).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx(-model.score(X), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_data_far_from_the_origin_are_clustered_as_near_it(dtype):
    X = blobs(800, 3, 4, spread=8, dtype=np.float64).round(2)
    far = (X + (1e6 if dtype == np.float64 else 1e3)).astype(dtype)
    near, away = KMeans(4, random_state=0).fit(X), KMeans(4, random_state=0).fit(far)
    np.testing.assert_array_equal(near.labels_, away.labels_)
    assert away.inertia_ == pytest.approx(near.inertia_, rel=1e-3 if dtype == np.float32 else 1e-7)


def test_inertia_never_rises():
    X = blobs(3000, 16, 25, spread=0.5)
    history = [record["inertia"] for record in KMeans(25, random_state=0, tol=0).fit(X).history_]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(history))


def test_weights_equal_repetitions():
    X = blobs(300, 4, 5)
    repeats = np.random.RandomState(0).randint(0, 4, size=300)
    start = X[repeats > 0][:5]
    weighted = KMeans(5, init=start).fit(X, sample_weight=repeats)
    repeated = KMeans(5, init=start).fit(np.repeat(X, repeats, axis=0))
    assert weighted.n_iter_ == repeated.n_iter_
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_empty_cluster_takes_over_the_farthest_row(algorithm):
    X = np.array([[0.0], [0.1], [5.0], [5.1], [20.0]])
    start = np.array([[0.0], [5.0], [1000.0]])
    model = KMeans(3, init=start, algorithm=algorithm).fit(X)
    peer = PeerKMeans(3, init=start).fit(X)
    assert sorted(np.bincount(model.labels_)) == [1, 2, 2]
    assert model.inertia_ == pytest.approx(peer.inertia_)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_several_empty_clusters_all_find_rows(is_sparse):
    X = blobs(200, 3, 4)
    start = np.concatenate([X[:2], np.full((6, 3), 500.0)])
    model = KMeans(8, init=start).fit(sp.csr_matrix(X) if is_sparse else X)
    assert len(np.unique(model.labels_)) == 8


def test_rows_of_zero_weight_are_never_taken_over():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [1e3]])
    model = KMeans(3, init=[[0.0], [5.0], [800.0]]).fit(X, sample_weight=[1, 1, 1, 1, 0])
    assert model.cluster_centers_.max() < 900


def test_more_clusters_than_different_rows_warns_once_and_says_what_to_do():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than n_clusters \(3\)") as caught:
        model = KMeans(3, random_state=0).fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.inertia_ == 0


def test_one_cluster_is_the_mean():
    X = blobs(100, 5, 3, offset=7)
    model = KMeans(1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0))
    assert model.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_a_callable_start_is_given_the_data_as_they_are():
    X = blobs(100, 2, 3, offset=100)
    seen = []

    def start(data, n_clusters, random_state):
        seen.append((data, n_clusters, random_state))
        return data[:n_clusters]

    model = KMeans(3, init=start, n_init=2, random_state=0).fit(X)
    assert len(seen) == 2
    assert seen[0][0] is X
    assert model.inertia_ == pytest.approx(KMeans(3, init=X[:3]).fit(X).inertia_)


def test_given_starts_and_the_data_are_left_alone():
    X = blobs(200, 4, 3)
    start = X[:3].copy()
    before = X.copy(), start.copy()
    KMeans(3, init=start, copy_x=False).fit(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(start, before[1])


def test_the_best_of_several_starts_wins():
    X, _ = make_blobs(300, centers=7, random_state=1)
    inertias = [KMeans(7, init="random", n_init=1, random_state=seed).fit(X).inertia_ for seed in range(10)]
    best = KMeans(7, init="random", n_init=10, random_state=0).fit(X).inertia_
    assert best <= np.median(inertias)


def test_certificate_tells_how_the_fit_ended():
    X = blobs(2000, 8, 15, spread=0.3)
    done = KMeans(15, random_state=0).fit(X).certificate_
    assert done.converged
    assert done.residual <= done.tol
    assert "converged" in repr(done)
    cut = KMeans(15, random_state=0, max_iter=2, tol=0).fit(X).certificate_
    assert not cut.converged
    assert "max_iter" in repr(cut)
    assert ">" in repr(cut)


def test_verbose_goes_to_the_log_and_nowhere_else(caplog, capsys):
    with caplog.at_level("INFO", logger="mercer"):
        model = KMeans(3, random_state=0, verbose=1).fit(blobs(100, 2, 3))
    assert sum("inertia" in record.getMessage() for record in caplog.records) == model.n_iter_
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters=0 is not valid; it must be an integer >= 1"),
        ({"n_clusters": 2.0}, r"n_clusters=2.0"),
        ({"n_clusters": True}, r"n_clusters=True"),
        ({"init": "kmeans"}, r"init='kmeans' .* 'k-means\+\+' or 'random' or a callable or an array"),
        ({"n_init": 0}, r"n_init=0 .* 'auto' or an integer >= 1"),
        ({"max_iter": -1}, r"max_iter=-1"),
        ({"tol": -0.1}, r"tol=-0.1 .* a finite number >= 0"),
        ({"tol": np.nan}, r"tol=nan"),
        ({"algorithm": "fast"}, r"algorithm='fast' .* 'lloyd' or 'elkan'"),
        ({"random_state": "a"}, r"random_state='a'"),
        ({"n_jobs": 0}, r"n_jobs=0"),
        ({"copy_x": 1}, r"copy_x=1 .* True or False"),
        ({"verbose": -1}, r"verbose=-1"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_would_do(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        KMeans(**params).fit(blobs(50, 2, 3))


def test_wrong_starts_are_refused():
    X = blobs(50, 2, 3)
    with pytest.raises(ValueError, match=r"centres of shape \(2, 2\); with n_clusters=3 and this X it must be \(3, 2\)"):
        KMeans(3, init=X[:2]).fit(X)
    with pytest.raises(ValueError, match="init"):
        KMeans(3, init=np.full((3, 2), np.nan)).fit(X)
    with pytest.raises(ValueError, match="init holds centres"):
        KMeans(3, init=lambda X, k, random_state: X[: k + 1]).fit(X)
    with pytest.raises(ValueError, match=r"n_samples=2 should be >= n_clusters=3"):
        KMeans(3).fit(X[:2])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("k", [8, 20, 100, 300])
@pytest.mark.parametrize("d", [4, 12, 60])
def test_bounded_and_plain_iterations_reach_the_same_clusters(d, k, spread, dtype):
    X = blobs(20_000, d, k, spread=spread, dtype=dtype)
    plain = PeerKMeans(k, init=X[:k], max_iter=30, tol=0).fit(X)
    for algorithm in ALGORITHMS:
        model = KMeans(k, init=X[:k], max_iter=30, tol=0, algorithm=algorithm).fit(X)
        assert model.inertia_ == pytest.approx(plain.inertia_, rel=1e-3 if dtype == np.float32 else 1e-9)
        if dtype == np.float64:
            np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_verbose_tells_how_far_the_seeding_is(caplog):
    X = blobs(100_000, 40, 60)
    with caplog.at_level("INFO", logger="mercer"):
        KMeans(60, random_state=0, verbose=1, max_iter=1, n_jobs=1).fit(X)
    assert any("of 60 centres" in record.getMessage() for record in caplog.records)


def test_given_centres_are_one_start_and_more_are_told_of():
    X = np.arange(12.0)[:, None]
    for estimator in (KMeans, MiniBatchKMeans):
        with pytest.warns(RuntimeWarning, match=f"only one init in {estimator.__name__} instead of n_init=10"):
            estimator(2, init=X[:2], n_init=10).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimator(2, init=X[:2]).fit(X)
