"""Models to files and back, against joblib (which executes what it reads)."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import joblib
import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality


@dataclass(frozen=True)
class Files:
    """A way of writing and reading models."""

    name: str
    write: Callable[[Any, str], Any]
    read: Callable[[str], Any]
    map: Callable[[str], Any]

    @property
    def path(self) -> str:
        return os.path.join(_folder().name, self.name)


def mercer_files() -> Files:
    import mercer

    return Files("mercer", mercer.save, mercer.load, lambda path: mercer.load(path, mmap=True))


def joblib_files() -> Files:
    return Files("joblib", joblib.dump, joblib.load, lambda path: joblib.load(path, mmap_mode="r"))


_CONTENDERS = tuple(Contender(who, f"{__name__}:{who}_files") for who in (MERCER, "joblib"))
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "forest of 100 trees": ("ensemble.RandomForestClassifier", {"n_estimators": 100, "random_state": 0, "n_jobs": -1}),
    "300 boosted trees": ("ensemble.GradientBoostingClassifier", {"n_estimators": 100, "random_state": 0}),
    "logistic regression": ("linear_model.LogisticRegression", {}),
}


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mercer-bench-")


@lru_cache(maxsize=1)
def _fitted(name: str) -> Data:
    """Rows of three classes; `start` is the model, with which the case begins."""
    random = np.random.RandomState(0)
    X = random.randn(20_000, 20)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.randn(len(X)), [-0.7, 0.7])
    target, params = _MODELS[name]
    module, _, estimator = target.rpartition(".")
    return Data(X, y, start=getattr(importlib.import_module(f"mercer.{module}"), estimator)(**params).fit(X, y))


def _written(make: Any, data: Data) -> Files:
    way: Files = make()
    way.write(data.start, way.path)
    return way


def _save(way: Files, data: Data) -> Any:
    """To a new file: where there is an old one, Mercer waits for the disk so that one of both is left, and joblib does not."""
    if os.path.exists(way.path):
        os.unlink(way.path)
    way.write(data.start, way.path)
    return way


def _load(way: Files, data: Data) -> Any:
    return way.read(way.path)


def _map(way: Files, data: Data) -> Any:
    return way.map(way.path)


def _size(way: Files, outcome: Any, data: Data) -> float:
    return float(os.path.getsize(way.path))


def _differences(way: Files, outcome: Any, data: Data) -> float:
    return float((outcome.predict_proba(data.X[:1000]) != data.start.predict_proba(data.X[:1000])).sum())


def cases() -> Iterator[Case]:
    size, same = Quality("bytes", _size, rtol=1.0), Quality("probabilities that differ", _differences)
    for name in _MODELS:
        for table, run, quality in (("save", _save, size), ("load", _load, same), ("load, mapped", _map, same)):
            yield Case(
                table,
                name,
                make_data=lambda name=name: _fitted(name),
                contenders=_CONTENDERS,
                prepare=_written,
                run=run,
                quality=quality,
                is_quick="forest" in name,
            )
