"""Networks of several sizes: fits of a few epochs of Adam, predictions, and autoencoders.

In a case all take the same batches and as many epochs; what is compared is the epoch, and the held-out score shows that it was
a whole one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import xlogy

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Estimator, Quality
from benchmarks._pictures import pictures
from benchmarks.linear import _problems as linear_problems
from benchmarks.tree import _problems as tree_problems
from benchmarks.tree._problems import fit, log_loss, squared_error

_DTYPES = ("float64", "float32")
_N_HELD_OUT = 2_000
_N_ONE_ROW = 100
_BATCH = 200


@lru_cache(maxsize=1)
def _numbers(n: int, d: int, dtype: str) -> Data:
    """Responses of mean zero and variance one."""
    data = tree_problems.numbers(n, d, dtype)
    X, y = data.start
    mean, spread = data.y.mean(), data.y.std()
    return Data(data.X, ((data.y - mean) / spread).astype(dtype), start=(X, ((y - mean) / spread).astype(dtype)))


@lru_cache(maxsize=1)
def _digits(n: int, dtype: str) -> Data:
    """Ten classes of three kinds of pictures each; a tenth of the labels is drawn blindly."""
    random = np.random.RandomState(0)
    X, kind = pictures(n + _N_HELD_OUT)
    y = np.where(random.rand(len(X)) < 0.1, random.randint(10, size=len(X)), kind % 10)
    X = X.astype(dtype)
    return Data(X[:n], y[:n], start=(X[n:], y[n:]))


@lru_cache(maxsize=1)
def _unlabelled(n: int, dtype: str) -> Data:
    data = _digits(n, dtype)
    return Data(data.X, start=data.start[0])


@lru_cache(maxsize=1)
def _text(n: int, d: int, dtype: str) -> Data:
    data = linear_problems.text(n + _N_HELD_OUT, d)
    X = data.X.astype(dtype)
    return Data(X[:n], data.y[:n], start=(X[n:], data.y[n:]))


def _who(name: str, peers: tuple[str, ...] = (SCIKIT_LEARN, "pytorch", "jax"), **params: Any) -> tuple[Contender, ...]:
    """Mercer and the peers' classes of the same part; `params` are such as scikit-learn does not have."""
    part = name.removeprefix("MLP")
    own = {"code_activation": "relu"} if name == "Autoencoder" else {}  # the peers' codes are as their other layers
    targets = {SCIKIT_LEARN: f"_scikit_learn:{name}", "pytorch": f"_torch:{part}", "jax": f"_jax:{part}"}
    return (
        Contender(MERCER, f"mercer.neural_network:{name}", {**params, **own}),
        *(Contender(peer, f"benchmarks.neural.{targets[peer]}", {} if peer == SCIKIT_LEARN else params) for peer in peers),
    )


def _network(estimator: Estimator, data: Data, **params: Any) -> Any:
    """Peers choose their number of threads, or compile, before they are timed."""
    model = estimator(batch_size=_BATCH, random_state=0, **params)
    if hasattr(model, "get_ready"):
        model.get_ready(data.X, data.y)
    return model


def _trained(estimator: Estimator, data: Data) -> Any:
    """One hidden layer of 100, of some of the rows."""
    some = Data(data.X[:20_000], data.y[:20_000])
    return fit(_network(estimator, some, hidden_layer_sizes=(100,), max_iter=3), some)


