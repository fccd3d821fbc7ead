"""Options and files that nobody prepared: whatever comes, a documented exit code and no traceback."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.command.driver import run

CODES = {0, 2, 3, 4, 130}
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
FEW = settings(SLOW, max_examples=40)

STRANGE = [
    *["", "NA", "-", "inf", "-inf", "nan", "1,5", "1.234,50 €", "$1,200", "12 %", "007", "true", "FALSE", "yes", "2024-02-30"],
    *["31.01.2024", "2024-01-31T25:00", "a b", "ü", "'", '""', '"a;b"', '"a\nb"', "=1+1", "\u200b", "1e400", "x" * 5000],
]
cells = st.one_of(st.integers(-(10**19), 10**19).map(str), st.floats().map(repr), st.sampled_from(STRANGE), st.text(max_size=6))
names = st.one_of(st.sampled_from(["a", "b", "y", "row", "prediction", "x y", "columns", "Ä", "a=b"]), st.text(max_size=4))


@st.composite
def columns(draw):
    """A name and the cells of a column: of few kinds of values, as real columns are, with some that are strange."""
    usual = draw(st.lists(cells, min_size=1, max_size=4))
    n_strange = draw(st.integers(0, 3))
    return draw(names), usual, draw(st.lists(cells, min_size=n_strange, max_size=n_strange))


@st.composite
def files(draw):
    """The bytes of a file, and a name for it."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200)), draw(st.sampled_from(["data.csv", "data.parquet", "data.xlsx", "data.csv.gz"]))
    parts = draw(st.lists(columns(), min_size=1, max_size=5))
    n_rows = draw(st.sampled_from([0, 1, 12, 60, 60]))
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    turns = [itertools.cycle(usual) for _, usual, _ in parts]
    rows = [[next(turn) for turn in turns] for _ in range(n_rows)]
    for place, (_, _, strange) in enumerate(parts):
        for cell, row in zip(strange, reversed(rows), strict=False):
            row[place] = cell
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join(separator.join(row) for row in [[name for name, _, _ in parts], *rows])
    raw = text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1"])), "replace")
    if draw(st.booleans()):
        return raw, "data.csv"
    return draw(
        st.sampled_from([(gzip.compress(raw), "data.csv.gz"), (gzip.compress(raw)[:-4], "data.csv.gz"), (raw, "data.txt")])
    )


def _judge(done):
    assert done.returncode in CODES, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode == 0 or done.stderr.startswith("mercer: ") or "\nmercer: " in done.stderr or "Usage" in done.stderr


READING = {
    "--separator": st.sampled_from([",", ";", "tab", "ab", "", "é"]),
    "--encoding": st.sampled_from(["utf-8", "utf-16", "latin-1", "klingon", "hex", ""]),
    "--sheet": st.sampled_from(["1", "x", ""]),
    "--threads": st.sampled_from(["1", "2", "0", "-1", "x"]),
}
TRAINING = {
    **READING,
    "--time": st.sampled_from(["1s", "0", "-1", "soon", "1e3", "inf"]),
    "--kind": st.sampled_from(
        ["a=identifier", "a=foo", "a=number", "a=date", "b=boolean", "b=duration", "a=text", "y=number", "=", "a="]
    ),
    "--drop": st.sampled_from(["a", "b", "y", "nothing", ",", ""]),
    "--metric": st.sampled_from(["roc_auc", "rmse", "nonsense", ""]),
    "--task": st.sampled_from(["classification", "regression", "clustering"]),
    "--models": st.sampled_from(["Ridge", "decisiontree", "nonsense", ""]),
    "--folds": st.sampled_from(["2", "50", "1", "x"]),
    "--test-size": st.sampled_from(["0.5", "0", "1", "nan"]),
    "--intervals": st.sampled_from(["0.5", "0.999999", "2", "nan"]),
    "--seed": st.sampled_from(["0", "-1", "99999999999999999999"]),
    "--null": st.sampled_from(["", "1", "\n"]),
    "--out": st.sampled_from(["run", "here", "missing/deep", "/proc/none", "data.csv", "\0"]),
}


