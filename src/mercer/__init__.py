"""Mercer: classical machine learning, complete, certified and fast, under scikit-learn's API."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer import (
        calibration,
        cluster,
        datasets,
        ensemble,
        linear_model,
        losses,
        metrics,
        model_selection,
        optim,
        penalties,
        plots,
        preprocessing,
        svm,
        tree,
    )
    from mercer._persistence import FileFormatError, load, save
    from mercer._show_versions import show_versions

__version__ = "0.1.0"
__all__ = [
    "FileFormatError",
    "__version__",
    "calibration",
    "cluster",
    "datasets",
    "ensemble",
    "linear_model",
    "load",
    "losses",
    "metrics",
    "model_selection",
    "optim",
    "penalties",
    "plots",
    "preprocessing",
    "save",
    "show_versions",
    "svm",
    "tree",
]


_FUNCTIONS = {
    "FileFormatError": "mercer._persistence",
    "load": "mercer._persistence",
    "save": "mercer._persistence",
    "show_versions": "mercer._show_versions",
}


def __getattr__(name: str) -> Any:
    # Submodules load when first used: `import mercer` itself imports nothing.
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if name in __all__:
        return importlib.import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
