"""Contents of reports over real data sets, as `mercer train` makes them, for the tests of the page."""

from __future__ import annotations

import functools
import json

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from mercer._report import card_of, describe, serving_of
from mercer.ensemble import RandomForestClassifier
from mercer.linear_model import LogisticRegression, Ridge
from mercer.preprocessing import StandardScaler

HOSTILE = [
    "</script><script>document.title='broken'</script>",
    '"><img src=x onerror="document.title=\'broken\'">',
    "'; alert(1); //",
    "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd",
    "a\u2028b\u0000c\ud800d",
    "]]>&amp;<!--",
    "{{x}} ${y} `z`",
    "",
    "w" * 300,
]

SCORING = {"binary": "roc_auc", "multiclass": "accuracy", "regression": "neg_root_mean_squared_error"}


@functools.cache
def fitted(task):
    """A fitted model and its data: (model, X_train, y_train, X_test, y_test, classes)."""
    data = {"binary": load_breast_cancer, "multiclass": load_wine, "regression": load_diabetes}[task]()
    y = data.target if task == "regression" else np.asarray(data.target_names)[data.target].astype(str)
    classes = None if task == "regression" else sorted(set(y.tolist()))
    width = {"binary": 8, "multiclass": 4, "regression": 10}[task]
    X = pl.DataFrame(data.data[:, :width], schema=[str(name) for name in data.feature_names[:width]])
    strata = None if classes is None else y
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=strata)
    model = {
        "binary": make_pipeline(StandardScaler(), LogisticRegression()),
        "multiclass": RandomForestClassifier(n_estimators=10, random_state=0),
        "regression": make_pipeline(StandardScaler(), Ridge()),
    }[task]
    return model.fit(X_train, y_train), X_train, y_train, X_test, y_test, classes


def description(sample, **changes):
    """What `describe` says of the fitted model of a task."""
    model, X_train, y_train, X_test, y_test, classes = fitted(sample)
    arguments = {"task": sample, "classes": classes, "scoring": SCORING[sample], "random_state": 0} | changes
    return describe(model, X_train, y_train, X_test, y_test, **arguments)


@functools.cache
def _content_text(task):
    return json.dumps(_content(task), allow_nan=False)


def content(task):
    """A whole content, a fresh copy each time."""
    return json.loads(_content_text(task))


def _content(task):
    found = _without_card(task)
    found["card"] = card_of(found, {"description": "a table", "licence": "CC0", "source": "a book"})
    found["serving"] = serving_of("runs/first one", has_probabilities=task != "regression")
    return found


def _without_card(task):
    _, X_train, y_train, _, y_test, classes = fitted(task)
    y = np.concatenate([y_train, y_test])
    is_loss = SCORING[task].startswith("neg_")
    return {
        "format": 1,
        "title": f"{task}.csv",
        "created": "2026-01-02 03:04 UTC",
        "command": f"mercer train {task}.csv --target y",
        "mercer": "0.1.0",
        "data": {
            "source": f"{task}.csv",
            "n_rows": len(y),
            "n_columns": X_train.width + 1,
            "target": "y",
            "task": task,
            "task_reason": "the target holds what it holds",
            "classes": classes,
            "class_counts": None if classes is None else [int(np.sum(y == label)) for label in classes],
            "metric": {"name": SCORING[task], "label": "Score", "greater_is_better": not is_loss, "reason": None},
            "n_train": len(y_train),
            "n_test": len(y_test),
        },
        "alerts": [
            {"level": "info", "column": None, "message": "three rows occur twice", "flag": None},
            {"level": "error", "column": "id", "message": "was left out as an identifier", "flag": "--keep id"},
        ],
        "columns": [_column(name) for name in X_train.columns] + [_column("id", used=False, made=[], flag="--keep id")],
        "leaderboard": [
            _candidate("LogisticRegression", 0.9, 0.01, fit_seconds=0.5, is_best=True, params={"C": 0.5, "penalty": "l2"}),
            _candidate("RandomForestClassifier", 0.8, 0.02, fit_seconds=2.0),
            _candidate("KNeighborsClassifier", 0.85, 0.03, fit_seconds=0.01),
            _candidate("Dummy", 0.5, 0.0, status="baseline", fit_seconds=0.001),
            _candidate("SVC", None, None, status="skipped", reason="the time was over"),
            _candidate("GaussianNB", None, None, status="failed", reason="ValueError: no"),
        ],
        "best": {"model": "LogisticRegression", "params": {"C": 0.5}, "how": "a path of 20 values", "certificate": "gap 1e-9"},
        **description(task, cv_score=0.9, cv_spread=0.01),
        "warnings": [],
        "seconds": {"search": 12.5, "report": 1.0},
    }


