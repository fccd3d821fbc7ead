"""The page of an explained prediction: what the columns gave to it, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.explained.content import RowContent, Share
from mercer._report.explained.words import (
    class_words,
    explained_words,
    neighbour_words,
    no_neighbour_words,
    nothing_words,
    outcome,
    prediction_words,
    share_decimals,
    share_head,
    signed,
    sum_words,
)
from mercer._report.numbers import NOTHING, count, number, plural
from mercer._report.page.charts import strip
from mercer._report.page.frame import Section
from mercer._report.page.html import Child, Html, breakable, join, name, tag
from mercer._report.page.tables import Cell, Head, table

_MOST_BARS = 15
_MOST_CHANGES = 8


def heading(content: RowContent) -> Html:
    """The row and its prediction in a sentence."""
    made = tag("p", f"Mercer {content['mercer']} explanation, {content['created']}", class_="overline")
    others = class_words(content)
    lead = tag("p", prediction_words(content), class_="lead")
    return tag("header", made, tag("h1", name(content["title"])), lead, tag("p", others) if others else None, id="top")


def sections(content: RowContent) -> list[Section]:
    """What the columns gave, what would change the prediction, and how this was found."""
    return [
        ("contributions", "What the columns gave", _contributions(content)),
        ("changes", "What would change the prediction", _changes(content)),
        ("making", "How it was found", _making(content)),
    ]


def _contributions(content: RowContent) -> Html:
    shares = content["contributions"]
    notes = [tag("p", note, class_="reading") for note in content["notes"]]
    first, rest = shares[:_MOST_BARS], shares[_MOST_BARS:]
    tail, head = None, share_head(content).capitalize()
    if rest:
        summary = tag("summary", f"{len(rest)} columns that gave less")
        tail = tag("details", summary, contribution_table(rest, shares, "What the other columns gave", head))
    words = tag("p", explained_words(content), class_="prose")
    ends = tag("p", sum_words(content), class_="small muted")
    return join(words, notes, contribution_table(first, shares, "What the columns gave", head), ends, tail)


def contribution_table(shares: Sequence[Share], all_shares: Sequence[Share], caption: str, head: str = "Gave") -> Html:
    """A bar for each column, on the same scale as those of all of them."""
    low = min(0.0, *(share["contribution"] for share in all_shares)) if all_shares else 0.0
    high = max(0.0, *(share["contribution"] for share in all_shares)) if all_shares else 0.0
    decimals = share_decimals(all_shares)
    has_errors = any(share["error"] for share in shares)
    heads = [Head("Column", "text"), Head("Value"), Head("", class_="bars"), Head(head, "number", True)]
    heads += [Head("± Std error", "number", True, "wide")] if has_errors else []
    lines = []
    for share in shares:
        cells: list[Cell | Child] = [
            Cell(breakable(share["column"]), share["column"]),
            Cell(name(share["value"] or NOTHING)),
            Cell(signed_bar(share["contribution"], low, high)),
            Cell(signed(share["contribution"], decimals), share["contribution"]),
        ]
        cells += [Cell(number(share["error"], decimals), share["error"])] if has_errors else []
        lines.append(cells)
    return table(heads, lines, caption=caption)


def signed_bar(given: float, low: float, high: float) -> Html:
    """A bar from nothing to what is given, to the left where that is less than nothing."""

    def at(value: float) -> float:
        return 2 + (value - low) / ((high - low) or 1) * 236

    left, right = sorted((at(0.0), at(given)))
    width = f"{max(right - left, 0.5):.1f}"
    bar = tag("rect", x=f"{left:.1f}", y=4, width=width, height=12, class_="bar" if given >= 0 else "bar bad")
    zero = tag("line", x1=f"{at(0.0):.1f}", y1=1, x2=f"{at(0.0):.1f}", y2=19, class_="grid")
    return strip([zero, bar], signed(given), width=240, is_stretched=True)


def _changes(content: RowContent) -> Html:
    parts: list[Html | None] = [tag("h3", "One column alone"), _single_changes(content), tag("h3", "The nearest training row")]
    neighbour = content["neighbour"]
    if neighbour is None:
        return join(parts, tag("p", no_neighbour_words(content)))
    heads = [Head("Column"), Head("This row"), Head(f"Training row {neighbour['row']}")]
    lines = [
        [Cell(breakable(each["column"])), Cell(name(each["before"] or NOTHING)), Cell(name(each["after"] or NOTHING))]
        for each in neighbour["changes"]
    ]
    note = (
        f"Of {count(content['n_sampled'])} training rows that were looked at, {count(neighbour['n_reached'])} have "
        f"{content['goal']}. Nearest is the one whose differences, in standard deviations of numbers and one for other "
        f"words, have the least sum: {number(neighbour['distance'], 2)}."
    )
    grid = table(heads, lines, caption="Where the nearest training row differs")
    return join(
        parts, tag("p", neighbour_words(content, neighbour), class_="prose"), grid, tag("p", note, class_="small muted")
    )


def _single_changes(content: RowContent) -> Html:
    changes = content["changes"]
    if not changes:
        return tag("p", nothing_words(content))
    words = (
        f"The smallest change of each column that gives {content['goal']}, all other columns left as they are. Values are "
        "those that training rows have."
    )
    heads = [Head("Column", "text"), Head("This row"), Head("Instead"), Head("Prediction"), Head("Distance", "number", True)]
    lines = [
        [
            Cell(breakable(each["column"]), each["column"]),
            Cell(name(each["before"] or NOTHING)),
            Cell(name(each["after"])),
            Cell(outcome(content, each)),
            Cell(number(each["distance"], 2), each["distance"]),
        ]
        for each in changes[:_MOST_CHANGES]
    ]
    note = "The distance of numbers is in standard deviations of their column; words that differ are apart by one."
    grid = table(heads, lines, caption="The smallest changes of single columns")
    return join(tag("p", words, class_="prose"), grid, tag("p", note, class_="small muted"))


def _making(content: RowContent) -> Html:
    rows: list[tuple[str, Child]] = [
        ("Row", f"{content['row']} of {content['source']}, counted from 1, the first below the header"),
        ("Run", content["run"]),
        ("Model", content["model"]),
        ("Method", content["method"]),
        ("Unknown columns", f"have the values of {plural(content['n_background'], 'training row')}"),
        ("Training rows looked at", f"{count(content['n_sampled'])} of {count(content['n_train'])}"),
        ("Command", tag("code", content["command"]) if content["command"] else None),
    ]
    if content["additivity_error"] is not None:
        rows.insert(4, ("Sums", f"differ from the prediction by {number(content['additivity_error'])} at most"))
    return tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows if words], class_="facts")
