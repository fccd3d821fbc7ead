"""scikit-learn's networks at the number of BLAS threads that suits the fit."""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn import neural_network
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

from benchmarks.neural._peers import fastest_n_threads


@cache
def _pools() -> ThreadpoolController:
    """Looking for them takes milliseconds."""
    return ThreadpoolController()


class _ChosenThreads:
    n_threads: int | None = None

    def get_ready(self, X: Any, y: Any) -> None:
        self.n_threads = fastest_n_threads(clone(self).set_params(max_iter=1), X, y)

    def fit(self, X: Any, y: Any) -> Any:
        with _pools().limit(limits=self.n_threads, user_api="blas"):
            return super().fit(X, y)


class MLPClassifier(_ChosenThreads, neural_network.MLPClassifier):
    pass


class MLPRegressor(_ChosenThreads, neural_network.MLPRegressor):
    pass


class Autoencoder(MLPRegressor):
    """A regression of X on X, whose outputs are Gaussian."""

    def fit(self, X: Any, y: None = None) -> Any:
        return super().fit(X, X)
