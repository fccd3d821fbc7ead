"""Fits have the same bits for any number of threads, those of BLAS too: at shapes where BLAS shares its sums among threads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import threadpoolctl
from sklearn.base import clone, is_classifier

import mercer.linear_model as lm
from mercer.svm import LinearSVC, LinearSVR

TALL, WIDE = (3000, 400), (400, 3000)
CASES = [
    (lm.LinearRegression(), TALL),
    (lm.LinearRegression(), WIDE),
    (lm.Ridge(alpha=2.0), TALL),
    (lm.Ridge(alpha=2.0), WIDE),
    (lm.LogisticRegression(max_iter=20), TALL),
    (lm.LogisticRegression(max_iter=20), WIDE),
    (lm.RidgeClassifier(alpha=2.0), TALL),
    (lm.Lasso(alpha=0.05), TALL),
]
FURTHER = [
    (lm.Ridge(alpha=2.0, solver="svd"), TALL),
    (lm.Ridge(alpha=2.0, solver="svd"), WIDE),
    (lm.RidgeCV(alphas=[0.1, 10.0]), TALL),
    (lm.RidgeCV(alphas=[0.1, 10.0]), WIDE),
    (lm.HuberRegressor(alpha=0.1, max_iter=5), TALL),
    (lm.PoissonRegressor(alpha=0.1, max_iter=5), TALL),
    (lm.PoissonRegressor(alpha=0.1, max_iter=5), WIDE),
    (lm.ElasticNet(alpha=0.05), WIDE),
    (LinearSVR(max_iter=20, random_state=0), TALL),
    (LinearSVC(max_iter=20, random_state=0), TALL),
    (LinearSVC(max_iter=20, random_state=0), WIDE),
]


def _data(shape, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape).astype(dtype)
    values = X[:, :20].sum(axis=1) / 5
    return X, values + 0.1 * rng.standard_normal(shape[0]).astype(dtype)


def _fitted(model, X, y, n_threads):
    with threadpoolctl.threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X, y)
    return np.append(np.ravel(fitted.coef_), np.ravel(fitted.intercept_))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("model", "shape"), CASES + [pytest.param(*case, marks=pytest.mark.slow) for case in FURTHER])
def test_coefficients_have_the_same_bits_for_any_number_of_threads(model, shape, dtype):
    X, y = _data(shape, dtype)
    if is_classifier(model):
        y = (y > 0).astype(int)
    elif isinstance(model, lm.PoissonRegressor):
        y = np.exp(np.clip(y, -3, 3))
    one, two = (_fitted(model, X, y, n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(two, one)


def test_blas_has_its_threads_back_after_a_fit():
    X, y = _data((50, 5), np.float64)
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        lm.LinearRegression().fit(X, y)
        with pytest.raises(ValueError, match="NaN"):
            lm.LinearRegression().fit(np.full_like(X, np.nan), y)
        assert {library.num_threads for library in blas.lib_controllers} == {2}


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("n_outputs", [None, 1, 3, 20])
@pytest.mark.parametrize(("dtype", "of_coef"), [(np.float64, np.float64), (np.float32, np.float32), (np.float32, np.float64)])
@pytest.mark.parametrize("shape", [(3, 7), (5000, 37), (257, 1000)])
def test_predictions_are_the_linear_values_and_have_the_same_bits_for_any_number_of_threads(
    shape, dtype, of_coef, n_outputs, order
):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape).astype(dtype)
    X = np.repeat(X, 2, axis=1)[:, ::2] if order == "strided" else np.asarray(X, order=order)
    coef = rng.standard_normal(shape[1] if n_outputs is None else (n_outputs, shape[1])).astype(of_coef)
    model = lm.Ridge().fit(X[:3], X[:3, 0])
    model.coef_, model.intercept_ = coef, rng.standard_normal(() if n_outputs is None else n_outputs).astype(of_coef)
    with threadpoolctl.threadpool_limits(1):
        one = model.predict(X)
    with threadpoolctl.threadpool_limits(2):
        np.testing.assert_array_equal(model.predict(X), one)
    exact = X.astype(np.float64) @ coef.T.astype(np.float64) + model.intercept_
    assert one.dtype == of_coef
    assert one.shape == exact.shape
    tolerance = 4 * np.finfo(of_coef).eps * (np.abs(X) @ np.abs(coef.T) + 1)
    assert (np.abs(one - exact) <= tolerance).all()
