"""The parts of the page about the result on the test rows: measures, importance, worst errors."""

from __future__ import annotations

from collections.abc import Sequence

from mercer._report.content import ClassMeasures, Confusion, Importance, Measure, RowError, Test
from mercer._report.numbers import NOTHING, count, decimals_for, interval, level, number, percent
from mercer._report.page.charts import strip
from mercer._report.page.html import Html, breakable, join, tag
from mercer._report.page.tables import CORNER, Cell, Head, table

_MOST_BARS = 15
_MOST_VALUES = 6
_MOST_CLASSES = 20
_MOST_PAIRS = 25


def test_result(test: Test) -> Html:
    """The reading, the baseline on the same rows, and all measures with their intervals."""
    baseline = test.get("baseline")
    beside = tag("p", baseline["reading"], class_="reading") if baseline else None
    cautions = [tag("p", words, class_="reading caution") for words in test.get("cautions", [])]
    return join(tag("p", test["reading"], class_="reading"), beside, cautions, _measures(test), _per_class(test["per_class"]))


def _measures(test: Test) -> Html:
    shares = [
        row for row in test["measures"] if row["value"] is not None and 0 <= row["value"] <= 1 and row["greater_is_better"]
    ]
    low = min((row["low"] if row["low"] is not None else row["value"] or 0.0 for row in shares), default=0.0)
    low = max(0.0, int(10 * low) / 10) if low >= 0 else 0.0
    heads = [Head("Measure"), Head("Value", is_number=True), Head(level(test["level"]), is_number=True)]
    heads.append(Head(f"{low:g} to 1", class_="wide"))
    lines = [
        [
            Cell(join(_label(row), tag("p", row["description"], class_="small muted"))),
            Cell(number(row["value"]), row["value"]),
            Cell(interval(row["low"], row["high"], decimals_for([row["value"]]))),
            Cell(_range_strip(row, low) if row in shares else ""),
        ]
        for row in test["measures"]
    ]
    classes = ["best" if row["is_metric"] else None for row in test["measures"]]
    note = (
        "Intervals of shares are Wilson's, that of the ROC AUC of two classes is DeLong's; the others come from a bootstrap "
        "within classes. None is given where resampling changes nothing, as when no test row is wrong."
    )
    if not len(shares):
        heads, lines = heads[:3], [line[:3] for line in lines]
    grid = table(heads, lines, caption="Measures on the test rows", classes=classes)
    return join(grid, tag("p", note, class_="small muted"))


def _label(row: Measure) -> Html:
    badge = join(" ", tag("span", "compared by", class_="badge best")) if row["is_metric"] else None
    return join(tag("span", row["label"], class_="model"), badge)


def _range_strip(row: Measure, low: float) -> Html:
    def at(value: float) -> str:
        return f"{6 + (value - low) / ((1 - low) or 1) * 108:.1f}"

    value = row["value"] or 0.0
    parts = [tag("line", x1=6, y1=10, x2=114, y2=10, class_="grid")]
    if row["low"] is not None and row["high"] is not None:
        parts.append(tag("line", x1=at(max(row["low"], low)), y1=10, x2=at(row["high"]), y2=10, class_="whisker"))
    parts.append(tag("circle", cx=at(value), cy=10, r=4, class_="point"))
    return strip(parts, f"{row['label']} {number(value)}")


def _per_class(rows: Sequence[ClassMeasures] | None) -> Html | None:
    """Each class; of very many, those that are found worst, and the others folded away."""
    if not rows:
        return None
    title = tag("h3", "Each class against the rest")
    if len(rows) <= _MOST_CLASSES:
        return join(title, _class_table(rows, "Measures of each class"))
    worst = sorted(rows, key=lambda row: (row["f1"] is None, row["f1"] or 0.0))
    first, rest = worst[:_MOST_CLASSES], worst[_MOST_CLASSES:]
    tail = tag("details", tag("summary", f"{len(rest)} more classes"), _class_table(rest, "Measures of more classes"))
    words = tag("p", f"The {len(first)} of {len(rows)} classes with the lowest F1:", class_="prose")
    return join(title, words, _class_table(first, "Measures of the worst classes"), tail)


def _class_table(rows: Sequence[ClassMeasures], caption: str) -> Html:
    heads = [Head("Class", "text"), Head("Test rows", "number", True), Head("Precision", "number", True)]
    heads += [Head("Recall", "number", True), Head("Recall, interval", is_number=True), Head("Specificity", "number", True)]
    heads += [Head("F1", "number", True), Head("ROC AUC", "number", True)]
    lines = [
        [
            Cell(breakable(row["label"]), row["label"]),
            Cell(count(row["n"]), row["n"]),
            Cell(number(row["precision"], 3), row["precision"]),
            Cell(number(row["recall"], 3), row["recall"]),
            Cell(interval(row["recall_low"], row["recall_high"], 2)),
            Cell(number(row["specificity"], 3), row["specificity"]),
            Cell(number(row["f1"], 3), row["f1"]),
            Cell(number(row["roc_auc"], 3), row["roc_auc"]),
        ]
        for row in rows
    ]
    return table(heads, lines, caption=caption)


def importance(rows: Sequence[Importance], label: str) -> Html:
    """Bars with whiskers, the most important columns first, the long tail folded away."""
    if not rows:
        return tag("p", "Not computed.", class_="muted")
    words = (
        f"How much the score ({label}) gets worse when one column of the test rows is shuffled, so that the model cannot use "
        "it: mean and standard deviation over shuffles. Columns that tell the same share their importance."
    )
    ends = min(0.0, *(row["mean"] - (row["std"] or 0) for row in rows)), max(row["mean"] + (row["std"] or 0) for row in rows)
    decimals = min(decimals_for([row["mean"] for row in rows]), 6)
    first, rest = rows[:_MOST_BARS], rows[_MOST_BARS:]
    tail = None
    if rest:
        summary = tag("summary", f"{len(rest)} columns of less importance")
        tail = tag("details", summary, _bars(rest, ends, decimals, "Importance of the other columns"))
    return join(tag("p", words, class_="prose"), _bars(first, ends, decimals, "Permutation importance"), tail)


