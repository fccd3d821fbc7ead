"""Ridge regression by iteration, with nothing of A but its products with vectors: conjugate gradients; L-BFGS-B for w >= 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from mercer._arrays import FloatArray
from mercer._trace import Record, Status
from mercer.linear_model._least_squares.rows import Rows
from mercer.linear_model._ridge.fit import RidgeFit

MAX_RESTARTS = 10
WEAK = 1e-8  # against the largest sum of squares of a column: a penalty whose pull the gradient hardly shows
LEAST_TOL = 4 * float(np.finfo(np.float64).eps)  # no gradient falls further against the one at zero


class _Iteration:
    """The problem, its start at w = 0, and the measure of progress: the gradient against that at the start."""

    def __init__(self, rows: Rows, alphas: FloatArray, tol: float) -> None:
        self.rows, self.alphas, self.tol = rows, alphas, max(tol, LEAST_TOL)
        self.means, _ = rows.centre()
        self.targets = rows.targets(self.means)
        self.column_squares = rows.column_squares(self.means)
        # Columns that vary by rounding alone, with the penalty or without, are left where they are: at zero.
        diagonal = self.column_squares + alphas[:, None]
        self.inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=self.column_squares > 0)
        self.coef = np.zeros((len(alphas), rows.n_features))
        self.gradient = rows.adjoint(self.means, self.targets)
        self.start = np.sqrt(_squares(self.gradient))

    def relative(self, gradient: FloatArray) -> FloatArray:
        """The norm of the gradient of each target against that at the start."""
        norms = np.sqrt(_squares(gradient))
        ratios: FloatArray = np.divide(norms, self.start, out=np.zeros_like(norms), where=self.start > 0)
        return ratios

    def measured(self) -> tuple[FloatArray, FloatArray]:
        """The residuals and A' times them, by the rows themselves, not by what the iteration carried along."""
        residuals = self.targets - self.rows.apply(self.means, self.coef)
        return residuals, self.rows.adjoint(self.means, residuals)

    def fit(self, method: str, solver: str, *, is_positive: bool = False) -> RidgeFit:
        """What was found, measured by the rows themselves."""
        residuals, correlations = self.measured()
        return RidgeFit.of(
            self.alphas, self.coef, self.means, correlations, _squares(residuals), _squares(self.targets), self.column_squares,
            method=method, solver=solver, is_positive=is_positive,
        )  # fmt: skip


def _squares(lines: FloatArray) -> FloatArray:
    """The squared norm of each line."""
    squares: FloatArray = np.einsum("ij,ij->i", lines, lines)
    return squares


class ConjugateGradients(_Iteration):
    """Conjugate gradients on the normal equations, all targets side by side. A step is one product with A' A.

    Preconditioned by the diagonal where there are at least as many rows as columns and alpha is more than next to nothing. With
    fewer rows most directions are the penalty's alone, which scaled columns would tear apart into as many values. Where the
    gradient has fallen to `tol`, it is measured by the rows themselves, and the iteration begins anew if rounding has hidden
    what is left.
    """

    def __init__(self, rows: Rows, alphas: FloatArray, tol: float) -> None:
        super().__init__(rows, alphas, tol)
        # Where next to no penalty tells minimisers of the squares apart, unscaled steps from zero lead to the shortest of them.
        is_weak = alphas <= WEAK * self.column_squares.max(initial=0)
        self.is_preconditioned = rows.n_rows >= rows.n_features and not is_weak.all()
        self.inverse[is_weak | (rows.n_rows < rows.n_features)] = self.column_squares > 0
        self._objective = float(_squares(self.targets).sum()) / 2
        self._at_end: tuple[FloatArray, FloatArray] | None = None  # residuals and correlations, where they were measured
        self._least, self._is_stuck = np.inf, False
        self._relative = self.relative(self.gradient)
        self._turn()

    def _turn(self) -> None:
        """Go on along the gradient, as from a start."""
        self._direction = self.inverse * self.gradient
        self._decrease = np.einsum("ij,ij->i", self.gradient, self._direction)

    @property
    def is_done(self) -> bool:
        return bool(self._is_stuck or (self._relative <= self.tol).all() or not self._decrease.any())

    def reached(self) -> float:
        """The largest gradient of a target, against that at the start."""
        return float(self._relative.max())

    def measured(self) -> tuple[FloatArray, FloatArray]:
        return super().measured() if self._at_end is None else self._at_end

    def step(self) -> Record:
        p = self._direction
        along = self.rows.normal(self.means, p)
        along += self.alphas[:, None] * p
        curvature = np.einsum("ij,ij->i", along, p)
        # Targets that have arrived stay: further steps would divide noise by noise.
        moves = (self._relative > self.tol) & (curvature > 0)
        length = np.divide(self._decrease, curvature, out=np.zeros_like(curvature), where=moves)
        self.coef, self._at_end = self.coef + length[:, None] * p, None
        self.gradient -= length[:, None] * along
        self._objective -= float(length @ self._decrease) / 2
        scaled = self.inverse * self.gradient
        decrease = np.einsum("ij,ij->i", self.gradient, scaled)
        ratio = np.divide(decrease, self._decrease, out=np.zeros_like(decrease), where=self._decrease > 0)
        scaled += ratio[:, None] * p
        self._direction, self._decrease = scaled, decrease
        self._relative = self.relative(self.gradient)
        if self.is_done:
            self._measure()
        return {"gradient": self.reached(), "objective": self._objective}

    def _measure(self) -> None:
        """Replace what was carried along by what the rows say."""
        self._at_end = self.measured()
        residuals, correlations = self._at_end
        self.gradient = correlations - self.alphas[:, None] * self.coef
        self._objective = float(_squares(residuals).sum() + self.alphas @ _squares(self.coef)) / 2
        self._relative = self.relative(self.gradient)
        self._is_stuck, self._least = self.reached() > self._least / 2, self.reached()
        self._turn()


