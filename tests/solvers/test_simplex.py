"""The best weights on the simplex, by the conditions that they have to meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._solvers.simplex import Mixture, SimplexNewton, minimise_quadratic
from mercer._trace import Status, iterate
from mercer.losses import Squared


@settings(max_examples=100, deadline=None)
@given(m=st.integers(1, 12), rank=st.integers(0, 12), seed=st.integers(0, 10**6), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_a_quadratic_function_is_minimal_where_its_slopes_say_so(m, rank, seed, scale):
    random = np.random.RandomState(seed)
    start = random.dirichlet(np.ones(m)) * (random.rand(m) < 0.7)
    start = start / start.sum() if start.any() else np.eye(m)[0]
    root = random.randn(rank, m)
    root -= (root @ start)[:, None]  # H w = 0 at the start, as in the solver
    hessian = scale * root.T @ root
    gradient = scale * root.T @ random.randn(rank)
    found = minimise_quadratic(hessian, gradient, start)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    slopes = hessian @ found + gradient
    unit = max(np.abs(hessian).max(), np.abs(gradient).max(), np.finfo(float).tiny)
    assert (slopes - slopes @ found).min() >= -1e-9 * unit


def test_a_linear_function_is_minimal_at_a_vertex():
    found = minimise_quadratic(np.zeros((3, 3)), np.array([1.0, -2.0, 0.5]), np.full(3, 1 / 3))
    np.testing.assert_allclose(found, [0, 1, 0], atol=1e-9)


def test_a_large_common_part_of_the_columns_does_no_harm():
    random = np.random.RandomState(0)
    columns = random.randn(300, 4)
    y = columns @ [0.4, 0.3, 0.3, 0.0] + 0.1 * random.randn(300)
    weights = []
    for offset in (0.0, 2.0**20):  # a power of two: the differences stay what they are but for 32 bits
        solver = SimplexNewton(Mixture(columns + offset, y + offset, np.full(300, 1 / 300), Squared()), tol=1e-10)
        status, _ = iterate(solver, max_iter=20, watch=lambda record: False)
        assert status is Status.CONVERGED
        assert not solver.is_stuck
        weights.append(solver.weights)
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-8)


def test_no_step_goes_up():
    random = np.random.RandomState(0)
    columns = random.rand(200, 6) ** 4 + 1e-12

    class NegativeLog:
        def value(self, y, raw):
            return -np.log(raw)

        def derivative(self, y, raw):
            return -1 / raw

        def second_derivative(self, y, raw):
            return raw**-2

    solver = SimplexNewton(Mixture(columns, np.zeros(200), np.full(200, 1 / 200), NegativeLog()), tol=1e-12)
    status, history = iterate(solver, max_iter=50, watch=lambda record: False)
    assert status is Status.CONVERGED
    objectives = np.array([record["objective"] for record in history])
    assert (np.diff(objectives) <= 1e-14 * np.abs(objectives[:-1])).all()
    ratios = (columns / (columns @ solver.weights)[:, None]).mean(axis=0)  # at most one, and one where the weight is positive
    assert ratios.max() <= 1 + 1e-9
    np.testing.assert_allclose(ratios[solver.weights > 1e-6], 1, atol=1e-6)
