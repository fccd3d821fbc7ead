"""Workers: the jobs of a search, side by side in threads or one after another, until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import Event
from typing import Any

from mercer._jobs import count_workers, run_jobs


class Workers:
    """Runs jobs, each of which is told by a function whether the time is over.

    Threads rather than processes: Mercer's kernels release the GIL, and the folds are shared. While several jobs run, each
    gets its share of the cores.
    """

    def __init__(self, n_jobs: int | None, time_limit: float | None) -> None:
        self._n_jobs = n_jobs
        self.n_workers = count_workers(n_jobs)
        self._deadline = None if time_limit is None else time.monotonic() + time_limit

    def run(self, jobs: Sequence[Callable[[Callable[[], bool]], Any]]) -> AbstractContextManager[Iterator[Any]]:
        """The results in the order of the jobs, each as soon as it is there; who leaves the block leaves the jobs."""
        is_left = Event()

        def is_over() -> bool:
            return is_left.is_set() or (self._deadline is not None and time.monotonic() >= self._deadline)

        return run_jobs([partial(job, is_over) for job in jobs], self._n_jobs, in_threads=True, is_left=is_left)
