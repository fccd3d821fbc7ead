"""`mercer train` and what it leaves, driven as a user would."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.datasets import dataset_path
from tests.command.driver import environment, run, run_json, start

CLASSES = ("--models", "logistic,decisiontree", "--time", "1s")
NUMBERS = ("--models", "Ridge,decisiontree", "--time", "1s")


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    """A finished run on the embedded table, and what the command said."""
    folder = tmp_path_factory.mktemp("penguins")
    summary = run_json("train", *CLASSES, "--out", "run", cwd=folder, is_fresh=True)
    return folder, summary


def test_a_run_leaves_a_model_a_report_and_a_script(penguins):
    folder, summary = penguins
    for name in ("model.mercer", "report.html", "report.json", "train.py"):
        assert (folder / "run" / name).stat().st_size > 0
    assert (folder / "run" / "report.html").stat().st_size < 5_000_000
    content = json.loads((folder / "run" / "report.json").read_text())
    assert content["data"]["target"] == "species"
    assert content["data"]["task"] == "multiclass"
    assert summary["best"] == content["best"]
    assert not summary["interrupted"]


def test_the_leaderboard_has_the_baseline_the_tried_and_the_passed_over(penguins):
    entries = {entry["model"]: entry for entry in penguins[1]["leaderboard"]}
    assert entries["baseline"]["status"] == "baseline"
    for name in ("LogisticRegression", "DecisionTreeClassifier"):
        entry = entries[name]
        assert entry["status"] == "ok"
        assert len(entry["fold_scores"]) == 5
        assert entry["score"] == pytest.approx(np.mean(entry["fold_scores"]))
        assert entry["score"] > entries["baseline"]["score"]
        for figure in ("fit_seconds", "predict_us_per_row", "size_bytes", "n_trials"):
            assert entry[figure] > 0, figure
    assert entries["RandomForestClassifier"]["status"] == "skipped"
    assert "--models" in entries["RandomForestClassifier"]["reason"]
    assert "other models" in entries["VotingClassifier"]["reason"]
    assert sum(entry["is_best"] for entry in entries.values()) == 1


def test_every_column_is_accounted_for(penguins):
    content = json.loads((penguins[0] / "run" / "report.json").read_text())
    names = set(pl.read_csv(dataset_path("penguins")).columns) - {"species"}
    assert {column["name"] for column in content["columns"]} == names
    assert all(column["reason"] and column["treatment"] and column["flag"] for column in content["columns"])


def test_the_script_reproduces_the_model_bit_for_bit(penguins):
    folder, _ = penguins
    (folder / "again").mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, folder / "run" / "train.py"], cwd=folder / "again", env=environment(), check=True, timeout=120
    )
    X = pl.read_csv(dataset_path("penguins"), null_values=["NA"]).drop("species")
    first, second = (mercer.load(folder / name / "model.mercer") for name in ("run", "again"))
    assert first.predict_proba(X).tobytes() == second.predict_proba(X).tobytes()


def test_predictions_are_those_of_the_model_whatever_the_order_of_the_columns(penguins):
    folder, _ = penguins
    table = pl.read_csv(dataset_path("penguins"), null_values=["NA"])
    table.select(reversed(table.columns)).write_csv(folder / "swapped.csv")
    done = run("predict", "run", "swapped.csv", "-o", "out.csv", "--keep", "island", cwd=folder)
    assert done.returncode == 0, done.stderr
    out = pl.read_csv(folder / "out.csv")
    assert out["island"].to_list() == table["island"].to_list()
    model = mercer.load(folder / "run" / "model.mercer")
    assert out["prediction"].to_list() == model.predict(table.drop("species")).tolist()
    chances = out.select(pl.col("^probability_.*$")).to_numpy()
    np.testing.assert_allclose(chances, model.predict_proba(table.drop("species")), rtol=1e-12)
    assert run("predict", "run", "swapped.csv", "-o", "out.parquet", "--keep", "island", cwd=folder).returncode == 0
    stored = pl.read_parquet(folder / "out.parquet")
    assert stored.columns == out.columns
    assert stored["prediction"].equals(out["prediction"])
    printed = run("predict", "run", "swapped.csv", cwd=folder)
    assert printed.stdout.splitlines()[0].startswith("prediction,probability_")
    assert len(printed.stdout.splitlines()) == table.height + 1


def test_a_file_without_a_needed_column_is_refused_by_name(penguins):
    folder, _ = penguins
    table = pl.read_csv(dataset_path("penguins"), null_values=["NA"])
    table.drop("bill_length_mm", "species").write_csv(folder / "short.csv")
    done = run("predict", "run", "short.csv", "-o", "never.csv", cwd=folder)
    assert done.returncode == 3
    assert "'bill_length_mm'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "never.csv").exists()
    assert not list(folder.glob(".never*"))


def test_a_value_of_another_kind_is_refused_with_its_column(penguins):
    folder, _ = penguins
    table = pl.read_csv(dataset_path("penguins"), null_values=["NA"]).head(20).with_columns(bill_length_mm=pl.lit("long"))
    table.write_csv(folder / "words.csv")
    done = run("predict", "run", "words.csv", "-o", "never.csv", cwd=folder)
    assert done.returncode == 3
    assert "bill_length_mm" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_report_can_be_shown_again(penguins):
    folder, summary = penguins
    (folder / "run" / "report.html").unlink()
    done = run("report", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert summary["best"]["model"] in done.stdout
    assert (folder / "run" / "report.html").exists()
    assert run_json("report", "run", cwd=folder)["best"] == summary["best"]


def test_a_folder_that_holds_a_run_is_not_overwritten(penguins):
    done = run("train", *CLASSES, "--out", "run", cwd=penguins[0])
    assert done.returncode == 2
    assert "--resume run" in done.stderr


def test_a_finished_run_that_is_resumed_ends_at_once_with_the_same(penguins, tmp_path):
    folder, summary = penguins
    again = run_json("train", "--resume", "run", cwd=folder)
    assert again["best"] == summary["best"]
    scores = [{entry["model"]: entry["fold_scores"] for entry in one["leaderboard"]} for one in (summary, again)]
    assert scores[0] == scores[1]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A table for regression with a mixed lot of columns."""
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    n = 400
    x, group = rng.normal(size=n), rng.choice(["a", "b", "c"], size=n)
    table = pl.DataFrame(
        {
            "key": [f"K{number:05d}" for number in range(n)],
            "x": x,
            "group": group,
            "always": ["same"] * n,
            "y": 2 * x + (group == "a") + 0.1 * rng.normal(size=n),
        }
    )
    table.write_csv(folder / "data.csv")
    return folder


