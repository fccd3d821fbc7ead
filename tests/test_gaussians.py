"""Log-densities of rows under Gaussians and the sums of an E step, against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._gaussians import COVARIANCE_TYPES, Gaussians, Moments, SingularCovarianceError, whitening
from tests.reference import gaussians as reference


def problem(n, d, k, kind, seed=0):
    random = np.random.default_rng(seed)
    roots = random.normal(size=(k, d, d))
    matrices = roots @ roots.transpose(0, 2, 1) + np.eye(d)
    covariances = {
        "full": matrices,
        "tied": matrices[0],
        "diag": random.uniform(0.5, 2, size=(k, d)),
        "spherical": random.uniform(0.5, 2, size=k),
    }[kind]
    return random.normal(size=(n, d)), random.dirichlet(np.ones(k)), random.normal(size=(k, d)), covariances


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 230), st.integers(1, 30), st.integers(1, 5), st.sampled_from(COVARIANCE_TYPES), st.integers(0, 99))
def test_densities_and_moments_are_those_of_the_textbook(n, d, k, kind, seed):
    X, weights, means, covariances = problem(n, d, k, kind, seed)
    row_weights = np.random.default_rng(seed).uniform(size=n)
    gaussians = Gaussians(means, whitening(covariances, kind), kind, np.log(weights))
    joint = reference.log_joint(X, weights, means, covariances, kind)
    np.testing.assert_allclose(gaussians.log_densities(np.asfortranarray(X)), joint, rtol=1e-9, atol=1e-9)
    found, total = gaussians.expect(X, row_weights)
    logs = reference.log_sum(joint)
    shares = np.exp(joint - logs[:, None]) * row_weights[:, None]
    wanted = reference.moments(X, shares, means)
    seconds = wanted[2] if found.is_full else np.diagonal(wanted[2], axis1=1, axis2=2)
    assert total == pytest.approx(row_weights @ logs, rel=1e-9, abs=1e-9)
    by_shares = Moments.of(X, shares, means, kind)
    for sums in (found, by_shares):
        np.testing.assert_allclose(sums.shares, wanted[0], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(sums.firsts, wanted[1], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(sums.seconds, seconds, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_large_means_cost_no_digits(kind):
    X, _, means, covariances = problem(500, 4, 3, kind)
    there = Gaussians(means + 1e8, whitening(covariances, kind), kind).log_densities(X + 1e8)
    here = Gaussians(means, whitening(covariances, kind), kind).log_densities((X + 1e8) - 1e8)
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_single_precision_is_centred_with_the_digits_of_double(kind):
    X, _, means, covariances = problem(300, 5, 2, kind)
    X32 = (X + 4096).astype(np.float32)
    gaussians = Gaussians(means + 4096, whitening(covariances, kind), kind)
    np.testing.assert_allclose(
        gaussians.log_densities(X32), gaussians.log_densities(X32.astype(np.float64)), rtol=2e-5, atol=2e-4
    )


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_have_the_same_bits_for_any_number_of_threads(kind, dtype):
    from threadpoolctl import threadpool_limits

    X, weights, means, covariances = problem(20_000, 5, 3, kind)
    gaussians = Gaussians(means, whitening(covariances, kind), kind, np.log(weights))
    found = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads):
            found.append(gaussians.expect(X.astype(dtype)))
    assert found[0][1] == found[1][1]
    for one, other in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_nan_in_a_row_comes_out_as_nan():
    X, _, means, covariances = problem(50, 3, 2, "full")
    X[7, 1] = np.nan
    _, total = Gaussians(means, whitening(covariances, "full"), "full").expect(X)
    assert np.isnan(total)


def test_no_distance_makes_a_row_impossible():
    X = np.array([[3e30]], dtype=np.float32)
    logs = Gaussians(np.zeros((2, 1)), np.array([1e10, 1e10]), "spherical").log_densities(X)
    assert np.isfinite(logs).all()


def test_singular_covariances_are_named():
    with pytest.raises(SingularCovarianceError) as caught:
        whitening(np.array([np.eye(2), np.ones((2, 2)), np.zeros((2, 2))]), "full")
    assert caught.value.components == [1, 2]
