"""Shapley values of a linear model whose features are correlated: one linear map of the differences from the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer.inspection._exact import ExactPlan, all_masks

MOST_EXACT = 12
_N_GROUPS = 20  # of orders, whose spread gives standard errors
_CELLS = 2**21
_LEAST_SHARE = 1e-10  # of a variance: what is left of a feature that others determine


@dataclass
class Transform:
    """`matrices` of shape (groups, outputs, features, features): values of a row are the mean over groups of T (x - mean)."""

    matrices: FloatArray
    words: str

    def apply(self, shifted: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Values of shape (rows, features, outputs), and their standard errors where there are several groups."""
        values = np.einsum("kij,nj->nik", self.matrices.mean(axis=0), shifted, optimize=True)
        n_groups = len(self.matrices)
        if n_groups == 1:
            return values, None
        spread = np.zeros_like(values)
        for matrix in self.matrices:
            spread += (np.einsum("kij,nj->nik", matrix, shifted, optimize=True) - values) ** 2
        return values, np.sqrt(spread / (n_groups * (n_groups - 1)))


def transform_of(
    owner: str, covariance: FloatArray, coef: FloatArray, n_orders: int, random: np.random.RandomState
) -> Transform:
    """Exact where features are few, else by orders; features that do not vary keep their own coefficient."""
    p = coef.shape[1]
    if covariance.shape != (p, p) or not np.isfinite(covariance).all():
        raise ValueError(f"{owner}: the covariance has the shape {covariance.shape}; it must be {(p, p)}, of finite numbers.")
    varies = np.flatnonzero(np.diagonal(covariance) > 1e-12 * max(1e-300, np.diagonal(covariance).max(initial=0.0)))
    inner, weights = covariance[np.ix_(varies, varies)], coef[:, varies]
    if len(varies) <= MOST_EXACT:
        found, words = _exact(inner, weights)[None], "correlated features, all coalitions"
    else:
        n_half = -(-n_orders // 2)
        found, words = _sampled(inner, weights, n_half, random), f"correlated features, {2 * n_half} orders"
    whole = np.zeros((len(found), len(coef), p, p))
    whole[:, :, np.arange(p), np.arange(p)] = coef
    for group, matrices in zip(whole, found, strict=True):
        for output, matrix in zip(group, matrices, strict=True):
            output[np.ix_(varies, varies)] = matrix
    return Transform(whole, words)


def _exact(covariance: FloatArray, coef: FloatArray) -> FloatArray:
    """The Shapley values of the game whose values are the coefficients on x_S; of shape (outputs, features, features)."""
    m, n_outputs = len(covariance), len(coef)
    if m == 0:
        return np.empty((n_outputs, 0, 0))
    worth = np.zeros((2**m, n_outputs, m))
    towards = covariance @ coef.T
    for number, mask in enumerate(all_masks(m)):
        known = np.flatnonzero(mask)
        if len(known):
            solution = np.linalg.lstsq(covariance[np.ix_(known, known)], towards[known], rcond=None)[0]
            worth[number][:, known] = solution.T
    found, _ = ExactPlan(m).solve(worth.reshape(1, 2**m, -1), np.empty(0), np.empty(0))
    maps: FloatArray = found[0].reshape(m, n_outputs, m).swapaxes(0, 1)
    return maps


def _sampled(covariance: FloatArray, coef: FloatArray, n_orders: int, random: np.random.RandomState) -> FloatArray:
    """By orders there and back, in groups. Regressions on nested sets are sweeps of one matrix an order."""
    m = len(covariance)
    orders = np.argsort(random.random_sample((n_orders, m)), axis=1)
    n_groups = min(_N_GROUPS, n_orders)
    step = max(1, _CELLS // (2 * (m + len(coef)) ** 2))
    sums = np.zeros((n_groups, len(coef), m, m))
    sizes = np.zeros(n_groups)
    for group, members in enumerate(np.array_split(np.arange(n_orders), n_groups)):
        for start in range(0, len(members), step):
            some = orders[members[start : start + step]]
            sums[group] += _walked(covariance, coef, np.concatenate([some, some[:, ::-1]])).sum(axis=0)
            sizes[group] += 2 * len(some)
    means: FloatArray = sums / sizes[:, None, None, None]
    return means


def _walked(covariance: FloatArray, coef: FloatArray, orders: FloatArray) -> FloatArray:
    """For each order the changes of the coefficients on x_S as each feature comes: (orders, outputs, features, features)."""
    n, m = orders.shape
    k = len(coef)
    table = np.repeat(np.concatenate([covariance, covariance @ coef.T], axis=1)[None], n, axis=0)
    gains = np.zeros((n, k, m, m))
    is_known = np.zeros((n, m), dtype=bool)
    before = np.zeros((n, k, m))
    each = np.arange(n)
    variances = np.diagonal(covariance)
    for come in orders.T:
        pivot = table[each, come, come]
        is_new = pivot > _LEAST_SHARE * variances[come]
        line = table[each, come] / np.where(is_new, pivot, 1.0)[:, None]
        column = table[each, :, come]
        swept = table - column[:, :, None] * line[:, None, :]
        swept[each, :, come] = -column / np.where(is_new, pivot, 1.0)[:, None]
        swept[each, come] = line
        swept[each, come, come] = 1.0 / np.where(is_new, pivot, 1.0)
        table = np.where(is_new[:, None, None], swept, table)
        is_known[each, come] = is_new
        after = np.where(is_known[:, None, :], table[:, :, m:].swapaxes(1, 2), 0.0)
        gains[each, :, come] = after - before
        before = after
    return gains
