"""Descent methods as the textbook has them: one line a formula, matrices inverted where the formula says so."""

from __future__ import annotations

import numpy as np


def gradient_path(gradient, x, steps):
    """x_{k+1} = x_k - rho_k grad f(x_k)."""
    path = [np.array(x, dtype=float)]
    for step in steps:
        path.append(path[-1] - step * gradient(path[-1]))
    return np.array(path)


def newton_path(gradient, hessian, x, n_steps):
    """x_{k+1} = x_k - H(x_k)^{-1} grad f(x_k)."""
    path = [np.array(x, dtype=float)]
    for _ in range(n_steps):
        path.append(path[-1] - np.linalg.inv(hessian(path[-1])) @ gradient(path[-1]))
    return np.array(path)


def exact_step(A, gradient, direction):
    """argmin_t of 1/2 <A (u + t p), u + t p> - <b, u + t p>."""
    return -(gradient @ direction) / (direction @ A @ direction)


def quasi_newton_path(A, b, x, update, n_steps):
    """x_{k+1} = x_k - rho_k M_k grad f(x_k) with exact steps on a quadratic, M_0 = I; returns the path and the last M."""
    path, M = [np.array(x, dtype=float)], np.eye(len(x))
    for _ in range(n_steps):
        u = path[-1]
        g = A @ u - b
        p = -M @ g
        path.append(u + exact_step(A, g, p) * p)
        M = update(M, path[-1] - u, A @ path[-1] - b - g)
    return np.array(path), M


def rank_one(M, delta, gamma):
    """Broyden's correction."""
    r = delta - M @ gamma
    return M + np.outer(r, r) / (r @ gamma)


def bfgs_inverse(M, delta, gamma):
    """The BFGS update of the inverse, as a product."""
    rho, identity = 1 / (gamma @ delta), np.eye(len(delta))
    return (identity - rho * np.outer(delta, gamma)) @ M @ (identity - rho * np.outer(gamma, delta)) + rho * np.outer(
        delta, delta
    )


def linear_conjugate_gradients(A, b, x, n_steps):
    """Hestenes and Stiefel's method for A x = b."""
    path, r = [np.array(x, dtype=float)], b - A @ np.array(x, dtype=float)
    p = r
    for _ in range(n_steps):
        alpha = (r @ r) / (p @ A @ p)
        path.append(path[-1] + alpha * p)
        r_next = r - alpha * A @ p
        p, r = r_next + (r_next @ r_next) / (r @ r) * p, r_next
    return np.array(path)


def nesterov_path(gradient, x, rate, gamma, n_steps):
    """v_{k+1} = gamma v_k - rate grad f(u_k + gamma v_k), u_{k+1} = u_k + v_{k+1}; returns the points u_k + gamma v_k."""
    u, v = np.array(x, dtype=float), np.zeros(len(x))
    ahead = [u.copy()]
    for _ in range(n_steps):
        v = gamma * v - rate * gradient(u + gamma * v)
        u = u + v
        ahead.append(u + gamma * v)
    return np.array(ahead)
