"""What an explained prediction looks like in a terminal: bars for what the columns gave, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mercer._report.explained.words import (
    change_words,
    class_words,
    explained_words,
    neighbour_words,
    no_neighbour_words,
    nothing_words,
    prediction_words,
    share_decimals,
    share_head,
    signed,
    sum_words,
)
from mercer._report.numbers import NOTHING

if TYPE_CHECKING:
    from mercer._report.explained.content import RowContent

_HALF, _LEAST_HALF = 14, 4  # characters of a bar to either side
_TEXT, _LEAST_TEXT = 22, 8  # of names and values that bars make room for
_FIGURES = 18  # for what a column gave, and the gaps
_LEAST_ROWS, _OTHERS = 8, 16  # columns that are shown on a small screen, and lines that all else takes
_MOST_CHANGES = 3
_MOST_DIFFERENCES = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"


def show_row(console: Console, content: RowContent) -> None:
    """An explained row."""
    for part in _parts(content, not console.is_terminal, *console.size):
        console.print(part, highlight=False)


def _parts(content: RowContent, is_whole: bool, width: int, height: int) -> Iterator[RenderableType]:
    yield Text.assemble((f"row {content['row']} of {content['source']}", "bold"))
    yield Text(prediction_words(content))
    if words := class_words(content):
        yield Text(words, style="dim")
    yield Text("")
    yield Text(explained_words(content))
    most = len(content["contributions"]) if is_whole else max(_LEAST_ROWS, height - _OTHERS)
    yield _bars(content, most, None if is_whole else width)
    yield Text(sum_words(content), style="dim")
    yield Text("")
    yield Text("what would change the prediction", style="bold")
    yield from _changes(content, is_whole=is_whole)
    for note in content["notes"]:
        yield Text(note, style="yellow")


def _bars(content: RowContent, most: int, width: int | None) -> Table:
    """A bar for each column, to the right what speaks for the output and to the left what speaks against it.

    `width` is that of the terminal; None: nothing is cut.
    """
    shares = content["contributions"]
    largest = max((abs(share["contribution"]) for share in shares), default=0.0)
    decimals = share_decimals(shares)
    shown = [(share["column"], share["value"] or NOTHING, share["contribution"]) for share in shares[:most]]
    names, values = [name for name, _, _ in shown], [value for _, value, _ in shown]
    half, *limits = (_HALF, None, None) if width is None else _fitting(width, names, values)
    table = _plain_table("column", "value", "", share_head(content))
    table.columns[3].justify = "right"
    for column, limit in zip(table.columns, limits, strict=False):  # a longer text goes on in the next line
        column.max_width, column.overflow = limit, "fold"
    for name, value, given in shown:
        style = "" if not given else "blue" if given > 0 else "red"
        table.add_row(
            Text(name), Text(value), Text(_bar(given, largest, half), style=style, no_wrap=True), signed(given, decimals)
        )
    if rest := shares[most:]:
        together = signed(sum(share["contribution"] for share in rest), decimals)
        table.add_row(Text(f"{len(rest)} others", style="dim"), "", "", together)
    return table


def _fitting(width: int, names: Sequence[str], values: Sequence[str]) -> tuple[int, int, int]:
    """Half the width of the bars, and the most characters of names and of values, so that a line fits a terminal."""
    room = width - _FIGURES
    longest_name, longest_value = (max(map(len, texts), default=0) for texts in (names, values))
    half = min(_HALF, max(_LEAST_HALF, (room - min(longest_name, _TEXT) - min(longest_value, _TEXT) - 1) // 2))
    texts = room - 2 * half - 1
    most_name = min(longest_name, max(_LEAST_TEXT, texts - min(longest_value, _TEXT)))
    return half, most_name, max(_LEAST_TEXT, texts - most_name)


def _bar(given: float, largest: float, half: int) -> str:
    """A bar about the middle of its place, to an eighth of a character on the right side."""
    eighths = round(8 * half * abs(given) / largest) if largest else 0
    if given < 0:
        return ("█" * max(1, round(eighths / 8))).rjust(half) + "│" + " " * half
    length = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return " " * half + "│" + (length or ("▏" if given else "")).ljust(half)


def _changes(content: RowContent, *, is_whole: bool) -> Iterator[RenderableType]:
    changes = content["changes"]
    if not changes:
        yield Text(nothing_words(content))
    for change in changes if is_whole else changes[:_MOST_CHANGES]:
        yield Text(f"  {change_words(content, change)}")
    neighbour = content["neighbour"]
    yield Text("")
    if neighbour is None:
        yield Text(no_neighbour_words(content))
        return
    yield Text(neighbour_words(content, neighbour))
    table = _plain_table("column", "here", "there")
    differences = neighbour["changes"]
    for each in differences if is_whole else differences[:_MOST_DIFFERENCES]:
        table.add_row(Text(each["column"]), Text(each["before"] or NOTHING), Text(each["after"] or NOTHING))
    yield table
    if not is_whole and len(differences) > _MOST_DIFFERENCES:
        yield Text(f"and {len(differences) - _MOST_DIFFERENCES} other columns", style="dim")


def _plain_table(*heads: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head)
    return table
