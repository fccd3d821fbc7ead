"""What the figures were measured on."""

from __future__ import annotations

import datetime
import importlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PEERS = ("scikit-learn-intelex", "daal", "xgboost", "lightgbm", "skglm", "liblinear-official", "torch", "jax")
_PACKAGES = ("numpy", "scipy", "scikit-learn", *_PEERS)


def describe() -> dict[str, str]:
    """Machine, versions and thread counts, as rows of a header."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": f"{_cpu_model()}, {os.cpu_count()} cores",
        "load at start": _load(),
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **_mercer(),
        **{package: _version(package) for package in _PACKAGES},
        "threads": _threads(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _mercer() -> dict[str, str]:
    try:
        from mercer import __version__
        from mercer._native import variant
    except ImportError as error:
        return {"mercer": f"not available: {error}"}
    return {"mercer": __version__, "native variant": variant}


def _threads() -> str:
    """The size of each thread pool, once the libraries that own one are loaded."""
    counts: list[str] = []
    for module in ("sklearn.cluster", "scipy.linalg", "mercer._parallel"):
        try:
            importlib.import_module(module)
        except ImportError:
            continue
    from threadpoolctl import threadpool_info

    for pool in threadpool_info():
        owner = Path(pool["filepath"]).parent.name.removesuffix(".libs").replace("_", "-")
        name = pool["internal_api"] if pool["user_api"] == "mercer" else f"{pool['internal_api']} ({owner})"
        counts.append(f"{name} {pool['num_threads']}")
    try:
        import daal4py

        counts.append(f"oneDAL {daal4py.num_threads()}")
    except (ImportError, AttributeError):
        pass
    return ", ".join(counts)
