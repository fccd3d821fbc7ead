"""The dual problems of kernel machines, as one: five machines differ in linear terms, bounds, start and groups alone.

Minimise D(b) = 1/2 b'Kb + q'b over low <= b <= up, with the sum of b fixed in each group of variables. The model is
f(x) = sum_i b_i k(x_i, x) + intercept, so that b holds the signs: b_i = y_i alpha_i of classification, alpha_i - alpha_i^* of
regression, whose two parts are two variables over one row of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

Index = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Dual:
    """A problem; the variables of the first group come first."""

    rows: Index  # of the kernel, one for each variable
    linear: FloatArray  # q
    low: FloatArray
    up: FloatArray
    start: FloatArray  # feasible; its sums are what the groups keep
    group_end: int  # the number of variables in the first group

    @property
    def groups(self) -> list[slice]:
        """One, or two where the second is not empty."""
        both = [slice(0, self.group_end), slice(self.group_end, len(self.rows))]
        return [group for group in both if group.stop > group.start]

    def slopes(self, values: FloatArray) -> FloatArray:
        """Of D for each variable, given values = K b of the rows."""
        slopes: FloatArray = values[self.rows] + self.linear
        return slopes

    def violation(self, duals: FloatArray, slopes: FloatArray) -> float:
        """By how much the slope of a variable that may fall exceeds that of one of its group that may rise, at most."""
        return max(0.0, *(high - low for low, high in (self._ends(group, duals, slopes) for group in self.groups)))

    def _ends(self, group: slice, duals: FloatArray, slopes: FloatArray) -> tuple[float, float]:
        """The least slope of the variables that may rise, and the largest of those that may fall."""
        own, slope = duals[group], slopes[group]
        return (
            float(slope[own < self.up[group]].min(initial=np.inf)),
            float(slope[own > self.low[group]].max(initial=-np.inf)),
        )

    def can_move(self, duals: FloatArray, slopes: FloatArray) -> npt.NDArray[np.bool_]:
        """Which variables are between their bounds, or violate the condition with another of their group."""
        can_move = (duals > self.low) & (duals < self.up)
        for group in self.groups:
            low, high = self._ends(group, duals, slopes)
            own, slope = duals[group], slopes[group]
            can_move[group] |= np.where(own < self.up[group], slope < high, (slope > low) & (own > self.low[group]))
        return can_move

    def among(self, variables: Index, place: Index) -> Dual:
        """The problem of some variables, in rising order, given the new place of each row."""
        end = int(np.searchsorted(variables, self.group_end))
        some = (self.linear[variables], self.low[variables], self.up[variables], self.start[variables])
        return Dual(place[self.rows[variables]], *some, end)

    def biases(self, duals: FloatArray, slopes: FloatArray) -> list[float]:
        """The multiplier of each group's sum: minus the mean slope of its free variables, else the middle of what may be."""
        biases = []
        for group in self.groups:
            is_free = (duals[group] > self.low[group]) & (duals[group] < self.up[group])
            if is_free.any():
                biases.append(-float(slopes[group][is_free].mean()))
                continue
            ends = [end for end in self._ends(group, duals, slopes) if np.isfinite(end)]
            biases.append(-float(np.mean(ends)) if ends else 0.0)
        return biases

    def objective(self, duals: FloatArray, values: FloatArray) -> float:
        """D(b), given values = K b."""
        return float(duals @ (values[self.rows] / 2 + self.linear))

    def stretched(self, duals: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A start with values K b, times the factor s >= 1 within the bounds that lowers D most: 1/2 s^2 b'Kb + s q'b.

        The solution of a smaller cost has most of its duals at that bound, where costs are small: they rise together.
        """
        curvature, pull, moved = float(duals @ values[self.rows]), -float(duals @ self.linear), duals != 0
        if self.start.any() or not pull > curvature > 0:  # sums of groups that are not zero would not stay
            return duals.copy(), values.copy()
        bounds = np.where(duals > 0, self.up, self.low)
        factor = max(1.0, min(pull / curvature, float((bounds[moved] / duals[moved]).min())))
        stretched = factor * duals
        is_at_bound = moved & (np.abs(stretched - bounds) <= 4 * np.finfo(float).eps * np.abs(bounds))
        return np.where(is_at_bound, bounds, stretched), factor * values

    def gap(self, duals: FloatArray, slopes: FloatArray) -> float:
        """The duality gap with the best multipliers at hand: how far D(b) may be above its minimum.

        For any multiplier c, the minimum is at least D(b) - sum_i ((f_i + c) b_i - min over [low, up] of (f_i + c) b).
        """
        total = 0.0
        for group, bias in zip(self.groups, self.biases(duals, slopes), strict=True):
            reduced = slopes[group] + bias
            best = np.where(reduced > 0, self.low[group], self.up[group])
            total += float(np.sum(reduced * (duals[group] - best)))
        return max(total, 0.0)


def _filled(bounds: FloatArray, total: float) -> FloatArray:
    """Numbers from 0 to their bounds that add up to `total`: the first are full."""
    before = np.cumsum(bounds) - bounds
    return np.clip(total - before, 0.0, bounds)


def classification(rows: Index, signs: FloatArray, costs: FloatArray) -> Dual:
    """C-SVC: q = -y, b between 0 and y C."""
    ends = signs * costs
    zero = np.zeros(len(rows))
    return Dual(rows, -signs, np.minimum(ends, 0.0), np.maximum(ends, 0.0), zero, len(rows))


def nu_classification(rows: Index, signs: FloatArray, costs: FloatArray, nu: float) -> Dual | None:
    """nu-SVC: q = 0, b between 0 and y w, and each class sums to nu W / 2 of the weights W; None where a class has less."""
    order = np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)])
    rows, signs, costs = rows[order], signs[order], costs[order]
    n_positive, half = int(np.count_nonzero(signs > 0)), nu * float(costs.sum()) / 2
    parts = (costs[:n_positive], costs[n_positive:])
    if half > min(float(part.sum()) for part in parts) * (1 + 1e-12):
        return None
    start = signs * np.concatenate([_filled(part, half) for part in parts])
    ends = signs * costs
    return Dual(rows, np.zeros(len(rows)), np.minimum(ends, 0.0), np.maximum(ends, 0.0), start, n_positive)


def _doubled(y: FloatArray, costs: FloatArray, epsilon: float, start: FloatArray, *, is_grouped: bool) -> Dual:
    n = len(y)
    rows, zero = np.arange(n, dtype=np.int32), np.zeros(n)
    return Dual(
        np.concatenate([rows, rows]),
        np.concatenate([epsilon - y, -epsilon - y]),
        np.concatenate([zero, -costs]),
        np.concatenate([costs, zero]),
        np.concatenate([start, -start]),
        n if is_grouped else 2 * n,
    )


def regression(y: FloatArray, costs: FloatArray, epsilon: float) -> Dual:
    """epsilon-SVR: q = epsilon - y for b from 0 to C, and -epsilon - y for b from -C to 0."""
    return _doubled(y, costs, epsilon, np.zeros(len(y)), is_grouped=False)


def nu_regression(y: FloatArray, costs: FloatArray, nu: float) -> Dual:
    """nu-SVR: q = -y, and the two halves sum to plus and minus nu sum C / 2."""
    return _doubled(y, costs, 0.0, _filled(costs, nu * float(costs.sum()) / 2), is_grouped=True)


def one_class(costs: FloatArray, nu: float) -> Dual:
    """The machine of one class: q = 0, b between 0 and w, which sum to nu times the weights."""
    n = len(costs)
    zero = np.zeros(n)
    return Dual(np.arange(n, dtype=np.int32), zero, zero, costs, _filled(costs, nu * float(costs.sum())), n)
