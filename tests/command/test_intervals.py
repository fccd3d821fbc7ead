"""`mercer train --intervals` and what it adds to a run and to its predictions."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import cross_val_predict

import mercer
from mercer.datasets import dataset_path
from mercer.model_selection import KFold, train_test_split
from tests.command.driver import run, run_json

OPTIONS = ("--time", "1s", "--out", "run")


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A run on a table for regression with noise, and its summary."""
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400))
    pl.DataFrame({"x": x, "z": z, "lower": z > 0, "y": 2 * x + z + rng.normal(size=400)}).write_csv(folder / "data.csv")
    wanted = ("data.csv", "-t", "y", "--models", "Ridge", "--intervals", "0.8")
    return folder, run_json("train", *wanted, *OPTIONS, cwd=folder)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """A run with sets of labels, and its summary. Of few columns, so that sets have several labels."""
    folder = tmp_path_factory.mktemp("classes")
    table = pl.read_csv(dataset_path("penguins"), null_values=["NA"]).select("body_mass_g", "sex", "species")
    table.write_csv(folder / "data.csv")
    wanted = ("data.csv", "-t", "species", "--models", "gaussiannb,decisiontree,linearsvc", "--intervals", "0.95")
    return folder, run_json("train", *wanted, *OPTIONS, cwd=folder)


def _test_rows(y, *, is_stratified):
    return np.sort(train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=y if is_stratified else None)[1])


def test_intervals_are_as_wide_as_errors_on_rows_that_fits_had_not_seen(numbers):
    folder, _ = numbers
    table = pl.read_csv(folder / "data.csv")
    y = table["y"].to_numpy()
    train = np.setdiff1d(np.arange(len(y)), _test_rows(y, is_stratified=False))
    model = mercer.load(folder / "run" / "model.mercer")
    folds = KFold(5, shuffle=True, random_state=0)
    held_out = cross_val_predict(model, table.drop("y")[train], y[train], cv=folds)
    errors = np.sort(np.abs(y[train] - held_out))
    stored = json.loads((folder / "run" / "intervals.json").read_text())
    assert stored["limit"] == pytest.approx(errors[int(np.ceil(0.8 * 321)) - 1], rel=1e-9)


def test_predictions_of_numbers_have_both_ends(numbers):
    folder, summary = numbers
    limit = json.loads((folder / "run" / "intervals.json").read_text())["limit"]
    assert run("predict", "run", "data.csv", "-o", "out.parquet", "--keep", "y", cwd=folder).returncode == 0
    out = pl.read_parquet(folder / "out.parquet")
    assert out.columns == ["y", "prediction", "lower", "upper"]
    assert out["y"].to_list() == pl.read_csv(folder / "data.csv", infer_schema=False)["y"].to_list()  # as it is written
    out = out.with_columns(pl.col("y").cast(float))
    np.testing.assert_allclose(out["upper"] - out["prediction"], limit, rtol=1e-9)
    np.testing.assert_allclose(out["prediction"] - out["lower"], limit, rtol=1e-9)
    test = out[_test_rows(out["y"].to_numpy(), is_stratified=False)]
    found = summary["intervals"]
    assert found["reached"] == test.select(pl.col("y").is_between("lower", "upper").mean()).item()
    assert found["low"] < 0.8 < found["high"]
    assert found["width"] == pytest.approx(2 * limit)
    assert found["width"] < found["plain_width"]
    printed = run("predict", "run", "data.csv", cwd=folder).stdout
    assert printed.startswith("prediction,lower,upper\n")


def test_a_kept_column_does_not_hide_an_end(numbers):
    done = run("predict", "run", "data.csv", "--keep", "lower", cwd=numbers[0])
    assert done.returncode == 2
    assert "--keep lower" in done.stderr


def test_predictions_of_classes_have_sets_of_labels(classes):
    folder, summary = classes
    for name in ("out.csv", "out.parquet"):
        assert run("predict", "run", "data.csv", "-o", name, "--keep", "species", cwd=folder).returncode == 0
    out = pl.read_parquet(folder / "out.parquet")
    assert out["labels"].dtype == pl.List(pl.String)
    sets = out["labels"].to_list()
    assert [json.loads(text) for text in pl.read_csv(folder / "out.csv")["labels"]] == sets
    assert [labels[0] for labels in sets] == out["prediction"].to_list()
    least = 1 - json.loads((folder / "run" / "intervals.json").read_text())["limit"]
    for row, labels in zip(out.iter_rows(named=True), sets, strict=True):
        likely = [name for name in ("Adelie", "Chinstrap", "Gentoo") if row[f"probability_{name}"] >= least - 1e-12]
        assert sorted(labels) == likely or labels == [row["prediction"]]
    found = summary["intervals"]
    is_held = [row in labels for row, labels in zip(out["species"], sets, strict=True)]
    test = _test_rows(out["species"].to_numpy(), is_stratified=True)
    assert found["reached"] == np.mean(np.array(is_held)[test])
    assert found["high"] > 0.95
    assert found["mean_size"] == np.mean([len(sets[row]) for row in test]) > 1
    assert sum(line["n"] for line in found["sizes"]) == found["n_test"] == len(test)


@pytest.mark.parametrize("fixture", ["numbers", "classes"])
def test_the_coverage_reached_stands_in_the_report(request, fixture):
    folder, summary = request.getfixturevalue(fixture)
    assert run_json("report", "run", cwd=folder)["intervals"] == summary["intervals"]
    assert 'id="intervals"' in (folder / "run" / "report.html").read_text()
    assert "was asked for" in " ".join(run("report", "run", cwd=folder).stdout.split())
    script = (folder / "run" / "train.py").read_text()
    compile(script, "train.py", "exec")
    assert "mercer.conformal" in script


def test_a_resumed_run_has_the_same_intervals(numbers):
    folder, summary = numbers
    stored = folder / "run" / "intervals.json"
    before = stored.read_bytes()
    stored.unlink()
    done = run("predict", "run", "data.csv", cwd=folder)
    assert done.returncode == 2
    assert "no intervals yet" in done.stderr
    assert run_json("train", "--resume", "run", cwd=folder)["intervals"] == summary["intervals"]
    assert stored.read_bytes() == before


def test_a_damaged_file_is_named(numbers):
    stored = numbers[0] / "run" / "intervals.json"
    before = stored.read_bytes()
    stored.write_text('{"format": 1, "kind": "interval"}')
    try:
        done = run("predict", "run", "data.csv", cwd=numbers[0])
    finally:
        stored.write_bytes(before)
    assert done.returncode == 2
    assert "intervals.json: the file is damaged" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--intervals", "0"), "--intervals 0.0: it must be a share above 0 and below 1"),
        (("--intervals", "1"), "--intervals 1.0"),
        (("--intervals", "nan"), "--intervals nan"),
        (("--intervals", "0.999"), "takes 999 training rows to calibrate by, and there are 275"),
    ],
)
def test_what_cannot_be_kept_is_refused_at_once(tmp_path, options, message):
    done = run("train", "penguins", *options, "--out", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "run").exists()
