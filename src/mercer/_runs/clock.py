"""Time: how much of it is left, and what ends when it is up."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(Exception):
    """The time for one model is up."""


class Clock:
    """Counts down from `seconds`, of which `spent` were used by an earlier part of the same run."""

    def __init__(self, seconds: float, spent: float = 0.0) -> None:
        self.seconds = seconds
        self._start = time.monotonic() - spent
        self._begun, self._worked = time.monotonic(), time.process_time()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    @property
    def slowness(self) -> float:
        """How many seconds a second of work takes here: more than one where others use the machine too."""
        return max(1.0, (time.monotonic() - self._begun) / max(time.process_time() - self._worked, 1e-3))

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.elapsed)


@contextmanager
def time_cap(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block when the seconds are up.

    The alarm comes as a signal, which Mercer's kernels look for as they do for Ctrl-C. Off the main thread, and where there is
    no such signal, the block runs to its end.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"not done after {seconds:.3g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
