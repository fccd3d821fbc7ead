"""What a user sees where a command cannot do what it was asked."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from mercer._runs.errors import Interrupted, RunError


@contextmanager
def clear_errors(*, as_json: bool) -> Iterator[None]:
    """One line and an exit code, whatever happens."""
    try:
        yield
        sys.stdout.flush()  # what cannot be written is told here, not when Python ends
    except (typer.Exit, typer.Abort):
        raise
    except RunError as error:
        _fail(str(error), error.exit_code, as_json=as_json)
    except KeyboardInterrupt:
        _fail("interrupted; nothing was finished", Interrupted.exit_code, as_json=as_json)
    except BrokenPipeError:  # the reader of our output has gone; nor is there anyone to hear of what cannot be flushed at exit
        _leave_output()
        raise typer.Exit(0) from None
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:
            _leave_output()
        _fail(_words_of(error), RunError.exit_code, as_json=as_json)
    except MemoryError as error:
        _fail(f"there is not enough memory ({error or 'none left'}). Fewer rows or columns would do.", 2, as_json=as_json)
    except Exception as error:
        _fail(_fault(error), 1, as_json=as_json)


@contextmanager
def told_of_run(path: Path, command: str) -> Iterator[None]:
    """Say what a run that is broken off, or has no room to write, has left in its folder."""
    try:
        yield
    except KeyboardInterrupt:
        again = f"`mercer {command} --resume {path}`"
        if (path / "model.mercer").is_file():
            message = f"interrupted: the model is in {path / 'model.mercer'}; its report is not finished, {again} writes it"
        elif (path / "run.json").is_file():
            message = f"interrupted before there was a model; what was tried is in {path}, {again} goes on"
        else:
            message = "interrupted; nothing was finished"
        raise Interrupted(message) from None
    except OSError as error:
        if error.errno != errno.ENOSPC or not (path / "run.json").is_file():
            raise
        again = f"`mercer {command} --resume {path}` goes on where there is room"
        raise RunError(f"{path}: {error.strerror}. What was finished is kept, {again}.") from error


def _leave_output() -> None:
    """What is still to be written to standard output goes nowhere: Python would try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _words_of(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{what}."


def _fault(error: Exception) -> str:
    """A fault of Mercer in one line; where it came from is in a file, for the report of the fault."""
    said = (str(error).strip().splitlines() or [""])[0]
    try:
        with tempfile.NamedTemporaryFile("w", prefix="mercer-fault-", suffix=".txt", delete=False, encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)))
        where = f"the traceback is in {file.name}"
    except OSError:
        where = "its traceback could not be written"
    return f"a fault of Mercer: {type(error).__name__}: {said} ({where}; please report it, with what `mercer info` says)"


def _fail(message: str, code: int, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"error": message, "exit_code": code}))
    typer.echo(f"mercer: {message}", err=True)
    raise typer.Exit(code)
