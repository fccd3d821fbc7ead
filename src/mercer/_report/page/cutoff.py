"""The part of the page about the cut-off: the slider, and all that follows it."""

from __future__ import annotations

from mercer._report.content import Curves, Scores
from mercer._report.counts import from_counts
from mercer._report.numbers import MINUS, count, number, percent
from mercer._report.page.charts import Axes, broad_figure, legend
from mercer._report.page.curves import pr, roc
from mercer._report.page.html import Html, join, name, tag, void
from mercer._report.page.tables import CORNER

_SCORE_NAMES = {"probability": "probability", "decision": "decision value"}


def cutoff(scores: Scores, curves: Curves) -> Html:
    """The slider, both curves with marks, the confusion matrix and the measures that follow the slider."""
    at = scores["at"] if scores["at"] is not None else _position(scores, scores["default"])
    tp, fp, tn, fn = (scores[key][at] for key in ("tp", "fp", "tn", "fn"))
    values = from_counts(tp, fp, tn, fn)
    recall, precision = values["recall"] or 0.0, values["precision"]
    on_pr = recall, 1.0 if precision is None else precision
    pair = [roc(curves["roc"], (fp / ((fp + tn) or 1), recall)), pr(curves["pr"], on_pr)] if curves["roc"] else []
    words = (
        "A row is called ",
        tag("strong", name(scores["positive"])),
        f" if its {_SCORE_NAMES[scores['kind']]} for that is at least the cut-off.",
        tag("span", " Move it to see what it costs.", class_="js-only"),
        " Test rows are for looking: a cut-off that is chosen by them looks better than it is.",
        _tuned_words(scores),
    )
    own = tag("span", ", which gives the model's own predictions", id="cut-own", hidden=scores["at"] is None)
    shown = tag("output", number(scores["threshold"][at]), id="cut-still")
    still = tag("p", "At the cut-off ", shown, own, ":", class_="still")
    below = tag("div", _matrix(scores, tp, fp, tn, fn), _live(values), class_="pair even")
    return tag(
        "div",
        tag("p", words, class_="prose"),
        _controls(scores, at),
        still,
        tag("div", pair, class_="pair") if pair else None,
        below,
        _threshold_chart(curves, scores["threshold"][at]) if curves["threshold"] else None,
        id="cut-off",
    )


def _tuned_words(scores: Scores) -> str | None:
    """Where the cut-off comes from that was chosen before the test."""
    if scores["tuned"] is None or not scores.get("tuned_for"):
        return None
    return (
        f" That of the {scores['tuned_for']}, {number(scores['tuned'])}, was chosen on training rows, by fits that had not "
        "seen them."
    )


def _position(scores: Scores, threshold: float) -> int:
    """The first cut-off that is at least as high."""
    return next((i for i, each in enumerate(scores["threshold"]) if each >= threshold), len(scores["threshold"]) - 1)


def _controls(scores: Scores, at: int) -> Html:
    last = len(scores["threshold"]) - 1
    shown = number(scores["threshold"][at])
    slider = void("input", type="range", id="cut", min=0, max=last, step=1, value=at, aria_valuetext=shown)
    jumps = [("the model's own", scores["at"]), (f"{scores['default']:g}", _position(scores, scores["default"]))]
    if scores["tuned"] is not None:
        label = scores.get("tuned_for") or "tuned"
        jumps.append((f"{label} {number(scores['tuned'])}", _position(scores, scores["tuned"])))
    first = {index: label for label, index in reversed(jumps) if index is not None}  # two names of one cut-off need one button
    buttons = [tag("button", label, type="button", data_cut=index) for label, index in jumps if first.get(index or 0) == label]
    return tag(
        "div",
        tag("label", "Cut-off", for_="cut"),
        slider,
        tag("output", shown, id="cut-value", for_="cut"),
        tag("span", "Set to ", buttons, class_="jumps"),
        class_="controls js-only",
        role="group",
        aria_label="Cut-off",
    )


