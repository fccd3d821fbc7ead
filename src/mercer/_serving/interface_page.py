"""The interface to programs as a page: what OpenAPI says, without the scripts from elsewhere that usually show it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from mercer._report.page.html import Child, Html, breakable, name, tag
from mercer._report.page.tables import Cell, Head, table as make_table
from mercer._serving.openapi import columns, example_row
from mercer._serving.page import whole_page
from mercer._serving.served import Served


def interface_page(served: Served, document: dict[str, Any], address: str) -> str:
    """The page as text."""
    info = document["info"]
    links = [("/", "The form"), ("/openapi.json", "openapi.json")]
    return whole_page(
        f"Interface · {info['title']}",
        tag("p", info["title"], class_="overline"),
        tag("h1", "Interface for programs"),
        tag("nav", [tag("a", words, href=path) for path, words in links], class_="links", aria_label="Pages"),
        tag("p", info["description"], class_="lead"),
        _section("columns", "Columns of a row", _columns(served)),
        [
            _section(f"{method}-{path[1:]}", operation["summary"], _operation(served, address + path[1:], method, operation))
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ],
        _section("types", "Types", [_type(key, found) for key, found in document["components"]["schemas"].items()]),
    )


def _section(key: str, title: str, *body: Child) -> Html:
    return tag("section", tag("h2", title, id=f"{key}-heading"), *body, id=key, aria_labelledby=f"{key}-heading")


def _columns(served: Served) -> Html:
    heads = [Head("Column"), Head("Kind"), Head("Takes"), Head("Seen in training")]
    rows: list[list[Cell | Child]] = []
    for column in columns(served):
        seen = "" if column["minimum_seen"] is None else f"{column['minimum_seen']} to {column['maximum_seen']}"
        if column["choices"]:
            seen = ", ".join(map(str, column["choices"])) + (" and rarer ones" if column["other_choices"] else "")
        rows.append([Cell(breakable(column["name"])), Cell(column["kind"]), Cell(column["would_do"]), Cell(name(seen))])
    return make_table(heads, rows, caption="The columns of a row", is_stacked=True)


def _operation(served: Served, address: str, method: str, operation: dict[str, Any]) -> list[Child]:
    parts: list[Child] = [tag("p", tag("span", method.upper(), class_="method"), tag("code", address))]
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = json.dumps({"row": example_row(served)}, ensure_ascii=False)
        parts += [tag("p", "For example:"), _command(address, "-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}")]
    if "text/csv" in content:
        sent = ("-H 'Content-Type: text/csv' -H 'Accept: text/csv'", "--data-binary @new.csv")
        parts += [tag("p", "A file, with the predictions as a file:"), _command(address, *sent)]
    first, *others = operation["responses"].items()
    refused = tag("details", tag("summary", "Other answers"), _answers(others))
    return [*parts, _answers([first]), refused]


def _command(address: str, *sent: str) -> Html:
    return _code(" \\\n  ".join([f"curl {address}", *sent]))


def _answers(answers: Sequence[tuple[str, Any]]) -> Html:
    lines = [tag("div", tag("dt", status), tag("dd", answer["description"])) for status, answer in answers]
    return tag("dl", lines, class_="facts")


def _type(key: str, found: Any) -> Html:
    return tag("details", tag("summary", key), _code(json.dumps(found, indent=1, ensure_ascii=False)))


def _code(text: str) -> Html:
    return tag("pre", tag("code", text), tabindex="0")
