"""The parts of the page that are curves: ROC, precision-recall, cut-offs, calibration, residuals, learning."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mercer._report.content import Calibration, Curve, Curves, Learning, Residuals, Scores
from mercer._report.counts import from_counts
from mercer._report.numbers import MINUS, count, number, percent
from mercer._report.page.charts import N_SERIES, Axes, broad_figure, figure, legend
from mercer._report.page.html import Html, join, name, tag, void
from mercer._report.page.tables import CORNER

_UNIT = Axes(0.0, 1.0, 0.0, 1.0)
_SCORE_NAMES = {"probability": "probability", "decision": "decision value"}


def roc_and_pr(curves: Curves) -> Html:
    """Both curves side by side; of many classes, the largest ones."""
    return tag("div", _roc(_largest(curves["roc"])), _pr(_largest(curves["pr"])), class_="pair")


def _largest(curves: Sequence[Curve]) -> list[Curve]:
    kept = sorted(curves, key=lambda curve: -curve["share"])[:N_SERIES]
    return [curve for curve in curves if curve in kept]


def _series(curves: Sequence[Curve], axes: Axes) -> list[Html]:
    return [axes.path(curve["x"], curve["y"], f"s{index}") for index, curve in enumerate(curves)]


def _areas(curves: Sequence[Curve], word: str) -> str:
    return ", ".join(f"{word} {number(curve['area'], 3)} for {curve['label']}" for curve in curves)


def _mark(at: tuple[float, float] | None) -> Html | None:
    """The place of the cut-off on a curve, which the script moves."""
    return _UNIT.dot(*at, "mark", 6) if at else None


def _roc(curves: Sequence[Curve], at: tuple[float, float] | None = None) -> Html:
    picture = _UNIT.picture(
        "roc",
        "ROC curve",
        f"Recall against the false positive rate over all cut-offs; {_areas(curves, 'area')}. The diagonal is chance.",
        _UNIT.frame("false positive rate", "recall"),
        _UNIT.segment(0, 0, 1, 1, "chance"),
        _series(curves, _UNIT),
        _mark(at),
    )
    entries = [(f"s{index}", curve["label"], f"AUC {number(curve['area'], 3)}") for index, curve in enumerate(curves)]
    return figure(picture, "ROC curve", legend(entries))


def _pr(curves: Sequence[Curve], at: tuple[float, float] | None = None) -> Html:
    picture = _UNIT.picture(
        "pr",
        "Precision-recall curve",
        f"Precision against recall over all cut-offs; {_areas(curves, 'average precision')}.",
        _UNIT.frame("recall", "precision"),
        [_UNIT.segment(0, curves[0]["share"], 1, curves[0]["share"], "chance")] if len(curves) == 1 else None,
        _series(curves, _UNIT),
        _mark(at),
    )
    entries = [(f"s{index}", curve["label"], f"AP {number(curve['area'], 3)}") for index, curve in enumerate(curves)]
    return figure(picture, "Precision-recall curve", legend(entries))


def cutoff(scores: Scores, curves: Curves) -> Html:
    """The slider, both curves with marks, the confusion matrix and the measures that follow the slider."""
    at = scores["at"] if scores["at"] is not None else _position(scores, scores["default"])
    tp, fp, tn, fn = (scores[key][at] for key in ("tp", "fp", "tn", "fn"))
    values = from_counts(tp, fp, tn, fn)
    recall, precision = values["recall"] or 0.0, values["precision"]
    on_pr = recall, 1.0 if precision is None else precision
    pair = [_roc(curves["roc"], (fp / ((fp + tn) or 1), recall)), _pr(curves["pr"], on_pr)] if curves["roc"] else []
    words = (
        "A row is called ",
        tag("strong", name(scores["positive"])),
        f" if its {_SCORE_NAMES[scores['kind']]} for that is at least the cut-off.",
        tag("span", " Move it to see what it costs.", class_="js-only"),
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


def _position(scores: Scores, threshold: float) -> int:
    """The first cut-off that is at least as high."""
    return next((i for i, each in enumerate(scores["threshold"]) if each >= threshold), len(scores["threshold"]) - 1)


def _controls(scores: Scores, at: int) -> Html:
    last = len(scores["threshold"]) - 1
    shown = number(scores["threshold"][at])
    slider = void("input", type="range", id="cut", min=0, max=last, step=1, value=at, aria_valuetext=shown)
    jumps = [("the model's own", scores["at"]), (f"{scores['default']:g}", _position(scores, scores["default"]))]
    if scores["tuned"] is not None:
        jumps.append((f"tuned {number(scores['tuned'])}", _position(scores, scores["tuned"])))
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


def calibration(found: Sequence[Calibration]) -> Html:
    """Reliability diagrams with counts per bin."""
    if not found:
        return tag("p", "The model gives no probabilities.", class_="muted")
    kept = found if len(found) <= N_SERIES else found[:N_SERIES]
    words = (
        "Rows are put in ten bins by the probability that the model gave them; if it can be taken at its word, points lie on "
        "the diagonal: of rows given 0.7, seven in ten are of the class."
    )
    if len(kept) == 1:
        body = tag("div", _reliability(kept), _histogram(kept[0]), class_="pair")
    else:
        body = tag("div", _reliability(kept), _calibration_list(found), class_="pair")
    return join(tag("p", words, class_="prose"), body)


def _reliability(found: Sequence[Calibration]) -> Html:
    parts = []
    for index, each in enumerate(found):
        if len(found) == 1:
            ends = zip(each["predicted"], each["low"], each["high"], strict=True)
            parts += [_UNIT.segment(x, low, x, high, "whisker thin") for x, low, high in ends]
        parts.append(_UNIT.path(each["predicted"], each["observed"], f"s{index}"))
        points = zip(each["predicted"], each["observed"], each["count"], strict=True)
        parts += [
            _UNIT.dot(x, y, f"dot s{index}", words=f"{count(n)} rows: predicted {number(x, 3)}, observed {number(y, 3)}")
            for x, y, n in points
        ]
    words = "; ".join(f"mean distance {number(each['error'], 3)} for {each['label']}" for each in found)
    picture = _UNIT.picture(
        "calibration",
        "Calibration curve",
        f"Observed share against predicted probability in ten bins; {words}.",
        _UNIT.frame("predicted probability", "observed share"),
        _UNIT.segment(0, 0, 1, 1, "chance"),
        parts,
    )
    entries = [(f"s{i}", each["label"], f"mean distance {number(each['error'], 3)}") for i, each in enumerate(found)]
    return figure(picture, "Calibration", legend(entries))


def _histogram(found: Calibration) -> Html:
    most = max(found["count"])
    axes = Axes(0.0, 1.0, 0.0, most * 1.05)
    bars = [
        axes.bar(bin_ / 10 + 0.005, bin_ / 10 + 0.095, 0, n, "bar", f"{count(n)} rows")
        for bin_, n in zip((max(math.ceil(10 * p - 1e-9), 1) - 1 for p in found["predicted"]), found["count"], strict=True)
    ]
    words = f"Counts per bin: {', '.join(map(str, found['count']))}."
    picture = axes.picture("bins", "Rows per bin", words, axes.frame("predicted probability", "test rows"), bars)
    return figure(picture, "Rows per bin")


def _calibration_list(found: Sequence[Calibration]) -> Html:
    rows = [
        tag(
            "div",
            tag("dt", name(each["label"])),
            tag("dd", f"{number(each['error'], 3)} over {count(sum(each['count']))} rows"),
        )
        for each in found
    ]
    return tag("figure", tag("figcaption", "Mean distance from the diagonal"), tag("dl", rows, class_="live"))


def residuals(found: Residuals) -> Html:
    """Predicted against true values, residuals against predicted values, and how residuals are distributed."""
    true, predicted = found["true"], found["predicted"]
    low, high = _padded([*true, *predicted])
    square = Axes(low, high, low, high)
    against = square.picture(
        "predicted",
        "Predicted against true values",
        f"{count(len(true))} test rows; on the diagonal the prediction is exact.",
        square.frame("true value", "predicted value"),
        square.segment(low, low, high, high, "chance"),
        [square.dot(x, y, "dot s0 faint") for x, y in zip(true, predicted, strict=True)],
    )
    residual = [x - y for x, y in zip(true, predicted, strict=True)]
    wide = Axes(*_padded(predicted), *_padded([*residual, 0.0]))
    spread = wide.picture(
        "residuals",
        "Residuals against predicted values",
        f"Mean {number(found['mean'])}, standard deviation {number(found['std'])}.",
        wide.frame("predicted value", f"residual (true {MINUS} predicted)"),
        wide.segment(wide.x_low, 0, wide.x_high, 0, "chance"),
        [wide.dot(x, y, "dot s0 faint") for x, y in zip(predicted, residual, strict=True)],
    )
    thinned = f" The pictures show {count(len(true))} of {count(found['n'])} rows." if len(true) < found["n"] else ""
    levels = found["quantiles"]
    words = (
        f"Half of the residuals lie between {number(levels.get('0.25'))} and {number(levels.get('0.75'))}, nine in ten between "
    )
    words += f"{number(levels.get('0.05'))} and {number(levels.get('0.95'))}.{thinned}"
    pair = tag("div", figure(against, "Predicted against true"), figure(spread, "Residuals"), class_="pair")
    return join(tag("p", words, class_="prose"), pair, _residual_histogram(found))


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    pad = 0.04 * (high - low) or 1.0
    return low - pad, high + pad


def _residual_histogram(found: Residuals) -> Html:
    edges, counts = found["edges"], found["count"]

    def build(axes: Axes, identifier: str) -> Html:
        return axes.picture(
            identifier,
            "Distribution of residuals",
            f"Counts of residuals in {len(counts)} bins from {number(edges[0])} to {number(edges[-1])}.",
            axes.frame(f"residual (true {MINUS} predicted)", "test rows", n_x=axes.width // 70),
            [
                axes.bar(left, right, 0, n, "bar", f"{number(left)} to {number(right)}: {count(n)} rows")
                for left, right, n in zip(edges[:-1], edges[1:], counts, strict=True)
            ],
            axes.segment(0, 0, 0, axes.y_high, "chance") if edges[0] < 0 < edges[-1] else None,
        )

    axes = Axes(edges[0], edges[-1], 0, max(counts) * 1.05, width=740, height=220, n_y=4)
    return broad_figure("residual-counts", build, axes, "Distribution of residuals")


def learning(found: Learning) -> Html:
    """The learning curve and its reading."""
    x = found["n_train"]
    lines = {"s1": (found["train_mean"], found["train_std"]), "s0": (found["test_mean"], found["test_std"])}
    bands = {
        class_: ([m - (s or 0) for m, s in zip(*pair, strict=True)], [m + (s or 0) for m, s in zip(*pair, strict=True)])
        for class_, pair in lines.items()
    }
    points = zip(x, found["train_mean"], found["test_mean"], strict=True)
    words = "; ".join(f"{count(n)} rows: {number(train)} fitted, {number(test)} held out" for n, train, test in points)

    def build(axes: Axes, identifier: str) -> Html:
        parts = [axes.band(x, *bands[class_], class_) for class_ in lines]
        parts += [axes.path(x, means, class_) for class_, (means, _) in lines.items()]
        parts += [
            axes.dot(at, mean, f"dot {class_}", words=f"{count(at)} rows: {number(mean)}")
            for class_, (means, _) in lines.items()
            for at, mean in zip(x, means, strict=True)
        ]
        frame = axes.frame("rows fitted", found["label"], n_x=axes.width // 70)
        return axes.picture(identifier, "Learning curve", words, frame, parts)

    ends = [value for band in bands.values() for edge in band for value in edge]
    axes = Axes(0, x[-1] * 1.03, *_padded(ends), width=740, height=300)
    entries = [("s0", "rows held out", ""), ("s1", "rows fitted", "")]
    badge = {"overfitting": "overfits", "underfitting": "underfits", "balanced": "balanced"}.get(found["verdict"])
    reading = tag("p", join(tag("span", badge, class_="badge"), " ") if badge else None, found["reading"], class_="reading")
    caption = "Mean and standard deviation over folds of the training rows"
    return join(reading, broad_figure("learning-curve", build, axes, caption, legend(entries)))
