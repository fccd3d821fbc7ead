"""How many threads there are, how many are used, and how other libraries' threads are kept in step."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg.cython_blas  # noqa: F401  (loads the BLAS whose threads are limited)
import threadpoolctl

from mercer import _parallel
from mercer._native import kernels
from mercer._parallel import available_cpus, effective_threads, serial_blas
from tests.common.children import finish_fork, fork_and_run, run_in_child


@pytest.fixture
def sixteen_cpus(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)


@pytest.fixture
def group(tmp_path):
    """Makes a file in a false tree of control groups, whose root is tmp_path/tree."""
    (tmp_path / "tree").mkdir()

    def write(path, text):
        target = tmp_path / "tree" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    return write


def _cpus(tmp_path, membership):
    (tmp_path / "membership").write_text(membership)
    return available_cpus(tmp_path / "tree", tmp_path / "membership")


# ---- version 2: one tree, "quota period" in cpu.max


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("400000 100000", 4),
        ("250000 100000", 3),
        ("50000 100000", 1),
        ("max 100000", 16),
        ("9900000 100000", 16),
        ("nonsense", 16),
        ("", 16),
    ],
)
def test_a_quota_of_version_2_counts_started_processors(tmp_path, group, sixteen_cpus, quota, expected):
    group("a/b/cpu.max", f"{quota}\n")
    assert _cpus(tmp_path, "0::/a/b\n") == expected


def test_the_smallest_quota_on_the_way_to_the_root_of_version_2_counts(tmp_path, group, sixteen_cpus):
    group("cpu.max", "max 100000")
    group("a/cpu.max", "200000 100000")
    group("a/b/cpu.max", "800000 100000")
    assert _cpus(tmp_path, "0::/a/b\n") == 2
    assert _cpus(tmp_path, "0::/\n") == 16


def test_a_quota_outside_the_tree_does_not_count(tmp_path, group, sixteen_cpus):
    group("a/keep", "")
    (tmp_path / "cpu.max").write_text("100000 100000")
    assert _cpus(tmp_path, "0::/a\n") == 16


# ---- version 1: a tree a controller, quota and period in files of their own


@pytest.mark.parametrize(("quota", "expected"), [("400000", 4), ("150000", 2), ("-1", 16), ("0", 16), ("nonsense", 16)])
@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
def test_a_quota_of_version_1_counts_started_processors(tmp_path, group, sixteen_cpus, quota, expected, folder):
    group(f"{folder}/a/cpu.cfs_quota_us", quota)
    group(f"{folder}/a/cpu.cfs_period_us", "100000")
    assert _cpus(tmp_path, "12:memory:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/x\n0::/x\n") == expected


def test_controllers_other_than_cpu_do_not_count(tmp_path, group, sixteen_cpus):
    group("cpuset/a/cpu.cfs_quota_us", "100000")
    group("cpuset/a/cpu.cfs_period_us", "100000")
    assert _cpus(tmp_path, "3:cpuset:/a\n2:cpuacct:/a\n") == 16


def test_no_control_groups_leave_the_affinity(tmp_path, sixteen_cpus):
    assert available_cpus(tmp_path / "nowhere", tmp_path / "missing") == 16
    assert _cpus(tmp_path, "") == 16
    assert _cpus(tmp_path, "0::/gone/away\n") == 16


def test_a_malformed_membership_is_passed_over(tmp_path, group, sixteen_cpus):
    group("a/cpu.max", "200000 100000")
    assert _cpus(tmp_path, "nonsense\n\n0::/a\n") == 2


def test_a_group_seen_from_inside_a_namespace_ends_at_the_root(tmp_path, group, sixteen_cpus):
    group("cpu.max", "300000 100000")
    assert _cpus(tmp_path, "0::/../../elsewhere\n") == 3


def test_affinity_limits_the_count(tmp_path, monkeypatch, group):
    group("a/cpu.max", "800000 100000")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert _cpus(tmp_path, "0::/a\n") == 2


def test_without_affinity_the_processors_are_counted(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert available_cpus(tmp_path, tmp_path / "missing") == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus(tmp_path, tmp_path / "missing") == 1


# ---- environment


def _limit(**environment):
    code = "import mercer._parallel as p; print(p.kernels.get_num_threads(), p.available_cpus())"
    kept = {name: value for name, value in os.environ.items() if name not in ("MERCER_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, timeout=60, check=False
    )
    return [int(word) for word in done.stdout.split()] or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"MERCER_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "5"}, 5),
        ({"OMP_NUM_THREADS": "6,2"}, 6),
        ({"MERCER_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3),
        ({"MERCER_NUM_THREADS": "", "OMP_NUM_THREADS": "5"}, 5),
        ({"MERCER_NUM_THREADS": " 7 "}, 7),
    ],
)
def test_the_environment_sets_the_limit(environment, expected):
    assert _limit(**environment)[0] == expected


def test_without_environment_the_limit_is_what_the_process_may_use():
    limit, available = _limit()
    assert limit == available
    assert _limit(OMP_NUM_THREADS="many") == [available, available]


@pytest.mark.parametrize("value", ["0", "-2", "many", "1.5"])
def test_a_bad_limit_is_refused_by_name(value):
    message = _limit(MERCER_NUM_THREADS=value)
    assert message == f"ValueError: The environment variable MERCER_NUM_THREADS={value!r} must be an integer >= 1."


# ---- n_jobs and threadpoolctl


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-4, 1), (-100, 1), (1, 1), (3, 3), (4, 4), (99, 4)]
)
def test_effective_threads_follow_n_jobs_and_the_limit(n_jobs, expected):
    with threadpoolctl.threadpool_limits(4, user_api="mercer"):
        assert effective_threads(n_jobs) == expected


def test_threadpoolctl_sees_and_limits_mercer():
    before = kernels.get_num_threads()
    with threadpoolctl.threadpool_limits(3, user_api="mercer"):
        assert kernels.get_num_threads() == 3
        (pool,) = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "mercer"]
        assert pool["num_threads"] == 3
        assert pool["internal_api"] == "mercer"
        assert "_kernels_" in pool["filepath"]
        assert pool["version"]
        with threadpoolctl.threadpool_limits(1):
            assert kernels.get_num_threads() == 1
        assert kernels.get_num_threads() == 3
    assert kernels.get_num_threads() == before


# ---- BLAS


def _blas_threads():
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    limits = threadpoolctl.threadpool_limits(2, user_api="blas")
    _parallel._give_up_control()
    if set(_blas_threads()) != {2}:
        pytest.skip("this BLAS has no threads to limit")
    yield
    limits.restore_original_limits()
    _parallel._give_up_control()


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_is_serial_inside_and_as_before_outside():
    with serial_blas():
        assert set(_blas_threads()) == {1}
        with serial_blas():
            assert set(_blas_threads()) == {1}
        assert set(_blas_threads()) == {1}
    assert set(_blas_threads()) == {2}
    with pytest.raises(ZeroDivisionError), serial_blas():
        raise ZeroDivisionError
    assert set(_blas_threads()) == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_threads_that_overlap_restore_blas_when_the_last_leaves():
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def first():
        with serial_blas():
            first_in.set()
            second_in.wait(10)
        first_out.set()

    def second():
        first_in.wait(10)
        with serial_blas():
            second_in.set()
            first_out.wait(10)
            seen.extend(_blas_threads())

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert set(seen) == {1}
    assert set(_blas_threads()) == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_a_thread_that_has_left_leaves_blas_to_others():
    leave = threading.Event()

    def stay():
        with serial_blas():
            pass
        leave.wait(10)

    thread = threading.Thread(target=stay)
    thread.start()
    try:
        with serial_blas():
            assert set(_blas_threads()) == {1}
        with threadpoolctl.threadpool_limits(1, user_api="blas"):
            assert set(_blas_threads()) == {1}
        assert set(_blas_threads()) == {2}
    finally:
        leave.set()
        thread.join()


@pytest.mark.usefixtures("two_blas_threads")
def test_many_threads_in_and_out_leave_blas_as_it_was():
    def work(seed):
        for _ in range(20):
            with serial_blas(), serial_blas():
                np.dot(np.ones((20, 20)), np.ones((20, 20)))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))
    assert set(_blas_threads()) == {2}
    assert _parallel._serial_blas._users == 0


def _fork_beside_threads_that_limit_blas(n_forks):
    stop = threading.Event()

    def limit():
        with serial_blas():
            pass

    def keep_limiting():
        while not stop.is_set():
            limit()

    threads = [threading.Thread(target=keep_limiting) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(n_forks):
            finish_fork(fork_and_run(limit))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_finds_no_lock_of_blas_taken():
    """One in ten of such forks hung for good: another thread was setting OpenBLAS's threads when the process was copied."""
    run_in_child(_fork_beside_threads_that_limit_blas, 40, timeout=120)
