"""Logistic regression as a problem to be solved: data and penalty in, and the method that suits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray, require_no_overflow
from mercer._lazy import lazy_property
from mercer._matrix import Columns
from mercer._parts.merging import Sums
from mercer._parts.passes import is_parted, rowwise
from mercer._saved import saved
from mercer._solvers.lbfgs import GradientDescent, Preconditioner, SoftmaxLbfgs, curvature_bound
from mercer._solvers.linear_loss import Codes, LinearRows, make_linear_rows
from mercer._solvers.newton import LazyNewton
from mercer._solvers.parted_rows import PartedLinearRows
from mercer._solvers.row_space import RowSpaceDescent, RowSpaces
from mercer._solvers.softmax import SoftmaxLoss
from mercer._solvers.sparse_dual import Labels
from mercer._solvers.sparse_softmax import SoftmaxProximalNewton
from mercer._solvers.working_set import WorkingSetNewton
from mercer.linear_model._logistic.point import Point, Strength
from mercer.linear_model._logistic.run import Run

PEER_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
MOST_ROWS_OF_A_SPAN = 400
OWN_SOLVERS = ("auto", "newton", "irls", "quasi-newton", "gd", "cd")


@saved("LikelihoodSums")
@dataclass(frozen=True)
class LikelihoodSums:
    """Outputs' coefficients relative to the first class, and sums over the rows there."""

    coef: FloatArray
    intercept: FloatArray
    shift: FloatArray
    information: FloatArray  # the Hessian of the negative log likelihood for X - shift, the intercept of each output last
    log_likelihood: float
    class_weights: FloatArray
    pearson_chi2: float  # NaN for more than two classes
    n_obs: int


