"""What a name or an object given as a setting stands for, and where a descent starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from mercer._params import InvalidParameterError

Made = TypeVar("Made")


def named(owner: str, parameter: str, value: Any, kind: type[Made], makers: Mapping[str, Callable[[], Made]]) -> Made:
    """The object itself, or the one that a name stands for, with its defaults."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in makers:
        return makers[value]()
    names = " or ".join(map(repr, makers))
    raise InvalidParameterError(f"{owner}: {parameter}={value!r} is not valid; it must be {names} or a {kind.__name__} object.")


def start_point(owner: str, x0: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A fresh vector of finite float64 numbers."""
    start = np.asarray(x0)
    if start.dtype.kind not in "fiub" or start.ndim != 1 or start.size == 0:
        what = f"x0 of shape {start.shape} and dtype {start.dtype}"
        raise ValueError(f"{owner}: {what} is not valid; it must be a vector of at least one real number.")
    if not np.isfinite(start).all():
        raise ValueError(f"{owner}: x0={x0!r} contains NaN or infinity; every entry must be a finite number.")
    return np.array(start, dtype=np.float64)
