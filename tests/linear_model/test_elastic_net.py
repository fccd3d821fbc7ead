"""ElasticNet and the paths: optimality over many problems, and agreement of paths, fits and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import ElasticNet as Peer, enet_path as peer_path, lars_path

from mercer.linear_model import ElasticNet, Lasso, enet_path, lasso_path
from tests.linear_model.test_lasso import make_data
from tests.reference.sparse_penalties import (
    centred,
    coordinate_descent,
    duality_gap,
    elastic_net_objective,
    elastic_net_violation,
)


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 60))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    X, y = make_data(draw(st.integers(0, 1000)), n, d, dtype, draw(st.sampled_from([0.0, 0.5, 0.95])))
    kind = draw(st.sampled_from(["full", "constant", "duplicate", "sparse", "Fortran"]))
    if kind == "constant":
        X[:, -1] = 0.3
    elif kind == "duplicate":
        X[:, -1] = X[:, 0]
    weights = draw(st.sampled_from([None, "some zero"]))
    if weights is not None:
        weights = np.maximum(np.random.default_rng(n).uniform(-0.3, 2, size=n), 0)
        weights[0] = 1
    given_X = {"sparse": sp.csc_matrix, "Fortran": np.asfortranarray}.get(kind, lambda X: X)(X)
    return given_X, X, y, weights


@settings(max_examples=150, deadline=None)
@given(
    problems(),
    st.sampled_from([0.9, 0.2, 0.01]),
    st.sampled_from([1.0, 0.7, 0.1, 0.0]),
    st.booleans(),
    st.booleans(),
)
def test_every_fit_is_optimal_and_its_gap_is_true(problem, share, l1_ratio, positive, fit_intercept):
    given_X, X, y, weights = problem
    A, b, *_ = centred(X, y, weights, fit_intercept=fit_intercept)
    A[:, np.linalg.norm(A, axis=0) < 1e-7] = 0
    scale = np.abs(A.T @ b).max()
    alpha = share * max(scale, 1e-3)
    options = {"l1_ratio": l1_ratio, "positive": positive, "fit_intercept": fit_intercept}
    model = ElasticNet(alpha, tol=1e-8, max_iter=20_000, **options).fit(given_X, y, weights)
    certificate, coef = model.certificate_, model.coef_.astype(np.float64)
    assert certificate.converged
    assert 0 <= certificate.gap <= certificate.tol
    assert not positive or (coef >= 0).all()
    total = b @ b
    objective = elastic_net_objective(A, b, coef, alpha, l1_ratio)
    rounding = 1e-5 if X.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(certificate.primal, objective, atol=rounding * (total + objective))
    # A gap bounds the distance to the minimum, and the gradient by the curvature.
    slack = np.sqrt(2 * (certificate.gap + rounding * total) * ((A**2).sum(axis=0).max() + alpha))
    assert elastic_net_violation(A, b, coef, alpha, l1_ratio, positive=positive) <= slack + rounding * scale
    if X.shape[1] <= 8:
        best = coordinate_descent(A, b, alpha, l1_ratio, positive=positive, n_sweeps=2000)
        reached = elastic_net_objective(A, b, best, alpha, l1_ratio)
        assert certificate.dual <= reached + rounding * total
        assert certificate.primal <= reached + certificate.gap + rounding * total


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 100), (300, 250)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_it_finds_what_scikit_learn_finds(n, d, l1_ratio, weighted, positive):
    X, y = make_data(1, n, d)
    weights = np.linspace(0.1, 2, n) if weighted else None
    options = {"alpha": 0.05, "l1_ratio": l1_ratio, "positive": positive}
    model = ElasticNet(**options, tol=1e-10).fit(X, y, weights)
    peer = Peer(**options, tol=1e-12, max_iter=100_000).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_is_no_larger_than_that_of_the_plainest_dual_point():
    X, y = make_data(2, 50, 10)
    A, b, *_ = centred(X, y)
    for l1_ratio in (1.0, 0.5):
        for max_iter in (1, 2, 5):
            model = ElasticNet(0.01, l1_ratio=l1_ratio, tol=1e-15, max_iter=max_iter).fit(X, y)
            assert model.dual_gap_ <= duality_gap(A, b, model.coef_, 0.01, l1_ratio) + 1e-14


# ---- paths


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 100), (300, 250)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_a_path_is_a_sequence_of_fits(n, d, l1_ratio, as_sparse, positive):
    X, y = make_data(3, n, d)
    given_X = sp.csr_matrix(X) if as_sparse else X
    alphas, coefs, gaps = enet_path(given_X, y, l1_ratio=l1_ratio, alphas=12, eps=0.01, tol=1e-10, positive=positive)
    assert (np.diff(alphas) < 0).all()
    assert coefs.shape == (d, 12)
    assert not coefs[:, 0].any()
    assert (gaps >= 0).all()
    assert (gaps <= 1e-10 * (y @ y) / n).all()
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        alone = ElasticNet(alpha, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-10, positive=positive).fit(X, y)
        np.testing.assert_allclose(coef, alone.coef_, atol=2e-5)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.3])
def test_the_first_penalty_of_a_path_leaves_all_coefficients_at_zero(l1_ratio):
    for seed in range(40):  # in one of seven, rounding alone would leave 1e-17
        X, y = make_data(seed, 30, 5)
        assert not enet_path(X, y, l1_ratio=l1_ratio, alphas=2, eps=0.5)[1][:, 0].any()


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 100)])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
def test_a_path_is_scikit_learns(n, d, n_targets):
    X, y = make_data(4, n, d)
    y = y if n_targets is None else np.column_stack([y, X[:, 0], -y])[:, :n_targets]
    alphas, coefs, gaps, n_iters = enet_path(X, y, alphas=8, eps=0.01, tol=1e-11, return_n_iter=True)
    peer_alphas, peer_coefs, *_ = peer_path(X, y, alphas=8, eps=0.01, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(alphas, peer_alphas, rtol=1e-10)
    np.testing.assert_allclose(coefs, peer_coefs, atol=1e-5)
    assert gaps.shape == (8,)
    assert len(n_iters) == 8


@pytest.mark.parametrize(("n", "d"), [(40, 120), (90, 150)])
def test_a_lasso_path_is_the_exact_one_where_coefficients_come_and_go(n, d):
    X, y = make_data(6, n, d, correlation=0.9)
    X, y = X - X.mean(axis=0), y - y.mean()
    knots, _, exact = lars_path(X, y, method="lasso")
    support = exact != 0
    assert (support[:, :-1] & ~support[:, 1:]).any()  # some leave, and the factor of the support must let them go
    alphas = np.geomspace(knots[0], max(knots[-1], 1e-3 * knots[0]), 60)
    _, coefs, _ = lasso_path(X, y, alphas=alphas, tol=1e-13)
    expected = np.array([np.interp(-alphas, -knots, line) for line in exact])
    np.testing.assert_allclose(coefs, expected, atol=2e-5)


@pytest.mark.parametrize(("n", "d"), [(300, 100), (90, 150)])
@pytest.mark.parametrize("correlation", [0.9, 0.999])
def test_newtons_method_ends_a_lasso_in_a_few_rounds_however_columns_correlate(n, d, correlation):
    X, y = make_data(6, n, d, correlation=correlation)
    X, y = X - X.mean(axis=0), y - y.mean()
    *_, n_iters = lasso_path(X, y, alphas=30, precompute=True, tol=1e-12, return_n_iter=True)
    assert max(n_iters) <= 8  # sweeps alone take hundreds


@pytest.mark.parametrize("l1_ratio", [1.0, 0.9])
@pytest.mark.parametrize("positive", [False, True])
def test_a_path_on_columns_that_depend_on_one_another_is_optimal(l1_ratio, positive):
    X, y = make_data(7, 60, 20)
    X = np.column_stack([X, X, -X[:, :10], X[:, :10] + X[:, 10:]])
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=l1_ratio, alphas=30, tol=1e-10, positive=positive)
    assert (gaps <= 1e-10 * (y @ y) / len(y)).all()
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        violation = elastic_net_violation(X / np.sqrt(len(y)), y / np.sqrt(len(y)), coef, alpha, l1_ratio, positive=positive)
        assert violation <= 1e-4 * alphas[0]


def test_a_path_begins_at_given_coefficients_and_takes_given_alphas_from_the_largest():
    X, y = make_data(5, 60, 8)
    alphas, coefs, _ = lasso_path(X, y, alphas=[0.01, 0.1], tol=1e-10)
    np.testing.assert_array_equal(alphas, [0.1, 0.01])
    n_iters = lasso_path(X, y, alphas=[0.1], coef_init=coefs[:, 0], tol=1e-9, return_n_iter=True)[3]
    assert n_iters == [1]
    given_gram = lasso_path(X, y, alphas=[0.1, 0.01], precompute=X.T @ X, Xy=X.T @ y, tol=1e-10)
    np.testing.assert_allclose(given_gram[1], coefs, atol=1e-8)


def test_float32_gives_float32():
    X, y = make_data(6, 40, 90, np.float32)
    assert lasso_path(X, y, alphas=3)[1].dtype == np.float32
    assert Lasso(0.1).fit(X, y).coef_.dtype == np.float32


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": [-1.0]}, "alphas"),
        ({"alphas": []}, "alphas"),
        ({"alphas": [np.nan]}, "alphas"),
        ({"alphas": 5, "l1_ratio": 0}, "l1_ratio=0"),
        ({"l1_ratio": 2}, "l1_ratio"),
        ({"eps": 0}, "eps"),
        ({"coef_init": [1.0]}, "coef_init"),
        ({"precompute": np.eye(8), "Xy": [1.0]}, "precompute|Xy"),
        ({"selection": "other"}, "selection"),
        ({"tol": -1}, "tol"),
    ],
)
def test_wrong_parameters_of_a_path_are_refused_by_name(params, message):
    X, y = make_data(7, 60, 8)
    with pytest.raises(ValueError, match=f"enet_path: .*({message})"):
        enet_path(X, y, **params)
    with pytest.raises(ValueError, match="positive"):
        enet_path(X, np.column_stack([y, y]), positive=True)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("precompute", ["auto", True, "given"])
@pytest.mark.parametrize(("shape", "container"), [((50, 5), np.array), ((5, 50), np.asfortranarray), ((50, 5), sp.csc_matrix)])
def test_a_path_refuses_what_is_not_finite_in_scikit_learns_words(bad, precompute, shape, container):
    X, y = make_data(0, *shape)
    X[3, 2] = bad
    given = np.eye(shape[1]) if precompute == "given" else precompute
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        enet_path(container(X), y, precompute=given)
    X[3, 2], y[0] = 0, bad
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
        enet_path(container(X), y, precompute=given)


@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("over_mean", [False, True])
def test_a_given_gram_matrix_may_count_weights_as_they_are_or_over_their_mean(is_centred, over_mean):
    X, y = make_data(5, 60, 4)
    weights = np.random.default_rng(0).lognormal(size=60)
    scaled = weights / weights.mean() if over_mean else weights
    rows = X - np.average(X, axis=0, weights=weights) if is_centred else X
    gram = (rows * scaled[:, None]).T @ rows
    model = ElasticNet(alpha=0.05, precompute=gram, tol=1e-10).fit(X, y, weights)
    expected = ElasticNet(alpha=0.05, tol=1e-10).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)


def test_the_number_of_alphas_may_be_said_the_older_way():
    X, y = make_data(3, 30, 5)
    for path in (enet_path, lasso_path):
        assert len(path(X, y)[0]) == 100
        assert len(path(X, y, n_alphas=7)[0]) == 7
        assert np.array_equal(path(X, y, n_alphas=7)[1], path(X, y, alphas=7)[1])
        assert len(path(X, y, n_alphas=7, alphas=[0.1])[0]) == 1
    with pytest.raises(ValueError, match=r"n_alphas=0"):
        enet_path(X, y, n_alphas=0)