def test_regression_from_a_file(numbers):
    summary = run_json("train", "data.csv", "-t", "y", *NUMBERS, "--metric", "rmse", "--out", "run", cwd=numbers)
    assert summary["data"]["task"] == "regression"
    assert summary["data"]["metric"]["name"] == "neg_root_mean_squared_error"
    assert summary["best"]["model"] in ("Ridge", "Blend")
    measures = {measure["name"]: measure for measure in summary["test"]["measures"]}
    assert any(measure["low"] <= measure["value"] <= measure["high"] for measure in measures.values())
    kinds = {column["name"]: column for column in run_json("report", "run", cwd=numbers)["columns"]}
    assert not kinds["key"]["used"]
    assert not kinds["always"]["used"]
    assert kinds["group"]["kind"] == "category"


def test_columns_can_be_dropped_and_named_otherwise(numbers):
    run_json("train", "data.csv", "-t", "y", *NUMBERS, "--drop", "x", "--kind", "key=category", "--out", "run2", cwd=numbers)
    columns = {column["name"]: column for column in run_json("report", "run2", cwd=numbers)["columns"]}
    assert "x" not in columns
    assert columns["key"]["kind"] == "category"


@pytest.mark.parametrize(
    "labels",
    [[False, True], [1.0, 2.0], *(pytest.param(labels, marks=pytest.mark.slow) for labels in ([0, 1], [10, 20, 30]))],
    ids=str,
)
def test_classes_may_be_numbers_or_booleans(tmp_path, labels):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    codes = np.digitize(x + 0.3 * rng.normal(size=300), np.quantile(x, np.linspace(0, 1, len(labels) + 1)[1:-1]))
    table = pl.DataFrame({"x": x, "noise": rng.normal(size=300), "y": np.array(labels)[codes]})
    table.write_csv(tmp_path / "data.csv")
    summary = run_json("train", "data.csv", "-t", "y", *CLASSES, "--out", "run", cwd=tmp_path)
    shown = [int(label) if isinstance(label, float) else label for label in labels]
    assert summary["data"]["classes"] == [str(label) for label in shown]
    assert run("predict", "run", "data.csv", "-o", "out.csv", cwd=tmp_path).returncode == 0
    out = pl.read_csv(tmp_path / "out.csv")
    assert (out["prediction"] == pl.Series(np.array(shown)[codes])).mean() > 0.7
    assert [name for name in out.columns if name.startswith("probability_")] == [f"probability_{label}" for label in shown]


@pytest.mark.parametrize("target", ["number", "label"])
def test_the_rows_of_the_worst_errors_are_found_in_the_file(tmp_path, target):
    rng = np.random.default_rng(0)
    lines = [f"K{number:04d},{rng.normal():.6f},{rng.normal():.6f},{rng.choice(['yes', 'no'])}" for number in range(300)]
    for place in (250, 100, 3):
        lines.insert(place, "")  # a blank line
    for place in (200, 20):
        lines[place] = f"L{place:04d},0.5,,"  # no target
    (tmp_path / "data.csv").write_text("key,x,number,label\n" + "\n".join(lines) + "\n")
    other = {"number": "label", "label": "number"}[target]
    options = ("--models", "decisiontree", "--time", "1s", "--drop", other)
    run_json("train", "data.csv", "-t", target, *options, "--out", "run", cwd=tmp_path)
    report = run_json("report", "run", cwd=tmp_path)
    assert len(report["errors"]) == 12
    for error in report["errors"]:
        key, x, number, label = lines[error["row"] - 1].split(",")
        assert error["values"]["key"] == key
        assert float(error["values"]["x"]) == pytest.approx(float(x), rel=1e-5)
        if target == "label":
            assert error["true"] == label
        else:
            assert float(error["true"]) == pytest.approx(float(number), rel=1e-4)


