"""A fresh process that imports one class: the time before the first line of a program does anything."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality

# One class of each family, and those of large families that stand on the most files.
NAMES = (
    "calibration.CalibratedClassifierCV",
    "cluster.KMeans",
    "ensemble.BaggingClassifier",
    "ensemble.HistGradientBoostingClassifier",
    "ensemble.RandomForestClassifier",
    "ensemble.StackingClassifier",
    "linear_model.LogisticRegressionCV",
    "linear_model.PoissonRegressor",
    "linear_model.Ridge",
    "linear_model.SGDClassifier",
    "metrics.roc_auc_score",
    "model_selection.GridSearchCV",
    "pipeline.Pipeline",
    "preprocessing.StandardScaler",
    "svm.LinearSVC",
    "tree.DecisionTreeClassifier",
)


@dataclass(frozen=True)
class FirstLine:
    """The first line of a program, run by a Python of its own."""

    line: str

    def run(self, more: str = "") -> str:
        """What the program prints."""
        command = [sys.executable, "-c", f"{self.line}\n{more}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _no_data() -> Data:
    return Data(np.empty(0))


def _run(program: FirstLine, data: Data) -> None:
    program.run()


def _count_modules(program: FirstLine, outcome: None, data: Data) -> float:
    return float(program.run("import sys; print(len(sys.modules))"))


def cases() -> Iterator[Case]:
    quality = Quality("modules loaded", _count_modules, rtol=math.inf)  # told, not judged
    packages = {MERCER: "mercer", SCIKIT_LEARN: "sklearn"}
    for full_name in NAMES:
        module, name = full_name.split(".")
        contenders = tuple(
            Contender(who, "benchmarks.cases_import:FirstLine", {"line": f"from {package}.{module} import {name}"})
            for who, package in packages.items()
        )
        yield Case("A process that imports one class", full_name, _no_data, contenders, _run, quality)
