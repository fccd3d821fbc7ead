"""What a search found can be read, printed and drawn."""

from __future__ import annotations

import builtins
import dataclasses
import json

import numpy as np
import pytest

from mercer.model_selection import Reals, Trial, tune
from mercer.model_selection._tune.trial import best_of, mean_and_spread
from tests.model_selection.data import numbers
from tests.model_selection.fakes import Shrunken, Sometimes


@pytest.fixture(scope="module")
def result():
    X, y = numbers()
    space = {"alpha": [100.0, 0.1, 10.0, 1.0], "power": [1, 2]}
    return tune(Shrunken(), X, y, space, scoring=["r2", "neg_mean_absolute_error"])


def test_best_is_the_trial_with_the_highest_score(result):
    assert result.best_trial in result.trials
    assert result.best_score == max(trial.score for trial in result.trials) == result.best_trial.score
    assert result.best_spread == np.std(result.best_trial.fold_scores)
    assert result.best_params == result.best_trial.params
    assert result.best_estimator.get_params() == {"alpha": 1.0, "power": 1, **result.best_params}
    assert result.status == "finished"
    assert result.scoring == "r2"


def test_result_and_trials_cannot_be_changed(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.best_score = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.trials[0].score = 1.0


def test_text_shows_the_choice_and_the_best_trials(result):
    lines = repr(result).splitlines()
    assert lines[0].startswith("TuneResult: finished after 8 trials in ")
    assert lines[1] == "  all 8 combinations of alpha and power: fitted on each of 5 folds"
    assert lines[2].startswith(f"  best: r2 {result.best_score:.5g} ± {result.best_spread:.2g}, alpha=")
    assert lines[3].split() == ["trial", "score", "spread", "fit", "s", "parameters"]
    assert lines[4].split()[0] == str(result.best_trial.number)
    assert lines[-1].split() == ["…", "3", "more"]
    assert max(map(len, lines)) < 120


def test_dict_is_plain_data(result):
    data = json.loads(json.dumps(result.to_dict()))
    assert data["best_params"] == result.best_params
    assert len(data["trials"]) == 8
    assert data["trials"][3]["fold_scores"] == list(result.trials[3].fold_scores)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frame_has_a_row_a_trial(result, package, monkeypatch):
    if package == "polars":
        _hide(monkeypatch, "pandas")
    frame = result.to_frame()
    assert type(frame).__module__.startswith(package)
    assert list(frame["number"]) == list(range(8))
    assert list(frame["param_alpha"]) == [trial.params["alpha"] for trial in result.trials]
    assert list(frame["fold_2_score"]) == [trial.fold_scores[2] for trial in result.trials]
    expected = [np.mean(trial.others["neg_mean_absolute_error"]) for trial in result.trials]
    np.testing.assert_allclose(list(frame["neg_mean_absolute_error"]), expected)


def test_frame_without_a_library_for_frames_says_what_to_install(result, monkeypatch):
    _hide(monkeypatch, "pandas", "polars")
    with pytest.raises(ImportError, match="to_frame needs pandas or polars: pip install pandas"):
        result.to_frame()


def _hide(monkeypatch, *packages):
    import importlib

    real = importlib.import_module

    def import_module(name, package=None):
        if name in packages:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", import_module)


def test_validation_curve_is_the_best_score_for_each_value(result):
    curve = result.validation_curve("alpha")
    assert curve.values == (0.1, 1.0, 10.0, 100.0)
    for value, score, spread in zip(curve.values, curve.scores, curve.spreads, strict=True):
        best = max((t for t in result.trials if t.params["alpha"] == value), key=lambda trial: trial.score)
        assert (score, spread) == (best.score, best.spread)
    with pytest.raises(ValueError, match="parameter='beta' was not searched; it must be one of: alpha, power"):
        result.validation_curve("beta")


def test_validation_curve_keeps_the_order_of_names_and_leaves_out_nan():
    X, y = numbers()
    with pytest.warns(UserWarning, match="1 of 3 trials failed"):
        curve = tune(Sometimes(), X, y, {"value": [5.0, 2.0, 1.0]}).validation_curve("value")
    assert curve.values == (1.0, 2.0)


def test_mean_spread_and_best_of_scores():
    assert mean_and_spread([1.0, 3.0]) == (2.0, 1.0)
    assert np.isnan(mean_and_spread([1.0])[1])
    trials = [Trial(i, {}, (s,), s, 0.0, 0.0, 0.0) for i, s in enumerate([np.nan, 1.0, 2.0, 2.0, -np.inf])]
    assert best_of(trials).number == 2
    assert best_of(trials[:1]) is None
    assert best_of(trials[4:]).number == 4


def test_without_optuna_lists_and_random_search_work_and_the_rest_says_what_to_install(monkeypatch, tmp_path):
    real = builtins.__import__

    def no_optuna(name, *args, **kwargs):
        if name.partition(".")[0] == "optuna":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_optuna)
    monkeypatch.setattr("mercer.model_selection._tune.optuna_module.importlib.util.find_spec", lambda name: None)
    X, y = numbers()
    assert len(tune(Shrunken(), X, y, {"alpha": [1.0, 2.0]}).trials) == 2
    assert "random values of alpha" in tune(Shrunken(), X, y, {"alpha": Reals(1, 2)}, n_trials=3).how
    with pytest.raises(ImportError, match=r"search='bayesian' needs Optuna: pip install 'mercer\[tune\]'"):
        tune(Shrunken(), X, y, {"alpha": Reals(1, 2)}, search="bayesian")
    with pytest.raises(ImportError, match=r"storage needs Optuna: pip install 'mercer\[tune\]'"):
        tune(Shrunken(), X, y, {"alpha": [1.0]}, storage=tmp_path / "run.db")
