"""Fingerprints: whether a resumed search is the same search."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

_IRRELEVANT = ("n_jobs", "verbose")  # parameters that change no result


def fingerprint(**parts: Any) -> dict[str, str]:
    """A digest of each part, so that what differs can be named."""
    return {name: hashlib.blake2b(describe(part).encode(), digest_size=12).hexdigest() for name, part in parts.items()}


def fixed_params(estimator: Any, searched: Collection[str]) -> dict[str, Any]:
    """What a search leaves as it is and what makes a difference: parameters of all depths, nested estimators by class."""
    params = {
        name: type(value).__qualname__ if hasattr(value, "get_params") else value
        for name, value in estimator.get_params(deep=True).items()
        if name not in searched and name.rpartition("__")[2] not in _IRRELEVANT
    }
    return {"class": type(estimator), **params}


def describe(value: Any) -> str:
    """A text that is equal for equal values, in this process and in the next."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, (np.ndarray, np.generic)) or sp.issparse(value):
        return f"{type(value).__name__} {joblib.hash(value)}"
    if hasattr(value, "columns") and hasattr(value, "dtypes"):  # a data frame of pandas or polars
        return describe([(str(name), str(value[name].dtype), value[name].to_numpy()) for name in value.columns])
    if hasattr(value, "to_numpy"):
        return describe(value.to_numpy())
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{key!r}: {describe(found)}" for key, found in value.items())) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(describe, value)) + "]"
    return _describe_object(value)


def _describe_object(value: Any) -> str:
    if hasattr(value, "get_params") and not isinstance(value, type):
        return describe(fixed_params(value, ()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__qualname__}({describe(vars(value))})"
    if hasattr(value, "__qualname__"):  # functions and classes
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "dist") and hasattr(value, "kwds"):  # a frozen distribution of SciPy
        return f"{value.dist.name}{describe(value.args)}{describe(value.kwds)}"
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text  # an address differs from process to process
