"""Primal-dual interior points (Mehrotra's predictor and corrector) for linear models with piecewise linear losses.

An iteration costs one weighted Gram matrix of X, O(n d^2), three products with X and O(n) beside; 10 to 30 of them do, whatever
the data. The l1 penalty is one more piece for each coefficient, on the row that picks it.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.active_set import solve_on_kinks
from mercer._solvers.pieces import LEAST_TOL, Gap, PiecewiseProblem
from mercer._trace import Record

SHORTEN = 0.995  # the share of the way to the boundary that a step goes
LEAST_STEP = 1e-9  # a shorter one means that rounding has taken over
NEAR = 1e-3  # relative gap from which on the kinks are worth a try
LATE = 1e-7  # and from which on they may be believed to be many
LEAST_SLACK = 0.05  # of the spread of the targets: how far from their kinks the slacks start
INSIDE = 0.1  # of their width: how far from their bounds the duals start
ADDED = (1e-13, 1e-10, 1e-7, 1e-4, 1e-1)
PATIENCE = 15  # iterations without a smaller gap, after which the best point is the answer


class _Barrier:
    """A group of pieces with their duals and slacks: what the Newton system needs of them, row by row."""

    def __init__(self, pieces: FloatArray, values: FloatArray, typical: float | FloatArray, n_threads: int) -> None:
        self.pieces, self.values, self._n_threads = pieces, values, n_threads
        target, low, up = pieces
        self.state = _first_state(pieces, target - np.tile(values, len(target) // len(values)), typical)
        self._step = np.empty_like(self.state)
        self.n_products = 2 * int(np.count_nonzero(low + up))

    @property
    def duals(self) -> FloatArray:
        duals: FloatArray = self.state[0]
        return duals

    def system(self) -> tuple[FloatArray, FloatArray]:
        """Slopes and curvatures of the rows for the affine step."""
        slopes, curvatures = np.empty_like(self.values), np.empty_like(self.values)
        kernels.interior_system(self.pieces, self.state, self.values, slopes, curvatures, self._n_threads)
        return slopes, curvatures

    def predict(self, changes: FloatArray) -> FloatArray:
        """For the affine step: its longest primal and dual length, and four sums for the complementarity after it."""
        self._affine, summary = changes, np.empty(6)
        kernels.interior_predict(self.pieces, self.state, self.values, changes, summary, self._n_threads)
        return summary

    def correct(self, centre: float) -> FloatArray:
        """Slopes of the rows for the corrected step."""
        slopes = np.empty_like(self.values)
        kernels.interior_correct(self.pieces, self.state, self.values, self._affine, centre, slopes, self._n_threads)
        return slopes

    def direct(self, changes: FloatArray, centre: float) -> FloatArray:
        """The corrected step, kept for `move`; returns its longest primal and dual length."""
        self._changes, limits = changes, np.empty(2)
        at = (self.pieces, self.state, self.values)
        kernels.interior_step(*at, self._affine, changes, centre, self._step, limits, self._n_threads)
        return limits

    def move(self, primal: float, dual: float) -> None:
        kernels.interior_move(self._step, primal, dual, self.state, self._n_threads)
        self.values, self._lengths = self.values + primal * self._changes, (primal, dual)

    def states(self) -> tuple[FloatArray, FloatArray]:
        """Duals and slacks, now and before the last step."""
        primal, dual = self._lengths
        return self.state, self.state - np.array([[dual], [primal], [primal]]) * self._step


class InteriorPoint:
    """A solver for `PiecewiseProblem`: done when the relative duality gap is within `tol`.

    `coef`, `duals` and `gap` are the best point so far; `is_stuck` says that rounding ended the iterations.
    """

    def __init__(self, problem: PiecewiseProblem, *, tol: float) -> None:
        self._problem, self._tol, self._k = problem, max(tol, LEAST_TOL), problem.n_coef
        self._coef = _least_squares(problem)
        values = problem.rows.values(self._coef)
        self._typical = max(problem.spread(values), LEAST_SLACK * _size_of_targets(problem))
        self._data = _Barrier(problem.pieces, values, self._typical, problem.n_threads)
        self._penalty = self._penalty_barrier()
        self._n_products = sum(barrier.n_products for barrier in self._barriers)
        self._has_one_step = bool((problem.quadratic > 0).any())  # it couples primal and dual
        self._sync()
        self.coef, self.duals, self.gap = self._coef, self._data.duals.copy(), Gap(np.inf, -np.inf)
        self.is_stuck, self._n_idle, self._mu, self._least_mu = False, 0, np.inf, np.inf

    def _penalty_barrier(self) -> _Barrier | None:
        """The absolute values of coefficients, as pieces; their products of slack and room are like those of the data."""
        strengths = self._problem.absolute[: self._k]
        if not strengths.any():
            return None
        product = self._typical * float((self._problem.pieces[1] + self._problem.pieces[2]).mean())
        typical = np.minimum(self._problem.reach, product / np.where(strengths > 0, strengths, 1.0))
        return _Barrier(np.vstack([np.zeros(self._k), strengths, strengths]), self._coef[: self._k].copy(), typical, 1)

    @property
    def _barriers(self) -> list[_Barrier]:
        return [self._data] if self._penalty is None else [self._data, self._penalty]

    @property
    def relative_gap(self) -> float:
        return self._problem.relative(self.gap, self._tol)

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        slopes, curvatures = self._data.system()
        gradient, gram = self._problem.rows.weighted_sums(slopes, curvatures)
        of_penalty = None if self._penalty is None else self._penalty.system()
        factor = self._factor(gram, None if of_penalty is None else of_penalty[1])
        change = self._solve(factor, gradient, None if of_penalty is None else of_penalty[0])
        centre = self._centre(*(barrier.predict(moved) for barrier, moved in self._moves(change)))
        gradient = self._problem.rows.slope_sums(self._data.correct(centre))
        change = self._solve(factor, gradient, None if self._penalty is None else self._penalty.correct(centre))
        limits = [barrier.direct(moved, centre).tolist() for barrier, moved in self._moves(change)]
        primal, dual = self._lengths(list(map(min, zip(*limits, strict=True))), SHORTEN)
        for barrier in self._barriers:
            barrier.move(primal, dual)
        self._coef = self._coef + primal * change
        self._left *= 1 - dual
        self._note(min(primal, dual))
        return {"objective": self.gap.primal, "gap": self.gap.width, "mu": self._mu, "step": min(primal, dual)}

    def _moves(self, change: FloatArray) -> list[tuple[_Barrier, FloatArray]]:
        """Each group of pieces with the change of its values."""
        moved = [(self._data, self._problem.rows.values(change))]
        return moved if self._penalty is None else [*moved, (self._penalty, change[: self._k])]

    def _factor(self, gram: FloatArray, curvatures: FloatArray | None) -> _Factor:
        diagonal = self._problem.quadratic[: self._k]
        return _Factor(gram[: self._k, : self._k], diagonal if curvatures is None else diagonal + curvatures)

    def _solve(self, factor: _Factor, gradient: FloatArray, of_penalty: FloatArray | None) -> FloatArray:
        """The change of the coefficients."""
        right = gradient[: self._k] - self._problem.quadratic[: self._k] * self._coef[: self._k]
        change = np.zeros_like(self._coef)
        change[: self._k] = factor.solve(right if of_penalty is None else right + of_penalty)
        return change

    def _lengths(self, limits: list[float], share: float) -> tuple[float, float]:
        primal, dual = (min(1.0, share * limit) for limit in limits)
        return (min(primal, dual),) * 2 if self._has_one_step else (primal, dual)

    def _centre(self, *summaries: FloatArray) -> float:
        """Mehrotra's choice: the further the affine step gets, the closer to zero the products may aim."""
        columns = list(zip(*(summary.tolist() for summary in summaries), strict=True))
        primal, dual = self._lengths([min(column) for column in columns[:2]], 1.0)
        now, by_primal, by_dual, by_both = map(sum, columns[2:])
        after = now + primal * by_primal + dual * by_dual + primal * dual * by_both
        self._mu = now / self._n_products
        return float((max(after, 0.0) / now) ** 3) * self._mu

    def _sums(self) -> FloatArray:
        """X'a: what stationarity gives, and what is left of it."""
        sums = self._problem.quadratic * self._coef + self._left
        if self._penalty is not None:
            sums[: self._k] -= self._penalty.duals
        return sums

    def _sync(self) -> None:
        """Measure what is left of stationarity: a step of length s multiplies it by 1 - s, but for rounding."""
        self._left = np.zeros_like(self._coef)
        self._left = self._problem.rows.slope_sums(self._problem.by_row(self._data.duals)) - self._sums()

    def _note(self, step: float) -> None:
        """Keep the point if its gap is the smallest; near the end, try the vertex that it points to."""
        gap = self._problem.gap(self._coef, self._data.duals, self._data.values, self._sums())
        if self._problem.relative(gap, self._tol) <= max(self._tol, NEAR):
            self._sync()
            self._data.values = self._problem.rows.values(self._coef)
            gap = self._problem.gap(self._coef, self._data.duals, self._data.values, self._sums())
        is_finite = all(map(math.isfinite, gap))
        is_better = gap.width < 0.9 * self.gap.width or self._mu < 0.9 * self._least_mu
        self._n_idle = 0 if is_finite and is_better else self._n_idle + 1
        self._least_mu = min(self._mu, self._least_mu)
        if is_finite and gap.width < self.gap.width:
            self.coef, self.duals, self.gap = self._coef, self._data.duals.copy(), gap
            if self.relative_gap < NEAR:
                self._try_kinks()
        self.is_stuck = not is_finite or step < LEAST_STEP or self._n_idle >= PATIENCE

    def _try_kinks(self) -> None:
        of_penalty = None if self._penalty is None else self._penalty.states()
        found = solve_on_kinks(self._problem, self._data.states(), of_penalty, is_late=self.relative_gap < LATE)
        if found is not None and found.gap.width < self.gap.width:
            self.coef, self.duals, self.gap = found.coef, found.duals, found.gap


