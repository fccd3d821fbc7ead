"""Workers: the jobs of a search, side by side in threads or one after another, until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from threading import Event
from typing import Any

from mercer._jobs import count_workers, run_jobs

Job = Callable[[Callable[[], bool]], Any]  # told by a function whether the time is over


class Workers:
    """Runs jobs, each of which is told by a function whether the time is over.

    Threads rather than processes: Mercer's kernels release the GIL, and the folds are shared. While several jobs run, each
    gets its share of the cores.
    """

    def __init__(self, n_jobs: int | None, time_limit: float | None) -> None:
        self._n_jobs = n_jobs
        self.n_workers = count_workers(n_jobs)
        self._deadline = None if time_limit is None else time.monotonic() + time_limit

    def run(self, jobs: Sequence[Job]) -> AbstractContextManager[Iterator[Any]]:
        """The results in the order of the jobs, each as soon as it is there; who leaves the block leaves the jobs."""
        is_left = Event()

        def is_over() -> bool:
            return is_left.is_set() or (self._deadline is not None and time.monotonic() >= self._deadline)

        return run_jobs([partial(job, is_over) for job in jobs], self._n_jobs, in_threads=True, is_left=is_left)

    @contextmanager
    def run_batches(self, batches: Sequence[Sequence[Job]]) -> Iterator[Iterator[list[Any] | None]]:
        """The results of each batch of jobs, in order; None where one of them gave None, as the time was over."""
        with self.run([job for batch in batches for job in batch]) as results:
            found = (list(islice(results, len(batch))) for batch in batches)
            yield (None if any(result is None for result in batch) else batch for batch in found)
