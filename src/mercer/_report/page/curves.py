"""The parts of the page that are curves: ROC, precision-recall, calibration, residuals, learning."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mercer._report.content import Calibration, Curve, Curves, Learning, Residuals
from mercer._report.numbers import MINUS, count, number
from mercer._report.page.charts import N_SERIES, Axes, broad_figure, figure, legend
from mercer._report.page.html import Html, breakable, join, tag

_MOST_LISTED = 20  # classes
_UNIT = Axes(0.0, 1.0, 0.0, 1.0)


def roc_and_pr(curves: Curves) -> Html:
    """Both curves side by side; of many classes, the largest ones."""
    return tag("div", roc(_largest(curves["roc"])), pr(_largest(curves["pr"])), class_="pair")


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


def roc(curves: Sequence[Curve], at: tuple[float, float] | None = None) -> Html:
    """Recall against the false positive rate, with a mark where the cut-off is."""
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


def pr(curves: Sequence[Curve], at: tuple[float, float] | None = None) -> Html:
    """Precision against recall, with a mark where the cut-off is."""
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
    """All classes, or of very many those whose probabilities are farthest off."""
    shown = found if len(found) <= _MOST_LISTED else sorted(found, key=lambda each: -each["error"])[:_MOST_LISTED]
    rows = [
        tag(
            "div",
            tag("dt", breakable(each["label"])),
            tag("dd", f"{number(each['error'], 3)} over {count(sum(each['count']))} rows"),
        )
        for each in shown
    ]
    some = f": the {len(shown)} largest of {len(found)}" if len(shown) < len(found) else ""
    return tag("figure", tag("figcaption", f"Mean distance from the diagonal{some}"), tag("dl", rows, class_="live"))


def residuals(found: Residuals) -> Html:
    """Predicted against true values, residuals against predicted values, and how residuals are distributed."""
    true, predicted = found["true"], found["predicted"]
    low, high = padded([*true, *predicted])
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
    wide = Axes(*padded(predicted), *padded([*residual, 0.0]))
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


def padded(values: Sequence[float]) -> tuple[float, float]:
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
    axes = Axes(0, x[-1] * 1.03, *padded(ends), width=740, height=300)
    entries = [("s0", "rows held out", ""), ("s1", "rows fitted", "")]
    badge = {"overfitting": "overfits", "underfitting": "underfits", "balanced": "balanced"}.get(found["verdict"])
    reading = tag("p", join(tag("span", badge, class_="badge"), " ") if badge else None, found["reading"], class_="reading")
    caption = "Mean and standard deviation over folds of the training rows"
    return join(reading, broad_figure("learning-curve", build, axes, caption, legend(entries)))
