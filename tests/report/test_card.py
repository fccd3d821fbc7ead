"""The model card, and the ways to ask the model of a run."""

from __future__ import annotations

import contextlib
import io
import shlex

import polars as pl
import pytest

import mercer
from mercer._report import card_of, check, read_json, render_html, serving_of, write_json
from tests.report.samples import content, fitted

_NEW = ("profile", "drift", "segments", "card", "serving")


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_reports_from_before_these_parts_are_read_and_shown(task, tmp_path):
    old = content(task)
    for key in _NEW:
        del old[key]
    for key in ("baseline", "cautions"):
        del old["test"][key]
    write_json(old, tmp_path / "report.json")
    text = render_html(read_json(tmp_path / "report.json"))
    assert "Test result" in text
    assert "Model card" not in text
    empty = old | dict.fromkeys(_NEW)
    assert render_html(check(empty)) == text


def test_the_card_says_what_the_report_warns_of():
    found = content("binary")
    found["alerts"].append({"level": "warning", "column": "age", "message": "half of it is missing", "flag": None})
    found["test"]["baseline"]["is_real"] = False
    found["test"]["cautions"] = ["ROC AUC 0.4 is below one half."]
    found["leaderboard"][0]["fold_scores"] = [0.9]
    found["leaderboard"][0]["n_rows"] = 100
    found["learning"]["verdict"] = "overfitting"
    part = {
        "column": "mean radius",
        "value": "missing",
        "n": 30,
        "error": 0.5,
        "low": 0.3,
        "high": 0.7,
        "others": 0.1,
        "p": 0.01,
    }
    found["segments"]["worse"] = [part]
    limits = " ".join(card_of(found, None)["limits"])
    for words in (
        "age: half of it is missing.",
        "do not show that it is better than always predicting the shares of the classes",
        "below one half",
        "scored on 1 of 3 folds",
        "fitted to a sample of 100 rows",
        "It overfits",
        "Errors are larger than elsewhere for mean radius (missing).",
    ):
        assert words in limits, words
    assert "half of it is missing" not in " ".join(card_of(content("binary"), None)["limits"])


def test_the_licence_is_that_of_the_table_where_it_is_known():
    origin = {"description": "birds", "licence": "CC0 1.0", "source": "a journal"}
    assert card_of(content("multiclass"), origin)["licence"] == "CC0 1.0"
    found = content("multiclass")
    assert card_of(found, None)["licence"] is None
    found["card"]["licence"] = None
    assert "not known to Mercer" in render_html(found)


def test_the_code_that_is_shown_runs_as_it_stands(tmp_path, monkeypatch):
    model, _, _, X_test, _, _ = fitted("binary")
    folder = tmp_path / "it's a run"
    folder.mkdir()
    mercer.save(model, folder / "model.mercer")
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(X_test).write_csv("new.csv")
    found = serving_of(folder.name, has_probabilities=True)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(found["python"], "snippet", "exec"), {})
    assert str(model.predict(X_test)[0]) in told.getvalue()
    assert shlex.split(found["predict"]) == ["mercer", "predict", folder.name, "new.csv", "--out", "predictions.csv"]
    assert shlex.split(found["serve"]) == ["mercer", "serve", folder.name]
    assert "predict_proba" not in serving_of("run", has_probabilities=False)["python"]


def test_the_leaderboard_says_what_sets_a_score_apart():
    found = content("binary")
    found["leaderboard"][1] |= {"fold_scores": [0.8], "reason": None}
    found["leaderboard"][2] |= {"reason": "tuning failed: time: over after 1.23456789 s", "n_rows": 50}
    assert "of 3 folds" not in render_html(content("binary"))
    text = render_html(found)
    assert "scored on 1 of 3 folds" in text
    assert "fitted to a sample of 50 rows; tuning failed: time: over after 1.235 s" in text


def test_the_first_sentence_does_not_praise_what_is_no_better_than_the_baseline():
    found = content("binary")
    assert "Without looking at any column it would be 0.500." in render_html(found)
    found["test"]["baseline"] |= {"is_real": False}
    assert "the model may be no better than that" in render_html(found)
    found["test"]["baseline"] |= {"is_real": True, "gain": -0.1}
    assert "the model is worse" in render_html(found)


def test_very_many_classes_and_columns_are_folded():
    found = content("multiclass")
    row = found["test"]["per_class"][0]
    found["test"]["per_class"] = [row | {"label": f"class {i}", "f1": i / 100} for i in range(100)]
    found["columns"] = [found["columns"][0] | {"name": f"column {i}"} for i in range(5000)]
    text = render_html(found)
    assert "The 20 of 100 classes with the lowest F1:" in text
    assert "80 more classes" in text
    assert "450 more columns" in text
    assert "4,500 further columns are in report.json alone: 4,500 of the kind number: scaled." in text
    assert len(text) < 2_000_000
