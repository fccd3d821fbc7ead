"""Step rules: how far to go along a direction of descent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real as AnyReal
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer._params import Checked, Integer, InvalidParameterError, Null, Real, Rule, check_value
from mercer.optim._line import BracketSearch, Line, StepResult
from mercer.optim._settings import named


class Guess(NamedTuple):
    """What a rule may know before it looks along the line."""

    k: int  # the number of the iteration, from 1
    trial: float  # a length worth trying first
    is_unit: bool  # whether 1 is the natural length, as for Newton's direction
    curvature: float  # the curvature constant of Wolfe's conditions that suits the method


class StepRule(Checked):
    """Base of the step rules: chooses t in x + t p along a direction of descent p.

    The rules at hand are `ConstantStep`, `DecreasingStep`, `OptimalStep`, `ArmijoStep` and `WolfeStep`.

    Examples
    --------
    >>> from mercer.optim import ArmijoStep, StepRule
    >>> isinstance(ArmijoStep(shrink=0.8), StepRule)
    True
    """

    is_search: ClassVar[bool] = True  # whether the step depends on the function, and so never makes it rise

    def find(self, line: Line, guess: Guess) -> StepResult:
        """The step length, or the reason why there is none."""
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantStep(StepRule):
    r"""The same step in every iteration: :math:`\rho_k = \rho`. Its name is ``"constant"``; a plain number means this rule.

    Parameters
    ----------
    length : float, default=1.0
        The step :math:`\rho > 0`.

    Notes
    -----
    Costs no evaluation. Gradient descent with it converges on a function whose gradient has the Lipschitz constant L if
    :math:`\rho < 2 / L`, and diverges on quadratics beyond that.

    Examples
    --------
    >>> from mercer.optim import ConstantStep, Quadratic, minimize
    >>> minimize(Quadratic([[1.0]]), [1.0], method="gd", step=ConstantStep(0.5)).nit
    20

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, chapter 3.
    """

    length: float = 1.0

    _rules: ClassVar[Mapping[str, Rule]] = {"length": Real(above=0)}
    is_search: ClassVar[bool] = False

    def find(self, line: Line, guess: Guess) -> StepResult:
        return StepResult(self.length)


@dataclass(frozen=True)
class DecreasingStep(StepRule):
    r"""Steps that shrink with the number of the iteration: :math:`\rho_k = \rho / k^a`, k from 1. Its name is ``"decreasing"``.

    Parameters
    ----------
    first : float, default=1.0
        :math:`\rho`, the first step.
    power : float, default=1.0
        a; with 1/2 < a <= 1 the steps add up to infinity and their squares do not, as the theory of stochastic descent wants.

    Notes
    -----
    Costs no evaluation. On smooth functions far slower than a line search: the error falls like a power of k.

    Examples
    --------
    >>> from mercer.optim import DecreasingStep, Quadratic, minimize
    >>> minimize(Quadratic([[1.0]]), [1.0], method="gd", step=DecreasingStep(0.5)).trace.step[1:4].round(3)
    array([0.5  , 0.25 , 0.167])

    References
    ----------
    H. Robbins and S. Monro, A stochastic approximation method, Annals of Mathematical Statistics 22 (1951).
    """

    first: float = 1.0
    power: float = 1.0

    _rules: ClassVar[Mapping[str, Rule]] = {"first": Real(above=0), "power": Real(least=0)}
    is_search: ClassVar[bool] = False

    def find(self, line: Line, guess: Guess) -> StepResult:
        return StepResult(self.first / guess.k**self.power)


@dataclass(frozen=True)
class OptimalStep(StepRule):
    r"""The exact line search: :math:`\rho_k = \arg\min_{\rho > 0} f(x_k + \rho p_k)`. Its name is ``"optimal"``.

    Parameters
    ----------
    tol : float, default=1e-9
        The search ends where the slope along the line is at most `tol` times the slope at its beginning.
    max_trials : int, default=100
        At most so many trials to bracket the minimum, and so many to close in on it.

    Notes
    -----
    A function with a method ``exact_step(x, p)``, such as `Quadratic`, gives the step in closed form. For any other function
    the first local minimum along the line is bracketed and its slope brought to zero. Successive gradients of gradient
    descent are then orthogonal.

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> result = minimize(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [3.0, 2.0], method="gd", step="optimal")
    >>> print(f"{result.trace.jac[0] @ result.trace.jac[1]:.1f}")
    0.0

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 3.3.
    """

    tol: float = 1e-9
    max_trials: int = 100

    _rules: ClassVar[Mapping[str, Rule]] = {"tol": Real(above=0, below=1), "max_trials": Integer(1)}

    def find(self, line: Line, guess: Guess) -> StepResult:
        if line.objective.exact_step is not None:
            length = float(line.objective.exact_step(line.start.x, line.direction))
            if 0 < length < np.inf:
                return StepResult(length)
            return StepResult(None, f"the exact step is {length:g}", is_unbounded=length == np.inf)
        return BracketSearch(line, 0.0, self.tol, self.max_trials, wants_slopes=True).run(guess.trial)


@dataclass(frozen=True)
class ArmijoStep(StepRule):
    r"""Backtracking to Armijo's condition :math:`f(x + t p) \le f(x) + c\, t \langle \nabla f(x), p \rangle`.

    Its name is ``"armijo"``.

    Parameters
    ----------
    c : float, default=1e-4
        The share of the decrease promised by the slope that must be had; between 0 and 1.
    shrink : float, default=0.5
        What a step that was too long is multiplied by; between 0 and 1.
    first : float or None, default=None
        The first trial of every search. None means 1 for the Newton-like methods, and the last step over `shrink` for
        `gd` and `cg`, so that steps can grow as well.
    max_trials : int, default=100
        At most so many trials a search.

    Notes
    -----
    Costs one value of the function a trial and no gradient. The condition does not make the quasi-Newton update positive
    definite: `bfgs` and `lbfgs` leave an update out where it would not be, and say so in the trace.

    Examples
    --------
    >>> from mercer.optim import ArmijoStep, Quadratic, minimize
    >>> minimize(Quadratic([[8.0]]), [1.0], method="gd", step=ArmijoStep(first=1.0)).trace[1].step
    0.125

    References
    ----------
    L. Armijo, Minimization of functions having Lipschitz continuous first partial derivatives, Pacific J. Math. 16 (1966).
    """

    c: float = 1e-4
    shrink: float = 0.5
    first: float | None = None
    max_trials: int = 100

    _rules: ClassVar[Mapping[str, Rule]] = {
        "c": Real(above=0, below=1),
        "shrink": Real(above=0, below=1),
        "first": Real(above=0) | Null(),
        "max_trials": Integer(1),
    }

    def find(self, line: Line, guess: Guess) -> StepResult:
        longest = guess.trial if guess.is_unit else guess.trial / self.shrink
        t = longest if self.first is None else self.first
        for _ in range(self.max_trials):
            if line.has_decreased(t, self.c):
                return StepResult(t)
            t *= self.shrink
        return StepResult(None, f"no step down to {t / self.shrink:.3g} lowers the function enough")


@dataclass(frozen=True)
class WolfeStep(StepRule):
    r"""A step with the strong Wolfe conditions; its name is ``"wolfe"``.

    .. math:: f(x + t p) \le f(x) + c_1 t \langle \nabla f(x), p \rangle, \qquad
              |\langle \nabla f(x + t p), p \rangle| \le c_2 |\langle \nabla f(x), p \rangle|

    Parameters
    ----------
    c1 : float, default=1e-4
        Sufficient decrease; between 0 and 1.
    c2 : float or None, default=None
        Curvature; between `c1` and 1. None means 0.1 for `gd` and `cg` and 0.9 for the others.
    max_trials : int, default=60
        At most so many trials to bracket such a step, and so many to close in on it.

    Notes
    -----
    Costs one value and about one gradient a trial; a Newton-like method mostly needs one trial. Such a step always lets a
    quasi-Newton method keep its matrix positive definite. Where the values along the line differ by rounding alone,
    the first condition is read off the slope.

    Examples
    --------
    >>> from mercer.optim import Quadratic, WolfeStep, minimize
    >>> minimize(Quadratic([[8.0]]), [1.0], method="gd", step=WolfeStep(c2=0.01)).nit
    1

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 3.5; W. Hager and H. Zhang, A new
    conjugate gradient method with guaranteed descent and an efficient line search, SIAM J. Optim. 16 (2005).
    """

    c1: float = 1e-4
    c2: float | None = None
    max_trials: int = 60

    _rules: ClassVar[Mapping[str, Rule]] = {
        "c1": Real(above=0, below=1),
        "c2": Real(above=0, below=1) | Null(),
        "max_trials": Integer(1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.c2 is not None and self.c2 <= self.c1:
            raise InvalidParameterError(f"WolfeStep: c2={self.c2!r} is not valid; it must be greater than c1={self.c1!r}.")

    def find(self, line: Line, guess: Guess) -> StepResult:
        curvature = max(guess.curvature, self.c1) if self.c2 is None else self.c2
        return BracketSearch(line, self.c1, curvature, self.max_trials).run(guess.trial)


STEPS: Mapping[str, Callable[[], StepRule]] = {
    "constant": ConstantStep,
    "decreasing": DecreasingStep,
    "optimal": OptimalStep,
    "armijo": ArmijoStep,
    "wolfe": WolfeStep,
}


def as_step_rule(value: Any) -> StepRule:
    """A rule by its name, by itself, or by the number that is its constant step."""
    if isinstance(value, AnyReal):
        return ConstantStep(check_value("minimize", "step", value, Real(above=0)))
    return named("minimize", "step", value, StepRule, STEPS)
