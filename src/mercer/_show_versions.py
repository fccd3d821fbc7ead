"""What to paste into a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _blas_in_use() -> str:
    """The BLAS that SciPy brings, which is the one Mercer's kernels call."""
    import scipy.linalg.cython_blas  # noqa: F401  (loads it)

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    pools.sort(key=lambda pool: "scipy" not in pool["filepath"])
    if not pools:
        return "unknown (SciPy's)"
    pool = pools[0]
    return f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads (SciPy's)"


def found_versions() -> dict[str, str]:
    """What `show_versions` prints."""
    from mercer import __version__
    from mercer._native import variant
    from mercer._parallel import available_cpus, effective_threads

    return {
        "mercer": __version__,
        "native variant": variant,
        "threads": f"{effective_threads(None)} (of {available_cpus()} processors)",
        "BLAS": _blas_in_use(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{package: _version_of(package) for package in ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")},
    }


def show_versions() -> None:
    """Print the versions, the native variant, the thread count and the BLAS in use."""
    rows = found_versions()
    width = max(map(len, rows))
    print("\n".join(f"{name:>{width}}: {value}" for name, value in rows.items()))  # noqa: T201  (printing is its job)
