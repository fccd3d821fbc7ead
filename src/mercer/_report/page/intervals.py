"""The part of the page about intervals and sets of labels."""

from __future__ import annotations

from mercer._report.content import Intervals
from mercer._report.measures import LEVEL
from mercer._report.numbers import count, level, number, percent
from mercer._report.page.html import Html, join, tag
from mercer._report.page.tables import Cell, Head, table


def title(found: Intervals) -> str:
    return "Intervals" if found["kind"] == "interval" else "Sets of labels"


def intervals(found: Intervals) -> Html:
    """The reading, the figures, and by what they were calibrated."""
    heads = [
        Head("Coverage"),
        Head("Asked", is_number=True),
        Head("Test rows", is_number=True),
        Head(level(LEVEL), is_number=True),
    ]
    reached = Cell(percent(found["reached"]), found["reached"])
    span = Cell(f"{percent(found['low'])} to {percent(found['high'])}")
    lines = [[Cell("Rows whose truth is held"), Cell(percent(found["coverage"])), reached, span]]
    grid = table(heads, lines, caption="Coverage")
    return join(tag("p", found["reading"], class_="reading"), grid, _sizes(found) or _width(found), _note(found))


def _width(found: Intervals) -> Html:
    heads = [Head("Width"), Head("In the target's units", is_number=True)]
    lines = [
        [Cell("An interval"), Cell(number(found["width"]))],
        [Cell(f"The middle {percent(found['coverage'])} of the training targets"), Cell(number(found["plain_width"]))],
    ]
    return table(heads, lines, caption="Width of intervals")


def _sizes(found: Intervals) -> Html | None:
    if not found["sizes"]:
        return None
    heads = [Head("Labels in the set"), Head("Test rows", is_number=True), Head("Share", is_number=True)]
    heads.append(Head("Hold the truth", is_number=True))
    lines = [
        [
            Cell(count(row["size"])),
            Cell(count(row["n"])),
            Cell(percent(row["n"] / found["n_test"])),
            Cell(percent(row["n_held"] / row["n"])),
        ]
        for row in found["sizes"]
    ]
    return table(heads, lines, caption="Sizes of sets")


def _note(found: Intervals) -> Html:
    words = (
        f"Calibrated by {count(found['n_calibration'])} training rows, each predicted by a fit that had not seen it; the test "
        "rows decided nothing. The share holds over all rows that come as these did, not for every kind of row by itself."
    )
    return tag("p", words, class_="small muted")
