"""Lasso: zeros, degenerate data, warm starts, given Gram matrices, and what the certificate says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as Peer

from mercer._trace import Status
from mercer.linear_model import Lasso, LinearRegression
from mercer.linear_model._sparse.penalised import Columns, Gram, make_problem
from tests.reference.sparse_penalties import centred, coordinate_descent, elastic_net_objective, elastic_net_violation


def make_data(seed=0, n=60, d=8, dtype=np.float64, correlation=0.0):
    random = np.random.default_rng(seed)
    shared = random.normal(size=(n, 1))
    X = np.sqrt(1 - correlation) * random.normal(size=(n, d)) + np.sqrt(correlation) * shared + random.normal(size=d)
    w = np.where(np.arange(d) % 3 == 0, random.normal(size=d), 0)
    return X.astype(dtype), (X @ w + 0.3 * random.normal(size=n) + 2).astype(dtype)


def alpha_max(X, y, weights=None):
    A, b, *_ = centred(X, y, weights)
    return np.abs(A.T @ b).max()


SHAPES = [(60, 8), (30, 100), (300, 250), (7, 300)]


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("share", [0.5, 0.05])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_it_finds_what_scikit_learn_finds(n, d, share, as_sparse):
    X, y = make_data(1, n, d)
    alpha = share * alpha_max(X, y)
    given = sp.csr_matrix(X) if as_sparse else X
    model, peer = Lasso(alpha, tol=1e-10).fit(given, y), Peer(alpha, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)
    assert model.certificate_.converged
    assert model.sparse_coef_.shape == (1, d)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_columns_far_from_zero_are_centred_in_a_large_working_set(fit_intercept, is_weighted):
    random = np.random.default_rng(0)
    X = (random.random((60, 400)) < 0.3) * (random.normal(size=(60, 400)) + random.normal(size=400) * 3)
    y = X @ (random.random(400) < 0.1) + random.normal(size=60)
    weights = random.exponential(size=60) if is_weighted else None
    options = {"alpha": 0.02, "tol": 1e-9, "fit_intercept": fit_intercept, "max_iter": 10_000}
    model, dense = (Lasso(**options).fit(given, y, weights) for given in (sp.csc_array(X), X))
    assert np.count_nonzero(model.coef_) > 30  # half as many as rows: beyond, columns are used themselves
    assert model.certificate_.converged
    np.testing.assert_allclose(model.certificate_.primal, dense.certificate_.primal, rtol=1e-7)
    np.testing.assert_allclose(model.predict(X), dense.predict(X), atol=1e-3)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("share", "expected"), [(0.3, Columns), (0.002, Gram)])
def test_tall_sparse_rows_become_products_only_where_many_columns_are_in_use(share, expected, is_weighted):
    random = np.random.default_rng(0)
    X = sp.random_array((500, 60), density=0.2, rng=random, format="csc")
    y = X[:, [0, 20, 40]] @ [3.0, -2.0, 1.0] + 0.1 * random.normal(size=500) + 1
    weights = random.exponential(size=500) if is_weighted else None
    alpha = share * alpha_max(X.toarray(), y, weights)
    options = {"is_centred": True, "precompute": False, "n_penalties": 1, "n_threads": 1, "l1": alpha}
    assert isinstance(make_problem(Lasso(), X, y, weights, **options), expected)
    model, dense = (Lasso(alpha, tol=1e-10).fit(given, y, weights) for given in (X, X.toarray()))
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-6)
    assert model.certificate_.converged


def test_it_finds_what_the_textbook_finds():
    X, y = make_data(2, 40, 6)
    A, b, *_ = centred(X, y)
    for share in (0.9, 0.3, 0.01):
        alpha = share * alpha_max(X, y)
        np.testing.assert_allclose(Lasso(alpha, tol=1e-14).fit(X, y).coef_, coordinate_descent(A, b, alpha, 1.0), atol=1e-9)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_from_alpha_max_on_all_coefficients_are_zero_and_below_it_one_is_not(n, d):
    X, y = make_data(3, n, d)
    highest = alpha_max(X, y)
    above, below = Lasso(highest * (1 + 1e-9), tol=1e-12).fit(X, y), Lasso(highest * (1 - 1e-4), tol=1e-12).fit(X, y)
    assert not above.coef_.any()
    assert np.count_nonzero(below.coef_) >= 1
    np.testing.assert_allclose(above.intercept_, y.mean())


@pytest.mark.parametrize("positive", [False, True])
def test_without_a_penalty_it_is_least_squares(positive):
    X, y = make_data(4, 80, 6, correlation=0.6)
    model = Lasso(0.0, tol=1e-14, positive=positive).fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression(positive=positive).fit(X, y).coef_, atol=1e-6)
    assert model.certificate_.converged
    assert model.certificate_.gap is None


@pytest.mark.parametrize("n_columns", [1, 5, 400])
def test_degenerate_columns_and_targets_do_no_harm(n_columns):
    X, y = make_data(5, 50, n_columns)
    X[:, 0] = 0.1
    constant_column = Lasso(0.01).fit(X, y)
    assert constant_column.coef_[0] == 0
    constant_target = Lasso(0.01).fit(X, np.full(50, 0.1))
    assert not constant_target.coef_.any()
    np.testing.assert_allclose(constant_target.intercept_, 0.1)
    assert constant_target.certificate_.converged
    one_row = Lasso(0.01).fit(X[:1], y[:1])
    assert not one_row.coef_.any()


def test_of_equal_columns_the_objective_is_what_one_of_them_gives():
    X, y = make_data(6, 50, 4)
    alpha = 0.1 * alpha_max(X, y)
    single, double = Lasso(alpha, tol=1e-12).fit(X, y), Lasso(alpha, tol=1e-12).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(single.certificate_.primal, double.certificate_.primal, rtol=1e-10)
    np.testing.assert_allclose(double.coef_[:4] + double.coef_[4:], single.coef_, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(80, 10), (30, 200)])
@pytest.mark.parametrize("selection", ["cyclic", "random"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_either_selection_reaches_the_optimum_and_random_is_reproducible(n, d, selection, dtype):
    X, y = make_data(7, n, d, dtype)
    alpha = 0.1 * alpha_max(X, y)
    models = [Lasso(alpha, tol=1e-9, selection=selection, random_state=3).fit(X, y) for _ in range(2)]
    A, b, *_ = centred(X, y)
    assert elastic_net_violation(A, b, models[0].coef_.astype(np.float64), alpha, 1.0) < 1e-4 * alpha_max(X, y)
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].coef_.dtype == dtype


def test_several_targets_are_fitted_one_by_one():
    X, y = make_data(8, 60, 6)
    Y = np.column_stack([y, -2 * y, X[:, 0]])
    model = Lasso(0.1, tol=1e-10).fit(X, Y)
    assert model.coef_.shape == (3, 6)
    assert len(model.n_iter_) == 3
    assert model.dual_gap_.shape == (3,)
    for t in range(3):
        alone = Lasso(0.1, tol=1e-10).fit(X, Y[:, t])
        np.testing.assert_allclose(model.coef_[t], alone.coef_, atol=1e-12)
        np.testing.assert_allclose(model.intercept_[t], alone.intercept_, atol=1e-12)
    assert len(model.history_) == sum(model.n_iter_)


# ---- starts and Gram matrices


@pytest.mark.parametrize(("n", "d"), [(80, 10), (30, 200)])
def test_a_warm_start_begins_where_the_last_fit_ended(n, d):
    X, y = make_data(9, n, d)
    model = Lasso(0.05, tol=1e-8, warm_start=True).fit(X, y)
    first = model.coef_.copy()
    assert model.fit(X, y).n_iter_ == 1
    np.testing.assert_allclose(model.coef_, first, atol=1e-6)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :3], y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("about", ["mean", "zero"])
def test_a_given_gram_matrix_serves_in_place_of_ours(weighted, about):
    X, y = make_data(10, 70, 6)
    weights = np.linspace(0.5, 2, 70) if weighted else None
    scale = np.ones(70) if weights is None else weights
    shifted = X - np.average(X, axis=0, weights=scale) if about == "mean" else X
    model = Lasso(0.1, precompute=(shifted.T * scale) @ shifted, tol=1e-12).fit(X, y, weights)
    expected = Lasso(0.1, tol=1e-12).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    np.testing.assert_allclose(model.coef_, Lasso(0.1, tol=1e-12, precompute=True).fit(X, y, weights).coef_, atol=1e-9)


@pytest.mark.parametrize(("gram", "message"), [(np.eye(5), "shape"), (np.eye(6), "not the Gram matrix")])
def test_a_wrong_gram_matrix_is_refused(gram, message):
    X, y = make_data(11, 70, 6)
    with pytest.raises(ValueError, match=f"Lasso: precompute.*{message}"):
        Lasso(0.1, precompute=gram).fit(X, y)


# ---- certificates


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_a_fit_that_may_not_iterate_warns_once_with_the_gap_and_the_remedy(n, d):
    X, y = make_data(12, n, d, correlation=0.9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Lasso(1e-3 * alpha_max(X, y), tol=1e-13, max_iter=1).fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert f"{model.certificate_.residual:.3g}" in str(warning.message)
    assert "max_iter" in str(warning.message)
    assert model.certificate_.status is Status.MAX_ITER


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_certificate_holds_the_objective_and_a_gap_below_the_tolerance(n, d):
    X, y = make_data(13, n, d, correlation=0.5)
    alpha, (A, b, *_) = 0.05 * alpha_max(X, y), centred(X, y)
    for tol in (1e-3, 1e-6, 1e-10):
        model = Lasso(alpha, tol=tol).fit(X, y)
        certificate = model.certificate_
        assert certificate.converged
        assert 0 <= certificate.gap <= certificate.tol
        np.testing.assert_allclose(certificate.tol, tol * (b @ b), rtol=1e-10)
        np.testing.assert_allclose(certificate.primal, elastic_net_objective(A, b, model.coef_, alpha, 1.0), rtol=1e-9)
        np.testing.assert_allclose(certificate.primal - certificate.dual, certificate.gap, atol=1e-12 * (b @ b))
        assert model.dual_gap_ == certificate.gap
        assert [record["objective"] for record in model.history_][-1] == certificate.primal


def test_the_objective_never_rises():
    X, y = make_data(14, 40, 300, correlation=0.3)
    history = Lasso(0.02 * alpha_max(X, y), tol=1e-12).fit(X, y).history_
    objectives = np.array([record["objective"] for record in history])
    assert (np.diff(objectives) <= 1e-10 * objectives[0]).all()


def test_a_working_set_larger_than_any_gram_matrix_is_solved_on_columns():
    random = np.random.default_rng(0)
    X = np.eye(5000) + 0.0  # every column is needed, and each alone has a closed form
    y = random.choice([-1.0, 1.0], size=5000) * random.uniform(2, 3, size=5000)
    model = Lasso(1 / 5000, fit_intercept=False, tol=1e-10).fit(sp.csc_matrix(X), y)
    np.testing.assert_allclose(model.coef_, np.sign(y) * (np.abs(y) - 1), atol=1e-8)
    assert model.certificate_.converged
