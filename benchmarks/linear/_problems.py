"""Data for linear models, and the objectives by which the contenders are judged: one code for all, in float64."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logsumexp

from benchmarks._case import Data


def fit(model: Any, data: Data) -> Any:
    # Peers differ in what they do when handed weights of None, so they are left out rather than passed.
    if data.sample_weight is None:
        return model.fit(data.X, data.y)
    return model.fit(data.X, data.y, sample_weight=data.sample_weight)


def _correlated(random: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Columns that share a common part and are not centred."""
    return random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1)) + random.normal(size=d)


@lru_cache(maxsize=1)
def regression(n: int, d: int, dtype: str = "float64", is_weighted: bool = False) -> Data:
    """Correlated columns, a linear response, unit noise."""
    random = np.random.default_rng(0)
    X = _correlated(random, n, d)
    y = X @ random.normal(size=d) + 3 + random.normal(size=n)
    weights = random.exponential(size=n).astype(dtype) if is_weighted else None
    return Data(X.astype(dtype), y.astype(dtype), weights)


@lru_cache(maxsize=1)
def sparse_regression(n: int, d: int) -> Data:
    """Neighbouring columns correlate at 0.8; one column in ten matters; Fortran order, as every coordinate descent wants it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    coef = np.where(random.random(d) < max(0.1 * min(1, 500 / d), 8 / d), random.normal(size=d), 0)
    signal = X @ coef
    y = signal + 0.5 * signal.std() * random.normal(size=n) + 2
    return Data(np.asfortranarray(X), y)


@lru_cache(maxsize=1)
def sparse_columns(n: int, d: int, density: float) -> Data:
    """Sparse X without structure, a linear response of one column in ten, noise of half its spread."""
    random = np.random.default_rng(0)
    X = sp.random_array((n, d), density=density, format="csr", rng=random, data_sampler=random.standard_normal)
    signal = X @ np.where(random.random(d) < 0.1, random.normal(size=d), 0)
    return Data(X, signal + 0.5 * signal.std() * random.normal(size=n) + 2)


@lru_cache(maxsize=1)
def sparse_counts(n: int, d: int, density: float) -> Data:
    """Sparse X without structure, Poisson counts with a log-linear mean."""
    X, y = (data := sparse_columns(n, d, density)).X, data.y
    return Data(X, np.random.default_rng(1).poisson(np.exp((y - y.mean()) / (2 * y.std()))).astype(np.float64))


def shape_name(n: int, d: int, density: float | None = None) -> str:
    return f"{n:,} x {d:,}" + ("" if density is None else f" sparse ({density:.1%})")


@lru_cache(maxsize=1)
def classes(n: int, d: int, n_classes: int = 2) -> Data:
    """Correlated columns, labels drawn from a logistic model."""
    random = np.random.default_rng(0)
    X = _correlated(random, n, d)
    scores = (X - X.mean(axis=0)) @ random.normal(size=(d, n_classes)) / np.sqrt(d) * 2
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    return Data(X, y)


@lru_cache(maxsize=1)
def text(n: int, d: int) -> Data:
    """Rows like those of documents: about 100 words of a Zipf law, weighted by rarity, of norm one; few words matter."""
    random = np.random.default_rng(0)
    frequency = 1 / np.arange(1, d + 1) ** 1.1
    words = random.choice(d, size=(n, 120), p=frequency / frequency.sum())
    counts = sp.csr_matrix((np.ones(words.size), (np.repeat(np.arange(n), 120), words.ravel())), shape=(n, d))
    rarity = np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=d))) + 1
    X = sp.csr_matrix(((1 + np.log(counts.data)) * rarity[counts.indices], counts.indices, counts.indptr), shape=(n, d))
    X = sp.csr_matrix(sp.diags(1 / np.sqrt(X.multiply(X).sum(axis=1)).A1) @ X)
    coef = np.where(random.random(d) < 0.02, 4 * random.normal(size=d), 0)
    scores = X @ coef
    y = (random.random(n) < expit(4 * (scores - np.median(scores)) / scores.std())).astype(int)
    return Data(X, y)


@lru_cache(maxsize=1)
def counts(n: int, d: int) -> Data:
    """Correlated columns, Poisson counts with a log-linear mean."""
    random = np.random.default_rng(0)
    X = _correlated(random, n, d)
    y = random.poisson(np.exp(0.5 + (X - X.mean(axis=0)) @ random.normal(size=d) / (2 * np.sqrt(d))))
    return Data(X, y.astype(np.float64))


@lru_cache(maxsize=1)
def outliers(n: int, d: int) -> Data:
    """A linear response with heavy tails."""
    random = np.random.default_rng(0)
    X = _correlated(random, n, d)
    return Data(X, X @ random.normal(size=d) + 3 + random.standard_t(2, size=n))


def parts(outcome: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (outputs x features) and intercepts in float64."""
    coef = np.atleast_2d(np.asarray(outcome.coef_, dtype=np.float64))
    return coef, np.broadcast_to(np.asarray(outcome.intercept_, dtype=np.float64).ravel(), (coef.shape[0],))


def values(outcome: Any, data: Data) -> np.ndarray:
    coef, intercept = parts(outcome)
    X = data.X if sp.issparse(data.X) else data.X.astype(np.float64, copy=False)
    found = X @ coef.T + intercept
    return found[:, 0] if coef.shape[0] == 1 else found


def residual_sum(model: Any, outcome: Any, data: Data) -> float:
    """The (weighted) residual sum of squares."""
    residual = data.y.astype(np.float64) - values(outcome, data)
    weights = np.ones(len(residual)) if data.sample_weight is None else data.sample_weight.astype(np.float64)
    return float(weights @ residual**2)


def log_loss(outcome: Any, data: Data) -> float:
    """The summed negative log likelihood, of two classes or many."""
    found = values(outcome, data)
    if found.ndim == 1:
        sign = 2.0 * (data.y == 1) - 1
        return float(np.logaddexp(0, -sign * found).sum())
    return float((logsumexp(found, axis=1) - found[np.arange(len(found)), data.y]).sum())
