"""The form: a field for each column, filled with typical values, and what is predicted for those that were sent.

It needs no script: the page comes back with the answer, or with what is wrong beside the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mercer._report.explained.content import RowContent
from mercer._report.numbers import number
from mercer._report.page import explained
from mercer._report.page.html import Html, breakable, name, tag, void
from mercer._report.page.tables import Cell, Head, table
from mercer._runs.prediction import CLUSTER, PREDICTION
from mercer._serving.cells import ServedColumn
from mercer._serving.page import whole_page
from mercer._serving.problems import Problem, Refused
from mercer._serving.rows import Rows, RowSchema
from mercer._serving.served import Served

_MOST_CLASSES = 12


@dataclass
class Typed:
    """What stands in the form, and what became of it."""

    texts: dict[str, str]
    values: dict[str, Any] = field(default_factory=dict)
    rows: Rows | None = None
    problems: list[Problem] = field(default_factory=list)
    prediction: dict[str, Any] | None = None
    explanation: RowContent | None = None
    unexplained: str = ""

    @classmethod
    def typical(cls, schema: RowSchema) -> Typed:
        """The form before anything was typed."""
        return cls({column.name: _text_of(column.typical) for column in schema.columns})

    @classmethod
    def of_fields(cls, schema: RowSchema, fields: Mapping[str, str]) -> Typed:
        """The form as it was sent, by the numbers of columns: any text may be the name of one."""
        texts = {column.name: fields.get(_key(place), "") for place, column in enumerate(schema.columns)}
        values = {column.name: column.of_text(texts[column.name]) for column in schema.columns}
        typed = cls(texts, values)
        try:
            typed.rows = schema.read([values])
        except Refused as refusal:
            typed.problems = refusal.problems
        return typed


class FormPage:
    """Renders the form of a model."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def render(self, typed: Typed) -> str:
        """The page as text."""
        served = self._served
        what = "Clusters" if served.target is None else f"Prediction of {served.target}"
        title = f"{what} · Mercer"
        if typed.problems:
            title = f"Error: {title}"
        about = served.about()
        made = f"Mercer {about['mercer']}, {served.model_name}, run {about['run']}"
        links = [("/docs", "Interface for programs"), ("/schema", "Columns"), ("/metrics", "Metrics"), ("/health", "Health")]
        return whole_page(
            title,
            tag("p", made, class_="overline"),
            tag("h1", name(what)),
            tag("nav", [tag("a", words, href=path) for path, words in links], class_="links", aria_label="Pages"),
            self._errors(typed),
            self._answer(typed),
            self._form(typed),
            self._explained(typed),
        )

    # ---- what was found

    def _errors(self, typed: Typed) -> Html | None:
        if not typed.problems:
            return None
        places = {column.name: place for place, column in enumerate(self._served.schema.columns)}
        items = [
            tag("li", tag("a", name(problem.column), f": {problem.words}", href=f"#{_key(places[problem.column])}"))
            for problem in typed.problems
            if problem.column in places
        ]
        heading = tag("h2", "This cannot be predicted yet", id="errors-heading")
        return tag("section", heading, tag("ul", items), class_="errors", role="alert", aria_labelledby="errors-heading")

    def _answer(self, typed: Typed) -> Html | None:
        said = typed.prediction
        if said is None:
            return None
        warnings = [] if typed.rows is None else typed.rows.warnings
        value = said.get(PREDICTION, said.get(CLUSTER))
        shown = number(value) if isinstance(value, float) else str(value)
        label = "Cluster" if self._served.target is None else self._served.target
        box = tag(
            "div",
            tag("p", name(label), class_="overline"),
            tag("p", name(shown), class_="value", id="prediction"),
            self._how_sure(said),
            [tag("p", words, class_="small") for words in warnings],
            class_="answer",
            role="status",
        )
        parts = [tag("h2", "Answer", id="answer-heading"), box, _probabilities(said)]
        return tag("section", parts, id="answer", aria_labelledby="answer-heading")

    def _how_sure(self, said: Mapping[str, Any]) -> Html | None:
        coverage = "" if self._served.calibration is None else f"{100 * self._served.calibration.coverage:g}\N{NO-BREAK SPACE}%"
        if "interval" in said:
            low, high = (number(said["interval"][end]) for end in ("lower", "upper"))
            return tag(
                "p",
                f"Between {low} and {high}: such intervals are made to hold the truth for {coverage} of rows.",
                id="interval",
            )
        if "labels" in said:
            labels = ", ".join(map(str, said["labels"]))
            return tag("p", f"One of: {labels}. Such sets are made to hold the truth for {coverage} of rows.", id="interval")
        return None

    def _explained(self, typed: Typed) -> list[Html]:
        """Why the row is predicted so; or why nothing is said of it."""
        if typed.explanation is None:
            words = typed.unexplained and f"There is no explanation: {typed.unexplained}"
            return [tag("p", words, class_="muted small", id="unexplained")] if words else []
        return [
            tag("section", tag("h2", title, id=f"{key}-heading"), body, id=key, aria_labelledby=f"{key}-heading")
            for key, title, body in explained.sections(typed.explanation)
            if key in ("contributions", "changes")
        ]

    # ---- the fields

    def _form(self, typed: Typed) -> Html:
        wrong = {problem.column: problem for problem in typed.problems}
        fields = [
            _field(place, column, typed.texts[column.name], wrong.get(column.name))
            for place, column in enumerate(self._served.schema.columns)
        ]
        words = "A field that is left empty is a missing value."
        if not typed.values:
            words = f"Filled in are typical values of the training rows. {words}"
        buttons = tag("div", tag("button", "Predict", type="submit"), tag("a", "Typical values again", href="/"), class_="send")
        form = tag("form", tag("fieldset", tag("legend", "Columns", class_="hidden"), fields, class_="fields"), buttons,
                   method="post", action="/#answer", novalidate=True, accept_charset="utf-8")  # fmt: skip
        return tag(
            "section",
            tag("h2", "Values", id="values-heading"),
            tag("p", words, class_="prose"),
            form,
            aria_labelledby="values-heading",
        )


