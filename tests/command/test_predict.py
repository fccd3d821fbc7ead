"""`mercer predict` and what goes in and out of it, driven as a user would; and where results and progress go."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import mercer
from mercer._command import failures
from mercer._command.fitting import TableColumn, fitted_table
from mercer._command.threads import thread_limit
from mercer._runs.errors import RunError
from mercer._runs.outputs import check_overwriting
from mercer._runs.prediction import Predicting, Wanted
from tests.command.driver import PYTHON, environment, run, run_json

SHORT = ("--models", "decisiontree", "--time", "1s", "--model-time", "60s")  # on a busy machine the first fit may take longer


def _rows(rng, n):
    """A table as Excel saves it in Germany: semicolons, decimal commas, euros, per cent; with keys of 17 figures."""
    for number in range(n):
        x, city = rng.normal(), rng.choice(["Köln", "Oslo", "Paris"])
        price = f"{1500 + 500 * x + 300 * (city == 'Oslo'):,.2f}".translate(str.maketrans(",.", ".,"))
        yield f"{10**16 + number};0{number:04d};{x:.3f};{city};{rng.integers(0, 40)} %;{price} €".replace(".", ",", 1)


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A run on such a table, which came on standard input, and what the command said."""
    folder = tmp_path_factory.mktemp("prices")
    text = "key;zip;x;city;share;price\n" + "\n".join(_rows(np.random.default_rng(0), 200)) + "\n"
    (folder / "data.csv").write_bytes(text.encode("cp1252"))
    args = ("train", "-", "-t", "price", *SHORT, "--out", "run", "--drop", "key,zip")
    with (folder / "data.csv").open("rb") as file:
        done = subprocess.run(
            [*PYTHON, *args], stdin=file, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=True
        )
    return folder, done


def test_the_result_is_on_standard_output_and_the_rest_on_standard_error(prices):
    _, done = prices
    assert "DecisionTreeRegressor ←" in done.stdout
    assert "run/model.mercer" in done.stdout
    assert "first look" not in done.stdout
    assert "price from run/input.csv" in done.stderr
    assert "read as cp1252, as it is not UTF-8: '" in done.stderr
    assert "…" not in done.stdout
    assert "€' is read as" in done.stderr


def test_what_came_on_standard_input_stays_in_the_folder_and_the_run_can_be_resumed(prices):
    folder, _ = prices
    assert (folder / "run" / "input.csv").read_bytes() == (folder / "data.csv").read_bytes()
    assert run_json("train", "--resume", "run", cwd=folder)["best"]["model"] == "DecisionTreeRegressor"


def test_the_script_reads_the_same_numbers(prices):
    folder, _ = prices
    (folder / "again").mkdir()
    subprocess.run([sys.executable, "../run/train.py"], cwd=folder / "again", env=environment(), check=True, timeout=120)
    X = mercer.datasets.read_table(folder / "data.csv")
    first, second = (mercer.load(folder / name / "model.mercer") for name in ("run", "again"))
    assert first.predict(X).tobytes() == second.predict(X).tobytes()


def test_columns_that_are_kept_are_as_they_stand_in_the_file(prices):
    folder, _ = prices
    lines = (folder / "data.csv").read_bytes().decode("cp1252").splitlines()
    expected = [line.split(";") for line in lines[1:]]
    for out in ("kept.csv", "kept.parquet", "kept.json", "kept.jsonl"):
        done = run("predict", "run", "data.csv", "-o", out, "--keep", "key,zip,x,price", "--force", cwd=folder)
        assert done.returncode == 0, done.stderr
        read = {"csv": lambda path: pl.read_csv(path, infer_schema=False), "parquet": pl.read_parquet, "json": pl.read_json}
        table = read.get(out.rpartition(".")[2], pl.read_ndjson)(folder / out)
        assert table.columns == ["key", "zip", "x", "price", "prediction"]
        for place, name in enumerate(["key", "zip", "x", None, None, "price"]):
            assert name is None or table[name].to_list() == [row[place] for row in expected]
    assert (folder / "kept.csv").read_text().splitlines()[1].startswith("10000000000000000,00000,")


def test_json_is_rows_on_standard_output_or_a_summary_where_there_is_a_file(prices):
    folder, _ = prices
    rows = run_json("predict", "run", "data.csv", "--keep", "key", cwd=folder)
    assert len(rows) == 200
    assert rows[0]["key"] == "10000000000000000"
    assert isinstance(rows[0]["prediction"], float)
    summary = run_json("predict", "run", "data.csv", "-o", "summary.csv", cwd=folder)
    assert summary["rows"] == 200
    assert summary["out"] == "summary.csv"
    assert {"column", "message"} == {key for warning in summary["warnings"] for key in warning} or not summary["warnings"]


