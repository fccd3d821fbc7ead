"""Where answers are worked out: short work at once on the event loop, long work in a few threads, and none for ever."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from threading import Event, Thread
from typing import Any, TypeVar

from mercer._jobs import run_in_thread
from mercer._parallel import effective_threads
from mercer._serving.limits import Limits
from mercer._serving.problems import Refused

Answer = TypeVar("Answer")
SHORT = 0.002  # seconds; a thread would cost a good part of them, and so long everybody else can wait
_N_THREADS = 2


class Work:
    """Threads that work on requests, one each.

    They are daemons: a job that no one waits for any more does not keep the process from its end. Its kernels stop as they do
    for Ctrl-C.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._n_open = 0  # touched on the event loop alone
        for number in range(_N_THREADS):
            Thread(target=self._work, name=f"mercer-serve-{number}", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    async def answer(self, job: Callable[[], Answer], seconds: float) -> Answer:
        """What the job gives, which is expected to take so many seconds."""
        return job() if seconds < SHORT else await self.in_thread(job)

    async def in_thread(self, job: Callable[[], Answer]) -> Answer:
        """What the job gives in a thread; refused where too many wait already, or where it takes too long."""
        if self._n_open >= _N_THREADS + self._limits.waiting:
            raise Refused(503, f"{self._n_open} requests are being worked on already. Try again in a moment.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        is_left = Event()
        n_threads = max(1, effective_threads(None) // _N_THREADS)

        def run() -> None:
            result: Any = None
            failure: BaseException | None = None
            try:
                result = run_in_thread(job, n_threads, is_left)
            except BaseException as error:  # whatever it is, the request ends with it, and not the thread
                failure = error
            try:
                loop.call_soon_threadsafe(ended, result, failure)
            except RuntimeError:  # the loop has ended
                return

        def ended(result: Any, failure: BaseException | None) -> None:
            self._n_open -= 1
            if answer.done():
                return
            if failure is None:
                answer.set_result(result)
            else:
                answer.set_exception(failure if isinstance(failure, Exception) else RuntimeError(repr(failure)))

        self._n_open += 1
        self._jobs.put(run)
        try:
            return await asyncio.wait_for(answer, self._limits.seconds)
        except TimeoutError:
            raise Refused(503, f"This took more than the {self._limits.seconds:g} seconds that an answer may take.") from None
        finally:
            is_left.set()
