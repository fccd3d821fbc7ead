"""Runs a contender in a process of its own, with one thread, and gives what it predicted and what it took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command._split import Case, Split
from benchmarks.command._tables import TARGET

MERCER, FLAML, BOOSTING, RANDOM_SEARCH = "mercer", "flaml", "boosting", "random search"
CONTENDERS = (MERCER, FLAML, BOOSTING, RANDOM_SEARCH)
WITHOUT_BUDGET = (BOOSTING,)  # measured once for all budgets
_GRACE = 600.0  # seconds beyond three times the budget; who needs more is ended
_POOLS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "MERCER", "NUMBA")
_running: set[subprocess.Popen[str]] = set()


class FailedError(RuntimeError):
    """The contender gave no predictions."""


@dataclass(frozen=True)
class Outcome:
    """Predictions for the test rows (numbers, or probabilities by the order of the split's classes), and facts of the fit."""

    values: Any
    facts: dict[str, Any]


@dataclass(frozen=True)
class Ways:
    """How contenders are started."""

    peers: Path  # the Python that has FLAML
    options: Sequence[str] = ()  # of `mercer train`, beside those that every run has
    keep: Path | None = None  # where run folders stay


def run(contender: str, case: Case, split: Split, ways: Ways, folder: Path) -> Outcome:
    before = os.getloadavg()[0]
    started = time.perf_counter()
    outcome = (_run_mercer if contender == MERCER else _run_peer)(contender, case, split, ways, folder)
    machine = {"seconds_in_all": time.perf_counter() - started, "load": max(before, os.getloadavg()[0])}
    return Outcome(outcome.values, {**outcome.facts, **machine})


def _run_mercer(contender: str, case: Case, split: Split, ways: Ways, folder: Path) -> Outcome:
    """The command as a user types it; it takes its own test rows from those that it is given."""
    import polars as pl

    parent = ways.keep or folder
    run_folder = _fresh(parent / f"{case.table.name} {case.seed} {case.seconds:g}s".replace(" ", "-").replace(":", ""))
    out = folder / "predictions.parquet"
    task = "classification" if case.table.is_classification else "regression"
    asked = ["--time", f"{case.seconds:g}s", "--metric", case.table.measure, "--task", task, "--seed", str(case.seed)]
    command = [sys.executable, "-m", "mercer"]
    started = time.perf_counter()
    _call([*command, "train", str(split.train), "-t", TARGET, *asked, *ways.options, "--out", str(run_folder), "--json"], case)
    taken = time.perf_counter() - started
    _call([*command, "predict", str(run_folder), str(split.test), "--out", str(out)], case)
    table = pl.read_parquet(out)
    if split.classes is None:
        values = table["prediction"].to_numpy()
    else:
        names = [f"probability_{label}" for label in split.classes]
        if missing := set(names) - set(table.columns):
            raise FailedError(f"the predictions of the run have no column {min(missing)}")
        values = table.select(names).to_numpy()
    report = json.loads((run_folder / "report.json").read_text())
    facts = {"winner": report["best"]["model"], "seconds_taken": taken, "bytes": _size(run_folder / "model.mercer")}
    return Outcome(values, {**facts, **_mercer_version(), "options": list(ways.options)})


def _run_peer(contender: str, case: Case, split: Split, ways: Ways, folder: Path) -> Outcome:
    if not ways.peers.exists():
        raise FailedError(f"not available: there is no {ways.peers} (made by make bench GROUP=command; --peers names another)")
    task = {
        "peer": contender,
        "folder": str(folder),
        "is_classification": case.table.is_classification,
        "measure": case.table.measure,
        "seed": case.seed,
        "seconds": case.seconds,
        "target": TARGET,
        "train": str(split.train),
        "test": str(split.test),
        "values": str(folder / "values.npy"),
        "facts": str(folder / "facts.json"),
    }
    (folder / "task.json").write_text(json.dumps(task))
    script = Path(__file__).with_name("_peers.py")
    _call([str(ways.peers), str(script), str(folder / "task.json")], case, without=("PYTHONPATH",))
    facts = json.loads(Path(task["facts"]).read_text())
    values = np.load(task["values"])
    if split.classes is not None:
        places = facts.pop("classes")
        values = values[:, [places.index(label) for label in split.classes]]
    return Outcome(values, facts)


def _call(command: Sequence[str], case: Case, *, without: Sequence[str] = ()) -> None:
    """Run a program with one thread a pool; ended with all that it started when it takes far too long."""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {f"{pool}_NUM_THREADS": "1" for pool in _POOLS} | {"POLARS_MAX_THREADS": "1"}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    _running.add(process)
    try:
        _, said = process.communicate(timeout=3 * case.seconds + _GRACE)
    except subprocess.TimeoutExpired:
        _end(process)
        raise FailedError(f"ended after {3 * case.seconds + _GRACE:g} s") from None
    finally:
        _running.discard(process)
    if process.returncode:
        last = [line for line in said.strip().splitlines() if line.strip()][-3:]
        raise FailedError(f"exit code {process.returncode}: {' / '.join(last)}")


def end_all() -> None:
    """What runs in any thread is ended; its case fails."""
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _fresh(folder: Path) -> Path:
    """The first name that nothing has: a run folder is never written twice."""
    names = (folder.with_name(folder.name + (f"-{i}" if i else "")) for i in range(1000))
    return next(name for name in names if not name.exists())


def _size(path: Path) -> int:
    return sum(part.stat().st_size for part in path.rglob("*")) if path.is_dir() else path.stat().st_size


def _mercer_version() -> Mapping[str, Any]:
    import mercer
    from mercer._native import variant

    return {"versions": {"mercer": mercer.__version__, "native variant": variant}}
