"""Models on neighbours: predictions, the choice of k, outlier factors, new rows of a rare class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality, contenders

IMBALANCED_LEARN = "imbalanced-learn"
NUMBERS = tuple(range(1, 31))
PREDICT = "k-NN: predict, k = 10"
ONE_ROW = "k-NN: predict one row at a time, 200 times"
CHOICE = "k-NN: choose k among 30 by 5 folds"
OUTLIERS = "Local outlier factors, k = 20"
OVERSAMPLING = "SMOTE"


@lru_cache(maxsize=2)
def classes(n: int, d: int, n_queries: int) -> Data:
    """Two classes that overlap, and queries of both."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n + n_queries)
    X = random.normal(size=(n + n_queries, d)) + 0.5 * y[:, None]
    return Data(np.ascontiguousarray(X[:n]), y[:n], start=(np.ascontiguousarray(X[n:]), y[n:]))


@lru_cache(maxsize=1)
def cloud(n: int, d: int) -> Data:
    """Two clouds of different density, and rows far from both."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(n // 2, d)), 5 + 0.3 * random.normal(size=(n - n // 2, d))])
    X[::100] += 10 * random.normal(size=X[::100].shape)
    return Data(X)


@lru_cache(maxsize=1)
def rare(n: int, d: int, share: float) -> Data:
    random = np.random.default_rng(0)
    y = (random.random(n) < share).astype(int)
    return Data(random.normal(size=(n, d)) + 0.5 * y[:, None], y)


# ---- predictions


def fitted(estimator: Any, data: Data) -> Any:
    return estimator(n_neighbors=10).fit(data.X, data.y)


def predict(model: Any, data: Data) -> Any:
    return model.predict(data.start[0])


def predict_one_by_one(model: Any, data: Data) -> Any:
    return np.concatenate([model.predict(data.start[0][row : row + 1]) for row in range(200)])


def error_rate(model: Any, outcome: Any, data: Data) -> float:
    return float((outcome != data.start[1][: len(outcome)]).mean())


# ---- the choice of k


def choose_by_sweeps() -> Any:
    from mercer.neighbors import KNeighborsClassifierCV

    return KNeighborsClassifierCV(NUMBERS, cv=5)


def choose_by_grid() -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier

    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": NUMBERS}, cv=5, n_jobs=-1)


def fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def lost_score(model: Any, outcome: Any, data: Data) -> float:
    return 1.0 - float(outcome.best_score_)


# ---- outliers and over-sampling


def total_factor(model: Any, outcome: Any, data: Data) -> float:
    """Scores are one formula: their sum tells whether they were computed."""
    return float(-np.asarray(outcome.negative_outlier_factor_, dtype=np.float64).sum())


def resample(model: Any, data: Data) -> Any:
    return model.fit_resample(data.X, data.y)


def imbalance(model: Any, outcome: Any, data: Data) -> float:
    counts = np.bincount(np.asarray(outcome[1]))
    return float(1 - counts.min() / counts.max())


def cases() -> Iterator[Case]:
    error = Quality("error", error_rate, atol=2e-3)
    for n, d, n_queries in ((100_000, 4, 50_000), (20_000, 40, 20_000)):
        data = partial(classes, n, d, n_queries)
        who = contenders("neighbors.KNeighborsClassifier")
        yield Case(PREDICT, f"{n:,} x {d}, {n_queries:,} queries", data, who, predict, error, fitted)
    data, who = partial(classes, 100_000, 8, 1_000), contenders("neighbors.KNeighborsClassifier", (SCIKIT_LEARN,))
    yield Case(ONE_ROW, "100,000 x 8", data, who, predict_one_by_one, error, fitted, is_quick=True)

    here = "benchmarks.neighbors.models"
    who = (Contender(MERCER, f"{here}:choose_by_sweeps"), Contender(SCIKIT_LEARN, f"{here}:choose_by_grid"))
    lost = Quality("1 - accuracy", lost_score, atol=1e-3)
    yield Case(CHOICE, "20,000 x 10", partial(classes, 20_000, 10, 1), who, fit, lost)

    total = Quality("sum of factors", total_factor, rtol=1e-6)
    yield Case(OUTLIERS, "60,000 x 6", partial(cloud, 60_000, 6), contenders("neighbors.LocalOutlierFactor"), fit, total)

    who = (
        Contender(MERCER, "mercer.over_sampling:SMOTE", {"random_state": 0}),
        Contender(IMBALANCED_LEARN, "imblearn.over_sampling:SMOTE", {"random_state": 0}),
    )
    left = Quality("imbalance left", imbalance)
    data = partial(rare, 50_000, 20, 0.05)
    yield Case(OVERSAMPLING, "50,000 x 20, 5 % minority", data, who, resample, left, is_quick=True)
