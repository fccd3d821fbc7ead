"""Discriminant analysis and naive Bayes: fits and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import log_loss

from benchmarks._case import Case, Data, Quality, contenders

FIT, PREDICT = "Generative classifiers: fit", "Generative classifiers: predict"
TEXT_FIT, TEXT_PREDICT = "Naive Bayes of sparse counts: fit", "Naive Bayes of sparse counts: predict"
DENSE = (
    "discriminant_analysis.LinearDiscriminantAnalysis",
    "discriminant_analysis.QuadraticDiscriminantAnalysis",
    "naive_bayes.GaussianNB",
)
COUNTS = ("naive_bayes.MultinomialNB", "naive_bayes.ComplementNB", "naive_bayes.BernoulliNB")


@lru_cache(maxsize=2)
def blobs(n: int, d: int, n_classes: int, dtype: Any) -> Data:
    """Gaussians that overlap, each of its own covariance."""
    random = np.random.default_rng(0)
    y = random.integers(n_classes, size=n)
    X = random.normal(size=(n, d)) * (1 + 0.1 * y[:, None]) + 0.3 * random.normal(size=(n_classes, d))[y]
    return Data(X.astype(dtype), y)


@lru_cache(maxsize=1)
def texts(n: int, d: int, n_classes: int, n_words: int) -> Data:
    """Counts of words, of which some are rare and each class has its own."""
    random = np.random.default_rng(0)
    y = random.integers(n_classes, size=n)
    words = (d * random.random((n, n_words)) ** 3).astype(np.int32)
    words[:, : n_words // 5] = (words[:, : n_words // 5] + y[:, None] * (d // n_classes)) % d
    ends = np.arange(0, n * n_words + 1, n_words, dtype=np.int32)
    X = sp.csr_matrix((np.ones(n * n_words), words.ravel(), ends), shape=(n, d))
    X.sum_duplicates()
    return Data(X, y)


def fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def fitted(estimator: Any, data: Data) -> Any:
    return estimator().fit(data.X, data.y)


def predict(model: Any, data: Data) -> Any:
    return model.predict(data.X)


def loss(model: Any, outcome: Any, data: Data) -> float:
    return float(log_loss(data.y[:5_000], np.asarray(outcome.predict_proba(data.X[:5_000]), dtype=np.float64)))


def error_rate(model: Any, outcome: Any, data: Data) -> float:
    return float((outcome != data.y).mean())


LOSS, ERRORS = Quality("log loss", loss, rtol=1e-4, atol=1e-6), Quality("error rate", error_rate, atol=1e-4)


def _pair(tables: tuple[str, str], estimator: str, what: str, make_data: Any, small: Any) -> Iterator[Case]:
    name = f"{estimator.rpartition('.')[2]}, {what}"
    yield Case(tables[0], name, make_data, contenders(estimator), fit, LOSS, small_data=small)
    yield Case(tables[1], name, make_data, contenders(estimator), predict, ERRORS, prepare=fitted, small_data=small)


def cases() -> Iterator[Case]:
    for estimator in DENSE:
        for dtype in (np.float64, np.float32):
            data, small = partial(blobs, 100_000, 40, 3, dtype), partial(blobs, 1_000, 40, 3, dtype)
            yield from _pair((FIT, PREDICT), estimator, f"100,000 x 40, {np.dtype(dtype).name}", data, small)
    for estimator in DENSE:
        data = partial(blobs, 200, 10, 3, np.float64)
        yield from _pair((FIT, PREDICT), estimator, "200 x 10", data, data)
    for estimator in COUNTS:
        data, small = partial(texts, 50_000, 50_000, 20, 100), partial(texts, 500, 50_000, 20, 100)
        yield from _pair((TEXT_FIT, TEXT_PREDICT), estimator, "50,000 x 50,000", data, small)
