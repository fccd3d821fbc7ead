"""What is wrong with a request, in the one form that every error has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_LISTED = 20
_LONGEST_VALUE = 80


@dataclass(frozen=True)
class Problem:
    """One value that cannot be used: where it stands, and what would do."""

    message: str
    row: int | None = None  # from 1
    column: str | None = None
    value: Any = None
    words: str = ""  # of the message, without where

    def to_dict(self) -> dict[str, Any]:
        return {"row": self.row, "column": self.column, "value": shown(self.value), "message": self.message}


class Refused(Exception):
    """The request is answered with a status and what is wrong with it."""

    def __init__(self, status: int, message: str, problems: Sequence[Problem] = (), n_problems: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.problems = status, message, list(problems)
        self.n_problems = len(self.problems) if n_problems is None else n_problems

    def to_dict(self) -> dict[str, Any]:
        listed = [problem.to_dict() for problem in self.problems[:MOST_LISTED]]
        return {"error": self.message, "n_problems": self.n_problems, "problems": listed}


def of_values(problems: Sequence[Problem]) -> Refused:
    """The refusal of values; the first row's come first."""
    ordered = sorted(problems, key=lambda problem: problem.row or 0)
    n = len(ordered)
    return Refused(
        422, ordered[0].message if n == 1 else f"{n:,} values cannot be used. The first: {ordered[0].message}", ordered
    )


def shown(value: Any) -> Any:
    """A value of a request as an error repeats it: cut where it is long, by its type where it is no single value."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"{value:.6e}" if abs(value) < 10**300 else "a number beyond 1e300"
    if isinstance(value, str):
        clean = value.encode("utf-8", "replace").decode()
        return clean if len(clean) <= _LONGEST_VALUE else clean[: _LONGEST_VALUE - 1] + "…"
    return "a list" if isinstance(value, list) else "an object"
