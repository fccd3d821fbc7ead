"""How far the inner products of features are from the kernel, on some rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels as native
from mercer._parallel import effective_threads
from mercer._rows import count_rows, take_rows

_MOST_ROWS = 256


def approximation_error(kernel: Callable[[Any], FloatArray], features: Callable[[Any], Any], X: Any) -> float:
    """|Z Z' - K| / |K| in the norm of Frobenius, for up to 256 rows evenly spread over X, which takes no draws."""
    n_rows = count_rows(X)
    some = take_rows(X, np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).astype(np.int64)))
    exact, Z = kernel(some).astype(np.float64), features(some)
    Z = (Z.toarray() if hasattr(Z, "toarray") else Z).astype(np.float64)
    norm = float(np.linalg.norm(exact))
    return float(np.linalg.norm(Z @ Z.T - exact)) / norm if norm > 0 else float(np.linalg.norm(Z @ Z.T))


def fourier_features(X: FloatArray, directions: FloatArray, offsets: FloatArray) -> FloatArray:
    """sqrt(2 / n) cos(X directions + offsets), for n directions (Rahimi and Recht 2007)."""
    n_components = directions.shape[1]
    directions, offsets = (np.ascontiguousarray(part, dtype=X.dtype) for part in (directions, offsets))
    out = np.empty((X.shape[0], n_components), dtype=X.dtype)
    native.fourier_features(X, directions, offsets, (2.0 / n_components) ** 0.5, out, effective_threads(None))
    return out
