"""Numerical derivatives with estimates of their errors: central differences, extrapolated (Richardson, Ridders)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._params import Function, InvalidParameterError, Real, check_value
from mercer.optim._settings import start_point
from mercer.optim._trace import Vector

_SHRINK = 1.4  # of the spacing, from line to line of the tableau
_N_LINES = 10
_SAFE = 2.0  # a tableau whose new corner is so much worse has left the digits behind


@dataclass(frozen=True)
class Derivative:
    """A numerical derivative.

    Attributes
    ----------
    value : array
    error : array of the same shape
        An estimate of the absolute error of each entry.
    nfev : int
        How often the function was called.

    Examples
    --------
    See :func:`gradient`.
    """

    value: Vector
    error: Vector
    nfev: int


def gradient(fun: Any, x: Any, *, spacing: float = 0.1) -> Derivative:
    r"""The gradient of a function of d numbers, by differences.

    .. math:: \partial_i f(x) = \lim_{h \to 0} \frac{f(x + h e_i) - f(x - h e_i)}{2h}

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives a number.
    x : array-like of shape (d,)
    spacing : float, default=0.1
        The first h, times max(1, abs(x_i)): a distance over which `fun` changes, not a small one.

    Returns
    -------
    Derivative
        Of shape (d,).

    Notes
    -----
    Differences at h, h / 1.4, ... are extrapolated to h = 0 until their digits run out: some ten to thirteen digits, and at
    most 20 d calls of `fun`. The estimate of the error is the smallest difference between neighbours in the tableau.

    Examples
    --------
    >>> from mercer.optim import gradient
    >>> def f(x):
    ...     return 3 * x[0] ** 2 + 2 * x[0] * x[1] * x[2] + 6 * x[2] + 5 * x[1] * x[2] + 9 * x[0] * x[2]
    >>> found = gradient(f, [1, 2, 3])
    >>> found.value.round(6).tolist(), bool(found.error.max() < 1e-9)
    ([45.0, 21.0, 29.0], True)

    References
    ----------
    C. Ridders, Accurate computation of F'(x) and F'(x) F''(x), Advances in Engineering Software 4 (1982).
    """
    calls = _Calls("gradient", fun, scalar=True)
    start, spacing = _checked("gradient", x, spacing)
    columns = [_slope(calls, start, axis, spacing) for axis in _axes(start)]
    return Derivative(np.array([v for v, _ in columns])[:, 0], np.array([e for _, e in columns])[:, 0], calls.n)


def jacobian(fun: Any, x: Any, *, spacing: float = 0.1) -> Derivative:
    r"""The Jacobian of a function of d numbers that gives m: entry (k, i) is :math:`\partial_i f_k(x)`.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives a vector.
    x : array-like of shape (d,)
    spacing : float, default=0.1
        See :func:`gradient`.

    Returns
    -------
    Derivative
        Of shape (m, d).

    Examples
    --------
    >>> from mercer.optim import jacobian
    >>> jacobian(lambda x: [x[0] * x[1], x[0] ** 2], [2, 3]).value.round(6).tolist()
    [[3.0, 2.0], [4.0, 0.0]]

    References
    ----------
    C. Ridders, Accurate computation of F'(x) and F'(x) F''(x), Advances in Engineering Software 4 (1982).
    """
    calls = _Calls("jacobian", fun, scalar=False)
    start, spacing = _checked("jacobian", x, spacing)
    columns = [_slope(calls, start, axis, spacing) for axis in _axes(start)]
    return Derivative(np.array([v for v, _ in columns]).T, np.array([e for _, e in columns]).T, calls.n)


def hessian(fun: Any, x: Any, *, spacing: float = 0.1) -> Derivative:
    r"""The Hessian of a function of d numbers, by second differences of its values.

    .. math:: \partial_i \partial_j f(x) = \lim_{h \to 0} \frac{f(x + h_i + h_j) - f(x + h_i - h_j) - f(x - h_i + h_j)
              + f(x - h_i - h_j)}{4 h^2}

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives a number.
    x : array-like of shape (d,)
    spacing : float, default=0.1
        See :func:`gradient`.

    Returns
    -------
    Derivative
        Of shape (d, d), symmetric.

    Notes
    -----
    Some eight to ten digits, in at most 20 d^2 calls or so. Where the gradient is at hand, ``jacobian(jac, x)`` is cheaper
    and has more digits.

    Examples
    --------
    >>> from mercer.optim import hessian
    >>> found = hessian(lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1], [1, 1])
    >>> (found.value.round(6) + 0.0).tolist()
    [[2.0, -2.0], [-2.0, 8.0]]

    References
    ----------
    C. Ridders, Accurate computation of F'(x) and F'(x) F''(x), Advances in Engineering Software 4 (1982).
    """
    calls = _Calls("hessian", fun, scalar=True)
    start, spacing = _checked("hessian", x, spacing)
    d, axes, centre = len(start), _axes(start), calls(start)
    value, error = np.empty((d, d)), np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            found = _curvature(calls, start, axes[i], axes[j], centre, spacing, is_square=i == j)
            value[i, j], error[i, j] = found[0][0], found[1][0]
            value[j, i], error[j, i] = value[i, j], error[i, j]
    return Derivative(value, error, calls.n)


class _Calls:
    """The user's function as a vector of float64, counted."""

    def __init__(self, owner: str, fun: Any, *, scalar: bool) -> None:
        self.owner, self.fun, self.scalar, self.n = owner, check_value(owner, "fun", fun, Function()), scalar, 0

    def __call__(self, x: Vector) -> Vector:
        self.n += 1
        found = np.atleast_1d(np.asarray(self.fun(x.copy()), dtype=np.float64))
        if found.ndim != 1 or (self.scalar and len(found) != 1):
            wanted = "a number" if self.scalar else "a vector"
            raise InvalidParameterError(f"{self.owner}: fun gave an array of shape {found.shape}; it must give {wanted}.")
        return found


