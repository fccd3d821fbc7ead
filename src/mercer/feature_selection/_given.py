"""What the functions of this package are given: rows as the kernels take them, with labels or targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y

from mercer._arrays import FLOATS, FloatArray, check_labels, require_countable, tidy
from mercer._remedies import explained
from mercer._rows import with_own_structure

SPARSE = ("csr", "csc")


def given_X(owner: Callable[..., Any], X: Any, *, least_rows: int = 1) -> Any:
    """X as a float matrix, dense or sparse (CSR or CSC)."""
    require_countable(owner, X)
    X = with_own_structure(X)
    try:
        return tidy(check_array(X, accept_sparse=SPARSE, dtype=FLOATS, ensure_min_samples=least_rows, estimator=owner.__name__))
    except ValueError as error:
        raise explained(error, owner, X) from None


def given_targets(owner: Callable[..., Any], X: Any, y: Any) -> tuple[Any, FloatArray]:
    """X and a number for each row, in double precision."""
    require_countable(owner, X)
    X = with_own_structure(X)
    try:
        X, y = check_X_y(X, y, accept_sparse=SPARSE, dtype=FLOATS, y_numeric=True, estimator=owner.__name__)
    except ValueError as error:
        raise explained(error, owner, X) from None
    return tidy(X), np.asarray(y, dtype=np.float64)


def given_labels(owner: Callable[..., Any], X: Any, y: Any) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.intp]]:
    """X, the sorted labels, and the place of each row's among them."""
    require_countable(owner, X)
    X = with_own_structure(X)
    try:
        X, y = check_X_y(X, y, accept_sparse=SPARSE, dtype=FLOATS, estimator=owner.__name__)
    except ValueError as error:
        raise explained(error, owner, X) from None
    classes, codes = check_labels(y)
    return tidy(X), classes, codes


def given_labels_of_rows(owner: Callable[..., Any], X: Any, y: Any) -> tuple[Any, FloatArray]:
    """X, and zeros and ones: a column for each label that a row may have."""
    require_countable(owner, X)
    X = with_own_structure(X)
    try:
        X, y = check_X_y(X, y, accept_sparse=SPARSE, dtype=FLOATS, multi_output=True, estimator=owner.__name__)
    except ValueError as error:
        raise explained(error, owner, X) from None
    y = y.toarray() if sp.issparse(y) else np.asarray(y)
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"{owner.__name__}: y of several columns must hold zeros and ones, one column a label.")
    return tidy(X), y.astype(np.float64)