def test_what_is_otherwise_than_in_training_is_told_with_counts(prices):
    folder, _ = prices
    lines = (folder / "data.csv").read_bytes().decode("cp1252").splitlines()
    rows = [line.split(";") for line in lines]
    rows[3][3], rows[4][3], rows[5][2], rows[6][4] = "Rom", "Rom", "-99,5", "viel"
    (folder / "new.csv").write_text("\n".join(map(";".join, rows)) + "\n")
    done = run("predict", "run", "new.csv", cwd=folder)
    assert done.returncode == 0
    assert "! city: 2 of 200 rows have a category that training had not: 'Rom' (2)" in done.stderr
    assert "down to \u221299.5" in done.stderr
    assert "! share: 1 value is no number: 'viel' in row 6; taken as missing" in done.stderr
    quiet = run("predict", "run", "new.csv", "--quiet", cwd=folder)
    assert quiet.stderr == ""
    assert quiet.stdout == done.stdout
    explained = run("explain", "run", "new.csv", "--all", "-o", "explained.jsonl", cwd=folder)
    assert "'viel' in row 6" in explained.stderr
    assert pl.read_ndjson(folder / "explained.jsonl").height == 200


def test_files_are_not_written_over_by_accident(prices):
    folder, _ = prices
    before = (folder / "data.csv").read_bytes()
    os.link(folder / "data.csv", folder / "linked.csv")
    (folder / "old.csv").write_text("old")
    (folder / "old.html").write_text("old")
    for args, message in [
        (("predict", "run", "data.csv", "-o", "data.csv", "--force"), "this is the file that is read"),
        (("predict", "run", "linked.csv", "-o", "data.csv", "--force"), "this is the file that is read"),
        (("predict", "run", "data.csv", "-o", "old.csv"), "it exists already. --force"),
        (("explain", "run", "data.csv", "--all", "-o", "old.csv"), "it exists already. --force"),
        (("explain", "run", "data.csv", "--row", "1", "-o", "old.html"), "it exists already. --force"),
        (("predict", "run", "data.csv", "-o", "run"), "must end in"),
    ]:
        done = run(*args, cwd=folder)
        assert done.returncode == 2
        assert message in done.stderr
    assert (folder / "data.csv").read_bytes() == before
    assert (folder / "old.csv").read_text() == (folder / "old.html").read_text() == "old"
    assert run("predict", "run", "data.csv", "-o", "old.csv", "--force", cwd=folder).returncode == 0
    assert (folder / "old.csv").read_text().startswith("prediction")


def test_the_user_is_asked_where_there_is_one(tmp_path):
    out, data = tmp_path / "out.csv", tmp_path / "data.csv"
    out.write_text("old")
    check_overwriting(out, data, may=False, ask=lambda question: str(out) in question)
    with pytest.raises(RunError, match="--force"):
        check_overwriting(out, data, may=False, ask=lambda question: False)
    check_overwriting(tmp_path / "new.csv", data, may=False, ask=None)


def test_predictions_have_the_same_bits_with_any_number_of_threads(prices):
    folder, _ = prices
    one, two = (run("predict", "run", "data.csv", "--threads", number, cwd=folder).stdout for number in ("1", "2"))
    assert one == two
    assert run("predict", "run", "data.csv", "--threads", "0", cwd=folder).returncode == 2


def test_a_limit_on_threads_holds_for_kernels_and_ends():
    from mercer._parallel import effective_threads

    before = effective_threads(None)
    with thread_limit(1):
        assert effective_threads(None) == 1
    with thread_limit(None):
        assert effective_threads(None) == before
    assert effective_threads(None) == before


