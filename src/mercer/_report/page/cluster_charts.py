"""The pictures of clusters: measures against their number, the map, silhouettes, the dendrogram."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from mercer._report.clustering.content import Axis, Clustering, Dendrogram, Profile, Projection, Silhouettes
from mercer._report.numbers import count, number, percent, plural, tick_labels, ticks
from mercer._report.page.charts import N_SERIES, Axes, broad_figure, figure, legend, swatches
from mercer._report.page.html import Html, join, tag

_MOST_NAMED = 12


def colour(cluster: int) -> str:
    """The class of a cluster's colour; noise has one of its own."""
    return "noise" if cluster < 0 else f"s{cluster % N_SERIES}"


def swatch(cluster: int) -> Html:
    dot = tag("circle", cx=6, cy=6, r=5, class_=f"dot {colour(cluster)}")
    return tag("svg", dot, viewBox="0 0 12 12", width=12, height=12, aria_hidden="true")


def numbers(rows: Sequence[Clustering]) -> Html | None:
    """Silhouette and stability against the number of clusters, a line a method."""
    measured = [
        row for row in rows if row["status"] == "ok" and row["silhouette"] is not None and row["n_clusters"] is not None
    ]
    methods = sorted({row["method"] for row in measured})[:N_SERIES]
    tried = sorted({row["n_clusters"] or 0 for row in measured})
    if len(tried) < 2:
        return None
    best = next((row for row in measured if row["is_best"]), None)
    checked = [row for row in measured if row["excess"] is not None]
    leader = best or max(checked, key=lambda row: row["excess"] or 0.0, default=None)
    reference = {
        row["n_clusters"] or 0: row["reference_high"]
        for row in checked
        if leader and row["method"] == leader["method"] and row["reference_high"] is not None
    }
    highest = max([row["silhouette"] or 0.0 for row in measured] + list(reference.values()))
    lowest = min(0.0, *(row["silhouette"] or 0.0 for row in measured))
    ends = tried[0] - 0.4, tried[-1] + 0.4
    pictures = [
        _against_number(measured, methods, "silhouette", Axes(*ends, lowest, 1.08 * highest), "mean silhouette", reference),
        _against_number(measured, methods, "stability", Axes(*ends, 0.0, 1.0), "adjusted Rand index", {}),
    ]
    entries = [(f"s{index}", method, "") for index, method in enumerate(methods)]
    if leader and reference:
        entries.append(("chance", "without clusters", f"hardly ever reached by {leader['method']} where there are none"))
    return join(tag("div", [picture for picture in pictures if picture], class_="pair"), legend(entries))


def _against_number(
    rows: Sequence[Clustering], methods: Sequence[str], key: str, axes: Axes, label: str, reference: Mapping[int, float]
) -> Html | None:
    """One measure; nothing where it is known of a single number of clusters."""
    lines = {method: _best_by_number([row for row in rows if row["method"] == method], key) for method in methods}
    if len({n for points in lines.values() for n, _ in points}) < 2:
        return None
    title = key.capitalize()
    parts = []
    for index, method in enumerate(methods):
        points = lines[method]
        parts.append(axes.path([n for n, _ in points], [value for _, value in points], f"s{index}"))
        parts += [
            axes.dot(n, value, f"dot s{index}", words=f"{method}, {plural(n, 'cluster')}: {number(value, 3)}")
            for n, value in points
        ]
    if reference:
        parts.append(axes.path(sorted(reference), [reference[n] for n in sorted(reference)], "chance"))
    for row in rows:
        if row["is_best"] and (value := _value(row, key)) is not None:
            parts.append(axes.dot(row["n_clusters"] or 0, value, "mark hollow", 6))
    words = "; ".join(
        f"{method}: " + ", ".join(f"{number(value, 2)} for {n}" for n, value in points)
        for method, points in lines.items()
        if points
    )
    frame = axes.frame("clusters", label, n_x=min(8, max(2, round(axes.x_high - axes.x_low))))
    return figure(
        axes.picture(f"{key}-number", f"{title} against the number of clusters", words, frame, parts),
        f"{title} by number of clusters",
    )


def _value(row: Clustering, key: str) -> float | None:
    return row["silhouette"] if key == "silhouette" else row["stability"]


def _best_by_number(rows: Sequence[Clustering], key: str) -> list[tuple[int, float]]:
    """Of several clusterings of a method with one number of clusters, the clearest."""
    best: dict[int, tuple[float, float]] = {}
    for row in rows:
        n, merit, value = row["n_clusters"] or 0, row["silhouette"] or 0.0, _value(row, key)
        if value is not None and (n not in best or merit > best[n][0]):
            best[n] = (merit, value)
    return [(n, best[n][1]) for n in sorted(best)]


