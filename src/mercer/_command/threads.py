"""The limit on threads that a command is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def thread_limit(n_threads: int | None) -> Iterator[None]:
    """Have kernels and BLAS use so many threads at most; None: as many as there are. polars has its own, for reading."""
    if n_threads is None:
        yield
        return
    import threadpoolctl

    import mercer._parallel  # noqa: F401  (lets threadpoolctl see the kernels)

    with threadpoolctl.threadpool_limits(limits=n_threads):
        yield
