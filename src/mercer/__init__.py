"""Mercer: classical machine learning, complete, certified and fast, under scikit-learn's API."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer import cluster, ensemble, linear_model, losses, optim, penalties, plots, preprocessing, svm, tree
    from mercer._show_versions import show_versions

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "cluster",
    "ensemble",
    "linear_model",
    "losses",
    "optim",
    "penalties",
    "plots",
    "preprocessing",
    "show_versions",
    "svm",
    "tree",
]


def __getattr__(name: str) -> Any:
    # Submodules load when first used: `import mercer` itself imports nothing.
    if name == "show_versions":
        return importlib.import_module("mercer._show_versions").show_versions
    if name in __all__:
        return importlib.import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
