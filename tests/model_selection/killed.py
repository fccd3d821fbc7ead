"""A search in a process of its own, to be killed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from mercer.model_selection import Reals, tune
from tests.common.children import SERVED
from tests.model_selection.data import numbers
from tests.model_selection.fakes import Shrunken, SweptShrunken

N_TRIALS = {"grid": 24, "sweep": 24, "bayesian": 20}


class Slow(Shrunken):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.004)
        return super().fit(X, y, sample_weight)


def search(kind, folder):
    """Search, note every finished trial in `log.txt`, and leave all of them in `result.json`."""
    X, y = numbers()
    space = {"alpha": np.logspace(-3, 3, 12), "power": [1, 2]}
    model, options = SweptShrunken() if kind == "sweep" else Slow(), {}
    if kind == "bayesian":
        space, options = {"alpha": Reals(1e-3, 1e3, log=True)}, {"search": "bayesian", "n_trials": N_TRIALS[kind]}

    def note(trial):
        with (Path(folder) / "log.txt").open("a") as file:
            file.write(f"{trial.number}\n")

    result = tune(model, X, y, space, storage=Path(folder) / "run.db", random_state=0, on_trial=note, **options)
    trials = [[trial.number, list(trial.fold_scores)] for trial in result.trials]
    (Path(folder) / "result.json").write_text(json.dumps(trials))


def start(kind, folder):
    process = SERVED.Process(target=search, args=(kind, str(folder)))
    process.start()
    return process
