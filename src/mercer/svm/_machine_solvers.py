"""The solvers of linear support vector machines, chosen by loss, penalty and shape, and seen alike from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._solvers.conjugate_newton import ConjugateNewton
from mercer._solvers.dual_descent import DualDescent, without_sum
from mercer._solvers.dual_epochs import squared_norms
from mercer._solvers.interior_point import InteriorPoint
from mercer._solvers.linear_loss import Codes
from mercer._solvers.multiclass_descent import MulticlassDescent
from mercer._solvers.newton import Newton
from mercer._solvers.pieces import LEAST_TOL, ROUNDING, Gap, PiecewiseProblem
from mercer._solvers.proximal_newton import ProximalNewton
from mercer._solvers.sparse_dual import Labels
from mercer._solvers.sparse_hinge import HingeNewton, HingeRows
from mercer._trace import Record
from mercer.svm._linear_svm import SQUARED, Machine

MOST_COLUMNS = 1000  # up to which "auto" takes a method with a matrix of columns by columns
FEW_SPARSE_COLUMNS = 100  # up to which this holds for sparse X
MOST_DENSE_COLUMNS = 500  # up to which proximal Newton steps take a matrix of columns by columns


class MachineSolver(Protocol):
    """What the wrappers below give: a solver with its best point and the duality gap there."""

    method: str

    @property
    def gap(self) -> Gap: ...

    @property
    def is_done(self) -> bool: ...

    @property
    def relative_gap(self) -> float: ...

    def step(self) -> Record: ...

    def settle(self) -> None:
        """Bring `gap` up to date after the last step."""

    def solution(self) -> tuple[FloatArray, FloatArray | float]:
        """Coefficients and intercept for X as it is; of several classes, a line and a number for each."""


class _Gapped:
    """A solver that knows its gap; `shift` is what was subtracted from the rows of X."""

    def __init__(
        self,
        solver: InteriorPoint | DualDescent | MulticlassDescent,
        shift: FloatArray,
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        self._solver, self._shift = solver, shift
        self.step, self.settle = solver.step, settle

    @property
    def gap(self) -> Gap:
        return self._solver.gap

    @property
    def is_done(self) -> bool:
        return self._solver.is_done

    @property
    def relative_gap(self) -> float:
        return self._solver.relative_gap

    def solution(self) -> tuple[FloatArray, FloatArray | float]:
        coef = self._solver.coef
        return coef[:-1], float(coef[-1] - self._shift @ coef[:-1])


class _InteriorPoint(_Gapped):
    """Piecewise linear losses with the l2 penalty."""

    method = "primal-dual interior points"

    def __init__(self, machine: Machine, target: FloatArray, costs: FloatArray, *, tol: float) -> None:
        d = machine.rows.n_features
        quadratic = np.append(np.ones(d), machine.l2_of_intercept)
        pieces = machine.pieces(target, costs)
        problem = PiecewiseProblem(machine.rows, pieces, quadratic, np.zeros(d + 1), machine.has_intercept, machine.n_threads)
        super().__init__(InteriorPoint(problem, tol=tol), machine.rows.shift)


def _rows_of_duals(machine: Machine) -> tuple[Any, FloatArray]:
    """X in double precision and by rows, and what was subtracted: about its means, a column leaves free intercepts alone."""
    if sp.issparse(machine.X):
        return machine.X.tocsr().astype(np.float64, copy=False), np.zeros(machine.X.shape[1])
    return machine.X - machine.rows.shift, machine.rows.shift


class _DualDescent(_Gapped):
    """All four losses with the l2 penalty."""

    method = "dual coordinate descent"

    def __init__(self, machine: Machine, target: FloatArray, costs: FloatArray, *, tol: float, seed: int) -> None:
        X, shift = _rows_of_duals(machine)
        solver = DualDescent(X, machine.dual_terms(target, costs), prior=machine.prior, tol=tol, seed=seed)
        super().__init__(solver, shift, solver.settle)


class CrammerSinger(_Gapped):
    """All classes at once, with the multi-class hinge and the l2 penalty; two classes share one line of coefficients."""

    method = "dual coordinate descent on all classes"

    def __init__(self, machine: Machine, codes: Codes, n_classes: int, costs: FloatArray, *, tol: float, seed: int) -> None:
        X, shift = _rows_of_duals(machine)
        solver = MulticlassDescent(X, codes, n_classes, costs, prior=machine.prior, tol=tol, seed=seed)
        super().__init__(solver, shift, solver.settle)

    def solution(self) -> tuple[FloatArray, FloatArray]:
        coef, intercept = self._solver.coef[:-1].T, self._solver.coef[-1] - self._shift @ self._solver.coef[:-1]
        return (coef, intercept) if len(intercept) > 2 else (np.diff(coef, axis=0), np.diff(intercept))


class _Smooth:
    """Squared losses: Newton's method, the proximal one for the l1 penalty. The gap is that of the slopes, made feasible."""

    def __init__(
        self,
        machine: Machine,
        target: FloatArray,
        costs: FloatArray,
        *,
        is_l1: bool,
        tol: float,
        before: MachineSolver | None = None,
    ) -> None:
        self._machine, self._tol = machine, max(tol, LEAST_TOL)
        self._terms = machine.dual_terms(target, costs)
        self._problem = machine.smooth(target, costs, l2=0.0 if is_l1 else 1.0)
        self._size, self._loss_at_zero = self._terms.size(), self._terms.loss(np.zeros(len(target)))
        self.method = "proximal Newton steps" if is_l1 else "Newton steps"
        self._strengths = np.append(np.ones(machine.rows.n_features), np.sqrt(machine.l2_of_intercept)) if is_l1 else None
        start = before._solver.point if isinstance(before, _Smooth) else self._problem.start()
        self._solver: Newton | ConjugateNewton | ProximalNewton
        if self._strengths is not None:
            self._solver = ProximalNewton(self._problem, self._strengths, start)
        elif _has_many_sparse_columns(machine):
            self._solver = ConjugateNewton(self._problem, start, tol=self._tol)
        else:
            self._solver = Newton(self._problem, start, tol=self._tol)
        at = self._solver.at
        if not np.isfinite(at.gradient).all() or (at.hessian is not None and not np.isfinite(at.hessian).all()):
            raise FloatingPointError("the sums over X overflow")
        self.gap = Gap(self._loss_at_zero, 0.0)
        self._settled: FloatArray | None = None

    @property
    def relative_gap(self) -> float:
        return self.gap.width / max(self.gap.primal, ROUNDING * self._size / self._tol, np.finfo(float).tiny)

    @property
    def is_done(self) -> bool:
        return self._solver.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        record = self._solver.step()
        if self._strengths is not None or self._solver.is_done:  # else the bound by the gradient is not there yet
            self.settle()
        return {**record, "gap": self.gap.width}

    def settle(self) -> None:
        if self._settled is self._solver.point:
            return
        self._settled = point = self._solver.point
        values = self._machine.rows.values(point)
        under, over = self._terms.excess(values)
        duals = (under - over) / self._terms.curvature
        if self._machine.prior is None:
            duals = without_sum(duals)
        sums = self._machine.rows.slope_sums(duals)
        self.gap = Gap(self._terms.loss(values) + self._penalty(point), self._dual_value(duals, sums))

    def _penalty(self, point: FloatArray) -> float:
        if self._strengths is not None:
            return float(self._strengths @ np.abs(point))
        return float(point[:-1] @ point[:-1] + self._machine.l2_of_intercept * point[-1] ** 2) / 2

    def _dual_value(self, duals: FloatArray, sums: FloatArray) -> float:
        if self._strengths is None:
            return self._terms.value(duals) - float(sums[:-1] @ sums[:-1] + (self._machine.prior or 0.0) * sums[-1] ** 2) / 2
        bounded = self._strengths > 0
        shrink = 1 / max(1.0, float((np.abs(sums[bounded]) / self._strengths[bounded]).max(initial=0.0)))
        return self._terms.value(shrink * duals)

    def solution(self) -> tuple[FloatArray, float]:
        return self._problem.to_user(self._solver.point)


