"""Chooses the compiled variant of the kernels that fits this processor; nothing else.

`MERCER_NATIVE` names a variant (`v2`, `v3`, `v4`, `base`, `native`) to load instead of the best one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType

# Best first. `native` is what a development build has: it was compiled for the machine at hand.
_ORDER = ("native", "v4", "v3", "v2", "base")


def _is_supported(variant: str) -> bool:
    level: int = importlib.import_module(f"{__name__}._cpu_level").x86_level()
    return not variant.startswith("v") or level >= int(variant[1:])


def _find_variants() -> list[str]:
    """The variants that were built and that this processor can run, best first."""
    built = [name for name in _ORDER if importlib.util.find_spec(f"{__name__}._kernels_{name}")]
    return [name for name in built if _is_supported(name)]


def _choose() -> str:
    found = _find_variants()
    wanted = os.environ.get("MERCER_NATIVE")
    if wanted and wanted not in found:
        raise ImportError(f"MERCER_NATIVE={wanted!r} is not a variant that this processor can run; it must be one of {found}.")
    if not found:
        raise ImportError(
            "This processor is older than x86-64-v2 (SSE4.2); Mercer's wheels need that. Build from source instead."
        )
    return wanted or found[0]


variant: str = _choose()
kernels: ModuleType = importlib.import_module(f"{__name__}._kernels_{variant}")