def projection(found: Projection, profiles: Sequence[Profile]) -> Html:
    """Rows along their two main directions, in the colours of their clusters, whose numbers stand at their middles."""
    ends = [_padded(found["x"]), _padded(found["y"])]
    first, second = found["axes"]
    middles = {
        cluster: (
            statistics.median(x for x, own in zip(found["x"], found["cluster"], strict=True) if own == cluster),
            statistics.median(y for y, own in zip(found["y"], found["cluster"], strict=True) if own == cluster),
        )
        for cluster in sorted(set(found["cluster"]))
        if cluster >= 0
    }

    def build(axes: Axes, identifier: str) -> Html:
        dots = [
            axes.dot(x, y, f"dot {colour(cluster)} faint", 2.6)
            for x, y, cluster in zip(found["x"], found["y"], found["cluster"], strict=True)
        ]
        marks = [_number_mark(axes, cluster, middle) for cluster, middle in middles.items()] if len(middles) > 1 else []
        words = f"{count(len(found['x']))} rows; " + ", ".join(
            f"cluster {profile['number']} {count(profile['n'])} rows" for profile in profiles[:_MOST_NAMED]
        )
        frame = axes.frame(_axis_name(first, "first"), _axis_name(second, "second"), n_x=axes.width // 90)
        return axes.picture(identifier, "Map of the rows", words, frame, dots, marks)

    entries = [
        (colour(profile["number"]), f"Cluster {profile['number']}", plural(profile["n"], "row"))
        for profile in profiles[:_MOST_NAMED]
    ]
    if any(cluster < 0 for cluster in found["cluster"]):
        entries.append(("noise", "in none", ""))
    axes = Axes(*ends[0], *ends[1], width=740, height=460)
    shown = "" if len(found["x"]) == found["n"] else f", {count(len(found['x']))} of {count(found['n'])} rows"
    caption = f"Rows along their principal components{shown}"
    known = [axis["share"] for axis in found["axes"] if axis["share"] is not None]
    words = (
        f"What is near here need not be near in all columns: the picture shows {percent(sum(known))} of the spread of the rows."
    )
    directions = [
        tag("li", f"{word} component: ", ", ".join(axis["columns"]) or "spread over many columns")
        for word, axis in zip(("First", "Second"), found["axes"], strict=True)
        if axis["share"] is not None
    ]
    if second["share"] is None:
        words = "There is one column; rows are spread at random in height, so that they do not hide one another."
    return join(
        tag("p", words, class_="prose"),
        broad_figure("projection", build, axes, caption, _swatches(entries), tag("ul", directions, class_="small muted")),
    )


def _swatches(entries: Sequence[tuple[str, str, str]]) -> Html:
    dots = [tag("circle", cx=6, cy=6, r=5, class_=f"dot {class_}") for class_, _, _ in entries]
    return swatches(12, [(dot, label, extra) for dot, (_, label, extra) in zip(dots, entries, strict=True)])


def _number_mark(axes: Axes, cluster: int, middle: tuple[float, float]) -> Html:
    x, y = axes.x(middle[0]), axes.y(middle[1])
    circle = tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=10, class_="plate")
    return tag("g", circle, tag("text", str(cluster), x=f"{x:.1f}", y=f"{y + 4:.1f}", text_anchor="middle", class_="axis"))


def _axis_name(axis: Axis, word: str) -> str:
    return "at random" if axis["share"] is None else f"{word} component, {percent(axis['share'])} of the spread"


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    pad = 0.04 * (high - low) or 1.0
    return low - pad, high + pad


def silhouettes(found: Silhouettes | None) -> Html:
    """A bar a row, falling within each cluster."""
    assert found is not None
    lows = [min(values) for values in found["values"] if values]
    total = sum(len(values) for values in found["values"])
    gap = max(1.0, 0.02 * total)
    low = min(0.0, math.floor(10 * min(lows, default=0.0)) / 10)

    def build(axes: Axes, identifier: str) -> Html:
        parts, at = [], gap
        for cluster, values in enumerate(found["values"]):
            points = [f"{axes.x(0):.1f},{axes.y(-at):.1f}"]
            points += [f"{axes.x(value):.1f},{axes.y(-(at + place + 0.5)):.1f}" for place, value in enumerate(values)]
            points.append(f"{axes.x(0):.1f},{axes.y(-(at + len(values))):.1f}")
            told = tag("title", f"Cluster {cluster}: {plural(found['counts'][cluster], 'row')}")
            parts.append(tag("polygon", told, points=" ".join(points), class_=f"area {colour(cluster)}"))
            middle = f"{axes.y(-(at + len(values) / 2)) + 4:.1f}"
            if len(found["values"]) <= 2 * _MOST_NAMED:
                parts.append(tag("text", str(cluster), x=axes.left - 8, y=middle, text_anchor="end", class_="axis"))
            at += len(values) + gap
        mean = axes.segment(found["mean"], axes.y_low, found["mean"], axes.y_high, "chance")
        words = f"Mean {number(found['mean'], 3)} over {count(found['n'])} rows."
        return axes.picture(identifier, "Silhouettes by cluster", words, _frame(axes), parts, mean)

    height = total + gap * (len(found["values"]) + 1)
    axes = Axes(low, 1.0, -height, 0.0, width=740, height=min(620, 140 + 60 * len(found["values"])))
    words = (
        "The silhouette of a row compares its distance to the other rows of its cluster with that to the nearest other "
        "cluster: near 1 it "
        "is well within, at 0 on the border, below 0 nearer to the other cluster. The dashed line is the mean, "
        f"{number(found['mean'], 2)}."
    )
    caption = f"Rows of each cluster, {count(found['n'])} in all"
    return join(tag("p", words, class_="prose"), broad_figure("silhouettes", build, axes, caption))


