"""What was done to each column, in the words of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mercer.preprocessing import ColumnReport


def as_columns(report: Sequence[ColumnReport], notes: Mapping[str, str]) -> list[dict[str, Any]]:
    """What is done to each column and why, and the flag of the command that changes it. `notes`: what reading it took."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "used": column.used,
            "reason": "; ".join([column.reason, *([notes[column.name]] if column.name in notes else [])]),
            "treatment": column.treatment,
            "flag": f"--kind {column.name}=…" if not column.used else f"--kind {column.name}=… or --drop {column.name}",
            "missing": column.missing_share,
            "distinct": column.n_distinct,
            "made": list(column.outputs),
        }
        for column in report
    ]
