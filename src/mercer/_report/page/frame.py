"""What every page has: its head, its style and script, the contents at the side, and sections."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from mercer._report.page.html import Html, escape, tag

Section = tuple[str, str, Html]  # identifier, title, body


def whole_page(title: str, heading: Html, sections: Sequence[Section], data: Html | None = None) -> str:
    """The page as text. `data` is what its script reads."""
    style, script = (
        files("mercer._report").joinpath("assets", name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    links = [tag("li", tag("a", name, href=f"#{identifier}")) for identifier, name, _ in sections]
    contents = tag("nav", tag("p", "Contents", class_="overline"), tag("ol", links), class_="toc", aria_label="Contents")
    main = tag("main", heading, [_section(*section) for section in sections])
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'),
        Html('<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'),
        Html('<link rel="icon" href="data:,">'),
        tag("title", f"{title} · Mercer report"),
        Html(f"<style>{style}</style>"),
    )
    body = tag("body", tag("div", contents, main, class_="page"), data, Html(f"<script>{script}</script>"))
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _policy(style: str, script: str) -> Html:
    """Nothing from anywhere, but for the page's own style and script, which are named by their hashes."""

    def hashed(text: str) -> str:
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    rules = ["default-src 'none'", f"style-src '{hashed(style)}'", f"script-src '{hashed(script)}'", "img-src data:"]
    return Html("; ".join([*rules, "base-uri 'none'", "form-action 'none'"]))


def _section(identifier: str, title: str, body: Html) -> Html:
    heading = tag("h2", title, id=f"{identifier}-heading")
    return tag("section", heading, body, id=escape(identifier), aria_labelledby=f"{identifier}-heading")
