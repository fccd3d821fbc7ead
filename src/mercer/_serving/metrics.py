"""What Prometheus reads: requests, errors, times, rows, and what is served. Written to on the event loop alone."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds


class Metrics:
    """Counts since the start."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self._info = {key: str(about[key]) for key in ("run", "model", "task", "target", "mercer")}
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, _Histogram] = {}
        self._rows: Counter[str] = Counter()
        self.n_open = 0

    def ended(self, method: str, path: str, status: int, seconds: float) -> None:
        """One request is answered."""
        self._requests[method, path, status] += 1
        if path not in self._times:
            self._times[path] = _Histogram()
        self._times[path].add(seconds)

    def count_rows(self, path: str, n_rows: int) -> None:
        """Rows were predicted or explained."""
        self._rows[path] += n_rows

    def text(self) -> str:
        """In Prometheus' text format."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        yield from _head("mercer_model_info", "gauge", "What is served.")
        yield f"mercer_model_info{_labels(self._info)} 1"
        yield from _head("mercer_requests_total", "counter", "Requests that were answered.")
        for (method, path, status), n in sorted(self._requests.items()):
            yield f"mercer_requests_total{_labels({'method': method, 'path': path, 'status': status})} {n}"
        yield from _head("mercer_errors_total", "counter", "Requests that were answered with a status of 400 or more.")
        errors: Counter[str] = Counter()
        for (_, path, status), n in self._requests.items():
            errors[path] += n if status >= 400 else 0
        for path, n in sorted(errors.items()):
            yield f"mercer_errors_total{_labels({'path': path})} {n}"
        yield from _head("mercer_request_seconds", "histogram", "From the head of a request to the end of its answer.")
        for path, times in sorted(self._times.items()):
            yield from times.lines("mercer_request_seconds", path)
        yield from _head("mercer_rows_total", "counter", "Rows that were predicted or explained.")
        for path, n in sorted(self._rows.items()):
            yield f"mercer_rows_total{_labels({'path': path})} {n}"
        yield from _head("mercer_requests_in_progress", "gauge", "Requests that are being worked on.")
        yield f"mercer_requests_in_progress {self.n_open}"


class _Histogram:
    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str, path: str) -> Iterator[str]:
        total = 0
        for bound, n in zip((*map(str, BUCKETS), "+Inf"), self._counts, strict=True):
            total += n
            yield f"{name}_bucket{_labels({'path': path, 'le': bound})} {total}"
        yield f"{name}_sum{_labels({'path': path})} {self._sum!r}"
        yield f"{name}_count{_labels({'path': path})} {total}"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def _labels(values: Mapping[str, Any]) -> str:
    escaped = (
        (key, str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").encode("utf-8", "replace").decode())
        for key, value in values.items()
    )
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped) + "}"
