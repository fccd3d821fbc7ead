"""`mercer cluster` and what it leaves, driven as a user would."""

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
from mercer.metrics import adjusted_rand_score
from tests.command.driver import environment, run, run_json, start

QUICK = ("--models", "kmeans", "--clusters", "2-4", "--time", "1s")


def _groups(n_rows=150, seed=0):
    """Three groups in two columns, and columns of every other kind."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n_rows)
    centres = np.array([[0, 0], [8, 0], [0, 8]])[group]
    return pl.DataFrame(
        {
            "key": [f"K{number:05d}" for number in range(n_rows)],
            "width": (centres[:, 0] + rng.normal(size=n_rows)).round(3),
            "height": (centres[:, 1] + rng.normal(size=n_rows)).round(3),
            "colour": np.array(["red", "green", "blue"])[group],
            "always": ["same"] * n_rows,
            "truth": np.array(["a", "b", "c"])[group],
        }
    ).with_columns(height=pl.when(pl.int_range(pl.len()) % 30 == 7).then(None).otherwise(pl.col("height")))


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """A finished run on three groups, and what the command said."""
    folder = tmp_path_factory.mktemp("groups")
    _groups().write_csv(folder / "data.csv")
    summary = run_json("cluster", "data.csv", "--against", "truth", *QUICK, "--out", "run", cwd=folder)
    return folder, summary


def test_a_run_leaves_labels_a_model_a_report_and_a_script(groups):
    folder, summary = groups
    for name in ("labels.csv", "model.mercer", "report.html", "report.json", "cluster.py"):
        assert (folder / "run" / name).stat().st_size > 0
    assert summary["verdict"]["structure"] == "clear"
    assert summary["verdict"]["n_clusters"] == 3
    assert sum(summary["sizes"]) == 150
    assert sorted(summary["sizes"], reverse=True) == summary["sizes"]
    assert summary["against"]["adjusted_rand"] > 0.95
    assert not summary["interrupted"]


def test_the_labels_are_the_table_with_a_column_and_every_cell_as_it_was(groups):
    folder, _ = groups
    before = (folder / "data.csv").read_text().splitlines()
    after = (folder / "run" / "labels.csv").read_text().splitlines()
    assert after[0] == f"{before[0]},cluster"
    assert [line.rpartition(",")[0] for line in after] == before
    assert (
        adjusted_rand_score(_groups()["truth"].to_numpy(), pl.read_csv(folder / "run" / "labels.csv")["cluster"].to_numpy())
        > 0.95
    )


def test_the_script_gives_every_row_the_same_cluster(groups):
    folder, _ = groups
    (folder / "again").mkdir(exist_ok=True)
    script = folder / "run" / "cluster.py"
    subprocess.run([sys.executable, script], cwd=folder / "again", env=environment(), check=True, timeout=120)
    first, second = (pl.read_csv(folder / name / "labels.csv")["cluster"] for name in ("run", "again"))
    assert first.equals(second)


def test_the_model_labels_rows_as_the_run_did(groups):
    folder, _ = groups
    labels = pl.read_csv(folder / "run" / "labels.csv")["cluster"]
    model = mercer.load(folder / "run" / "model.mercer")
    assert model.predict(_groups().drop("truth")).tolist() == labels.to_list()
    done = run("predict", "run", "data.csv", "--keep", "key", "-o", "out.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    out = pl.read_parquet(folder / "out.parquet")
    assert out.columns == ["key", "cluster"]
    assert out["cluster"].to_list() == labels.to_list()
    assert run("predict", "run", "data.csv", "--threshold", "0.5", cwd=folder).returncode == 2


def test_every_column_is_accounted_for_and_clusters_are_told_by_what_made_them(groups):
    content = json.loads((groups[0] / "run" / "report.json").read_text())
    columns = {column["name"]: column for column in content["columns"]}
    assert not columns["key"]["used"]
    assert columns["key"]["kind"] == "identifier"
    assert not columns["always"]["used"]
    assert "truth" not in columns
    assert {line["column"] for line in content["overview"]} == {"width", "height", "colour"}
    for profile in content["profiles"]:
        assert {trait["column"] for trait in profile["traits"]} == {"width", "height", "colour"}
        assert all(trait["p"] < 0.01 for trait in profile["traits"])


def test_the_report_can_be_shown_again(groups):
    folder, summary = groups
    (folder / "run" / "report.html").unlink()
    done = run("report", "run", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "3 clusters, found by KMeans" in done.stdout
    assert (folder / "run" / "report.html").exists()
    assert run_json("report", "run", cwd=folder)["verdict"] == summary["verdict"]


def test_a_finished_run_that_is_resumed_ends_at_once_with_the_same(groups):
    folder, summary = groups
    labels = (folder / "run" / "labels.csv").read_bytes()
    again = run_json("cluster", "--resume", "run", cwd=folder)
    assert again["verdict"] == summary["verdict"]
    assert again["clusterings"] == summary["clusterings"]
    assert (folder / "run" / "labels.csv").read_bytes() == labels


def test_a_run_of_another_command_is_refused_by_name(groups):
    folder, _ = groups
    done = run("train", "--resume", "run", cwd=folder)
    assert done.returncode == 2
    assert "this is a run of `mercer cluster`" in done.stderr
    done = run("cluster", "data.csv", *QUICK, "--out", "run", cwd=folder)
    assert done.returncode == 2
    assert "mercer cluster --resume run" in done.stderr


@pytest.mark.parametrize(
    ("models", "column"),
    [
        ("mixture", "probability_0"),
        ("ward", None),
        pytest.param("hdbscan", None, marks=pytest.mark.slow),
        ("average,dbscan", None),
    ],
)
def test_every_method_leaves_a_model_and_a_script_that_agree_with_its_labels(tmp_path, models, column):
    _groups().drop("colour", "truth").write_csv(tmp_path / "data.csv")
    options = ("--models", models, "--clusters", "2-4", "--time", "2s")
    summary = run_json("cluster", "data.csv", *options, "--out", "run", cwd=tmp_path)
    assert summary["verdict"]["structure"] == "clear"
    assert run("predict", "run", "data.csv", "-o", "out.csv", cwd=tmp_path).returncode == 0
    out, labels = pl.read_csv(tmp_path / "out.csv"), pl.read_csv(tmp_path / "run" / "labels.csv")["cluster"]
    assert (out["cluster"] == labels).mean() > 0.97
    assert (column in out.columns) == (column is not None)
    (tmp_path / "again").mkdir()
    script = tmp_path / "run" / "cluster.py"
    subprocess.run([sys.executable, script], cwd=tmp_path / "again", env=environment(), check=True, timeout=120)
    assert pl.read_csv(tmp_path / "again" / "labels.csv")["cluster"].equals(labels)


def test_where_there_is_nothing_it_says_so_and_divides_only_when_asked(tmp_path):
    rng = np.random.default_rng(1)
    pl.DataFrame(rng.normal(size=(200, 3)), schema=["a", "b", "c"]).write_parquet(tmp_path / "noise.parquet")
    summary = run_json("cluster", "noise.parquet", *QUICK, "--out", "run", cwd=tmp_path)
    assert summary["verdict"]["structure"] == "none"
    assert summary["sizes"] == [200]
    assert "No clusters were found" in summary["verdict"]["reading"]
    assert set(pl.read_parquet(tmp_path / "run" / "labels.parquet")["cluster"]) == {0}
    asked = ("--models", "kmeans", "--clusters", "3", "--time", "1s")
    summary = run_json("cluster", "noise.parquet", *asked, "--out", "asked", cwd=tmp_path)
    assert summary["verdict"]["structure"] == "asked"
    assert len(summary["sizes"]) == 3
    assert "no clusters" in summary["verdict"]["reading"]


def test_a_column_named_cluster_stays_as_it_is(tmp_path):
    _groups().rename({"width": "cluster"}).write_csv(tmp_path / "data.csv", separator=";")
    run_json("cluster", "data.csv", *QUICK, "--out", "run", cwd=tmp_path)
    labels = pl.read_csv(tmp_path / "run" / "labels.csv", separator=";")
    assert labels.columns[-1] == "cluster_2"
    assert labels["cluster"].to_list() == _groups()["width"].to_list()


def test_blank_lines_of_the_file_are_no_rows(tmp_path):
    _groups().write_csv(tmp_path / "plain.csv")
    lines = (tmp_path / "plain.csv").read_text().splitlines()
    for place in (80, 20, 1):
        lines.insert(place, "")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    run_json("cluster", "data.csv", *QUICK, "--out", "run", cwd=tmp_path)
    found = pl.read_csv(tmp_path / "run" / "labels.csv")
    assert found["key"].to_list() == _groups()["key"].to_list()


def _interrupted(folder, name, how):
    """Begin a long run and send it a signal when something has been measured."""
    _groups(400).write_csv(folder / "data.csv")
    process = start("cluster", "data.csv", "--time", "60s", "--out", name, "--json", cwd=folder)
    journal, end = folder / name / "journal.jsonl", time.monotonic() + 60
    while time.monotonic() < end and (not journal.exists() or journal.read_bytes().count(b"\n") < 4):
        time.sleep(0.02)
    process.send_signal(how)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_ctrl_c_ends_with_the_best_so_far(tmp_path):
    code, out, err = _interrupted(tmp_path, "stopped", signal.SIGINT)
    assert code == 0, err
    summary = json.loads(out)
    assert summary["interrupted"]
    assert (tmp_path / "stopped" / "labels.csv").exists()


def test_a_killed_run_goes_on_and_repeats_nothing_that_was_finished(tmp_path):
    code, _, _ = _interrupted(tmp_path, "killed", signal.SIGKILL)
    assert code == -signal.SIGKILL
    journal = tmp_path / "killed" / "journal.jsonl"
    before = journal.read_bytes()
    whole = before[: before.rfind(b"\n") + 1]
    plan = json.loads((tmp_path / "killed" / "run.json").read_text())
    plan["settings"]["seconds"] = 2.0  # the rest need not take a minute
    (tmp_path / "killed" / "run.json").write_text(json.dumps(plan))
    assert run_json("cluster", "--resume", "killed", cwd=tmp_path)["verdict"]["method"]
    assert journal.read_bytes().startswith(whole)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    fitted = [line["name"] for line in lines if line["kind"] == "fitted"]
    assert len(fitted) == len(set(fitted))


@pytest.mark.parametrize(
    ("content", "args", "code", "message"),
    [
        (None, (), 3, "there is no such file"),
        ("a,b\n1,2\n", (), 3, "1 row cannot be clustered"),
        ("a,b\n" + "1,2\n" * 30, (), 3, "no column can be clustered by. a:"),
        ("a,b\n" + "1,2\n2,1\n" * 30, (), 3, "the rows are of 2 kinds only"),
        ("a\n" + "".join(f"{n}\n" for n in range(3, 40, 2)), ("--drop", "a"), 3, "no column is left"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--clusters", "1"), 2, "--clusters 1"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--clusters", "9-3"), 2, "--clusters 9-3"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--clusters", "many"), 2, "--clusters 'many'"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--clusters", "30"), 2, "too few for so many clusters"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--models", "nonsense"), 2, "--models nonsense"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(40)), ("--drop", "c"), 2, "--drop c: there is no such column"),
        ("a,b\n" + "".join(f"{n**2},{n % 7}\n" for n in range(400)), ("--against", "a"), 2, "--against a"),
    ],
)
def test_bad_input_gets_one_clear_line_and_its_exit_code(tmp_path, content, args, code, message):
    if content is not None:
        (tmp_path / "bad.csv").write_text(content)
    done = run("cluster", "bad.csv", *args, "--time", "1s", "--out", "out", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_methods_can_be_listed(tmp_path):
    rows = run_json("models", "--task", "clustering", cwd=tmp_path)
    assert {"KMeans", "GaussianMixture", "HDBSCAN", "DBSCAN", "Ward", "AverageLinkage"} <= {row["model"] for row in rows}
