"""Laws of counts of errors, inverted: exact binomial tails, and the relative entropy that bounds them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv, gammaln, logsumexp


def largest_share(errors: int, n: int, log_chance: float) -> float:
    """The largest p for which at most so many errors in n rows have probability exp(log_chance) or more.

    Clopper and Pearson's upper end, for chances too small for a float as well.
    """
    if errors >= n:
        return 1.0
    if errors == 0:
        return -math.expm1(log_chance / n)
    if log_chance > -30:  # one less the chance is still a number
        return float(betaincinv(errors + 1, n - errors, -math.expm1(log_chance)))
    return _by_tail(errors, n, log_chance)


def _by_tail(errors: int, n: int, log_chance: float) -> float:
    k = np.arange(errors + 1)
    log_ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    def excess(p: float) -> float:  # falls with p
        return float(logsumexp(log_ways + k * math.log(p) + (n - k) * math.log1p(-p))) - log_chance

    return last_where(lambda p: p < 1 and excess(p) >= 0, errors / n, 1.0)


def smallest_share(errors: int, n: int, chance: float) -> float:
    """Clopper and Pearson's lower end: the smallest p for which so many errors or more have this chance or more."""
    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, chance))


def relative_entropy(q: float, p: float) -> float:
    """kl(q || p) of two coins."""
    if p in (0.0, 1.0):
        return 0.0 if q == p else math.inf
    heads = 0.0 if q == 0 else q * math.log(q / p)
    return heads + (0.0 if q == 1 else (1 - q) * math.log((1 - q) / (1 - p)))


def largest_with_entropy(q: float, most: float) -> float:
    """The largest p for which kl(q || p) is no larger than `most`."""
    return last_where(lambda p: relative_entropy(q, p) <= most, q, 1.0)


def last_where(is_true: Callable[[float], bool], low: float, high: float) -> float:
    """The end, to the precision of floats and rounded up, of the run of numbers from `low` on of which something is true."""
    if is_true(high):
        return high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if is_true(middle) else (low, middle)
    return high
