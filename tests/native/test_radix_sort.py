"""The one radix sort, seen through the ranks of scores: keys of every spread, runs of every length, any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels

SPREADS = {
    "normal": lambda random, n: random.randn(n),
    "even": lambda random, n: random.rand(n),
    "few values": lambda random, n: random.randint(-3, 4, n).astype(float),
    "one value": lambda random, n: np.full(n, -2.5),
    "both zeros": lambda random, n: random.choice([-0.0, 0.0, 5e-324], n),
    "a crowd far from one outlier": lambda random, n: np.append(0.5 + 1e-13 * random.rand(n - 1), 1e-300),
    "crowds at every scale": lambda random, n: random.choice([-1, 1], n) * 10.0 ** random.randint(-300, 300, n),
    "rising": lambda random, n: np.arange(n) / 7,
    "falling": lambda random, n: -np.arange(n) / 7,
}  # fmt: skip


def ranked(scores, labels, weights, n_threads):
    """Each distinct score, falling, and the weight of the positive rows and of the others from there on."""
    found = getattr(kernels, f"RankedScores{8 * scores.itemsize}")(scores, labels, 1, weights, n_threads)
    out = np.empty(found.n_cuts, dtype=scores.dtype), np.empty(found.n_cuts), np.empty(found.n_cuts)
    found.curve(*out, n_threads)
    return out


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("n_rows", [1, 24, 25, 511, 512, 4096, 70_000, 300_000])  # about where the sort changes its ways
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_come_in_the_order_of_their_scores(spread, n_rows, dtype):
    random = np.random.RandomState(n_rows)
    with np.errstate(over="ignore", under="ignore"):
        scores = np.nan_to_num(SPREADS[spread](random, n_rows).astype(dtype))
    labels, weights = random.randint(2, size=n_rows), random.randint(1, 4, n_rows).astype(float)
    distinct, places = np.unique(scores, return_inverse=True)
    for given in (None, weights):
        mass = np.ones(n_rows) if given is None else given
        expected = [np.cumsum(np.bincount(places, mass * (labels == label), len(distinct))[::-1]) for label in (1, 0)]
        for n_threads in (1, 2):
            found, *sums = ranked(scores, labels, given, n_threads)
            np.testing.assert_array_equal(found, distinct[::-1])
            np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_scores_keep_the_order_of_their_rows(spread, dtype):
    """Weights of very different size are added up in the order of the rows: another order gives other bits."""
    random = np.random.RandomState(0)
    with np.errstate(over="ignore", under="ignore"):
        scores = np.nan_to_num(SPREADS[spread](random, 20_000).astype(dtype)[:10_000]).repeat(2)[random.permutation(20_000)]
    weights = 10.0 ** random.randint(-9, 9, len(scores))
    found, positive, _ = ranked(scores, np.ones(len(scores), dtype=np.int64), weights, 1)
    order = np.argsort(-scores, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))
    ends = np.append(starts[1:], len(order)) - 1
    np.testing.assert_array_equal(found, scores[order][starts])
    np.testing.assert_array_equal(positive, np.cumsum(weights[order])[ends])
