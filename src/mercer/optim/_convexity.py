"""Whether a function is convex over a box, how strongly, and what its critical points are: tests by points, no proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mercer._params import Function, Integer, InvalidParameterError, Null, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer.optim._calculus import gradient, hessian
from mercer.optim._settings import start_point
from mercer.optim._trace import Vector

_NOISE = 1e-10  # of values: what rounding inside a function may feign
_FEW = 20  # points at which numerical Hessians are taken


@dataclass(frozen=True)
class Counterexample:
    """Where a function is not convex.

    Attributes
    ----------
    test : {"chord", "tangent", "hessian"}
        The test that failed: the function lies above a chord, below a tangent, or curves downwards.
    points : array
        The two ends of the chord; the point of the tangent and the point below it; or the point and the direction of curvature.
    amount : float
        By how much: of values, or the curvature.
    """

    test: Literal["chord", "tangent", "hessian"]
    points: Vector
    amount: float


@dataclass(frozen=True, repr=False)
class ConvexityTest:
    """What :func:`is_convex` found; true unless there is a counter-example.

    Attributes
    ----------
    counterexample : Counterexample or None
    n_tests : int
        How many chords, tangents and Hessians were looked at.
    """

    counterexample: Counterexample | None
    n_tests: int

    def __bool__(self) -> bool:
        return self.counterexample is None

    def __repr__(self) -> str:
        found = self.counterexample
        if found is None:
            return f"ConvexityTest: none of {self.n_tests} tests failed, which is no proof"
        words = {
            "chord": "above the chord between",
            "tangent": "below the tangent, from and at",
            "hessian": "concave, at and along",
        }
        return f"ConvexityTest: not convex: {words[found.test]} {found.points.tolist()} by {found.amount:.3g}"


def is_convex(
    fun: Any,
    low: Any,
    high: Any,
    *,
    jac: Any = None,
    hess: Any = None,
    n_points: int = 500,
    random_state: Any = 0,
) -> ConvexityTest:
    r"""Test whether a function is convex over a box, by chords, tangents and Hessians at random points.

    .. math:: f(t x + (1-t) y) \le t f(x) + (1-t) f(y), \quad f(y) \ge f(x) + \langle \nabla f(x), y - x \rangle, \quad
              \nabla^2 f(x) \succeq 0

    Parameters
    ----------
    fun : callable
    low, high : array-like of shape (d,)
        The ends of the box.
    jac, hess : callable or None, default=None
        Derivatives; numerical ones stand in, at a few points.
    n_points : int, default=500
        How many chords, half of which are long and half short.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ConvexityTest
        False, with a counter-example, or true: no test failed. That is no proof.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim import is_convex
    >>> bool(is_convex(lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1], [-3, -3], [3, 3]))
    True
    >>> found = is_convex(lambda x: 4 + np.sum(x**2 - 2 * np.cos(2 * np.pi * x)), [-2, -2], [2, 2])
    >>> bool(found), found.counterexample.test
    (False, 'chord')

    References
    ----------
    S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, section 3.1.
    """
    owner = "is_convex"
    box = _Box.of(owner, low, high)
    fun, jac, hess = _functions(owner, fun, jac, hess)
    n_points = check_value(owner, "n_points", n_points, Integer(1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    n_tests = 0
    for k in range(n_points):
        n_tests += 1
        if found := _chord(fun, box, random, is_short=bool(k % 2)):
            return ConvexityTest(found, n_tests)
    for _ in range(n_points if jac is not None else _FEW):
        n_tests += 1
        if found := _tangent(fun, jac, box, random):
            return ConvexityTest(found, n_tests)
    for _ in range(n_points if hess is not None else _FEW):
        n_tests += 1
        if found := _curved(fun, hess, box, random):
            return ConvexityTest(found, n_tests)
    return ConvexityTest(None, n_tests)


@dataclass(frozen=True)
class _Box:
    low: Vector
    high: Vector

    @classmethod
    def of(cls, owner: str, low: Any, high: Any) -> _Box:
        box = cls(start_point(owner, low), start_point(owner, high))
        if box.low.shape != box.high.shape or not (box.low < box.high).all():
            raise InvalidParameterError(f"{owner}: low={low!r} must lie below high={high!r} in every coordinate.")
        return box

    def draw(self, random: np.random.RandomState) -> Vector:
        return self.low + (self.high - self.low) * random.uniform(size=len(self.low))


def _functions(owner: str, fun: Any, jac: Any, hess: Any) -> tuple[Any, Any, Any]:
    check_value(owner, "fun", fun, Function())
    jac = getattr(fun, "jac", None) if jac is None else jac
    hess = getattr(fun, "hess", None) if hess is None else hess
    for name, given in (("jac", jac), ("hess", hess)):
        check_value(owner, name, given, Function() | Null())
    return (lambda x: float(fun(x))), jac, hess


def _chord(fun: Any, box: _Box, random: np.random.RandomState, *, is_short: bool) -> Counterexample | None:
    x, y, t = box.draw(random), box.draw(random), random.uniform()
    if is_short:
        y = x + 0.1 * (y - x)
    ends = fun(x), fun(y)
    above = fun(t * x + (1 - t) * y) - (t * ends[0] + (1 - t) * ends[1])
    if above > _NOISE * max(1.0, *map(abs, ends)):
        return Counterexample("chord", np.stack([x, y]), above)
    return None


def _tangent(fun: Any, jac: Any, box: _Box, random: np.random.RandomState) -> Counterexample | None:
    x, y = box.draw(random), box.draw(random)
    values = fun(x), fun(y)
    if jac is not None:
        slope, error = np.asarray(jac(x), dtype=np.float64), np.zeros_like(x)
    else:
        found = gradient(fun, x)
        slope, error = found.value, found.error
    below = values[0] + float(slope @ (y - x)) - values[1]
    if below > _NOISE * max(1.0, *map(abs, values)) + 10 * float(error @ np.abs(y - x)):
        return Counterexample("tangent", np.stack([x, y]), below)
    return None


def _curved(fun: Any, hess: Any, box: _Box, random: np.random.RandomState) -> Counterexample | None:
    x = box.draw(random)
    matrix, error = _matrix(fun, hess, x)
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -(1e-9 * max(1.0, float(np.abs(values).max())) + 10 * error):
        return Counterexample("hessian", np.stack([x, vectors[:, 0]]), float(values[0]))
    return None


def _matrix(fun: Any, hess: Any, x: Vector) -> tuple[Vector, float]:
    """The Hessian, and what its eigenvalues may be off by."""
    if hess is not None:
        matrix = np.asarray(hess(x), dtype=np.float64)
        return (matrix + matrix.T) / 2, 0.0
    found = hessian(fun, x)
    return found.value, float(np.linalg.norm(found.error))


@dataclass(frozen=True)
class StrongConvexity:
    """What :func:`strong_convexity` saw over its points.

    Attributes
    ----------
    modulus : float
        mu: the smallest eigenvalue of a Hessian. The true modulus of the box is no larger; not above zero means not strongly
        convex.
    smoothness : float
        L: the largest. The true one is no smaller.
    condition : float
        L / mu, by which descent slows down; infinite where mu is not positive.
    """

    modulus: float
    smoothness: float

    @property
    def condition(self) -> float:
        return self.smoothness / self.modulus if self.modulus > 0 else float("inf")


def strong_convexity(
    fun: Any, low: Any, high: Any, *, hess: Any = None, n_points: int = 100, random_state: Any = 0
) -> StrongConvexity:
    r"""The strong convexity and the smoothness of a function over a box, as far as the Hessians at random points show.

    .. math:: \mu I \preceq \nabla^2 f(x) \preceq L I

    Parameters
    ----------
    fun : callable
    low, high : array-like of shape (d,)
    hess : callable or None, default=None
        None takes `fun`'s own or numerical Hessians.
    n_points : int, default=100
    random_state : int, RandomState or None, default=0

    Returns
    -------
    StrongConvexity

    Examples
    --------
    >>> from mercer.optim import strong_convexity
    >>> found = strong_convexity(lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1], [-1, -1], [1, 1])
    >>> round(found.modulus, 4), round(found.smoothness, 4)  # 5 -+ sqrt(13)
    (1.3944, 8.6056)

    References
    ----------
    S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, section 9.1.2.
    """
    owner = "strong_convexity"
    box = _Box.of(owner, low, high)
    fun, _, hess = _functions(owner, fun, None, hess)
    n_points = check_value(owner, "n_points", n_points, Integer(1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    spectra = [np.linalg.eigvalsh(_matrix(fun, hess, box.draw(random))[0]) for _ in range(n_points)]
    return StrongConvexity(float(min(each[0] for each in spectra)), float(max(each[-1] for each in spectra)))


Kind = Literal["minimum", "maximum", "saddle", "undecided"]


@dataclass(frozen=True)
class CriticalPoint:
    """What :func:`classify_critical_point` found.

    Attributes
    ----------
    kind : {"minimum", "maximum", "saddle", "undecided"}
        "saddle" is neither minimum nor maximum: the function rises in one direction and falls in another.
    eigenvalues : array of shape (d,)
        Of the Hessian, rising.
    grad_norm : float
    note : str
    """

    kind: Kind
    eigenvalues: Vector
    grad_norm: float
    note: str


def classify_critical_point(fun: Any, x: Any, *, jac: Any = None, hess: Any = None, tol: float = 1e-5) -> CriticalPoint:
    """Say whether a critical point is a minimum, a maximum, or neither, by the Hessian and, where that is singular, by values.

    Parameters
    ----------
    fun : callable
    x : array-like of shape (d,)
        The gradient must vanish there.
    jac, hess : callable or None, default=None
        None takes `fun`'s own or numerical derivatives.
    tol : float, default=1e-5
        Eigenvalues this small beside the largest (or 1) count as zero, and so does a gradient.

    Returns
    -------
    CriticalPoint

    Notes
    -----
    A positive definite Hessian is sufficient for a minimum; a positive semi-definite one is necessary, and not sufficient:
    along directions without curvature the function's values decide, where they rise on one side and fall on the other.

    Examples
    --------
    >>> from mercer.optim import classify_critical_point
    >>> classify_critical_point(lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1], [0, 0]).kind
    'minimum'
    >>> classify_critical_point(lambda x: x[0] ** 3 / 2 - 1, [0]).kind
    'saddle'
    >>> classify_critical_point(lambda x: x[0] ** 4, [0]).kind
    'undecided'

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 2.1.
    """
    owner = "classify_critical_point"
    start = start_point(owner, x)
    tol = check_value(owner, "tol", tol, Real(above=0))
    fun, jac, hess = _functions(owner, fun, jac, hess)
    slope = np.asarray(jac(start), dtype=np.float64) if jac is not None else gradient(fun, start).value
    matrix, error = _matrix(fun, hess, start)
    values, vectors = np.linalg.eigh(matrix)
    scale = max(1.0, float(np.abs(values).max()))
    norm = float(np.linalg.norm(slope))
    if norm > tol * scale:
        raise InvalidParameterError(f"{owner}: x={x!r} is no critical point; the gradient there has norm {norm:.3g}.")
    zero = tol * scale + error
    kind: Kind
    if (values > zero).all():
        kind, note = "minimum", "the Hessian is positive definite"
    elif (values < -zero).all():
        kind, note = "maximum", "the Hessian is negative definite"
    elif values[0] < -zero and values[-1] > zero:
        kind, note = "saddle", "the Hessian has eigenvalues of both signs"
    else:
        kind, note = _by_values(fun, start, values, vectors, zero)
    return CriticalPoint(kind, values, norm, note)


def _by_values(fun: Any, x: Vector, values: Vector, vectors: Vector, zero: float) -> tuple[Kind, str]:
    """Where the Hessian is singular: looks for rises and falls along directions without curvature."""
    centre = fun(x)
    signs = {int(np.sign(value)) for value in values if abs(value) > zero}
    for direction in vectors[:, np.abs(values) <= zero].T:
        for side in (direction, -direction):
            steps = 0.1 * 0.5 ** np.arange(5)
            changes = np.array([fun(x + step * side) - centre for step in steps])
            if (np.abs(changes) > 100 * np.finfo(np.float64).eps * max(1.0, abs(centre))).all():
                signs |= (
                    {int(sign) for sign in np.unique(np.sign(changes))} if abs(np.sign(changes).sum()) == len(steps) else set()
                )
    if {1, -1} <= signs:
        return "saddle", "the Hessian is singular; values rise in one direction and fall in another"
    return "undecided", "the Hessian is singular and values near by do not decide"