def _field(place: int, column: ServedColumn, text: str, problem: Problem | None) -> Html:
    key = _key(place)
    hint = _hint(column)
    described = " ".join([*([f"{key}-hint"] if hint else []), *([f"{key}-wrong"] if problem else [])])
    common: dict[str, Any] = {
        "id": key,
        "name": key,
        "aria_describedby": described or None,
        "aria_invalid": "true" if problem else None,
    }
    is_long = column.kind == "text"
    return tag(
        "div",
        tag("label", breakable(column.name), for_=key),
        tag("span", hint, class_="hint", id=f"{key}-hint") if hint else None,
        tag("span", problem.words, class_="wrong", id=f"{key}-wrong") if problem else None,
        _input(column, text, is_long, common),
        class_="field long" if is_long else "field",
    )


def _input(column: ServedColumn, text: str, is_long: bool, common: dict[str, Any]) -> Html:
    choices = ["true", "false"] if column.holds == "boolean" else [_text_of(choice) for choice in column.choices]
    if choices:
        if text and text not in choices:
            choices.append(text)
        options = [tag("option", choice, value=choice, selected=choice == text) for choice in choices]
        return tag("select", tag("option", "(missing)", value="", selected=not text), options, **common)
    if is_long:
        return tag("textarea", text, rows=2, **common)
    mode = "decimal" if column.holds == "number" else None
    return void("input", type="text", value=text, inputmode=mode, autocomplete="off", **common)


def _hint(column: ServedColumn) -> str:
    if column.low is not None and column.holds == "number":
        return f"a number, {_text_of(column.low)} to {_text_of(column.high)} in training"
    if column.low is not None:
        return f"a date, {column.low} to {column.high} in training"
    if column.holds == "time":
        return "a time of day, such as 12:30"
    return "another word than these counts with the rare ones" if column.choices and column.n_joined else ""


def _probabilities(said: Mapping[str, Any]) -> Html | None:
    """The likeliest classes, with bars."""
    shares = sorted(said.get("probabilities", {}).items(), key=lambda item: -(item[1] or 0.0))[:_MOST_CLASSES]
    if not shares:
        return None
    heads = [Head("Class"), Head("", class_="bars"), Head("Probability", is_number=True)]
    lines = [
        [Cell(name(label)), Cell(explained.signed_bar(share or 0.0, 0.0, 1.0)), Cell(number(share, 3))]
        for label, share in shares
    ]
    return table(heads, lines, caption="Probabilities of the classes")


def _key(place: int) -> str:
    return f"c{place}"


def _text_of(value: Any) -> str:
    """A value as it is typed."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
