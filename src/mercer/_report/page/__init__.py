"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from mercer._report.clustering.content import ClusterContent
from mercer._report.content import Content
from mercer._report.explained.content import RowContent
from mercer._report.files import AnyContent, check, is_of_clusters
from mercer._report.page import card, clusters, curves, data, explained, intervals, model, outcome, overview, segments
from mercer._report.page.cutoff import cutoff
from mercer._report.page.frame import Section, whole_page
from mercer._report.page.html import Html, join, json_script, tag
from mercer._report.schema import check_value


def write_html(content: AnyContent, path: str | os.PathLike[str]) -> None:
    """Write a report as one self-contained HTML page, which asks the network for nothing.

    Parameters
    ----------
    content : dict
        As `mercer._report.content.Content` or `mercer._report.clustering.content.ClusterContent` declares; it is checked first.
    path : str or path
        The file to write; what was there is replaced.
    """
    Path(path).write_text(render_html(content), encoding="utf-8", newline="\n")


def write_row_html(content: RowContent, path: str | os.PathLike[str]) -> None:
    """Write an explained prediction as such a page."""
    Path(path).write_text(render_row_html(content), encoding="utf-8", newline="\n")


def render_row_html(content: RowContent) -> str:
    """The page of an explained prediction as text."""
    check_value(content, RowContent, "")
    return whole_page(content["title"], explained.heading(content), explained.sections(content))


def render_html(content: AnyContent) -> str:
    """The page as text: the same content gives the same text."""
    check(content)
    if is_of_clusters(content):
        found = cast(ClusterContent, content)
        return whole_page(found["title"], clusters.heading(found), clusters.sections(found))
    report = cast(Content, content)
    script = json_script("cut-off-data", _cutoff_data(report)) if report["scores"] else None
    return whole_page(report["title"], overview.heading(report), _sections(report), script)


def _sections(content: Content) -> list[Section]:
    """The sections that the content has something for, in the order of the page."""
    found, metric = content["curves"], content["data"]["metric"]
    sections: list[Section | None] = [
        ("alerts", "Data alerts", join(overview.alerts(content["alerts"]), overview.facts(content))),
        ("leaderboard", "Leaderboard", overview.leaderboard(content["leaderboard"], metric, content["data"]["n_train"]))
        if content["leaderboard"]
        else None,
        ("test", "Test result", outcome.test_result(content["test"])) if content["test"] else None,
        _intervals(content),
        _decision(content),
        ("residual-plots", "Predictions and residuals", curves.residuals(content["residuals"]))
        if content["residuals"]
        else None,
    ]
    if content["importance"] is not None:
        sections.append(("importance", "Permutation importance", outcome.importance(content["importance"], metric["label"])))
    going, target = content.get("explained"), content["data"]["target"]
    if going:
        sections.append(("explained", "What the model goes by", model.explained(going, target)))
    if content["errors"] is not None:
        reasons = model.explained_errors(going["errors"], going, target) if going else None
        sections.append(("errors", "Worst errors", join(outcome.worst_errors(content["errors"]), reasons)))
    if parts := content.get("segments"):
        sections.append(("segments", "Where it is worse", segments.segments(parts)))
    if found and found["calibration"]:
        sections.append(("calibration-section", "Calibration", curves.calibration(found["calibration"])))
    if content["learning"]:
        sections.append(("learning", "Learning curve", curves.learning(content["learning"])))
    sections += _of_table(content, target)
    if content["columns"]:
        sections.append(("columns", "Columns", overview.columns(content["columns"])))
    if about := content.get("card"):
        sections.append(("card", "Model card", card.card(about)))
    if ways := content.get("serving"):
        sections.append(("serving", "Using it", card.serving(ways)))
    sections.append(("making", "How it was made", overview.making(content)))
    return [section for section in sections if section]


def _of_table(content: Content, target: str) -> list[Section]:
    profile, drift = content.get("profile"), content.get("drift")
    sections: list[Section] = []
    if profile:
        sections.append(("table", "The table", data.profile(profile, target)))
    if drift:
        sections.append(("drift", "Training and test rows", data.drift(drift)))
    return sections


def _intervals(content: Content) -> Section | None:
    found = content.get("intervals")
    return ("intervals", intervals.title(found), intervals.intervals(found)) if found else None


def _decision(content: Content) -> Section | None:
    """Curves and the confusion matrix: with a slider for two classes that are scored, as pictures otherwise."""
    scores, found, confusion = content["scores"], content["curves"], content["confusion"]
    if scores and found:
        return "decision", "Curves and cut-off", join(_costs(content), cutoff(scores, found))
    if not confusion:
        return None
    pictures = curves.roc_and_pr(found) if found and found["roc"] else None
    return (
        "decision",
        "Curves and confusion matrix",
        join(_costs(content), pictures, tag("h3", "Confusion matrix"), outcome.confusion(confusion)),
    )


def _costs(content: Content) -> Html | None:
    """What the costs of mistakes come to."""
    found = content.get("costs")
    return tag("p", found["reading"], class_="reading") if found else None


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