class _WorkingSets:
    """The squared hinge with the l1 penalty, where X is sparse or wide: only columns that matter are looked at closely."""

    method = "proximal Newton steps on working sets of columns"

    def __init__(self, machine: Machine, target: FloatArray, costs: FloatArray, *, tol: float) -> None:
        self._machine, is_free = machine, machine.prior is None
        if not np.isfinite(squared_norms(machine.X)).all():
            raise FloatingPointError("the squares of X overflow")
        # The working sets know rows by their slopes and curvatures alone: those of the hinge do as well as those of softmax.
        rows = cast("Labels", HingeRows(machine.dual_terms(target, costs), has_intercept=is_free))
        start, tol = np.zeros((1, machine.columns.n_columns)), max(tol, LEAST_TOL)
        self._solver = HingeNewton(machine.columns, rows, start, np.zeros(1), l1=1.0, l2=0.0, has_intercept=is_free, tol=tol)
        self.step, self.settle = self._solver.step, lambda: None

    @property
    def gap(self) -> Gap:
        return Gap(self._solver.objective, self._solver.objective - self._solver.gap)

    @property
    def is_done(self) -> bool:
        return self._solver.is_done

    @property
    def relative_gap(self) -> float:
        return self._solver.residual

    def solution(self) -> tuple[FloatArray, float]:
        coef = self._solver.coef[0]
        if self._machine.prior:
            return coef[:-1], float(coef[-1] * np.sqrt(self._machine.prior))
        return coef, float(self._solver.intercept[0])


def _has_many_sparse_columns(machine: Machine) -> bool:
    """Whether a matrix of columns by columns costs more than it saves; sparse X of few columns is solved as dense X is."""
    return sp.issparse(machine.X) and bool(machine.X.shape[1] > FEW_SPARSE_COLUMNS)


def _suits_the_dual(machine: Machine) -> bool:
    """Many columns do. Sparse ones do, but for squared losses of no more columns than rows: their steps need no matrix."""
    n_rows, n_columns = machine.X.shape
    if _has_many_sparse_columns(machine):
        return machine.loss not in SQUARED or bool(n_columns > n_rows)
    return bool(n_columns > MOST_COLUMNS)


def make_solver(
    machine: Machine,
    target: FloatArray,
    costs: FloatArray,
    *,
    penalty: str,
    dual: bool | str,
    tol: float,
    seed: int,
    before: MachineSolver | None = None,
) -> MachineSolver:
    """The method for this loss, penalty and shape; Newton's starts where `before`, for other costs of the same rows, ended."""
    if penalty == "l1" and machine.X.shape[1] > MOST_DENSE_COLUMNS:
        return _WorkingSets(machine, target, costs, tol=tol)
    if penalty == "l1":
        return _Smooth(machine, target, costs, is_l1=True, tol=tol, before=before)
    if dual is True or (dual == "auto" and _suits_the_dual(machine)):
        return _DualDescent(machine, target, costs, tol=tol, seed=seed)
    if machine.loss in SQUARED:
        return _Smooth(machine, target, costs, is_l1=False, tol=tol, before=before)
    return _InteriorPoint(machine, target, costs, tol=tol)
