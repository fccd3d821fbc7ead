"""What `mercer.patched()` tells."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mercer
from mercer._patching._differences import Differences
from tests.versions import against_scikit_learn_1_9

PAGE = """
## Parameters
| name | difference | reason |
|---|---|---|
| `KMeans` | not this | |
## `cluster` and `tree`
| name | difference | reason |
|---|---|---|
| all | of a module | because |
| `KMeans`, `kmeans(x=1)` | one | |
| the same | two | |
| words only | three | |
## From another library
| `KMeans` | nor this | |
"""


def test_rows_of_the_page_are_found_by_name_and_by_module():
    page = Differences.parsed(PAGE)
    assert page.of("sklearn.cluster.KMeans") == ["of a module", "one", "two"]
    assert page.of("sklearn.elsewhere.kmeans") == ["one", "two"]
    assert page.of("sklearn.tree.plot_tree") == ["of a module"]
    assert page.of("sklearn.svm.SVC") == []


@pytest.fixture(scope="module")
def names():
    return mercer.patched()


@against_scikit_learn_1_9
def test_what_differs_is_that_of_the_signature_and_of_the_page(names):
    differs = {name.path: name.differs for name in names}
    assert differs["sklearn.preprocessing.StandardScaler"].startswith("Parameters new: ddof. Overflow is an error.")
    assert "Predictions scale with y" not in differs["sklearn.linear_model.HuberRegressor"]  # the reason is not the difference
    assert "duality gap" in differs["sklearn.linear_model.LogisticRegression"]
    assert "X keeps the precision" in differs["sklearn.tree.DecisionTreeClassifier"]
    assert "not deprecated" in differs["sklearn.svm.NuSVC"]


@against_scikit_learn_1_9
def test_names_are_mercers_or_kept_with_a_reason(names):
    assert len(names) == len(names.replaced) + len(names.kept)
    assert len(names.replaced) > 240
    assert not [path for path, thing in names.replaced.items() if not thing.__module__.startswith("mercer.")]
    assert all(names.kept.values())
    assert {"sklearn.svm.LinearSVC", "sklearn.neighbors.KDTree", "sklearn.linear_model.lasso_path"} <= set(names.kept)
    assert "not taken: params" in names.kept["sklearn.linear_model.lasso_path"]
    ridge = next(name for name in names if name.path == "sklearn.linear_model.Ridge")
    assert (ridge.given, ridge.given_path) == (mercer.linear_model.Ridge, "mercer.linear_model.Ridge")
    assert names[0].is_replaced
    assert not names[-1].is_replaced
    assert names[:2] == (names[0], names[1])


def test_it_prints_as_a_table_and_says_whether_the_patch_is_on(names):
    lines = repr(names).splitlines()
    assert lines[0].startswith("The patch is off: ")
    assert len(lines) == len(names) + 5
    assert max(map(len, lines)) < 230
    with mercer.patch_sklearn():
        assert repr(mercer.patched()).startswith("The patch is on: ")
    frame = names.to_frame()
    assert list(frame.columns) == ["path", "given_path", "is_replaced", "differs"]
    assert len(frame) == len(names)


def test_it_needs_neither_pandas_nor_the_patch():
    code = """
import sys
sys.modules["pandas"] = None
import mercer
print(len(mercer.patched()), mercer.patched().is_on)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True).stdout.split()
    assert int(said[0]) > 200
    assert said[1] == "False"
