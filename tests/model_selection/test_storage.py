"""A search that is killed goes on where it was."""

from __future__ import annotations

import json
import sqlite3
import time

import numpy as np
import pytest

from mercer.linear_model import Ridge
from mercer.model_selection import Choices, Reals, tune
from tests.model_selection.data import numbers
from tests.model_selection.fakes import CALLS, Shrunken, Sometimes, SweptShrunken
from tests.model_selection.killed import N_TRIALS, start

SPACES = {
    "grid": (Shrunken(), {"alpha": [0.1, 1.0, 10.0], "power": [1, 2]}, {}),
    "random": (Shrunken(), {"alpha": Reals(0.01, 100, log=True)}, {"search": "random", "n_trials": 6}),
    "bayesian": (Shrunken(), {"alpha": Reals(0.01, 100, log=True)}, {"search": "bayesian", "n_trials": 14}),
    "sweep": (SweptShrunken(), {"alpha": [0.1, 1.0, 10.0], "power": [1, 2]}, {}),
    "objects": (Ridge(), {"tol": Choices(1e-4, np.float32(0.5)), "random_state": [None, 3]}, {}),
}


def scores(result):
    return [(trial.number, dict(trial.params), trial.fold_scores) for trial in result.trials]


@pytest.mark.parametrize("case", SPACES)
def test_a_search_that_stopped_goes_on_and_gives_the_same(case, tmp_path):
    X, y = numbers()
    estimator, space, options = SPACES[case]
    options = {**options, "storage": tmp_path / "run.db", "random_state": 5}
    whole = tune(estimator, X, y, space, **{**options, "storage": None})
    for n_more in (1, 2, 3):
        seen = []
        tune(estimator, X, y, space, **options, refit=False, on_trial=lambda t, s=seen, n=n_more: s.append(t) or len(s) == n)
    resumed = tune(estimator, X, y, space, **options)
    assert scores(resumed) == scores(whole)
    CALLS.clear()
    again = tune(estimator, X, y, space, **options, refit=False)
    assert not CALLS
    assert scores(again) == scores(whole)
    assert [t.fit_seconds for t in again.trials] == [t.fit_seconds for t in resumed.trials]


def test_without_a_seed_the_file_keeps_one(tmp_path):
    X, y = numbers()
    options = {"search": "random", "n_trials": 4, "storage": tmp_path / "run.db"}
    first = tune(Shrunken(), X, y, {"alpha": Reals(0.1, 10)}, **options)
    second = tune(Shrunken(), X, y, {"alpha": Reals(0.1, 10)}, **{**options, "n_trials": 7})
    assert scores(second)[:4] == scores(first)
    assert len(second.trials) == 7


def test_failed_trials_are_kept_too(tmp_path):
    X, y = numbers()
    options = {"storage": f"sqlite:///{tmp_path}/run.db", "name": "mine"}
    for _ in range(2):
        with pytest.warns(UserWarning, match="2 of 3 trials failed"):
            result = tune(Sometimes(), X, y, {"value": [5.0, 7.0, 1.0]}, **options)
        assert [trial.status for trial in result.trials] == ["failed", "failed", "complete"]
        assert result.trials[1].error == "RuntimeError: value=7.0 is above 5"
    with pytest.raises(RuntimeError, match="above 5"):
        tune(Sometimes(), X, y, {"value": [7.0]}, storage=tmp_path / "other.db")
    with pytest.raises(ValueError, match=r"all 1 trials failed; the first: RuntimeError: value=7\.0 is above 5"):
        tune(Sometimes(), X, y, {"value": [7.0]}, storage=tmp_path / "other.db")


def test_several_studies_share_a_file(tmp_path):
    X, y = numbers()
    for name in ("first", "second"):
        assert len(tune(Shrunken(), X, y, {"alpha": [1.0]}, storage=tmp_path / "run.db", name=name).trials) == 1
    with sqlite3.connect(tmp_path / "run.db") as file:
        assert {row[0] for row in file.execute("select study_name from studies")} == {"first", "second"}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"space": {"alpha": [1.0, 2.0]}}, "space"),
        ({"estimator": Shrunken(power=2)}, "estimator"),
        ({"X": 2}, "data"),
        ({"scoring": "neg_mean_absolute_error"}, "scoring"),
        ({"cv": 3}, "cv"),
        ({"random_state": 1}, "random_state"),
        ({"search": "random", "n_trials": 2}, "search"),
        ({"sample_weight": 3}, "data"),
    ],
)
def test_a_study_of_another_search_is_refused(change, part, tmp_path):
    X, y = numbers()
    given = {"estimator": Shrunken(), "X": X, "y": y, "space": {"alpha": [1.0, 3.0]}, "storage": tmp_path / "run.db"}
    given["random_state"] = 0
    tune(**given)
    if change.get("X") or change.get("sample_weight"):
        key = next(iter(change))
        change = {key: X * change[key] if key == "X" else np.full(len(y), 2.0)}
    with pytest.raises(ValueError, match=rf"name='Shrunken' of another search \(another {part}\); give another name"):
        tune(**{**given, **change})
    tune(**{**given, **change}, name="another")
    tune(**given)


