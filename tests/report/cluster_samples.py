"""Contents of reports of clusters, as `mercer cluster` makes them, for the tests of the page."""

from __future__ import annotations

import functools
import json

import numpy as np
import polars as pl

from mercer._runs.clustering.run import cluster
from mercer._runs.settings import ClusterSettings
from tests.report.samples import HOSTILE


def _table():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 90)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[group]
    return pl.DataFrame(
        {
            "x": centres[:, 0] + rng.normal(size=90),
            "y": centres[:, 1] + rng.normal(size=90),
            "kind": np.array(["one", "two", "three"])[group],
            "truth": np.array(["a", "b", "c"])[group],
        }
    )


@functools.cache
def _text(kind, folder):
    table = _table()
    if kind == "noise":
        table = pl.DataFrame(np.random.default_rng(1).normal(size=(80, 3)), schema=["a", "b", "c"])
    if kind == "line":
        table = table.select("x")
    table.write_csv(folder / f"{kind}.csv")
    models = ("hdbscan", "ward") if kind == "density" else ("kmeans",)
    settings = ClusterSettings(
        str(folder / f"{kind}.csv"),
        seconds=0.5,
        models=models,
        clusters=(2, 4),
        against="truth" if "truth" in table.columns else None,
    )
    return json.dumps(cluster(settings, folder / f"run-{kind}", command="mercer cluster").content, allow_nan=False)


def cluster_content(kind, folder):
    """A whole content, a fresh copy each time: blobs, density, noise or line."""
    return json.loads(_text(kind, folder))


def hostile_cluster_content(folder):
    """The same with texts that try to break out of the page wherever text of the data stands."""
    found = cluster_content("blobs", folder)
    texts = iter(HOSTILE * 100)
    found["title"] = found["data"]["source"] = HOSTILE[0]
    found["against"] |= {"column": next(texts), "groups": [next(texts) for _ in found["against"]["groups"]]}
    for column in found["columns"]:
        column |= {"name": next(texts), "reason": next(texts), "made": [next(texts)]}
    for line in found["overview"]:
        line |= {"column": next(texts), "cells": [next(texts) for _ in line["cells"]]}
    for profile in found["profiles"]:
        profile["typical"] = {text: next(texts) for text in HOSTILE}
        for trait in profile["traits"]:
            trait |= {"column": next(texts), "value": next(texts), "inside": next(texts), "outside": next(texts)}
    for axis in found["projection"]["axes"]:
        axis["columns"] = HOSTILE[:3]
    return found
