"""Principal components and truncated singular value decompositions: fit, fit and transform, transform."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._case import SCIKIT_LEARN, Case, Data, Estimator, Quality, contenders

# Rows, columns and components; None: all of them.
_SIZES = (
    (100_000, 60, None),
    (5_000, 2_000, 20),
    (1_000_000, 20, None),
    (20_000, 300, 10),
    (200, 20, None),
    (200, 5_000, None),
    (200, 5_000, 10),
)
_TEXT = (10_000, 30_000, 50)
_WORDS_A_ROW = 80


@lru_cache(maxsize=1)
def _table(n: int, d: int, dtype: str) -> Data:
    """Thirty directions above noise, away from the origin."""
    random = np.random.RandomState(0)
    rank = min(30, d)
    X = random.randn(n, rank) @ (random.randn(rank, d) * np.linspace(3, 0.5, rank)[:, None]) + random.randn(n, d)
    return Data((X + 3 * random.randn(d)).astype(dtype))


@lru_cache(maxsize=1)
def _text(dtype: str) -> Data:
    """Words as frequent as in text, weighted by how rare they are."""
    n, d, _ = _TEXT
    random = np.random.RandomState(0)
    shares = 1 / np.arange(1, d + 1) ** 0.9
    words = random.choice(d, size=n * _WORDS_A_ROW, p=shares / shares.sum())
    counts = sp.csr_matrix((np.ones(len(words)), (np.repeat(np.arange(n), _WORDS_A_ROW), words)), shape=(n, d))
    counts.data = np.log1p(counts.data)
    rareness = 1 + np.log(n / (1 + np.bincount(counts.indices, minlength=d)))
    return Data((counts @ sp.diags(rareness)).tocsr().astype(dtype))


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _fit_transform(model: Any, data: Data) -> Any:
    return model.fit_transform(data.X)


def _transform(model: Any, data: Data) -> Any:
    return model.transform(data.X)


_ACTIONS = {"fit": _fit, "fit_transform": _fit_transform, "transform": _transform}


def _prepare(estimator: Estimator, data: Data, *, n_components: int | None, action: str) -> Any:
    model = estimator(n_components=n_components, random_state=0)
    return model.fit(data.X) if action == "transform" else model


def _explained(model: Any, outcome: Any, data: Data, *, is_centred: bool) -> float:
    """The share of the squares of the rows that lies in the span of the components found, in float64."""
    X = data.X.astype(np.float64)
    if is_centred:
        X = X - X.mean(axis=0)
    basis = np.linalg.qr(np.asarray(model.components_, dtype=np.float64).T)[0]
    whole = X.multiply(X).sum() if sp.issparse(X) else (X**2).sum()
    return float(((X @ basis) ** 2).sum() / whole)


def cases() -> Iterator[Case]:
    for (n, d, k), action, dtype in product(_SIZES, _ACTIONS, ("float64", "float32")):
        yield Case(
            f"PCA {action}",
            f"{n:,} x {d:,}, {'all' if k is None else k} components, {dtype}",
            partial(_table, n, d, dtype),
            contenders("decomposition.PCA"),
            _ACTIONS[action],
            Quality("share of the variance explained", partial(_explained, is_centred=True), rtol=1e-3, is_lower_better=False),
            prepare=partial(_prepare, n_components=k, action=action),
            is_quick=n == 200,
        )
    for action, dtype in product(("fit", "transform"), ("float64", "float32")):
        yield Case(
            f"TruncatedSVD {action}",
            f"text, {_TEXT[0]:,} x {_TEXT[1]:,} sparse, {_TEXT[2]} components, {dtype}",
            partial(_text, dtype),
            contenders("decomposition.TruncatedSVD", peers=(SCIKIT_LEARN,)),
            _ACTIONS[action],
            Quality("share of the squares explained", partial(_explained, is_centred=False), rtol=1e-3, is_lower_better=False),
            prepare=partial(_prepare, n_components=_TEXT[2], action=action),
        )
