"""What was done to each column and why, as records and as a page of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnReport:
    """What `TablePreparer` made of one column.

    Attributes
    ----------
    name, kind : str
        The column, and what it was taken for.
    used : bool
        Whether it has outputs.
    reason : str
        Why it was taken for that.
    treatment : str
        What was done to it.
    override : str
        The parameter that would change it.
    missing_share : float
        How many of its values are missing, from 0 to 1.
    n_distinct : int
        How many different values it has.
    outputs : tuple of str
        The names of the columns that it became.
    """

    name: str
    kind: str
    used: bool
    reason: str
    treatment: str
    override: str
    missing_share: float
    n_distinct: int
    outputs: tuple[str, ...]


_HEADS = ("column", "kind", "missing", "distinct", "outputs", "treatment", "reason")


def summary_table(report: Sequence[ColumnReport]) -> str:
    """The report as lines of equal columns."""
    rows = [
        (
            column.name,
            column.kind,
            f"{column.missing_share:.0%}" if column.missing_share in (0, 1) else f"{column.missing_share:.1%}",
            str(column.n_distinct),
            str(len(column.outputs)) if column.used else "-",
            column.treatment,
            column.reason,
        )
        for column in report
    ]
    widths = [max(len(row[place]) for row in [_HEADS, *rows]) for place in range(len(_HEADS))]
    ruler = tuple("-" * width for width in widths)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in (2, 3, 4) else cell.ljust(width) for place, (cell, width) in enumerate(pairs)
        ).rstrip()
        for pairs in ([*zip(row, widths, strict=True)] for row in [_HEADS, ruler, *rows])
    )