def _column(name, **changes):
    column = {"name": name, "kind": "number", "used": True, "reason": "numbers", "treatment": "scaled", "flag": None}
    return column | {"missing": 0.0, "distinct": 10, "made": [name]} | changes


def _candidate(model, score, spread, **changes):
    folds = None if score is None else [score - spread, score, score + spread]
    speed = None if score is None else 3.5
    candidate = {"model": model, "status": "ok", "score": score, "spread": spread, "fold_scores": folds, "fit_seconds": None}
    candidate |= {"predict_us_per_row": speed, "size_bytes": None if score is None else 12345, "n_trials": 20}
    return candidate | {"params": None, "reason": None, "is_best": False} | changes


def hostile_content():
    """A content in which every text that comes from data is hostile."""
    found = content("binary")
    names = iter(HOSTILE * 40)
    found["title"] = found["data"]["source"] = found["data"]["target"] = HOSTILE[0]
    found["data"]["classes"] = HOSTILE[:2]
    found["data"]["task_reason"] = found["data"]["metric"]["reason"] = found["command"] = HOSTILE[1]
    found["scores"]["negative"], found["scores"]["positive"] = found["confusion"]["labels"] = HOSTILE[:2]
    for alert in found["alerts"]:
        alert["column"], alert["message"], alert["flag"] = next(names), next(names), next(names)
    for column in found["columns"]:
        column |= {key: next(names) for key in ("name", "kind", "reason", "treatment", "flag")}
        column["made"] = HOSTILE
    for candidate in found["leaderboard"]:
        candidate["model"], candidate["reason"] = next(names), next(names)
        candidate["params"] = {next(names): next(names)}
    found["best"] |= {"model": HOSTILE[0], "params": {HOSTILE[1]: HOSTILE[0]}, "how": HOSTILE[2], "certificate": HOSTILE[5]}
    for row in found["importance"]:
        row["column"] = next(names)
    for row in found["errors"]:
        row["true"], row["predicted"] = HOSTILE[:2]
        row["values"] = {name: text for name, text in zip(HOSTILE, reversed(HOSTILE), strict=True)}
    for kind in ("roc", "pr", "calibration"):
        for curve in found["curves"][kind]:
            curve["label"] = HOSTILE[0]
    for swarm in found["explained"]["swarms"]:
        swarm["label"] = HOSTILE[0]
        for column in swarm["columns"]:
            column["column"] = next(names)
    for each in found["explained"]["dependence"]:
        each["column"], each["label"] = next(names), next(names)
    found["explained"]["dependence"].append(
        {"column": HOSTILE[1], "label": HOSTILE[0], "x": None, "words": HOSTILE, "is_date": False, "y": [0.5] * len(HOSTILE)}
    )
    for pair in found["explained"]["interactions"]["pairs"]:
        pair["first"], pair["second"] = next(names), next(names)
    for error in found["explained"]["errors"]:
        error["true"], error["predicted"], error["label"] = HOSTILE[:3]
        for share in error["contributions"]:
            share["column"], share["value"] = next(names), next(names)
    for line in found["explained"]["surrogate"]["lines"]:
        line["rule"], line["says"] = next(names), next(names)
    found["explained"]["method"] = HOSTILE[1]
    _make_hostile(found, names)
    found["test"]["reading"] = found["learning"]["reading"] = HOSTILE[0]
    found["learning"]["label"] = HOSTILE[1]
    found["warnings"], found["notes"] = HOSTILE, HOSTILE
    found["seconds"] = {HOSTILE[0]: 1.0}
    return found


