"""How much memory is there to ask for: what would not fit is refused before the work begins."""

from __future__ import annotations

import sys
from pathlib import Path


def free_memory(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes that this process may still have, by the machine, its control group and its own limit; infinity if unknown."""
    return min(_of_machine(proc), _of_group(cgroup), _of_limit(proc))


def require_memory(owner: str, wanted: float, what: str, remedy: str) -> None:
    """Raise MemoryError where an array of so many bytes does not fit."""
    free = free_memory()
    if wanted > free:
        raise MemoryError(f"{owner}: {what} takes {_in_words(wanted)}, and {_in_words(free)} are free. {remedy}")


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.3g} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.3g} MiB"


def _of_machine(proc: Path) -> float:
    return _field(proc / "meminfo", "MemAvailable:")


def _of_group(cgroup: Path) -> float:
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        used = float((cgroup / "memory.current").read_text())
        files = sum(
            float(line.split()[1])
            for line in (cgroup / "memory.stat").read_text().splitlines()
            if line.startswith("inactive_file")
        )
    except (OSError, ValueError, IndexError):
        return float("inf")
    return float("inf") if limit == "max" else max(0.0, float(limit) - used + files)


def _of_limit(proc: Path) -> float:
    if sys.platform == "win32":
        return float("inf")
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _field(proc / "self" / "status", "VmSize:")
    return float("inf") if limit == resource.RLIM_INFINITY or used == float("inf") else max(0.0, limit - used)


def _field(path: Path, name: str) -> float:
    """A size that a line of a file gives in kibibytes; infinity where it does not."""
    try:
        line = next((line for line in path.read_text().splitlines() if line.startswith(name)), None)
        return float("inf") if line is None else 1024 * float(line.split()[1])
    except (OSError, ValueError, IndexError):
        return float("inf")
