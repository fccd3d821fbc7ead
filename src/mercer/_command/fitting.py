"""Tables that fit a terminal: what matters whole, the rest left out. Nothing is cut in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

_GAP = 2
_LEAST_FLEXIBLE = 24  # characters, below which text that may wrap is left out or takes a line a word


@dataclass(frozen=True)
class TableColumn:
    """A column of a table in a terminal."""

    head: str
    cells: Sequence[str]
    rank: int = 0  # those of the highest ranks are left out first; 0: never
    is_number: bool = False
    wraps: bool = False  # at blanks, where the line is full

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *self.cells)))


def fitted_table(columns: Sequence[TableColumn], width: int | None, styles: Sequence[str] = ()) -> Table:
    """The columns that fit in `width` characters; None: all of them, as wide as they are. `styles` are those of rows."""
    shown = list(columns) if width is None else _fitting(columns, width)
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    are_whole = _fits(shown, width)
    for column in shown:
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(Text(column.head), justify=justify, no_wrap=are_whole and not column.wraps, overflow="fold")
    for number, cells in enumerate(zip(*(column.cells for column in shown), strict=True)):
        table.add_row(*map(Text, cells), style=styles[number] if styles else "")
    return table


def _needed(columns: Sequence[TableColumn]) -> int:
    widths = [min(column.width, _LEAST_FLEXIBLE) if column.wraps else column.width for column in columns]
    return sum(widths) + _GAP * len(columns)


def _fits(columns: Sequence[TableColumn], width: int | None) -> bool:
    return width is None or _needed(columns) <= width


def _fitting(columns: Sequence[TableColumn], width: int) -> list[TableColumn]:
    shown = list(columns)
    while not _fits(shown, width) and max(column.rank for column in shown) > 0:
        shown.remove(max(shown, key=lambda column: column.rank))
    return shown
