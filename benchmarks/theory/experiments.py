"""Bias and variance by the bootstrap, stability by all replacements, Rademacher complexities by drawn signs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality

_HERE = "benchmarks.theory.experiments"


def cases() -> Iterator[Case]:
    yield from _bias_variance()
    yield from _stability()
    yield from _rademacher()


def _run(model: Any, data: Data) -> Any:
    return model.run(data)


# ---- bias and variance of a tree


@lru_cache(maxsize=2)
def _table(n: int, d: int, kind: str) -> Data:
    """The last quarter of the rows is there to judge by."""
    random = np.random.RandomState(0)
    X = random.normal(size=(n + n // 3, d))
    values = X[:, 0] * X[:, -1] + np.sin(2 * X[:, d // 2]) + 0.5 * random.normal(size=len(X))
    return Data(X, values if kind == "numbers" else (values > 0).astype(int))


class BagsOfTrees:
    """Mercer's trees on all bootstrap samples."""

    def __init__(self, kind: str, n_rounds: int) -> None:
        self.kind, self.n_rounds = kind, n_rounds

    def run(self, data: Data) -> tuple[float, float, float]:
        from mercer.theory import bootstrap_bias_variance
        from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

        tree = (DecisionTreeRegressor if self.kind == "numbers" else DecisionTreeClassifier)(random_state=0)
        n = 3 * len(data.y) // 4
        found = bootstrap_bias_variance(
            tree, data.X[:n], data.y[:n], data.X[n:], data.y[n:], n_rounds=self.n_rounds, random_state=0
        )
        return found.error, found.bias, found.variance


class Mlxtend(BagsOfTrees):
    """mlxtend's loop over scikit-learn's trees."""

    def run(self, data: Data) -> tuple[float, float, float]:
        from mlxtend.evaluate import bias_variance_decomp
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        tree = (DecisionTreeRegressor if self.kind == "numbers" else DecisionTreeClassifier)(random_state=0)
        n, loss = 3 * len(data.y) // 4, "mse" if self.kind == "numbers" else "0-1_loss"
        found: tuple[float, float, float] = bias_variance_decomp(
            tree, data.X[:n], data.y[:n], data.X[n:], data.y[n:], loss=loss, num_rounds=self.n_rounds, random_seed=0
        )
        return found


def _first(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome[0])


def _bias_variance() -> Iterator[Case]:
    for n, d, n_rounds in ((2_000, 10, 200), (300, 5, 20)):
        for kind in ("numbers", "classes"):
            params = {"kind": kind, "n_rounds": n_rounds}
            yield Case(
                "bias and variance of a tree, by the bootstrap",
                f"{kind}, {n:,} x {d}, {n_rounds} rounds",
                partial(_table, n, d, kind),
                (
                    Contender(MERCER, f"{_HERE}:BagsOfTrees", params),
                    Contender("mlxtend", f"{_HERE}:Mlxtend", params),
                ),
                _run,
                # Both draw their own samples, and scikit-learn breaks ties among columns at random.
                Quality("expected error", _first, rtol=0.3),
                is_quick=n == 300,
            )


# ---- stability of ridge regression


@lru_cache(maxsize=2)
def _line(n: int, d: int) -> Data:
    random = np.random.RandomState(0)
    X = random.normal(size=(n, d))
    return Data(X, X @ np.arange(d) + random.normal(size=n))


class Updates:
    """All replacements by updates of rank two."""

    def run(self, data: Data) -> Any:
        from mercer.linear_model import Ridge
        from mercer.theory import stability

        return stability(Ridge(), data.X, data.y, random_state=0)


class Refits:
    """A fit for each replacement, by the package's own ridge regression."""

    def __init__(self, package: str) -> None:
        self.package = package

    def run(self, data: Data) -> Any:
        from importlib import import_module

        from mercer.theory import stability

        ridge = import_module(f"{self.package}.linear_model").Ridge
        return stability(type("Same", (ridge,), {})(), data.X, data.y, random_state=0)


def _on_average(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome.on_average)


def _stability() -> Iterator[Case]:
    for n, d in ((2_000, 20), (200, 5)):
        yield Case(
            "stability of ridge regression, every row replaced",
            f"{n:,} x {d}",
            partial(_line, n, d),
            (
                Contender(MERCER, f"{_HERE}:Updates"),
                Contender("refits", f"{_HERE}:Refits", {"package": "mercer"}),
                Contender("refits, sklearn", f"{_HERE}:Refits", {"package": "sklearn"}),
            ),
            _run,
            Quality("on average", _on_average, rtol=1e-6),
            is_quick=n == 200,
        )


# ---- Rademacher complexities


class Signs:
    """Mercer's kernel."""

    def run(self, data: Data) -> float:
        from mercer.theory import rademacher_complexity

        return rademacher_complexity("l2", data.X, n_draws=1000, random_state=0).value


class NumpySigns:
    """The same by one product in NumPy."""

    def run(self, data: Data) -> float:
        signs = 2.0 * np.random.RandomState(0).randint(2, size=(1000, len(data.X))) - 1
        return float(np.linalg.norm(signs @ data.X, axis=1).mean() / len(data.X))


def _value(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome)


def _rademacher() -> Iterator[Case]:
    for n, d in ((10_000, 20), (500, 5)):
        yield Case(
            "Rademacher complexity of a Euclidean ball, 1,000 draws",
            f"{n:,} x {d}",
            partial(_line, n, d),
            (Contender(MERCER, f"{_HERE}:Signs"), Contender("NumPy", f"{_HERE}:NumpySigns")),
            _run,
            Quality("value", _value, rtol=0.05),
            is_quick=n == 500,
        )
