"""The parts of the page about the data and the comparison: heading, alerts, leaderboard, columns, how it was made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mercer._report.card.words import fold_words, sample_words
from mercer._report.content import Alert, Baseline, Best, Candidate, Column, Content, Metric
from mercer._report.numbers import (
    NOTHING,
    count,
    decimals_for,
    interval,
    level,
    number,
    parameters,
    percent,
    plural,
    seconds,
    size,
)
from mercer._report.page.charts import strip
from mercer._report.page.html import Child, Html, breakable, join, name, tag
from mercer._report.page.tables import Cell, Head, table

_TASKS = {"binary": "two classes", "multiclass": "several classes", "regression": "a number"}
_LEVELS = {"error": "Problem", "warning": "Warning", "info": "Note"}
_MOST_COLUMNS, _MOST_FOLDED = 50, 500
_MOST_ALIKE = 6
_ORDER = ("ok", "baseline", "interrupted", "failed", "skipped")


def heading(content: Content) -> Html:
    """The title and the result in a sentence."""
    made = tag("p", f"Mercer {content['mercer']} report, {content['created']}", class_="overline")
    return tag("header", made, tag("h1", name(content["title"])), _lead(content), id="top")


def _lead(content: Content) -> Html:
    best, test = content["best"], content["test"]
    if best is None:
        return tag("p", "No model was fitted.", class_="lead")
    n_models = sum(each["status"] == "ok" for each in content["leaderboard"])
    compared = f" was the best of {plural(n_models, 'model')} compared" if n_models > 1 else " was fitted"
    words: list[Html | str] = [tag("strong", name(best["model"])), compared, f" on {count(content['data']['n_train'])} rows."]
    metric = next((each for each in test["measures"] if each["is_metric"]), None) if test else None
    if test and metric and metric["value"] is not None:
        decimals = decimals_for([metric["value"]])
        words += [f" On {count(test['n'])} rows that no model had seen, its {metric['label']} is "]
        words += [
            tag("strong", number(metric["value"], decimals)),
            _interval_words(metric["low"], metric["high"], test["level"], decimals),
            ".",
        ]
        if baseline := test.get("baseline"):
            words.append(_baseline_words(baseline, decimals))
    refit = content.get("refit")
    return join(tag("p", words, class_="lead"), tag("p", refit["reading"], class_="prose") if refit else None)


def _baseline_words(baseline: Baseline, decimals: int) -> str:
    """The baseline in the sentence at the top, and the truth where the model does not beat it."""
    value = number(baseline["value"], decimals)
    if baseline["is_real"] and baseline["gain"] > 0:
        return f" Without looking at any column it would be {value}."
    verdict = "is worse" if baseline["is_real"] else "may be no better than that"
    return f" Without looking at any column it would be {value}: the model {verdict}."


def _interval_words(low: float | None, high: float | None, share: float, decimals: int) -> str:
    return "" if low is None else f" ({level(share)} {interval(low, high, decimals)})"


def facts(content: Content) -> Html:
    """The table, the task and the measure."""
    data = content["data"]
    classes = data["classes"] or []
    counts: list[int | None] = [*data["class_counts"]] if data["class_counts"] else [None] * len(classes)
    shares: list[Html | str] = []
    for index, (label, n_rows) in enumerate(zip(classes[:6], counts, strict=False)):
        shares += [", " if index else "", breakable(label), "" if n_rows is None else f" {count(n_rows)}"]
    if len(classes) > 6:
        shares.append(f" and {len(classes) - 6} more")
    rows: list[tuple[str, Child]] = [
        ("Source", [name(data["source"])]),
        ("Size", [f"{plural(data['n_rows'], 'row')}, {plural(data['n_columns'], 'column')}"]),
        ("Rows for", [f"training {count(data['n_train'])}, test {count(data['n_test'])}", _reason(data.get("division"))]),
        ("Weights", [f"rows count by their {data['weights']}"] if data.get("weights") else None),
        ("Target", [name(data["target"]), f": {_TASKS[data['task']]}", _reason(data["task_reason"])]),
        ("Classes", shares),
        ("Compared by", [_metric_words(data["metric"]), _reason(data["metric"]["reason"])]),
    ]
    return tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows if words], class_="facts")


def _metric_words(metric: Metric) -> str:
    return f"{metric['label']} ({'higher' if metric['greater_is_better'] else 'lower'} is better)"


def _reason(reason: str | None) -> Html | None:
    return tag("span", reason, class_="reason") if reason else None


def alerts(rows: Sequence[Alert]) -> Html:
    """What a reader should know of the data first; problems before notes."""
    if not rows:
        return tag("p", "Nothing in the data calls for attention.")
    ordered = sorted(rows, key=lambda row: tuple(_LEVELS).index(row["level"]))
    return tag("ul", [_alert(row) for row in ordered], class_="alerts")


def _alert(row: Alert) -> Html:
    column = join(tag("strong", name(row["column"])), " ") if row["column"] is not None else None
    flag = _flag(row["flag"])
    level = tag("span", _LEVELS[row["level"]], class_="badge")
    return tag("li", level, tag("div", tag("p", column, row["message"]), flag), class_=row["level"])


def leaderboard(rows: Sequence[Candidate], metric: Metric, n_train: int) -> Html:
    """Models that were compared, the best first, those without a score last with their reasons."""
    sign = -1 if metric["greater_is_better"] else 1
    ordered = sorted(
        rows, key=lambda row: (row["score"] is None, sign * (row["score"] or 0.0), _ORDER.index(row["status"]), row["model"])
    )
    decimals = decimals_for([row["score"] for row in rows if row["status"] != "baseline"])
    speed_decimals = min(decimals_for([row["predict_us_per_row"] for row in rows]), 2)
    ends = _score_range(rows)
    heads = [
        Head("Model", "text"),
        Head(metric["label"], "number", True, direction="descending" if metric["greater_is_better"] else "ascending"),
        Head("Spread", "number", True),
        Head("Folds", class_="wide"),
        Head("Fit", "number", True),
        Head("µs a row", "number", True),
        Head("Size", "number", True),
        Head("Trials", "number", True),
    ]
    lines = [
        [Cell(_model(row), row["model"]), Cell(breakable(_rounded(row["reason"] or NOTHING)), span=len(heads) - 1)]
        if row["score"] is None
        else [
            Cell(join(_model(row), _remarks(row, rows, n_train)), row["model"]),
            Cell(number(row["score"], decimals), row["score"]),
            Cell("" if row["spread"] is None else f"± {number(row['spread'], decimals)}", row["spread"]),
            Cell(_folds(row, ends)),
            Cell(seconds(row["fit_seconds"]), row["fit_seconds"]),
            Cell(number(row["predict_us_per_row"], speed_decimals), row["predict_us_per_row"]),
            Cell(size(row["size_bytes"]), row["size_bytes"]),
            Cell(count(row["n_trials"]), row["n_trials"]),
        ]
        for row in ordered
    ]
    classes = ["best" if row["is_best"] else row["status"] for row in ordered]
    note = "Scores are means over the folds of cross-validation on the training rows; the spread is their standard deviation. "
    note += "Fit is the time of one fit; µs a row that of predicting many."
    return join(table(heads, lines, caption="Leaderboard", classes=classes), tag("p", note, class_="small muted"))


def _remarks(row: Candidate, rows: Sequence[Candidate], n_train: int) -> Html | None:
    """What sets the score of a model apart from those of others: fewer folds, a sample, tuning that failed."""
    reason = row["reason"] or ""
    folds = None if "fold" in reason else fold_words(row, rows)
    sample = None if "sample" in reason else sample_words(row, n_train)
    said = [words for words in (folds, sample, reason) if words]
    return tag("p", breakable(_rounded("; ".join(said))), class_="small muted") if said else None


def _rounded(text: str) -> str:
    """Messages as they come, their figures cut to a readable length."""
    return re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.4g}", text)


def _model(row: Candidate) -> Html:
    words = {"baseline": "baseline", "failed": "failed", "skipped": "skipped", "interrupted": "interrupted"}
    badge = "best" if row["is_best"] else words.get(row["status"])
    shown = parameters(row["params"])
    return join(
        tag("span", breakable(row["model"]), class_="model"),
        join(" ", tag("span", badge, class_=f"badge {badge}")) if badge else None,
        tag("details", tag("summary", "parameters"), tag("code", breakable(shown))) if shown else None,
    )


def _score_range(rows: Sequence[Candidate]) -> tuple[float, float]:
    """The range of fold scores of proper models: a baseline far off must not squeeze them."""
    found = [each for row in rows if row["status"] == "ok" for each in row["fold_scores"] or [] if each is not None]
    return (min(found), max(found)) if found else (0.0, 1.0)


def _folds(row: Candidate, ends: tuple[float, float]) -> Html | str:
    """Dots for the folds and a line for their mean; a triangle where all lie beyond the range."""
    low, high = ends
    scores = [each for each in row["fold_scores"] or [] if each is not None]
    if not scores or row["score"] is None:
        return ""
    scale = 104 / ((high - low) or 1)
    words = "Scores of the folds: " + ", ".join(number(each) for each in scores)
    inside = [each for each in scores if low <= each <= high]
    if not inside:
        is_left = row["score"] < low
        return strip(tag("path", d="M8 6L3 10L8 14Z" if is_left else "M112 6L117 10L112 14Z", class_="beyond"), words)
    dots = [tag("circle", cx=f"{8 + (each - low) * scale:.1f}", cy=10, r=3, class_="fold") for each in inside]
    mean = f"{8 + (min(max(row['score'], low), high) - low) * scale:.1f}"
    return strip(
        [
            tag("line", x1=8, y1=10, x2=112, y2=10, class_="grid"),
            dots,
            tag("line", x1=mean, y1=3, x2=mean, y2=17, class_="mean"),
        ],
        words,
    )


def columns(rows: Sequence[Column]) -> Html:
    """What was done to each column and why, columns left out first; of very many, some, and how many more are treated alike."""
    ordered = sorted(rows, key=lambda row: row["used"])
    first, folded, rest = ordered[:_MOST_COLUMNS], ordered[_MOST_COLUMNS:_MOST_FOLDED], ordered[_MOST_FOLDED:]
    parts = [_column_table(first, "What was done to each column")]
    if folded:
        summary = tag("summary", f"{count(len(folded))} more columns")
        parts.append(tag("details", summary, _column_table(folded, "What was done to more columns")))
    if rest:
        alike = Counter((row["kind"], row["treatment"] or NOTHING) for row in rest).most_common()
        shown = "; ".join(f"{count(n)} of the kind {kind}: {treatment}" for (kind, treatment), n in alike[:_MOST_ALIKE])
        more = f"; {len(alike) - _MOST_ALIKE} more kinds of treatment" if len(alike) > _MOST_ALIKE else ""
        parts.append(
            tag("p", f"{count(len(rest))} further columns are in report.json alone: {shown}{more}.", class_="small muted")
        )
    return join(*parts)


def _column_table(rows: Sequence[Column], caption: str) -> Html:
    heads = [
        Head("Column", "text"),
        Head("Kind", "text", class_="brief"),
        Head("Missing", "number", True, "brief"),
        Head("Distinct", "number", True, "brief"),
        Head("What was done", "text"),
        Head("Why"),
    ]
    lines = [
        [
            Cell(
                join(breakable(row["name"]), None if row["used"] else join(" ", tag("span", "left out", class_="badge"))),
                row["name"],
            ),
            Cell(row["kind"], row["kind"]),
            Cell(percent(row["missing"]), row["missing"]),
            Cell(count(row["distinct"]), row["distinct"]),
            Cell(_treatment(row), row["treatment"] or ""),
            Cell([row["reason"] or NOTHING, _flag(row["flag"])]),
        ]
        for row in rows
    ]
    classes = [None if row["used"] else "unused" for row in rows]
    return table(heads, lines, caption=caption, classes=classes, is_stacked=True)


def _treatment(row: Column) -> Html:
    made = row["made"]
    if not made or made == [row["name"]]:
        return join(row["treatment"] or NOTHING)
    shown: list[Html | str] = []
    for index, each in enumerate(made[:8]):
        shown += [", " if index else "", breakable(each)]
    if len(made) > 8:
        shown.append(f" and {len(made) - 8} more")
    return join(row["treatment"] or NOTHING, tag("p", "→ ", shown, class_="small muted"))


def _flag(flag: str | None) -> Html | None:
    return tag("p", "Override: ", tag("code", flag, class_="flag"), class_="small muted") if flag else None


def making(content: Content) -> Html:
    """The chosen model in full, the command, times and warnings."""
    best: Best | None = content["best"]
    rows: list[tuple[str, Html | str | None]] = []
    if best:
        shown, how = parameters(best["params"]) or "defaults", best["how"]
        rows += [("Model", name(best["model"])), ("Parameters", tag("code", breakable(shown)))]
        rows += [("How it was found", breakable(_rounded(how)) if how else None)]
        rows += [("Certificate of the fit", best["certificate"])]
    if refit := content.get("refit"):
        rows.append(("Which model is which", refit["reading"]))
    rows += [("Command", tag("code", content["command"]) if content["command"] else None)]
    phases = ", ".join(f"{phase} {seconds(value)}" for phase, value in content["seconds"].items())
    rows += [("Time", phases or None)]
    facts = tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows if words], class_="facts")
    lines = [*content.get("notes", []), *content["warnings"]]
    notes = join(tag("h3", "Notes and warnings"), tag("ul", [tag("li", breakable(line)) for line in lines])) if lines else None
    return join(facts, notes)