def _bars(rows: Sequence[Importance], ends: tuple[float, float], decimals: int, caption: str) -> Html:
    heads = [
        Head("Column", "text"),
        Head("Loss of score", class_="bars"),
        Head("Mean", "number", True),
        Head("± Std", "number", True, "wide"),
    ]
    lines = [
        [
            Cell(breakable(row["column"]), row["column"]),
            Cell(_bar(row, ends)),
            Cell(number(row["mean"], decimals), row["mean"]),
            Cell(number(row["std"], decimals), row["std"]),
        ]
        for row in rows
    ]
    return table(heads, lines, caption=caption)


def _bar(row: Importance, ends: tuple[float, float]) -> Html:
    low, high = ends

    def at(value: float) -> float:
        return 2 + (value - low) / ((high - low) or 1) * 236

    mean, std = row["mean"], row["std"] or 0.0
    left, right = sorted((at(0), at(mean)))
    bar = tag(
        "rect", x=f"{left:.1f}", y=4, width=f"{max(right - left, 0.5):.1f}", height=12, class_="bar" if mean >= 0 else "bar bad"
    )
    whisker = tag("line", x1=f"{at(mean - std):.1f}", y1=10, x2=f"{at(mean + std):.1f}", y2=10, class_="whisker thin")
    return strip([bar, whisker], f"{number(mean)} plus or minus {number(std)}", width=240, is_stretched=True)


def worst_errors(rows: Sequence[RowError]) -> Html:
    """The rows that are predicted worst, with their values in the most important columns."""
    if not rows:
        return tag("p", "No test row is predicted wrongly.", class_="muted")
    is_regression = "residual" in rows[0]
    columns = list(rows[0]["values"])[:_MOST_VALUES]
    sort = "number" if is_regression else "text"
    heads = [Head("Row", "number"), Head("True", sort, is_regression), Head("Predicted", sort, is_regression)]
    heads += [Head("Residual" if is_regression else "Probability of true", "number", True)]
    heads += [Head(breakable(column), is_number=_is_numeric(rows, column)) for column in columns]
    lines = []
    for row in rows:
        badness = row.get("residual") if is_regression else row.get("probability")
        shown = number(badness) if is_regression or badness is None or badness >= 0.001 else "< 0.001"
        cells = [
            Cell(count(row["row"]), row["row"]),
            Cell(breakable(row["true"]), row["true"]),
            Cell(breakable(row["predicted"]), row["predicted"]),
        ]
        cells += [Cell(shown, badness)]
        lines.append([*cells, *(Cell(breakable(row["values"].get(column) or NOTHING)) for column in columns)])
    words = (
        "Residuals are true minus predicted values."
        if is_regression
        else "Rows predicted wrongly, those first whose true class the model held least likely. Look here for wrong labels."
    )
    words += " Rows are counted in the file from 1, its header left out."
    words += f" The last columns are the {len(columns)} most important ones." if len(columns) > 1 else ""
    return join(tag("p", words, class_="prose"), table(heads, lines, caption="Worst errors"))


def _is_numeric(rows: Sequence[RowError], column: str) -> bool:
    try:
        return all(float(row["values"].get(column) or 0) is not None for row in rows)
    except ValueError:
        return False


def confusion(found: Confusion) -> Html:
    """A heat map of counts; of very many classes, the pairs that are most often confused."""
    labels, matrix = found["labels"], found["matrix"]
    if len(labels) > _MOST_CLASSES:
        return _confused_pairs(found)
    header = tag("tr", CORNER, [tag("th", breakable(label), scope="col") for label in labels])
    lines = [
        tag(
            "tr",
            tag("th", breakable(label), scope="row"),
            [_heat_cell(value, sum(line), index == at) for at, value in enumerate(line)],
        )
        for index, (label, line) in enumerate(zip(labels, matrix, strict=True))
    ]
    caption = tag("caption", "Counts of test rows and their share of the true class", class_="hidden")
    grid = tag("table", caption, tag("thead", header), tag("tbody", lines), class_="confusion")
    return tag("div", grid, class_="scroll", role="region", aria_label="Confusion matrix", tabindex=0)


def _heat_cell(value: int, total: int, is_right: bool) -> Html:
    share = value / total if total else 0.0
    heat = f"{'right' if is_right else 'wrong'} heat-{round(10 * share) or int(value > 0)}"
    return tag(
        "td",
        tag("span", count(value), class_="count"),
        tag("span", percent(share if total else None), class_="share"),
        class_=heat,
    )


def _confused_pairs(found: Confusion) -> Html:
    labels, matrix = found["labels"], found["matrix"]
    pairs = [(value, i, j) for i, line in enumerate(matrix) for j, value in enumerate(line) if i != j and value]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    heads = [Head("True"), Head("Predicted"), Head("Rows", is_number=True), Head("Share of the true class", is_number=True)]
    lines = [
        [Cell(breakable(labels[i])), Cell(breakable(labels[j])), Cell(count(value)), Cell(percent(value / sum(matrix[i])))]
        for value, i, j in pairs[:_MOST_PAIRS]
    ]
    words = f"There are {len(labels)} classes; these pairs of them are confused most often."
    return join(tag("p", words), table(heads, lines, caption="Classes that are confused most often"))
