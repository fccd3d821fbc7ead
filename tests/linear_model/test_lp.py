"""LpRegression: no change of a single coefficient, however large, improves the objective."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer.linear_model import Lasso, LpRegression
from tests.linear_model.test_lasso import make_data
from tests.reference.sparse_penalties import centred, lp_objective


def assert_no_single_change_helps(A, b, w, alpha, p, slack):
    here = lp_objective(A, b, w, alpha, p)
    reach = 2 * np.abs(w).max(initial=0) + 2
    grid = np.concatenate([np.linspace(-reach, reach, 4001), [0.0]])
    for j in range(len(w)):
        rest = b - A @ w + A[:, j] * w[j]
        squares = ((rest[:, None] - A[:, [j]] * grid) ** 2).sum(axis=0) / 2
        others = alpha * (np.abs(np.delete(w, j)) ** p).sum()
        assert (squares + alpha * np.abs(grid) ** p + others).min() >= here - slack


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.integers(1, 25),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.sampled_from([0.5, 0.05, 0.001]),
    st.sampled_from(["auto", "zeros", "lasso", "least_squares"]),
    st.sampled_from([0.0, 0.9]),
)
def test_every_fit_is_a_minimum_along_every_coordinate(seed, n, d, p, alpha, init, correlation):
    X, y = make_data(seed, n, d, correlation=correlation)
    model = LpRegression(alpha, p=p, init=init, tol=1e-10, max_iter=20_000).fit(X, y)
    A, b, *_ = centred(X, y)
    assert model.certificate_.converged
    assert model.certificate_.gap is None
    np.testing.assert_allclose(model.certificate_.primal, lp_objective(A, b, model.coef_, alpha, p), rtol=1e-8, atol=1e-12)
    assert_no_single_change_helps(A, b, model.coef_, alpha, p, slack=2e-10 * (b @ b) + 1e-12)


@pytest.mark.parametrize(("n", "d"), [(200, 12), (40, 300)])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_wide_and_sparse_fits_are_minima_too(n, d, as_sparse):
    X, y = make_data(1, n, d)
    model = LpRegression(0.02, tol=1e-10).fit(sp.csr_matrix(X) if as_sparse else X, y)
    A, b, *_ = centred(X, y)
    assert_no_single_change_helps(A, b, model.coef_, 0.02, 0.5, slack=2e-10 * (b @ b))


def test_auto_is_no_worse_than_any_start_and_says_which_it_kept():
    X, y = make_data(2, 60, 20, correlation=0.7)
    names = ["zeros", "lasso", "least_squares"]
    objectives = {name: LpRegression(0.02, init=name).fit(X, y).certificate_.primal for name in names}
    best = LpRegression(0.02).fit(X, y)
    assert best.certificate_.primal == min(objectives.values())
    assert objectives[best.init_] == min(objectives.values())


def test_the_result_depends_on_the_start():
    X = np.array([[1.0], [-1.0]])
    y = np.array([1.25, -1.25])  # beyond the jump, yet zero is a minimum against small moves only
    ends = {init: LpRegression(0.7, init=[init], tol=1e-12).fit(X, y).coef_[0] for init in (0.0, 1.0)}
    assert_no_single_change_helps(*centred(X, y)[:2], np.array([ends[1.0]]), 0.7, 0.5, 1e-9)
    duplicated = np.hstack([X, X])
    one, other = (LpRegression(0.05, init=init, tol=1e-12).fit(duplicated, y).coef_ for init in ([5.0, 0.0], [0.0, 5.0]))
    assert one[0] > 0
    assert one[1] == 0
    assert other[1] > 0
    assert other[0] == 0
    assert LpRegression(0.05, init=[1.0]).fit(X, y).init_ == "given"


def test_it_is_sparser_than_the_lasso_and_shrinks_less():
    X, y = make_data(3, 300, 20)
    lasso, lp = Lasso(0.1).fit(X, y), LpRegression(0.1, p=0.3).fit(X, y)
    assert np.count_nonzero(lp.coef_) <= np.count_nonzero(lasso.coef_)
    assert np.abs(lp.coef_).max() > np.abs(lasso.coef_).max()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_a_penalty_it_is_least_squares_and_types_are_kept(dtype):
    X, y = make_data(4, 80, 5, dtype)
    model = LpRegression(0.0, tol=1e-12, selection="random", random_state=0).fit(X, y)
    A, b, *_ = centred(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-5)
    assert model.coef_.dtype == dtype


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"p": 0.0}, r"p=0.0 .* < 1"),
        ({"p": 1.0}, r"p=1.0 .* < 1"),
        ({"init": "other"}, "init='other'"),
        ({"init": [1.0]}, r"init has shape \(1,\)"),
        ({"alpha": -1}, "alpha=-1"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, message):
    X, y = make_data(5, 40, 6)
    with pytest.raises(ValueError, match=f"LpRegression: {message}"):
        LpRegression(**params).fit(X, y)
