"""Workers: jobs side by side in threads, or one after another; the results are the same and in the same order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mercer._native import kernels
from mercer._parallel import serial_blas


class Workers:
    """Runs jobs, each of which is told by a function whether the time is over.

    Threads rather than processes: Mercer's kernels release the GIL, and the folds are shared. While several jobs run, each
    gets its share of the cores.
    """

    def __init__(self, n_jobs: int | None, time_limit: float | None) -> None:
        self.n_workers = int(effective_n_jobs(n_jobs))
        self._deadline = None if time_limit is None else time.monotonic() + time_limit

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def run(self, jobs: Sequence[Callable[[Callable[[], bool]], Any]]) -> Generator[Any]:
        """The results in the order of the jobs, each as soon as it is there. Leaving early cancels what has not begun."""
        n_workers = min(self.n_workers, len(jobs))
        if n_workers <= 1:
            for job in jobs:
                yield job(self._is_late)
            return
        is_left = Event()
        with _shared_cores(n_workers):
            pool = Parallel(n_jobs=n_workers, require="sharedmem", return_as="generator", pre_dispatch="all")
            results = pool(delayed(job)(lambda: is_left.is_set() or self._is_late()) for job in jobs)
            try:
                yield from results
            finally:
                is_left.set()
                for _ in results:  # jobs that have not begun end at once; joblib warns of results that nobody takes
                    pass


@contextmanager
def _shared_cores(n_workers: int) -> Iterator[None]:
    """Let each of several workers use its share of the threads."""
    n_threads = kernels.get_num_threads()
    kernels.set_num_threads(max(1, n_threads // n_workers))
    try:
        with serial_blas():
            yield
    finally:
        kernels.set_num_threads(n_threads)
