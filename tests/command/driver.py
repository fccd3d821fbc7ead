"""Runs the command as a user does: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def run(*args: Any, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    process = start(*args, cwd=cwd)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def run_json(*args: Any, cwd: Path) -> Any:
    """What the command prints with --json; it must succeed."""
    done = run(*args, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