def _interrupted(folder, name, after, how):
    """Begin a long run and send it a signal."""
    models = "Ridge,Lasso,decisiontree,histgradientboosting"
    options = ("--time", "60s", "--models", models, "--out", name, "--json")
    process = start("train", "data.csv", "-t", "y", *options, cwd=folder)
    end = time.monotonic() + 60
    journal = folder / name / "journal.jsonl"
    while time.monotonic() < end and (not journal.exists() or journal.read_bytes().count(b"\n") < after):
        time.sleep(0.02)
    time.sleep(random.Random(after).uniform(0, 0.3))
    process.send_signal(how)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_ctrl_c_ends_with_the_best_so_far(numbers):
    code, out, err = _interrupted(numbers, "stopped", 12, signal.SIGINT)
    assert code == 0, err
    summary = json.loads(out)
    assert summary["interrupted"]
    assert summary["best"]["model"]
    assert (numbers / "stopped" / "model.mercer").exists()


@pytest.mark.parametrize("after", [9, *(pytest.param(after, marks=pytest.mark.slow) for after in (1, 21))])
def test_a_killed_run_goes_on_and_repeats_nothing_that_was_finished(numbers, after):
    name = f"killed{after}"
    code, _, _ = _interrupted(numbers, name, after, signal.SIGKILL)
    assert code == -signal.SIGKILL
    journal = numbers / name / "journal.jsonl"
    before = journal.read_bytes()
    whole = before[: before.rfind(b"\n") + 1]
    plan = json.loads((numbers / name / "run.json").read_text())
    plan["settings"]["seconds"] = 2.0  # the rest need not take a minute
    (numbers / name / "run.json").write_text(json.dumps(plan))
    summary = run_json("train", "--resume", name, cwd=numbers)
    assert summary["best"]["model"]
    assert journal.read_bytes().startswith(whole)
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    trials = [(line["model"], line["number"]) for line in lines if line["kind"] == "trial"]
    assert len(trials) == len(set(trials))


def test_resuming_on_other_data_is_refused(numbers):
    run_json("train", "data.csv", "-t", "y", *NUMBERS, "--out", "run3", cwd=numbers)
    original = (numbers / "data.csv").read_text()
    try:
        (numbers / "data.csv").write_text(original + original.splitlines()[-1] + "\n")
        done = run("train", "--resume", "run3", cwd=numbers)
    finally:
        (numbers / "data.csv").write_text(original)
    assert done.returncode == 2
    assert "have changed" in done.stderr


@pytest.mark.parametrize(
    ("content", "args", "code", "message"),
    [
        ("", ("-t", "y"), 3, "empty"),
        ("a,y\n1\n", ("-t", "y"), 3, "line 2 has 1 fields"),
        ("a,y\né,2\n".encode() + b"1,\xff\n", ("-t", "y"), 3, "--encoding"),
        (b"a,y\n1,\x00\x01\n", ("-t", "y"), 3, "no text"),
        ("a,a\n1,2\n", ("-t", "a"), 3, "more than once"),
        ("a,y\n" + "1,2\n" * 30, ("-t", "z"), 3, "no column 'z'"),
        ("a,y\n" + "1,2\n" * 30, ("-t", "y"), 3, "one value only"),
        ("a,y\n" + "1,\n" * 30, ("-t", "y"), 3, "every value of the target"),
        ("a,y\n" + ",1\n,2\n" * 30, ("-t", "y"), 3, "no column can be learnt from"),
        ("a,y\n" + "1,1\n2,2\n" * 30, (), 2, "--target is missing"),
        ("a,y\n" + "1,1\n2,2\n" * 30, ("-t", "y", "--time", "soon"), 2, "--time 'soon'"),
        ("a,y\n" + "1,1\n2,2\n" * 30, ("-t", "y", "--metric", "nonsense"), 2, "--metric nonsense"),
        ("a,y\n" + "1,1\n2,2\n" * 30, ("-t", "y", "--models", "nonsense"), 2, "--models nonsense"),
        ("a,y\n" + "1,1\n2,2\n" * 30, ("-t", "y", "--kind", "a"), 2, "--kind 'a'"),
    ],
)
def test_bad_input_gets_one_clear_line_and_its_exit_code(tmp_path, content, args, code, message):
    (tmp_path / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("train", "bad.csv", *args, "--out", "out", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_models_and_info_can_be_listed(tmp_path):
    names = {row["model"] for row in run_json("models", "--task", "regression", cwd=tmp_path)}
    assert {"Ridge", "HistGradientBoostingRegressor"} <= names
    assert "LogisticRegression" not in names
    assert "RandomForestClassifier" in run("models", cwd=tmp_path).stdout
    assert "native variant" in run("info", cwd=tmp_path).stdout
    assert run("models", "--task", "nonsense", cwd=tmp_path).returncode == 2


def test_help_names_the_exit_codes(tmp_path):
    done = run("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "Exit codes" in done.stdout
