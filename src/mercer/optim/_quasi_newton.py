"""Quasi-Newton methods: the inverse Hessian M learnt from the gradients on the way, such that M gamma = delta.

delta = x_{k+1} - x_k and gamma = grad f(x_{k+1}) - grad f(x_k), in the words of the quasi-Newton condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import LbfgsInvHessProduct

from mercer._params import Bool, Integer, Rule
from mercer.optim._coordinate import CoordinateDescent
from mercer.optim._directions import ConjugateGradient, Direction, GradientDescent, Method, Newton, steepest
from mercer.optim._functions import Objective, Point
from mercer.optim._settings import named
from mercer.optim._trace import Vector

_NEGLIGIBLE = 1e-10  # a curvature this small, relative to the lengths of its vectors, carries no information
_LEFT_OUT = "update left out: no positive curvature along the step"


def _has_curvature(delta: Vector, gamma: Vector) -> bool:
    return float(delta @ gamma) > _NEGLIGIBLE * float(np.linalg.norm(delta)) * float(np.linalg.norm(gamma))


class _InverseMatrix(Method):
    """A method whose state is M as a matrix, or None for the identity before the first update."""

    def direction(self, state: Vector | None, point: Point, objective: Objective) -> Direction:
        return steepest(point) if state is None else Direction(-(state @ point.jac), True)

    def inverse_hessian(self, state: Any) -> Any:
        return state


@dataclass(frozen=True)
class Broyden(_InverseMatrix):
    r"""Broyden's rank-1 correction of the inverse Hessian. Its name is ``"broyden"``.

    .. math:: M_{k+1} = M_k + \frac{(\delta_k - M_k \gamma_k)(\delta_k - M_k \gamma_k)^T}{(\delta_k - M_k \gamma_k)^T \gamma_k},
              \qquad M_0 = I, \qquad p_k = -M_k \nabla f(x_k)

    Notes
    -----
    O(d^2) a step and in memory. Also known as the symmetric rank-1 update (SR1). M need not stay positive definite: where
    its direction does not descend, the method starts again from the identity, and where the denominator is negligible the
    update is left out; the trace says so.

    Examples
    --------
    >>> from mercer.optim import Quadratic, minimize
    >>> result = minimize(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [3.0, 2.0], method="broyden", step="optimal")
    >>> result.nit, result.hess_inv.round(3)
    (2, array([[0.667, 0.167],
           [0.167, 0.167]]))

    References
    ----------
    C. Broyden, Quasi-Newton methods and their application to function minimisation, Mathematics of Computation 21 (1967).
    """

    def update(self, state: Vector | None, old: Point, new: Point, direction: Vector) -> tuple[Vector | None, str]:
        delta, gamma = new.x - old.x, new.jac - old.jac
        inverse = np.eye(len(delta)) if state is None else state
        residual = delta - inverse @ gamma
        size = float(np.linalg.norm(residual))
        if size <= 1e-12 * float(np.linalg.norm(delta)):
            return inverse, ""  # the condition holds already
        denominator = float(residual @ gamma)
        if abs(denominator) <= _NEGLIGIBLE * size * float(np.linalg.norm(gamma)):
            return state, "update left out: its denominator is negligible"
        return inverse + np.outer(residual, residual / denominator), ""


@dataclass(frozen=True)
class BFGS(_InverseMatrix):
    r"""The method of Broyden, Fletcher, Goldfarb and Shanno, as an update of the inverse Hessian. Its name is ``"bfgs"``.

    .. math:: M_{k+1} = (I - \rho_k \delta_k \gamma_k^T)\, M_k\, (I - \rho_k \gamma_k \delta_k^T) + \rho_k \delta_k \delta_k^T,
              \qquad \rho_k = 1 / \langle \gamma_k, \delta_k \rangle, \qquad p_k = -M_k \nabla f(x_k)

    Parameters
    ----------
    scale : bool, default=True
        Whether :math:`M_0`, the identity, is multiplied by :math:`\langle \gamma_0, \delta_0 \rangle / \|\gamma_0\|^2` before
        the first update, so that it has the size of the inverse Hessian.

    Notes
    -----
    O(d^2) a step and in memory. M stays positive definite: an update with :math:`\langle \gamma_k, \delta_k \rangle \le 0`,
    which Wolfe's conditions exclude, is left out, and the trace says so.

    Examples
    --------
    >>> from scipy.optimize import rosen, rosen_der
    >>> from mercer.optim import minimize
    >>> minimize(rosen, [-1.2, 1.0], rosen_der, method="bfgs").x.round(6)
    array([1., 1.])

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 6.1.
    """

    scale: bool = True

    _rules: ClassVar[Mapping[str, Rule]] = {"scale": Bool()}

    def update(self, state: Vector | None, old: Point, new: Point, direction: Vector) -> tuple[Vector | None, str]:
        delta, gamma = new.x - old.x, new.jac - old.jac
        if not _has_curvature(delta, gamma):
            return state, _LEFT_OUT
        curvature = float(delta @ gamma)
        inverse = state
        if inverse is None:
            inverse = np.eye(len(delta)) * (curvature / float(gamma @ gamma) if self.scale else 1.0)
        image = inverse @ gamma
        cross = np.outer(image, delta / curvature)
        weight = (1 + float(gamma @ image) / curvature) / curvature
        return inverse - cross - cross.T + weight * np.outer(delta, delta), ""


@dataclass(frozen=True)
class LBFGS(Method):
    r"""BFGS with limited memory: only the last m pairs :math:`(\delta_k, \gamma_k)` are kept. Its name is ``"lbfgs"``.

    Parameters
    ----------
    m : int, default=10
        The number of pairs.

    Notes
    -----
    O(m d) a step and in memory. M is never formed: its product with the gradient comes from the two-loop recursion, begun
    with :math:`\langle \gamma, \delta \rangle / \|\gamma\|^2` of the last pair. Pairs without positive curvature are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import rosen, rosen_der
    >>> from mercer.optim import LBFGS, minimize
    >>> minimize(rosen, np.zeros(100), rosen_der, method=LBFGS(m=5), tol=1e-5).success
    True

    References
    ----------
    D. Liu and J. Nocedal, On the limited memory BFGS method for large scale optimization, Math. Programming 45 (1989).
    """

    m: int = 10

    _rules: ClassVar[Mapping[str, Rule]] = {"m": Integer(1)}

    def init(self) -> tuple[tuple[Vector, Vector, float], ...]:
        return ()

    def direction(self, state: tuple[tuple[Vector, Vector, float], ...], point: Point, objective: Objective) -> Direction:
        if not state:
            return steepest(point)
        vector, shares = -point.jac, []
        for delta, gamma, curvature in reversed(state):
            shares.append(float(delta @ vector) / curvature)
            vector = vector - shares[-1] * gamma
        _, gamma, curvature = state[-1]
        vector *= curvature / float(gamma @ gamma)
        for (delta, gamma, curvature), share in zip(state, reversed(shares), strict=True):
            vector += (share - float(gamma @ vector) / curvature) * delta
        return Direction(vector, True)

    def update(self, state: Any, old: Point, new: Point, direction: Vector) -> tuple[Any, str]:
        delta, gamma = new.x - old.x, new.jac - old.jac
        if not _has_curvature(delta, gamma):
            return state, _LEFT_OUT
        return (*state, (delta, gamma, float(delta @ gamma)))[-self.m :], ""

    def inverse_hessian(self, state: Any) -> Any:
        if not state:
            return None
        return LbfgsInvHessProduct(np.array([delta for delta, _, _ in state]), np.array([gamma for _, gamma, _ in state]))


METHODS: Mapping[str, Callable[[], Method]] = {
    "gd": GradientDescent,
    "cg": ConjugateGradient,
    "newton": Newton,
    "broyden": Broyden,
    "bfgs": BFGS,
    "lbfgs": LBFGS,
    "coordinate": CoordinateDescent,
}


def as_method(value: Any) -> Method:
    """A method by its name or by itself."""
    return named("minimize", "method", value, Method, METHODS)
