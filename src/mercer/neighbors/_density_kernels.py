"""The six kernels of density estimates: what each must be divided by, in any number of dimensions."""

from __future__ import annotations

import math

KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")


def log_ball(d: int) -> float:
    """The logarithm of the volume of the unit ball: pi^(d/2) / Gamma(d/2 + 1)."""
    return 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)


def log_sphere(d: int) -> float:
    """The logarithm of the surface of the unit ball in d dimensions: 2 pi times the volume of the ball in d - 2."""
    return math.log(2 * math.pi) + log_ball(d - 2)


def log_norm(kernel: str, h: float, d: int) -> float:
    """The logarithm of what K(|x| / h) is multiplied by, so that it integrates to one over d dimensions."""
    if kernel == "gaussian":
        integral = 0.5 * d * math.log(2 * math.pi)
    elif kernel == "tophat":
        integral = log_ball(d)
    elif kernel == "epanechnikov":
        integral = log_ball(d) + math.log(2 / (d + 2))
    elif kernel == "exponential":
        integral = log_sphere(d) + math.lgamma(d)
    elif kernel == "linear":
        integral = log_ball(d) - math.log(d + 1)
    else:
        integral = math.log(_cosine_moment(d)) + log_sphere(d)
    return -integral - d * math.log(h)


def _cosine_moment(d: int) -> float:
    """The integral of r^(d-1) cos(pi r / 2) over [0, 1].

    By parts, M(m) = 2/pi - (2/pi)^2 m (m - 1) M(m - 2) for the power m: stable downwards only, from a power so large that what
    it begins with does not matter.
    """
    m, scale = d - 1, 2 / math.pi
    moment, power = 0.0, m + 60
    while power > m:  # M(power - 2) from M(power)
        moment = (scale - moment) / (scale * scale * power * (power - 1))
        power -= 2
    return moment
