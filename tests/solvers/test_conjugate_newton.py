"""Newton's steps by conjugate gradients, against those with a matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._native import kernels
from mercer._solvers.conjugate_newton import ConjugateNewton
from mercer._solvers.linear_loss import LinearLoss, make_linear_rows
from mercer._solvers.newton import Newton


def _problem(loss, *, has_intercept, l2_of_intercept=0.0):
    random = np.random.RandomState(0)
    X = sp.random(80, 15, density=0.3, format="csr", random_state=random)
    X = sp.csr_matrix(X.multiply(10.0 ** np.linspace(-2, 2, 15)))  # columns of unlike scales
    y = np.sign(random.randn(80)) if "hinge" in loss else random.randn(80)
    rows = make_linear_rows(X, is_shifted=False, n_threads=1)
    row_loss = kernels.RowLoss(loss, 0.1)
    strengths = {"has_intercept": has_intercept, "l2_of_intercept": l2_of_intercept}
    return LinearLoss(rows, y, random.rand(80) + 0.1, row_loss, 1.0, **strengths)


def _solved(method, problem):
    solver = method(problem, problem.start(), tol=1e-12)
    for _ in range(200):
        if solver.is_done:
            break
        solver.step()
    return solver


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("settings", [{"has_intercept": True}, {"has_intercept": False}])
def test_both_ways_lead_to_the_same_point(loss, settings):
    problem = _problem(loss, **settings)
    mine, other = _solved(ConjugateNewton, problem), _solved(Newton, problem)
    assert mine.objective == pytest.approx(other.objective, rel=1e-10)
    np.testing.assert_allclose(mine.point, other.point, atol=1e-5 * np.abs(other.point).max())
    assert mine.residual <= 1e-12


def test_the_product_with_the_curvature_is_that_of_the_matrix():
    rows = _problem("squared_hinge", has_intercept=True).rows
    random = np.random.RandomState(1)
    curvatures, vector = np.maximum(random.randn(80), 0), random.randn(16)
    _, matrix = rows.weighted_sums(np.zeros(80), curvatures)
    np.testing.assert_allclose(rows.curvature_product(curvatures, vector), matrix @ vector, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.curvature_diagonal(curvatures), np.diag(matrix))
    with pytest.raises(ValueError, match="one curvature per row"):
        rows.curvature_product(curvatures[:-1], vector)
    with pytest.raises(ValueError, match="one value per column"):
        rows.curvature_product(curvatures, vector[:-1])
