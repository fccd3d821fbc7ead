"""The part of the page about rows on which the model is worse, or off."""

from __future__ import annotations

from mercer._report.measures import LEVEL
from mercer._report.numbers import count, decimals_for, level, number, percent
from mercer._report.page.data import p_words
from mercer._report.page.html import Html, breakable, join, name, tag
from mercer._report.page.tables import Cell, Head, table
from mercer._report.segments.content import Segments


def segments(found: Segments) -> Html:
    """Where errors are larger than elsewhere, and where predictions are off otherwise."""
    note = (
        "Every value of the leading columns, and every quarter of their numbers, was set against all other test rows; p-values "
        "are corrected for all these comparisons (Holm). Parts overlap: one cause shows in several columns."
    )
    parts = [tag("p", found["reading"], class_="reading"), _worse(found)]
    if found["off_reading"] is not None:
        title = "Bias by segment" if found["kind"] == "number" else "Calibration by segment"
        parts += [tag("h3", title), tag("p", found["off_reading"], class_="reading"), _off(found)]
    return join(*parts, tag("p", note, class_="small muted"))


def _worse(found: Segments) -> Html | None:
    if not found["worse"]:
        return None
    is_share = found["measure"] != "mean absolute error"
    decimals = None if is_share else decimals_for([row["error"] for row in found["worse"]])
    heads = [Head("Column", "text"), Head("Value"), Head("Test rows", "number", True)]
    heads += [Head("Wrong" if is_share else "Mean absolute error", "number", True), Head(level(LEVEL), is_number=True)]
    heads += [Head("Elsewhere", "number", True), Head("Corrected p", "number", True)]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(breakable(row["value"])),
            Cell(count(row["n"]), row["n"]),
            Cell(_shown(row["error"], is_share, decimals), row["error"]),
            Cell(f"{_shown(row['low'], is_share, decimals)} to {_shown(row['high'], is_share, decimals)}"),
            Cell(_shown(row["others"], is_share, decimals), row["others"]),
            Cell(p_words(row["p"]), row["p"]),
        ]
        for row in found["worse"]
    ]
    return join(table(heads, lines, caption="Where errors are larger than elsewhere"), _unlisted(found["n_worse"], len(lines)))


def _off(found: Segments) -> Html | None:
    if not found["off"]:
        return None
    is_share = found["kind"] != "number"
    decimals = None if is_share else decimals_for([row["observed"] for row in found["off"]])
    what = {"probability": "Mean probability", "confidence": "Mean confidence", "number": "Mean prediction"}[found["kind"]]
    came = {"probability": "Observed share", "confidence": "Share right", "number": "Mean truth"}[found["kind"]]
    heads = [Head("Column", "text"), Head("Value"), Head("Test rows", "number", True), Head(what, "number", True)]
    heads += [Head(came, "number", True), Head("Corrected p", "number", True)]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(breakable(row["value"])),
            Cell(count(row["n"]), row["n"]),
            Cell(_shown(row["predicted"], is_share, decimals), row["predicted"]),
            Cell(_shown(row["observed"], is_share, decimals), row["observed"]),
            Cell(p_words(row["p"]), row["p"]),
        ]
        for row in found["off"]
    ]
    label = tag("p", "Probabilities are those of ", name(found["label"]), ".", class_="small muted") if found["label"] else None
    return join(table(heads, lines, caption="Where predictions are off"), label, _unlisted(found["n_off"], len(lines)))


def _shown(value: float | None, is_share: bool, decimals: int | None) -> str:
    return percent(value) if is_share else number(value, decimals)


def _unlisted(n: int, n_shown: int) -> Html | None:
    return tag("p", f"{n - n_shown} more are not listed.", class_="small muted") if n > n_shown else None
