"""Programs that run alone: in a process of their own, with one thread a pool, within a time, with what they took."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

_POOLS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "MERCER", "NUMBA")
_PAUSE = 0.05  # seconds
_running: set[int] = set()


class FailedError(RuntimeError):
    """The contender gave no predictions."""


@dataclass(frozen=True)
class Used:
    """What a process took, its children included."""

    seconds: float
    processor_seconds: float
    peak_bytes: int


def run_alone(command: Sequence[str], limit: float, *, without: Sequence[str] = ()) -> Used:
    """Run a program; it is ended with all that it started after `limit` seconds. Variables `without` are not handed on."""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {f"{pool}_NUM_THREADS": "1" for pool in _POOLS} | {"POLARS_MAX_THREADS": "1"}
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        _running.add(process.pid)
        try:
            status, usage = _wait(process.pid, started + limit)
        finally:
            _running.discard(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            last = [line.strip() for line in errors.read().splitlines() if line.strip()][-3:]
            raise FailedError(f"exit code {process.returncode} after {time.perf_counter() - started:.0f} s: {' / '.join(last)}")
    return Used(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss)


def _wait(pid: int, until: float) -> tuple[int, resource.struct_rusage]:
    """By wait4, which alone tells what one child took while others run."""
    is_ended = False
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage
        if time.perf_counter() > until and not is_ended:
            _end(pid)
            is_ended = True
        time.sleep(_PAUSE)


def end_all() -> None:
    """What runs in any thread is ended; its case fails."""
    for pid in list(_running):
        _end(pid)


def _end(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)
