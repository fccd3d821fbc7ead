"""What can go wrong in a run, each with the exit code that scripts see."""

from __future__ import annotations


class RunError(Exception):
    """One clear line for the user. Exit code 2: the request cannot be met as it was put."""

    exit_code = 2


class DataError(RunError):
    """The data cannot be used, and why. Exit code 3."""

    exit_code = 3


class NothingTrained(RunError):
    """Every model failed or was skipped. Exit code 4."""

    exit_code = 4


class Interrupted(RunError):
    """Ctrl-C before all was written; the message says what is there. Exit code 130."""

    exit_code = 130
