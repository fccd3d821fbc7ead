"""LassoCV and ElasticNetCV: the errors and the choice are scikit-learn's, however the folds are made."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import (
    ElasticNetCV as PeerElasticNetCV,
    LassoCV as PeerLassoCV,
    MultiTaskElasticNetCV as PeerMultiTaskElasticNetCV,
)
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from mercer.linear_model import ElasticNet, ElasticNetCV, LassoCV, MultiTaskElasticNetCV
from tests.linear_model.test_lasso import make_data

OPTIONS = {"alphas": 12, "eps": 0.02}


def assert_same_choice(model, peer, rtol=1e-5):
    np.testing.assert_allclose(model.alphas_, peer.alphas_, rtol=1e-9)
    np.testing.assert_allclose(model.mse_path_, peer.mse_path_, rtol=rtol)
    np.testing.assert_allclose(model.alpha_, peer.alpha_, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)


@pytest.mark.parametrize(("n", "d"), [(90, 6), (40, 120)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_lasso_cv_is_scikit_learns(n, d, weighted, fit_intercept, as_sparse):
    X, y = make_data(1, n, d)
    weights = np.linspace(0.1, 2, n) if weighted else None
    given = sp.csr_matrix(X) if as_sparse else X
    model = LassoCV(**OPTIONS, tol=1e-11, fit_intercept=fit_intercept).fit(given, y, weights)
    peer = PeerLassoCV(**OPTIONS, tol=1e-12, max_iter=100_000, fit_intercept=fit_intercept).fit(X, y, weights)
    assert_same_choice(model, peer)
    assert model.mse_path_.shape == (12, 5)
    assert model.certificate_.converged


@pytest.mark.parametrize(("n", "d"), [(90, 6), (40, 120)])
@pytest.mark.parametrize("l1_ratio", [0.3, [0.2, 0.8, 1.0]])
@pytest.mark.parametrize("alphas", [12, [0.5, 0.1, 0.2]])
@pytest.mark.parametrize("positive", [False, True])
def test_elastic_net_cv_is_scikit_learns(n, d, l1_ratio, alphas, positive):
    X, y = make_data(2, n, d)
    options = {"l1_ratio": l1_ratio, "alphas": alphas, "eps": 0.02, "cv": 3, "positive": positive}
    model = ElasticNetCV(**options, tol=1e-11).fit(X, y)
    peer = PeerElasticNetCV(**options, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_same_choice(model, peer)
    assert model.l1_ratio_ == peer.l1_ratio_
    assert model.mse_path_.shape == peer.mse_path_.shape


SPLITTERS = {
    "in order": KFold(4),
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "tested twice": ShuffleSplit(3, random_state=0),
    "not all in training": TimeSeriesSplit(3),
    "a list": [(np.arange(30), np.arange(30, 90)), (np.arange(30, 90), np.arange(30))],
    "some never tested": [(np.arange(30, 90), np.arange(30)), (np.r_[0:30, 60:90], np.arange(30, 60))],
}


@pytest.mark.parametrize("kind", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_splitter_will_do(kind, weighted):
    X, y = make_data(3, 90, 6)
    weights = np.linspace(0.1, 2, 90) if weighted else None
    model = LassoCV(**OPTIONS, tol=1e-12, cv=SPLITTERS[kind]).fit(X, y, weights)
    peer = PeerLassoCV(**OPTIONS, tol=1e-13, max_iter=100_000, cv=SPLITTERS[kind]).fit(X, y, weights)
    assert_same_choice(model, peer)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_errors_of_an_almost_perfect_fit_are_not_lost_in_rounding():
    X, _ = make_data(4, 90, 6)
    y = X @ np.arange(1.0, 7) + 1e-7 * np.random.default_rng(0).normal(size=90)
    alphas = [1e-9, 1e-10]
    model = LassoCV(alphas=alphas, tol=1e-14).fit(X + 10, y)
    peer = PeerLassoCV(alphas=alphas, tol=1e-18, max_iter=1_000_000).fit(X + 10, y)
    np.testing.assert_allclose(model.mse_path_, peer.mse_path_, rtol=1e-2)


@pytest.mark.parametrize(("n", "d"), [(90, 6), (40, 120)])
@pytest.mark.parametrize("selection", ["cyclic", "random"])
def test_the_number_of_jobs_changes_no_bit(n, d, selection):
    X, y = make_data(5, n, d)
    models = [
        ElasticNetCV(l1_ratio=[0.3, 0.9], **OPTIONS, n_jobs=n_jobs, selection=selection, random_state=0).fit(X, y)
        for n_jobs in (1, 2, 5)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.mse_path_, models[0].mse_path_)
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


@pytest.mark.parametrize("precompute", [True, False, "auto", "given"])
def test_the_last_fit_is_that_of_the_chosen_penalty(precompute):
    X, y = make_data(6, 90, 6)
    shifted = X - X.mean(axis=0)
    given = shifted.T @ shifted if isinstance(precompute, str) and precompute == "given" else precompute
    model = ElasticNetCV(l1_ratio=[0.2, 0.9], **OPTIONS, tol=1e-10, precompute=given).fit(X, y)
    alone = ElasticNet(model.alpha_, l1_ratio=model.l1_ratio_, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-8)
    np.testing.assert_allclose(model.dual_gap_, model.certificate_.gap)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cv": 1}, "cv=1"),
        ({"cv": "word"}, "cv='word'"),
        ({"alphas": [-1.0]}, "alphas"),
        ({"alphas": 0}, "alphas=0"),
        ({"l1_ratio": [0.5, 2.0]}, "l1_ratio=2.0"),
        ({"l1_ratio": 0.0}, "l1_ratio=0"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, message):
    X, y = make_data(7, 60, 5)
    with pytest.raises(ValueError, match=f"ElasticNetCV: .*{message}"):
        ElasticNetCV(**params).fit(X, y)


def test_a_matrix_of_targets_is_sent_to_the_multi_task_class():
    X, y = make_data(8, 60, 5)
    with pytest.raises(ValueError, match="use MultiTaskLassoCV"):
        LassoCV().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="metadata routing"):
        LassoCV().fit(X, y, groups=np.arange(60))


def test_a_fold_of_weight_zero_is_refused():
    X, y = make_data(9, 60, 5)
    with pytest.raises(ValueError, match="sample_weight is zero for every row of a fold"):
        LassoCV(cv=3).fit(X, y, np.repeat([0.0, 1.0, 1.0], 20))


@pytest.mark.parametrize("alphas", [1, [50], np.array([9, 50]), (0.1, 50.0)])
@pytest.mark.parametrize("l1_ratio", [0.5, [0.2, 0.9]])
@pytest.mark.parametrize(("n", "d"), [(90, 6), (40, 120)])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_penalties_that_leave_nothing_are_judged_as_well(alphas, l1_ratio, n, d, as_sparse):
    X, y = make_data(10, n, d)
    options = {"alphas": alphas, "l1_ratio": l1_ratio}
    model = ElasticNetCV(**options, tol=1e-11).fit(sp.csr_matrix(X) if as_sparse else X, y)
    peer = PeerElasticNetCV(**options, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_same_choice(model, peer)
    assert np.shape(model.alphas_) == np.shape(peer.alphas_)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_penalties_that_leave_nothing_of_several_tasks(as_sparse):
    X, y = make_data(11, 40, 120)
    Y = np.c_[y, X[:, 3]]
    model = MultiTaskElasticNetCV(alphas=1, tol=1e-11).fit(sp.csr_matrix(X) if as_sparse else X, Y)
    peer = PeerMultiTaskElasticNetCV(alphas=1, tol=1e-12, max_iter=100_000).fit(X, Y)
    assert_same_choice(model, peer)
    assert not model.coef_.any()