class _Factor:
    """Cholesky of a Gram matrix plus a diagonal, scaled to a diagonal of one, with as much added to it as it takes.

    A penalty on every coefficient needs nothing added, and near the solution it is small against the Gram matrix: adding to
    the latter would swamp it.
    """

    def __init__(self, gram: FloatArray, diagonal: FloatArray) -> None:
        matrix = gram.copy()
        squares = _diagonal(matrix)
        squares += diagonal
        floor = float(squares.max(initial=0.0)) * 1e-30
        self.scales = 1 / np.sqrt(np.where(squares > floor, squares, 1.0))
        scaled = matrix * self.scales * self.scales[:, None]
        is_definite = np.count_nonzero(diagonal) >= len(diagonal) - 1  # all but the intercept
        ones = _diagonal(scaled).copy()
        for added in (0.0, *ADDED) if is_definite else ADDED:
            _diagonal(scaled)[:] = ones + added
            # LAPACK's own, as SciPy's functions around it take longer than a small system.
            self._factor, info = dpotrf(scaled, lower=True, clean=False)
            if info == 0:
                return
        raise FloatingPointError("the system of an interior point is not finite")

    def solve(self, right: FloatArray) -> FloatArray:
        solution: FloatArray = self.scales * dpotrs(self._factor, self.scales * right, lower=True)[0]
        return solution


