"""Support vector machines with kernels: fits at the same tolerance, predictions, and a grid of C and gamma."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality, contenders
from benchmarks._pictures import pictures

_GRID_C = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0]
_GRID_GAMMA = [0.003, 0.01, 0.03, 0.1, 0.3]


@lru_cache(maxsize=1)
def _classes(n: int, d: int, n_classes: int = 2) -> Data:
    from sklearn.datasets import make_classification

    options = {"n_informative": d // 2, "n_redundant": d // 5, "n_classes": n_classes, "flip_y": 0.03, "random_state": 0}
    X, y = make_classification(n, d, n_clusters_per_class=4 if n_classes == 2 else 2, **options)
    return Data((X - X.mean(axis=0)) / X.std(axis=0), y)


@lru_cache(maxsize=1)
def _digits(n: int) -> Data:
    """Pictures of which half of the kinds are of one class."""
    X, kind = pictures(n)
    return Data(X, (kind % 10 >= 5).astype(int))


@lru_cache(maxsize=1)
def _text(n: int, n_words: int) -> Data:
    """Counts of words with lengths of one, of which a few tell the classes apart."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    random = np.random.RandomState(0)
    words, y = (random.zipf(1.3, size=(n, 80)) - 1) % n_words, random.randint(2, size=n)
    words[:, :6] = random.randint(0, 400, size=(n, 6)) * 2 + 100 + y[:, None]
    X = sp.csr_matrix((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 80)), shape=(n, n_words))
    X.sum_duplicates()
    return Data(normalize(X), np.where(random.rand(n) < 0.05, 1 - y, y))


@lru_cache(maxsize=1)
def _curve(n: int, d: int) -> Data:
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    return Data(X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * random.randn(n))


@lru_cache(maxsize=1)
def _cloud(n: int, d: int) -> Data:
    return Data(np.random.RandomState(0).randn(n, d) * np.arange(1, d + 1) / d)


def _make(estimator: Any, data: Data, **params: Any) -> Any:
    return estimator(**params)


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X) if data.y is None else model.fit(data.X, data.y)


def _accuracy(model: Any, outcome: Any, data: Data) -> float:
    """On the rows of the fit, some thousand of them."""
    some = slice(None, None, max(1, data.X.shape[0] // 2000))
    if data.y is None:
        return float(np.mean(outcome.predict(data.X[some]) == 1))
    return float(outcome.score(data.X[some], data.y[some]))


def _case(name: str, row: str, make_data: Any, *, is_quick: bool = False, small_data: Any = None, **params: Any) -> Case:
    peers = (SCIKIT_LEARN,) if name == "OneClassSVM" else ("scikit-learn", "sklearnex")
    return Case(
        f"{name}.fit",
        row,
        make_data,
        contenders(f"svm.{name}", peers=peers),
        _fit,
        Quality("score on rows of the fit", _accuracy, atol=2e-3, is_lower_better=False),
        prepare=partial(_make, **params),
        small_data=small_data,
        is_quick=is_quick,
    )


def _fitted(estimator: Any, data: Data) -> Any:
    return estimator().fit(data.X[:5000], data.y[:5000])


def _predict(model: Any, data: Data) -> Any:
    return model.predict(data.X)


def _predict_one(model: Any, data: Data) -> Any:
    return [model.predict(data.X[i : i + 1]) for i in range(100)]


def _agreement(model: Any, outcome: Any, data: Data) -> float:
    labels = np.concatenate(outcome) if isinstance(outcome, list) else outcome
    return float(np.mean(labels == data.y[: len(labels)]))


def _grid(estimator: Any, data: Data) -> Any:
    return estimator()


def _search_of_scikit_learn() -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return GridSearchCV(SVC(), {"C": _GRID_C, "gamma": _GRID_GAMMA}, cv=5)


def _best(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome.best_score_)


def cases() -> Iterator[Case]:
    for n in (10_000, 30_000):
        for cost in (1.0, 100.0):
            yield _case("SVC", f"{n:,} x 25, C={cost:g}", partial(_classes, n, 25), C=cost)
    yield _case("SVC", "10,000 x 20, 5 classes", partial(_classes, 10_000, 20, 5))
    yield _case("SVC", "10,000 x 25, polynomial", partial(_classes, 10_000, 25), kernel="poly")
    yield _case("SVC", "20,000 x 784, like digits", partial(_digits, 20_000))
    yield _case("SVC", "10,000 x 30,000 sparse, linear", partial(_text, 10_000, 30_000), kernel="linear")
    yield _case("SVR", "10,000 x 15", partial(_curve, 10_000, 15))
    yield _case("OneClassSVM", "20,000 x 10", partial(_cloud, 20_000, 10), nu=0.1)
    for n in (2_000, 5_000, 20_000, 50_000):  # how time and memory grow
        small = partial(_classes, 500, 25)
        yield _case("SVC", f"{n:,} x 25, growth", partial(_classes, n, 25), is_quick=n == 2_000, small_data=small)
    for name, run in (("100,000 rows", _predict), ("100 times one row", _predict_one)):
        yield Case(
            "SVC.predict",
            name,
            partial(_classes, 100_000, 25),
            contenders("svm.SVC"),
            run,
            Quality("accuracy", _agreement, atol=2e-3, is_lower_better=False),
            prepare=_fitted,
        )
    yield Case(
        "SVC, 5 gammas x 7 Cs, 5 folds",
        "3,000 x 20",
        partial(_classes, 3_000, 20),
        (
            Contender(MERCER, "mercer.svm:SVCCV", {"C": _GRID_C, "gamma": _GRID_GAMMA, "cv": 5}),
            Contender(SCIKIT_LEARN, "benchmarks.cases_svm:_search_of_scikit_learn"),
        ),
        _fit,
        Quality("best mean score", _best, atol=2e-3, is_lower_better=False),
        prepare=_grid,
    )
