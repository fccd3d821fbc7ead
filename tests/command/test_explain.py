"""`mercer explain`, driven as a user would."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.datasets import dataset_path
from tests.command.driver import run, run_json


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """A run of classes on the embedded table, and some of its rows, with blank lines, as new ones."""
    folder = tmp_path_factory.mktemp("classes")
    run_json("train", "--models", "logistic,decisiontree", "--time", "1s", "--out", "run", cwd=folder)
    lines = dataset_path("penguins").read_text().splitlines()
    (folder / "new.csv").write_text("\n".join([*lines[:3], "", *lines[3:12], lines[200]]) + "\n")
    return folder


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A run of numbers on a table with words, missing values, dates and free text."""
    folder = tmp_path_factory.mktemp("numbers")
    run_json("train", "cars", "--models", "Ridge,decisiontree", "--time", "1s", "--out", "run", cwd=folder)
    shutil.copy(dataset_path("cars"), folder / "cars.csv")
    return folder


def test_what_the_columns_gave_adds_up_to_what_predict_says(classes):
    said = run_json("explain", "run", "new.csv", "--row", "2", cwd=classes)
    predicted = run("predict", "run", "new.csv", cwd=classes).stdout.splitlines()
    line = dict(zip(predicted[0].split(","), predicted[2].split(","), strict=True))
    assert said["predicted"] == line["prediction"] == said["label"]
    assert said["output"] == pytest.approx(float(line[f"probability_{said['label']}"]), rel=1e-9)
    total = said["base"] + sum(share["contribution"] for share in said["contributions"])
    assert total == pytest.approx(said["output"], abs=1e-9)
    sizes = [abs(share["contribution"]) for share in said["contributions"]]
    assert sizes == sorted(sizes, reverse=True)


def test_values_are_shown_as_in_the_file_and_rows_are_counted_as_in_the_file(classes):
    said = run_json("explain", "run", "new.csv", "--row", "4", cwd=classes)  # the third is blank
    values = {share["column"]: share["value"] for share in said["contributions"]}
    assert values["bill_length_mm"] == "40.3"
    assert values["bill_depth_mm"] == "18"
    missing = run_json("explain", "run", "new.csv", "--row", "5", cwd=classes)
    assert {share["column"]: share["value"] for share in missing["contributions"]}["bill_length_mm"] == ""


def test_both_counterfactuals_are_predicted_otherwise(classes):
    said = run_json("explain", "run", "new.csv", "--row", "2", cwd=classes)
    model = mercer.load(classes / "run" / "model.mercer")
    table = pl.read_csv(dataset_path("penguins"), null_values=["NA", ""])
    neighbour = said["neighbour"]
    row = table[neighbour["row"] - 1]
    assert model.predict(row)[0] == neighbour["predicted"] != said["predicted"]
    for each in neighbour["changes"]:
        assert str(row[each["column"]][0]) in (each["after"], f"{each['after']}.0")
    own = pl.read_csv(classes / "new.csv", null_values=["NA", ""])[1].with_columns(pl.selectors.integer().cast(float))
    for change in said["changes"]:
        kind = own.schema[change["column"]]
        changed = own.with_columns(pl.lit(change["after"]).cast(kind).alias(change["column"]))
        assert model.predict(changed)[0] == change["predicted"] != said["predicted"]
    distances = [change["distance"] for change in said["changes"]]
    assert distances == sorted(distances)


def test_numbers_change_by_the_margin_that_is_asked_for(numbers):
    said = run_json("explain", "run", "cars.csv", "--row", "12", "--margin", "2.5", cwd=numbers)
    assert said["unit"] == "number"
    assert said["classes"] is None
    assert "2.5" in said["goal"]
    assert abs(said["neighbour"]["output"] - said["output"]) >= 2.5
    assert all(abs(change["output"] - said["output"]) >= 2.5 for change in said["changes"])
    values = {share["column"]: share["value"] for share in said["contributions"]}
    assert values["year"] == "1970-01-01"
    assert values["name"] == "plymouth 'cuda 340"


def test_a_class_can_be_asked_for(classes):
    said = run_json("explain", "run", "new.csv", "--row", "2", "--class", "Gentoo", cwd=classes)
    assert said["label"] == "Gentoo" != said["predicted"]
    assert said["neighbour"]["predicted"] == "Gentoo"
    assert all(change["predicted"] == "Gentoo" for change in said["changes"])


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation", "lime"])
def test_methods_can_be_chosen(classes, method):
    said = run_json("explain", "run", "new.csv", "--row", "2", "--method", method, cwd=classes)
    assert said["method"].lower().startswith(method)
    assert (said["fidelity"] is None) == (method != "lime")


