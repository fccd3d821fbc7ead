"""Descent methods: the direction of the next step, and what is learnt from the last one. The driver owns the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from mercer._params import Checked, Null, OneOf, Real, Rule
from mercer.optim._functions import Objective, Point
from mercer.optim._trace import Vector

_EPS = float(np.finfo(np.float64).eps)


class Direction(NamedTuple):
    """Where to go."""

    vector: Vector
    is_unit: bool  # whether 1 is the natural step length along it
    note: str = ""


def steepest(point: Point, note: str = "") -> Direction:
    """Straight down the gradient, which no method's memory can spoil."""
    return Direction(-point.jac, False, note)


class Method(Checked):
    """Base of the descent methods. The object holds settings; what a run learns is its state, handed in and out.

    The methods at hand are `GradientDescent`, `ConjugateGradient`, `Newton`, `Broyden`, `BFGS`, `LBFGS` and
    `CoordinateDescent`.

    Examples
    --------
    >>> from mercer.optim import LBFGS, Method
    >>> isinstance(LBFGS(m=5), Method)
    True
    """

    needs_hess: ClassVar[bool] = False
    curvature: ClassVar[float] = 0.9  # of Wolfe's conditions, unless the user sets it

    def init(self) -> Any:
        """The state at the start and after a restart."""
        return None

    def direction(self, state: Any, point: Point, objective: Objective) -> Direction:
        raise NotImplementedError

    def update(self, state: Any, old: Point, new: Point, direction: Vector) -> tuple[Any, str]:
        """The next state after a step from old to new, and what to note about it."""
        return state, ""

    def inverse_hessian(self, state: Any) -> Any:
        """What the method holds for the inverse Hessian; None if it holds nothing."""
        return None


@dataclass(frozen=True)
class GradientDescent(Method):
    r"""Steepest descent, :math:`p_k = -\nabla f(x_k)`. Its name is ``"gd"``.

    Notes
    -----
    O(d) a step besides the function. On quadratics the error falls by (κ - 1) / (κ + 1) an iteration at best, where κ is
    the condition number of the Hessian.

    Examples
    --------
    >>> from mercer.optim import GradientDescent, Quadratic, minimize
    >>> minimize(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [3.0, 2.0], method=GradientDescent(), step=0.1).success
    True

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 3.3.
    """

    curvature: ClassVar[float] = 0.1

    def direction(self, state: Any, point: Point, objective: Objective) -> Direction:
        return steepest(point)


@dataclass(frozen=True)
class ConjugateGradient(Method):
    r"""Nonlinear conjugate gradients, :math:`p_{k+1} = -g_{k+1} + \beta_k p_k` with :math:`g = \nabla f`. Its name is ``"cg"``.

    Parameters
    ----------
    beta : {"pr+", "fr"}, default="pr+"
        Polak-Ribière with restarts, :math:`\beta_k = \max(0, \langle g_{k+1}, g_{k+1} - g_k \rangle / \|g_k\|^2)`, or
        Fletcher-Reeves, :math:`\beta_k = \|g_{k+1}\|^2 / \|g_k\|^2`.
    restart : float or None, default=0.2
        Powell's test for Fletcher-Reeves, which can otherwise take tiny steps for ever: :math:`\beta_k = 0` where
        :math:`|\langle g_{k+1}, g_k \rangle|` is at least `restart` times :math:`\|g_{k+1}\|^2`. None means never.

    Notes
    -----
    O(d) a step and in memory. With exact steps it ends after at most d iterations on a quadratic. A direction that does not
    descend is replaced by steepest descent, and the trace says so.

    Examples
    --------
    >>> from mercer.optim import ConjugateGradient, Quadratic, minimize
    >>> f = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
    >>> minimize(f, [3.0, 2.0], method=ConjugateGradient(beta="fr"), step="optimal").nit
    2

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 5.2.
    """

    beta: str = "pr+"
    restart: float | None = 0.2

    _rules: ClassVar[Mapping[str, Rule]] = {"beta": OneOf("pr+", "fr"), "restart": Real(above=0) | Null()}
    curvature: ClassVar[float] = 0.1

    def direction(self, state: Vector | None, point: Point, objective: Objective) -> Direction:
        return steepest(point) if state is None else Direction(state, False)

    def update(self, state: Vector | None, old: Point, new: Point, direction: Vector) -> tuple[Vector, str]:
        overlap = float(new.jac @ old.jac)
        if self.beta == "pr+":
            beta = max(0.0, (new.grad_norm**2 - overlap) / old.grad_norm**2)
        elif self.restart is not None and abs(overlap) >= self.restart * new.grad_norm**2:
            beta = 0.0
        else:
            beta = (new.grad_norm / old.grad_norm) ** 2
        return -new.jac + beta * direction, ""


@dataclass(frozen=True)
class Newton(Method):
    r"""Newton's method, :math:`p_k = -(\nabla^2 f(x_k))^{-1} \nabla f(x_k)`. Its name is ``"newton"``; it needs `hess`.

    Notes
    -----
    O(d^3) a step. Where the Hessian H is not positive definite it falls back, and the trace says so: with
    :math:`H = Q \,\mathrm{diag}(\lambda)\, Q^T`, an eigenvalue that is negative is replaced by its absolute value, and one that
    is zero up to rounding by the largest, so that the step descends in every eigendirection and is short where nothing
    is known about the curvature. Where H itself is zero or not finite, the step is that of steepest descent.

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> minimize(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [3.0, 2.0], method="newton").nit
    1

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, sections 3.3 and 3.4.
    """

    needs_hess: ClassVar[bool] = True

    def direction(self, state: Any, point: Point, objective: Objective) -> Direction:
        hessian = objective.hessian(point.x)
        if not np.isfinite(hessian).all():
            return steepest(point, "Hessian not finite: steepest descent")
        try:
            factor = cho_factor(hessian, lower=True, check_finite=False)
        except LinAlgError:
            return _newton_by_eigenvalues(hessian, point)
        pivots = np.diagonal(factor[0])
        if (pivots.min() / pivots.max()) ** 2 <= len(pivots) * _EPS:
            return _newton_by_eigenvalues(hessian, point)
        return Direction(-cho_solve(factor, point.jac, check_finite=False), True)


def _newton_by_eigenvalues(hessian: Vector, point: Point) -> Direction:
    """Newton's direction for a Hessian that is not positive definite."""
    values, vectors = eigh(hessian, check_finite=False)
    sizes = np.abs(values)
    largest = float(sizes.max())
    if largest == 0:
        return steepest(point, "Hessian zero: steepest descent")
    is_zero = sizes <= len(sizes) * _EPS * largest
    is_negative = (values < 0) & ~is_zero
    kind = "indefinite" if is_negative.any() else "singular"
    n_replaced = int(is_zero.sum() + is_negative.sum())
    sizes[is_zero] = largest
    vector: Vector = -vectors @ ((vectors.T @ point.jac) / sizes)
    return Direction(vector, True, f"Hessian {kind}: {n_replaced} of {len(sizes)} eigenvalues replaced")