def _frame(axes: Axes) -> Html:
    """Ticks along the silhouette alone; rows need none."""
    bottom = axes.height - axes.bottom
    steps = [round(axes.x_low + 0.2 * step, 1) for step in range(int((1 - axes.x_low) / 0.2 + 1.01))]
    lines = [axes.segment(tick, axes.y_low, tick, axes.y_high, "grid") for tick in steps]
    texts = [tag("text", number(tick, 1), x=f"{axes.x(tick):.1f}", y=bottom + 16, text_anchor="middle") for tick in steps]
    middle = (axes.left + axes.width - axes.right) / 2
    label = tag("text", "silhouette", class_="axis", x=f"{middle:.1f}", y=axes.height - 6, text_anchor="middle")
    return tag("g", lines, texts, label, class_="frame")


def dendrogram(found: Dendrogram | None) -> Html:
    """The last merges; a dashed line where the tree is cut into as many clusters as were chosen."""
    assert found is not None
    top = max((merge[4] for merge in found["merges"]), default=1.0)
    n_leaves = len(found["leaves"])

    def build(axes: Axes, identifier: str) -> Html:
        parts = []
        for left, left_height, right, right_height, height in found["merges"]:
            points = [(left, left_height), (left, height), (right, height), (right, right_height)]
            path = "M" + "L".join(f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y in points)
            parts.append(tag("path", d=path, class_="branch"))
        bottom = axes.y(0)
        has_counts = axes.width > 500 or n_leaves <= 12
        for place, (rows, cluster) in enumerate(zip(found["leaves"], found["leaf_clusters"], strict=True)):
            own = f"mostly cluster {cluster}" if cluster >= 0 else "mostly in no cluster"
            parts.append(axes.dot(place, 0, f"dot {colour(cluster)}", 4, f"{plural(rows, 'row')}, {own}"))
            if has_counts:
                parts.append(
                    tag(
                        "text",
                        count(rows),
                        x=f"{axes.x(place):.1f}",
                        y=f"{bottom + 18:.1f}",
                        text_anchor="middle",
                        class_="leaf",
                    )
                )
        if found["cut"] is not None:
            parts.append(axes.segment(axes.x_low, found["cut"], axes.x_high, found["cut"], "chance"))
        words = f"The last {len(found['merges'])} merges of {count(found['n'])} rows; the highest at {number(top)}."
        return axes.picture(identifier, "Dendrogram", words, _heights(axes, has_counts=has_counts), parts)

    words = (
        f"{found['method']} merges the two nearest groups again and again; the height of a merge is how far apart they "
        "were. Long branches "
        "without a merge speak for clusters. Below, the rows of each branch, in the colour of the cluster that most of "
        "them are in."
    )
    if found["cut"] is not None:
        words += " The dashed line cuts the tree into as many groups as were chosen."
    axes = Axes(-0.7, n_leaves - 0.3, 0.0, top * 1.05, width=740, height=320)
    return join(
        tag("p", words, class_="prose"),
        broad_figure("dendrogram", build, axes, f"The last {len(found['merges'])} merges of {count(found['n'])} rows"),
    )


def _heights(axes: Axes, *, has_counts: bool) -> Html:
    levels = ticks(axes.y_low, axes.y_high, axes.n_y)
    lines = [axes.segment(axes.x_low, level, axes.x_high, level, "grid") for level in levels]
    texts = [
        tag("text", label, x=axes.left - 6, y=f"{axes.y(level) + 4:.1f}", text_anchor="end")
        for level, label in zip(levels, tick_labels(levels), strict=True)
    ]
    middle = (axes.top + axes.height - axes.bottom) / 2
    name = tag("text", "height", class_="axis", transform=f"translate(11 {middle:.1f}) rotate(-90)", text_anchor="middle")
    below = tag("text", "rows", class_="axis", x=axes.width / 2, y=axes.height - 6, text_anchor="middle")
    return tag("g", lines, texts, name, below if has_counts else None, class_="frame")
