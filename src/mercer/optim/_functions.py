"""Functions with their derivatives: what the user gives, counted, and the quadratic form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._params import Function, InvalidParameterError, check_value
from mercer.optim._trace import Vector

# Truncation error h^2 and rounding error eps / h of a central difference balance here.
_DIFFERENCE = float(np.finfo(np.float64).eps) ** (1 / 3)


class Quadratic:
    r"""The quadratic form :math:`f(u) = \frac12 \langle A u, u \rangle - \langle b, u \rangle + c`.

    Calling it gives the value. `minimize` takes its derivatives from it and, with the step rule ``"optimal"``, its closed-form
    step along a direction p, :math:`-\langle \nabla f(u), p \rangle / \langle A p, p \rangle`, which for
    :math:`p = -\nabla f(u)` is :math:`\|g\|^2 / \langle A g, g \rangle`.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric. Where it is not positive semi-definite the form has no minimum, and a descent will say so.
    b : array-like of shape (d,) or None, default=None
        None means zero.
    c : float, default=0.0

    Notes
    -----
    A value, a gradient and a step cost O(d^2) each.

    Examples
    --------
    f(x) = x1^2 + 4 x2^2 - 2 x1 x2 is one half of its Hessian's form:

    >>> from mercer.optim import Quadratic
    >>> f = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
    >>> f([3.0, 2.0]), f.jac([3.0, 2.0])
    (13.0, array([ 2., 10.]))

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 3.3.
    """

    def __init__(self, A: Any, b: Any = None, c: float = 0.0) -> None:
        self.A = np.array(A, dtype=np.float64)
        if self.A.ndim != 2 or self.A.shape[0] != self.A.shape[1] or self.A.size == 0:
            raise ValueError(f"Quadratic: A of shape {self.A.shape} is not valid; it must be a square matrix.")
        self.b = np.zeros(len(self.A)) if b is None else np.array(b, dtype=np.float64)
        if self.b.shape != (len(self.A),):
            raise ValueError(f"Quadratic: b of shape {self.b.shape} is not valid; it must be of shape ({len(self.A)},) like A.")
        self.c = float(c)
        if not (np.isfinite(self.A).all() and np.isfinite(self.b).all() and np.isfinite(self.c)):
            raise ValueError("Quadratic: A, b and c must be finite numbers.")
        if not np.allclose(self.A, self.A.T, rtol=1e-10, atol=1e-14 * np.abs(self.A).max()):
            raise ValueError("Quadratic: A is not symmetric; (A + A.T) / 2 gives the same function.")

    def __call__(self, x: Any) -> float:
        u = np.asarray(x, dtype=np.float64)
        return float(u @ (0.5 * (self.A @ u) - self.b) + self.c)

    def jac(self, x: Any) -> Vector:
        """The gradient A x - b."""
        gradient: Vector = self.A @ np.asarray(x, dtype=np.float64) - self.b
        return gradient

    def hess(self, x: Any) -> Vector:
        """The Hessian A, the same everywhere."""
        return self.A

    def exact_step(self, x: Any, direction: Any) -> float:
        """The t > 0 that minimises f(x + t direction); infinite where f falls along it for ever."""
        p = np.asarray(direction, dtype=np.float64)
        curvature = float(p @ (self.A @ p))
        slope = float(self.jac(x) @ p)
        if slope >= 0:
            return 0.0
        return -slope / curvature if curvature > 0 else np.inf

    def __repr__(self) -> str:
        return f"Quadratic(d={len(self.A)})"


@dataclass(frozen=True)
class Point:
    """A point with the value and the gradient there."""

    x: Vector
    fun: float
    jac: Vector
    grad_norm: float

    @property
    def is_finite(self) -> bool:
        # A finite norm is the norm of a finite gradient.
        return bool(np.isfinite(self.fun) and np.isfinite(self.grad_norm))


class Objective:
    """The user's function and derivatives, with shapes checked and calls counted.

    Values that overflow become infinite and gradients that do become NaN: the driver reports them, nothing is raised.
    """

    def __init__(self, fun: Any, jac: Any, hess: Any) -> None:
        self.fun: Callable[[Vector], Any] = check_value("minimize", "fun", fun, Function())
        jac = getattr(fun, "jac", None) if jac is None else jac
        self.hess = getattr(fun, "hess", None) if hess is None else hess
        self.exact_step: Callable[[Vector, Vector], float] | None = getattr(fun, "exact_step", None)
        self.gives_both = jac is True
        self.jac: Callable[[Vector], Any] | None = None if jac is True else jac
        for name, value in (("jac", self.jac), ("hess", self.hess)):
            if value is not None and not callable(value):
                also = " or True (fun gives the value and the gradient)" if name == "jac" else ""
                raise InvalidParameterError(f"minimize: {name}={value!r} is not valid; it must be a callable or None{also}.")
        self.nfev = self.njev = self.nhev = 0
        self._both: tuple[bytes, Vector] | None = None  # the last gradient that came with a value, and where

    def value(self, x: Vector) -> float:
        self.nfev += 1
        try:
            result = self.fun(x.copy())  # a function that works in place must not move the point
        except OverflowError:  # Python's own numbers raise where NumPy's become infinite
            return np.inf
        if self.gives_both:
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise ValueError("minimize: with jac=True, fun must return a pair: the value and the gradient.")
            result, gradient = result
            self.njev += 1
            self._both = x.tobytes(), _vector(gradient, len(x), "the gradient that fun returned")
        return _scalar(result)

    def gradient(self, x: Vector) -> Vector:
        """A vector of its own: functions that reuse one buffer do no harm."""
        if self.gives_both:
            if (known := self._gradient_at(x)) is None:
                self.value(x)
                known = self._gradient_at(x)
            return np.full(len(x), np.nan) if known is None else known
        self.njev += 1
        if self.jac is None:
            return self._central_differences(x)
        try:
            return _vector(self.jac(x.copy()), len(x), "jac")
        except OverflowError:
            return np.full(len(x), np.nan)

    def _gradient_at(self, x: Vector) -> Vector | None:
        return self._both[1] if self._both is not None and self._both[0] == x.tobytes() else None

    def hessian(self, x: Vector) -> Vector:
        assert self.hess is not None
        self.nhev += 1
        try:
            hessian = np.array(self.hess(x.copy()), dtype=np.float64)
        except OverflowError:
            return np.full((len(x), len(x)), np.nan)
        if hessian.shape != (len(x), len(x)):
            raise ValueError(
                f"minimize: hess returned an array of shape {hessian.shape}; it must be of shape ({len(x)}, {len(x)})."
            )
        return hessian

    def point(self, x: Vector) -> Point:
        fun, jac = self.value(x), self.gradient(x)
        return Point(x, fun, jac, float(np.linalg.norm(jac)))

    def _central_differences(self, x: Vector) -> Vector:
        gradient, shifted = np.empty_like(x), x.copy()
        for i, at in enumerate(x):
            h = _DIFFERENCE * max(1.0, abs(at))
            high, low = at + h, at - h
            shifted[i] = high
            above = self.value(shifted)
            shifted[i] = low
            gradient[i] = (above - self.value(shifted)) / (high - low)
            shifted[i] = at
        return gradient


def _scalar(value: Any) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"minimize: fun returned an object of shape {array.shape} and dtype {array.dtype}; it must return a real number."
        )
    return float(array.reshape(()))


def _vector(value: Any, d: int, what: str) -> Vector:
    vector = np.array(value, dtype=np.float64)
    if vector.shape != (d,):
        raise ValueError(f"minimize: {what} has shape {vector.shape}; it must be of shape ({d},) like x0.")
    return vector
