"""Runs a contender in a process of its own, with one thread, and gives what it predicted and what it took."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command._process import FailedError, Used, run_alone
from benchmarks.command._split import Case, Split
from benchmarks.command._tables import TARGET

MERCER, FLAML, BOOSTING, RANDOM_SEARCH = "mercer", "flaml", "boosting", "random search"
CONTENDERS = (MERCER, FLAML, BOOSTING, RANDOM_SEARCH)
WITHOUT_BUDGET = (BOOSTING,)  # measured once for all budgets
_GRACE = 600.0  # seconds beyond three times the budget; who needs more is ended


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
    outcome = (_run_mercer if contender == MERCER else _run_peer)(contender, case, split, ways, folder)
    return Outcome(outcome.values, {**outcome.facts, "load": max(before, os.getloadavg()[0])})


def _run_mercer(contender: str, case: Case, split: Split, ways: Ways, folder: Path) -> Outcome:
    """The command as a user types it; it takes its own test rows from those that it is given."""
    import polars as pl

    parent = ways.keep or folder
    run_folder = _fresh(parent / f"{case.table.name} {case.seed} {case.seconds:g}s".replace(" ", "-").replace(":", ""))
    out = folder / "predictions.parquet"
    task = "classification" if case.table.is_classification else "regression"
    asked = ["--time", f"{case.seconds:g}s", "--metric", case.table.measure, "--task", task, "--seed", str(case.seed)]
    command = [sys.executable, "-m", "mercer"]
    asked += [*ways.options, "--out", str(run_folder), "--json"]
    used = run_alone([*command, "train", str(split.train), "-t", TARGET, *asked], _limit(case))
    run_alone([*command, "predict", str(run_folder), str(split.test), "--out", str(out)], _limit(case))
    table = pl.read_parquet(out)
    if split.classes is None:
        values = table["prediction"].to_numpy()
    else:
        names = [f"probability_{label}" for label in split.classes]
        if missing := set(names) - set(table.columns):
            raise FailedError(f"the predictions of the run have no column {min(missing)}")
        values = table.select(names).to_numpy()
    report = json.loads((run_folder / "report.json").read_text())
    facts = {"winner": report["best"]["model"], "seconds_taken": used.seconds, "bytes": _size(run_folder / "model.mercer")}
    return Outcome(values, {**facts, **_of_process(used), **_mercer_version(), "options": list(ways.options)})


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
    used = run_alone([str(ways.peers), str(script), str(folder / "task.json")], _limit(case), without=("PYTHONPATH",))
    facts = json.loads(Path(task["facts"]).read_text())
    values = np.load(task["values"])
    if split.classes is not None:
        places = facts.pop("classes")
        values = values[:, [places.index(label) for label in split.classes]]
    return Outcome(values, {**facts, **_of_process(used)})


def _limit(case: Case) -> float:
    return 3 * case.seconds + _GRACE


def _of_process(used: Used) -> dict[str, float]:
    return {"processor_seconds": used.processor_seconds, "peak_bytes": used.peak_bytes}


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
