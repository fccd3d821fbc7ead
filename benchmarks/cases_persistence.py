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
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

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
    "forest of 10 trees, 50 rows": ("ensemble.RandomForestClassifier", {"n_estimators": 10, "random_state": 0, "n_jobs": 1}),
}


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mercer-bench-")


def _rows(n: int) -> tuple[Any, Any]:
    """Rows of three classes."""
    random = np.random.RandomState(0)
    X = random.randn(n, 20)
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.randn(n), [-0.7, 0.7])


def _made(target: str, params: dict[str, Any]) -> Any:
    module, _, estimator = target.rpartition(".")
    return getattr(importlib.import_module(f"mercer.{module}"), estimator)(**params)


def _sparse() -> Data:
    """Twenty thousand words, and coefficients that are a sparse matrix."""
    random = np.random.RandomState(0)
    X = sp.random(2_000, 20_000, density=0.005, format="csr", random_state=random)
    y = np.asarray(X[:, :50].sum(axis=1)).ravel() > 0.1
    model = _made("linear_model.LogisticRegression", {"l1_ratio": 1.0, "C": 10.0, "solver": "saga"}).fit(X, y)
    return Data(X, y, start=model.sparsify())


def _texts() -> Data:
    """A search over a pipeline from texts: vocabulary, weights, and the table of results."""
    random = np.random.RandomState(0)
    words = np.array([f"word{place}" for place in range(20_000)])
    X = [" ".join(words[(random.pareto(1.0, size=30) * 20).astype(int) % len(words)]) for _ in range(1_000)]
    y = random.randint(2, size=len(X))
    model = make_pipeline(TfidfVectorizer(), _made("linear_model.LogisticRegression", {}))
    return Data(X, y, start=GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, y))


@lru_cache(maxsize=1)
def _fitted(name: str) -> Data:
    """`start` is the model, with which the case begins."""
    if name in _OTHERS:
        return _OTHERS[name]()
    X, y = _rows(50 if "50 rows" in name else 20_000)
    return Data(X, y, start=_made(*_MODELS[name]).fit(X, y))


_OTHERS = {"sparse coefficients of 20,000 words": _sparse, "search over texts": _texts}


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
    for name in (*_MODELS, *_OTHERS):
        for table, run, quality in (("save", _save, size), ("load", _load, same), ("load, mapped", _map, same)):
            yield Case(
                table,
                name,
                make_data=lambda name=name: _fitted(name),
                contenders=_CONTENDERS,
                prepare=_written,
                run=run,
                quality=quality,
                is_quick="100" in name,
            )
