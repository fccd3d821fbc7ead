"""Gaussian mixtures: 20 iterations from one start, and predictions; beside a bare NumPy product of the size of a whitening.

The product X (n x d) times (d x K d), once an iteration, is what whitening all rows under all components takes if it is
written as one call of BLAS. A case of it has no model: its contender is in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Estimator, Quality

_N_ITER = 20
_KINDS = ("full", "tied", "diag", "spherical")
_SIZES = ((60_000, 12, 12), (50_000, 20, 8))


class BareProduct:
    """As many products of the size of a whitening as EM has E steps, and nothing else."""

    def __init__(self, n_components: int, max_iter: int, **ignored: Any) -> None:
        self.n_components, self.max_iter = n_components, max_iter

    def fit(self, X: Any) -> BareProduct:
        d = X.shape[1]
        factors = np.ones((d, d * self.n_components), dtype=X.dtype)
        for _ in range(self.max_iter + 1):
            X @ factors
        return self


_FITTERS = (
    Contender(MERCER, "mercer.mixture:GaussianMixture"),
    Contender(SCIKIT_LEARN, "sklearn.mixture:GaussianMixture"),
    Contender("NumPy product", "benchmarks.generative.mixtures:BareProduct"),
)


def _rows(n: int, d: int, k: int, dtype: str) -> Data:
    """Components that overlap, stretched at random; the start are rows."""
    random = np.random.default_rng(0)
    labels = random.integers(k, size=n)
    means, stretch = random.normal(size=(k, d)) * 2, random.normal(size=(k, d, d)) / np.sqrt(d)
    X = means[labels] + np.einsum("ni,nij->nj", random.normal(size=(n, d)), stretch[labels])
    return Data(X.astype(dtype), start=means + 0.3)


def _from_start(estimator: Estimator, data: Data, *, kind: str) -> Any:
    k, d = data.start.shape
    precisions = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return estimator(
        n_components=k,
        covariance_type=kind,
        max_iter=_N_ITER,
        tol=0,
        weights_init=np.full(k, 1 / k),
        means_init=data.start,
        precisions_init=precisions[kind],
    )


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _mean_log_density(model: Any, outcome: Any, data: Data) -> float:
    """In float64; of a product there is none."""
    if isinstance(outcome, BareProduct):
        return -1e9
    return float(outcome.score(data.X))


_LIKELIHOOD = Quality("mean log-density", _mean_log_density, rtol=1e-3, atol=1e-3, is_lower_better=False)


def cases() -> Iterator[Case]:
    for (n, d, k), kind, dtype in product(_SIZES, _KINDS, ("float64", "float32")):
        yield Case(
            f"GaussianMixture fit, fixed start, {_N_ITER} iterations",
            f"{n:,} x {d}, {k} components, {kind}, {dtype}",
            partial(_rows, n, d, k, dtype),
            _FITTERS,
            _fit,
            _LIKELIHOOD,
            prepare=partial(_from_start, kind=kind),
            is_quick=(n, kind, dtype) == (60_000, "full", "float64"),
        )
