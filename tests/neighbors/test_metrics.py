"""Every metric, by every algorithm that takes it, against every pair measured by itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.metrics import DistanceMetric

from mercer._params import InvalidParameterError
from mercer.neighbors import BallTree, NearestNeighbors
from mercer.neighbors._measures import ALIASES, METRICS, find_measure, metrics_of
from mercer.neighbors._search import Search
from tests.reference import neighbors as reference

BOOLEANS = ("jaccard", "dice", "matching", "rogerstanimoto", "russellrao", "sokalsneath", "kulsinski", "yule")
WITHOUT_PARAMETERS = sorted(set(reference.METRICS) - {"nan_euclidean"})
TREES = [(metric, tree) for tree in ("kd_tree", "ball_tree") for metric in metrics_of(tree) if metric not in ALIASES]


def _rows(metric, n, seed=0, d=5):
    random = np.random.RandomState(seed)
    if metric == "haversine":
        return random.uniform(-1.5, 1.5, size=(n, 2))
    if metric in (*BOOLEANS, "hamming"):
        return random.randint(0, 2, size=(n, 2 * d)).astype(float)
    return random.normal(size=(n, d))


def _algorithms(metric):
    return [algorithm for algorithm in ("brute", "kd_tree", "ball_tree") if metric in metrics_of(algorithm)]


@pytest.mark.parametrize("metric", WITHOUT_PARAMETERS)
def test_distances_are_those_of_the_definition(metric):
    X, queries = _rows(metric, 150), _rows(metric, 20, seed=1)
    truth = np.sort(reference.distances(metric, queries, X), axis=1)
    for algorithm in _algorithms(metric):
        search = Search.of(X, algorithm=algorithm, metric=metric, leaf_size=8)
        assert (search.algorithm, search.shape) == (algorithm, X.shape)
        np.testing.assert_allclose(search.nearest(queries, 9)[0], truth[:, :9], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("metric", "algorithm"), TREES)
def test_trees_answer_as_brute_force_does_to_the_bit(metric, algorithm):
    for dtype, n in [(np.float64, 900), (np.float32, 333)]:
        X = _rows(metric, n).astype(dtype)
        X = np.concatenate([X, X[:50]])
        queries = np.concatenate([_rows(metric, 40, seed=1).astype(dtype), X[:20], np.zeros_like(X[:1])])
        brute, tree = (Search.of(X, algorithm=each, metric=metric, leaf_size=8) for each in ("brute", algorithm))
        for k in (1, 6, 100):
            np.testing.assert_array_equal(tree.nearest(queries, k), brute.nearest(queries, k))
        radius = float(np.median(brute.nearest(queries, 5)[0]))
        for found, wanted in zip(tree.within(queries, radius), brute.within(queries, radius), strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(tree.count_within(queries, radius), brute.count_within(queries, radius))


@settings(deadline=None, max_examples=40)
@given(
    metric=st.sampled_from(["euclidean", "manhattan", "canberra", "braycurtis", "cosine", "chebyshev"]),
    seed=st.integers(0, 2**20),
    n=st.integers(1, 150),
    d=st.integers(1, 9),
    scale=st.sampled_from([1e-170, 1e-150, 1e-30, 1.0, 1e30, 1e150, 1e200]),
    offset=st.sampled_from([0.0, 1.0, 1e8]),
)
def test_balls_miss_nothing_at_any_scale(metric, seed, n, d, scale, offset):
    random = np.random.RandomState(seed)
    X = np.tile((random.normal(size=(n, d)) + offset) * scale, (2, 1))
    queries = np.concatenate([X[:5], random.normal(size=(5, d)) * scale, (random.normal(size=(3, d)) + offset) * scale])
    k = int(random.randint(1, len(X) + 1))
    brute, balls = (Search.of(X, algorithm=each, metric=metric, leaf_size=8) for each in ("brute", "ball_tree"))
    np.testing.assert_array_equal(balls.nearest(queries, k), brute.nearest(queries, k))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_rounding_of_a_ball_hides_no_tie(metric):
    """On a line through the query rows tie to the bit, and the bound of a ball is the distance of its nearest row."""
    random = np.random.RandomState(0)
    for d in range(1, 9):
        for _ in range(12):
            direction, n = random.normal(size=d), int(random.randint(9, 60))
            half = np.sort(random.uniform(0.1, 1, size=n))[:, None] * direction
            X = np.concatenate([half, -half])[random.permutation(2 * n)]
            brute, balls = (Search.of(X, algorithm=each, metric=metric, leaf_size=8) for each in ("brute", "ball_tree"))
            queries = np.zeros((1, d))
            for k in range(1, 2 * n):
                np.testing.assert_array_equal(balls.nearest(queries, k), brute.nearest(queries, k))


@pytest.mark.parametrize("p", [0.5, 1.5, 3.0, 20.0])
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0, 0.5, 9.0]])
def test_balls_of_powers_and_weights_miss_nothing(p, weights):
    X, queries = _rows("minkowski", 400), _rows("minkowski", 30, seed=1)
    params = {"p": p} if weights is None else {"p": p, "w": weights}
    brute, balls = (Search.of(X, algorithm=each, metric_params=params, leaf_size=8) for each in ("brute", "ball_tree"))
    np.testing.assert_array_equal(balls.nearest(queries, 7), brute.nearest(queries, 7))


def test_standardised_and_mahalanobis_distances_are_those_of_their_matrices():
    random = np.random.RandomState(0)
    X, queries = random.normal(size=(200, 4)) @ random.normal(size=(4, 4)) + 5, random.normal(size=(30, 4))
    V, variances = np.cov(X, rowvar=False), X.var(axis=0, ddof=1)
    difference = queries[:, None] - X
    full = np.sqrt(np.einsum("qni,ij,qnj->qn", difference, np.linalg.inv(V), difference))
    scaled = np.sqrt((difference**2 / variances).sum(axis=2))
    cases = [
        ("mahalanobis", {"V": V}, full),
        ("mahalanobis", {"VI": np.linalg.inv(V)}, full),
        ("mahalanobis", {}, full),
        ("seuclidean", {"V": variances}, scaled),
        ("seuclidean", {}, scaled),
    ]
    for metric, params, truth in cases:
        found = [
            Search.of(X, algorithm=a, metric=metric, metric_params=params).nearest(queries, 5) for a in _algorithms(metric)
        ]
        np.testing.assert_allclose(found[0][0], np.sort(truth, axis=1)[:, :5], rtol=1e-10)
        for each in found[1:]:
            np.testing.assert_array_equal(each, found[0])


def test_a_singular_inverse_covariance_is_a_distance_and_an_indefinite_one_is_not():
    X = _rows("euclidean", 50, d=2)
    found, _ = Search.of(X, metric="mahalanobis", metric_params={"VI": [[1.0, 1.0], [1.0, 1.0]]}).nearest(X[:5], 3)
    truth = np.abs(X.sum(axis=1) - X[:5].sum(axis=1)[:, None])
    np.testing.assert_allclose(found, np.sort(truth, axis=1)[:, :3], atol=1e-12)
    with pytest.raises(ValueError, match="positive semi-definite"):
        Search.of(X, metric="mahalanobis", metric_params={"VI": [[1.0, 0.0], [0.0, -1.0]]})
    with pytest.raises(ValueError, match="positive definite"):
        Search.of(X, metric="mahalanobis", metric_params={"V": [[1.0, 1.0], [1.0, 1.0]]})


def test_gaps_are_left_out_and_rows_that_share_nothing_come_last():
    X, queries = _rows("euclidean", 60), _rows("euclidean", 10, seed=1)
    X[np.random.RandomState(2).rand(*X.shape) < 0.4] = np.nan
    queries[0, 1:] = np.nan
    X[:3, 0] = np.nan
    distances, rows = Search.of(X, metric="nan_euclidean").nearest(queries, len(X))
    truth = reference.distances("nan_euclidean", queries, X)
    np.testing.assert_allclose(distances, np.take_along_axis(truth, rows, axis=1), rtol=1e-13)
    assert np.isnan(distances[0, -3:]).all()
    assert find_measure("nan_euclidean", p=2, metric_params=None, X=X).takes_nan


def test_rows_of_zeros_are_at_right_angles_to_all_others():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [1e-200, 2e-200]])
    distances, rows = Search.of(X, metric="cosine").nearest(X, 4)
    np.testing.assert_array_equal(rows, [[0, 2, 1, 3], [1, 3, 0, 2], [0, 2, 1, 3], [1, 3, 0, 2]])
    np.testing.assert_allclose(distances, [[0, 0, 1, 1]] * 4, atol=1e-30)


def test_maps_of_rows_do_not_depend_on_order_or_number_of_rows():
    X = _rows("euclidean", 100, d=7)
    for metric in ("cosine", "correlation", "mahalanobis"):
        measure = find_measure(metric, p=2, metric_params=None, X=X)
        whole = measure.mapped(X, 2)
        np.testing.assert_array_equal(whole, measure.mapped(np.asfortranarray(X)))
        np.testing.assert_array_equal(whole[7:8], measure.mapped(X[7:8]))


def test_sparse_rows_are_mapped_as_dense_ones():
    X = np.random.RandomState(0).poisson(0.3, size=(40, 6)).astype(float)
    for metric in ("cosine", "jaccard", "correlation"):
        measure = find_measure(metric, p=2, metric_params=None, X=X)
        mapped = measure.mapped(sp.csr_matrix(X))
        np.testing.assert_allclose(mapped.toarray() if sp.issparse(mapped) else mapped, measure.mapped(X), atol=1e-15)


@pytest.mark.parametrize(("metric", "algorithm"), [("cosine", "ball_tree"), ("haversine", "kd_tree"), ("jaccard", "ball_tree")])
def test_searches_by_mapped_rows_are_pickled(metric, algorithm):
    X = _rows(metric, 100)
    search = Search.of(X, algorithm=algorithm, metric=metric)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(search)).nearest(X, 3), search.nearest(X, 3))


def test_what_is_no_metric_or_no_parameter_is_refused_with_what_there_is():
    X = _rows("euclidean", 20)
    with pytest.raises(ValueError, match=r"metric='cosin' is not valid; it must be one of \[.*'cosine'.*'yule'\]"):
        Search.of(X, metric="cosin")
    with pytest.raises(ValueError, match=r"metric 'cosine', which has no parameter 'V'"):
        Search.of(X, metric="cosine", metric_params={"V": 1})
    with pytest.raises(ValueError, match=r"by metric='canberra'; it must be one of \('auto', 'brute', 'ball_tree'\)"):
        Search.of(X, metric="canberra", algorithm="kd_tree")
    with pytest.raises(ValueError, match="two features"):
        Search.of(X, metric="haversine")
    with pytest.raises(ValueError, match=r"V .*shape"):
        Search.of(X, metric="mahalanobis", metric_params={"V": np.eye(3)})
    with pytest.raises(ValueError, match="no variance"):
        Search.of(X, metric="seuclidean", metric_params={"V": [1, 1, 0, 1, 1]})


def test_all_of_scikit_learns_metrics_are_there():
    from sklearn.neighbors import VALID_METRICS

    wanted = {name for names in VALID_METRICS.values() for name in names} - {"pyfunc", "precomputed"}
    assert wanted <= set(METRICS)
    assert set(VALID_METRICS["ball_tree"]) - {"pyfunc"} <= set(metrics_of("ball_tree"))
    assert set(VALID_METRICS["kd_tree"]) <= set(metrics_of("kd_tree"))


OBJECTS = {
    "euclidean": {},
    "minkowski": {"p": 3.0, "w": np.arange(1.0, 6.0)},
    "seuclidean": {"V": np.arange(1.0, 6.0)},
    "mahalanobis": {"VI": np.diag(np.arange(1.0, 6.0))},
    "manhattan": {},
    "braycurtis": {},
    "jaccard": {},
    "haversine": {},
}


@pytest.mark.parametrize("metric", OBJECTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_metric_objects_measure_as_their_names_do(metric, dtype):
    given = DistanceMetric.get_metric(metric, dtype, **OBJECTS[metric])
    X = _rows(metric, 60).astype(dtype)
    for algorithm in ("auto", *_algorithms(metric)):
        distances, rows = NearestNeighbors(n_neighbors=4, metric=given, algorithm=algorithm).fit(X).kneighbors(X[:9])
        by_name = Search.of(X, metric=metric, metric_params=OBJECTS[metric], algorithm=algorithm)
        np.testing.assert_array_equal(rows, by_name.nearest(X[:9], 4)[1])
        np.testing.assert_allclose(distances, np.sort(given.pairwise(X[:9], X), axis=1)[:, :4], rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(BallTree(X, metric=given).query(X[:9], 4)[1], rows)


def test_metric_objects_of_functions_are_these_functions():
    given = DistanceMetric.get_metric("pyfunc", func=lambda a, b, scale: scale * np.abs(a - b).sum(), scale=2.0)
    X = _rows("euclidean", 30)
    distances, _ = NearestNeighbors(n_neighbors=2, metric=given).fit(X).kneighbors()
    np.testing.assert_allclose(distances, 2 * NearestNeighbors(n_neighbors=2, p=1).fit(X).kneighbors()[0])
    np.testing.assert_allclose(BallTree(X, metric=given).query(X, 3)[0][:, 1:], distances)


def test_metric_objects_have_their_parameters_themselves():
    given = DistanceMetric.get_metric("minkowski", p=3)
    with pytest.raises(InvalidParameterError, match="an object, which has its parameters itself"):
        NearestNeighbors(metric=given, metric_params={"w": [1.0]}).fit([[1.0]])
