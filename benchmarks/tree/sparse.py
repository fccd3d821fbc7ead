"""Sparse, wide and few rows: what text, counts and measurements of many things look like, for every family of trees."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality
from benchmarks.tree._problems import error_rate, fit, squared_error
from benchmarks.tree.forests import fitted, predict

_N_HELD_OUT = 2_000
_N_WORDS = 20_000


def _split(X: Any, y: Any, n: int) -> Data:
    return Data(X[:n], y[:n], start=(X[n:], y[n:]))


def _texts(n: int, length: float) -> tuple[list[str], np.ndarray]:
    """Texts of words that are as common as one over their rank (Zipf); most of one class hold two of two hundred more."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    chances = 1 / np.arange(1, _N_WORDS + 1)
    chances /= chances.sum()
    telling = random.choice(_N_WORDS, 200, replace=False)
    texts = []
    for is_told in (y == 1) & (random.random(n) < 0.8):
        words = random.choice(_N_WORDS, size=2 + random.poisson(length), p=chances)
        words = np.concatenate([words, random.choice(telling, 2)]) if is_told else words
        texts.append(" ".join(f"w{word}" for word in words))
    return texts, y


@lru_cache(maxsize=1)
def titles(n: int) -> Data:
    """Titles of nine words or so, by `TfidfVectorizer`."""
    texts, y = _texts(n + _N_HELD_OUT, 9)
    vectors = TfidfVectorizer().fit(texts[:n])
    return _split(vectors.transform(texts).astype(np.float64), y, n)


@lru_cache(maxsize=1)
def word_counts(n: int) -> Data:
    """How often each word occurs in texts of sixty words, as a dense matrix."""
    texts, y = _texts(n + _N_HELD_OUT, 60)
    vectors = CountVectorizer(min_df=5).fit(texts[:n])
    return _split(vectors.transform(texts).toarray().astype(np.float64), y, n)


@lru_cache(maxsize=1)
def entries(n: int, d: int, share: float, n_classes: int) -> Data:
    """Random entries in a share of the places; the response is a sum over a fifth of the columns. No classes: a number."""
    random = np.random.default_rng(0)
    X = sp.random_array((n + _N_HELD_OUT, d), density=share, rng=random, format="csr")
    response = X @ (random.normal(size=d) * (random.random(d) < 0.2)) + 0.1 * random.normal(size=X.shape[0])
    if n_classes:
        response = np.searchsorted(np.quantile(response, np.arange(1, n_classes) / n_classes), response)
    return _split(sp.csr_matrix(X), response, n)


@lru_cache(maxsize=1)
def few_rows(n: int, d: int, n_classes: int) -> Data:
    """Many measurements of few things; ten of the columns matter."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2 * n, d))
    response = X[:, :10].sum(axis=1) + random.normal(size=2 * n)
    return _split(X, (response > 0).astype(int) if n_classes else response, n)


_ERRORS = Quality("held-out error rate", error_rate, rtol=0.25, atol=0.02)  # of few trees: seeds move it by a tenth
_SQUARES = Quality("held-out squared error", squared_error, rtol=0.1)


def _who(target: str, **params: Any) -> tuple[Contender, ...]:
    given = {"random_state": 0, **params}
    return (Contender(MERCER, f"mercer.{target}", given), Contender(SCIKIT_LEARN, f"sklearn.{target}", given))


def _forests() -> Iterator[Case]:
    table = "RandomForestClassifier fit, sparse or wide"
    text = _who("ensemble:RandomForestClassifier", n_estimators=20, n_jobs=1)
    yield Case(table, "20 trees, 3,000 titles", partial(titles, 3_000), text, fit, _ERRORS, is_quick=True)
    yield Case(table, "20 trees, 8,000 titles", partial(titles, 8_000), text, fit, _ERRORS, small_data=partial(titles, 200))
    hundred = _who("ensemble:RandomForestClassifier", n_jobs=1)
    yield Case(table, "100 trees, 8,000 titles", partial(titles, 8_000), hundred, fit, _ERRORS, small_data=partial(titles, 200))
    five = _who("ensemble:RandomForestClassifier", n_estimators=5, n_jobs=1)
    yield Case(table, "5 trees, 20,000 x 5,000, 1 %", partial(entries, 20_000, 5_000, 0.01, 2), five, fit, _ERRORS)
    ten = _who("ensemble:RandomForestClassifier", n_estimators=10, n_jobs=1)
    yield Case(table, "10 trees, 2,000 dense word counts", partial(word_counts, 2_000), ten, fit, _ERRORS)
    yield Case(table, "10 trees, dense 500 x 20,000", partial(few_rows, 500, 20_000, 2), ten, fit, _ERRORS)
    yield Case(
        "RandomForestClassifier predict, 20 trees", "8,000 titles", partial(titles, 8_000), text, predict, _ERRORS, fitted
    )


_N, _D, _SHARE = 10_000, 3_000, 0.01


def _families() -> Iterator[Case]:
    """Every family on the same rows, sparse; and on few dense ones."""
    for module, name, params in (
        ("ensemble", "ExtraTrees", {"n_estimators": 10, "n_jobs": 1, "max_features": "sqrt"}),
        ("ensemble", "RandomForest", {"n_estimators": 10, "n_jobs": 1, "max_features": "sqrt"}),
        ("ensemble", "Bagging", {"n_estimators": 5}),
        ("ensemble", "GradientBoosting", {"n_estimators": 20}),
        ("ensemble", "AdaBoost", {"n_estimators": 20}),
        ("tree", "DecisionTree", {"max_depth": 12}),
        ("tree", "ExtraTree", {}),
    ):
        for kind, n_classes, quality in (("Classifier", 2, _ERRORS), ("Regressor", 0, _SQUARES)):
            who = _who(f"{module}:{name}{kind}", **params)
            sparse, small = partial(entries, _N, _D, _SHARE, n_classes), partial(entries, 200, _D, _SHARE, n_classes)
            shape = f"{_N:,} x {_D:,}, {_SHARE:.0%}"
            yield Case("Trees on sparse rows", f"{name}{kind}, {shape}", sparse, who, fit, quality, small_data=small)
            few = partial(few_rows, 300, 2_000, n_classes)
            yield Case("Trees on few rows", f"{name}{kind}, 300 x 2,000", few, who, fit, quality)


def _fit_and_score(model: Any, data: Data) -> Any:
    return model.fit(data.X).score_samples(data.X)


def _mean_score(model: Any, outcome: Any, data: Data) -> float:
    return float(np.mean(outcome))


def _isolation() -> Iterator[Case]:
    who = _who("ensemble:IsolationForest")
    quality = Quality("mean score", _mean_score, atol=0.05)
    data = partial(entries, _N, _D, _SHARE, 2)
    yield Case("IsolationForest fit and score, 100 trees", f"{_N:,} x {_D:,}, {_SHARE:.0%}", data, who, _fit_and_score, quality)


def cases() -> Iterator[Case]:
    yield from _forests()
    yield from _families()
    yield from _isolation()
