"""Weights of rows, as the measures take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def check_sample_weight(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Weights as a vector of finite numbers, not all zero; None where all rows weigh the same."""
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind == "c":
        raise ValueError("Complex data not supported: sample_weight holds complex numbers; every weight must be a real number.")
    if weights.dtype.kind not in "fiubO":
        raise ValueError(f"sample_weight of dtype {weights.dtype} is not numeric.")
    try:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight of dtype {weights.dtype} is not numeric.") from error
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights.ravel()
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array of shape {weights.shape}.")
    if weights.shape[0] != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, n_rows, len(weights)]}; sample_weight, the "
            "last, must have one value for each row."
        )
    if not (is_finite := np.isfinite(weights)).all():
        what = "NaN" if np.isnan(weights[~is_finite][0]) else "infinity"
        raise ValueError(f"Input sample_weight contains {what}; every weight must be a finite number.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights
