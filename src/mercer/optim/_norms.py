"""Norms of vectors, and their duals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._params import Infinity, Real, check_value

_EXPONENT = Real(least=1) | Infinity()


def norm(x: Any, p: float = 2.0) -> float:
    r"""The l_p norm of a vector.

    .. math:: \|x\|_p = \Big( \sum_i |x_i|^p \Big)^{1/p}, \qquad \|x\|_\infty = \max_i |x_i|

    Parameters
    ----------
    x : array-like of shape (d,)
    p : float, default=2.0
        At least 1, or infinity: below 1 the triangle inequality fails, and there is no norm.

    Returns
    -------
    norm : float

    Examples
    --------
    >>> from mercer.optim import norm
    >>> norm([3, -4], 1), norm([3, -4]), norm([3, -4], float("inf"))
    (7.0, 5.0, 4.0)

    References
    ----------
    S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, appendix A.1.
    """
    p = check_value("norm", "p", p, _EXPONENT)
    sizes = np.abs(np.ravel(np.asarray(x, dtype=np.float64)))
    largest = float(sizes.max(initial=0.0))
    if p == math.inf or largest == 0 or not math.isfinite(largest):
        return largest
    # Of numbers up to 1: powers of others leave the range of floats.
    return largest * float(((sizes / largest) ** p).sum() ** (1 / p))


def dual_norm(x: Any, p: float = 2.0) -> float:
    r"""The largest inner product with a vector of l_p norm one: the l_q norm with 1/p + 1/q = 1.

    Parameters
    ----------
    x : array-like of shape (d,)
    p : float, default=2.0

    Returns
    -------
    norm : float

    Examples
    --------
    >>> from mercer.optim import dual_norm
    >>> dual_norm([3, -4], 1)
    4.0

    References
    ----------
    S. Boyd and L. Vandenberghe, Convex Optimization, Cambridge 2004, appendix A.1.6.
    """
    p = check_value("dual_norm", "p", p, _EXPONENT)
    if p == 1:
        return norm(x, math.inf)
    return norm(x, 1.0 if p == math.inf else p / (p - 1))
