"""What a user hands to a method, in parts or not: the one place that decides, for fits and for answers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mercer._parts.passes import Parted


def lies_in_parts(value: Any) -> bool:
    """Whether something is a table, or a column, in parts. Costs next to nothing for an array."""
    if isinstance(value, np.ndarray) or value is None:
        return False
    return isinstance(value, Parted) or hasattr(value, "parted") or is_collection(value)


def is_collection(value: Any) -> bool:
    """Whether something is one of Dask's; where nobody has imported Dask, nothing is."""
    return "dask" in sys.modules and getattr(value, "__dask_graph__", None) is not None and hasattr(value, "to_delayed")


def parted(value: Any) -> Any:
    """As passes take it; what does not lie in parts is left as it is."""
    if isinstance(value, Parted) or not lies_in_parts(value):
        return value
    if hasattr(value, "parted"):
        return value.parted()
    from mercer._parts.collections import parted_collection

    return parted_collection(value)


def require_parted_form(estimator: Any, method: str) -> None:
    """Refuse what has no form for parts, naming what has one."""
    if method != "fit":
        raise TypeError(f"{type(estimator).__name__}.{method} takes no rows in parts; `fit` goes over all parts of a table.")
    if not getattr(estimator, "_takes_parts", False):
        from mercer._discovery import public_estimators

        able = {name for name, cls in public_estimators().items() if getattr(cls, "_takes_parts", False)}
        names = ", ".join(sorted(name.rpartition(".")[2] for name in able))
        raise TypeError(
            f"{type(estimator).__name__}: X lies in parts, and this estimator has no fit that adds up over parts. Those that "
            f"have one: {names}. Others take a sample of the rows in memory, such as `frame.sample(frac=0.01).compute()` of "
            "Dask's, or some rows of `polars.scan_parquet(...).collect()`."
        )
