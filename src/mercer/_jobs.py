"""Jobs side by side: the one way in which fits, or predictions, of which several may run at a time are run.

`n_jobs=None` means one job at a time, which may itself use all threads, unless a `joblib.parallel_config` says otherwise; -1
means as many as there are processors. The results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from mercer._base import FitTask
from mercer._native import kernels
from mercer._parallel import effective_threads, serial_blas, thread_share

Job = Callable[[], Any]


def count_workers(n_jobs: int | None) -> int:
    """How many jobs run at a time."""
    return int(effective_n_jobs(n_jobs))


@contextmanager
def run_jobs(
    jobs: Sequence[Job], n_jobs: int | None, *, in_threads: bool = False, is_left: Event | None = None
) -> Iterator[Iterator[Any]]:
    """Give the results in the order of the jobs. An error in a job, and Ctrl-C, end all jobs and wait for none.

    Jobs run in processes, or as `joblib.parallel_config` says, so that a job holds all it needs. With `in_threads` they run
    in threads, each with its share of the cores and BLAS with one, and a result is there as soon as it can be: who leaves the
    block early leaves the jobs. Those that have not begun never do, and the kernels of the others stop within moments, which is
    waited for unless an error is on its way. `is_left` is set then, for jobs that ask.
    """
    n_workers = min(count_workers(n_jobs), len(jobs))
    if n_workers <= 1:
        yield (job() for job in jobs)
    elif in_threads:
        with _in_threads(jobs, n_workers, Event() if is_left is None else is_left) as results:
            yield results
    else:
        yield iter(Parallel(n_jobs=n_jobs)(delayed(job)() for job in jobs))  # not all backends of joblib give them one by one


def run_tasks(jobs: Sequence[Job], task: FitTask, name: str, n_jobs: int | None) -> Iterator[Any]:
    """The same, each job a part of a fit to callbacks."""
    with run_jobs(jobs, n_jobs) as results:
        for _ in jobs:
            subtask = task.subtask(name)
            result = next(results)
            subtask.end()
            yield result


@contextmanager
def _in_threads(jobs: Sequence[Job], n_workers: int, is_left: Event) -> Iterator[Iterator[Any]]:
    n_threads = max(1, effective_threads(None) // n_workers)
    with serial_blas():
        # All are dispatched at once: joblib would otherwise hand out later ones from the threads of those before.
        pool = Parallel(n_jobs=n_workers, require="sharedmem", return_as="generator", pre_dispatch="all")
        results = pool(delayed(run_in_thread)(job, n_threads, is_left) for job in jobs)
        try:
            yield results
            is_left.set()
            with suppress(Exception):  # of a job that nobody waits for
                for _ in results:
                    pass
        finally:
            is_left.set()
            _abandon(results)


class _Left(BaseException):
    """Ends a job that nobody waits for; no error, so that no job takes it for its own failure."""


def run_in_thread(job: Job, n_threads: int, is_left: Event) -> Any:
    """What the job gives; None where it is left, which its kernels look for as they look for Ctrl-C."""

    def stop_if_left() -> None:
        if is_left.is_set():
            raise _Left

    before = kernels.exchange_stop(stop_if_left)
    try:
        stop_if_left()
        with thread_share(n_threads):
            return job()
    except _Left:
        return None
    finally:
        kernels.exchange_stop(before)


def _abandon(results: Generator[Any]) -> None:
    """Have joblib drop all jobs at once: it warns where its generator is closed, and not where an error comes through it."""
    with suppress(_Left, StopIteration):
        results.throw(_Left())
