"""Interior points for piecewise linear losses: weak duality at any pair of points, strong duality at the end."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._solvers.interior_point import InteriorPoint
from mercer._solvers.linear_loss import make_linear_rows
from mercer._solvers.pieces import PiecewiseProblem


def _problem(kind, n=60, d=3):
    random = np.random.RandomState(0)
    X, weights = random.randn(n, d) + 0.5, random.uniform(0.5, 2, size=n)
    rows = make_linear_rows(X, is_shifted=True, n_threads=1)
    y, none = X @ random.randn(d) + random.randn(n), np.zeros(d + 1)
    penalty = np.append(np.ones(d), 0.0)
    if kind == "hinge":
        labels = np.sign(y)
        pieces = np.stack([labels, np.where(labels < 0, weights, 0), np.where(labels > 0, weights, 0)])
        return PiecewiseProblem(rows, pieces, penalty, none, True, 1)
    if kind == "tube":
        under, over = [y - 0.2, 0 * weights, weights], [y + 0.2, weights, 0 * weights]
        return PiecewiseProblem(rows, np.hstack([under, over]), penalty, none, True, 1)
    pieces = np.stack([y, 0.7 * weights, 0.3 * weights])
    return PiecewiseProblem(rows, pieces, none, 5 * penalty, True, 1)


def _solve(problem):
    solver = InteriorPoint(problem, tol=1e-10)
    for _ in range(100):
        solver.step()
        if solver.is_done:
            break
    return solver


every_kind = pytest.mark.parametrize("kind", ["hinge", "tube", "pinball and l1"])


@every_kind
def test_at_any_pair_of_points_the_optimum_lies_between_the_values(kind):
    problem = _problem(kind)
    best, random = _solve(problem).gap.primal, np.random.RandomState(1)
    low, up = problem.pieces[1:]
    for share in (0.0, 0.01, 0.5, 1.0):
        for _ in range(20):
            coef = random.randn(4)
            duals = random.uniform(-low, up) * share
            gap = problem.certify(coef, duals)
            assert gap.dual <= best * (1 + 1e-9)
            assert gap.primal >= best * (1 - 1e-9)


@every_kind
def test_the_end_is_a_pair_without_a_gap(kind):
    problem = _problem(kind)
    solver = _solve(problem)
    low, up = problem.pieces[1:]
    assert (solver.duals >= -low).all()
    assert (solver.duals <= up).all()
    gap = problem.certify(solver.coef, solver.duals)
    assert gap.primal == pytest.approx(solver.gap.primal, rel=1e-12)
    assert gap.width <= 1e-10 * gap.primal


def test_pieces_without_weight_are_absent():
    problem = _problem("tube")
    expected = _solve(problem)
    more = PiecewiseProblem(
        problem.rows,
        np.hstack([problem.pieces, np.vstack([np.full(60, 1e6), np.zeros((2, 60))])]),
        problem.quadratic,
        problem.absolute,
        True,
        1,
    )
    np.testing.assert_allclose(_solve(more).coef, expected.coef, atol=1e-7)
