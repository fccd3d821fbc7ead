"""What a model can tell in one fit is what separate fits tell."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.ensemble import RandomForestRegressor
from mercer.model_selection import Choices, Integers, JointSweep, OutOfBagSweep, Reals, Sweep, tune
from mercer.preprocessing import StandardScaler
from tests.model_selection.data import classes, numbers
from tests.model_selection.fakes import CALLS, BaggedMeans, JointlyShrunken, Means, Shrunken, SweptShrunken

ALPHAS = [100.0, 0.1, 1.0, 10.0]


@pytest.fixture(autouse=True)
def _count_from_zero():
    CALLS.clear()


def scores(result):
    return [(trial.number, dict(trial.params), trial.fold_scores) for trial in result.trials]


def test_fakes_follow_the_protocols():
    assert isinstance(SweptShrunken(), Sweep)
    assert not isinstance(SweptShrunken(), JointSweep)
    assert isinstance(JointlyShrunken(), JointSweep)
    assert isinstance(BaggedMeans(), OutOfBagSweep)
    assert not isinstance(Shrunken(), Sweep)
    assert not isinstance(Means(), OutOfBagSweep)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_one_sweep_per_fold_covers_a_list(n_jobs):
    X, y = numbers()
    result = tune(SweptShrunken(), X, y, {"alpha": ALPHAS}, n_jobs=n_jobs)
    assert CALLS == {"sweep": 5, "predict": 20, "fit": 1}  # the fit is that on all rows
    assert result.how == "one sweep per fold over 4 values of alpha"
    one_by_one = tune(Shrunken(), X, y, {"alpha": ALPHAS}, n_jobs=n_jobs)  # NumPy's bits differ with the threads of its BLAS
    assert scores(result) == scores(one_by_one)
    assert result.best_params == GridSearchCV(Shrunken(), {"alpha": ALPHAS}).fit(X, y).best_params_


def test_other_parameters_are_searched_around_the_sweep_in_the_order_of_the_grid():
    X, y = numbers()
    space = {"alpha": ALPHAS, "power": [1, 2, 3]}
    result = tune(SweptShrunken(), X, y, space, refit=False)
    # For power=3 there is no sweep: its four values are fitted one by one.
    assert CALLS["sweep"] == 2 * 5
    assert CALLS["fit"] == 4 * 5
    assert result.how == "all 3 values of power: one sweep per fold over 4 values of alpha"
    assert scores(result) == scores(tune(Shrunken(), X, y, space))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_one_sweep_covers_several_parameters_in_the_order_of_the_grid(n_jobs):
    X, y = numbers()
    space = {"alpha": ALPHAS, "power": [1, 2, 3]}
    result = tune(JointlyShrunken(), X, y, space, refit=False, n_jobs=n_jobs)
    assert CALLS == {"sweep": 5, "predict": 60}
    assert result.how == "one sweep per fold over 12 combinations of alpha and power"
    assert scores(result) == scores(tune(Shrunken(), X, y, space, refit=False, n_jobs=n_jobs))


def test_a_step_before_and_a_bad_value_leave_the_other_points_of_a_joint_sweep_alone():
    X, y = numbers()
    space = {"jointlyshrunken__alpha": [1.0, -1.0, 2.0], "jointlyshrunken__power": [1, 2], "standardscaler__with_std": [True]}
    with pytest.warns(UserWarning, match="2 of 6 trials failed"):
        result = tune(make_pipeline(StandardScaler(), JointlyShrunken()), X, y, space, refit=False)
    alone = {f"shrunken{name.removeprefix('jointlyshrunken')}": values for name, values in space.items() if "joint" in name}
    with pytest.warns(UserWarning, match="2 of 6 trials failed"):
        expected = tune(make_pipeline(StandardScaler(), Shrunken()), X, y, alone, refit=False)
    assert [trial.status for trial in result.trials] == [trial.status for trial in expected.trials]
    np.testing.assert_array_equal([t.score for t in result.trials], [t.score for t in expected.trials])


def test_long_lists_and_ranges_are_searched_around_a_sweep_of_others():
    X, y = numbers()
    how = "one sweep per fold over 100 values of alpha"
    result = tune(JointlyShrunken(), X, y, {"alpha": Reals(1, 2), "power": Reals(1, 2)}, n_trials=200, random_state=0, cv=2)
    assert result.how.endswith("power: one sweep per fold over 13 values of alpha")
    result = tune(JointlyShrunken(), X, y, {"alpha": Reals(1, 2), "power": list(range(1, 12))}, cv=2, refit=False)
    assert result.how == f"all 11 values of power: {how}"
    result = tune(JointlyShrunken(), X, y, {"alpha": Reals(1, 2), "power": Choices(1, 2)}, n_trials=9, cv=2, refit=False)
    assert result.how == "one sweep per fold over 8 combinations of alpha and power"
    result = tune(JointlyShrunken(), X, y, {"alpha": Reals(1, 2), "power": [1, 2, 3, 4]}, n_trials=9, cv=2, refit=False)
    assert result.how.endswith("power: one sweep per fold over 3 values of alpha")


@pytest.mark.parametrize(
    ("values", "n_values", "ends"),
    [
        (Reals(0.01, 100, log=True), 100, (0.01, 100)),
        (Reals(1, 3), 100, (1, 3)),
        (Integers(1, 20), 20, (1, 20)),
        (Integers(1, 5000, log=True), None, (1, 5000)),
        (scipy.stats.uniform(1, 2), 100, (1.01, 2.99)),
        (scipy.stats.randint(1, 9), 8, (1, 8)),
    ],
)
def test_a_range_is_swept_densely(values, n_values, ends):
    X, y = numbers()
    result = tune(SweptShrunken(), X, y, {"alpha": values})
    tried = [trial.params["alpha"] for trial in result.trials]
    assert len(tried) == n_values or (n_values is None and 60 < len(tried) <= 100)
    assert (min(tried), max(tried)) == pytest.approx(ends)
    assert tried == sorted(set(tried))
    assert CALLS["sweep"] == 5


@pytest.mark.parametrize("search", ["random", "bayesian"])
def test_a_sweep_is_one_combination_of_a_random_or_bayesian_search(search):
    X, y = numbers()
    space = {"alpha": Reals(0.1, 10), "power": Reals(1, 2)}
    result = tune(SweptShrunken(), X, y, space, search=search, n_trials=400, random_state=0)
    assert CALLS["sweep"] == 20 * 5
    assert len(result.trials) == 400
    assert len({trial.params["power"] for trial in result.trials}) == 20


SEVERAL = {
    "a range": {"alpha": Reals(0.1, 10)},
    "whole numbers": {"alpha": Integers(1, 50)},
    "a distribution": {"alpha": scipy.stats.loguniform(0.1, 10)},
    "a list": {"alpha": [0.1 * place for place in range(1, 40)]},
    "a range and a list": {"alpha": Reals(0.1, 10), "power": [1, 2, 3]},
    "two ranges": {"alpha": Reals(0.1, 10), "power": Reals(1, 2)},
    "two lists": {"alpha": [0.1, 1.0, 2.0], "power": [1, 2, 3]},
}


@pytest.mark.parametrize("search", ["auto", "random", "bayesian"])
@pytest.mark.parametrize("n_trials", [1, 5, 12])
@pytest.mark.parametrize("name", SEVERAL)
def test_no_more_trials_than_asked_for(name, n_trials, search):
    X, y = numbers()
    for model in (JointlyShrunken(), SweptShrunken(), Shrunken()):
        result = tune(model, X, y, SEVERAL[name], search=search, n_trials=n_trials, random_state=0, cv=2, refit=False)
        assert 0.5 * n_trials <= len(result.trials) <= n_trials
        assert [trial.number for trial in result.trials] == list(range(len(result.trials)))


def test_fewer_values_of_a_sweep_lie_evenly():
    X, y = numbers()
    result = tune(SweptShrunken(), X, y, {"alpha": Reals(1, 9)}, n_trials=5)
    assert [trial.params["alpha"] for trial in result.trials] == pytest.approx([1, 3, 5, 7, 9])
    result = tune(SweptShrunken(), X, y, {"alpha": list(range(1, 10))}, n_trials=3)
    assert [trial.params["alpha"] for trial in result.trials] == [1, 5, 9]


@pytest.mark.parametrize("n_trials", [3, 5])
def test_a_forest_scored_out_of_bag_tries_no_more_than_asked_for(n_trials):
    X, y = numbers()
    result = tune(RandomForestRegressor(10, random_state=0), X, y, n_trials=n_trials, random_state=0)
    assert len(result.trials) <= n_trials


def test_a_value_that_fails_in_a_sweep_fails_alone():
    X, y = numbers()
    space = {"alpha": [1.0, -1.0, 10.0]}
    with pytest.warns(UserWarning, match="1 of 3 trials failed"):
        result = tune(SweptShrunken(), X, y, space)
    assert [trial.status for trial in result.trials] == ["complete", "failed", "complete"]
    assert result.trials[1].error == "ValueError: alpha=-1.0 is negative"
    with pytest.warns(UserWarning, match="1 of 3 trials failed"):
        apart = tune(Shrunken(), X, y, space)
    np.testing.assert_array_equal([t.fold_scores for t in result.trials], [t.fold_scores for t in apart.trials])
    with pytest.raises(ValueError, match="negative"):
        tune(SweptShrunken(), X, y, space, error_score="raise")


def test_the_last_step_of_a_pipeline_sweeps_rows_that_were_prepared_once():
    X, y = numbers()
    weight = np.linspace(0.5, 2, len(y))
    space = {"model__alpha": ALPHAS, "model__power": [1, 2]}
    results = []
    for model in (JointlyShrunken(), SweptShrunken(), Shrunken()):
        CALLS.clear()
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.steps[-1] = ("model", model)
        results.append(tune(pipeline, X, y, space, sample_weight=weight))
        assert CALLS["sweep"] == {JointlyShrunken: 5, SweptShrunken: 10, Shrunken: 0}[type(model)]
    assert scores(results[0]) == scores(results[1]) == scores(results[2])
    np.testing.assert_allclose(results[0].best_estimator.predict(X), results[2].best_estimator.predict(X))


def test_a_sweep_of_a_single_value_is_a_fit():
    X, y = numbers()
    assert tune(SweptShrunken(), X, y, {"alpha": [1.0]}).how == "fitted on each of 5 folds"
    assert CALLS["sweep"] == 0


# ---- out of bag


def by_hand(X, y, scorer, **params):
    """The score of the rows of odd number by a model of the others."""
    model = Means(**params).fit(X[::2], y[::2])
    return scorer(y[1::2], model.predict(X[1::2]) if scorer is accuracy_score else model.decision(X[1::2])[:, 1])


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_out_of_bag_rows_take_the_place_of_folds_where_cv_is_left_open(scoring):
    X, y = classes()
    values = [0.0, 0.5, 0.99]
    result = tune(BaggedMeans(), X, y, {"shrink": values, "offset": [0.0, 0.4]}, scoring=scoring)
    assert CALLS["sweep_out_of_bag"] == 2
    assert "scored out of bag, without folds" in result.how
    measure = accuracy_score if scoring is None else roc_auc_score
    for trial in result.trials:
        assert trial.fold_scores == (by_hand(X, y, measure, **trial.params),)
        assert np.isnan(trial.spread)
    assert result.best_score == max(trial.score for trial in result.trials)


def test_the_model_of_the_best_trial_is_taken_over_where_the_sweep_has_it():
    X, y = classes()
    for keeps in (True, False):
        model = tune(BaggedMeans(keeps=keeps), X, y, {"shrink": [0.9, 0.0], "offset": [3.0, 0.0]}, random_state=0)
        whole = BaggedMeans(keeps=keeps).set_params(**model.best_params).fit(X, y)
        np.testing.assert_array_equal(model.best_estimator.means_, whole.means_)
        assert model.best_estimator.get_params() == whole.get_params()


def test_folds_are_taken_where_cv_or_groups_ask_for_them():
    X, y = classes()
    space = {"shrink": [0.0, 0.5]}
    assert "5 folds" in tune(BaggedMeans(), X, y, space, cv=5).how
    assert "5 folds" in tune(BaggedMeans(), X, y, space, groups=np.arange(len(y)) // 5).how
    assert "5 folds" in tune(BaggedMeans(), X, y, {"offset": [0.0, 0.1]}).how
    assert "5 folds" in tune(BaggedMeans(), X, y, space, scoring=lambda model, X, y: model.means_[0, 0]).how
    assert "5 folds" in tune(make_pipeline(StandardScaler(), BaggedMeans()), X, y, {"baggedmeans__shrink": [0.0, 0.5]}).how
    assert CALLS["sweep_out_of_bag"] == 0


def test_out_of_bag_on_request_takes_any_space_and_pipelines():
    X, y = classes()
    result = tune(BaggedMeans(), X, y, {"offset": [0.0, 2.0]}, cv="oob")
    assert result.how == "all 2 values of offset: scored out of bag by one fit on all rows, without folds"
    assert result.trials[1].fold_scores == (by_hand(X, y, accuracy_score, offset=2.0),)
    pipeline = make_pipeline(StandardScaler(), BaggedMeans())
    prepared = tune(pipeline, X, y, {"baggedmeans__shrink": [0.0, 0.5]}, cv="oob")
    Z = StandardScaler().fit_transform(X)
    assert [t.score for t in prepared.trials] == [by_hand(Z, y, accuracy_score, shrink=s) for s in (0.0, 0.5)]
    assert prepared.best_estimator.predict(X).shape == y.shape


def test_out_of_bag_without_such_rows_is_refused():
    X, y = classes()
    with pytest.raises(ValueError, match="cv='oob' is not valid for Means with these parameters, which leaves no rows"):
        tune(Means(), X, y, {"shrink": [0.0]}, cv="oob")
    with pytest.raises(ValueError, match="cv='oob' is not valid with groups"):
        tune(BaggedMeans(), X, y, {"shrink": [0.0]}, cv="oob", groups=np.arange(len(y)))
