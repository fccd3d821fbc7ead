"""`NearestNeighbors` and the graphs: scikit-learn's answers, and one clear error for each wrong question."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neighbors
from hypothesis import given, settings, strategies as st

from mercer.neighbors import (
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsTransformer,
    kneighbors_graph,
    radius_neighbors_graph,
)

RANDOM = np.random.RandomState(0)
X, Q = RANDOM.rand(120, 3), RANDOM.rand(17, 3)
METRICS = [("minkowski", 2), ("minkowski", 1), ("minkowski", 3), ("minkowski", np.inf), ("manhattan", 2), ("chebyshev", 2)]


@pytest.mark.parametrize(("metric", "p"), METRICS)
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
@pytest.mark.parametrize("queries", [Q, None], ids=["queries", "rows"])
def test_neighbours_are_those_of_scikit_learn(metric, p, algorithm, queries):
    options = {"n_neighbors": 4, "radius": 0.3, "algorithm": algorithm, "metric": metric, "p": p}
    own, peer = NearestNeighbors(**options).fit(X), sklearn.neighbors.NearestNeighbors(**options).fit(X)
    distances, rows = own.kneighbors(queries)
    peer_distances, peer_rows = peer.kneighbors(queries)
    assert (rows == peer_rows).all()
    np.testing.assert_allclose(distances, peer_distances, rtol=1e-12)
    assert (own.kneighbors(queries, n_neighbors=2, return_distance=False) == peer_rows[:, :2]).all()
    distances, rows = own.radius_neighbors(queries, sort_results=True)
    peer_distances, peer_rows = peer.radius_neighbors(queries, sort_results=True)
    for mine, theirs in zip(rows, peer_rows, strict=True):
        assert mine.tolist() == theirs.tolist()
    for mine, theirs in zip(distances, peer_distances, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert (own.effective_metric_, own.effective_metric_params_) == (peer.effective_metric_, peer.effective_metric_params_)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("queries", [Q, None], ids=["queries", "rows"])
def test_graphs_are_those_of_scikit_learn(mode, queries):
    own, peer = NearestNeighbors(radius=0.3).fit(X), sklearn.neighbors.NearestNeighbors(radius=0.3).fit(X)
    for name in ("kneighbors_graph", "radius_neighbors_graph"):
        mine, theirs = getattr(own, name)(queries, mode=mode), getattr(peer, name)(queries, mode=mode)
        assert mine.format == "csr"
        np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-12)


@pytest.mark.parametrize("include_self", [True, False, "auto"])
@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graph_functions_are_those_of_scikit_learn(include_self, mode):
    options = {"mode": mode, "include_self": include_self}
    mine, theirs = kneighbors_graph(X, 3, **options), sklearn.neighbors.kneighbors_graph(X, 3, **options)
    np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-12)
    assert mine.nnz == theirs.nnz
    mine, theirs = radius_neighbors_graph(X, 0.3, **options), sklearn.neighbors.radius_neighbors_graph(X, 0.3, **options)
    np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-12)
    assert mine.nnz == theirs.nnz
    fitted = NearestNeighbors().fit(X)
    assert (kneighbors_graph(fitted, 3, **options) != kneighbors_graph(X, 3, **options)).nnz == 0
    with pytest.raises(ValueError, match="Got 'manhattan' for metric, while the estimator has 'minkowski'"):
        kneighbors_graph(fitted, 3, metric="manhattan")


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_transformers_are_those_of_scikit_learn(mode):
    for own, peer in (
        (KNeighborsTransformer(mode=mode), sklearn.neighbors.KNeighborsTransformer(mode=mode)),
        (
            RadiusNeighborsTransformer(mode=mode, radius=0.3),
            sklearn.neighbors.RadiusNeighborsTransformer(mode=mode, radius=0.3),
        ),
    ):
        mine, theirs = own.fit_transform(X), peer.fit_transform(X)
        np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-12)
        assert mine.nnz == theirs.nnz
        np.testing.assert_allclose(own.transform(Q).toarray(), peer.transform(Q).toarray(), rtol=1e-12)
        assert own.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), d=st.integers(1, 4), k=st.integers(1, 8))
def test_rows_leave_out_themselves_and_nothing_else(seed, n, d, k):
    rows = np.random.RandomState(seed).randint(0, 3, size=(n, d)).astype(float)  # many equal rows
    k = min(k, n - 1)
    for algorithm in ("brute", "kd_tree"):
        search = NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(rows)
        found = search.kneighbors(return_distance=False)
        assert not (found == np.arange(n)[:, None]).any()
        squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        assert (found == np.argsort(squares, axis=1, kind="stable")[:, :k]).all()


def test_answers_do_not_depend_on_the_number_of_threads():
    one, two = (NearestNeighbors(n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    for mine, theirs in zip(one.kneighbors(Q), two.kneighbors(Q), strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_a_radius_for_each_query():
    radii = np.linspace(0, 0.5, len(Q))
    distances, rows = NearestNeighbors().fit(X).radius_neighbors(Q, radius=radii)
    for query, radius, mine, at in zip(Q, radii, rows, distances, strict=True):
        expected = np.flatnonzero(np.linalg.norm(X - query, axis=1) <= radius)
        assert mine.tolist() == expected.tolist()
        assert (at <= radius).all()


def test_a_fitted_search_is_shared():
    first = NearestNeighbors().fit(X)
    assert (NearestNeighbors(n_neighbors=2).fit(first).kneighbors(Q)[1] == first.kneighbors(Q, 2)[1]).all()


def test_sparse_queries_of_dense_rows():
    search = NearestNeighbors().fit(X)
    assert (search.kneighbors(sp.csr_matrix(Q))[1] == search.kneighbors(Q)[1]).all()


def test_lists_and_integers_and_float32():
    rows = [[0, 0], [1, 1], [3, 3]]
    assert NearestNeighbors(n_neighbors=1).fit(rows).kneighbors([[2, 2]], return_distance=False).tolist() == [[1]]
    single = X.astype(np.float32)
    distances, found = NearestNeighbors().fit(single).kneighbors(Q.astype(np.float32))
    exact, expected = NearestNeighbors().fit(single.astype(float)).kneighbors(Q.astype(np.float32).astype(float))
    assert (found == expected).all()
    assert (distances == exact).all()


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: NearestNeighbors(n_neighbors=0).fit(X), ValueError, "n_neighbors=0 is not valid; it must be an integer >= 1"),
        (lambda: NearestNeighbors(n_neighbors=121).fit(X).kneighbors(Q), ValueError, "n_neighbors <= n_samples_fit.*121.*120"),
        (lambda: NearestNeighbors(n_neighbors=120).fit(X).kneighbors(), ValueError, "n_neighbors < n_samples_fit.*120"),
        (lambda: NearestNeighbors().fit(X).kneighbors(Q, 1.5), TypeError, "does not take .*float.* value, enter integer"),
        (lambda: NearestNeighbors().fit(X).kneighbors(Q, -1), ValueError, "Expected n_neighbors > 0. Got -1"),
        (lambda: NearestNeighbors(radius=-1.0).fit(X), ValueError, "radius=-1.0 is not valid"),
        (lambda: NearestNeighbors(metric="nothing").fit(X), ValueError, "metric='nothing' is not valid; it must be one of"),
        (lambda: NearestNeighbors(algorithm="oracle").fit(X), ValueError, "algorithm='oracle' is not valid"),
        (lambda: NearestNeighbors(p=-1).fit(X), ValueError, "p=-1 is not valid"),
        (lambda: NearestNeighbors(metric="minkowski", p=0.5, algorithm="ball_tree").fit(X), ValueError, "triangle inequality"),
        (lambda: NearestNeighbors().fit(np.empty((0, 3))), ValueError, "0 sample"),
        (lambda: NearestNeighbors().fit([[np.nan, 1.0]]), ValueError, "NaN"),
        (lambda: NearestNeighbors().fit(X).kneighbors([[np.nan, 0.0, 0.0]]), ValueError, "NaN"),
        (
            lambda: NearestNeighbors().fit(X).kneighbors(Q[:, :2]),
            ValueError,
            "X has 2 features, but NearestNeighbors is expecting 3",
        ),
        (
            lambda: NearestNeighbors().fit(X).radius_neighbors(Q, sort_results=True, return_distance=False),
            ValueError,
            "must be True",
        ),
        (lambda: NearestNeighbors().fit(X).radius_neighbors(Q, np.ones(3)), ValueError, "radius holds 3 values"),
        (lambda: NearestNeighbors().fit(X).kneighbors_graph(Q, mode="other"), ValueError, "mode='other' is not valid"),
        (lambda: NearestNeighbors().kneighbors(Q), sklearn.exceptions.NotFittedError, "not fitted yet"),
    ],
)
def test_one_clear_error_for_each_wrong_question(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
