"""Functions with known minima, shared by the tests of this family."""

from __future__ import annotations

import numpy as np
from scipy.optimize import rosen, rosen_der, rosen_hess

from mercer.optim import Quadratic

METHODS = ("gd", "cg", "newton", "broyden", "bfgs", "lbfgs")
SEARCHES = ("optimal", "armijo", "wolfe")


class Smooth:
    """A function with its derivatives, a start, and the least gradient norm that is fair to ask for."""

    def __init__(self, fun, jac, hess, start, minimum=None):
        self.fun, self.jac, self.hess = fun, jac, hess
        self.start = np.array(start, dtype=float)
        self.minimum = minimum


def worked():
    """The worked example f(x) = x1^2 + 4 x2^2 - 2 x1 x2, as plain functions."""
    return Smooth(
        lambda x: x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1],
        lambda x: np.array([2 * x[0] - 2 * x[1], 8 * x[1] - 2 * x[0]]),
        lambda x: np.array([[2.0, -2.0], [-2.0, 8.0]]),
        [3.0, 2.0],
        np.zeros(2),
    )


def many_minima():
    """The worked example f(x) = 4 + sum(x_i^2 - 2 cos(2 pi x_i))."""
    return Smooth(
        lambda x: 4 + np.sum(x**2 - 2 * np.cos(2 * np.pi * x)),
        lambda x: 2 * x + 4 * np.pi * np.sin(2 * np.pi * x),
        lambda x: np.diag(2 + 8 * np.pi**2 * np.cos(2 * np.pi * x)),
        [0.3, -0.2],
        np.zeros(2),
    )


def rosenbrock(d=2):
    return Smooth(rosen, rosen_der, rosen_hess, [-1.2, 1.0] * (d // 2), np.ones(d))


def logistic(seed=0, n=120, d=5):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    y = np.where(X @ random.randn(d) + random.randn(n) > 0, 1.0, -1.0)

    def probability_of_error(w):
        return 1 / (1 + np.exp(y * (X @ w)))

    def hess(w):
        p = probability_of_error(w)
        return (X.T * (p * (1 - p))) @ X / n + 0.05 * np.eye(d)

    return Smooth(
        lambda w: np.mean(np.logaddexp(0, -y * (X @ w))) + 0.025 * w @ w,
        lambda w: -(X.T @ (y * probability_of_error(w))) / n + 0.05 * w,
        hess,
        np.zeros(d),
    )


def random_quadratic(seed=0, d=6, condition=30.0):
    random = np.random.RandomState(seed)
    basis, _ = np.linalg.qr(random.randn(d, d))
    A = basis @ np.diag(np.geomspace(1, condition, d)) @ basis.T
    return Quadratic((A + A.T) / 2, random.randn(d), 1.5)