def _checked(owner: str, x: Any, spacing: float) -> tuple[Vector, float]:
    return start_point(owner, x), check_value(owner, "spacing", spacing, Real(above=0))


def _axes(x: Vector) -> list[Vector]:
    """The unit vectors, each as long as its coordinate where that is larger than 1."""
    return list(np.diag(np.maximum(1.0, np.abs(x))))


def _slope(calls: _Calls, x: Vector, axis: Vector, spacing: float) -> tuple[Vector, Vector]:
    length = float(axis.max())

    def difference(h: float) -> Vector:
        high, low = x + h * axis, x - h * axis
        width = float((high - low).max())  # what is left of 2 h in floats
        return np.asarray((calls(high) - calls(low)) / width)

    value, error = _extrapolated(difference, spacing)
    return value, np.maximum(error, np.finfo(np.float64).eps * np.abs(value) / length)


def _curvature(
    calls: _Calls, x: Vector, left: Vector, right: Vector, centre: Vector, spacing: float, *, is_square: bool
) -> tuple[Vector, Vector]:
    lengths = float(left.max()) * float(right.max())

    def difference(h: float) -> Vector:
        if is_square:
            return np.asarray((calls(x + h * left) - 2 * centre + calls(x - h * left)) / (h * h * lengths))
        a, b = h * left, h * right
        corners = calls(x + a + b) - calls(x + a - b) - calls(x - a + b) + calls(x - a - b)
        return np.asarray(corners / (4 * h * h * lengths))

    return _extrapolated(difference, spacing)


def _extrapolated(difference: Callable[[float], Vector], spacing: float) -> tuple[Vector, Vector]:
    """Neville's tableau in h^2, whose columns kill one power after the other; the entry whose neighbours agree best."""
    h, before = spacing, [difference(spacing)]
    best, error = before[0], np.full_like(before[0], np.inf)
    for line in range(1, _N_LINES):
        h /= _SHRINK
        row, factor = [difference(h)], 1.0
        for column in range(line):
            factor *= _SHRINK**2
            row.append((factor * row[column] - before[column]) / (factor - 1))
            gap = np.maximum(np.abs(row[-1] - row[column]), np.abs(row[-1] - before[column]))
            is_better = gap <= error
            best, error = np.where(is_better, row[-1], best), np.where(is_better, gap, error)
        if (np.abs(row[-1] - before[-1]) >= _SAFE * error).all() and line > 3:
            break
        before = row
    return best, error


@dataclass(frozen=True)
class GradientCheck:
    """What :func:`check_gradient` found.

    Attributes
    ----------
    is_right : bool
        Whether every entry agrees within the tolerance, or within what differences can tell.
    worst : int
        The entry that differs most.
    given, measured : array of shape (d,)
    error : array of shape (d,)
        Of the measured entries.
    """

    is_right: bool
    worst: int
    given: Vector
    measured: Vector
    error: Vector

    def __bool__(self) -> bool:
        return self.is_right


def check_gradient(fun: Any, jac: Any, x: Any, *, tol: float = 1e-6, spacing: float = 0.1) -> GradientCheck:
    """Compare a gradient with differences of the function.

    Parameters
    ----------
    fun, jac : callable
    x : array-like of shape (d,)
        Not a special point, where a wrong gradient may happen to be right.
    tol : float, default=1e-6
        Relative to the largest entry, or to 1.
    spacing : float, default=0.1
        See :func:`gradient`.

    Returns
    -------
    GradientCheck
        True where the gradient is right.

    Examples
    --------
    >>> from mercer.optim import check_gradient
    >>> bool(check_gradient(lambda x: x[0] ** 2 * x[1], lambda x: [2 * x[0] * x[1], x[0] ** 2], [1.0, 2.0]))
    True
    >>> check_gradient(lambda x: x[0] ** 2 * x[1], lambda x: [2 * x[0] * x[1], x[0]], [3.0, 2.0]).worst
    1

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 8.1.
    """
    check_value("check_gradient", "jac", jac, Function())
    tol = check_value("check_gradient", "tol", tol, Real(above=0))
    found = gradient(fun, x, spacing=spacing)
    given = np.asarray(jac(start_point("check_gradient", x)), dtype=np.float64)
    if given.shape != found.value.shape:
        raise InvalidParameterError(f"check_gradient: jac gave shape {given.shape}; it must be {found.value.shape}, like x.")
    allowed = tol * max(1.0, float(np.abs(found.value).max())) + 10 * found.error
    excess = np.abs(given - found.value) - allowed
    excess[np.isnan(excess)] = np.inf
    return GradientCheck(bool((excess <= 0).all()), int(excess.argmax()), given, found.value, found.error)
