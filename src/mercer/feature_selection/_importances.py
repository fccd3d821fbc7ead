"""How much a fitted model makes of each column."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray

Getter = str | Callable[[Any], Any]


def importances_of(model: Any, getter: Getter) -> Any:
    """What `importance_getter` finds: values of the columns, a line an output where there are several."""
    if callable(getter):
        found = getter(model)
    elif getter != "auto":
        found = attrgetter(getter)(model)
    elif hasattr(model, "coef_"):
        found = model.coef_
    elif hasattr(model, "feature_importances_"):
        found = model.feature_importances_
    else:
        raise ValueError(
            f"importance_getter='auto' is not valid for {type(model).__name__}: when `importance_getter=='auto'`, the "
            f"underlying estimator {type(model).__name__} should have `coef_` or `feature_importances_` attribute, once it is "
            "fitted. Name another attribute, or give a function of the model."
        )
    return found.toarray() if sp.issparse(found) else np.asarray(found)


def column_norms(importances: FloatArray, order: float) -> FloatArray:
    """Absolute values; over several outputs, the norm."""
    if importances.ndim == 1:
        return np.abs(importances)
    norms: FloatArray = np.linalg.norm(importances, axis=0, ord=order)
    return norms


def column_squares(importances: FloatArray) -> FloatArray:
    """Squares, added up over several outputs."""
    squares: FloatArray = importances**2 if importances.ndim == 1 else (importances**2).sum(axis=0)
    return squares
