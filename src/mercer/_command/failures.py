"""What a user sees where a command cannot do what it was asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from mercer._runs.errors import RunError


@contextmanager
def clear_errors(*, as_json: bool) -> Iterator[None]:
    """One line and an exit code for what is not a fault of the program."""
    try:
        yield
    except RunError as error:
        _fail(str(error), error.exit_code, as_json=as_json)
    except KeyboardInterrupt:
        _fail("interrupted; nothing was finished", 130, as_json=as_json)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        raise typer.Exit(0) from None


def _fail(message: str, code: int, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"error": message, "exit_code": code}))
    typer.echo(f"mercer: {message}", err=True)
    raise typer.Exit(code)
