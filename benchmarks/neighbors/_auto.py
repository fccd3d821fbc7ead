"""The curve behind `algorithm="auto"`: where each algorithm wins, as a table in Markdown.

    python -m benchmarks.neighbors._auto [--seconds 0.3] [--threads 1] [--largest 1000000]

Some twenty minutes of processor time with all rows, of which most go into the trees of a million; two up to 100,000. For each
shape: the microseconds of processor time that a query takes with a tree and with brute force (the index stands), how
many leaves the probe expects a search to look into, and what `auto` chooses. `!` marks a choice that takes over 1.3 times as
long as the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from mercer.neighbors._algorithm import choose_algorithm, expected_leaves
from mercer.neighbors._measures import find_measure
from mercer.neighbors._search import Search

ROWS, FEATURES, NEIGHBORS = (1_000, 3_000, 10_000, 100_000, 1_000_000), (2, 4, 6, 8, 11, 15, 25, 50, 100), (10,)
QUERIES, BATCH = 2_000, 256  # at most, and those that are asked however long they take: what tiles are made for


def _uniform(random: np.random.Generator, n: int, d: int) -> np.ndarray:
    return random.random((n, d))


def _clustered(random: np.random.Generator, n: int, d: int) -> np.ndarray:
    return random.random((50, d))[random.integers(50, size=n)] + 0.03 * random.normal(size=(n, d))


KINDS = {"uniform": _uniform, "clustered": _clustered}


def _microseconds(search: Search, queries: np.ndarray, k: int, seconds: float, n_threads: int) -> float:
    """Of a query, asked in batches until the time is over."""
    batch, begin, n_asked = min(len(queries), BATCH), time.process_time(), 0
    while (passed := time.process_time() - begin) < seconds and n_asked < len(queries):
        search.nearest(queries[n_asked : n_asked + batch], k, n_threads=n_threads)
        n_asked += batch
        batch = min(4 * batch, len(queries) - n_asked)
    return 1e6 * (time.process_time() - begin if n_asked == len(queries) else passed) / max(n_asked, 1)


def table(seconds: float, n_threads: int, largest: int) -> Iterator[str]:
    """The lines of the table."""
    yield "| rows | features | k | data | k-d tree, µs | brute, µs | leaves expected | auto |"
    yield "|---|---|---|---|---|---|---|---|"
    for n in (n for n in ROWS if n <= largest):
        for d in FEATURES:
            for kind, make in KINDS.items():
                both = make(np.random.default_rng(0), n + QUERIES, d)
                X, queries = both[:n], both[n:]
                for k in NEIGHBORS:
                    times = [
                        _microseconds(Search.of(X, algorithm=name, n_threads=n_threads), queries, k, seconds, n_threads)
                        for name in (
                            "kd_tree",
                            "brute",
                        )  # one at a time: a million rows stand in memory twice and not four times
                    ]
                    measure = find_measure("euclidean", p=2, metric_params=None, X=X)
                    chosen = choose_algorithm(measure, X, k)
                    mark = "!" if times[chosen == "brute"] > 1.3 * min(times) else ""
                    leaves = expected_leaves(measure, X, k, "kd_tree")
                    yield f"| {n:,} | {d} | {k} | {kind} | {times[0]:.2f} | {times[1]:.2f} | {leaves:.0f} | {chosen} {mark} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="processor time a search gets at most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--largest", type=int, default=1_000_000, help="the largest number of rows")
    given = parser.parse_args()
    for line in table(given.seconds, given.threads, given.largest):
        print(line, flush=True)


if __name__ == "__main__":
    main()
