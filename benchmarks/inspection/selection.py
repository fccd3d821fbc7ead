"""Selection of features: selectors that look at sets, and mutual information."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality

_PACKAGES = {MERCER: "mercer", SCIKIT_LEARN: "sklearn"}


def cases() -> Iterator[Case]:
    yield from _sequential_selection()
    yield from _mutual_information()


# ---- sequential selection


@lru_cache(maxsize=1)
def _table(n: int, d: int, kind: str) -> Data:
    """Columns of which one in five matters."""
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    values = X[:, ::5] @ np.linspace(0.2, 1.0, len(range(0, d, 5))) + random.logistic(size=n)
    return Data(X, values if kind == "numbers" else (values > 0).astype(int))


def _least_squares(package: str, **params: Any) -> Any:
    return _selector(package, "linear_model", "LinearRegression", params)


def _logistic(package: str, **params: Any) -> Any:
    return _selector(package, "linear_model", "LogisticRegression", params)


def _discriminant(package: str, **params: Any) -> Any:
    return _selector(package, "discriminant_analysis", "LinearDiscriminantAnalysis", params)


def _neighbours(package: str, **params: Any) -> Any:
    return _selector(package, "neighbors", "KNeighborsClassifier", params)


def _selector(package: str, module: str, model: str, params: dict[str, Any]) -> Any:
    from importlib import import_module

    estimator = getattr(import_module(f"{package}.{module}"), model)()
    selector = import_module(f"{package}.feature_selection").SequentialFeatureSelector
    return selector(estimator, cv=5, **params)


def _fit(selector: Any, data: Data) -> Any:
    return selector.fit(data.X, data.y)


def _score_of_set(selector: Any, outcome: Any, data: Data) -> float:
    """The mean score of the chosen set, by scikit-learn's fits for everyone."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    judge = LinearRegression() if data.y.dtype.kind == "f" else LogisticRegression()
    return float(cross_val_score(judge, data.X[:, outcome.get_support()], data.y, cv=5).mean())


def _sequential_selection() -> Iterator[Case]:
    for title, make, n, d, k, kind, direction in (
        ("least squares", _least_squares, 10_000, 60, 10, "numbers", "forward"),
        ("logistic", _logistic, 10_000, 60, 10, "classes", "forward"),
        ("discriminant", _discriminant, 10_000, 60, 10, "classes", "forward"),
        ("least squares", _least_squares, 10_000, 60, 50, "numbers", "backward"),
        ("logistic", _logistic, 2_000, 20, 15, "classes", "backward"),
        ("5 neighbours", _neighbours, 1_000, 15, 4, "classes", "forward"),
    ):
        yield Case(
            "sequential selection, 5 folds",
            f"{title}, {direction} to {k} of {d}, {n:,} rows",
            partial(_table, n, d, kind),
            tuple(
                Contender(
                    who,
                    f"benchmarks.inspection.selection:{make.__name__}",
                    {"package": package, "n_features_to_select": k, "direction": direction},
                )
                for who, package in _PACKAGES.items()
            ),
            _fit,
            Quality("score of the set", _score_of_set, atol=1e-3, is_lower_better=False),
            is_quick=n == 1_000,
        )


# ---- mutual information


class Information:
    """A measure of columns as something to run."""

    def __init__(self, package: str, kind: str) -> None:
        from importlib import import_module

        name = "mutual_info_regression" if kind == "numbers" else "mutual_info_classif"
        self.measure = getattr(import_module(f"{package}.feature_selection"), name)

    def run(self, data: Data) -> Any:
        return self.measure(data.X, data.y, random_state=0)


def _run(model: Any, data: Data) -> Any:
    return model.run(data)


def _mean(model: Any, outcome: Any, data: Data) -> float:
    return float(np.mean(outcome))


def _mutual_information() -> Iterator[Case]:
    for n, d in ((50_000, 30), (1_000, 10)):
        for kind in ("classes", "numbers"):
            yield Case(
                "mutual information",
                f"{kind}, {n:,} x {d}",
                partial(_table, n, d, kind),
                tuple(
                    Contender(who, "benchmarks.inspection.selection:Information", {"package": package, "kind": kind})
                    for who, package in _PACKAGES.items()
                ),
                _run,
                Quality("mean over columns", _mean, rtol=1e-9, is_lower_better=False),
                is_quick=n == 1_000,
            )
