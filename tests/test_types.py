"""A user's script under type checkers: what is right passes, a parameter that does not exist is found where it stands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

# Lines that end in `# wrong` are those that a checker must find, and no others.
SCRIPT = """\
import mercer.cluster
from mercer import pipeline
from mercer.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from mercer.feature_extraction.text import TfidfVectorizer
from mercer.linear_model import BayesianRidge, LassoCV, LogisticRegression
from mercer.metrics import accuracy_score
from mercer.model_selection import GridSearchCV
from mercer.pipeline import make_pipeline
from mercer.preprocessing import StandardScaler
from mercer.svm import LinearSVC

forest = RandomForestClassifier(n_estimators=3)
RandomForestClassifier(n_estimatorz=3)  # wrong
LassoCV(epz=1e-3)  # wrong
HistGradientBoostingRegressor(max_iter="many")  # wrong
mercer.cluster.KMeans(n_clusterz=3)  # wrong
LogisticRegression(C=0.5).fit([[0.0], [1.0]], [0, 1])
accuracy_score([0, 1], [0, 1], sample_wait=None)  # wrong
search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [1.0, 2.0]})
pipeline.Pipeline([("words", TfidfVectorizer()), ("model", BayesianRidge())])
"""
WRONG = [number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_the_package_says_that_it_is_typed():
    assert (Path(mercer.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
def test_mypy_finds_the_wrong_parameters_and_nothing_else(script, tmp_path):
    pytest.importorskip("mypy")
    # What is installed, as a user has it: errors inside the package are not shown.
    package = tmp_path / "site" / "mercer"
    package.parent.mkdir()
    package.symlink_to(Path(mercer.__file__).parent)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    command += ["--config-file", "/dev/null", "--follow-imports", "silent", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=250, check=False, env={"MYPYPATH": str(package.parent)}, cwd=tmp_path
    )
    found = [int(line) for line in re.findall(r"script\.py:(\d+): error", done.stdout)]
    assert found == WRONG, done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_finds_the_wrong_parameters_and_nothing_else(script, tmp_path):
    pyright = shutil.which("basedpyright") or shutil.which("pyright")
    if pyright is None:
        pytest.skip("needs pyright")
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(Path(mercer.__file__).parents[1])]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [pyright, "--pythonpath", sys.executable, "--project", str(tmp_path), "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = sorted(entry["range"]["start"]["line"] + 1 for entry in found if entry["severity"] == "error")
    assert lines == WRONG, done.stdout
