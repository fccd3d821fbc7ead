"""Results on disk: one JSON file, and beside it a folder with the predictions, each written when it is there."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command._contenders import WITHOUT_BUDGET, Outcome
from benchmarks.command._split import Case, Split

Entry = dict[str, Any]


def key_of(contender: str, case: Case) -> str:
    budget = "" if contender in WITHOUT_BUDGET else f" | {case.seconds:g} s"
    return f"{case.table.name} | seed {case.seed}{budget} | {contender}"


class Store:
    """What is known already. A run that was cut off finds here what it need not measure again."""

    def __init__(self, path: Path, machine: dict[str, str]) -> None:
        self._path, self._folder = path, path.with_suffix("")
        self._lock = threading.Lock()
        kept = json.loads(path.read_text()) if path.exists() else {"machine": machine, "results": {}}
        self.machine, self._results = kept["machine"], kept["results"]

    def get(self, contender: str, case: Case) -> Entry | None:
        return self._results.get(key_of(contender, case))

    def forget(self, contender: str, case: Case) -> None:
        self._results.pop(key_of(contender, case), None)

    def is_done(self, contender: str, case: Case, split: Split) -> bool:
        """A result that failed is no result: it is tried again."""
        entry = self.get(contender, case)
        return entry is not None and "problem" not in entry and entry["data"] == split.digest

    def put(self, contender: str, case: Case, entry: Entry, split: Split, outcome: Outcome | None) -> None:
        with self._lock:
            if outcome is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
                entry["predictions"] = key_of(contender, case).replace(" | ", "-").replace(" ", "-").replace(":", "") + ".npz"
                np.savez_compressed(self._folder / entry["predictions"], y=split.y_test, values=outcome.values)
            self._results[key_of(contender, case)] = entry
            whole = self._path.with_name(self._path.name + ".part")
            whole.write_text(json.dumps({"machine": self.machine, "results": self._results}, indent=1) + "\n")
            os.replace(whole, self._path)

    def predictions(self, entry: Entry) -> tuple[Any, Any]:
        """The truth of the test rows, and what was predicted for them."""
        with np.load(self._folder / entry["predictions"]) as arrays:
            return arrays["y"], arrays["values"]
