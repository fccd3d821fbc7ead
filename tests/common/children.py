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
# its function there instead of importing every family again.
PRELOADED = ["sklearn.utils.estimator_checks", "tests.common.test_reliability", "tests.native.test_arguments"]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def _work(connection: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        answer = (True, function(*args))
    except BaseException:
        answer = (False, traceback.format_exc())
    connection.send(answer)
    connection.close()


def run_in_child(function: Callable[..., Any], *args: Any, timeout: float = 60) -> Any:
    """What `function(*args)` returns in another process. A failure, a crash or a hang there is an AssertionError here."""
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(target=_work, args=(sender, function, args))
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout):
            raise AssertionError(f"{function.__name__}: no answer after {timeout} seconds.")
        try:
            succeeded, answer = receiver.recv()
        except EOFError:
            process.join(timeout)
            raise AssertionError(f"{function.__name__}: the process died with exit code {process.exitcode}.") from None
        if not succeeded:
            raise AssertionError(answer)
        return answer
    finally:
        process.kill()
        process.join()


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
