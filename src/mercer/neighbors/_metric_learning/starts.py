"""Where the learning of a linear map starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_array

from mercer._arrays import FloatArray

NAMES = ("auto", "pca", "lda", "identity", "random")


def start_map(
    init: Any, n_components: int | None, X: FloatArray, codes: npt.NDArray[np.intp], random: np.random.RandomState
) -> FloatArray:
    """The first map, of shape (n_components, n_features), in double precision."""
    n_features = X.shape[1]
    if n_components is not None and n_components > n_features:
        raise ValueError(
            f"The preferred dimensionality of the projected space `n_components` ({n_components}) cannot be greater than the "
            f"given data dimensionality ({n_features})!"
        )
    if not isinstance(init, str):
        return _given(check_array(init, dtype=np.float64), n_components, n_features)
    return _named(init, n_components or n_features, X, codes, random)


def _given(init: FloatArray, n_components: int | None, n_features: int) -> FloatArray:
    if init.shape[1] != n_features:
        raise ValueError(
            f"The input dimensionality ({init.shape[1]}) of the given linear transformation `init` must match the "
            f"dimensionality of the given inputs `X` ({n_features})."
        )
    if init.shape[0] > init.shape[1]:
        raise ValueError(
            f"The output dimensionality ({init.shape[0]}) of the given linear transformation `init` cannot be greater than its "
            f"input dimensionality ({init.shape[1]})."
        )
    if n_components is not None and n_components != init.shape[0]:
        raise ValueError(
            f"The preferred dimensionality of the projected space `n_components` ({n_components}) does not match the output "
            f"dimensionality of the given linear transformation `init` ({init.shape[0]})!"
        )
    return np.array(init)


def _named(
    init: str, n_components: int, X: FloatArray, codes: npt.NDArray[np.intp], random: np.random.RandomState
) -> FloatArray:
    n_rows, n_features = X.shape
    if init == "auto":
        if n_components <= min(n_features, len(np.unique(codes)) - 1):
            init = "lda"
        else:
            init = "pca" if n_components < min(n_features, n_rows) else "identity"
    if init == "identity":
        return np.eye(n_components, n_features)
    if init == "random":
        return random.standard_normal(size=(n_components, n_features))
    if init == "pca":
        found = PCA(n_components=n_components, random_state=random).fit(X).components_
    else:
        found = LinearDiscriminantAnalysis(n_components=n_components).fit(X, codes).scalings_.T[:n_components]
    return np.array(found, dtype=np.float64)
