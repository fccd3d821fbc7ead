"""Runs a function in a fresh process, so that signals, forks, crashes and memory can be tested without harm to the suite."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

# The server imports the library and the tests once; each child is forked from that quiet, single-threaded process, and finds
# its function there instead of importing every family again. A process has one such server, so all who use it are named here.
PRELOADED = [
    "sklearn.utils.estimator_checks",
    "tests.common.test_reliability",
    "tests.common.test_other_threads",
    "tests.native.test_arguments",
    "tests.model_selection.killed",
    "tests.command.driver",
    *("optuna", "alembic.migration", "sqlalchemy.orm", "polars", "mercer._command.app"),
]
SERVED = multiprocessing.get_context("forkserver")
SERVED.set_forkserver_preload(PRELOADED)


def _answer(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*args)
    except BaseException:
        return False, traceback.format_exc()


def _serve(connection: Any) -> None:
    """What a child does: one call after another, until it is ended."""
    while True:
        connection.send(_answer(*connection.recv()))


class Child:
    """A process that runs functions for this one. A daemon ends with this one, and can have no processes of its own."""

    def __init__(self, *, is_daemon: bool) -> None:
        self._connection, other = SERVED.Pipe()
        self._process = SERVED.Process(target=_serve, args=(other,), daemon=is_daemon)
        self._process.start()
        other.close()

    def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:
        """What `function(*args)` returns there. A failure, a crash or a hang is an AssertionError here."""
        self._connection.send((function, args))
        if not self._connection.poll(timeout):
            self.end()
            raise AssertionError(f"{function.__name__}: no answer after {timeout} seconds.")
        try:
            succeeded, answer = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(timeout)
            raise AssertionError(f"{function.__name__}: the process died with exit code {self._process.exitcode}.") from None
        if not succeeded:
            raise AssertionError(answer)
        return answer

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


def run_in_child(function: Callable[..., Any], *args: Any, timeout: float = 60) -> Any:
    """What `function(*args)` returns in a process of its own."""
    child = Child(is_daemon=False)
    try:
        return child.run(function, *args, timeout=timeout)
    finally:
        child.end()


_shared: list[Child] = []


def run_in_shared_child(function: Callable[..., Any], *args: Any, timeout: float = 60) -> Any:
    """The same for a function that leaves the process as it was, for the next that runs there."""
    if not (_shared and _shared[-1].is_alive):
        _shared.append(Child(is_daemon=True))
    return _shared[-1].run(function, *args, timeout=timeout)


def finish_fork(pid: int, timeout: float = 20) -> None:
    """Wait for a forked process and require that it ended well and in time."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, f"the forked process failed: {status}"
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGUSR1)  # says where it hangs
    time.sleep(0.5)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"the forked process still ran after {timeout} seconds")


def fork_and_run(function: Callable[[], None]) -> int:
    """Fork; the child runs the function and ends, with code 0 if it raised nothing."""
    pid = os.fork()
    if pid == 0:
        code = 1
        faulthandler.register(signal.SIGUSR1)
        try:
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid
