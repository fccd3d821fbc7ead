"""Kernel densities: their values, their bandwidths, and what is drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.neighbors
from scipy.integrate import trapezoid

from mercer.neighbors import KernelDensity
from tests.reference import kernel_density as density, neighbors as reference

KERNELS = list(density.KERNELS)


def _rows(n=200, d=2, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_log_densities_are_those_of_the_definition(kernel, algorithm):
    X, queries = _rows(), _rows(20, seed=1)
    weights = np.random.RandomState(2).uniform(size=len(X))
    found = (
        KernelDensity(kernel=kernel, bandwidth=0.8, algorithm=algorithm).fit(X, sample_weight=weights).score_samples(queries)
    )
    wanted = density.log_density(reference.distances("euclidean", queries, X), kernel, 0.8, 2, weights / weights.sum())
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2])
def test_densities_integrate_to_one(kernel, d):
    model = KernelDensity(kernel=kernel, bandwidth=0.5).fit(np.zeros((1, d)))
    radii = np.linspace(0, 20, 40_001)
    values = np.exp(model.score_samples(np.column_stack([radii, np.zeros((len(radii), d - 1))])))
    surface = 2 if d == 1 else 2 * np.pi * radii
    assert trapezoid(values * surface, radii) == pytest.approx(1, abs=2e-3)


def test_rules_of_thumb_are_scikit_learns():
    X = _rows(150, 3)
    for rule in ("scott", "silverman", 0.3):
        assert (
            KernelDensity(bandwidth=rule).fit(X).bandwidth_ == sklearn.neighbors.KernelDensity(bandwidth=rule).fit(X).bandwidth_
        )


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov"])
def test_leave_one_out_is_the_best_of_many_bandwidths(kernel):
    X = _rows(80)
    weights = np.random.RandomState(2).randint(1, 4, size=len(X)).astype(float)
    model = KernelDensity(kernel=kernel, bandwidth="leave-one-out").fit(X, sample_weight=weights)
    distances = reference.distances("euclidean", X, X)

    def score(h):
        others = np.where(np.eye(len(X), dtype=bool), 0.0, weights)
        lines = [density.log_density(distances[[i]], kernel, h, 2, others[i] / others[i].sum())[0] for i in range(len(X))]
        return np.average(lines, weights=weights)

    assert model.log_likelihood_ == pytest.approx(score(model.bandwidth_), rel=1e-6)
    assert model.log_likelihood_ >= max(score(h) for h in model.bandwidth_ * np.geomspace(0.2, 5, 41)) - 1e-6
    assert not hasattr(model.set_params(bandwidth=1.0).fit(X), "log_likelihood_")


def test_duplicates_leave_no_best_bandwidth_and_equal_rows_none():
    X = np.repeat(_rows(30), 2, axis=0)
    with pytest.warns(UserWarning, match="duplicates"):
        KernelDensity(bandwidth="leave-one-out").fit(X)
    with pytest.raises(ValueError, match="all rows are the same"):
        KernelDensity(bandwidth="leave-one-out").fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="two rows"):
        KernelDensity(bandwidth="leave-one-out").fit(np.ones((1, 2)))


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_draws_are_scikit_learns(kernel):
    X, weights = _rows(), np.random.RandomState(1).uniform(size=200)
    for given in (None, weights):
        mine, theirs = (
            module(kernel=kernel, bandwidth=0.2).fit(X, sample_weight=given).sample(50, random_state=3)
            for module in (KernelDensity, sklearn.neighbors.KernelDensity)
        )
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    with pytest.raises(NotImplementedError, match="linear"):
        KernelDensity(kernel="linear").fit(X).sample()


def test_densities_far_from_all_rows_are_finite_logarithms():
    model = KernelDensity(bandwidth=0.01).fit(_rows())
    assert model.score_samples([[1e3, 0.0]]) == pytest.approx(-0.5e10, rel=0.01)


def test_metrics_that_no_tree_takes_are_refused():
    with pytest.raises(ValueError, match="invalid metric"):
        KernelDensity(metric="canberra", algorithm="kd_tree").fit(_rows())
    assert KernelDensity(metric="canberra").fit(_rows()).tree_.algorithm == "ball_tree"


def test_the_score_is_a_number_of_numpys_as_that_of_scikit_learns():
    score = KernelDensity().fit([[0.0], [1.0]]).score([[0.5]])
    assert type(score) is np.float64
    assert score.round(1) == round(float(score), 1)