class NonNegative(_Iteration):
    """L-BFGS-B among w >= 0, target by target, on columns scaled to norm one."""

    def __init__(self, rows: Rows, alphas: FloatArray, tol: float) -> None:
        super().__init__(rows, alphas, tol)
        self.history: list[Record] = []

    def run(self, max_iter: int, watch: Callable[[Record], bool]) -> tuple[Status, list[Record]]:
        """At most `max_iter` iterations in all; `watch` sees every record and returns True to stop."""
        status = Status.CONVERGED
        for target in np.flatnonzero(self.start):
            for _ in range(MAX_RESTARTS):
                origin = _Origin(self, int(target))
                if origin.violation <= self.tol * self.start[target]:
                    break
                if len(self.history) == max_iter:
                    return Status.MAX_ITER, self.history
                if self._descend(origin, max_iter - len(self.history), watch):
                    return Status.STOPPED, self.history
            else:
                status = Status.INEXACT
        return status, self.history

    def _descend(self, origin: _Origin, max_iter: int, watch: Callable[[Record], bool]) -> bool:
        """Iterate from the origin until the gradient is small or the line search ends; True if `watch` says to stop."""
        is_stopped = False

        def after_iteration(u: FloatArray) -> None:
            nonlocal is_stopped
            self.coef[origin.target] = u * origin.scales
            self.history.append(
                {"gradient": origin.last_violation / origin.start, "objective": origin.value + origin.last_value}
            )
            is_stopped = watch(self.history[-1])
            if is_stopped or origin.last_violation <= self.tol * origin.start:
                raise StopIteration

        options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
        bounds = [(0, None)] * len(origin.u)
        found = minimize(
            origin.change, origin.u, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration, options=options
        )
        self.coef[origin.target] = found.x * origin.scales
        return is_stopped

    def reached(self) -> float:
        """The largest gradient of a target, against that at the start, by the rows themselves."""
        return max((_Origin(self, int(t)).violation / self.start[t] for t in np.flatnonzero(self.start)), default=0.0)


class _Origin:
    """The objective of one target as a change from a point: near the minimum, the objective itself has no digits left."""

    def __init__(self, problem: NonNegative, target: int) -> None:
        self._rows, self._means, self._alpha = problem.rows, problem.means, problem.alphas[target]
        self.target, self.start, self.scales = target, problem.start[target], np.sqrt(problem.inverse[target])
        self._w = problem.coef[target].copy()
        self.u = np.divide(self._w, self.scales, out=np.zeros_like(self._w), where=self.scales > 0)
        residuals = problem.targets[target] - self._rows.apply(self._means, self._w[None, :])[0]
        self._gradient = self._rows.adjoint(self._means, residuals[None, :])[0] - self._alpha * self._w
        self.value = float(residuals @ residuals + self._alpha * (self._w @ self._w)) / 2
        self.violation = self.last_violation = self._norm(self._w, self._gradient)
        self.last_value = 0.0

    def _norm(self, w: FloatArray, gradient: FloatArray) -> float:
        """What is left of the conditions for w >= 0."""
        return float(np.linalg.norm(np.where(w > 0, gradient, np.maximum(gradient, 0)) * (self.scales > 0)))

    def change(self, u: FloatArray) -> tuple[float, FloatArray]:
        """The objective less its value at the origin, and its derivative by u."""
        w = u * self.scales
        step = w - self._w
        along = self._rows.apply(self._means, step[None, :])
        gradient = self._gradient - self._rows.adjoint(self._means, along)[0] - self._alpha * step
        self.last_value = float(along[0] @ along[0] + self._alpha * (step @ step)) / 2 - float(self._gradient @ step)
        self.last_violation = self._norm(w, gradient)
        return self.last_value, -gradient * self.scales