def _matrix(scores: Scores, tp: int, fp: int, tn: int, fn: int) -> Html:
    negative, positive = name(scores["negative"]), name(scores["positive"])

    def cell(identifier: str, value: int, total: int, words: str) -> Html:
        kind = "right" if identifier in ("tp", "tn") else "wrong"
        share = value / total if total else 0.0
        return tag(
            "td",
            tag("span", count(value), class_="count", id=identifier),
            tag("span", percent(share if total else None), class_="share", id=f"{identifier}-share"),
            tag("span", words, class_="kind"),
            class_=f"{kind} heat-{round(10 * share) or int(value > 0)}",
        )

    head = tag("tr", CORNER, [tag("th", x, scope="col") for x in (negative, positive)])
    lines = [
        tag(
            "tr",
            tag("th", negative, scope="row"),
            cell("tn", tn, tn + fp, "true negatives"),
            cell("fp", fp, tn + fp, "false positives"),
        ),
        tag(
            "tr",
            tag("th", positive, scope="row"),
            cell("fn", fn, tp + fn, "false negatives"),
            cell("tp", tp, tp + fn, "true positives"),
        ),
    ]
    caption = tag("caption", "Counts of test rows and their share of the true class", class_="hidden")
    grid = tag("table", caption, tag("thead", head), tag("tbody", lines), class_="confusion two")
    return tag("figure", tag("figcaption", "Confusion matrix"), tag("div", grid, class_="scroll"))


def _live(values: dict[str, float | None]) -> Html:
    """Measures at the cut-off; the script keeps them in step."""

    def line(key: str, label: str | Html) -> Html:
        value = values[key]
        shown = tag("output", number(value, 3), id=f"m-{key}", for_="cut", data_value="" if value is None else repr(value))
        return tag("div", tag("dt", label), tag("dd", shown))

    def setting(identifier: str, letter: str, value: str, **limits: float | str) -> Html:
        box = void("input", type="number", id=identifier, value=value, inputmode="decimal", **limits)
        still = tag("span", " = ", tag("span", value, id=f"{identifier}-still"), class_="still")
        return tag("label", f" {letter} ", box, still, class_="setting")

    alpha, beta = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER BETA}"
    lines = [
        line("precision", "Precision"),
        line("recall", "Recall"),
        line("specificity", "Specificity"),
        line("npv", "NPV"),
        line("accuracy", "Accuracy"),
        line("f_beta", join("F-beta", setting("beta", beta, "1", min=0, max=10, step=0.1))),
        line("g_mean", "G-mean"),
        line("cwa", join("CWA", setting("alpha", alpha, "0.5", min=0, max=1, step=0.05))),
    ]
    note = f"CWA is {alpha} · recall + (1 {MINUS} {alpha}) · specificity."
    return tag(
        "figure", tag("figcaption", "At this cut-off"), tag("dl", lines, class_="live"), tag("p", note, class_="small muted")
    )


def _threshold_chart(curves: Curves, at: float) -> Html:
    found = curves["threshold"]
    assert found is not None
    x = found["threshold"]
    is_probability = x[0] >= 0 and x[-1] <= 1.000001
    names = ("precision", "recall", "specificity", "f1", "g_mean")
    labels = ("precision", "recall", "specificity", "F1", "G-mean")

    def build(axes: Axes, identifier: str) -> Html:
        return axes.picture(
            identifier,
            "Measures against the cut-off",
            "Precision, recall, specificity, F1 and G-mean at every cut-off.",
            axes.frame("cut-off", "measure", n_x=axes.width // 70),
            [axes.path(x, found[key], f"s{index}") for index, key in enumerate(names)],  # type: ignore[literal-required]
            axes.segment(min(max(at, axes.x_low), axes.x_high), 0.0, min(max(at, axes.x_low), axes.x_high), 1.0, "mark-line"),
        )

    axes = Axes(*((0.0, 1.0) if is_probability else (x[0], x[-1])), 0.0, 1.0, width=740, height=260)
    entries = [(f"s{index}", label, "") for index, label in enumerate(labels)]
    return broad_figure("threshold", build, axes, "Measures against the cut-off", legend(entries))
