"""The search of `mercer train`, in its parts."""

from __future__ import annotations

import numpy as np
import optuna
import polars as pl
import pytest

from mercer._runs import search as stages
from mercer._runs.board import Board
from mercer._runs.candidates import Candidate
from mercer._runs.clock import Clock
from mercer._runs.folder import RunFolder
from mercer._runs.folds import Folds
from mercer._runs.problem import make_problem
from mercer._runs.settings import Settings
from mercer.neural_network import MLPClassifier


def test_networks_that_do_poorly_on_their_way_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "_N_TRIALS", 9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    table = pl.DataFrame({**dict(zip("abc", X.T, strict=True)), "y": np.where(X[:, 0] > 0, "yes", "no")})
    settings = Settings("table.csv", "y", seconds=10_000.0)
    folds = Folds(make_problem(table, settings), 3, 0)
    folder = RunFolder.begin(tmp_path / "run", settings, "", {})
    board = Board(3, lambda board: None)
    model = MLPClassifier((4,), max_iter=18, random_state=0)
    candidate = Candidate("MLPClassifier", model, {"learning_rate_init": MLPClassifier._search_space["learning_rate_init"]})
    assert stages.Search(folds, settings, folder, Clock(10_000.0), board).run([candidate], [])
    study = optuna.load_study(storage=f"sqlite:///{folder.trials}", study_name="MLPClassifier")
    states = [trial.state.name for trial in study.trials]
    assert len(states) == 9
    assert set(states) == {"COMPLETE", "PRUNED"}
    entry = board.get("MLPClassifier")
    assert entry.n_trials == 1 + 9
    complete = [trial.user_attrs["mercer"]["fold_scores"] for trial in study.trials if trial.state.name == "COMPLETE"]
    assert entry.fold_scores == pytest.approx(max(complete, key=sum))
