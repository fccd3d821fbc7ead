"""Calibration of a cheap classifier: most of the time is spent on the maps themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks._case import SCIKIT_LEARN, Case, Data, Quality, contenders


@lru_cache(maxsize=1)
def _overconfident(n: int, n_classes: int) -> Data:
    """Columns that say the same twice over, so that naive Bayes is too sure."""
    random = np.random.default_rng(0)
    first = random.normal(size=(n, 2))
    y = np.digitize(first[:, 0] + random.normal(size=n), np.linspace(-1, 1, n_classes - 1) if n_classes > 2 else [0.0])
    return Data(np.column_stack([first, first + 0.1 * random.normal(size=(n, 2))]), y)


def _prepare(estimator: Any, data: Data, *, method: str) -> Any:
    return estimator(GaussianNB(), method=method)


def _prepare_fitted(estimator: Any, data: Data, *, method: str) -> Any:
    return _prepare(estimator, data, method=method).fit(data.X, data.y)


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def _predict(model: Any, data: Data) -> Any:
    return model.predict_proba(data.X)


def _log_loss(model: Any, outcome: Any, data: Data) -> float:
    proba = np.asarray(model.predict_proba(data.X), dtype=np.float64)
    return float(-np.log(np.maximum(proba[np.arange(len(data.y)), data.y], 1e-15)).mean())


def cases() -> Iterator[Case]:
    quality = Quality("log loss", _log_loss, rtol=1e-3)
    for what, prepare, run in (("fit", _prepare, _fit), ("predict_proba", _prepare_fitted, _predict)):
        for method in ("sigmoid", "isotonic"):
            for n, n_classes in ((1_000, 2), (100_000, 2), (100_000, 4), (1_000_000, 2)):
                yield Case(
                    f"CalibratedClassifierCV {what}",
                    f"{method}, {n:,} x 4, {n_classes} classes",
                    partial(_overconfident, n, n_classes),
                    contenders("calibration.CalibratedClassifierCV", peers=(SCIKIT_LEARN,)),
                    run,
                    quality,
                    prepare=partial(prepare, method=method),
                    is_quick=n == 1_000,
                )
