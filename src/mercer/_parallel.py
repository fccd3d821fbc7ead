"""Threads: how many there are, how many to use, and who else has some.

The limit is the number of processors this process may use (affinity and cgroup quota), or `MERCER_NUM_THREADS`, or
`OMP_NUM_THREADS`; `threadpoolctl` lowers or raises it at run time. `n_jobs` asks for fewer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import RLock, local
from typing import Any

import threadpoolctl

from mercer._native import kernels


def _cgroup_quota(root: Path, membership: Path) -> float:
    """The smallest CPU quota on the way from this process's control group to the root, in processors."""
    quota = math.inf
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return quota
    for fields in (line.split(":", 2) for line in lines):
        if len(fields) != 3:
            continue
        _, controllers, group = fields
        if controllers == "":  # version 2: one tree
            base, read = root, _quota_v2
        elif "cpu" in controllers.split(","):
            base, read = root / controllers, _quota_v1
            if not base.is_dir():
                base = root / "cpu"
        else:
            continue
        folder = base / group.lstrip("/")
        for place in (folder, *folder.parents):
            quota = min(quota, read(place))
            if place == base:
                break
    return quota


def _quota_v2(folder: Path) -> float:
    try:
        limit, period = (folder / "cpu.max").read_text().split()
        return math.inf if limit == "max" else int(limit) / int(period)
    except (OSError, ValueError):
        return math.inf


def _quota_v1(folder: Path) -> float:
    try:
        limit = int((folder / "cpu.cfs_quota_us").read_text())
        return math.inf if limit <= 0 else limit / int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return math.inf


def available_cpus(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> int:
    """The number of processors that this process may use, a started fraction of one counting as one."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    quota = _cgroup_quota(root, membership)
    return max(1, allowed if quota == math.inf else min(allowed, math.ceil(quota)))


def _initial_limit() -> int:
    for name in ("MERCER_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "").split(",")[0].strip()
        if not value:
            continue
        if value.isdigit() and int(value) >= 1:
            return int(value)
        if name == "MERCER_NUM_THREADS":
            raise ValueError(f"The environment variable {name}={value!r} must be an integer >= 1.")
    return available_cpus()


_share = local()  # of a thread that works beside others: how many threads its kernels may use


@contextmanager
def thread_share(n_threads: int) -> Iterator[None]:
    """Have kernels of this Python thread use so many threads at most; no other thread is touched."""
    before = getattr(_share, "n_threads", None)
    _share.n_threads = n_threads
    try:
        yield
    finally:
        _share.n_threads = before


def effective_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`: None and -1 mean the limit, -2 one fewer; more than the limit is cut to it."""
    limit: int = kernels.get_num_threads()
    share: int | None = getattr(_share, "n_threads", None)
    if share is not None:
        limit = min(limit, share)
    if n_jobs is None:
        return limit
    return min(n_jobs, limit) if n_jobs > 0 else max(1, limit + 1 + n_jobs)


class MercerController(threadpoolctl.LibController):  # type: ignore[misc]  # threadpoolctl has no types
    """Lets `threadpoolctl.threadpool_limits` see and set Mercer's threads."""

    user_api = "mercer"
    internal_api = "mercer"
    filename_prefixes = ("_kernels_",)
    check_symbols = ("mercer_get_num_threads", "mercer_set_num_threads")

    def get_num_threads(self) -> int:
        return int(self.dynlib.mercer_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        self.dynlib.mercer_set_num_threads(num_threads)

    def get_version(self) -> str:
        from mercer import __version__

        return __version__


def _give_up_control() -> None:
    """Let other threads set OpenBLAS's threads again: from threadpoolctl 3.8 on, the first to set them keeps all others out."""
    give_up = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if give_up is not None:
        give_up()


@cache
def _blas() -> Any:
    """The libraries of NumPy and SciPy, both loaded by now: to look for them takes longer than many a fit."""
    return threadpoolctl.ThreadpoolController().select(user_api="blas")


class _SerialBlas:
    """Counts who needs BLAS to be serial: the first in sets it, the last out restores it, whatever the order between."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._users = 0
        self._before: list[tuple[Any, int]] | None = None  # the libraries that had more threads, and how many

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._before is None:
                threads = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
                self._before = [(library, count) for library, count in threads if count is not None and count > 1]
                self._limit((library, 1) for library, _ in self._before)

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._before is not None:
                self._limit(self._before)
                self._before = None

    @staticmethod
    def _limit(threads: Iterable[tuple[Any, int]]) -> None:
        for library, count in threads:
            library.set_num_threads(count)
        _give_up_control()  # the thread that restores may be another

    def hold(self) -> None:
        """Let nobody set threads until `release`: a process forked meanwhile would find OpenBLAS's own lock taken for good."""
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()

    def in_child(self) -> _SerialBlas:
        """For a forked child, whose threads were not copied: no user, and what the first one to leave has to restore."""
        child = _SerialBlas()
        child._before = self._before
        return child


_serial_blas = _SerialBlas()


def _hold_before_fork() -> None:
    _serial_blas.hold()


def _release_after_fork() -> None:
    _serial_blas.release()


def _forget_after_fork() -> None:
    global _serial_blas
    _serial_blas.release()
    _serial_blas = _serial_blas.in_child()


@contextmanager
def serial_blas() -> Iterator[None]:
    """Keep BLAS to one thread; safe to nest and to share between threads.

    Every fit runs so: BLAS sums in another order for another number of threads, and its threads spin for a while after each
    call, which takes a core from ours. What is worth threads has native kernels, whose bits do not depend on their number.
    """
    guard = _serial_blas
    guard.enter()
    try:
        yield
    finally:
        guard.leave()


kernels.set_num_threads(_initial_limit())
threadpoolctl.register(MercerController)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_before_fork, after_in_parent=_release_after_fork, after_in_child=_forget_after_fork)