def _diagonal(matrix: FloatArray) -> FloatArray:
    """A view of the diagonal of a contiguous matrix."""
    return matrix.reshape(-1)[:: len(matrix) + 1]


def _first_state(pieces: FloatArray, gap: FloatArray, typical: float | FloatArray) -> FloatArray:
    """Duals and slacks for given t - z, away from their bounds.

    Duals in proportion to the residuals of least squares make X'a nearly zero, which is nearly feasible.
    """
    _, low, up = pieces
    width = low + up
    duals = np.clip(width * gap / (2 * typical), INSIDE * width - low, up - INSIDE * width)
    return np.stack([duals, np.maximum(gap, 0) + typical, np.maximum(-gap, 0) + typical])


def _size_of_targets(problem: PiecewiseProblem) -> float:
    """Their spread, or their size where they are all the same."""
    return problem.spread() or float(np.abs(problem.pieces[0]).max(initial=0.0)) or 1.0


def _least_squares(problem: PiecewiseProblem) -> FloatArray:
    """Coefficients that come close to the targets, to start from; also sets the problem's `reach`.

    Squares stand for the absolute penalty, and some more for what few rows leave open.
    """
    target, low, up = problem.pieces
    weights, k = low + up, problem.n_coef
    gradient, gram = problem.rows.weighted_sums(problem.by_row(weights * target), problem.by_row(weights))
    if not (np.isfinite(gradient).all() and np.isfinite(gram).all()):
        raise FloatingPointError("the sums of squares of X overflow")
    squares = np.diag(gram)[:k]
    sizes = np.sqrt(squares / weights.sum())
    problem.reach = _size_of_targets(problem) / np.where(sizes > 0, sizes, 1.0)
    diagonal = problem.quadratic[:k] + problem.absolute[:k] / problem.reach + k / problem.rows.n_rows * squares
    if problem.has_intercept:
        diagonal[-1] = problem.quadratic[-1]
    coef = np.zeros(problem.rows.n_features + 1)
    coef[:k] = _Factor(gram[:k, :k], diagonal).solve(gradient[:k])
    return coef
