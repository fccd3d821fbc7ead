"""Runs the command as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mercer._command import main
from tests.common.children import SERVED

PYTHON = [sys.executable, "-m", "mercer"]


def environment() -> dict[str, str]:
    """A narrow terminal without colours, and the library that is being tested."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}


def start(*args: Any, cwd: Path) -> subprocess.Popen[str]:
    """Begin a command, in a group of its own so that signals reach it alone."""
    return subprocess.Popen(
        [*PYTHON, *map(str, args)],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _serve(args: list[str], cwd: str, given: dict[str, str], out: str, err: str) -> None:
    """The command, in a child that has its modules already."""
    os.setsid()
    os.chdir(cwd)
    os.environ.update(given)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["mercer", *args]
    main()


def run(*args: Any, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """What a command says and leaves. It runs in a process of its own, forked from one that has imported what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder) / name for name in ("out", "err")]
        process = SERVED.Process(target=_serve, args=(list(map(str, args)), str(cwd), environment(), *map(str, said)))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(map(str, args)), timeout)
        return subprocess.CompletedProcess(args, process.exitcode, *(path.read_text() for path in said))


def run_json(*args: Any, cwd: Path, is_fresh: bool = False) -> Any:
    """What the command prints with --json; it must succeed. `is_fresh`: in a process that has to import everything."""
    if is_fresh:
        process = start(*args, "--json", cwd=cwd)
        out, err = process.communicate(timeout=120)
        done = subprocess.CompletedProcess(args, process.returncode, out, err)
    else:
        done = run(*args, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