def test_versions_are_told_for_people_and_for_programs(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"mercer {mercer.__version__}\n"
    assert run_json("info", cwd=tmp_path)["mercer"] == mercer.__version__


def test_names_that_predictions_have_themselves_are_not_kept(prices, monkeypatch):
    folder, _ = prices
    with pytest.raises(RunError, match="--keep nothing"):
        Predicting(folder / "run", folder / "data.csv", Wanted(("nothing",)))
    text = (folder / "data.csv").read_bytes().replace(b"key;", b"prediction;", 1)
    (folder / "taken.csv").write_bytes(text)
    with pytest.raises(RunError, match="--keep prediction: predictions have a column"):
        Predicting(folder / "run", folder / "taken.csv", Wanted(("prediction",)))


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "run/journal.jsonl"),
            2,
            "run/journal.jsonl: No space left on device.",
        ),
        (OSError("no words for it"), 2, "no words for it"),
        (OSError(), 2, "OSError"),
        (PermissionError(errno.EACCES, "Permission denied", "run"), 2, "run: Permission denied."),
        (MemoryError(), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was finished"),
        (KeyError("x"), 1, "a fault of Mercer: KeyError: 'x' (the traceback is in "),
    ],
    ids=repr,
)
@pytest.mark.parametrize("as_json", [False, True])
def test_whatever_goes_wrong_is_one_line_and_a_code(error, code, message, as_json, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(failures.typer.Exit) as caught, failures.clear_errors(as_json=as_json):
        raise error
    assert caught.value.exit_code == code
    out, err = capsys.readouterr()
    assert err.startswith("mercer: ")
    assert err.count("\n") == 1
    assert message in err
    assert (json.loads(out)["exit_code"] == code) if as_json else not out


def test_an_interrupt_says_what_is_there(tmp_path):
    def said():
        with pytest.raises(RunError) as caught, failures.told_of_run(tmp_path / "run", "train"):
            raise KeyboardInterrupt
        assert caught.value.exit_code == 130
        return str(caught.value)

    assert said() == "interrupted; nothing was finished"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").touch()
    assert "before there was a model; what was tried is in" in said()
    (tmp_path / "run" / "model.mercer").touch()
    assert f"the model is in {tmp_path / 'run' / 'model.mercer'}" in said()
    assert "--resume" in said()
    full = OSError(errno.ENOSPC, "No space left on device")
    words = r"run: No space left.*kept, `mercer train --resume"
    with pytest.raises(RunError, match=words), failures.told_of_run(tmp_path / "run", "train"):
        raise full
    with pytest.raises(OSError, match="No space"), failures.told_of_run(tmp_path / "none", "train"):
        raise full


def test_a_full_disk_is_one_line(prices):
    folder, _ = prices
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    script = f"exec {' '.join(PYTHON)} predict run data.csv > /dev/full"
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_is_no_fault(prices):
    folder, _ = prices
    script = f"{' '.join(PYTHON)} predict run data.csv --quiet | head -1"
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.stdout == "prediction\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--kind", "x=foo"), "--kind x=foo: it must be one of number, category"),
        (("--kind", "city=date"), "--kind city=date: row 1 holds "),
        (("--out", "file/run"), "--out file/run: "),
        (("--sheet", "2"), "has no sheets"),
        (("--encoding", "klingon"), "--encoding klingon"),
    ],
)
def test_options_that_cannot_be_are_one_line(prices, args, message):
    folder, _ = prices
    (folder / "file").touch()
    done = run("train", "data.csv", "-t", "price", "--models", "Ridge", "--time", "1s", *args, cwd=folder)
    assert done.returncode in (2, 3), done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_identifiers_by_the_user_are_left_out(prices):
    folder, _ = prices
    args = (*SHORT, "--kind", "city=identifier", "--out", "keyed", "--quiet")
    done = run("train", "data.csv", "-t", "price", *args, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    columns = {column["name"]: column for column in run_json("report", "keyed", cwd=folder)["columns"]}
    assert not columns["city"]["used"]
    assert "'" in columns["share"]["reason"]


@pytest.mark.parametrize("width", [None, 120, 80, 40])
def test_tables_show_what_matters_whole_and_leave_out_the_rest(width):
    from rich.console import Console

    names = ["HistGradientBoostingClassifier ←", "Ridge"]
    columns = [TableColumn("model", names), TableColumn("score", ["0.9123 ± 0.0123", "0.1"], is_number=True)]
    columns += [TableColumn(f"figure {place}", ["123456.789", "1"], rank=place) for place in range(1, 6)]
    console = Console(file=io.StringIO(), width=width or 1000)
    console.print(fitted_table(columns, width))
    said = console.file.getvalue()
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= (width or 1000)
    if width != 40:
        assert all(name in said for name in names)
        assert "0.9123 ± 0.0123" in said
    shown = [place for place in range(1, 6) if f"figure {place}" in said]
    assert shown == list(range(1, {None: 6, 120: 6, 80: 3, 40: 1}[width]))
