"""LinearRegression against scikit-learn and a textbook oracle: what a user sees."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as Peer

from mercer.linear_model import LinearRegression
from tests.linear_model.draws import SPOILT, draw_weights, spoil
from tests.reference.least_squares import least_squares, non_negative_by_enumeration


def make_data(seed, n, d, n_targets=None, dtype=np.float64, noise=0.5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + random.normal(size=d)
    w = random.normal(size=(d, n_targets or 1))
    y = X @ w + noise * random.normal(size=(n, n_targets or 1)) + 2
    return X.astype(dtype), (y if n_targets else y[:, 0]).astype(dtype)


def in_order(X, order):
    """X with equal values in another place: Fortran order, a slice of more columns, or rows in reverse."""
    if order == "sliced":
        wide = np.zeros((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
        wide[:, ::2] = X
        return wide[:, ::2]
    if order == "reversed":
        return np.ascontiguousarray(X[::-1])[::-1]
    return np.asarray(X, order=order)


ORDERS = ["C", "F", "sliced", "reversed"]


@st.composite
def problems(draw, dtypes=(np.float64, np.float32)):
    d = draw(st.integers(1, 9))
    n = draw(st.integers(1, 60))
    X, y = make_data(draw(st.integers(0, 10_000)), n, d, draw(st.sampled_from([None, 1, 3])), draw(st.sampled_from(dtypes)))
    kind = draw(st.sampled_from([*SPOILT, "sum"]))
    spoil(X, kind)
    if kind == "sum" and d > 2:
        X[:, -1] = X[:, 0] + X[:, 1]
    weights = draw_weights(draw, n)
    return in_order(X, draw(st.sampled_from(ORDERS))), y, weights, draw(st.booleans())


@settings(max_examples=250, deadline=None)
@given(problems())
def test_coefficients_equal_those_of_the_textbook(problem):
    X, y, weights, fit_intercept = problem
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weights)
    if weights is not None:
        weights = weights.astype(X.dtype)
    oracle = least_squares(X, y, weights, fit_intercept=fit_intercept, cutoff=1e-6)
    kept = oracle.singular[: oracle.rank]
    condition = kept[0] / kept[-1] if oracle.rank else 1.0
    if condition > 1e4:  # near the cutoff a rank is a matter of taste
        return
    precision = 1e-13 * condition**2 if X.dtype == np.float64 else 1e-6
    size = max(np.abs(oracle.coef).max(), 1e-3)
    coef = np.atleast_2d(model.coef_)
    np.testing.assert_allclose(coef, oracle.coef, atol=precision * size, rtol=precision)
    np.testing.assert_allclose(
        np.broadcast_to(model.intercept_, oracle.intercept.shape),
        oracle.intercept,
        atol=10 * precision * (size + 3),
        rtol=precision,
    )
    assert model.rank_ == oracle.rank
    np.testing.assert_allclose(model.singular_, oracle.singular, atol=1e-7 * oracle.singular.max() + 1e-300)
    assert model.certificate_.converged
    assert model.certificate_.residual < (1e-10 if X.dtype == np.float64 else 1e-6)  # of a rounded sum, the rest is dropped


@settings(max_examples=100, deadline=None)
@given(problems(dtypes=(np.float64,)), st.booleans())
def test_shapes_types_and_values_are_those_of_scikit_learn(problem, positive):
    X, y, weights, fit_intercept = problem
    ours = LinearRegression(fit_intercept=fit_intercept, positive=positive).fit(X, y, weights)
    theirs = Peer(fit_intercept=fit_intercept, positive=positive).fit(X, y, weights)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.coef_.dtype == theirs.coef_.dtype
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.predict(X).shape == theirs.predict(X).shape
    squares = [
        (np.reshape((y - model.predict(X)) ** 2, (len(y), -1)).T * (1 if weights is None else weights)).sum()
        for model in (ours, theirs)
    ]
    assert squares[0] == pytest.approx(squares[1], rel=1e-6, abs=1e-9)
    assert hasattr(ours, "singular_") == hasattr(theirs, "singular_")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_targets", [None, 1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_well_posed_fits_equal_scikit_learn(dtype, n_targets, fit_intercept):
    X, y = make_data(0, 300, 6, n_targets, dtype)
    ours, theirs = (cls(fit_intercept=fit_intercept).fit(X, y) for cls in (LinearRegression, Peer))
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    for name in ("coef_", "intercept_", "singular_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=tolerance, atol=tolerance)
        assert np.asarray(getattr(ours, name)).dtype == np.asarray(getattr(theirs, name)).dtype
    assert ours.rank_ == theirs.rank_
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-5)
    assert ours.predict(X).dtype == dtype


def test_the_defaults_and_parameters_are_those_of_scikit_learn():
    ours, theirs = LinearRegression().get_params(), Peer().get_params()
    assert all(ours[name] == value for name, value in theirs.items())


def test_float32_is_solved_in_double_precision():
    X, y = make_data(3, 5000, 10, dtype=np.float32)
    X += np.float32(100)
    exact = least_squares(X, y).coef[0]
    error = [np.abs(cls().fit(X, y).coef_ - exact).max() for cls in (LinearRegression, Peer)]
    assert error[0] < 1e-6
    assert error[0] <= error[1]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_have_the_same_bits_for_any_threads_and_do_not_depend_on_order(order, dtype):
    X, y = make_data(1, 30_000, 11, 2, dtype)
    weights = np.linspace(0, 1, len(X))
    X = in_order(X, order)
    fits = [LinearRegression(n_jobs=n_jobs).fit(X, y, weights) for n_jobs in (1, 2, 7)]
    for fit in fits[1:]:
        assert np.array_equal(fit.coef_, fits[0].coef_)
        assert np.array_equal(fit.intercept_, fits[0].intercept_)
    assert np.array_equal(LinearRegression().fit(np.ascontiguousarray(X), y, weights).coef_, fits[0].coef_)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_weight_equals_repetition(make, positive):
    if positive and make is not np.asarray:
        pytest.skip("positive=True takes dense X only")
    X, y = make_data(2, 60, 5, 2)
    counts = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = LinearRegression(positive=positive).fit(make(X), y, counts)
    repeated = LinearRegression(positive=positive).fit(make(np.repeat(X, counts, axis=0)), np.repeat(y, counts, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-10)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal)


def test_more_columns_than_rows_give_the_solution_of_least_norm():
    X, y = make_data(4, 10, 40, 2)
    model, peer = LinearRegression().fit(X, y), Peer().fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9, atol=1e-12)
    assert model.rank_ == peer.rank_ == 9
    np.testing.assert_allclose(model.predict(X), y, atol=1e-10)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_fits_equal_dense_ones(make, n_targets, fit_intercept, dtype):
    X, y = make_data(5, 200, 8, n_targets, dtype)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0
    weights = np.random.default_rng(1).random(200)
    sparse, dense = (LinearRegression(fit_intercept=fit_intercept).fit(data, y, weights) for data in (make(X), X))
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(sparse.predict(make(X)), dense.predict(X), rtol=10 * tolerance, atol=10 * tolerance)
    assert sparse.coef_.dtype == dtype
    assert not hasattr(sparse, "rank_")
    assert not hasattr(sparse, "singular_")


def test_wide_and_deficient_sparse_data_are_solved_by_lsqr_as_in_scikit_learn():
    X, y = make_data(6, 80, 120, 2)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0
    X[:, 1] = X[:, 0]
    if "tol" not in Peer().get_params():
        pytest.skip("this scikit-learn has no tol")
    model, peer = (cls(tol=1e-10).fit(sp.csr_array(X), y) for cls in (LinearRegression, Peer))
    assert model.certificate_.method == "LSQR"
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("constant", [1 / 3, 1e8 / 3, 0])
def test_a_constant_column_of_sparse_data_does_no_harm(constant):
    X, y = make_data(5, 300, 5)
    X[:, 2] = constant
    sparse, dense = (LinearRegression(tol=1e-10).fit(data, y) for data in (sp.csr_array(X), X))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    assert dense.coef_[2] == 0
    assert sparse.certificate_.converged


def test_a_column_that_is_constant_where_the_weights_are_positive_has_no_coefficient():
    X, y = make_data(5, 1000, 3)
    weights = np.zeros(1000)
    weights[[1, 2, 3, 5, 6, 7, 9]] = np.linspace(1, 2, 7)
    X[weights > 0, 0] = 0.1
    model = LinearRegression().fit(X, y, weights)
    assert model.coef_[0] == 0
    assert model.rank_ == 2
    constant = LinearRegression().fit(X, np.where(weights > 0, 0.1, y), weights)
    assert constant.certificate_.residual == 0


def test_a_constant_target_is_not_fitted_to_its_rounding_errors():
    X, _ = make_data(5, 7, 20)
    for value in (0.1, 1 / 3, 1e8 / 3):
        model = LinearRegression().fit(X, np.full(7, value), np.linspace(1, 2, 7))
        assert not model.coef_.any()
        assert model.certificate_.residual == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["well conditioned", "duplicate", "wide"])
def test_positive_coefficients_are_the_best_of_all(seed, kind):
    X, y = make_data(seed, 30 if kind != "wide" else 4, 6)
    if kind == "duplicate":
        X[:, 1] = X[:, 0]
    model = LinearRegression(positive=True, fit_intercept=False).fit(X, y)
    best = non_negative_by_enumeration(X, y)
    assert (model.coef_ >= 0).all()
    assert 2 * model.certificate_.primal == pytest.approx(((y - X @ best) ** 2).sum(), rel=1e-9, abs=1e-12)
    if kind == "well conditioned":
        np.testing.assert_allclose(model.coef_, best, atol=1e-10)
    assert model.certificate_.residual < 1e-10


def test_an_array_in_fortran_order_is_not_copied():
    X, y = make_data(7, 200_000, 5)
    X = np.asfortranarray(X)
    tracemalloc.start()
    LinearRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_X_is_never_changed_even_if_it_may_be():
    for degenerate in (False, True):
        X, y = make_data(8, 50, 4)
        if degenerate:
            X[:, 1] = X[:, 0]
        before = X.copy()
        LinearRegression(copy_X=False).fit(X, y)
        assert np.array_equal(X, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["X", "y"])
@pytest.mark.parametrize("shape", [(50, 3), (3, 50), (5000, 4)])
@pytest.mark.parametrize("options", [{}, {"positive": True}, {"fit_intercept": False}])
def test_bad_values_raise_scikit_learns_error(bad, where, shape, options):
    X, y = make_data(9, *shape)
    (X[-1:, -1:] if where == "X" else y[-1:])[...] = bad
    with pytest.raises(ValueError, match=f"Input {where} contains (NaN|infinity)"):
        LinearRegression(**options).fit(X, y)


def test_bad_values_in_sparse_X_raise_scikit_learns_error():
    X, y = make_data(9, 20, 3)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        LinearRegression().fit(sp.csr_array(X), y)


def test_values_whose_squares_overflow_are_refused_with_a_remedy():
    X, y = make_data(9, 20, 3)
    with pytest.raises(ValueError, match="squares overflow"):
        LinearRegression().fit(X * 1e200, y)
    with pytest.raises(ValueError, match="squares overflow"):
        LinearRegression().fit(X, y * 1e200)


@pytest.mark.parametrize(
    ("name", "value"),
    [("fit_intercept", "yes"), ("tol", -1), ("tol", np.nan), ("positive", 1), ("n_jobs", 0), ("copy_X", None)],
)
def test_bad_parameters_are_named(name, value):
    X, y = make_data(10, 20, 3)
    with pytest.raises(ValueError, match=name):
        LinearRegression(**{name: value}).fit(X, y)


def test_sparse_data_with_positive_are_refused():
    X, y = make_data(10, 20, 3)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        LinearRegression(positive=True).fit(sp.csr_array(X), y)


def test_bad_weights_are_refused():
    X, y = make_data(10, 20, 3)
    for weights in (-np.ones(20), np.ones(19), np.full(20, np.nan), np.zeros(20)):
        with pytest.raises(ValueError, match="sample_weight"):
            LinearRegression().fit(X, y, weights)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = make_data(11, 30, 3)
    model = LinearRegression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 2), np.nan), np.zeros(5))
    assert np.array_equal(model.coef_, before)
    assert model.n_features_in_ == 3


def test_before_the_fit_attributes_are_missing():
    model = LinearRegression()
    for name in ("coef_", "singular_", "rank_", "certificate_"):
        assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])
    with pytest.raises(NotFittedError):
        model.summary()


def test_a_second_fit_forgets_the_first():
    X, y = make_data(12, 40, 3)
    model = LinearRegression().fit(X, y)
    model.fit(sp.csr_array(X), y)
    assert not hasattr(model, "rank_")
    assert not hasattr(model, "singular_")


def test_a_model_survives_pickle_and_clone():
    X, y = make_data(12, 40, 3)
    model = LinearRegression(fit_intercept=False).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.singular_, model.singular_)
    assert repr(again.summary()) == repr(model.summary())
    assert not hasattr(clone(model), "coef_")


@pytest.mark.parametrize("n_targets", [None, 3])
def test_one_row_is_predicted_as_among_many(n_targets):
    X, y = make_data(13, 50, 4, n_targets)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X[:1]), model.predict(X)[:1], rtol=1e-14)
    np.testing.assert_allclose(model.predict(X[:1].tolist()), model.predict(X)[:1], rtol=1e-14)


def test_a_constant_target_is_met_by_the_intercept():
    X, _ = make_data(14, 50, 4)
    model = LinearRegression().fit(X, np.full(50, 7.0))
    np.testing.assert_allclose(model.coef_, 0, atol=1e-15)
    assert model.intercept_ == pytest.approx(7)
    assert model.certificate_.converged


def test_one_row_gives_its_own_value():
    model = LinearRegression().fit([[1.0, 2.0]], [3.0])
    assert np.array_equal(model.coef_, [0, 0])
    assert model.intercept_ == 3
    assert model.rank_ == 0


def test_integers_lists_and_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    X, y = make_data(15, 30, 2)
    expected = LinearRegression().fit(X, y)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = LinearRegression().fit(frame, pandas.Series(y))
    assert [*model.feature_names_in_] == ["a", "b"]
    np.testing.assert_allclose(model.coef_, expected.coef_)
    assert np.array_equal(LinearRegression().fit([[0], [1], [2]], [1, 3, 5]).coef_.round(12), [2.0])
