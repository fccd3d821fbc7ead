"""LIME: rows of a table explained by linear surrogates."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality

LIME = "lime"


@lru_cache(maxsize=8)
def _table(n_rows: int, d: int) -> Data:
    random = np.random.RandomState(0)
    X = random.randn(2000, d)
    return Data(X, (X[:, :5].sum(axis=1) > 0).astype(int), start=random.randn(n_rows, d))


@lru_cache(maxsize=8)
def _predict(d: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    data = _table(1, d)
    return LogisticRegression().fit(data.X, data.y).predict_proba


class Surrogates:
    """One way of both packages: all rows at once where a package can, else row by row."""

    def __init__(self, package: str, is_binned: bool, num_features: int, one_by_one: bool = False) -> None:
        self.package, self.is_binned, self.num_features, self.one_by_one = package, is_binned, num_features, one_by_one

    def run(self, data: Data) -> Any:
        """The explanations of all rows, as lists."""
        predict, how = _predict(data.X.shape[1]), {"num_features": self.num_features}
        if self.package == LIME:
            from lime.lime_tabular import LimeTabularExplainer as Explainer
        else:
            from mercer.inspection import LimeExplainer as Explainer
        explainer = Explainer(data.X, random_state=0, discretize_continuous=self.is_binned)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.package == MERCER and not self.one_by_one:
                found = explainer.explain_instances(data.start, predict, **how)
            else:
                found = [explainer.explain_instance(row, predict, **how) for row in data.start]
        return found


def _run(model: Any, data: Data) -> Any:
    return model.run(data)


def _fidelity(model: Any, outcome: Any, data: Data) -> float:
    """The mean weighted R2 of the surrogates."""
    return float(np.mean([explanation.score for explanation in outcome]))


def cases() -> Iterator[Case]:
    for n_rows, d, is_binned, num_features, one_by_one in (
        (100, 20, False, 10, False),
        (100, 20, False, 10, True),
        (20, 20, False, 6, False),
        (20, 20, True, 10, False),
        (5, 5, False, 10, False),
    ):
        words = f"{'quartiles' if is_binned else 'Gaussian'}, {num_features} features{', row by row' if one_by_one else ''}"
        yield Case(
            "LIME",
            f"{n_rows} rows x {d}, {words}",
            partial(_table, n_rows, d),
            tuple(
                Contender(
                    who,
                    "benchmarks.inspection.lime:Surrogates",
                    {"package": who, "is_binned": is_binned, "num_features": num_features, "one_by_one": one_by_one},
                )
                for who in (MERCER, LIME)
            ),
            _run,
            Quality("weighted R2", _fidelity, atol=0.02, is_lower_better=False),
            is_quick=n_rows == 5,
        )
