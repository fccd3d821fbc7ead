"""Jobs side by side: their order, their share of the cores, and what is left behind where they are left early."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
import threadpoolctl

from mercer._jobs import count_workers, run_jobs
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.linear_model import LogisticRegression, Ridge
from mercer.model_selection import tune
from tests.model_selection.fakes import Shrunken


@pytest.fixture(autouse=True)
def _quiet_and_tidy():
    """Nothing warns, and what the process was limited to stays."""
    limits = _limits()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert _limits() == limits


def _limits():
    return [(library["filepath"], library["num_threads"]) for library in threadpoolctl.threadpool_info()]


def _square(number):
    return number**2


@pytest.mark.parametrize("in_threads", [False, True])
@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_the_order_of_the_jobs(n_jobs, in_threads):
    jobs = [partial(_square, number) for number in range(5)]
    with joblib.parallel_config(backend="threading"), run_jobs(jobs, n_jobs, in_threads=in_threads) as results:
        assert list(results) == [0, 1, 4, 9, 16]


def test_none_means_one_job_unless_joblib_is_told_otherwise():
    assert count_workers(None) == 1
    with joblib.parallel_config(n_jobs=3):
        assert count_workers(None) == 3
        assert count_workers(2) == 2


def test_threads_share_the_cores_and_leave_the_limit_alone():
    before = kernels.get_num_threads()
    kernels.set_num_threads(8)
    try:
        with run_jobs([partial(effective_threads, n_jobs) for n_jobs in (None, 3, 1)], 2, in_threads=True) as results:
            assert list(results) == [4, 3, 1]
        assert effective_threads(None) == kernels.get_num_threads() == 8
        with run_jobs([lambda: list(_nested())] * 2, 2, in_threads=True) as results:
            assert list(results) == [[2, 2]] * 2
    finally:
        kernels.set_num_threads(before)


def _nested():
    with run_jobs([partial(effective_threads, None)] * 2, 2, in_threads=True) as results:
        yield from results


def test_concurrent_users_leave_the_limits_as_they_were():
    X = np.random.RandomState(0).randn(30, 3)

    def work(number):
        if number % 2:
            with (
                pytest.raises(ZeroDivisionError),
                run_jobs([lambda: 1 / 0, partial(effective_threads, None)] * 2, 2, in_threads=True) as results,
            ):
                list(results)
        tune(Ridge(), X, X[:, 0], {"alpha": [1.0, 2.0, 3.0]}, n_jobs=2, on_trial=lambda trial: trial.number == number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("how", ["early", "error", "Ctrl-C"])
def test_jobs_that_have_not_begun_never_do(how):
    begun, is_left = [], threading.Event()

    def job(number):
        begun.append(number)
        if number:
            is_left.wait(30)
        return number

    try:
        with run_jobs([partial(job, number) for number in range(6)], 2, in_threads=True, is_left=is_left) as results:
            assert next(results) == 0
            if how == "error":
                raise ValueError("enough")
            if how == "Ctrl-C":
                raise KeyboardInterrupt
    except (ValueError, KeyboardInterrupt):
        pass
    assert is_left.is_set()
    assert 5 not in begun


def test_who_leaves_early_waits_for_the_jobs_at_work_and_not_for_their_errors():
    ended, is_left = [], threading.Event()

    def fail_late():
        is_left.wait(30)
        ended.append(True)
        raise ValueError("nobody hears it")

    with run_jobs([lambda: "first", fail_late], 2, in_threads=True, is_left=is_left) as results:
        assert next(results) == "first"
    assert ended == [True]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_or_ctrl_c_waits_for_no_job(error):
    release, ended = threading.Event(), []

    def stubborn():
        release.wait(30)
        ended.append(True)

    def fail():
        raise error

    with pytest.raises(error), run_jobs([fail, stubborn, stubborn], 2, in_threads=True) as results:
        list(results)
    assert not ended
    release.set()


def test_kernels_of_jobs_that_are_left_stop():
    stopped = threading.Event()

    def spin():
        try:
            kernels.testing.spin(30.0, 1)
        finally:
            stopped.set()

    with run_jobs([lambda: None, spin], 2, in_threads=True) as results:
        next(results)
    assert stopped.is_set()  # and not by its own end, which is an error


def test_ctrl_c_in_a_search_with_two_jobs_does_not_wait_for_running_fits():
    release, begun, ended = threading.Event(), threading.Event(), []

    class Stubborn(Shrunken):
        def fit(self, X, y, sample_weight=None):
            if self.alpha == 3.0:
                begun.set()
                release.wait(30)
                ended.append(True)
            return super().fit(X, y, sample_weight)

    def interrupt():
        begun.wait(30)
        time.sleep(0.2)  # so that the search waits for the fit that has begun
        signal.raise_signal(signal.SIGINT)

    X = np.random.RandomState(0).randn(30, 3)
    helper = threading.Thread(target=interrupt)
    helper.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of pytest ignore it
    try:
        result = tune(Stubborn(), X, X[:, 0], {"alpha": [1.0, 2.0, 3.0]}, n_jobs=2, refit=False)
        helper.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status == "interrupted"
    assert not ended
    release.set()


def test_early_stops_with_two_jobs_are_quiet():
    X = np.random.RandomState(0).randn(40, 3)
    for number in range(10):
        space = {"solver": ["lbfgs", "newton-cg"], "C": [0.1, 1.0, 10.0]}
        found = tune(
            LogisticRegression(), X, X[:, 0] > 0, space, cv=2, n_jobs=2, on_trial=lambda t, n=number: t.number == n % 3
        )
        assert found.status == "stopped"
