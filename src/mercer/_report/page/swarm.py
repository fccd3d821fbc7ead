"""Lanes of points: what each column gave to each row, a lane a column, a point a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mercer._report.numbers import tick_labels, ticks
from mercer._report.page.charts import figure, swatches
from mercer._report.page.html import Child, Html, join, tag

N_SHADES = 5
_LANE, _NARROW_LANE = 30, 46  # the height of a lane; on narrow screens its name stands above its points
_BOTTOM, _TOP = 44, 6
_STEP = 3.4  # pixels from point to point
_WIDE, _NARROW = (740, 190), (360, 10)  # the width of a picture, and where its points begin
_LONGEST = 26  # characters of the name of a lane


@dataclass(frozen=True)
class Lane:
    """A name, and points: where they lie, and which shade they have; None is none."""

    label: str
    values: Sequence[float]
    shades: Sequence[int | None]
    words: str = ""


def swarm(identifier: str, lanes: Sequence[Lane], axis: str, title: str, caption: Child, *below: Child) -> Html:
    """The lanes one below the other over one axis, with a line where nothing is given: a wide picture and a narrow one."""
    pictures = [
        tag("div", _picture(identifier, lanes, axis, title, *_WIDE, is_narrow=False), class_="on-wide"),
        tag("div", _picture(f"{identifier}-narrow", lanes, axis, title, *_NARROW, is_narrow=True), class_="on-narrow"),
    ]
    return figure(join(pictures), caption, *below)


def _picture(identifier: str, lanes: Sequence[Lane], axis: str, title: str, width: int, left: int, *, is_narrow: bool) -> Html:
    lane_height = _NARROW_LANE if is_narrow else _LANE
    height = _TOP + len(lanes) * lane_height + _BOTTOM
    values = [value for lane in lanes for value in lane.values]
    low, high = min([0.0, *values]), max([0.0, *values])
    pad = 0.03 * (high - low) or 1.0
    low, high = low - pad, high + pad
    bottom, right = height - _BOTTOM, width - 10

    def at(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    marks = ticks(low, high, 4 if is_narrow else 7)
    grid = [_upright(at(mark), bottom, "chance" if mark == 0 else "grid") for mark in marks]
    texts = [
        tag("text", label, x=f"{at(mark):.1f}", y=bottom + 16, text_anchor="middle")
        for mark, label in zip(marks, tick_labels(marks), strict=True)
    ]
    parts = []
    for number, lane in enumerate(lanes):
        top = _TOP + number * lane_height
        middle = top + lane_height - _LANE / 2
        where = (left, top + 12, "start") if is_narrow else (left - 12, middle + 4, "end")
        parts.append(_name(lane, *where))
        parts += _points([at(value) for value in lane.values], lane.shades, middle)
    words = "; ".join(f"{lane.label}: {lane.words}" for lane in lanes)
    return tag(
        "svg",
        [tag("title", title, id=f"{identifier}-title"), tag("desc", words, id=f"{identifier}-words")],
        tag("g", grid, texts, tag("text", axis, class_="axis", x=(left + right) / 2, y=height - 8, text_anchor="middle")),
        parts,
        id=identifier,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"{identifier}-title {identifier}-words",
        class_="chart",
    )


def _upright(x: float, bottom: float, class_: str) -> Html:
    return tag("line", x1=f"{x:.1f}", y1=_TOP, x2=f"{x:.1f}", y2=bottom, class_=class_)


def _name(lane: Lane, x: float, y: float, anchor: str) -> Html:
    short = lane.label if len(lane.label) <= _LONGEST else lane.label[: _LONGEST - 1] + "…"
    return tag("text", tag("title", lane.label), short, x=x, y=f"{y:.1f}", text_anchor=anchor, class_="axis")


def _points(x: Sequence[float], shades: Sequence[int | None], middle: float) -> list[Html]:
    """Points that would lie on one another are put beside one another, as far as the lane is high; a path for each shade."""
    taken: dict[int, int] = {}
    most = int((_LANE / 2 - 3) / _STEP)
    paths: dict[int | None, list[str]] = {}
    for place in sorted(range(len(x)), key=lambda i: x[i]):
        bin_ = int(x[place] / _STEP)
        count = taken.get(bin_, 0)
        taken[bin_] = count + 1
        step = (count + 1) // 2 * (1 if count % 2 else -1)
        if abs(step) > most:  # the lane is full here: over the others, spread evenly
            step = count % (2 * most + 1) - most
        paths.setdefault(shades[place], []).append(f"M{x[place]:.1f} {middle + step * _STEP:.1f}h0")
    return [
        tag("path", d="".join(steps), class_=f"points shade-{'none' if shade is None else shade}")
        for shade, steps in sorted(paths.items(), key=lambda item: -1 if item[0] is None else item[0])
    ]


def shade_of(rank: float | None) -> int | None:
    """A rank between 0 and 1 as one of the shades."""
    return None if rank is None else min(int(rank * N_SHADES), N_SHADES - 1)


def shade_legend() -> Html:
    """What the shades stand for."""
    shades = [tag("path", d=f"M{6 + 12 * shade} 6h0", class_=f"points shade-{shade}") for shade in range(N_SHADES)]
    none = tag("path", d="M30 6h0", class_="points shade-none")
    return swatches(60, [(join(shades), "low to high values of the column", ""), (none, "words or missing values", "")])