def _some(options, most):
    return st.lists(
        st.sampled_from(sorted(options)).flatmap(lambda name: st.tuples(st.just(name), options[name])), max_size=most
    )


def _flat(pairs):
    return [word for pair in pairs for word in pair if "\0" not in word]


@pytest.mark.slow
@FEW
@given(file=files(), options=_some(TRAINING, 3), flags=st.sampled_from([[], ["--json"], ["--quiet"], ["--decimal-comma"]]))
def test_no_table_and_no_option_gives_train_a_traceback(tmp_path_factory, file, options, flags):
    folder = tmp_path_factory.mktemp("train")
    (folder / file[1]).write_bytes(file[0])
    given_options = {"--time": "1s", "--models": "Ridge,decisiontree", **dict(options)}
    done = run("train", file[1], "--target", "y", *_flat(given_options.items()), *flags, cwd=folder)
    _judge(done)
    if "--json" in flags and done.returncode != 2:
        json.loads(done.stdout)
    shutil.rmtree(folder)


@pytest.mark.slow
@FEW
@given(file=files(), options=_some({name: TRAINING[name] for name in [*READING, "--kind", "--drop", "--null"]}, 2))
def test_no_table_gives_cluster_a_traceback(tmp_path_factory, file, options):
    folder = tmp_path_factory.mktemp("cluster")
    (folder / file[1]).write_bytes(file[0])
    given_options = {"--time": "1s", "--models": "KMeans", "--clusters": "2", **dict(options)}
    _judge(run("cluster", file[1], *_flat(given_options.items()), cwd=folder))
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Runs on a table of every kind of column."""
    folder = tmp_path_factory.mktemp("trained")
    rows = [f"{n % 7},{'uvw'[n % 3]},{n % 2 == 0},2024-01-{1 + n % 28:02d},{n % 5},{'ab'[n % 2]}" for n in range(80)]
    (folder / "trained.csv").write_text("a,b,x y,Ä,y,row\n" + "\n".join(rows) + "\n")
    for target, name in (("y", "numbers"), ("row", "classes")):
        options = ("--task", "regression") if target == "y" else ()
        models = ("--models", "decisiontree", "--time", "1s", "--model-time", "60s", "--out", name)
        assert run("train", "trained.csv", "-t", target, *models, *options, cwd=folder).returncode == 0
    return folder


@pytest.mark.slow
@SLOW
@given(
    file=files(),
    changes=st.lists(st.tuples(st.integers(1, 79), st.integers(0, 5), cells), max_size=8),
    is_own=st.booleans(),
    model=st.sampled_from(["numbers", "classes", "."]),
    options=_some(
        {
            **READING,
            "--keep": st.sampled_from(["a", "b,a", "nothing", "prediction", ""]),
            "--threshold": st.sampled_from(["0.5", "nan", "x"]),
            "--out": st.sampled_from(["out.csv", "out.parquet", "out.json", "out.jsonl", "out.txt", "new.csv", "deep/out.csv"]),
        },
        3,
    ),
    flags=st.sampled_from([[], ["--json"], ["--quiet"], ["--force"]]),
    command=st.sampled_from([["predict"], ["explain", "--row", "1"], ["explain", "--all"]]),
)
def test_no_rows_give_predict_or_explain_a_traceback(trained, file, changes, is_own, model, options, flags, command):
    content, name = file
    if is_own:  # the training rows with some cells changed: they come as far as the model
        rows = [line.split(",") for line in (trained / "trained.csv").read_text().splitlines()]
        for row, column, cell in changes:
            rows[row][column] = f'"{cell}"' if cell.isprintable() and '"' not in cell else ""
        content, name = "\n".join(map(",".join, rows)).encode("utf-8", "replace"), "new.csv"
    (trained / name).write_bytes(content)
    known = {"predict": None, "explain": ("--keep", "--threshold")}[command[0]] or ()
    pairs = [pair for pair in options if pair[0] not in known]
    _judge(run(command[0], model, name, *command[1:], *_flat(pairs), *flags, cwd=trained))
