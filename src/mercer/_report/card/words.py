"""The model card from what the report says, and the ways to ask a model from where it lies."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mercer._report.card.content import Card, Serving
from mercer._report.measures import LEVEL, metric_of
from mercer._report.numbers import count, decimals_for, interval, level, number, plural

_MOST_WORSE = 3


def card_of(content: Mapping[str, Any], origin: Mapping[str, str] | None) -> Card:
    """The card of a finished report; `origin` is the description, licence and source of a table that comes with Mercer."""
    data, best = content["data"], content["best"]
    what = {
        "binary": f"tells the two classes of {data['target']} apart",
        "multiclass": f"tells the {len(data['classes'] or [])} classes of {data['target']} apart",
        "regression": f"predicts the number {data['target']}",
    }[data["task"]]
    origin = origin or {}
    rows = f"{plural(data['n_rows'], 'row')} and {plural(data['n_columns'], 'column')}"
    learnt = f"{count(data['n_train'])} rows to learn from and {count(data['n_test'])} for the test"
    return Card(
        model=f"{best['model']}, made by Mercer {content['mercer']} on {content['created'][:10]}",
        purpose=f"It {what}, for rows that come from where the training rows came from and have the same columns.",
        data=f"{data['source']}: {rows}, {learnt}",
        description=origin.get("description"),
        licence=origin.get("licence"),
        source=origin.get("source"),
        tested=_tested(content["test"]),
        limits=[*_of_test(content), *_of_fit(content), *_of_rows(content), *_always(content)],
    )


def _tested(test: Mapping[str, Any]) -> str:
    metric = metric_of(test["measures"])
    if metric["value"] is None:
        return f"on {plural(test['n'], 'row')} that no model had seen; {metric['label']} is not defined on them"
    decimals = decimals_for([metric["value"]])
    ends = ""
    if metric["low"] is not None:
        ends = f" ({level(LEVEL)} {interval(metric['low'], metric['high'], decimals)})"
    return f"{metric['label']} {number(metric['value'], decimals)}{ends} on {plural(test['n'], 'row')} that no model had seen"


def _of_test(content: Mapping[str, Any]) -> list[str]:
    baseline = content["test"].get("baseline")
    said = []
    if baseline is not None and not baseline["is_real"]:
        said.append("The test rows do not show that it is better than always predicting " + baseline["name"] + ".")
    elif baseline is not None and baseline["gain"] < 0:
        said.append("On the test rows it is worse than always predicting " + baseline["name"] + ".")
    return [*said, *content["test"].get("cautions", [])]


def _of_fit(content: Mapping[str, Any]) -> list[str]:
    said = []
    row = next((row for row in content["leaderboard"] if row["is_best"]), None)
    if row is not None:
        if words := fold_words(row, content["leaderboard"]):
            said.append(f"In the comparison it was {words}.")
        if words := sample_words(row, content["data"]["n_train"]):
            said.append(f"It was compared as {words}.")
    learning = content["learning"]
    if learning and learning["verdict"] in ("overfitting", "underfitting"):
        said.append(
            {"overfitting": "It overfits", "underfitting": "It underfits"}[learning["verdict"]] + ": see its learning curve."
        )
    said += [f"{_named(row)}{row['message']}." for row in content["alerts"] if row["level"] in ("error", "warning")]
    return said


def _named(alert: Mapping[str, Any]) -> str:
    return "" if alert["column"] is None else f"{alert['column']}: "


def _of_rows(content: Mapping[str, Any]) -> list[str]:
    said = []
    segments, drift = content.get("segments"), content.get("drift")
    if segments and segments["worse"]:
        parts = "; ".join(f"{row['column']} ({row['value']})" for row in segments["worse"][:_MOST_WORSE])
        said.append(f"Errors are larger than elsewhere for {parts}.")
    if segments and segments["off"]:
        parts = "; ".join(f"{row['column']} ({row['value']})" for row in segments["off"][:_MOST_WORSE])
        said.append(f"Predictions are off on average, otherwise than elsewhere, for {parts}.")
    if drift and drift["n_different"]:
        names = ", ".join(row["column"] for row in drift["columns"][: min(_MOST_WORSE, drift["n_different"])])
        said.append(f"Training and test rows differ, in {names} most.")
    return said


def _always(content: Mapping[str, Any]) -> list[str]:
    n_train = content["data"]["n_train"]
    return [
        f"Beyond what the {plural(n_train, 'training row')} cover (other places, later times, other ranges) nothing "
        "was tested.",
        "What the model goes by is what goes with the target in these rows, which need not be what causes it.",
    ]


def fold_words(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """That a model was scored on fewer folds than others were."""
    most = max((len(each["fold_scores"] or []) for each in rows), default=0)
    n = len(row["fold_scores"] or [])
    return f"scored on {n} of {plural(most, 'fold')}" if 0 < n < most else None


def sample_words(row: Mapping[str, Any], n_train: int) -> str | None:
    """That a model was fitted to a sample."""
    n_rows = row.get("n_rows")
    return f"fitted to a sample of {count(n_rows)} rows" if n_rows is not None and n_rows < n_train else None


def serving_of(run: str | os.PathLike[str], *, has_probabilities: bool) -> Serving:
    """How the model in the folder of a run is asked, from the shell and from Python."""
    folder = os.fspath(run)
    quoted, path = shlex.quote(folder), os.path.join(folder, "model.mercer")
    lines = [
        "import mercer",
        "import polars as pl",
        "",
        f"model = mercer.load({path!r})",
        'rows = pl.read_csv("new.csv", try_parse_dates=True)',
        "print(model.predict(rows))",
    ]
    if has_probabilities:
        lines.append("print(model.predict_proba(rows))  # columns in the order of model.classes_")
    return Serving(
        predict=f"mercer predict {quoted} new.csv --out predictions.csv",
        serve=f"mercer serve {quoted}",
        python="\n".join(lines),
    )