def test_what_changes_no_score_may_change(tmp_path):
    X, y = numbers()
    for n_jobs in (None, 2):
        tune(Shrunken(), X, y, {"alpha": [1.0, 3.0]}, storage=tmp_path / "run.db", n_jobs=n_jobs, refit=bool(n_jobs))


def test_a_file_that_is_no_storage_is_refused(tmp_path):
    X, y = numbers()
    (tmp_path / "text.db").write_text("not a database, and long enough to be looked at as one" * 50)
    with pytest.raises(ValueError, match=r"storage='.*text.db' cannot be used .*must be a file made by Optuna"):
        tune(Shrunken(), X, y, {"alpha": [1.0]}, storage=tmp_path / "text.db")
    with pytest.raises(ValueError, match=r"cannot be used .*a new file in a folder that exists"):
        tune(Shrunken(), X, y, {"alpha": [1.0]}, storage=tmp_path / "nowhere" / "run.db")
    with pytest.raises(ValueError, match="storage='postgresql://x' is not valid; it must be None, the path of a file or a URL"):
        tune(Shrunken(), X, y, {"alpha": [1.0]}, storage="postgresql://x")


def test_a_study_of_someone_else_is_refused(tmp_path):
    import optuna

    url = f"sqlite:///{tmp_path}/run.db"
    optuna.create_study(storage=url, study_name="theirs").optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    with pytest.raises(ValueError, match="name='theirs' that tune has not made"):
        tune(Shrunken(), *numbers(), {"alpha": [1.0]}, storage=url, name="theirs")


def test_optuna_reads_the_file(tmp_path):
    import optuna

    X, y = numbers()
    result = tune(Shrunken(), X, y, {"alpha": Reals(0.1, 10), "power": [1, 2]}, n_trials=5, storage=tmp_path / "run.db")
    study = optuna.load_study(storage=f"sqlite:///{tmp_path}/run.db", study_name="Shrunken")
    assert study.best_value == result.best_score
    assert study.best_params == result.best_params


# ---- kill -9


def noted_by(folder):
    """The numbers of the trials that were told as finished."""
    return [int(word) for word in (folder / "log.txt").read_text().split()] if (folder / "log.txt").exists() else []


def written_in(folder):
    """The scores of each trial in the file, by number."""
    if not (folder / "run.db").exists():
        return {}
    with sqlite3.connect(folder / "run.db") as file:
        rows = file.execute("select value_json from trial_user_attributes where key = 'mercer'").fetchall()
    entries = [json.loads(row[0]) for row in rows]
    assert len({entry["number"] for entry in entries}) == len(entries)  # none twice
    return {entry["number"]: entry["fold_scores"] for entry in entries}


def kill_after(process, folder, n_finished, more_seconds):
    deadline = time.monotonic() + 60
    while process.is_alive() and len(noted_by(folder)) < n_finished and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(more_seconds)
    process.kill()
    process.join()


@pytest.mark.parametrize(
    "kind", [*N_TRIALS, *(pytest.param(kind, marks=pytest.mark.slow, id=f"{kind}, more") for kind in N_TRIALS)]
)
def test_kill_at_any_moment_loses_no_finished_trial_and_repeats_none(kind, tmp_path, request):
    random = np.random.RandomState(len(request.node.name))
    known = {}
    for _ in range(10 if "more" in request.node.name else 2):
        process = start(kind, tmp_path)
        kill_after(process, tmp_path, len(known) + random.randint(0, 7), random.uniform(0, 0.05))
        written = written_in(tmp_path)
        assert set(noted_by(tmp_path)) <= set(written)  # what is told as finished is written
        assert known.items() <= written.items()  # and stays as it is
        known = written
    process = start(kind, tmp_path)
    process.join(120)
    assert process.exitcode == 0
    trials = dict(json.loads((tmp_path / "result.json").read_text()))
    assert list(trials) == list(range(N_TRIALS[kind]))
    assert known.items() <= trials.items()
    assert written_in(tmp_path) == trials
    assert len(set(noted_by(tmp_path))) == len(noted_by(tmp_path))
