"""The bandwidth of a density by leave-one-out: a search over its logarithm, coarse and then by golden sections."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mercer._parallel import effective_threads
from mercer.neighbors._search import FlatIndex, Search
from mercer.neighbors._search_tree import SearchTree

N_COARSE = 11
SAMPLE = 200  # rows that tell how far rows are from each other
PRECISION = 1e-3  # of the bandwidth, relative
RTOL = 1e-7  # of a density, while it is searched for
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Chosen:
    """A bandwidth, the mean log density of a row without itself, and what there is to warn about."""

    bandwidth: float
    log_likelihood: float
    warning: str | None


def leave_one_out_bandwidth(tree: SearchTree, kernel: str) -> Chosen:
    """The h that maximises sum_i w_i log p_{-i}(x_i), between a tenth of how far near rows are and how far any rows are."""
    lowest, highest = _range(tree)
    scores: dict[float, float] = {}

    def score(log_h: float) -> float:
        if log_h not in scores:
            scores[log_h] = _likelihood(tree, kernel, math.exp(log_h))
        return scores[log_h]

    coarse = np.linspace(math.log(lowest), math.log(highest), N_COARSE).tolist()
    best = max(range(N_COARSE), key=lambda i: score(coarse[i]))
    low, high = coarse[max(best - 1, 0)], coarse[min(best + 1, N_COARSE - 1)]
    while high - low > PRECISION:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if score(left) >= score(right):
            high = right
        else:
            low = left
    chosen = max(scores, key=lambda log_h: scores[log_h])
    return Chosen(math.exp(chosen), scores[chosen], _warning(chosen, coarse, scores[chosen]))


def _warning(chosen: float, coarse: list[float], score: float) -> str | None:
    if score == -math.inf:
        return "no bandwidth gives every row a density without itself: some rows are too far from all others for this kernel."
    if chosen <= coarse[0] + PRECISION:
        return (
            f"the leave-one-out likelihood still rises at the smallest bandwidth tried, {math.exp(chosen):.3g}: rows have "
            "duplicates, or nearly so, and it has no maximum. Give bandwidth as a number."
        )
    return None


def _likelihood(tree: SearchTree, kernel: str, h: float) -> float:
    logs = tree._log_sums(None, h, kernel, 0.0, RTOL, leave_out_self=True)
    weights = np.ones(len(logs)) if tree.sample_weight is None else tree.sample_weight
    counts = weights > 0
    left = weights.sum() - weights[counts]
    with np.errstate(divide="ignore"):
        return float(np.average(logs[counts] - np.log(left), weights=weights[counts]))


def _range(tree: SearchTree) -> tuple[float, float]:
    data, threads = tree.data, effective_threads(None)
    if len(data) < 2:
        raise ValueError("bandwidth='leave-one-out' needs two rows at least; there is one.")
    some = data[np.linspace(0, len(data) - 1, min(SAMPLE, len(data))).astype(np.int64)]
    n_near = min(5, len(data))
    measure = tree._search.measure
    near, _ = tree._search.nearest(some, n_near, n_threads=threads)
    far, _ = Search(measure, FlatIndex(measure.mapped(some))).nearest(some, len(some), n_threads=threads)
    positive = near[near > 0]
    if len(positive) == 0:
        positive = far[far > 0]
    if len(positive) == 0:
        raise ValueError("bandwidth='leave-one-out': all rows are the same; give bandwidth as a number.")
    usual = float(np.median(positive))
    return usual / 10, max(float(np.median(far)), 10 * usual)
