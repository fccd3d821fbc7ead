"""Mixtures of Gaussians: what EM promises, what is recovered, hard data."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.mixture
from hypothesis import given, settings, strategies as st

from mercer._gaussians import COVARIANCE_TYPES, Gaussians, whitening
from mercer.mixture import BayesianGaussianMixture, GaussianMixture, select_n_components

BOTH = (GaussianMixture, BayesianGaussianMixture)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def blobs(n=300, d=2, k=3, seed=0, spread=6.0):
    random = np.random.default_rng(seed)
    middles = random.normal(size=(k, d)) * spread
    labels = random.integers(k, size=n)
    return middles[labels] + random.normal(size=(n, d)), labels


def falls(model):
    """The largest fall of the objective, against its size."""
    bounds = np.array(model.lower_bounds_)
    return -np.diff(bounds, prepend=bounds[0]).min() / (1 + np.abs(bounds).max())


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(BOTH),
    st.integers(10, 60),
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from(COVARIANCE_TYPES),
    st.sampled_from(["random", "random_from_data", "kmeans", "k-means++"]),
    st.sampled_from([1e-6, 0.1, 10.0]),
    st.integers(0, 99),
)
def test_the_objective_never_falls(estimator, n, d, k, kind, start, reg_covar, seed):
    X = np.random.default_rng(seed).standard_t(2, size=(n, d)).round(1)
    model = estimator(
        n_components=k, covariance_type=kind, init_params=start, reg_covar=reg_covar, tol=0, max_iter=40, random_state=seed
    ).fit(X)
    assert falls(model) < 1e-9


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(BOTH), st.integers(5, 60), st.sampled_from(COVARIANCE_TYPES), st.integers(0, 99))
def test_the_objective_never_falls_where_cells_are_missing(estimator, n, kind, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    X[random.uniform(size=X.shape) < 0.3] = np.nan
    model = estimator(n_components=2, covariance_type=kind, missing="em", tol=0, max_iter=30, random_state=0).fit(X)
    assert falls(model) < 1e-9


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_gradients_of_the_likelihood_vanish_where_em_ends(kind):
    X, _ = blobs(d=3)
    model = GaussianMixture(3, covariance_type=kind, reg_covar=0, tol=1e-13, max_iter=3000, random_state=0).fit(X)
    assert model.certificate_.converged
    parameters = (model.means_, whitening(model.covariances_, kind), kind, np.log(model.weights_))
    moments, _ = Gaussians(*parameters).expect(X)
    # Of the means P_k sum_i r_ik (x_i - mean_k); of covariances the scatter minus N_k times the covariance; of weights N_k /
    # n - pi_k. assert np.abs(moments.firsts).max() < 1e-3
    np.testing.assert_allclose(moments.shares / len(X), model.weights_, atol=1e-6)
    scatter, shares = moments.scatter(), moments.shares
    found = {
        "full": lambda: scatter / shares[:, None, None],
        "tied": lambda: scatter.sum(axis=0) / len(X),
        "diag": lambda: scatter / shares[:, None],
        "spherical": lambda: scatter.mean(axis=1) / shares,
    }[kind]()
    np.testing.assert_allclose(found, model.covariances_, atol=1e-5)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_fits_end_where_the_peer_ends(estimator, kind):
    X, _ = blobs()
    options = {"n_components": 3, "covariance_type": kind, "random_state": 0, "tol": 1e-9, "max_iter": 500}
    model, peer = estimator(**options).fit(X), getattr(sklearn.mixture, estimator.__name__)(**options).fit(X)
    np.testing.assert_allclose(model.means_, peer.means_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.covariances_, peer.covariances_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_a_mixture_is_recovered(kind):
    X, labels = blobs(n=6000, d=2, k=3)
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    for label in range(3):
        component = np.bincount(model.predict(X[labels == label])).argmax()
        np.testing.assert_allclose(model.means_[component], X[labels == label].mean(axis=0), atol=0.1)
        assert model.weights_[component] == pytest.approx((labels == label).mean(), abs=0.02)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_a_weight_of_two_is_a_repeated_row_and_of_zero_none(estimator, kind):
    X, _ = blobs(n=60)
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    options = {"n_components": 1, "covariance_type": kind, "tol": 1e-10}
    weighted = estimator(**options).fit(X, sample_weight=weights)
    repeated = estimator(**options).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-8)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-8)


def test_variances_in_single_precision_are_at_least_the_noise():
    X = np.array([[9999], [0]], dtype=np.float32)
    for kind in COVARIANCE_TYPES:
        model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        assert model.covariances_.dtype == np.float32
        assert (model.covariances_ >= np.float32(1e-6)).all()
        np.testing.assert_allclose(np.sort(model.means_.ravel()), [0, 9999], atol=1e-3)


def test_a_component_without_rows_is_put_where_it_raises_the_likelihood():
    X, _ = blobs(n=200, k=2, spread=20)
    start = np.array([X[0], [1e4, 1e4]])
    model = GaussianMixture(2, means_init=start, weights_init=[0.5, 0.5], precisions_init=[np.eye(2)] * 2, tol=1e-8).fit(X)
    assert model.n_resets_ >= 1
    assert falls(model) < 1e-9
    assert model.weights_.min() > 1e-3


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_a_component_that_collapses_without_noise_is_moved(kind):
    X = np.concatenate([np.zeros((5, 2)), blobs(n=100, k=1)[0] + 50])
    start = np.array([[0.0, 0.0], X[5:].mean(axis=0)])
    model = GaussianMixture(2, covariance_type=kind, means_init=start, reg_covar=0, random_state=0).fit(X)
    assert model.n_resets_ >= 1
    assert np.isfinite(model.lower_bound_)


def test_singular_data_without_noise_are_refused_with_a_remedy():
    X = np.repeat(np.eye(2), 5, axis=0)
    for kind in COVARIANCE_TYPES:
        with pytest.raises(ValueError, match=r"ill-defined empirical covariance .*increase reg_covar"):
            GaussianMixture(2, covariance_type=kind, reg_covar=0, random_state=0).fit(X)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_equal_rows_one_row_and_constant_columns_are_fitted(estimator, kind):
    for X in (np.ones((4, 2)), np.ones((1, 3)), np.column_stack([np.arange(9.0), np.ones(9)])):
        model = estimator(n_components=1, covariance_type=kind).fit(X)
        assert np.isfinite(model.lower_bound_)
        assert np.isfinite(model.score(X))


@pytest.mark.parametrize("estimator", BOTH)
def test_more_components_than_rows_are_refused(estimator):
    with pytest.raises(ValueError, match=r"n_samples >= n_components .*n_components = 5, n_samples = 3"):
        estimator(n_components=5).fit(np.eye(3))


@pytest.mark.parametrize("estimator", BOTH)
def test_nan_is_refused_unless_it_is_asked_for(estimator):
    X, _ = blobs()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator().fit(X)
    model = estimator(n_components=3, missing="em", random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


def test_missing_cells_give_the_estimate_of_the_closed_form():
    """One Gaussian, the second column missing in some rows: regression on the first one (Anderson, 1957)."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    X[::3, 1] = np.nan
    whole = X[~np.isnan(X[:, 1])]
    slope, constant = np.polyfit(whole[:, 0], whole[:, 1], 1)
    model = GaussianMixture(missing="em", reg_covar=0, tol=1e-13, max_iter=2000).fit(X)
    mean = X[:, 0].mean()
    np.testing.assert_allclose(model.means_[0], [mean, constant + slope * mean], atol=1e-5)
    rest = np.mean((whole[:, 1] - constant - slope * whole[:, 0]) ** 2)
    variance = X[:, 0].var()
    np.testing.assert_allclose(
        model.covariances_[0], [[variance, slope * variance], [slope * variance, rest + slope**2 * variance]], atol=1e-5
    )


