"""Ridge against scikit-learn and a textbook oracle: what a user sees, and what the certificate says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge as Peer

from mercer._trace import Status
from mercer.linear_model import LinearRegression, Ridge, RidgeClassifier
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._ridge.direct import solve_direct
from tests.linear_model.draws import SPOILT, draw_weights, spoil
from tests.linear_model.test_linear_regression import ORDERS, in_order, make_data
from tests.reference.ridge import non_negative_ridge, ridge

DIRECT = ["auto", "svd", "cholesky"]
ITERATIVE = ["lsqr", "sparse_cg", "sag", "saga"]
SHAPES = [(60, 6), (12, 30), (10, 10), (1, 4), (2, 1)]


@st.composite
def problems(draw, dtypes=(np.float64, np.float32)):
    """Tall, wide and square data with columns that are constant, zero or repeated, weights, and penalties of any size."""
    n, d, n_targets = draw(st.integers(1, 40)), draw(st.integers(1, 40)), draw(st.sampled_from([None, 1, 3]))
    X, y = make_data(draw(st.integers(0, 10_000)), n, d, n_targets, draw(st.sampled_from(dtypes)))
    kind = draw(st.sampled_from([*SPOILT, "target"]))
    spoil(X, kind)
    if kind == "target":
        y[:] = 0.3
    weights = draw_weights(draw, n)
    weights = None if weights is None else weights.astype(X.dtype)
    exponents = st.floats(-6, 4)
    alpha = 10 ** draw(exponents)
    if n_targets == 3 and draw(st.booleans()):
        alpha = 10 ** np.array([draw(exponents) for _ in range(3)])
    return in_order(X, draw(st.sampled_from(ORDERS))), y, weights, draw(st.booleans()), alpha


@settings(max_examples=250, deadline=None)
@given(problems(), st.sampled_from(["auto", "svd", "cholesky", "sparse"]))
def test_coefficients_and_objective_equal_those_of_the_textbook(problem, solver):
    X, y, weights, fit_intercept, alpha = problem
    model = Ridge(alpha, fit_intercept=fit_intercept, solver="auto" if solver == "sparse" else solver)
    model.fit(sp.csr_matrix(X) if solver == "sparse" else X, y, weights)
    oracle = ridge(X, y, alpha, weights, fit_intercept=fit_intercept)
    size = max(np.abs(oracle.coef).max(), 1e-3)
    precision = 1e-8 if X.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(np.atleast_2d(model.coef_), oracle.coef, atol=precision * size, rtol=precision)
    intercept = np.broadcast_to(model.intercept_, oracle.intercept.shape)
    np.testing.assert_allclose(intercept, oracle.intercept, atol=10 * precision * (size + 3), rtol=precision)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.primal == pytest.approx(oracle.primal, rel=1e-6, abs=1e-12)
    assert certificate.gap >= 0
    assert certificate.dual == pytest.approx(certificate.primal - certificate.gap)
    assert certificate.dual <= oracle.primal * (1 + 1e-9) + 1e-12


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([*DIRECT, "lsqr", "sparse_cg", "positive", "lbfgs"]), st.sampled_from([1e-2, 1e-6]))
def test_the_gap_is_never_negative_and_small_where_the_fit_converged(problem, solver, tol):
    X, y, weights, fit_intercept, alpha = problem
    kind = {"positive": True, "solver": "lbfgs" if solver == "lbfgs" else "auto"} if solver in ("positive", "lbfgs") else {}
    with np.errstate(all="raise", under="ignore"):
        model = Ridge(alpha, fit_intercept=fit_intercept, tol=tol, **(kind or {"solver": solver})).fit(X, y, weights)
    certificate = model.certificate_
    assert certificate.gap >= 0
    if solver in DIRECT:
        assert certificate.tol == 1e-10
    if certificate.converged:
        assert certificate.residual <= certificate.tol
    assert not kind or (model.coef_ >= 0).all()


@pytest.mark.parametrize("solver", [*DIRECT, *ITERATIVE])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_solver_equals_scikit_learn(solver, n_targets, shape, fit_intercept):
    X, y = make_data(1, *shape, n_targets)
    alpha = [0.1, 1.0, 30.0] if n_targets == 3 else 2.0
    ours = Ridge(alpha, solver=solver, tol=1e-12, fit_intercept=fit_intercept).fit(X, y)
    theirs = Peer(alpha, solver="svd", fit_intercept=fit_intercept).fit(X, y)
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-8)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert ours.solver_ == ("cholesky" if solver == "auto" else solver)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_a_penalty_it_is_least_squares(shape, fit_intercept, dtype):
    X, y = make_data(2, *shape, dtype=dtype)
    ours, plain = Ridge(0.0, fit_intercept=fit_intercept).fit(X, y), LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    assert ours.certificate_.gap is None
    assert ours.certificate_.converged


def test_targets_with_and_without_a_penalty_go_together():
    X, y = make_data(3, 50, 4, 3)
    model = Ridge([0.0, 1.0, 0.0]).fit(X, y)
    for target, alpha in enumerate([0.0, 1.0, 0.0]):
        np.testing.assert_allclose(model.coef_[target], Ridge(alpha).fit(X, y[:, target]).coef_, rtol=1e-10)


@pytest.mark.parametrize("kind", ["tall", "wide"])
def test_the_products_of_columns_and_of_rows_give_the_same(kind):
    X, y = make_data(4, *((40, 12) if kind == "tall" else (12, 40)), 2)
    model = Ridge(0.7).fit(X, y)
    doubled = Ridge(0.7).fit(np.repeat(X, 8, axis=0), np.repeat(y, 8, axis=0), np.full(8 * len(X), 1 / 8))
    assert ("rows" in model.certificate_.method) == (kind == "wide")
    assert "rows" not in doubled.certificate_.method
    np.testing.assert_allclose(model.coef_, doubled.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(1e-9), Ridge(1.0)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wide_data_need_no_singular_values(estimator, fit_intercept, dtype):
    X, y = make_data(17, 20, 200, dtype=dtype)
    model = clone(estimator).set_params(fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.method == "products of rows, Cholesky with refinement"
    assert model.certificate_.residual < 1e-12
    oracle = ridge(X, y, getattr(estimator, "alpha", 1e-13), fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.coef_, oracle.coef[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", ITERATIVE)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_iterations_leave_columns_that_do_not_vary_at_zero(solver, alpha, kind):
    X, y = make_data(18, 40, 5)
    X[:, 1], X[:, 3] = 0, 0.1
    model = Ridge(alpha, solver=solver, tol=1e-12).fit(kind(X), y)
    assert model.coef_[1] == model.coef_[3] == 0
    np.testing.assert_allclose(model.coef_, Ridge(alpha).fit(X, y).coef_, atol=1e-9)


def test_the_gap_of_a_stopped_fit_with_non_negative_coefficients_is_the_distance_to_the_dual():
    X, y = make_data(19, 60, 12)
    X, y = X - X.mean(axis=0), y - y.mean()
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        model = Ridge(2.0, positive=True, solver="lbfgs", max_iter=3, tol=1e-12, fit_intercept=False).fit(X, y)
    r = y - X @ model.coef_
    primal = r @ r / 2 + model.coef_ @ model.coef_
    dual = y @ r - r @ r / 2 - (np.maximum(X.T @ r, 0) ** 2).sum() / 4
    assert model.certificate_.primal == pytest.approx(primal)
    assert model.certificate_.gap == pytest.approx(primal - dual, rel=1e-6)
    assert model.certificate_.gap > 1e-9


@pytest.mark.parametrize("shape", [(50, 5), (15, 40)])
@pytest.mark.parametrize("solver", ["auto", "sparse_cg"])
@pytest.mark.parametrize("positive", [False, True])
def test_a_weight_is_a_repetition(shape, solver, positive):
    X, y = make_data(5, *shape)
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    params = {"positive": positive, "solver": "auto" if positive else solver, "tol": 1e-12}
    weighted = Ridge(1.0, **params).fit(X, y, weights)
    repeated = Ridge(1.0, **params).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_)


@pytest.mark.parametrize("shape", [(1500, 1200), (1200, 1500), (80, 10), (10, 80)])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
def test_sparse_data_give_what_dense_data_give(shape, kind):
    random = np.random.default_rng(6)
    X = sp.random(*shape, density=0.02, random_state=0, format="csr").toarray() + (random.random(shape[1]) < 0.1)
    y, weights = random.normal(size=shape[0]), random.uniform(0, 2, size=shape[0])
    sparse, dense = (Ridge(0.5, tol=1e-10).fit(data, y, weights) for data in (kind(X), X))
    assert sparse.solver_ == ("sparse_cg" if min(shape) > 1000 else "cholesky")
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    assert sparse.intercept_ == pytest.approx(dense.intercept_, abs=1e-8)


@pytest.mark.parametrize("estimator", [Ridge(0.1), Ridge([0.1, 50.0]), LinearRegression()], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["good", "large means", "badly conditioned", "perfect fit", "weighted"])
def test_single_precision_products_are_corrected_to_double(estimator, fit_intercept, kind):
    n_targets = 2 if np.ndim(getattr(estimator, "alpha", 0.0)) else None
    X, y = make_data(16, 700, 80, n_targets, np.float32)
    weights = np.linspace(0, 2, 700, dtype=np.float32) if kind == "weighted" else None
    if kind == "large means":
        X += 100
    elif kind == "badly conditioned":
        X[:, 1] = X[:, 0] * np.float32(1.001) + X[:, 2] * np.float32(1e-3)
    elif kind == "perfect fit":
        y = X[:, :n_targets] if n_targets else X[:, 0]
    single, double = (
        clone(estimator).set_params(fit_intercept=fit_intercept).fit(X.astype(dtype), y.astype(dtype), weights)
        for dtype in (np.float32, np.float64)
    )
    assert single.coef_.dtype == np.float32
    if fit_intercept:  # without, means of columns make the condition worse
        assert ("single precision" in single.certificate_.method) == (kind in ("good", "weighted", "large means"))
    assert single.certificate_.converged
    assert single.certificate_.residual <= 1e-10
    assert single.certificate_.primal == pytest.approx(double.certificate_.primal, rel=1e-9, abs=1e-9)
    size = np.abs(double.coef_).max()
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-6, atol=(1e-7 if kind == "good" else 1e-6) * size)


@pytest.mark.parametrize("alpha", [1.0, 50.0, [1.0, 50.0]], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["good", "large means", "weighted", "perfect fit", "dependent rows", "constant columns"])
def test_single_precision_products_of_rows_are_corrected_to_double(alpha, fit_intercept, kind):
    X, y = make_data(17, 90, 400, np.size(alpha) if np.ndim(alpha) else None, np.float32)
    weights = np.linspace(0, 2, 90, dtype=np.float32) if kind == "weighted" else None
    if kind == "large means":
        X += 100
    elif kind == "perfect fit":
        y = (X.sum(axis=1) if y.ndim == 1 else np.column_stack([X.sum(axis=1), X[:, 0]])).astype(np.float32)
    elif kind == "dependent rows":
        X *= 100
        X[1] = X[0] + np.float32(1e-3) * X[1]
    elif kind == "constant columns":
        X[:, ::2] = 3
    single, double = (
        Ridge(alpha, fit_intercept=fit_intercept).fit(X.astype(dtype), y.astype(dtype), weights)
        for dtype in (np.float32, np.float64)
    )
    is_rough = "single precision" in single.certificate_.method
    assert is_rough == (kind != "dependent rows" and (fit_intercept or kind != "large means"))
    assert single.coef_.dtype == np.float32
    assert single.certificate_.converged
    assert single.certificate_.residual <= 1e-10
    assert single.certificate_.primal == pytest.approx(double.certificate_.primal, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-6, atol=1e-7 * np.abs(double.coef_).max())


def test_the_gap_of_single_precision_products_of_rows_bounds_the_true_one(monkeypatch):
    X, y = make_data(18, 80, 300, dtype=np.float32)
    monkeypatch.setattr("mercer.linear_model._least_squares.dual.MAX_REFINEMENTS", 1)
    monkeypatch.setattr("mercer.linear_model._ridge.direct.REFINED", 1.0)
    rows = DenseRows(Ridge(), X, y, None, is_centred=True, n_threads=1)
    fit = solve_direct(rows, np.array([2.0]))
    assert "single precision" in fit.method
    A, b = rows.matrices(fit.means, 80.0)
    gradient = A.T @ (b[:, 0] - A @ fit.coef[0]) - 2.0 * fit.coef[0]
    assert 0 < gradient @ gradient / (2 * 2.0) <= fit.gaps[0] < 1e-4


@pytest.mark.parametrize("alpha", [1e-14, 1e-9, 1e9, 1e20])
@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_tiny_and_huge_penalties_on_dependent_columns(alpha, shape):
    X, y = make_data(7, *shape)
    X[:, 1] = X[:, 0]
    model = Ridge(alpha).fit(X, y)
    oracle = ridge(X, y, alpha)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.predict(X), (X @ oracle.coef.T + oracle.intercept)[:, 0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_units_of_columns_and_targets_may_be_extreme(scale):
    X, y = make_data(8, 40, 5)
    expected = Ridge(1.0).fit(X, y)
    np.testing.assert_allclose(Ridge(scale**2).fit(X * scale, y).coef_ * scale, expected.coef_, rtol=1e-9)


def test_a_large_mean_loses_no_digits():
    X, y = make_data(9, 100, 4)
    for data in (X[:, :], X.T[:, :4].repeat(30, axis=1)):
        target = y[: len(data)]
        moved = Ridge(1.0).fit(data + 2.0**20, target)
        np.testing.assert_allclose(moved.coef_, Ridge(1.0).fit(data, target).coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("seed", range(5))
def test_non_negative_coefficients_are_the_best_there_are(seed, solver):
    X, y = make_data(seed, 30, 6)
    model = Ridge(2.0, positive=True, fit_intercept=False, solver=solver, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, non_negative_ridge(X, y, 2.0), atol=1e-7)
    assert model.solver_ == ("active_set" if solver == "auto" else "lbfgs")
    assert model.certificate_.converged
    assert 0 <= model.certificate_.gap < 1e-9


@pytest.mark.parametrize("data", ["wide", "sparse", "no penalty"])
def test_non_negative_coefficients_on_other_data(data):
    X, y = make_data(11, *((20, 60) if data == "wide" else (60, 8)), 2)
    alpha = 0.0 if data == "no penalty" else 1.0
    ours = Ridge(alpha, positive=True, tol=1e-10).fit(sp.csr_matrix(X) if data == "sparse" else X, y)
    theirs = Peer(alpha, positive=True, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert (ours.coef_ >= 0).all()
    assert ours.certificate_.converged


@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_conjugate_gradients_reach_tiny_tolerances_by_the_rows_themselves(shape, n_targets):
    random = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.2, rng=random, format="csr")
    y = random.normal(size=shape[0] if n_targets is None else (shape[0], n_targets)) + 100
    weights = random.exponential(size=shape[0])
    model = Ridge(0.1, solver="sparse_cg", tol=1e-12).fit(X, y, weights)
    is_wide = shape[0] < shape[1]
    assert model.certificate_.method == "conjugate gradients" + ("" if is_wide else ", preconditioned")
    assert model.certificate_.status is Status.CONVERGED
    roots = np.sqrt(weights)[:, None]
    A = (X.toarray() - np.average(X.toarray(), axis=0, weights=weights)) * roots
    targets = y.reshape(len(y), -1)
    b = (targets - np.average(targets, axis=0, weights=weights)) * roots
    coef = model.coef_.reshape(b.shape[1], -1)
    gradient = A.T @ (b - A @ coef.T) - 0.1 * coef.T
    assert np.linalg.norm(gradient, axis=0).max() <= 3e-12 * np.linalg.norm(A.T @ b, axis=0).max()


def test_wide_sparse_rows_take_no_more_iterations_than_without_scaled_columns():
    random = np.random.default_rng(0)
    X = sp.random_array((200, 2_000), density=0.02, rng=random, format="csr", data_sampler=random.standard_normal)
    model = Ridge(1.0, solver="sparse_cg").fit(X, random.normal(size=200))
    assert model.n_iter_ <= 15  # by scaled columns, 40


def test_an_iterative_fit_tells_how_it_went_and_warns_at_the_end_of_its_iterations():
    X, y = make_data(12, 300, 20)
    with pytest.warns(ConvergenceWarning, match=r"^Ridge: after 3 iterations the gradient is .* raise max_iter"):
        model = Ridge(1e-3, solver="lsqr", tol=1e-14, max_iter=3).fit(X, y)
    assert model.certificate_.status is Status.MAX_ITER
    assert model.n_iter_ == len(model.history_) == 3
    full = Ridge(1e-3, solver="lsqr", tol=1e-9).fit(X, y)
    assert [*full.history_[-1]] == ["gradient", "objective"]
    assert full.history_[-1]["gradient"] <= 1e-9
    objectives = [record["objective"] for record in full.history_]
    assert objectives == sorted(objectives, reverse=True)
    assert full.certificate_.gap < model.certificate_.gap
    assert not hasattr(full.set_params(solver="auto").fit(X, y), "history_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1.0}, r"alpha=-1.0 is not valid; it must be a finite number >= 0"),
        ({"alpha": [1.0, 2.0]}, r"Number of targets and number of penalties do not correspond: 2 != 1"),
        ({"alpha": [-1.0]}, r"every value must be a finite number >= 0"),
        ({"alpha": [[1.0]]}, r"one for each target"),
        ({"solver": "newton"}, r"solver='newton'"),
        ({"solver": "lbfgs"}, r"'lbfgs' is for positive=True"),
        ({"solver": "svd", "positive": True}, r"solver='svd' does not support positive=True"),
        ({"max_iter": 0}, r"max_iter=0"),
        ({"tol": -1.0}, r"tol=-1.0"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    X, y = make_data(13, 20, 3)
    with pytest.raises(ValueError, match=message):
        Ridge(**params).fit(X, y)


def test_sparse_data_are_refused_by_singular_values():
    X, y = make_data(14, 20, 3)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Ridge(solver="svd").fit(sp.csr_matrix(X), y)


def test_there_is_no_summary_of_a_penalised_fit():
    X, y = make_data(15, 20, 3)
    with pytest.raises(ValueError, match="standard errors are not defined for a penalised fit"):
        Ridge().fit(X, y).summary()


def test_a_single_sparse_row_has_no_slope():
    # What centring leaves of one row is rounding, and its square may come out below zero.
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(1, 21))
        model = Ridge().fit(sp.csr_matrix(X), [8.8])
        np.testing.assert_allclose(model.coef_, 0, atol=1e-12)
        assert model.intercept_ == pytest.approx(8.8)


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"])
@pytest.mark.parametrize("shape", ["wide", "tall with columns that depend on others"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("alpha", [0, 1e-14])
def test_without_a_penalty_every_solver_finds_the_shortest_coefficients(solver, shape, fit_intercept, as_sparse, alpha):
    if as_sparse and solver == "svd":
        pytest.skip("dense X only")
    random = np.random.default_rng(3)
    X = random.normal(size=(12, 30)) * random.uniform(0.5, 2, size=30)
    if shape != "wide":
        X = np.c_[X[:, :5], X[:, :5] @ random.normal(size=(5, 3))]
    y = random.normal(size=(12, 2)) + 3
    model = Ridge(alpha=alpha, solver=solver, fit_intercept=fit_intercept, tol=1e-11).fit(
        sp.csr_array(X) if as_sparse else X, y
    )
    means = (X.mean(axis=0), y.mean(axis=0)) if fit_intercept else (0.0, 0.0)
    expected = np.linalg.lstsq(X - means[0], y - means[1], rcond=1e-10)[0].T
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("model", [Ridge(solver="svd"), RidgeClassifier(solver="svd")])
def test_singular_values_of_sparse_rows_are_refused_with_what_would_do(model):
    with pytest.raises(ValueError, match=r"solver='svd' does not support sparse X.*solver='auto'"):
        model.fit(sp.csr_matrix(np.eye(4)), [0, 1, 0, 1])
