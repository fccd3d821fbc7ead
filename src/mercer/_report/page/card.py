"""The parts of the page for those who use the model: its card, and how it is asked."""

from __future__ import annotations

from mercer._report.card.content import Card, Serving
from mercer._report.page.html import Child, Html, join, name, tag


def card(found: Card) -> Html:
    """What the model is for, what it learnt from, how far it holds."""
    rows: list[tuple[str, Child]] = [
        ("Model", found["model"]),
        ("Purpose", found["purpose"]),
        ("Data", [name(found["data"]), _small(found["description"]), _small(found["source"])]),
        ("Licence of the data", found["licence"] or "not known to Mercer; whoever gave the table can tell"),
        ("Tested", found["tested"]),
    ]
    facts = tag("dl", [tag("div", tag("dt", term), tag("dd", words)) for term, words in rows], class_="facts")
    limits = tag("ul", [tag("li", limit) for limit in found["limits"]])
    return join(facts, tag("h3", "Limits"), limits)


def _small(words: str | None) -> Html | None:
    return tag("span", words, class_="reason") if words else None


def serving(found: Serving) -> Html:
    """Commands and code, to be copied."""
    return join(
        tag("p", "Predictions of a file with the same columns:", class_="prose"),
        tag("pre", tag("code", found["predict"])),
        tag("p", "A local service that answers over HTTP, with a form to try it:", class_="prose"),
        tag("pre", tag("code", found["serve"])),
        tag("p", "In Python:", class_="prose"),
        tag("pre", tag("code", found["python"])),
    )
