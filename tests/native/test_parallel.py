"""The pool of threads: every task once, errors and Ctrl-C across threads, many callers, forks."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mercer._native import kernels
from mercer._trace import native_progress
from tests.common.children import finish_fork, fork_and_run, run_in_child

testing = kernels.testing
NESTED = 3  # each task of count_tasks runs a nested loop of three
NONE_FAILS = -1


@pytest.mark.parametrize("is_static", [False, True], ids=["dynamic", "static"])
@pytest.mark.parametrize("n_threads", [*range(1, 9), 16, 33, 64])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 3, 7, 8, 65, 1000, 20_000])
def test_every_task_runs_exactly_once(n_tasks, n_threads, is_static):
    assert testing.count_tasks(n_tasks, n_threads, is_static, NONE_FAILS) == [NESTED] * n_tasks


@pytest.mark.slow
@pytest.mark.parametrize("is_static", [False, True], ids=["dynamic", "static"])
def test_every_task_runs_exactly_once_a_hundred_thousand_times_over(is_static):
    for repeat in range(100_000):
        assert testing.count_tasks(5, repeat % 7 + 1, is_static, NONE_FAILS) == [NESTED] * 5


@pytest.mark.slow
def test_loops_of_all_sizes_take_turns_on_one_pool():
    for repeat in range(20_000):
        n_tasks, n_threads = repeat * 7 % 130, repeat % 64 + 1
        assert testing.count_tasks(n_tasks, n_threads, False, NONE_FAILS) == [NESTED] * n_tasks
        if repeat % 100 == 0:
            time.sleep(0.001)  # so that workers fall asleep in the midst of it


def _waits_of_threads():
    """How often each thread of this process has gone to sleep."""
    waits = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/status") as status:
            waits[thread] = next(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt"))
    return waits


def _sleepers_disturbed(n_loops):
    """How often workers of a pool of 63 woke up for loops that have work for two."""
    testing.count_tasks(64, 64, False, NONE_FAILS)
    time.sleep(0.5)  # by now all sleep
    before = _waits_of_threads()
    for _ in range(n_loops):
        testing.count_tasks(3, 64, False, NONE_FAILS)
        time.sleep(0.005)
    after = _waits_of_threads()
    return sum(after[thread] - before[thread] for thread in before if thread != str(os.getpid()))


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="reads /proc")
def test_a_loop_wakes_only_those_whom_it_has_work_for():
    n_loops = 20
    assert run_in_child(_sleepers_disturbed, n_loops) < 6 * n_loops  # and now and then a wait for a mutex


@pytest.mark.parametrize("n_threads", [-5, 0, 1024, 2**31 - 1])
def test_any_number_of_threads_will_do(n_threads):
    assert testing.count_tasks(10, n_threads, False, NONE_FAILS) == [NESTED] * 10


@pytest.mark.parametrize("is_static", [False, True], ids=["dynamic", "static"])
@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("failing", [0, 50, 99])
def test_an_error_in_a_task_arrives_and_the_pool_survives(failing, n_threads, is_static):
    for _ in range(20):
        with pytest.raises(ValueError, match=r"^task failed$"):
            testing.count_tasks(100, n_threads, is_static, failing)
        assert testing.count_tasks(100, n_threads, is_static, NONE_FAILS) == [NESTED] * 100


def test_many_python_threads_may_call_at_once():
    def work(seed):
        for repeat in range(50):
            failing = 3 if (seed + repeat) % 5 == 0 else NONE_FAILS
            try:
                counts = testing.count_tasks(20, 4, bool(seed % 2), failing)
            except ValueError:
                assert failing == 3
            else:
                assert failing == NONE_FAILS
                assert counts == [NESTED] * 20
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(32)))


def _count_after_forks():
    def count():
        assert testing.count_tasks(200, 4, False, NONE_FAILS) == [NESTED] * 200

    count()
    finish_fork(fork_and_run(count))
    # A fork of a fork, whose pool was made after the first.
    finish_fork(fork_and_run(lambda: (count(), finish_fork(fork_and_run(count)))))
    stop = threading.Event()

    def keep_counting():
        while not stop.is_set():
            count()

    threads = [threading.Thread(target=keep_counting) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        finish_fork(fork_and_run(count))
    stop.set()
    for thread in threads:
        thread.join()
    count()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_pool_of_its_own():
    run_in_child(_count_after_forks)


def _interrupt_spin(n_threads):
    sent = []

    def send():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(KeyboardInterrupt):
        testing.spin(30.0, n_threads)
    waited = time.monotonic() - sent[0]
    assert testing.count_tasks(50, n_threads, False, NONE_FAILS) == [NESTED] * 50
    return waited


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_ctrl_c_ends_a_kernel_within_a_second(n_threads):
    assert run_in_child(_interrupt_spin, n_threads) < 1.0


def _raise_from_a_signal_handler():
    def handler(number, frame):
        raise RuntimeError("from the handler")

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    with pytest.raises(RuntimeError, match="from the handler"):
        testing.spin(30.0, 2)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs SIGALRM")
def test_a_signal_handler_of_the_users_runs_during_a_kernel():
    run_in_child(_raise_from_a_signal_handler)


def test_a_long_kernel_reports_its_progress():
    reports = []
    with native_progress(lambda done, total: reports.append((done, total))), pytest.raises(ValueError, match="not interrupted"):
        testing.spin(0.5, 2)
    assert len(reports) >= 2
    assert all(total == 2**30 and 0 <= done < total for done, total in reports)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    seen = len(reports)
    with pytest.raises(ValueError, match="not interrupted"):
        testing.spin(0.2, 2)
    assert len(reports) == seen, "progress is reported inside the block only"


def test_progress_belongs_to_the_thread_that_asked():
    reports = []

    def spin():
        with pytest.raises(ValueError, match="not interrupted"):
            testing.spin(0.3, 1)

    with native_progress(lambda *report: reports.append(threading.get_ident())):
        other = threading.Thread(target=spin)
        other.start()
        other.join()
    assert not reports


def test_blocks_of_progress_nest():
    first, second = [], []
    with native_progress(lambda *report: first.append(report)):
        with native_progress(lambda *report: second.append(report)), pytest.raises(ValueError):
            testing.spin(0.2, 1)
        assert second
        assert not first
        with pytest.raises(ValueError):
            testing.spin(0.2, 1)
    assert first


@pytest.mark.parametrize("n_threads", [1, 4])
def test_an_error_in_the_progress_callback_stops_the_kernel(n_threads):
    def fail(done, total):
        raise LookupError("from the callback")

    start = time.monotonic()
    with native_progress(fail), pytest.raises(LookupError, match="from the callback"):
        testing.spin(30.0, n_threads)
    assert time.monotonic() - start < 20
    assert testing.count_tasks(50, n_threads, False, NONE_FAILS) == [NESTED] * 50


def test_a_kernel_lets_other_python_threads_run():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(ValueError, match="not interrupted"):
        testing.spin(0.5, 1)
    count = len(ticks)
    stop.set()
    thread.join()
    assert count > 10


@pytest.mark.skipif("MERCER_SANITIZED" in os.environ, reason="AddressSanitizer ends the process where memory runs out")
def test_too_little_memory_is_a_memory_error():
    with pytest.raises(MemoryError):
        testing.allocate_too_much()
