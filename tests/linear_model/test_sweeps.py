"""Sweeps of linear models over their penalty, in the cases that the common suite has no data for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer.linear_model import ElasticNet, Lasso, LogisticRegression, MultiTaskLasso, Ridge, RidgeClassifier
from tests.common.state import assert_close

ALPHAS = [0.05, 1.0, 0.2]


def problem(n=80, d=6, n_targets=1, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    y = X @ random.randn(d, n_targets) + random.randn(n, n_targets)
    return X, y[:, 0] if n_targets == 1 else y


def check(model, X, y, name, values, *, rtol=1e-6, **options):
    """A sweep against separate fits; what it found, for more."""
    swept = list(model.sweep(X, y, name, values, **options))
    for each, value in zip(swept, values, strict=True):
        fitted = clone(model).set_params(**{name: value}).fit(X, y, **options)
        assert_close(each, fitted, rtol=rtol, passed_over=("sparse_coef_",))
        assert each.certificate_.primal == pytest.approx(fitted.certificate_.primal, rel=1e-6)
    return swept


@pytest.mark.parametrize(
    "model",
    [
        Lasso(positive=True),
        Lasso(fit_intercept=False),
        Lasso(warm_start=True),
        ElasticNet(l1_ratio=0.1),
        ElasticNet(precompute=True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("shape", [(80, 6), (30, 90)])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_lasso_sweeps_whatever_its_parameters(model, shape, n_targets):
    X, y = problem(*shape, n_targets)
    for each in check(model.set_params(tol=1e-12, max_iter=100_000), X, y, "alpha", ALPHAS):
        assert each.certificate_.converged


def test_a_path_of_random_coordinates():
    X, y = problem()
    check(Lasso(selection="random", random_state=0, tol=1e-10), X, y, "alpha", ALPHAS, rtol=1e-5)


def test_a_path_on_a_given_gram_matrix():
    X, y = problem()
    centred = X - X.mean(axis=0)
    check(Lasso(precompute=centred.T @ centred, tol=1e-12), X, y, "alpha", ALPHAS)


def test_several_targets_share_a_path():
    X, y = problem(40, 60, 2)
    check(MultiTaskLasso(tol=1e-12, max_iter=100_000), X, y, "alpha", ALPHAS)


def test_coefficients_of_a_path_are_their_own():
    X, y = problem(60, 1, 2)
    swept = list(MultiTaskLasso().sweep(X, y, "alpha", ALPHAS))
    assert len({each.coef_.tobytes() for each in swept}) == len(ALPHAS)
    assert not any(np.shares_memory(swept[0].coef_, each.coef_) for each in swept[1:])


def test_a_path_saves_iterations():
    X, y = problem(100, 300)
    model, alphas = Lasso(tol=1e-8), np.geomspace(1, 0.01, 30)
    n_swept = sum(each.n_iter_ for each in model.sweep(X, y, "alpha", alphas))
    assert n_swept < sum(clone(model).set_params(alpha=alpha).fit(X, y).n_iter_ for alpha in alphas)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd"])
@pytest.mark.parametrize("shape", [(80, 6), (20, 50)])
def test_ridge_sweeps_by_its_own_method(solver, shape):
    X, y = problem(*shape)
    for each in check(Ridge(solver=solver), X, y, "alpha", [1.0, 0.0, 1e-3, 100.0]):
        assert each.certificate_.converged


def test_ridge_sweeps_a_penalty_for_each_target():
    X, y = problem(n_targets=2)
    swept = list(Ridge().sweep(X, y, "alpha", [np.array([0.1, 10.0]), 1.0]))
    np.testing.assert_allclose(swept[0].coef_, Ridge(alpha=np.array([0.1, 10.0])).fit(X, y).coef_)
    np.testing.assert_allclose(swept[1].coef_, Ridge(alpha=1.0).fit(X, y).coef_)


def test_large_sparse_ridge_sweeps_by_iterations():
    random = np.random.RandomState(0)
    X = sp.random(1200, 1100, density=0.01, random_state=random, format="csr")
    swept = check(Ridge(tol=1e-10), X, random.randn(1200), "alpha", [1.0, 0.1])
    assert {each.solver_ for each in swept} == {"sparse_cg"}


def test_what_iterates_or_is_restricted_is_not_swept():
    assert Ridge(solver="lsqr").sweep_parameters() == []
    assert Ridge(positive=True).sweep_parameters() == []
    assert LogisticRegression(solver="gd").sweep_parameters() == []
    assert LogisticRegression(penalty=None).sweep_parameters() == []


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_ridge_classifier_sweeps_classes_and_labels(class_weight):
    X, y = load_iris(return_X_y=True)
    check(RidgeClassifier(class_weight=class_weight), X, y, "alpha", ALPHAS)
    several = np.column_stack([y == 0, y > 0])
    swept = list(RidgeClassifier().sweep(X, several, "alpha", ALPHAS))
    assert swept[0].predict(X).shape == (150, 2)


@pytest.mark.parametrize(
    "params",
    [
        {"l1_ratio": 1.0},
        {"l1_ratio": 0.5},
        {"solver": "cd", "l1_ratio": 1.0},
        {"solver": "quasi-newton"},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"parametrization": "reference"},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_sweeps_whatever_its_penalty(params, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = (X, y) if n_classes == 3 else (X[50:], y[50:])
    tol = 1e-7 if params.get("solver") == "cd" else 1e-10  # columns in turn come near, and take long to go on
    check(LogisticRegression(**params, tol=tol, max_iter=10_000), X, y, "C", [1.0, 0.05, 10.0], rtol=1e2 * tol**0.5)


def test_logistic_regression_sweeps_to_no_penalty_at_all():
    X, y = load_iris(return_X_y=True)
    swept = check(LogisticRegression(tol=1e-9, max_iter=1000), X[50:], y[50:], "C", [np.inf, 1.0], rtol=1e-4)
    assert swept[0].summary().std_err.shape == (5,)
    with pytest.raises(ValueError, match="a penalised fit has no standard errors"):
        swept[1].summary()


def test_liblinear_sweeps_its_synthetic_intercept():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(solver="liblinear", intercept_scaling=3.0, tol=1e-10, max_iter=1000)
    check(model, X[50:], y[50:], "C", [1.0, 0.05, 10.0])


def test_a_bad_pair_of_parameters_is_refused_before_anything_is_fitted():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="solver='cd' needs a penalty"):
        LogisticRegression(solver="cd").sweep(X, y, "C", [1.0, np.inf])
