"""Charts as inline SVG: axes, and what is drawn in them. Colours come from classes; every chart says in words what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mercer._report.numbers import tick_labels, ticks
from mercer._report.page.html import Child, Html, join, name, tag

N_SERIES = 8  # colours and dashes that the style sheet tells apart


def _c(value: float) -> str:
    """A coordinate with the precision of a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Axes:
    """A rectangle of data within a picture of width by height."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    width: int = 360
    height: int = 300
    n_y: int = 5  # about how many ticks
    right: int = 10
    top: int = 10
    bottom: int = 42
    has_years: bool = False  # along x, which are written without thousands

    @property
    def left(self) -> int:
        """Room for the name of the axis and the widest of its ticks."""
        longest = max(len(label) for label in tick_labels(ticks(self.y_low, self.y_high, self.n_y)))
        return max(46, 26 + 7 * longest)

    def x(self, value: float) -> float:
        share = (value - self.x_low) / ((self.x_high - self.x_low) or 1)
        return self.left + share * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        share = (value - self.y_low) / ((self.y_high - self.y_low) or 1)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def frame(self, x_label: str, y_label: str, *, n_x: int = 5) -> Html:
        """Grid lines, ticks and the names of the axes."""
        bottom, left = self.height - self.bottom, self.left
        x_ticks, y_ticks = ticks(self.x_low, self.x_high, n_x), ticks(self.y_low, self.y_high, self.n_y)
        lines = [self._line(self.x(tick), self.top, self.x(tick), bottom, "grid") for tick in x_ticks]
        lines += [self._line(left, self.y(tick), self.width - self.right, self.y(tick), "grid") for tick in y_ticks]
        x_labels = [f"{tick:g}" for tick in x_ticks] if self.has_years else tick_labels(x_ticks)
        texts = [
            tag("text", label, x=_c(self.x(tick)), y=bottom + 16, text_anchor="middle")
            for tick, label in zip(x_ticks, x_labels, strict=True)
        ]
        texts += [
            tag("text", label, x=left - 6, y=_c(self.y(tick) + 4), text_anchor="end")
            for tick, label in zip(y_ticks, tick_labels(y_ticks), strict=True)
        ]
        middle_x, middle_y = (left + self.width - self.right) / 2, (self.top + bottom) / 2
        names = [
            tag("text", x_label, class_="axis", x=_c(middle_x), y=self.height - 6, text_anchor="middle"),
            tag("text", y_label, class_="axis", transform=f"translate(11 {_c(middle_y)}) rotate(-90)", text_anchor="middle"),
        ]
        return tag("g", lines, texts, names, class_="frame")

    def _line(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
        return tag("line", x1=_c(x1), y1=_c(y1), x2=_c(x2), y2=_c(y2), class_=class_)

    def segment(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
        """A straight line between two points of the data."""
        return self._line(self.x(x1), self.y(y1), self.x(x2), self.y(y2), class_)

    def path(self, x: Sequence[float], y: Sequence[float | None], class_: str) -> Html:
        """A line through points, broken where y is None."""
        steps, is_down = [], False
        for at, value in zip(x, y, strict=True):
            if value is not None:
                steps.append(f"{'L' if is_down else 'M'}{_c(self.x(at))} {_c(self.y(value))}")
            is_down = value is not None
        return tag("path", d="".join(steps), class_=f"curve {class_}")

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], class_: str) -> Html:
        """The area between two lines."""
        edge = [*zip(x, low, strict=True), *reversed(list(zip(x, high, strict=True)))]
        points = " ".join(f"{_c(self.x(at))},{_c(self.y(value))}" for at, value in edge)
        return tag("polygon", points=points, class_=f"band {class_}")

    def dot(self, x: float, y: float, class_: str, radius: float = 3, words: str | None = None) -> Html:
        """A point, with words for those who hover over it."""
        title = tag("title", words) if words else None
        return tag("circle", title, cx=_c(self.x(x)), cy=_c(self.y(y)), r=_c(radius), class_=class_)

    def bar(self, x1: float, x2: float, y1: float, y2: float, class_: str, words: str | None = None) -> Html:
        """A rectangle between two corners of the data."""
        left, right = sorted((self.x(x1), self.x(x2)))
        top, bottom = sorted((self.y(y1), self.y(y2)))
        title = tag("title", words) if words else None
        return tag("rect", title, x=_c(left), y=_c(top), width=_c(right - left), height=_c(bottom - top), class_=class_)

    def picture(self, identifier: str, title: str, description: str, *children: Child) -> Html:
        """The whole picture. Its edges in pixels are at hand for the script, which moves marks."""
        edges = {
            "data_left": self.left,
            "data_right": self.width - self.right,
            "data_top": self.top,
            "data_bottom": self.height - self.bottom,
            "data_low": repr(float(self.x_low)),
            "data_high": repr(float(self.x_high)),
        }
        words = [tag("title", title, id=f"{identifier}-title"), tag("desc", description, id=f"{identifier}-words")]
        return tag(
            "svg",
            words,
            *children,
            id=identifier,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_labelledby=f"{identifier}-title {identifier}-words",
            class_="chart",
            **edges,
        )


def strip(children: Child, words: str, *, width: int = 120, height: int = 20, is_stretched: bool = False) -> Html:
    """A small picture within a line of a table; the words stand for it. If stretched, it is as wide as its cell."""
    return tag(
        "svg",
        children,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        preserveAspectRatio="none" if is_stretched else None,
        class_="strip stretched" if is_stretched else "strip",
        role="img",
        aria_label=words,
    )


def legend(entries: Sequence[tuple[str, str, str]]) -> Html:
    """Lines with names: (class, name, what to add)."""
    lines = [tag("line", x1=1, y1=6, x2=23, y2=6, class_=f"curve {class_}") for class_, _, _ in entries]
    return swatches(24, [(line, name(label), extra) for line, (_, label, extra) in zip(lines, entries, strict=True)])


def swatches(width: int, entries: Sequence[tuple[Html, Child, str]]) -> Html:
    """A list of signs with what they stand for: (sign, name, what to add)."""
    rows = [
        tag(
            "li",
            tag("svg", sign, viewBox=f"0 0 {width} 12", width=width, height=12, aria_hidden="true"),
            label,
            join(" ", tag("span", extra, class_="muted")) if extra else None,
        )
        for sign, label, extra in entries
    ]
    return tag("ul", rows, class_="legend")


def figure(picture: Html, caption: Child, *below: Child, class_: str | None = None) -> Html:
    """A chart with its caption above and its legend below."""
    return tag("figure", tag("figcaption", caption), picture, *below, class_=class_)


def broad_figure(identifier: str, build: Callable[[Axes, str], Html], axes: Axes, caption: Child, *below: Child) -> Html:
    """A chart as wide as the page, and a narrow one of the same that takes its place where the screen is."""
    narrow = replace(axes, width=360, height=280)
    pictures = [
        tag("div", build(axes, identifier), class_="on-wide"),
        tag("div", build(narrow, f"{identifier}-narrow"), class_="on-narrow"),
    ]
    return figure(join(pictures), caption, *below)
