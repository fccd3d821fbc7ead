"""Peak memory of a run beyond its input, each measured in a fresh process (`python -m benchmarks._memory`)."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, find_groups

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_TIMEOUT = 600.0


@dataclass(frozen=True)
class MemoryUse:
    """Bytes of the input, and bytes the process grew by at its peak."""

    contender: str
    input_bytes: int | None = None
    extra_bytes: int | None = None
    problem: str | None = None

    @property
    def ratio(self) -> float | None:
        if self.input_bytes is None or self.extra_bytes is None:
            return None
        return self.extra_bytes / self.input_bytes


@dataclass(frozen=True)
class MemoryResult:
    group: str
    case: Case
    uses: tuple[MemoryUse, ...]


def measure_memory(group: str, case: Case) -> MemoryResult:
    """Mercer's and scikit-learn's memory in a case."""
    names = [contender.name for contender in case.contenders if contender.name in (MERCER, SCIKIT_LEARN)]
    return MemoryResult(group, case, tuple(_in_fresh_process(group, case, name) for name in names))


def _in_fresh_process(group: str, case: Case, contender: str) -> MemoryUse:
    root = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join([root, *(os.path.abspath(entry) for entry in sys.path if entry)])
    try:
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks._memory", group, case.label, contender],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
        return MemoryUse(contender, **json.loads(process.stdout.splitlines()[-1]))
    except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError) as error:
        return MemoryUse(contender, problem=f"failed: {type(error).__name__}")


def _measure_here(group: str, label: str, contender: str) -> dict[str, int | str]:
    case = next(case for case in find_groups()[group] if case.label == label)
    try:
        estimator = next(c for c in case.contenders if c.name == contender).load()
    except (ImportError, AttributeError) as error:
        return {"problem": f"not available: {error}"}
    if case.small_data is not None:
        small = case.small_data()
        case.run(case.prepare(estimator, small), small)
    data = case.make_data()
    model = case.prepare(estimator, data)
    extra = _peak_growth(lambda: case.run(model, data))
    return {"problem": "not measured: no /proc here"} if extra is None else {"input_bytes": data.nbytes, "extra_bytes": extra}


def _peak_growth(action: Callable[[], object]) -> int | None:
    """How far the resident memory rises above its present level while `action` runs; None where it cannot be read."""
    gc.collect()
    _give_back_free_memory()
    if not _STATUS.exists():
        return None
    before = _read_status("VmRSS")
    # An outcome is kept until the peak has been read: it belongs to what the run needs.
    if _reset_peak():
        outcome = action()
        peak = _read_status("VmHWM")
    else:
        with _Sampler() as sampler:
            outcome = action()
        peak = sampler.peak
    del outcome
    return max(0, peak - before)


def _read_status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def _reset_peak() -> bool:
    """Set the kernel's record of the peak to the present level; False where that is not allowed or has no effect."""
    try:
        _CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return _read_status("VmHWM") - _read_status("VmRSS") < 2**20


def _give_back_free_memory() -> None:
    # Otherwise pages that the C library keeps from making the data would be used unseen.
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return


class _Sampler:
    """The highest resident memory seen by a thread that looks every millisecond; misses short peaks."""

    def __enter__(self) -> _Sampler:
        self.peak = _read_status("VmRSS")
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self.peak = max(self.peak, _read_status("VmRSS"))

    def _watch(self) -> None:
        while not self._is_over.is_set():
            self.peak = max(self.peak, _read_status("VmRSS"))
            time.sleep(0.001)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(_measure_here(*sys.argv[1:])))
