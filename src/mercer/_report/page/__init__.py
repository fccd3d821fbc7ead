"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path

from mercer._report.content import Content
from mercer._report.files import check
from mercer._report.page import curves, outcome, overview
from mercer._report.page.cutoff import cutoff
from mercer._report.page.html import Html, escape, join, json_script, tag

Section = tuple[str, str, Html]  # identifier, title, body


def write_html(content: Content, path: str | os.PathLike[str]) -> None:
    """Write a report as one self-contained HTML page, which asks the network for nothing.

    Parameters
    ----------
    content : dict
        As `mercer._report.content.Content` declares; it is checked first.
    path : str or path
        The file to write; what was there is replaced.
    """
    Path(path).write_text(render_html(content), encoding="utf-8", newline="\n")


def render_html(content: Content) -> str:
    """The page as text: the same content gives the same text."""
    check(content)
    style, script = (
        files("mercer._report").joinpath("assets", name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    sections = _sections(content)
    links = [tag("li", tag("a", title, href=f"#{identifier}")) for identifier, title, _ in sections]
    contents = tag("nav", tag("p", "Contents", class_="overline"), tag("ol", links), class_="toc", aria_label="Contents")
    main = tag("main", overview.heading(content), [_section(*section) for section in sections])
    data = json_script("cut-off-data", _cutoff_data(content)) if content["scores"] else None
    head = tag(
        "head",
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'),
        Html('<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'),
        Html('<link rel="icon" href="data:,">'),
        tag("title", f"{content['title']} · Mercer report"),
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


def _sections(content: Content) -> list[Section]:
    """The sections that the content has something for, in the order of the page."""
    found, metric = content["curves"], content["data"]["metric"]
    sections: list[Section | None] = [
        ("alerts", "Data alerts", join(overview.alerts(content["alerts"]), overview.facts(content))),
        ("leaderboard", "Leaderboard", overview.leaderboard(content["leaderboard"], metric))
        if content["leaderboard"]
        else None,
        ("test", "Test result", outcome.test_result(content["test"])) if content["test"] else None,
        _decision(content),
        ("residual-plots", "Predictions and residuals", curves.residuals(content["residuals"]))
        if content["residuals"]
        else None,
    ]
    if content["importance"] is not None:
        sections.append(("importance", "Permutation importance", outcome.importance(content["importance"], metric["label"])))
    if content["errors"] is not None:
        sections.append(("errors", "Worst errors", outcome.worst_errors(content["errors"])))
    if found and found["calibration"]:
        sections.append(("calibration-section", "Calibration", curves.calibration(found["calibration"])))
    if content["learning"]:
        sections.append(("learning", "Learning curve", curves.learning(content["learning"])))
    if content["columns"]:
        sections.append(("columns", "Columns", overview.columns(content["columns"])))
    sections.append(("making", "How it was made", overview.making(content)))
    return [section for section in sections if section]


def _decision(content: Content) -> Section | None:
    """Curves and the confusion matrix: with a slider for two classes that are scored, as pictures otherwise."""
    scores, found, confusion = content["scores"], content["curves"], content["confusion"]
    if scores and found:
        return "decision", "Curves and cut-off", cutoff(scores, found)
    if not confusion:
        return None
    pictures = curves.roc_and_pr(found) if found and found["roc"] else None
    return (
        "decision",
        "Curves and confusion matrix",
        join(pictures, tag("h3", "Confusion matrix"), outcome.confusion(confusion)),
    )


def _cutoff_data(content: Content) -> dict[str, object]:
    """What the script needs of the cut-offs; the other two counts follow."""
    scores = content["scores"]
    assert scores is not None
    return {
        "threshold": [float(f"{each:.7g}") for each in scores["threshold"]],
        "own": scores["at"],
        "tp": scores["tp"],
        "fp": scores["fp"],
        "positive": scores["tp"][0] + scores["fn"][0],
        "negative": scores["fp"][0] + scores["tn"][0],
    }
