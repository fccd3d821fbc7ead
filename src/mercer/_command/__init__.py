"""The `mercer` command."""

from __future__ import annotations

import sys
import time

begun: float | None = None  # when the command was called, by the monotonic clock: what it imports takes time too


def main() -> None:
    """The entry point: one clear line where the packages of the command are not installed."""
    global begun
    begun = time.monotonic()
    try:
        import polars  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(f"mercer: the command needs {error.name}: pip install 'mercer[cli]'", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    from mercer._command.app import app

    app(prog_name="mercer")
