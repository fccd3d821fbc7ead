"""A real cluster of processes: the same bits, whoever does the work and whoever is killed; an error where nobody is left."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from mercer._parts import collections as dask_parts
from mercer.cluster import KMeans
from mercer.linear_model import LogisticRegression, Ridge
from tests.parts.families import in_parts, table

X, NUMBERS, LABELS, _ = table()


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as made:
        yield made


def from_disk(folder: Path, array: Any, name: str, rows: int) -> da.Array:
    """Blocks that any worker can read again."""
    path = folder / f"{name}.npy"
    np.save(path, array)

    def read(block_info: Any) -> Any:
        first, last = block_info[None]["array-location"][0]
        return np.load(path)[first:last]

    heights = tuple(min(rows, len(array) - first) for first in range(0, len(array), rows))
    return da.map_blocks(read, chunks=(heights, *((n,) for n in array.shape[1:])), dtype=array.dtype)


def test_processes_give_the_bits_of_one(client: Client, tmp_path: Path) -> None:
    cuts = [60, 120, 180]
    rows, target = from_disk(tmp_path, X, "X", 60), from_disk(tmp_path, NUMBERS, "y", 60)
    here, there = Ridge().fit(in_parts(X, cuts), in_parts(NUMBERS, cuts)), Ridge().fit(rows, target)
    assert (here.coef_ == there.coef_).all()
    assert (there.predict(rows).compute() == here.predict(X)).all()
    here, there = KMeans(3, random_state=0).fit(in_parts(X, cuts)), KMeans(3, random_state=0).fit(rows)
    assert (here.cluster_centers_ == there.cluster_centers_).all()


def test_what_is_wrong_with_a_part_comes_back_from_a_process(client: Client, tmp_path: Path) -> None:
    bad = X.copy()
    bad[200] = np.inf
    with pytest.raises(ValueError, match=r"(?s)infinity.*in part 3"):
        Ridge().fit(from_disk(tmp_path, bad, "bad", 60), from_disk(tmp_path, NUMBERS, "y", 60))


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6])
def test_a_worker_that_is_killed_changes_nothing(client: Client, tmp_path: Path, delay: float) -> None:
    rows, target = from_disk(tmp_path, X, "X", 20), from_disk(tmp_path, LABELS, "y", 20)
    expected = LogisticRegression(tol=1e-8).fit(rows, target).coef_
    victim = min(client.run(os.getpid).values())
    timer = threading.Timer(delay, os.kill, (victim, signal.SIGKILL))
    timer.start()
    for _ in range(3):
        assert (LogisticRegression(tol=1e-8).fit(rows, target).coef_ == expected).all()
    timer.join()


@pytest.mark.slow
def test_without_workers_a_fit_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_parts, "PATIENCE", 1.0)
    rows, target = from_disk(tmp_path, X, "X", 60), from_disk(tmp_path, NUMBERS, "y", 60)
    with (
        LocalCluster(n_workers=0, processes=True, dashboard_address=None) as empty,
        Client(empty),
        pytest.raises(RuntimeError, match="no worker is left"),
    ):
        Ridge().fit(rows, target)
