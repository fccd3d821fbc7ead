"""The parts of the page about the table: distributions, missing values, associations, outliers, drift."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence

from mercer._report.data.content import (
    Associations,
    ColumnDrift,
    Distribution,
    Drift,
    Missing,
    MissingPattern,
    Outliers,
    Profile,
)
from mercer._report.numbers import MINUS, NOTHING, count, number, percent, plural
from mercer._report.page.charts import Axes, broad_figure, legend, strip
from mercer._report.page.html import Child, Html, breakable, join, name, tag
from mercer._report.page.tables import Cell, Head, table

_MOST_SHOWN = 15
_WIDE, _HIGH = 160, 26  # of a small picture


def p_words(p: float) -> str:
    """A p-value as far as anyone goes by it."""
    return "< 0.001" if p < 0.001 else number(p, 3)


def profile(found: Profile, target: str) -> Html:
    """The target and the columns, and what is odd about them."""
    looked = f"{count(found['n_train'])} training and {plural(found['n_test'], 'test row')}"
    words = f"Of {looked}: bars are training rows, the line is the test rows."
    parts: list[Child] = [tag("p", words, class_="prose"), _target(found["target"], target)]
    if found["columns"]:
        parts += [tag("h3", "Columns"), _columns(found)]
    parts += [tag("h3", "Missing values"), _missing(found["missing"], found["n_missing"], found["patterns"])]
    if found["associations"]:
        parts += [tag("h3", "Associations"), _associations(found["associations"])]
    parts += [tag("h3", "Outliers"), _outliers(found["outliers"])]
    return join(*parts)


# ---- distributions


def _target(found: Distribution, target: str) -> Html:
    if found["edges"] is None:
        return join(tag("h3", "Target: ", name(target)), _value_table(found))
    edges, train, test = found["edges"], found["train"], found["test"]

    def build(axes: Axes, identifier: str) -> Html:
        ends = list(itertools.pairwise(edges))
        bars = [
            axes.bar(left, right, 0, share, "bar", f"{number(left)} to {number(right)}: {percent(share)} of training rows")
            for (left, right), share in zip(ends, train, strict=True)
        ]
        words = f"Shares of rows in {len(train)} bins from {number(edges[0])} to {number(edges[-1])}."
        frame = axes.frame(target if len(target) <= 40 else "target", "share of rows", n_x=axes.width // 70)
        x = [edge for pair in ends for edge in pair]
        y = [share for share in test for _ in range(2)]
        return axes.picture(identifier, "Distribution of the target", words, frame, bars, axes.path(x, y, "s1"))

    axes = Axes(edges[0], edges[-1], 0, max(*train, *test) * 1.05 or 1.0, width=740, height=220, n_y=4)
    caption = ("Target: ", name(target))
    return broad_figure("target-shares", build, axes, caption, legend([("s1", "test rows", "")]))


def _value_table(found: Distribution) -> Html:
    most = max([*found["train"], *found["test"]], default=0.0) or 1.0
    heads = [Head("Value", "text"), Head("Share of training rows", class_="bars"), Head("Training", "number", True)]
    heads.append(Head("Test", "number", True))
    lines = [
        [Cell(value), Cell(_share_bar(train / most, percent(train))), Cell(percent(train), train), Cell(percent(test), test)]
        for value, train, test in zip(_values(found), found["train"], found["test"], strict=True)
    ]
    return table(heads, lines, caption="Shares of the values of the target")


def _values(found: Distribution) -> list[Html]:
    shown = [breakable(value) for value in found["values"] or []]
    if found["n_others"]:
        shown.append(tag("span", f"{plural(found['n_others'], 'other value')}", class_="muted"))
    return shown


def _share_bar(share: float, words: str) -> Html:
    bar = tag("rect", x=2, y=4, width=f"{max(236 * share, 0.5):.1f}", height=12, class_="bar")
    return strip(bar, words, width=240, is_stretched=True)


def _columns(found: Profile) -> Html:
    first, rest = found["columns"][:_MOST_SHOWN], found["columns"][_MOST_SHOWN:]
    n_left = found["n_columns"] - len(found["columns"])
    tail = None
    if rest:
        n_more = f"{len(rest)} more columns" + (f" of {count(found['n_columns'] - len(first))}" if n_left > 0 else "")
        tail = tag("details", tag("summary", n_more), _column_table(rest, "Distributions of more columns"))
    left = f" {plural(n_left, 'further column')} {'is' if n_left == 1 else 'are'} not shown." if n_left > 0 else ""
    words = tag("p", f"The columns that the model goes by most come first.{left}", class_="prose")
    return join(words, _column_table(first, "Distributions of columns"), tail)


def _column_table(rows: Sequence[Distribution], caption: str) -> Html:
    heads = [Head("Column", "text"), Head("Distribution"), Head("Values"), Head("Distinct", "number", True, "wide")]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(_small(row)),
            Cell(_ends(row)),
            Cell(count(row["n_distinct"]), row["n_distinct"]),
        ]
        for row in rows
    ]
    return table(heads, lines, caption=caption)


def _small(row: Distribution) -> Html:
    """Bars for training rows, a line (or ticks) for test rows."""
    n = len(row["train"]) - bool(row["n_others"])  # all other values would dwarf those that are shown
    train, test = row["train"][:n], row["test"][:n]
    most = max([*train, *test], default=0.0) or 1.0
    if not n:
        return Html("")
    step = (_WIDE - 4) / n
    gap = 0.0 if row["edges"] else min(3.0, step / 4)

    def top(share: float) -> float:
        return _HIGH - 2 - share / most * (_HIGH - 4)

    bars = [
        tag(
            "rect",
            x=f"{2 + place * step + gap / 2:.1f}",
            y=f"{top(share):.1f}",
            width=f"{step - gap:.1f}",
            height=f"{_HIGH - 2 - top(share):.1f}",
            class_="bar",
        )
        for place, share in enumerate(train)
    ]
    path = ""
    for place, share in enumerate(test):
        left, right = 2 + place * step + gap / 2, 2 + (place + 1) * step - gap / 2
        path += f"{'M' if gap or not place else 'L'}{left:.1f} {top(share):.1f}H{right:.1f}"
    words = f"Distribution of {row['column']} in {plural(n, 'bin' if row['edges'] else 'value')}"
    return strip([bars, tag("path", d=path, class_="curve thin s1")], words, width=_WIDE, height=_HIGH)


def _ends(row: Distribution) -> Child:
    """From the lowest to the highest with the median, or the most frequent values."""
    if row["values"] is not None and row["kind"] == "words":
        shown: list[Child] = []
        for value, share in list(zip(row["values"], row["train"], strict=False))[:3]:
            shown += [", " if shown else "", breakable(value), f" {percent(share)}"]
        return [*shown, ", …" if row["n_distinct"] > 3 else ""]
    show = _moment if row["kind"] == "date" else _plain
    low, median, high = (show(row[key]) for key in ("low", "median", "high"))
    return f"{low} to {high}, median {median}"


def _plain(value: float | None) -> str:
    """Whole numbers without decimals."""
    if value is None or not float(value).is_integer() or abs(value) >= 1e7:
        return number(value)
    shown = number(value, 0)
    return shown.replace(",", "") if abs(value) < 10_000 else shown  # years are among them


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    try:
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%d")
    except OverflowError:
        return number(seconds)


# ---- missing values


def _missing(rows: Sequence[Missing], n_missing: int, patterns: Sequence[MissingPattern]) -> Html:
    if not rows:
        return tag("p", "No value is missing.")
    heads = [Head("Column", "text"), Head("Missing in training rows", class_="bars"), Head("Training", "number", True)]
    heads += [Head("Test", "number", True), Head("Goes with the target", "number", True)]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(_share_bar(row["train"], percent(row["train"]))),
            Cell(percent(row["train"]), row["train"]),
            Cell(percent(row["test"]), row["test"]),
            Cell(number(row["target"], 2), row["target"]),
        ]
        for row in rows
    ]
    first = table(heads, lines[:_MOST_SHOWN], caption="Missing values")
    tail = None
    if lines[_MOST_SHOWN:]:
        more = table(heads, lines[_MOST_SHOWN:], caption="Missing values of more columns")
        tail = tag("details", tag("summary", f"{len(lines) - _MOST_SHOWN} more columns"), more)
    unlisted = f" {count(n_missing - len(rows))} more have fewer." if n_missing > len(rows) else ""
    words = (
        f"{plural(n_missing, 'column')} with missing values.{unlisted} The last figure is from 0 (missing by chance as far as "
    )
    words += "the target goes) to 1 (missing tells the target)."
    return join(tag("p", words, class_="prose"), first, tail, _patterns(patterns))


def _patterns(patterns: Sequence[MissingPattern]) -> Html | None:
    if not patterns:
        return None
    lines = []
    for pattern in patterns:
        shown: list[Child] = []
        for column in pattern["columns"]:
            shown += [", " if shown else "", breakable(column)]
        more = f" and {pattern['n_others']} more" if pattern["n_others"] else ""
        lines.append([Cell([*shown, more]), Cell(count(pattern["n"]), pattern["n"])])
    heads = [Head("Missing together, and nothing else"), Head("Training rows", is_number=True)]
    return table(heads, lines, caption="Columns that are missing together")


# ---- associations


def _associations(found: Associations) -> Html:
    names, matrix = found["names"], found["matrix"]
    words = (
        "Rank correlation (Spearman) of two columns of numbers, Cramér's V of two of words, correlation ratio of one of each; "
        "1 is the closest, 0 none. The target is the first line."
    )
    corner = tag("th", tag("span", "Column", class_="hidden"), scope="col")
    numbered = [tag("th", str(place + 1), scope="col") for place in range(len(names))]
    lines = [
        tag(
            "tr",
            tag("th", f"{place + 1} ", breakable(label), scope="row"),
            [_cell(value, place == at) for at, value in enumerate(row)],
        )
        for place, (label, row) in enumerate(zip(names, matrix, strict=True))
    ]
    caption = tag("caption", "Associations of the target and the leading columns", class_="hidden")
    grid = tag("table", caption, tag("thead", tag("tr", corner, numbered)), tag("tbody", lines), class_="matrix")
    box = tag("div", grid, class_="scroll", role="region", aria_label="Associations", tabindex=0)
    return join(tag("p", words, class_="prose"), box, _pairs(found))


def _cell(value: float | None, is_self: bool) -> Html:
    if value is None or is_self:
        return tag("td", "" if is_self else NOTHING, class_="muted")
    shown = f"{abs(value):.2f}".removeprefix("0")
    sign = MINUS if value < 0 and shown != ".00" else ""
    return tag("td", sign + shown, class_=f"{'right' if value >= 0 else 'wrong'} heat-{round(10 * abs(value))}")


def _pairs(found: Associations) -> Html:
    if not found["pairs"]:
        return tag("p", f"No two of {plural(found['n_columns'], 'column')} go together closely.", class_="small muted")
    heads = [Head("Column", "text"), Head("And", "text"), Head("Measure", class_="wide"), Head("Value", "number", True)]
    lines = [
        [
            Cell(breakable(pair["first"]), pair["first"]),
            Cell(breakable(pair["second"]), pair["second"]),
            Cell(pair["measure"]),
            Cell(number(pair["value"], 2), pair["value"]),
        ]
        for pair in found["pairs"]
    ]
    words = tag("p", f"The closest pairs of {plural(found['n_columns'], 'column')}:", class_="prose")
    return join(words, table(heads, lines, caption="Columns that go together"))


# ---- outliers


def _outliers(rows: Sequence[Outliers]) -> Html:
    if not rows:
        return tag("p", "No column of numbers has a few values that lie far from all others.")
    heads = [Head("Column", "text"), Head("Values", "number", True), Head("Share", "number", True)]
    heads += [Head("Usual range", is_number=True), Head("Farthest", "number", True)]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(count(row["n"]), row["n"]),
            Cell(percent(row["share"]), row["share"]),
            Cell(f"{number(row['low'])} to {number(row['high'])}"),
            Cell(number(row["farthest"]), row["farthest"]),
        ]
        for row in rows
    ]
    words = "Values farther from the middle half of their column than three times its width."
    return join(tag("p", words, class_="prose"), table(heads, lines, caption="Outliers"))


# ---- drift


def drift(found: Drift) -> Html:
    """The reading, and the columns that differ most."""
    heads = [Head("Column", "text"), Head("Distance", class_="bars"), Head("Distance", "number", True)]
    heads += [Head("Corrected p", "number", True), Head("What differs", class_="wide")]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(_share_bar(row["distance"], number(row["distance"], 3))),
            Cell(number(row["distance"], 3), row["distance"]),
            Cell(p_words(row["p"]), row["p"]),
            Cell(_difference(row)),
        ]
        for row in found["columns"]
    ]
    note = (
        "The distance is 0 where training and test rows are alike and 1 where they have nothing in common: that of the two "
        "distribution functions of numbers (Kolmogorov-Smirnov), the total variation of words. P-values are Holm's."
    )
    grid = table(heads, lines, caption="Training and test rows, column by column") if lines else None
    return join(tag("p", found["reading"], class_="reading"), grid, tag("p", note, class_="small muted"))


def _difference(row: ColumnDrift) -> Html:
    return breakable(row["words"] or NOTHING)