class LogisticProblem:
    """Rows with classes, ready for any penalty: what the methods share (sums over X, its columns) is made once.

    Inside, there is one line of coefficients an output. Two classes, the reference-class parametrisation and problems without a
    penalty have one output fewer than classes: the first class is then the reference, whose values are zero.
    """

    def __init__(
        self,
        owner: Any,
        X: Any,
        codes: npt.NDArray[Any],
        weights: FloatArray | None,
        n_classes: int,
        *,
        is_reference: bool,
        has_intercept: bool,
        n_threads: int,
    ) -> None:
        self.owner, self.X, self.n_classes = owner, X, n_classes
        self._class_codes, self._weights, self._n_threads = codes, weights, n_threads
        self.is_reference, self.has_intercept = is_reference or n_classes == 2, has_intercept
        self._made_codes: dict[bool, Codes] = {}

    @lazy_property
    def _rows(self) -> LinearRows:
        return make_linear_rows(self.X, is_shifted=self.has_intercept, n_threads=self._n_threads)

    @lazy_property
    def _columns(self) -> Columns:
        return Columns(self.X, n_threads=self._n_threads)

    @lazy_property
    def _preconditioner(self) -> Preconditioner:
        return Preconditioner(self._rows, self._weights, has_intercept=self.has_intercept)

    @lazy_property
    def _row_spaces(self) -> RowSpaces:
        return RowSpaces(self.X, self._rows.shift, n_threads=self._n_threads)

    def _codes(self, has_reference: bool) -> Codes:
        """The first class comes last where it is the reference."""
        if has_reference not in self._made_codes:
            self._made_codes[has_reference] = rowwise(_output_codes, self._class_codes, self.n_classes, has_reference)
        return self._made_codes[has_reference]

    def _loss(self, rows: LinearRows, l2: float, *, has_reference: bool) -> SoftmaxLoss:
        return SoftmaxLoss(
            rows,
            self._codes(has_reference),
            self._weights,
            self.n_classes - has_reference,
            l2,
            has_reference=has_reference,
            has_intercept=self.has_intercept,
        )

    def has_reference(self, strength: Strength) -> bool:
        return self.is_reference or strength.is_none

    def method_for(self, solver: str, strength: Strength) -> str:
        """The method that a solver's name stands for on this problem."""
        if is_parted(self.X):
            return self._method_in_parts(solver, strength)
        if solver == "irls":
            return "newton"
        if solver in ("newton", "quasi-newton", "gd", "cd"):
            return solver
        n_outputs = self.n_classes - self.has_reference(strength)
        size, n_rows = n_outputs * (self.X.shape[1] + 1), self.X.shape[0]
        is_sparse = sp.issparse(self.X)
        if strength.l1 > 0:
            return "proximal" if size <= (64 if is_sparse else 400) and n_rows * size**2 <= 2e10 else "cd"
        # Products of all rows cost about as much as n / 25 passes over X.
        is_wide = not is_sparse and n_rows <= MOST_ROWS_OF_A_SPAN and self.X.shape[1] >= 2 * n_rows
        if is_wide and size > 256 and not strength.is_none:
            return "row-space"
        if n_outputs == 1:
            return "newton" if size <= (64 if is_sparse else 256) else "quasi-newton"
        return "newton" if size <= 128 and n_rows * size**2 <= 1e8 else "quasi-newton"

    def _method_in_parts(self, solver: str, strength: Strength) -> str:
        """Every pass is dear, and a Hessian goes where the parts are: Newton's steps up to a few hundred coefficients."""
        if strength.l1 > 0 or solver in ("gd", "cd", "liblinear"):
            what = "a penalty with an l1 part" if strength.l1 > 0 else f"solver={solver!r}"
            owner = type(self.owner).__name__
            raise TypeError(f"{owner}: {what} is not there for X in parts; take l1_ratio=0 and solver='auto'.")
        if solver in ("newton", "irls", "quasi-newton"):
            return "quasi-newton" if solver == "quasi-newton" else "newton"
        n_outputs = self.n_classes - self.has_reference(strength)
        return "newton" if n_outputs * (self.X.shape[1] + 1) <= (256 if n_outputs == 1 else 128) else "quasi-newton"

    def run(self, method: str, strength: Strength, *, tol: float, start: Point | None, before: Run | None = None) -> Run:
        """A run of the method from a start; `before`, a run on the same problem that ended there, saves a pass over X."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                solver = self._solver(method, strength, tol, start, before)
        except FloatingPointError:
            require_no_overflow(self.owner, self.X, "the products of its columns")
            raise
        return Run(self, method, strength, solver, tol)

    def _solver(self, method: str, strength: Strength, tol: float, start: Point | None, before: Run | None) -> Any:
        has_reference = self.has_reference(strength)
        if method == "cd":
            return self._column_solver(strength, tol, start)
        if method == "gd":
            rows = make_linear_rows(self.X, is_shifted=False, n_threads=self._n_threads)
            loss = self._loss(rows, strength.l2, has_reference=has_reference)
            first = GradientDescent(loss, self._start(loss, start), tol=tol, curvature=curvature_bound(loss))
            return self._checked(first)
        loss = self._loss(self._rows, strength.l2, has_reference=has_reference)
        if method == "row-space":
            space = self._row_spaces.fit_for(loss, tol)
            return self._checked(RowSpaceDescent(space, loss, self._start(loss, start), tol=tol))
        point, at = self._start(loss, start), None
        if before is not None and before.method == method and before.problem_shape == loss.shape:
            point = before.solver.point
            at = loss.moved(point, getattr(before.solver, "known", before.solver.at), before.strength.l2)
        if method == "newton":
            return self._checked(LazyNewton(loss, point, tol=tol, at=at))
        if method == "proximal":
            labels = Labels(loss.codes, self._weights, has_reference=has_reference, n_threads=self._n_threads)
            return self._checked(SoftmaxProximalNewton(loss, labels, point, l1=strength.l1, tol=tol, at=at))
        at = loss.evaluate(point) if at is None else at
        _require_finite(at.value, at.gradient)
        return SoftmaxLbfgs(loss, point, tol=tol, preconditioner=self._preconditioner, at=at)

    def _column_solver(self, strength: Strength, tol: float, start: Point | None) -> WorkingSetNewton:
        has_reference = self.has_reference(strength)
        codes = self._codes(has_reference)
        labels = Labels(codes, self._weights, has_reference=has_reference, n_threads=self._n_threads)
        shape = (self.n_classes - has_reference, self.X.shape[1])
        point = Point(np.zeros(shape), np.zeros(shape[0])) if start is None else self._to_outputs(start, has_reference)
        solver = WorkingSetNewton(
            self._columns,
            labels,
            point.coef,
            point.intercept,
            l1=strength.l1,
            l2=strength.l2,
            has_intercept=self.has_intercept,
            tol=tol,
        )
        _require_finite(solver.objective, solver.violation)
        return solver

    def _start(self, loss: SoftmaxLoss, start: Point | None) -> FloatArray:
        if start is None:
            return loss.start()
        outputs = self._to_outputs(start, loss.has_reference)
        return loss.start(outputs.coef, outputs.intercept)

    def _to_outputs(self, point: Point, has_reference: bool) -> Point:
        coef, intercept = point.coef.astype(np.float64), point.intercept.astype(np.float64)
        if has_reference and self.n_classes > 2:
            coef, intercept = coef[1:] - coef[0], intercept[1:] - intercept[0]
        return Point(coef, intercept if self.has_intercept else np.zeros(len(coef)))

    def to_classes(self, coef: FloatArray, intercept: FloatArray, strength: Strength) -> Point:
        """One line a class: relative to the first in the reference-class parametrisation, else about their mean."""
        if self.n_classes == 2:
            return Point(coef, intercept)
        if self.has_reference(strength):
            coef, intercept = np.vstack([np.zeros(coef.shape[1]), coef]), np.append(0.0, intercept)
            if self.is_reference:
                return Point(coef, intercept)
            coef = coef - coef.mean(axis=0)
        return Point(coef, intercept - intercept.mean())

    def is_separated(self, point: Point) -> bool:
        """Whether every row of positive weight has its own class ahead of all others."""
        lines = np.column_stack([point.coef, point.intercept + point.coef @ self._rows.shift])
        if isinstance(self._rows, PartedLinearRows):
            return self._rows.all_values(_are_own_ahead, lines, self._class_codes, self._weights)
        return _are_own_ahead(self._rows.output_values(lines), self._class_codes, self._weights)

    def likelihood(self, point: Point) -> LikelihoodSums:
        """What inference needs at the maximum of the likelihood."""
        loss = self._loss(self._rows, 0.0, has_reference=True)
        start = self._start(loss, point)
        at = loss.evaluate(start, with_hessian=True)
        assert at.hessian is not None
        coef, intercept = loss.to_user(start)
        lines, labelled = start.reshape(loss.shape), (self._class_codes, self._weights, self.n_classes)
        if isinstance(self._rows, PartedLinearRows):
            sums = self._rows.sum_values(_class_sums, lines, *labelled)
        else:
            sums = _class_sums(self._rows.output_values(lines), *labelled)
        of_classes, chi2, n_obs = sums.values
        return LikelihoodSums(coef, intercept, self._rows.shift, at.hessian, -at.value, of_classes, chi2, n_obs)

    def _checked(self, solver: Any) -> Any:
        _require_finite(solver.at.value, solver.at.gradient, *([] if solver.at.hessian is None else [solver.at.hessian]))
        return solver


def _output_codes(codes: npt.NDArray[Any], n_classes: int, has_reference: bool) -> Codes:
    return ((codes - 1) % n_classes if has_reference else codes).astype(np.int32)


def _are_own_ahead(raw: FloatArray, codes: npt.NDArray[Any], weights: FloatArray | None) -> bool:
    """Whether the value of each row's own class is the largest; of two classes `raw` has those of the second."""
    if raw.shape[1] == 1:
        raw = np.column_stack([np.zeros(len(raw)), raw])
    places = np.arange(len(raw))
    own = raw[places, codes]
    raw[places, codes] = -np.inf
    is_ahead = own > raw.max(axis=1)
    return bool(is_ahead.all() if weights is None else is_ahead[weights > 0].all())


def _class_sums(raw: FloatArray, codes: npt.NDArray[Any], given: FloatArray | None, n_classes: int) -> Sums:
    """The weight of each class, Pearson's chi-squared of two classes, and the rows that have weight."""
    weights = np.ones(len(raw)) if given is None else given
    chi2 = np.nan
    if n_classes == 2:
        p = 1 / (1 + np.exp(-raw[:, 0]))
        with np.errstate(divide="ignore", invalid="ignore"):
            chi2 = float(np.nansum(weights * (codes - p) ** 2 / (p * (1 - p))))
    return Sums((np.bincount(codes, weights=weights, minlength=n_classes), chi2, int(np.count_nonzero(weights))))


def _require_finite(*values: Any) -> None:
    if not all(np.isfinite(value).all() for value in values):
        raise FloatingPointError("a sum over X is NaN or infinite")
