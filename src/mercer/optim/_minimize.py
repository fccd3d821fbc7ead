"""The one loop around every descent method and step rule, and the reasons for which it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from mercer._params import Bool, Function, Integer, Null, Real, check_value
from mercer.optim._directions import Direction, Method, steepest
from mercer.optim._functions import Objective, Point
from mercer.optim._line import Line, StepResult
from mercer.optim._quasi_newton import as_method
from mercer.optim._settings import start_point
from mercer.optim._steps import Guess, StepRule, as_step_rule
from mercer.optim._trace import Iteration, Trace

CONVERGED, MAX_ITER, NO_DESCENT, DIVERGED, STOPPED = 0, 1, 2, 3, 99  # SciPy's numbers where it has the case
PATIENCE = 100  # iterations of a search, and d more, that lower neither the function nor its gradient before it is given up
GROWTH = 1e20  # a gradient this many times the first (or 1) will not come back; for a value its square

Callback = Callable[[Iteration], Any]


class Ending(NamedTuple):
    """Why a run ended."""

    status: int
    message: str


def minimize(
    fun: Any,
    x0: Any,
    jac: Any = None,
    hess: Any = None,
    *,
    method: str | Method = "bfgs",
    step: str | float | StepRule = "wolfe",
    tol: float = 1e-6,
    max_iter: int = 1000,
    callback: Callback | None = None,
    keep_path: bool = True,
    target: float | None = None,
) -> OptimizeResult:
    r"""Minimise a smooth function by descent: :math:`x_{k+1} = x_k + t_k p_k` until :math:`\|\nabla f(x_k)\|_2 \le` `tol`.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives a number. An object that has methods ``jac``, ``hess`` or ``exact_step``, as `Quadratic` does, brings
        its own derivatives and optimal step.
    x0 : array-like of shape (d,)
        Where to start.
    jac : callable, True or None, default=None
        ``jac(x)`` gives the gradient. True means that `fun` gives the pair (value, gradient). None means `fun`'s own or,
        failing that, central differences of spacing ``eps ** (1/3) * max(1, |x_i|)``: 2 d calls of `fun` a gradient, all
        counted in `nfev`, and about ten digits, so that a `tol` below 1e-8 or so is out of reach.
    hess : callable or None, default=None
        ``hess(x)`` gives the Hessian, which the method ``"newton"`` needs. None means `fun`'s own.
    method : {"gd", "cg", "newton", "broyden", "bfgs", "lbfgs", "coordinate"} or Method, default="bfgs"
        The direction :math:`p_k`. An object sets its options: ``ConjugateGradient(beta="fr")``, ``LBFGS(m=20)``.
    step : {"constant", "decreasing", "optimal", "armijo", "wolfe"}, float or StepRule, default="wolfe"
        The length :math:`t_k`. A number is a constant step; an object sets its options: ``ArmijoStep(shrink=0.8)``.
    tol : float, default=1e-6
        The Euclidean norm of the gradient at which to stop.
    max_iter : int, default=1000
    callback : callable or None, default=None
        Called with every record of the trace, the start included. Returning True or raising StopIteration ends the run.
    keep_path : bool, default=True
        Whether the trace holds every point and gradient: (n_iter + 1) x 2 d numbers.
    target : float or None, default=None
        A value of the function that will do: the run ends where it is no larger, whatever the gradient.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x`, `fun`, `jac`, `nit`, `nfev`, `njev`, `nhev`, `success`, `status`, `message`, `trace` (a `Trace`) and, where the
        method holds one, `hess_inv`. Nothing is raised or warned about when the run fails; `status` and `message` say how it
        ended:

        0. the gradient norm reached `tol`, or the function `target` (`success` is True here alone);
        1. `max_iter` was reached;
        2. no step lowers the function any more, by rounding or since `jac` is not its gradient (the message says which);
        3. the function or its gradient became NaN or infinite, or grew or fell beyond all bounds; `x` is the last finite point;
        99. the callback ended it.

    Notes
    -----
    A direction that does not descend, or along which no step is found, is replaced by steepest descent, and the method
    forgets what it learnt; the trace's `note` says so. Complexity is that of the method plus the calls of the user's
    functions. These get a copy of x; NumPy's floating-point warnings are off while they run, for the result reports what
    came out. What reaches `tol` is a stationary point; on a function with several it depends on the start.

    Against ``scipy.optimize.minimize``: the stopping rule is the same for every method, the path is kept, and the step rule can
    be chosen.

    Examples
    --------
    >>> from mercer.optim import minimize
    >>> def f(x):
    ...     return x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1]
    >>> def gradient(x):
    ...     return [2 * x[0] - 2 * x[1], 8 * x[1] - 2 * x[0]]
    >>> result = minimize(f, [3.0, 2.0], gradient, method="gd", step="armijo")
    >>> result.success, bool(abs(result.x).max() < 1e-6)
    (True, True)
    >>> print(minimize(f, [3.0, 2.0], gradient, method="gd", step=1.0).message)  # doctest: +ELLIPSIS
    Diverged: the gradient norm grew from 10.2 to ... in ... iterations. Try a shorter step, or step='wolfe'.

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006.
    """
    chosen, rule = as_method(method), as_step_rule(step)
    objective = Objective(fun, jac, hess)
    if chosen.needs_hess and objective.hess is None:
        raise ValueError(f"minimize: method={method!r} needs hess, a function that gives the Hessian; 'bfgs' does without.")
    descent = _Descent(
        objective,
        chosen,
        rule,
        tol=check_value("minimize", "tol", tol, Real(above=0)),
        max_iter=check_value("minimize", "max_iter", max_iter, Integer(1)),
        callback=check_value("minimize", "callback", callback, Function() | Null()),
        keep_path=check_value("minimize", "keep_path", keep_path, Bool()),
        target=check_value("minimize", "target", target, Real() | Null()),
    )
    start = start_point("minimize", x0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        return descent.run(objective.point(start))


class _Descent:
    """One run of `minimize`."""

    def __init__(
        self,
        objective: Objective,
        method: Method,
        rule: StepRule,
        *,
        tol: float,
        max_iter: int,
        callback: Callback | None,
        keep_path: bool,
        target: float | None,
    ) -> None:
        self.objective, self.method, self.rule = objective, method, rule
        self.tol, self.max_iter, self.callback, self.keep_path, self.target = tol, max_iter, callback, keep_path, target
        self.trace = Trace()
        self.state = method.init()
        self.last: tuple[float, float] | None = None  # length and slope of the last step
        self.n_stalled = 0

    def run(self, point: Point) -> OptimizeResult:
        self.point, self.least_fun, self.least_norm = point, point.fun, point.grad_norm
        ending = self._record(point, np.nan, "")
        if not point.is_finite:
            ending = Ending(DIVERGED, f"{_what_broke(point)} at x0. Start where the function and its gradient are finite.")
        while ending is None:
            ending = self._advance()
        return self._result(ending)

    def _advance(self) -> Ending | None:
        """One iteration; the reason to end if there is one."""
        if len(self.trace) > self.max_iter:
            return Ending(
                MAX_ITER,
                f"Stopped at max_iter={self.max_iter} with the gradient norm at {self.point.grad_norm:.3g} > tol={self.tol:g}. "
                "Raise max_iter or tol, or use a method that converges faster.",
            )
        line, found, note = self._search()
        if found.length is None:
            if found.is_unbounded:
                return Ending(DIVERGED, f"Diverged: {found.note} in iteration {len(self.trace)}. {self._remedy()}")
            return self._no_descent(line, found.note)
        new = line.point(found.length)
        if not new.is_finite:
            where = f"after a step of {found.length:.3g} in iteration {len(self.trace)}"
            return Ending(DIVERGED, f"{_what_broke(new)} {where}. {self._remedy()}")
        if stall := self._stall(new, found.length):
            return self._no_descent(line, stall)
        self.state, left_out = self.method.update(self.state, self.point, new, line.direction)
        self.last, self.point = (found.length, line.slope_at_start), new
        return self._record(new, found.length, "; ".join(filter(None, [note, found.note, left_out])))

    def _search(self) -> tuple[Line, StepResult, str]:
        """The line of the method's direction and the step on it; those of steepest descent where the method's will not do."""
        direction = self.method.direction(self.state, self.point, self.objective)
        line, reason = Line(self.objective, self.point, direction.vector), "not a direction of descent"
        if line.slope_at_start < 0:
            found = self.rule.find(line, self._guess(direction, line))
            if found.length is not None or np.array_equal(direction.vector, -self.point.jac):
                return line, found, direction.note
            reason = found.note
        self.state, self.last = self.method.init(), None
        direction = steepest(self.point, "; ".join(filter(None, [direction.note, f"restarted from the gradient: {reason}"])))
        line = Line(self.objective, self.point, direction.vector)
        return line, self.rule.find(line, self._guess(direction, line)), direction.note

    def _stall(self, new: Point, length: float) -> str:
        """How the run has come to a standstill, in words; empty if it has not."""
        if np.array_equal(new.x, self.point.x):
            return f"a step of {length:.3g} no longer changes x"
        is_progress = new.fun < self.least_fun or new.grad_norm < self.least_norm
        self.n_stalled = 0 if is_progress or not self.rule.is_search else self.n_stalled + 1
        self.least_fun, self.least_norm = min(self.least_fun, new.fun), min(self.least_norm, new.grad_norm)
        if self.n_stalled < PATIENCE + len(new.x):
            return ""
        return f"neither the function nor its gradient has become smaller for {self.n_stalled} iterations"

    def _guess(self, direction: Direction, line: Line) -> Guess:
        if direction.is_unit:
            trial = 1.0
        elif self.last is None:
            trial = min(1.0, 1 / self.point.grad_norm)
        else:  # as long a decrease as the last one promised, and not lost in the digits of x
            length, slope = self.last
            visible = 1e-10 * (1.0 + float(np.abs(self.point.x).max())) / float(np.abs(direction.vector).max())
            trial = max(visible, length * float(np.clip(slope / line.slope_at_start, 0.1, 10.0)))
        return Guess(len(self.trace), trial, direction.is_unit, self.method.curvature)

    def _record(self, point: Point, length: float, note: str) -> Ending | None:
        """Add a record, tell the callback, and say whether to end here."""
        path = (point.x, point.jac) if self.keep_path else (None, None)
        record = Iteration(len(self.trace), point.fun, point.grad_norm, length, self.objective.nfev, note, *path)
        self.trace._append(record)
        has_stopped = is_stopped(self.callback, record)
        if point.grad_norm <= self.tol:
            return Ending(CONVERGED, f"Converged: gradient norm {point.grad_norm:.3g} <= tol={self.tol:g}.")
        if self.target is not None and point.fun <= self.target:
            return Ending(CONVERGED, f"Reached the target: f = {point.fun:.6g} <= target={self.target:g}.")
        if growth := grown(self.trace):
            return Ending(DIVERGED, f"{growth} {self._remedy()}")
        return Ending(STOPPED, "Stopped by the callback.") if has_stopped else None

    def _remedy(self) -> str:
        if self.rule.is_search:
            return "Is the function bounded below, and its gradient defined everywhere?"
        return "Try a shorter step, or step='wolfe'."

    def _no_descent(self, line: Line, reason: str) -> Ending:
        """No step was found: either the gradient is wrong or the end of the arithmetic is reached."""
        figure = f"The gradient norm is {self.point.grad_norm:.3g} > tol={self.tol:g}"
        slope, measured, noise = _slope_by_differences(self.objective, line)
        if abs(measured - slope) > 1e-2 * abs(slope) + noise:
            slopes = f"along the step its slope is {slope:.3g}, by differences {measured:.3g}"
            why = f"jac does not look like the gradient of fun, or fun has a kink here: {slopes}."
        elif not self.rule.is_search:
            why = f"{figure}; try a longer step, or step='wolfe'."
        else:
            why = f"{figure}; where fun has no more digits to give, only a larger tol can be reached."
        return Ending(NO_DESCENT, f"No descent in iteration {len(self.trace)}: {reason}. {why}")

    def _result(self, ending: Ending) -> OptimizeResult:
        point, objective = self.point, self.objective
        result = OptimizeResult(
            x=point.x.copy(),
            fun=point.fun,
            jac=point.jac.copy(),
            nit=len(self.trace) - 1,
            nfev=objective.nfev,
            njev=objective.njev,
            nhev=objective.nhev,
            success=ending.status == CONVERGED,
            status=ending.status,
            message=ending.message,
            trace=self.trace,
        )
        inverse = self.method.inverse_hessian(self.state)
        if inverse is not None:
            result.hess_inv = inverse
        return result


def is_stopped(callback: Callback | None, record: Iteration) -> bool:
    """Tell the callback; True if it wants the run to end."""
    if callback is None:
        return False
    try:
        answer = callback(record)
    except StopIteration:
        return True
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def grown(trace: Trace, unit: str = "iterations") -> str:
    """What has grown beyond all bounds, in words; empty if nothing has."""
    first, last = trace[0], trace[-1]
    if last.grad_norm > GROWTH * max(1.0, first.grad_norm):
        return f"Diverged: the gradient norm grew from {first.grad_norm:.3g} to {last.grad_norm:.3g} in {last.k} {unit}."
    if abs(last.fun) > GROWTH**2 * max(1.0, abs(first.fun)):
        way = "grew" if last.fun > 0 else "fell"
        return f"Diverged: the function {way} from {first.fun:.3g} to {last.fun:.3g} in {last.k} {unit}."
    return ""


def _what_broke(point: Point) -> str:
    if not np.isfinite(point.fun):
        return f"Diverged: the function is {point.fun}"
    return "Diverged: the gradient is not finite"


def _slope_by_differences(objective: Objective, line: Line) -> tuple[float, float, float]:
    """The slope at the start of a line by the gradient and by central differences, and the rounding error of the latter."""
    start, size = line.start, float(np.abs(line.direction).max())
    h = 6e-6 * max(1.0, float(np.abs(start.x).max())) / size
    above, below = objective.value(line.at(h)), objective.value(line.at(-h))
    return line.slope_at_start, (above - below) / (2 * h), line.rounding / h
