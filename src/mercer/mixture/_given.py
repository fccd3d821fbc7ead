"""Parameters of mixtures that users give: checked against the shape that X and the number of components ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._arrays import FloatArray
from mercer._gaussians import CovarianceType, require_positive, shape_of


def check_given(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    """Finite numbers of a shape, in double precision."""
    array: FloatArray = check_array(
        value, dtype=np.float64, ensure_2d=False, allow_nd=True, ensure_min_samples=0, input_name=name
    )
    if array.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {array.shape}.")
    return array


def check_shares(value: Any, n_components: int) -> FloatArray | None:
    """Weights that add up to one."""
    if value is None:
        return None
    weights = check_given("weights", value, (n_components,))
    if ((weights < 0) | (weights > 1)).any():
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got values from "
            f"{weights.min():.5f} to {weights.max():.5f}"
        )
    total = weights.sum()
    if abs(1 - total) > (1e-6 if getattr(value, "dtype", None) == np.float32 else 1e-8):
        raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {total:.5f}")
    return np.asarray(weights / total)


def check_means(value: Any, n_components: int, n_features: int) -> FloatArray | None:
    return None if value is None else check_given("means", value, (n_components, n_features))


def check_precisions(value: Any, kind: CovarianceType, n_components: int, n_features: int) -> FloatArray | None:
    if value is None:
        return None
    precisions = check_given(f"{kind} precision", value, shape_of(kind, n_components, n_features))
    require_positive(f"'{kind} precision'", precisions, kind)
    return precisions


def from_precisions(precisions: FloatArray, kind: CovarianceType) -> tuple[FloatArray, FloatArray]:
    """The covariances, and what whitens under them: U with U U' the precision, upper triangular."""
    if kind in ("diag", "spherical"):
        return 1 / precisions, np.sqrt(precisions)
    # The factor of a matrix whose order of features is turned round is lower triangular; turned round again it is upper.
    turned = np.linalg.cholesky(precisions[..., ::-1, ::-1])
    return np.linalg.inv(precisions), np.ascontiguousarray(turned[..., ::-1, ::-1])
