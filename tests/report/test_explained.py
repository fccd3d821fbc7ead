"""What a report says of how a model goes by its columns, and the page of an explained row."""

from __future__ import annotations

import copy
import importlib

import numpy as np
import polars as pl
import pytest

from mercer._report import ReportError, check, render_html
from mercer._report.explained.columns import has_few_words
from mercer._report.explained.content import RowContent
from mercer._report.explained.model import Rows, explain_model
from mercer._report.explained.words import signed
from mercer._report.page import render_row_html
from mercer._report.schema import SchemaError, check_value
from mercer._tables import as_table
from mercer.preprocessing import prepare_pipeline
from mercer.tree import DecisionTreeRegressor
from tests.report.samples import content, description, fitted, row_content

TASKS = ["binary", "multiclass", "regression"]


@pytest.mark.parametrize("task", TASKS)
def test_the_leading_columns_are_those_that_gave_most(task):
    found = content(task)["explained"]
    assert len(found["swarms"]) == (3 if task == "multiclass" else 1)
    for swarm in found["swarms"]:
        means = [column["mean"] for column in swarm["columns"]]
        assert means == sorted(means, reverse=True)
        for column in swarm["columns"]:
            assert np.mean(np.abs(column["values"])) == pytest.approx(column["mean"], rel=1e-4)
            assert len(column["values"]) == found["n_rows"]
            assert all(0 <= rank <= 1 for rank in column["ranks"])


def test_what_columns_give_to_a_linear_model_lies_on_lines():
    for each in content("regression")["explained"]["dependence"]:
        slope, shift = np.polyfit(each["x"], each["y"], 1)
        np.testing.assert_allclose(each["y"], slope * np.asarray(each["x"]) + shift, atol=1e-3 * np.ptp(each["y"]))


def test_an_additive_model_has_no_interactions():
    assert content("regression")["explained"]["interactions"]["pairs"] == []
    assert "None of the leading columns act together" in render_html(content("regression"))
    strengths = [pair["strength"] for pair in content("binary")["explained"]["interactions"]["pairs"]]
    assert 0.05 < max(strengths) <= 1.5


@pytest.mark.parametrize("task", TASKS)
def test_the_worst_errors_are_explained(task):
    found = content(task)
    for error, explained in zip(found["errors"], found["explained"]["errors"], strict=False):
        assert [explained[key] for key in ("row", "true", "predicted")] == [error[key] for key in ("row", "true", "predicted")]
        if task == "regression":
            assert explained["output"] == pytest.approx(float(error["predicted"]), rel=1e-3)
        if len(explained["contributions"]) < 8:
            total = explained["base"] + sum(share["contribution"] for share in explained["contributions"])
            assert total == pytest.approx(explained["output"], abs=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_the_surrogate_says_how_well_it_stands_in(task):
    found = content(task)["explained"]["surrogate"]
    assert found["fidelity"] <= 1
    lines = found["lines"]
    assert lines[0]["depth"] == 0
    assert lines[0]["n"] == found["n_train"] == sum(line["n"] for line in lines if line["is_leaf"])
    _, X_train, *_ = fitted(task)
    assert all(any(line["rule"].startswith(name) for name in X_train.columns) for line in lines[1:])
    assert render_html(content(task)).count("A small tree in the place of the model") == 1


def test_where_the_time_is_for_few_rows_it_says_so():
    _, X_train, y_train, X_test, *_ = fitted("regression")
    model = prepare_pipeline(DecisionTreeRegressor(random_state=0), X_train).fit(X_train, y_train)
    tables = as_table(X_train, "X_train"), as_table(X_test, "X_test")
    rows = Rows.of(model, None, *tables, np.arange(X_test.height))
    found, notes = explain_model(rows, y_train, [], 0, 1e-9)  # the first rows are explained in any case, from the tree
    assert found["n_rows"] == 8
    assert notes[0] == f"Explanations: the time allowed 8 of {X_test.height} test rows."
    more, _ = explain_model(rows, y_train, [], 0, 60.0)
    assert more["n_rows"] == X_test.height
    assert "8 of 133 test rows" in render_html(content("regression") | {"explained": found})


def test_where_the_time_is_for_no_row_it_says_so():
    found = description("binary", seconds=1e-6)
    assert found["explained"] is None
    assert any(note.startswith("Explanations: predictions take") for note in found["notes"])


def test_a_model_that_fails_at_rows_put_together_leaves_the_rest_of_the_report(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("no")

    monkeypatch.setattr(importlib.import_module("mercer._report.describe"), "explain_model", fail)
    found = description("regression")
    assert found["explained"] is None
    assert "Explanations: there are none (ZeroDivisionError: no)." in found["notes"]
    assert found["importance"]


def test_reports_without_explanations_are_shown_as_before():
    found = content("binary")
    del found["explained"]
    assert 'id="explained"' not in render_html(found)


def test_lists_of_other_lengths_are_refused():
    found = content("binary")
    wrong = copy.deepcopy(found)
    wrong["explained"]["swarms"][0]["columns"][0]["ranks"].pop()
    with pytest.raises(ReportError, match=r"explained\.swarms\[0\]\.columns\[0\]"):
        check(wrong)
    wrong = copy.deepcopy(found)
    wrong["explained"]["dependence"][0]["words"] = []
    with pytest.raises(ReportError, match=r"explained\.dependence\[0\] must have x or words"):
        check(wrong)


def test_an_explained_row_is_what_is_declared():
    check_value(row_content(), RowContent, "")
    text = render_row_html(row_content())
    assert text == render_row_html(row_content())
    for words in (
        "Row 3 of new.csv",
        "RandomForestClassifier predicts species to be Adelie",
        "training row",
        "0.440 + 0.240 = 0.680",
    ):
        assert words in text
    with pytest.raises(SchemaError, match="row"):
        render_row_html(row_content() | {"row": "three"})


def test_where_nothing_changes_the_prediction_the_page_says_so():
    text = render_row_html(row_content() | {"changes": [], "neighbour": None})
    assert "No column gives another prediction than Adelie by itself" in text
    assert "None of 275 training rows has another prediction than Adelie" in text


def test_free_text_is_not_drawn_word_by_word():
    rows = [f"word {i}" for i in range(60)]
    table = as_table(
        pl.DataFrame({"text": rows, "word": [row[:6] + str(i % 3) for i, row in enumerate(rows)], "n": range(60)}), "X"
    )
    assert [has_few_words(table, j) for j in range(3)] == [False, True, True]


def test_signs_are_shown_but_of_nothing():
    assert [signed(value, 2) for value in (0.123, -0.123, 0.0, 0.0001)] == ["+0.12", "\N{MINUS SIGN}0.12", "0.00", "0.00"]