def test_off_a_terminal_all_is_said_and_nothing_cut(numbers):
    done = run("explain", "run", "cars.csv", "--row", "12", cwd=numbers)
    assert done.returncode == 0, done.stderr
    for words in (
        "row 12 of cars.csv",
        "plymouth 'cuda 340",
        "displacement",
        "what would change the prediction",
        "explanation.html",
    ):
        assert words in done.stdout
    assert "\x1b" not in done.stdout
    assert "…" not in done.stdout
    page = (numbers / "run" / "explanation.html").read_text()
    assert "plymouth &#x27;cuda 340" in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_row_is_explained_into_a_table(classes, suffix):
    out = f"explanations.{suffix}"
    said = run_json("explain", "run", "new.csv", "--all", "-o", out, cwd=classes)
    table = (pl.read_csv if suffix == "csv" else pl.read_parquet)(classes / out)
    assert said == {"rows": table.height, "out": out}
    assert table["row"].to_list() == [1, 2, *range(4, table.height + 2)]
    given = table.select(pl.sum_horizontal("base", pl.selectors.starts_with("contribution_"))).to_series()
    np.testing.assert_allclose(given, table["output"], atol=1e-9)
    assert table["explained"].to_list() == table["prediction"].to_list()


def test_without_out_the_table_is_printed(classes):
    printed = run("explain", "run", "new.csv", "--all", cwd=classes).stdout.splitlines()
    assert printed[0].startswith("row,prediction,explained,output,base,contribution_")
    assert len(printed) == 13


def test_a_run_that_was_moved_is_explained_without_its_data(numbers, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(numbers / "run", moved, ignore=shutil.ignore_patterns("folds"))
    expected = run_json("explain", "run", "cars.csv", "--row", "5", cwd=numbers)
    found = run_json("explain", moved, "cars.csv", "--row", "5", cwd=numbers)
    assert found["contributions"] == expected["contributions"]
    assert found["neighbour"] == expected["neighbour"]


ROW = ("--row", "2")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--row", "0"), 2, "has the rows 1 to 13, counted from the first below its header"),
        (("--row", "99"), 2, "has the rows 1 to 13"),
        (("--row", "3"), 2, "line 3 below the header of new.csv is blank"),
        ((), 2, "either --row N or --all"),
        ((*ROW, "--all"), 2, "either --row N or --all"),
        ((*ROW, "--method", "magic"), 2, "--method magic: it must be one of auto, tree"),
        ((*ROW, "--class", "Emu"), 2, "--class Emu: there is no such class; there are Adelie, Chinstrap, Gentoo"),
        ((*ROW, "--margin", "-1"), 2, "--margin -1: it must be a positive number"),
        ((*ROW, "--margin", "1"), 2, "a margin is for numbers"),
        ((*ROW, "-o", "page.pdf"), 2, "must end in .html"),
        ((*ROW, "-o", "nowhere/page.html"), 2, "--out nowhere/page.html: No such file or directory"),
        (("--all", "-o", "nowhere/out.csv"), 2, "--out nowhere/out.csv: No such file or directory"),
        (("--all", "-o", "out.html"), 2, "must end in .csv, .parquet"),
        (("--all", "--json"), 2, "--json with --all needs --out"),
        (("--row", "5", "--method", "lime"), 2, "has no number in every row"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(classes, arguments, code, words):
    done = run("explain", "run", "new.csv", *arguments, cwd=classes)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_files_and_runs_that_will_not_do_are_named(classes, tmp_path):
    (tmp_path / "lacking.csv").write_text("bill_length_mm,sex\n1,male\n")
    done = run("explain", classes / "run", "lacking.csv", "--row", "1", cwd=tmp_path)
    assert done.returncode == 3
    assert "lacking.csv: the model needs 'island'" in done.stderr
    done = run("explain", "none", "lacking.csv", "--row", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no run here" in done.stderr
    old = tmp_path / "old"
    shutil.copytree(classes / "run", old, ignore=shutil.ignore_patterns("folds", "rows.parquet"))
    done = run("explain", old, classes / "new.csv", "--row", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "keeps no training rows" in done.stderr
    assert f"mercer train --resume {old}" in done.stderr
    (old / "rows.parquet").write_bytes(b"nothing")
    done = run("explain", old, classes / "new.csv", "--row", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "rows.parquet: the file is damaged" in done.stderr
    (old / "model.mercer").unlink()
    done = run("explain", old, classes / "new.csv", "--row", "1", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["exit_code"] == 2


def test_help_says_how_rows_are_counted(tmp_path):
    done = run("explain", "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "counted from 1" in " ".join(done.stdout.split())


def test_the_report_says_what_the_model_goes_by(numbers):
    content = json.loads((numbers / "run" / "report.json").read_text())
    explained = content["explained"]
    assert explained["unit"] == "number"
    assert 0 < explained["n_rows"] <= explained["n_test"] == content["data"]["n_test"]
    page = (numbers / "run" / "report.html").read_text()
    assert f"{explained['n_rows']} of {explained['n_test']} test rows" in page or f"all {explained['n_test']} test rows" in page
