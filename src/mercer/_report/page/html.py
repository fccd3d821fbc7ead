"""Markup that cannot be broken out of: text is escaped where it enters, and only what `tag` made passes as it is."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

# What HTML cannot hold: controls other than tab and newline, halves of surrogate pairs, non-characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | int | None | Iterable[Any]


def escape(text: Any) -> Html:
    """Any text as markup that shows it."""
    return Html(html.escape(_UNPRINTABLE.sub("\ufffd", str(text))))


def join(*children: Child) -> Html:
    """Children one after the other; None is nothing, other iterables are joined in turn."""
    return Html("".join(_markup(child) for child in children))


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, (str, int)):
        return escape(child)
    return "".join(_markup(each) for each in child)


def tag(element: str, *children: Child, **attributes: Any) -> Html:
    """An element. `class_` is class, other underscores are hyphens; None and False leave an attribute out, True names it."""
    shown = "".join(
        f" {name}" if value is True else f' {name}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
        for name in (key.rstrip("_").replace("_", "-"),)
    )
    return Html(f"<{element}{shown}>{join(*children)}</{element}>")


def void(element: str, **attributes: Any) -> Html:
    """An element without content or end tag, such as an input."""
    return Html(tag(element, **attributes).removesuffix(f"</{element}>"))


def name(text: Any) -> Html:
    """A name or value from the data, isolated so that right-to-left text in it does not reorder what stands around it."""
    return tag("bdi", str(text))


def breakable(text: str) -> Html:
    """A name or call that may be broken before its capitals and after its underscores and equals signs."""
    parts = re.split(r"(?<=[a-z])(?=[A-Z])|(?<=_)(?=[^_])|(?<==)(?=[^=])", text)
    return tag("bdi", [[Html("<wbr>") if index else None, part] for index, part in enumerate(parts)])


def json_script(identifier: str, value: Any) -> Html:
    """A block of JSON that no content can end early."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(identifier)}">{text}</script>')
