"""Tables: one way to write cells, so that every table can be sorted, read aloud, printed and stacked on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer._report.page.html import Child, Html, tag


@dataclass(frozen=True)
class Head:
    """A column of a table: its name, what sorts it, and its alignment."""

    label: str | Html
    sort: str | None = None  # "number", "text" or None
    is_number: bool = False
    class_: str = ""
    direction: str | None = None  # "ascending" or "descending": how the table is sorted as it stands


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the value it is sorted by."""

    shown: Child
    value: Any = None
    span: int = 1  # columns; a cell that spans several is the last of its row


def table(
    heads: Sequence[Head],
    rows: Sequence[Sequence[Cell | Child]],
    *,
    caption: str,
    classes: Sequence[str | None] | None = None,
    is_stacked: bool = False,
) -> Html:
    """A table whose first column heads its rows. It scrolls in a box of its own, or is stacked where the screen is narrow."""
    sortable = any(head.sort for head in heads)
    header = tag("tr", [_head(head) for head in heads])
    body = [
        tag(
            "tr",
            [_cell(head, cell, index == 0) for index, (head, cell) in enumerate(zip(heads, row, strict=False))],
            class_=class_,
        )
        for row, class_ in zip(rows, classes or [None] * len(rows), strict=True)
    ]
    grid = tag(
        "table",
        tag("caption", caption, class_="hidden"),
        tag("thead", header),
        tag("tbody", body),
        class_="stacked" if is_stacked else None,
        data_sortable=sortable,
    )
    if is_stacked:
        return grid
    return tag("div", grid, class_="scroll", role="region", aria_label=caption, tabindex=0)


def _classes(head: Head) -> str | None:
    return " ".join(filter(None, ["num" if head.is_number else "", head.class_])) or None


def _head(head: Head) -> Html:
    return tag(
        "th",
        head.label,
        scope="col",
        class_=_classes(head),
        data_sort=head.sort,
        aria_sort=head.direction,
    )


def _cell(head: Head, cell: Cell | Child, heads_row: bool) -> Html:
    given = cell if isinstance(cell, Cell) else Cell(cell)
    value = None if given.value is None else repr(given.value) if isinstance(given.value, float) else str(given.value)
    return tag(
        "th" if heads_row else "td",
        given.shown,
        scope="row" if heads_row else None,
        class_=_classes(head) if given.span == 1 else "small muted",
        colspan=given.span if given.span > 1 else None,
        data_value=value,
        data_label=None if heads_row or isinstance(head.label, Html) else head.label,
    )


# The cell above the row heads and before the column heads of a confusion matrix.
CORNER = tag("th", tag("span", "true ↓"), " ", tag("span", "predicted →"), scope="col", class_="corner")
