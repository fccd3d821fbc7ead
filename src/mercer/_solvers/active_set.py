"""The exact solution on the kinks that an interior point has come close to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq

from mercer._arrays import FloatArray
from mercer._solvers.pieces import Gap, PiecewiseProblem

MOST_UNKNOWNS = 600  # the system is solved densely
FEW = 50  # kinks; more, and more than two a coefficient, are a sign that most are none yet
RANK = 1e-12


class Vertex(NamedTuple):
    coef: FloatArray
    duals: FloatArray
    gap: Gap


def _split(pieces: FloatArray, state: FloatArray, before: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Duals moved to the bounds that they go to, and which pieces go to their kink.

    Of the products slack times room, which all go to zero, one factor goes to zero and one does not: the last step tells them
    apart by their ratios to what they were before (Tapia's indicators), whatever the scales.
    """
    _, low, up = pieces
    (duals, under, over), (duals_before, under_before, over_before) = state, before
    at_up = under * (up - duals_before) > under_before * (up - duals)
    at_low = over * (duals_before + low) > over_before * (duals + low)
    rounded = np.where(at_up, up, np.where(at_low, -low, duals))
    return rounded, ~(at_up | at_low) & (low + up > 0)


States = tuple[FloatArray, FloatArray]  # duals and slacks, now and a step before


def solve_on_kinks(
    problem: PiecewiseProblem, states: States, states_of_penalty: States | None, *, is_late: bool
) -> Vertex | None:
    """Solve the optimality conditions as if it were known which pieces are on their kinks; None where too many seem to be.

    More kinks than coefficients are many unless it `is_late`: then they may be there (rows that repeat, say).

    With E the pieces on kinks and F the coefficients that are not zero, these are linear:
    X_EF c_F = t_E and quadratic_F c_F - X_EF' a_E = what the other pieces and the l1 penalty leave.
    """
    k = problem.n_coef
    duals, is_kink = _split(problem.pieces, *states)
    is_moving, of_penalty = np.ones(k, dtype=bool), np.zeros(k)
    if states_of_penalty is not None:
        strengths = problem.absolute[:k]
        of_penalty, is_zero = _split(np.vstack([np.zeros(k), strengths, strengths]), *states_of_penalty)
        is_moving = ~is_zero
    kinks, moving = np.flatnonzero(is_kink), np.flatnonzero(is_moving)
    most = max(2 * len(moving), FEW) if is_late else len(moving)
    if len(kinks) > most or len(kinks) + len(moving) > MOST_UNKNOWNS:
        return None
    fixed = np.where(is_kink, 0.0, duals)
    right = problem.rows.slope_sums(problem.by_row(fixed))[:k] + of_penalty
    block = problem.rows.pick(kinks % problem.rows.n_rows)[:, :k][:, moving]
    coef = np.zeros(problem.rows.n_features + 1)
    coef[moving], duals[kinks] = _solve(block, problem.quadratic[:k][moving], right[moving], problem.pieces[0, kinks])
    low, up = problem.pieces[1:]
    duals = np.clip(duals, -low, up)
    if not np.isfinite(coef).all():
        return None
    return Vertex(coef, duals, problem.certify(coef, duals))


def _solve(block: FloatArray, quadratic: FloatArray, right: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The solution of [quadratic, -block'; block, 0] (c, a) = (right, targets), refined once."""
    m, f = block.shape
    sizes = np.sqrt((block**2).sum(axis=0) / max(m, 1) + quadratic)
    scales = 1 / np.where(sizes > 0, sizes, 1.0)
    system = np.zeros((f + m, f + m))
    system[:f, :f] = np.diag(quadratic * scales**2)
    system[f:, :f] = block * scales
    system[:f, f:] = -system[f:, :f].T
    wanted = np.concatenate([right * scales, targets])
    solution = _solve_system(system, wanted)
    solution += _solve_system(system, wanted - system @ solution)
    return solution[:f] * scales, solution[f:]


def _solve_system(system: FloatArray, right: FloatArray) -> FloatArray:
    """By elimination, or the shortest solution in the sense of least squares where the system is singular."""
    try:
        solution: FloatArray = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = lstsq(system, right, cond=RANK, lapack_driver="gelsy", check_finite=False)[0]
    return solution
