"""Hidden Markov models, against hmmlearn: fits of ten iterations from one start, and decoding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Estimator, Quality

_N_ITER = 10


def _contenders(name: str) -> tuple[Contender, ...]:
    return (Contender(MERCER, f"mercer.hmm:{name}"), Contender("hmmlearn", f"hmmlearn.hmm:{name}"))


def _states(n: int, k: int) -> Any:
    """A path that stays for about ten steps."""
    random = np.random.default_rng(0)
    moves = np.cumsum(random.uniform(size=n) < 0.1)
    return random.integers(k, size=moves[-1] + 1)[moves]


def _rows(n: int, d: int, k: int) -> Data:
    random = np.random.default_rng(1)
    X = random.normal(size=(k, d))[_states(n, k)] * 2 + random.normal(size=(n, d))
    return Data(X, start=np.array([n]))


def _symbols(n_sequences: int, length: int, n_symbols: int, k: int) -> Data:
    random = np.random.default_rng(1)
    law = np.cumsum(random.dirichlet(np.full(n_symbols, 0.3), size=k), axis=1)
    n = n_sequences * length
    X = (law[_states(n, k)] < random.uniform(size=(n, 1))).sum(axis=1)[:, None]
    return Data(np.minimum(X, n_symbols - 1), start=np.full(n_sequences, length))


def _model(estimator: Estimator, data: Data, *, k: int, implementation: str, **params: Any) -> Any:
    """From means that are rows, so that k-means takes no part."""
    model = estimator(k, n_iter=_N_ITER, tol=-1e300, random_state=0, **params)
    model.implementation = implementation
    if hasattr(model, "covariance_type"):
        model.init_params, model.means_ = "stc", data.X[:: len(data.X) // k][:k].copy()
    return model


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.start)


def _fitted(estimator: Estimator, data: Data, *, k: int, **params: Any) -> Any:
    part = Data(data.X[:5_000], start=np.array([5_000]))
    return _fit(_model(estimator, part, k=k, implementation="scaling", **params), part)


def _decode(model: Any, data: Data) -> Any:
    return model.decode(data.X, data.start)


def _score(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome.score(data.X, data.start)) / len(data.X)


def _likelihood_of_path(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome[0]) / len(data.X)


_FIT = Quality("log-likelihood a step", _score, rtol=1e-3, is_lower_better=False)
_PATH = Quality("log-likelihood of the path a step", _likelihood_of_path, rtol=1e-2, is_lower_better=False)


def cases() -> Iterator[Case]:
    for kind in ("diag", "full"):
        for implementation in ("log", "scaling"):
            yield Case(
                f"Gaussian HMM, 6 states, {_N_ITER} iterations",
                f"100,000 steps x 4, {kind}, {implementation}",
                partial(_rows, 100_000, 4, 6),
                _contenders("GaussianHMM"),
                _fit,
                _FIT,
                prepare=partial(_model, k=6, implementation=implementation, covariance_type=kind),
                is_quick=(kind, implementation) == ("diag", "scaling"),
            )
    for implementation in ("log", "scaling"):
        yield Case(
            f"Categorical HMM, 6 states, {_N_ITER} iterations",
            f"1,000 sequences of 100 steps, 20 symbols, {implementation}",
            partial(_symbols, 1_000, 100, 20, 6),
            _contenders("CategoricalHMM"),
            _fit,
            _FIT,
            prepare=partial(_model, k=6, implementation=implementation),
        )
    yield Case(
        "Gaussian HMM, 6 states, Viterbi",
        "100,000 steps x 4, diag",
        partial(_rows, 100_000, 4, 6),
        _contenders("GaussianHMM"),
        _decode,
        _PATH,
        prepare=partial(_fitted, k=6, covariance_type="diag"),
    )
