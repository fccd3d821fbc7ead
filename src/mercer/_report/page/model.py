"""The part of the page about how the model goes by its columns."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.explained.model_content import (
    Dependence,
    ExplainedError,
    Interactions,
    ModelExplained,
    SurrogateTree,
    Swarm,
)
from mercer._report.explained.words import signed
from mercer._report.numbers import count, number, plural
from mercer._report.page.charts import Axes, figure
from mercer._report.page.curves import padded
from mercer._report.page.explained import contribution_table
from mercer._report.page.html import Html, breakable, join, tag
from mercer._report.page.swarm import Lane, shade_legend, shade_of, swarm
from mercer._report.page.tables import Cell, Head, table


def explained(found: ModelExplained, target: str) -> Html:
    """The beeswarm, dependence, interactions and the surrogate tree."""
    what = _output_words(found, None, target)
    mean = f"its mean over {plural(found['n_background'], 'training row')}"
    words = (
        f"What each column gave to the {what}, for {_rows(found)}: a point a row, to the right if it speaks for it. What the "
        f"columns gave adds up to how far the prediction is from {mean}. Found by: {found['method']}."
    )
    swarms = [_swarm(each, number, found, target) for number, each in enumerate(found["swarms"])]
    parts = [tag("p", words, class_="prose"), join(swarms), shade_legend()]
    if found["dependence"]:
        parts += [tag("h3", "Leading columns against their values"), _dependences(found, target)]
    if found["interactions"]:
        parts += [tag("h3", "Columns that act together"), _interactions(found["interactions"], found, target)]
    if found["surrogate"]:
        parts += [tag("h3", "A small tree in the place of the model"), _surrogate(found["surrogate"])]
    return join(parts)


def _rows(found: ModelExplained) -> str:
    if found["n_rows"] == found["n_test"]:
        return f"all {plural(found['n_test'], 'test row')}"
    return f"{count(found['n_rows'])} of {plural(found['n_test'], 'test row')}"


def _output_words(found: ModelExplained, label: str | None, target: str) -> str:
    """What the points are of; of one class where it is named."""
    if found["unit"] == "number":
        return target
    words = {"probability": "probability", "decision value": "decision value", "vote": "prediction", "raw score": "raw score"}
    return words[found["unit"]] + ("" if label is None else f" of {label}")


def _swarm(each: Swarm, index: int, found: ModelExplained, target: str) -> Html:
    lanes = [
        Lane(
            column["column"],
            column["values"],
            [shade_of(rank) for rank in column["ranks"]],
            f"{number(column['mean'])} on average, from {signed(min(column['values']))} to {signed(max(column['values']))}",
        )
        for column in each["columns"]
    ]
    if not lanes:
        return tag("p", "No column gave anything.", class_="muted")
    what = _output_words(found, each["label"], target)
    others = f", and {plural(each['n_others'], 'other')} that gave less" if each["n_others"] else ""
    caption = ["What columns gave to the ", breakable(what), f": the {len(lanes)} leading ones{others}" if others else ""]
    return swarm(f"swarm-{index}", lanes, f"given to the {what}", f"Beeswarm: {what}", caption)


def _dependences(found: ModelExplained, target: str) -> Html:
    words = "The same points, a picture a column: what it gave, against its own value in the row."
    numbers = [each for each in found["dependence"] if each["x"] is not None]
    others = [each for each in found["dependence"] if each["words"] is not None]
    pictures = [_scatter(each, index, found, target) for index, each in enumerate(numbers) if each["x"]]
    lanes = [_word_lanes(each, index, found, target) for index, each in enumerate(others)]
    pair = tag("div", pictures, class_="pair") if pictures else None
    return join(tag("p", words, class_="prose"), pair, lanes)


def _scatter(each: Dependence, index: int, found: ModelExplained, target: str) -> Html:
    x, y = each["x"] or [], each["y"]
    axes = Axes(*padded(x), *padded([*y, 0.0]), height=240, has_years=each["is_date"])
    what = _output_words(found, each["label"], target)
    points = "".join(f"M{axes.x(a):.1f} {axes.y(b):.1f}h0" for a, b in zip(x, y, strict=True))
    picture = axes.picture(
        f"dependence-{index}",
        f"What {each['column']} gave to the {what}",
        f"{count(len(x))} test rows; from {signed(min(y))} to {signed(max(y))}.",
        axes.frame(f"{each['column'][:40]}{' (year)' if each['is_date'] else ''}", "given"),
        axes.segment(axes.x_low, 0.0, axes.x_high, 0.0, "chance"),
        tag("path", d=points, class_="points s0 faint"),
    )
    return figure(picture, [breakable(each["column"]), tag("span", " → ", breakable(what), class_="muted")])


def _word_lanes(each: Dependence, index: int, found: ModelExplained, target: str) -> Html:
    """A lane for each word, those that gave most first."""
    given: dict[str, list[float]] = {}
    for word, value in zip(each["words"] or [], each["y"], strict=True):
        given.setdefault(word, []).append(value)
    means = {word: sum(values) / len(values) for word, values in given.items()}
    what = _output_words(found, each["label"], target)
    lanes = [
        Lane(word, given[word], [None] * len(given[word]), f"{signed(means[word])} on average, {len(given[word])} rows")
        for word in sorted(given, key=lambda word: -means[word])
    ]
    title = f"What {each['column']} gave to the {what}"
    caption = [breakable(each["column"]), tag("span", " → ", breakable(what), class_="muted")]
    return swarm(f"words-{index}", lanes, f"given to the {what}", title, caption)


def _interactions(found: Interactions, whole: ModelExplained, target: str) -> Html:
    words = (
        "Of what two columns do together, the share that neither does alone (Friedman's H: 0 is none, 1 is all), and how much "
        f"that is of the {_output_words(whole, None, target)}; from {plural(found['n_rows'], 'test row')}. A large share of "
        "little is of no weight."
    )
    if not found["pairs"]:
        nothing = f"None of the leading columns act together, by {plural(found['n_rows'], 'test row')}: what they do adds up."
        return tag("p", nothing)
    heads = [Head("Columns", "text"), Head("H", "number", True), Head("Size", "number", True)]
    lines = [
        [
            Cell(join(breakable(pair["first"]), " and ", breakable(pair["second"])), f"{pair['first']} {pair['second']}"),
            Cell(number(pair["strength"], 2), pair["strength"]),
            Cell(number(pair["size"]), pair["size"]),
        ]
        for pair in found["pairs"]
    ]
    return join(tag("p", words, class_="prose"), table(heads, lines, caption="Columns that act together"))


def _surrogate(found: SurrogateTree) -> Html:
    words = (
        f"This tree was fitted to what the model says of {plural(found['n_train'], 'training row')}. On "
        f"{count(found['n_test'])} others it {_fidelity(found)}."
    )
    heads = [Head("Rows with"), Head("Says"), Head("Rows", is_number=True)]
    lines = [
        [
            Cell(tag("span", breakable(line["rule"]), class_=f"depth-{min(line['depth'], 3)}")),
            Cell(
                tag("strong", breakable(line["says"]))
                if line["is_leaf"]
                else tag("span", breakable(line["says"]), class_="muted")
            ),
            Cell(count(line["n"])),
        ]
        for line in found["lines"]
    ]
    return join(tag("p", words, class_="reading"), table(heads, lines, caption="Surrogate tree"))


def _fidelity(found: SurrogateTree) -> str:
    if found["measure"] == "R2":
        shown = number(found["fidelity"], 3)
        return f"explains the model's answers with R2 {shown} (1 is all of them, 0 as little as their mean)"
    alike, constant = (f"{100 * share:.1f}\N{NO-BREAK SPACE}%" for share in (found["fidelity"], found["baseline"]))
    return f"says the same as the model for {alike}; the commonest answer alone would for {constant}"


def explained_errors(rows: Sequence[ExplainedError], found: ModelExplained, target: str) -> Html | None:
    """Why the worst errors were made: what spoke for what was wrongly predicted."""
    if not rows:
        return None
    parts = [tag("h3", "Why the worst of them were predicted so")]
    for row in rows:
        what = _output_words(found, row["label"], target)
        words = [
            f"Row {count(row['row'])} is ",
            tag("strong", breakable(row["true"])),
            " and was predicted to be ",
            tag("strong", breakable(row["predicted"])),
            f": the {what} was {number(row['output'])}, on average it is {number(row['base'])}. The columns gave to it:",
        ]
        caption = f"What the columns gave to row {row['row']}"
        parts += [tag("p", words, class_="prose"), contribution_table(row["contributions"], row["contributions"], caption)]
    return join(parts)