def _fit_alone(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _predict(model: Any, data: Data) -> Any:
    return model.predict(data.X)


def _predict_one(model: Any, data: Data) -> Any:
    return np.concatenate([model.predict(data.X[i : i + 1]) for i in range(_N_ONE_ROW)])


def _error_rate(model: Any, outcome: Any, data: Data) -> float:
    return float((outcome != data.y[: len(outcome)]).mean())


def _reconstruction(model: Any, X: np.ndarray) -> np.ndarray:
    found = model.predict(X) if hasattr(model, "predict") else model.inverse_transform(model.transform(X))
    return np.asarray(found, dtype=np.float64)


def _cross_entropy(model: Any, outcome: Any, data: Data) -> float:
    X, p = data.start.astype(np.float64), np.clip(_reconstruction(outcome, data.start), 1e-12, 1 - 1e-12)
    return float(-(xlogy(X, p) + xlogy(1 - X, 1 - p)).mean())


def _square(model: Any, outcome: Any, data: Data) -> float:
    return float(((_reconstruction(outcome, data.start) - data.start) ** 2).mean())


def _layers(sizes: tuple[int, ...]) -> str:
    return "-".join(map(str, sizes))


def _epochs(n: int) -> str:
    return "1 epoch" if n == 1 else f"{n} epochs"


def _classifiers() -> Iterator[Case]:
    # Other random numbers move the loss by half a percent after so few epochs.
    quality = Quality("held-out log loss", log_loss, rtol=0.02)
    for (sizes, n_epochs, shape, make), dtype in product(
        (
            ((100,), 5, "20,000 x 30, 5 classes", partial(tree_problems.classes, 20_000, 30, 5)),
            ((256, 128), 2, "40,000 x 60, 5 classes", partial(tree_problems.classes, 40_000, 60, 5)),
            ((512, 256, 128), 1, "20,000 x 784, like digits", partial(_digits, 20_000)),
        ),
        _DTYPES,
    ):
        has_memory = len(sizes) == 2 and dtype == "float64"
        yield Case(
            "MLPClassifier fit",
            f"{shape}, {_layers(sizes)}, {_epochs(n_epochs)}, {dtype}",
            partial(make, dtype=dtype),
            _who("MLPClassifier"),
            fit,
            quality,
            partial(_network, hidden_layer_sizes=sizes, max_iter=n_epochs),
            small_data=partial(tree_problems.classes, 1_000, 60, 5, dtype) if has_memory else None,
            is_quick=len(sizes) == 1 and dtype == "float64",
        )
    for dtype in _DTYPES:
        yield Case(
            "MLPClassifier fit, sparse",
            f"20,000 x 30,000 text-like, 50, 1 epoch, {dtype}",
            partial(_text, 20_000, 30_000, dtype),
            _who("MLPClassifier", peers=(SCIKIT_LEARN,)),
            fit,
            quality,
            partial(_network, hidden_layer_sizes=(50,), max_iter=1, learning_rate_init=0.01),
            small_data=partial(_text, 1_000, 30_000, dtype) if dtype == "float64" else None,
        )


def _regressors() -> Iterator[Case]:
    for dtype in _DTYPES:
        yield Case(
            "MLPRegressor fit",
            f"100,000 x 20, 64-64, 2 epochs, {dtype}",
            partial(_numbers, 100_000, 20, dtype),
            _who("MLPRegressor"),
            fit,
            Quality("held-out squared error", squared_error, rtol=0.02),
            partial(_network, hidden_layer_sizes=(64, 64), max_iter=2),
        )


def _predictions() -> Iterator[Case]:
    sizes = (("100,000 rows", _predict, 0.01), ("100 times one row", _predict_one, 0.05))
    for (name, run, atol), dtype in product(sizes, _DTYPES):
        yield Case(
            "MLPClassifier predict, 30 features, 100, 5 classes",
            f"{name}, {dtype}",
            partial(tree_problems.classes, 100_000, 30, 5, dtype),
            _who("MLPClassifier"),
            run,
            Quality("error rate", _error_rate, atol=atol),
            _trained,
        )


def _autoencoders() -> Iterator[Case]:
    entropy = Quality("held-out cross-entropy", _cross_entropy, rtol=0.02)
    square = Quality("held-out squared error", _square, rtol=0.02)
    for law, dtype, peers, quality in (
        ("bernoulli", "float64", ("pytorch", "jax"), entropy),
        ("bernoulli", "float32", ("pytorch", "jax"), entropy),
        ("gaussian", "float32", (SCIKIT_LEARN, "pytorch", "jax"), square),
    ):
        yield Case(
            f"Autoencoder fit, {law} outputs",
            f"20,000 x 784, like digits, 784-64-784, 2 epochs, {dtype}",
            partial(_unlabelled, 20_000, dtype),
            _who("Autoencoder", peers, output=law),
            _fit_alone,
            quality,
            partial(_network, hidden_layer_sizes=(64,), max_iter=2),
        )


def cases() -> Iterator[Case]:
    for kind in (_classifiers, _regressors, _predictions, _autoencoders):
        yield from kind()
