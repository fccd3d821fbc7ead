"""Runs that are served, made once; and a client of each."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import numpy as np
import polars as pl
import pytest

from tests.command.driver import run_json
from tests.report.conftest import browser  # noqa: F401

pytest.importorskip("fastapi", reason="the service is tested with the extra `serve`")
pytest.importorskip("httpx2", reason="the service is asked in process through httpx2")

from starlette.testclient import TestClient

from mercer._serving.application import application
from mercer._serving.guard import Hosts
from mercer._serving.limits import Limits
from mercer._serving.served import Served

ADDRESS = "http://localhost:8000/"


@pytest.fixture(scope="session")
def classes_run(tmp_path_factory):
    """Classes of the embedded table, with sets of labels."""
    folder = tmp_path_factory.mktemp("classes")
    run_json("train", "--models", "logistic,decisiontree", "--time", "1s", "--intervals", "0.9", "--out", "run", cwd=folder)
    return folder / "run"


@pytest.fixture(scope="session")
def numbers_run(tmp_path_factory):
    """Numbers, from words, dates and free text, with intervals."""
    folder = tmp_path_factory.mktemp("numbers")
    models = "Ridge,decisiontree,extratree"
    run_json("train", "cars", "--models", models, "--time", "2s", "--intervals", "0.9", "--out", "run", cwd=folder)
    return folder / "run"


@pytest.fixture(scope="session")
def clusters_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    run_json("cluster", "--models", "mixture", "--clusters", "3", "--time", "2s", "--out", "run", cwd=folder)
    return folder / "run"


@pytest.fixture(scope="session")
def strange(tmp_path_factory):
    """Two classes by columns of every type that a file has; some names are hostile."""
    folder = tmp_path_factory.mktemp("strange")
    rng, n = np.random.default_rng(0), 200
    size = rng.normal(size=n)
    table = pl.DataFrame(
        {
            "rows": size,
            "price €": [f"€ {value:,.2f}" for value in np.exp(8 + size)],
            "zip": rng.choice([2139, 10115, 75001], n),
            "is new": rng.random(n) > 0.5,
            "answer": rng.choice(["yes", "no"], n),
            "seen at": [datetime(2024, 1, 1) + timedelta(hours=int(hours)) for hours in rng.integers(0, 9000, n)],
            "opens": [time(int(hour), 30) for hour in rng.integers(6, 12, n)],
            "took": [timedelta(seconds=int(each)) for each in rng.integers(1, 900, n)],
            '"><script>alert(1)</script>': rng.choice(["</select>", "b & c"], n),
            "good": size + rng.normal(size=n) > 0,
        }
    )
    table.write_parquet(folder / "table.parquet")
    options = (
        "--kind",
        "zip=category",
        "--models",
        "histgradientboostingclassifier",
        "--time",
        "2s",
        "--out",
        "run",
    )
    run_json("train", "table.parquet", "--target", "good", *options, cwd=folder)
    return folder, table


def client_of(run, *, limits=None, threshold=None, **keywords):
    """A client of a service in this process."""
    limits = limits or Limits()
    served = Served(run, threshold=threshold, longest=limits.text)
    app = application(served, limits, Hosts(("models.local",)), ADDRESS)
    return TestClient(app, base_url=ADDRESS, **keywords)


@pytest.fixture(scope="session")
def classes(classes_run):
    return client_of(classes_run)


@pytest.fixture(scope="session")
def numbers(numbers_run):
    return client_of(numbers_run)


@pytest.fixture(scope="session")
def clusters(clusters_run):
    return client_of(clusters_run)


@pytest.fixture(scope="session")
def strange_client(strange):
    return client_of(strange[0] / "run")
