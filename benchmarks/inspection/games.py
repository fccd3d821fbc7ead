"""Shapley values of games that models play: by kernel, by permutations and by all coalitions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality

SHAP = "shap"
_HERE = "benchmarks.inspection.games"


@lru_cache(maxsize=8)
def _table(n_rows: int, d: int) -> Data:
    """2,000 rows to fit on and for the background, and as many to be explained as are asked for."""
    random = np.random.RandomState(0)
    X = random.randn(2000, d)
    y = (X[:, 0] * X[:, 1] + X[:, 2:].sum(axis=1) / np.sqrt(d) > 0).astype(int)
    return Data(X, y, start=random.randn(n_rows, d))


@lru_cache(maxsize=4)
def _model(name: str, d: int) -> Any:
    """The same fitted model of scikit-learn for everyone."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    data = _table(1, d)
    made = LogisticRegression() if name == "logistic" else MLPClassifier((16,), max_iter=20, random_state=0)
    return made.fit(data.X, data.y).predict_proba


class Games:
    """Mercer's explainer and shap's as something to run; shap's keep all features, which Mercer's do where nothing is said."""

    def __init__(self, package: str, method: str, model: str, n_background: int) -> None:
        self.package, self.method, self.model, self.n_background = package, method, model, n_background

    def run(self, data: Data) -> Any:
        function, background = _model(self.model, data.X.shape[1]), data.X[: self.n_background]
        if self.package == MERCER:
            return self._of_mercer(function, background, data.start)
        return self._of_shap(function, background, data.start)

    def _of_mercer(self, function: Any, background: Any, rows: Any) -> Any:
        from mercer.inspection import ExactExplainer, KernelExplainer, PermutationExplainer

        if self.method == "kernel":
            return KernelExplainer(function, background, random_state=0).shap_values(rows)
        if self.method == "permutation":
            return PermutationExplainer(function, background, random_state=0).shap_values(rows)
        return ExactExplainer(function, background).shap_values(rows)

    def _of_shap(self, function: Any, background: Any, rows: Any) -> Any:
        import shap

        masker = shap.maskers.Independent(background, max_samples=len(background))
        if self.method == "kernel":
            return shap.KernelExplainer(function, background).shap_values(rows, silent=True, l1_reg=False)
        kind = shap.PermutationExplainer if self.method == "permutation" else shap.ExactExplainer
        return kind(function, masker)(rows, silent=True).values


def _run(model: Any, data: Data) -> Any:
    return model.run(data)


def _error(model: Any, outcome: Any, data: Data) -> float:
    """How far the values of the first rows are from many more orders of the features."""
    return float(np.sqrt(np.mean((np.asarray(outcome)[:5] - _reference(model, data)) ** 2)))


def _reference(model: Any, data: Data) -> Any:
    return _long_run(model.model, model.n_background, data.X.shape[1], data.start[:5].tobytes())


@lru_cache(maxsize=8)
def _long_run(name: str, n_background: int, d: int, rows: bytes) -> Any:
    from mercer.inspection import ExactExplainer, PermutationExplainer

    function, background = _model(name, d), _table(1, d).X[:n_background]
    X = np.frombuffer(rows).reshape(-1, d)
    if d <= 10:
        return ExactExplainer(function, background).shap_values(X)
    return PermutationExplainer(function, background, random_state=1).shap_values(X, npermutations=500)


def cases() -> Iterator[Case]:
    for method, model, n_rows, d, n_background in (
        ("kernel", "logistic", 100, 20, 10),
        ("kernel", "logistic", 100, 20, 100),
        ("kernel", "network", 100, 20, 10),
        ("permutation", "logistic", 100, 20, 10),
        ("permutation", "logistic", 100, 20, 100),
        ("permutation", "network", 100, 20, 10),
        ("exact", "logistic", 100, 10, 10),
        ("kernel", "logistic", 10, 8, 10),
    ):
        yield Case(
            "Shapley values of any model",
            f"{method}, {model}, {n_rows} rows x {d}, background {n_background}",
            partial(_table, n_rows, d),
            tuple(
                Contender(
                    who, f"{_HERE}:Games", {"package": who, "method": method, "model": model, "n_background": n_background}
                )
                for who in (MERCER, SHAP)
            ),
            _run,
            Quality("root mean squared error", _error, rtol=0.5, atol=1e-9),
            is_quick=n_rows == 10,
        )
