"""The live view, in a real terminal."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time

import pytest

from tests.command.driver import PYTHON, environment

SESSION = "mercer-test"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux, to look at a terminal")


def _tmux(*args, env=None):
    command = ["tmux", "-L", SESSION, *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, env=env).stdout


def _screen_with(text, seconds=60):
    """The screen once it holds a text."""
    end = time.monotonic() + seconds
    while text not in (screen := _tmux("capture-pane", "-p", "-S", "-100", "-t", SESSION)):
        assert time.monotonic() < end, f"{text!r} never came:\n{screen}"
        time.sleep(0.1)
    return screen


@pytest.fixture
def terminal(tmp_path):
    """A terminal of 100 columns and 40 lines in which a run begins."""
    train = shlex.join([*PYTHON, "train", "--time", "60s", "--models", "logistic,decisiontree,histgradientboosting"])
    env = {name: value for name, value in environment().items() if name not in ("TERM", "COLUMNS", "NO_COLOR")}
    _tmux("new-session", "-d", "-s", SESSION, "-x", "100", "-y", "40", "-c", str(tmp_path), f"{train}; sleep 60", env=env)
    yield
    _tmux("kill-server")


def test_the_leaderboard_moves_and_ctrl_c_ends_with_the_best(terminal):
    screen = _screen_with("search: ")
    assert "species from penguins" in screen
    assert "Ctrl-C ends with the best so far" in screen
    for model in ("LogisticRegression", "DecisionTreeClassifier", "HistGradientBoostingClassifier"):
        screen = _screen_with(f"{model} ")
    assert all(len(line) <= 100 for line in screen.splitlines())
    _tmux("send-keys", "-t", SESSION, "C-c")
    screen = _screen_with("report.html")
    assert "interrupted: this is the best so far" in screen
    assert "Traceback" not in screen
    assert "Accuracy" in screen