def _make_hostile(found, names):
    """The parts about the table and for those who use the model."""
    profile, drift, segments = found["profile"], found["drift"], found["segments"]
    words = {"kind": "words", "edges": None, "values": HOSTILE, "train": [0.1] * 9, "test": [0.1] * 9, "n_others": 0}
    profile["target"] |= words
    profile["columns"] = [column | words | {"column": next(names)} for column in profile["columns"]]
    profile["missing"] = [{"column": next(names), "train": 0.5, "test": 0.4, "target": 0.3}]
    profile["patterns"] = [{"columns": HOSTILE, "n_others": 2, "n": 7}]
    profile["outliers"] = [{"column": next(names), "n": 2, "share": 0.01, "low": 0.0, "high": 1.0, "farthest": 9.0}]
    profile["associations"]["names"] = [next(names) for _ in profile["associations"]["names"]]
    profile["associations"]["pairs"] = [
        {"first": HOSTILE[0], "second": HOSTILE[8], "value": 0.5, "measure": "rank correlation"},
    ]
    drift["reading"] = segments["reading"] = segments["off_reading"] = HOSTILE[0]
    for line in drift["columns"]:
        line["column"], line["words"] = next(names), next(names)
    part = {"n": 20, "p": 0.01, "low": 0.1, "high": 0.4, "others": 0.1, "error": 0.3}
    segments["worse"] = [part | {"column": next(names), "value": next(names)} for _ in HOSTILE]
    off = {"n": 20, "p": 0.01, "predicted": 0.1, "observed": 0.4}
    segments["off"] = [off | {"column": next(names), "value": next(names)} for _ in HOSTILE]
    segments["label"] = HOSTILE[1]
    found["test"]["cautions"], found["test"]["baseline"]["reading"] = HOSTILE, HOSTILE[0]
    found["card"] = {key: HOSTILE for key in ("limits",)} | dict.fromkeys(
        ("model", "purpose", "data", "description", "licence", "source", "tested"), HOSTILE[0]
    )
    found["serving"] = dict.fromkeys(("predict", "serve", "python"), HOSTILE[0])


def row_content(*, is_number=False, text=str):
    """An explained row, every text that comes from data passed through `text`."""
    columns = [
        text(name)
        for name in ("bill_length_mm", "island", "flipper_length_mm", "a_very_long_name_of_a_column_that_goes_on_and_on")
    ]
    values = [text(value) for value in ("39.1", "Torgersen", "", "some words that were written into a cell of the table")]
    gave = [0.31, -0.12, 0.05, 0.0]
    change = {"column": columns[0], "before": values[0], "after": text("47.5"), "predicted": text("Chinstrap"), "output": 0.61}
    return {
        "format": 1,
        "kind": "row",
        "title": text("Row 3 of new.csv"),
        "created": "2026-01-02T03:04:05+00:00",
        "command": text("mercer explain run new.csv --row 3"),
        "mercer": "0.1.0",
        "run": text("run"),
        "source": text("new.csv"),
        "row": 3,
        "target": text("species"),
        "model": "RandomForestClassifier",
        "predicted": text("Adelie"),
        "label": None if is_number else text("Adelie"),
        "unit": "number" if is_number else "probability",
        "output": 0.68,
        "base": 0.44,
        "classes": None
        if is_number
        else [
            {"label": text(name), "output": share} for name, share in (("Adelie", 0.68), ("Gentoo", 0.2), ("Chinstrap", 0.12))
        ],
        "contributions": [
            {"column": column, "value": value, "contribution": given, "error": 0.01}
            for column, value, given in zip(columns, values, gave, strict=True)
        ],
        "method": "permutation, 20 orders there and back",
        "fidelity": None,
        "additivity_error": 1e-16,
        "n_background": 100,
        "goal": text("another prediction than Adelie"),
        "changes": [change | {"distance": 1.4}],
        "neighbour": {
            "row": 277,
            "predicted": text("Chinstrap"),
            "output": 0.55,
            "distance": 3.2,
            "n_reached": 40,
            "changes": [{key: change[key] for key in ("column", "before", "after")}],
        },
        "n_sampled": 275,
        "n_train": 275,
        "notes": [],
    }
