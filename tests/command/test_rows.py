"""Which rows learn, test and count, what runs cost and how they are compared and resumed: driven as a user would."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import mercer
from tests.command.driver import environment, run, run_json, start

FAST = ("--models", "Ridge", "--time", "1s")
SICK = ("--models", "logistic", "--time", "1s", "--target", "y")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of several kinds."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    n = 240
    day = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1) + pl.duration(days=n - 1), eager=True)
    x = rng.normal(size=n)
    series = pl.DataFrame({"day": day, "x": x, "y": np.cumsum(rng.normal(size=n)) + x + np.arange(n) / 20})
    series.sample(fraction=1, shuffle=True, seed=0).write_csv(folder / "series.csv")
    site, w = rng.integers(0, 30, n), rng.integers(0, 3, n)
    pl.DataFrame({"site": site, "w": w, "x": x, "y": x + 0.1 * site + rng.normal(size=n)}).write_csv(folder / "sites.csv")
    z, more = rng.normal(size=(2, 400))
    sick = pl.DataFrame(
        {"z": z, "more": more, "w": rng.integers(0, 3, 400), "y": np.where(z + rng.normal(size=400) > 1, "sick", "well")}
    )
    sick[:300].write_csv(folder / "sick.csv")
    sick[300:].write_csv(folder / "later.csv")
    return folder


def _rerun(folder, name):
    """The folder with what the script of a run leaves."""
    again = folder / f"again-{name}"
    again.mkdir()
    subprocess.run([sys.executable, folder / name / "train.py"], cwd=again, env=environment(), check=True, timeout=120)
    return again


def _train(folder, name, *args):
    """What a run says; it is there for all tests once one has asked for it."""
    if not (folder / name).exists():
        (folder / f"{name}.json").write_text(json.dumps(run_json("train", *args, "--out", name, cwd=folder)))
    return json.loads((folder / f"{name}.json").read_text())


FORWARD = ("series.csv", "-t", "y", "--intervals", "0.8", "--refit", *FAST)
COSTLY = ("sick.csv", "--test-file", "later.csv", "--weights", "w", "--costs", "FN=3,FP=1", "--intervals", "0.8", *SICK)
GROUPED = ("sites.csv", "-t", "y", "--group", "site", "--weights", "w", "--intervals", "0.8", *FAST)


def test_the_script_of_a_forward_run_gives_the_final_model_and_the_page_says_what_else_would_be_claimed(folder):
    summary = _train(folder, "forward", *FORWARD)
    assert (_rerun(folder, "forward") / "model.mercer").read_bytes() == (folder / "forward" / "model.mercer").read_bytes()
    page = (folder / "forward" / "report.html").read_text()
    assert any("it would claim" in alert["message"] for alert in summary["alerts"])
    assert any(alert["flag"] == "--no-time" for alert in summary["alerts"])
    assert "it would claim" in page
    assert summary["tested_model"].endswith("tested-model.mercer")
    tested, final = (mercer.load(folder / "forward" / name) for name in ("tested-model.mercer", "model.mercer"))
    assert not np.array_equal(tested[-1].coef_, final[-1].coef_)
    assert "learned from all 240 rows" in page


def test_the_script_carries_weights_the_test_file_and_costs(folder):
    summary = _train(folder, "costly", *COSTLY)
    assert (_rerun(folder, "costly") / "model.mercer").read_bytes() == (folder / "costly" / "model.mercer").read_bytes()
    assert (summary["data"]["n_train"], summary["data"]["n_test"]) == (300, 100)
    assert summary["tested_model"] is None
    assert "on average" in summary["costs"]["reading"]
    assert "least cost" in (folder / "costly" / "report.html").read_text()


@pytest.mark.slow
def test_the_script_carries_groups(folder):
    summary = _train(folder, "grouped", *GROUPED)
    assert (_rerun(folder, "grouped") / "model.mercer").read_bytes() == (folder / "grouped" / "model.mercer").read_bytes()
    assert "groups" in summary["data"]["division"]


def test_predictions_go_by_the_costs_unless_a_threshold_is_named(folder):
    _train(folder, "costly", *COSTLY)
    decision = json.loads((folder / "costly" / "decision.json").read_text())
    assert decision["costs"] == [[0, 1], [3, 0]]  # to miss the second class is worse
    assert 0 < decision["threshold"] < 1
    for flags, cut in (((), decision["threshold"]), (("--threshold", "0.7"), 0.7)):
        done = run("predict", "costly", "later.csv", "-o", "out.csv", *flags, cwd=folder)
        assert done.returncode == 0, done.stderr
        table = pl.read_csv(folder / "out.csv")
        (folder / "out.csv").unlink()
        assert ((table["probability_well"] >= cut) == (table["prediction"] == "well")).all()


def test_runs_are_compared_on_the_rows_that_both_were_tested_on(folder):
    _train(folder, "one", "sick.csv", *SICK)
    _train(folder, "two", "sick.csv", *SICK, "--drop", "z", "--seed", "1", "--test-size", "0.5")
    _train(folder, "costly", *COSTLY)
    found = run_json("compare", "one", "two", "costly", cwd=folder)
    assert found["target"] == "y"
    assert found["settings"]["drop"] == [[], ["z"], []]
    without, other = found["differences"]
    assert 10 <= without["n"] < 60
    assert "that both were tested on" in without["reading"]
    assert without["is_real"]
    assert without["difference"] == pytest.approx(without["this"] - without["first"])
    assert without["low"] < without["difference"] < without["high"] < 0
    assert "which chance does not explain" in without["reading"]
    assert other["n"] == 0
    assert "rows of another file" in other["reading"]
    assert "no difference" in run_json("compare", "one", "one", cwd=folder)["differences"][0]["reading"]
    assert "LogisticRegression" in run("compare", "one", "two", cwd=folder).stdout
    _train(folder, "forward", *FORWARD)
    for args, said in ((("one", "forward"), "its task is"), (("one",), "two or more"), (("one", "nowhere"), "no run here")):
        done = run("compare", *args, cwd=folder)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_run_goes_on_with_more_time_from_anywhere(folder, tmp_path):
    run_json("train", "sites.csv", "-t", "y", *FAST, "--out", "more", cwd=folder)
    plan = json.loads((folder / "more" / "run.json").read_text())
    assert plan["settings"]["seconds"] == 1.0
    (folder / "sites.csv").rename(tmp_path / "moved.csv")
    try:
        done = run("train", "--resume", folder / "more", cwd=tmp_path)
        assert done.returncode == 2
        assert "--data FILE names where it is now" in done.stderr
        wrong = run("train", "--resume", folder / "more", "--data", folder / "sick.csv", cwd=tmp_path)
        assert "the data have changed since the run was begun" in wrong.stderr
        run_json("train", "--resume", folder / "more", "--data", "moved.csv", "--time", "2s", cwd=tmp_path)
    finally:
        (tmp_path / "moved.csv").rename(folder / "sites.csv")
    again = json.loads((folder / "more" / "run.json").read_text())
    assert again["settings"]["seconds"] > 2.0
    assert {**again["settings"], "seconds": 1.0} == plan["settings"]
    assert again["files"]["data"] == str(tmp_path / "moved.csv")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("train", "--resume", "{run}", "--seed", "0"), "--seed: a run that is resumed is as it was begun"),
        (("train", "--resume", "{run}", "--no-time"), "--no-time: a run that is resumed"),
        (("train", "--resume", "{run}", "sites.csv"), "sites.csv: a run that is resumed knows its data"),
        (("train", "--resume", "{run}", "--test-file", "later.csv"), "the run was begun without one"),
        (("cluster", "--resume", "{run}", "--clusters", "3"), "--clusters: a run that is resumed"),
        (("cluster", "sites.csv", "--data", "sites.csv"), "this goes with --resume"),
        (("train", "sites.csv", "-t", "y", "--data", "sites.csv"), "this goes with --resume"),
        (("train", "sick.csv", "-t", "y", "--test-file", "later.csv", "--test-size", "0.3"), "those of --test-file"),
        (("train", "sick.csv", "-t", "y", "--test-file", "nowhere.csv"), "there is no such file"),
        (("train", "sites.csv", "-t", "y", "--costs", "FN=1,FP=1"), "the target holds numbers"),
    ],
)
def test_what_would_be_ignored_or_cannot_be_is_refused(folder, args, said):
    _train(folder, "one", "sick.csv", *SICK)
    done = run(*(arg.replace("{run}", "one") for arg in args), cwd=folder)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_killed_run_with_all_of_it_goes_on_to_the_same_model(folder):
    args = ("sick.csv", "--test-file", "later.csv", "--weights", "w", "--costs", "FN=3,FP=1", "--refit", "--target", "y")
    models = ("--models", "logistic,gaussiannb,decisiontree", "--time", "3s")
    process = start("train", *args, *models, "--out", "killed", cwd=folder)
    journal = folder / "killed" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 4) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    summary = run_json("train", "--resume", "killed", cwd=folder)
    assert summary["costs"]
    assert summary["data"]["n_test"] == 100
    again = _rerun(folder, "killed")
    assert (again / "model.mercer").read_bytes() == (folder / "killed" / "model.mercer").read_bytes()