def test_unneeded_components_lose_their_weight():
    X, _ = blobs(n=600, k=2)
    model = BayesianGaussianMixture(n_components=6, weight_concentration_prior=1e-3, random_state=0, max_iter=500).fit(X)
    assert (model.weights_ > 0.01).sum() == 2


def test_the_number_of_components_is_found():
    X, _ = blobs(n=300, k=3, spread=8)
    for criterion in ("bic", "aic"):
        curve = select_n_components(X, range(1, 6), criterion, random_state=0)
        assert curve.values[curve.n_components == curve.best] == curve.values.min()
        assert curve.best_model.n_components == curve.best
    assert select_n_components(X, range(1, 6), random_state=0).best == 3


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    X, _ = blobs(spread=1.5)
    whole = GaussianMixture(3, random_state=0, tol=1e-9, max_iter=40).fit(X)
    parts = GaussianMixture(3, random_state=0, tol=1e-9, max_iter=20, warm_start=True).fit(X).fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-10)


def test_rows_drawn_have_the_moments_of_the_components():
    X, _ = blobs(n=500)
    for kind in COVARIANCE_TYPES:
        model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        rows, labels = model.sample(20_000)
        for component in range(3):
            np.testing.assert_allclose(rows[labels == component].mean(axis=0), model.means_[component], atol=0.15)


def test_weights_to_start_from_are_checked_in_their_own_precision():
    X, _ = blobs()
    given = np.array([0.3, 0.3, 0.4], dtype=np.float32)
    assert given.astype(float).sum() != 1
    GaussianMixture(3, weights_init=given, random_state=0).fit(X)
    with pytest.raises(ValueError, match="normalized"):
        GaussianMixture(3, weights_init=given.astype(float)).fit(X)
    with pytest.raises(ValueError, match=r"got values from -0.50000 to 1.20000"):
        GaussianMixture(3, weights_init=[-0.5, 0.3, 1.2]).fit(X)
