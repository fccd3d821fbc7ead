"""What the pages of the service share: the look of reports, and that they need nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from mercer._report.page.html import Child, Html, tag

_STYLE = "\n".join(
    files(package).joinpath("assets", name).read_text("utf-8")
    for package, name in (("mercer._report", "report.css"), ("mercer._serving", "serve.css"))
)
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# No script at all; the page's own style, named by its hash; forms that go to where they came from.
_RULES = ("default-src 'none'", f"style-src 'sha256-{_HASH}'", "img-src data:", "form-action 'self'", "base-uri 'none'")
POLICY = "; ".join((*_RULES, "frame-ancestors 'none'"))


def whole_page(title: str, *content: Child) -> str:
    """A page as text."""
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'),
        tag("title", title),
        Html(f"<style>{_STYLE}</style>"),
    )
    body = tag("body", tag("div", tag("main", *content), class_="page narrow"))
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'
