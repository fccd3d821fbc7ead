"""Linear support vector machines as problems for the solvers: one for a regression, one for each class to tell apart.

Every problem is to minimise penalty(w) + sum_i cost_i loss(target_i, x_i' w + b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol, cast

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._solvers.dual_descent import DualDescent, DualTerms, squared_norms, without_sum
from mercer._solvers.interior_point import InteriorPoint
from mercer._solvers.linear_loss import Codes, LinearLoss, LinearRows, make_linear_rows
from mercer._solvers.multiclass_descent import MulticlassDescent
from mercer._solvers.newton import Newton
from mercer._solvers.pieces import LEAST_TOL, ROUNDING, Gap, PiecewiseProblem
from mercer._solvers.proximal_newton import ProximalNewton
from mercer._solvers.sparse_dual import Labels
from mercer._solvers.sparse_hinge import HingeNewton, HingeRows
from mercer._solvers.working_set import Columns
from mercer._trace import Certificate, Outcome, Record, Status

MOST_COLUMNS = 1000  # up to which "auto" takes a method with a matrix of columns by columns
MOST_DENSE_COLUMNS = 500  # up to which proximal Newton steps take a matrix of columns by columns
SQUARED = ("squared_hinge", "squared_epsilon_insensitive")


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


@dataclass(frozen=True)
class Machine:
    """X and the parts of the objective that all classes share."""

    X: Any
    loss: str
    epsilon: float
    prior: float | None  # inverse strength of the penalty on the intercept; 0: no intercept, None: a free one
    n_threads: int

    @classmethod
    def of(cls, X: Any, params: SimpleNamespace, *, epsilon: float = 0.0, n_threads: int) -> Machine:
        prior = 0.0 if not params.fit_intercept else params.intercept_scaling**2 if params.penalize_intercept else None
        return cls(X, params.loss, epsilon, prior, n_threads)

    @lazy_property
    def rows(self) -> LinearRows:
        """X for sums over its rows; shifted if there is a free intercept to take the shift up."""
        return make_linear_rows(self.X, is_shifted=self.prior is None, n_threads=self.n_threads)

    @lazy_property
    def columns(self) -> Columns:
        """X by columns, the last one for an intercept that has a penalty."""
        X = self.X
        if self.prior:
            column = np.full((X.shape[0], 1), np.sqrt(self.prior))
            X = sp.hstack([X, column], format="csc") if sp.issparse(X) else np.hstack([X, column])
        return Columns(X, n_threads=self.n_threads)

    @property
    def has_intercept(self) -> bool:
        return self.prior != 0

    @property
    def l2_of_intercept(self) -> float:
        return 1 / self.prior if self.prior else 0.0

    def pieces(self, target: FloatArray, costs: FloatArray) -> FloatArray:
        """A piecewise linear loss, as rows target, low, up."""
        if self.loss == "hinge":
            return np.stack([target, np.where(target < 0, costs, 0.0), np.where(target > 0, costs, 0.0)])
        if self.epsilon == 0:
            return np.stack([target, costs, costs])
        none = np.zeros_like(costs)
        under, over = np.stack([target - self.epsilon, none, costs]), np.stack([target + self.epsilon, costs, none])
        return np.hstack([under, over])

    def dual_terms(self, target: FloatArray, costs: FloatArray) -> DualTerms:
        is_squared = self.loss in SQUARED
        bounds = np.where(costs > 0, np.inf, 0.0) if is_squared else costs
        low, up = (
            (np.where(target < 0, bounds, 0.0), np.where(target > 0, bounds, 0.0)) if "hinge" in self.loss else (bounds,) * 2
        )
        curvature = 1 / (2 * np.where(costs > 0, costs, 1.0)) if is_squared else np.zeros_like(costs)
        return DualTerms(target, low, up, curvature, self.epsilon)

    def smooth(self, target: FloatArray, costs: FloatArray, *, l2: float) -> LinearLoss:
        loss = kernels.RowLoss(self.loss, self.epsilon)
        of_intercept = self.l2_of_intercept if l2 else 0.0
        return LinearLoss(self.rows, target, costs, loss, l2, has_intercept=self.has_intercept, l2_of_intercept=of_intercept)


class _InteriorPoint:
    """Piecewise linear losses with the l2 penalty."""

    method = "primal-dual interior points"

    def __init__(self, machine: Machine, target: FloatArray, costs: FloatArray, *, tol: float) -> None:
        d = machine.rows.n_features
        quadratic = np.append(np.ones(d), machine.l2_of_intercept)
        pieces = machine.pieces(target, costs)
        problem = PiecewiseProblem(machine.rows, pieces, quadratic, np.zeros(d + 1), machine.has_intercept, machine.n_threads)
        self._rows, self._solver = machine.rows, InteriorPoint(problem, tol=tol)
        self.step, self.settle = self._solver.step, lambda: None

    @property
    def gap(self) -> Gap:
        return self._solver.gap

    @property
    def is_done(self) -> bool:
        return self._solver.is_done

    @property
    def relative_gap(self) -> float:
        return self._solver.relative_gap

    def solution(self) -> tuple[FloatArray, float]:
        coef = self._solver.coef
        return coef[:-1], float(coef[-1] - self._rows.shift @ coef[:-1])


def _rows_of_duals(machine: Machine) -> tuple[Any, FloatArray]:
    """X in double precision and by rows, and what was subtracted: about its means, a column leaves free intercepts alone."""
    if sp.issparse(machine.X):
        return machine.X.tocsr().astype(np.float64, copy=False), np.zeros(machine.X.shape[1])
    return machine.X - machine.rows.shift, machine.rows.shift


class _DualDescent:
    """All four losses with the l2 penalty."""

    method = "dual coordinate descent"

    def __init__(self, machine: Machine, target: FloatArray, costs: FloatArray, *, tol: float, seed: int) -> None:
        X, self._shift = _rows_of_duals(machine)
        self._solver = DualDescent(X, machine.dual_terms(target, costs), prior=machine.prior, tol=tol, seed=seed)
        self.step, self.settle = self._solver.step, self._solver.look

    @property
    def gap(self) -> Gap:
        return self._solver.gap

    @property
    def is_done(self) -> bool:
        return self._solver.is_done

    @property
    def relative_gap(self) -> float:
        return self._solver.relative_gap

    def solution(self) -> tuple[FloatArray, float]:
        coef = self._solver.coef
        return coef[:-1], float(coef[-1] - self._shift @ coef[:-1])


class CrammerSinger:
    """All classes at once, with the multi-class hinge and the l2 penalty; two classes share one line of coefficients."""

    method = "dual coordinate descent on all classes"

    def __init__(self, machine: Machine, codes: Codes, n_classes: int, costs: FloatArray, *, tol: float, seed: int) -> None:
        X, self._shift = _rows_of_duals(machine)
        self._solver = MulticlassDescent(X, codes, n_classes, costs, prior=machine.prior, tol=tol, seed=seed)
        self.step, self.settle = self._solver.step, self._solver.look

    @property
    def gap(self) -> Gap:
        return self._solver.gap

    @property
    def is_done(self) -> bool:
        return self._solver.is_done

    @property
    def relative_gap(self) -> float:
        return self._solver.relative_gap

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
        if self._strengths is None:
            self._solver: Newton | ProximalNewton = Newton(self._problem, start, tol=self._tol)
        else:
            self._solver = ProximalNewton(self._problem, self._strengths, start)
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
    if dual is True or (dual == "auto" and machine.X.shape[1] > MOST_COLUMNS):
        return _DualDescent(machine, target, costs, tol=tol, seed=seed)
    if machine.loss in SQUARED:
        return _Smooth(machine, target, costs, is_l1=False, tol=tol, before=before)
    return _InteriorPoint(machine, target, costs, tol=tol)


class LockStep:
    """Several solvers as one: a step moves each that is not done."""

    def __init__(self, solvers: Sequence[MachineSolver]) -> None:
        self.solvers = solvers

    @property
    def is_done(self) -> bool:
        return all(solver.is_done for solver in self.solvers)

    def step(self) -> Record:
        moving = [solver for solver in self.solvers if not solver.is_done] or self.solvers  # a fit makes a step at least
        records = [solver.step() for solver in moving]
        if len(self.solvers) == 1:
            return records[0]
        return {"objective": self.total.primal, "gap": self.total.width, "n_open": float(len(records))}

    @property
    def total(self) -> Gap:
        return Gap(*np.sum([solver.gap for solver in self.solvers], axis=0).tolist())

    def settle(self) -> None:
        for solver in self.solvers:
            solver.settle()

    def solution(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients and intercepts, a line and a number for each problem."""
        coef, intercept = zip(*(solver.solution() for solver in self.solvers), strict=True)
        return np.vstack(coef), np.hstack(intercept)

    def outcome(self, status: Status, history: list[Record], params: SimpleNamespace) -> Outcome:
        """The certificate over all problems: values add up, the largest relative gap counts."""
        residual, tol = max(solver.relative_gap for solver in self.solvers), max(params.tol, LEAST_TOL)
        if residual <= tol:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.INEXACT
        certificate = Certificate(
            method=self.solvers[0].method,
            status=status,
            primal=self.total.primal,
            condition="relative duality gap",
            residual=residual,
            tol=tol,
            dual=self.total.dual,
            gap=self.total.width,
        )
        return Outcome(certificate, history, _warning(status, residual, tol, params))


def _warning(status: Status, residual: float, tol: float, params: SimpleNamespace) -> str | None:
    if status is Status.MAX_ITER:
        return (
            f"the relative duality gap is {residual:.3g}, not within tol={tol:.3g}, after max_iter={params.max_iter} "
            "iterations. Raise max_iter or tol, scale the columns of X, or lower C."
        )
    if status is Status.INEXACT:
        return (
            f"rounding ended the iterations at a relative duality gap of {residual:.3g}, not within tol={tol:.3g}. Scale the "
            "columns of X, raise tol, or lower C."
        )
    return None


def check_intercept(owner: str, params: SimpleNamespace) -> None:
    """A scaling of an intercept without penalty would change nothing."""
    if params.intercept_scaling != 1 and not params.penalize_intercept:
        raise ValueError(
            f"{owner}: intercept_scaling={params.intercept_scaling:g} is not valid with penalize_intercept=False, where the "
            "intercept has no penalty to scale; it must be 1, or penalize_intercept=True."
        )
