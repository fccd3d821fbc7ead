"""Fits that are looked at on their way: poor ones are given up, and what goes on is what a fit without looks is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone

from mercer.linear_model import Ridge
from mercer.model_selection import Halving, Reals, Trial, tune
from mercer.model_selection._tune.bayesian import Bayesian
from mercer.model_selection._tune.candidates import Layout
from mercer.model_selection._tune.halved_fits import Rungs, stages_up_to
from mercer.model_selection._tune.space import make_space
from mercer.model_selection._tune.trial import best_of
from mercer.neural_network import MLPClassifier, MLPRegressor
from mercer.pipeline import make_pipeline
from mercer.preprocessing import StandardScaler
from mercer.tree import DecisionTreeRegressor
from tests.model_selection.data import classes, numbers
from tests.model_selection.fakes import CALLS, Growing

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ERRORS = [1.0, 0.5, 3.0, 2.0, 0.1, 0.7]  # of which the 1st, the 2nd and the 5th are the best so far


def grow(space=None, model=None, **options):
    CALLS.clear()
    options = {"cv": 2, "halving": True, "scoring": "neg_mean_absolute_error", **options}
    return tune(model or Growing(), *numbers(), {"error": ERRORS} if space is None else space, **options)


def trials_of(result):
    return [(t.number, dict(t.params), t.fold_scores, t.status, dict(t.stages)) for t in result.trials]


@pytest.mark.parametrize(("limit", "stages"), [(1, (1,)), (2, (1, 2)), (3, (1, 3)), (9, (1, 3, 9)), (200, (23, 67, 200))])
def test_looks_are_after_a_ninth_a_third_and_all(limit, stages):
    assert stages_up_to(limit) == stages


def test_a_candidate_goes_on_among_the_best_third_so_far():
    rungs = Rungs((2, 18), [])
    assert [rungs.goes_on(2, score) for score in (1.0, 0.5, 1.0, 0.9, 0.8, np.nan)] == [True, False, True, False, False, False]
    known = Trial(0, {}, (5.0,), 5.0, 0.0, 0.0, 0.0, "stopped", stages={2: 5.0})
    assert not Rungs((2, 18), [known]).goes_on(2, 4.0)


def test_poor_trials_are_stopped_and_cost_less():
    result = grow()
    assert [trial.status for trial in result.trials] == ["complete", "complete", "stopped", "stopped", "complete", "stopped"]
    assert [trial.n_spent for trial in result.trials] == [18, 18, 2, 2, 18, 2]
    assert CALLS == {"fit": 2 * 6 + 1, "epoch": 2 * (3 * 18 + 3 * 2) + 18}  # the last of each on all rows
    assert result.best_params == {"error": 0.1}
    assert result.how == ("all 6 values of error: fitted on each of 2 folds, poor ones stopped at 2 or 6 of 18 (max_iter)")
    assert "finished after 6 trials, 3 stopped" in repr(result)


def test_what_goes_on_scores_as_without_looks():
    halved, whole = grow(), grow(halving=False)
    assert CALLS["epoch"] == 2 * 6 * 18 + 18
    for one, other in zip(halved.trials, whole.trials, strict=True):
        assert (one.fold_scores == other.fold_scores) == (one.status == "complete")
        assert other.stages == {}
        assert other.n_spent is None
        if one.status == "complete":
            assert one.stages[18] == one.score


def test_what_was_stopped_never_wins():
    result = grow({"error": [0.1, 0.5], "turn": [4]})
    assert [trial.status for trial in result.trials] == ["complete", "stopped"]
    assert result.trials[1].score > result.trials[0].score  # as others get worse on the way
    assert result.best_trial.number == 0
    assert best_of([result.trials[1]]) is None
    assert len(result.validation_curve("error").values) == 1


def test_a_fit_that_ends_by_itself_is_complete_however_poor():
    result = grow({"error": [0.0, 5.0], "enough": [2]})
    assert [trial.status for trial in result.trials] == ["complete", "complete"]
    assert [dict(trial.stages) for trial in result.trials] == [{2: trial.score} for trial in result.trials]


def test_a_fit_without_looks_is_neither_judged_nor_counted():
    """The whole fits of 0.5 and 0 are better than the looks at 0.5 and 0 that come next."""
    result = grow({"error": [1.0, 0.5, 0.0, 9.0], "looks": [False, True]})
    statuses = [(t.params["looks"], t.status, bool(t.stages)) for t in result.trials]
    assert statuses == [(False, "complete", False), (True, "complete", True)] * 3 + [
        (False, "complete", False),
        (True, "stopped", True),
    ]


def test_a_fit_that_fails_on_its_way_is_failed():
    with pytest.warns(UserWarning, match=r"1 of 3 trials failed; the first, trial 0: ValueError: doom=4 has come"):
        result = grow({"doom": [4, 99, 1000]})
    assert [trial.status for trial in result.trials] == ["failed", "complete", "complete"]
    assert np.isnan(result.trials[0].score)
    assert result.trials[0].n_spent == 6
    with pytest.warns(UserWarning, match="1 of 3 trials failed"):
        result = grow({"doom": [4, 99, 1000]}, error_score=-7.0)
    assert result.trials[0].score == -7.0
    with pytest.raises(ValueError, match="doom=4 has come"):
        grow({"doom": [4, 99]}, error_score="raise")


@pytest.mark.parametrize("search", ["random", "bayesian"])
def test_the_same_seed_gives_the_same_trials_for_any_number_of_jobs(search):
    space = {"error": Reals(0, 3), "turn": [3, 99], "enough": [2, 99]}
    runs = [grow(space, search=search, n_trials=25, random_state=3, n_jobs=n, halving="auto") for n in (None, 1, 2, 3)]
    assert {trial.status for trial in runs[0].trials} == {"complete", "stopped"}
    for run in runs[1:]:
        assert trials_of(run) == trials_of(runs[0])


def test_bayesian_search_learns_from_what_was_stopped():
    search = Bayesian(Layout(make_space({"error": Reals(0, 3)}, Growing()), ()), 30, 0, {})
    drawn = []
    for number in range(30):
        [combination] = search.ask(1)
        drawn.append(combination.candidates[0].params["error"])
        score = -drawn[-1]
        search.tell(combination, [Trial(number, {}, (score,), score, 0.0, 0.0, 0.0, "stopped", stages={2: score})])
    assert np.median(drawn[15:]) < 0.5 * np.median(drawn[:10])


@pytest.mark.parametrize("search", ["grid", "bayesian"])
def test_a_stored_search_goes_on_and_stops_the_same(search, tmp_path):
    import optuna

    space = {"error": ERRORS} if search == "grid" else {"error": Reals(0, 3)}
    options = {"search": search, "random_state": 1, "n_trials": None if search == "grid" else 12}
    whole = grow(space, **options)
    for n_more, n_jobs in ((1, 1), (2, 2), (2, 1)):
        seen = []
        stop = lambda trial, seen=seen, n=n_more: seen.append(trial) or len(seen) == n  # noqa: E731
        grow(space, **options, storage=tmp_path / "run.db", on_trial=stop, n_jobs=n_jobs, refit=False)
    assert trials_of(grow(space, **options, storage=tmp_path / "run.db")) == trials_of(whole)
    again = grow(space, **options, storage=tmp_path / "run.db", refit=False)
    assert CALLS["fit"] == 0
    assert trials_of(again) == trials_of(whole)
    study = optuna.load_study(storage=f"sqlite:///{tmp_path}/run.db", study_name="Growing")
    assert {t.state.name for t in study.trials} == {"COMPLETE", "PRUNED"}
    assert study.trials[0].intermediate_values == whole.trials[0].stages
    for halving in (False, "auto" if search == "grid" else False):
        with pytest.raises(ValueError, match="another search"):
            grow(space, **options, storage=tmp_path / "run.db", halving=halving)


def test_results_tell_how_far_trials_came():
    result = grow()
    assert result.to_frame()["n_spent"].tolist() == [18, 18, 2, 2, 18, 2]
    assert "n_spent" not in grow(halving=False).to_frame().columns
    told = json.loads(json.dumps(result.to_dict()))
    assert told["trials"][2]["status"] == "stopped"
    assert list(told["trials"][2]["stages"]) == ["2"]


def test_grids_are_scored_whole_unless_halving_is_asked_for():
    assert "stopped" not in grow(halving="auto").how
    assert "stopped" in grow({"error": Reals(0, 1)}, halving="auto", n_trials=2).how


@pytest.mark.parametrize(
    ("model", "space", "lack"),
    [
        (Ridge(), {"solver": ["auto"]}, "Ridge with these parameters has no looks"),
        (DecisionTreeRegressor(), {"max_depth": [1, 2]}, "DecisionTreeRegressor with these parameters has no looks"),
        (Growing(looks=False), {"error": [1.0]}, "Growing with these parameters has no looks"),
        (MLPRegressor(solver="lbfgs"), {"alpha": [1.0]}, "MLPRegressor with these parameters has no looks"),
        (Growing(), {"max_iter": [5, 9]}, "max_iter, which says how long a fit goes on, is searched itself"),
        (Growing(max_iter=1), {"error": [1.0]}, "with max_iter=1 there is nothing to stop"),
    ],
    ids=str,
)
def test_halving_is_refused_where_there_is_nothing_to_look_at(model, space, lack):
    with pytest.raises(ValueError, match=f"halving=True is not valid here: {lack}"):
        grow(space, model)
    assert grow(space, model, halving="auto", search="random", n_trials=1).best_trial.status == "complete"


def test_halving_is_yes_no_or_auto():
    with pytest.raises(ValueError, match="halving='maybe' is not valid"):
        grow(halving="maybe")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_when_the_time_is_over_what_is_finished_counts(n_jobs):
    with pytest.raises(TimeoutError, match="before the first trial was finished"):
        grow(time_limit=1e-9, n_jobs=n_jobs)
    result = grow({"error": Reals(0, 3)}, search="random", time_limit=0.3, n_jobs=n_jobs, random_state=0)
    assert result.status == "time limit"
    assert [trial.number for trial in result.trials] == list(range(len(result.trials)))


# ---- networks


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_networks_in_a_pipeline_are_halved_and_end_as_plain_fits(n_jobs):
    X, y = classes()
    model = make_pipeline(StandardScaler(), MLPClassifier((6,), max_iter=18, random_state=0, n_iter_no_change=100))
    space = {"mlpclassifier__learning_rate_init": [1e-6, 0.03, 1e-5, 0.01]}
    options = {"cv": 3, "scoring": "neg_log_loss", "n_jobs": n_jobs}
    halved, whole = (tune(model, X, y, space, halving=halving, **options) for halving in (True, False))
    assert halved.how.endswith("poor ones stopped at 2 or 6 of 18 (mlpclassifier__max_iter)")
    assert [trial.status for trial in halved.trials] == ["complete", "complete", "stopped", "stopped"]
    for one, other in zip(halved.trials, whole.trials, strict=True):
        assert one.status == "stopped" or one.fold_scores == other.fold_scores
    assert isinstance(model[-1], Halving)
    assert clone(model).set_params(**halved.best_params).fit(X, y).score(X, y) == halved.best_estimator.score(X, y)
