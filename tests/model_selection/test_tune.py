"""`tune` chooses as scikit-learn's searches do, and says what went wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RandomizedSearchCV, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC

from mercer.cluster import KMeans
from mercer.ensemble import HistGradientBoostingClassifier
from mercer.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from mercer.model_selection import Choices, Integers, Reals, tune
from mercer.preprocessing import StandardScaler
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.model_selection.data import classes, numbers
from tests.model_selection.fakes import CALLS, Shrunken, Sometimes

CASES = {
    "ridge": (Ridge(), {"alpha": [0.1, 1, 10, 100], "fit_intercept": [True, False]}, numbers(), None),
    "lasso": (Lasso(), {"alpha": [0.5, 0.1, 0.01]}, numbers(), "neg_mean_absolute_error"),
    "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 3, None]}, numbers(), "r2"),
    "logistic": (LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, classes(), "roc_auc"),
    "many classes": (LogisticRegression(tol=1e-10), {"C": [0.01, 1.0]}, classes(n_classes=3), "neg_log_loss"),
    "ridge classifier": (RidgeClassifier(), {"alpha": [0.1, 1000.0]}, classes(n_classes=4), None),
    "classes by tree": (DecisionTreeClassifier(random_state=0), {"min_samples_leaf": np.arange(1, 6)}, classes(), "f1"),
    "other library": (SVC(), {"C": [0.1, 1.0], "kernel": ["linear", "rbf"]}, classes(), "accuracy"),
    "boosting": (HistGradientBoostingClassifier(max_iter=5), {"max_leaf_nodes": [3, 7]}, classes(), "neg_log_loss"),
}


@pytest.mark.parametrize("case", CASES)
def test_grid_gives_the_scores_and_the_choice_of_grid_search(case):
    estimator, space, (X, y), scoring = CASES[case]
    result = tune(estimator, X, y, space, scoring=scoring, cv=4, search="grid")
    peer = GridSearchCV(estimator, {name: list(values) for name, values in space.items()}, scoring=scoring, cv=4).fit(X, y)
    assert [dict(trial.params) for trial in result.trials] == peer.cv_results_["params"]
    np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"], rtol=1e-6)
    np.testing.assert_allclose([t.spread for t in result.trials], peer.cv_results_["std_test_score"], rtol=1e-4, atol=1e-8)
    assert result.best_params == peer.best_params_
    np.testing.assert_allclose(result.best_estimator.predict(X), peer.best_estimator_.predict(X))


def test_random_search_draws_what_randomized_search_draws():
    X, y = numbers()
    space = {"alpha": scipy.stats.loguniform(1e-3, 1e3), "fit_intercept": [True, False]}
    result = tune(Shrunken(), X, y, {"alpha": space["alpha"], "power": [1, 2]}, search="random", n_trials=7, random_state=3)
    peer = RandomizedSearchCV(Shrunken(), {"alpha": space["alpha"], "power": [1, 2]}, n_iter=7, random_state=3).fit(X, y)
    assert [dict(trial.params) for trial in result.trials] == peer.cv_results_["params"]
    np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"])


def test_random_search_of_lists_repeats_nothing_and_ends_with_the_last():
    X, y = numbers()
    space = {"alpha": Choices(0.1, 1.0, 10.0), "power": [1, 2]}
    assert len(tune(Shrunken(), X, y, space, search="random", n_trials=50, random_state=0).trials) == 6
    drawn = tune(Shrunken(), X, y, space, search="random", n_trials=4, random_state=0).trials
    assert len({tuple(trial.params.items()) for trial in drawn}) == 4


def test_ranges_are_drawn_within_their_ends():
    X, y = numbers()
    space = {"alpha": Reals(0.01, 10, log=True), "power": Integers(1, 3)}
    result = tune(Shrunken(), X, y, space, search="random", n_trials=40, random_state=0)
    alphas = np.array([trial.params["alpha"] for trial in result.trials])
    assert alphas.min() >= 0.01
    assert alphas.max() <= 10
    assert 0.2 < np.mean(alphas < 10**-0.5) < 0.8  # half of the factors of two
    assert {trial.params["power"] for trial in result.trials} == {1, 2, 3}


def test_bayesian_search_finds_a_better_place_than_its_first_draws():
    X, y = numbers()
    space = {"value": Reals(-50, 4)}
    result = tune(Sometimes(), X, y, space, search="bayesian", n_trials=40, random_state=0)
    assert len(result.trials) == 40
    assert result.best_trial.number >= 10  # the first ten are random
    assert abs(result.best_params["value"] - y.mean()) < 1.5


def test_bayesian_search_takes_lists_integers_and_distributions():
    X, y = numbers()
    space = {"alpha": scipy.stats.loguniform(1e-2, 1e2), "power": [2, 1]}
    result = tune(Shrunken(), X, y, space, search="bayesian", n_trials=14, random_state=0)
    assert all(1e-2 <= trial.params["alpha"] <= 1e2 for trial in result.trials)
    tree = tune(DecisionTreeRegressor(), X, y, {"max_depth": scipy.stats.randint(1, 6)}, search="bayesian", n_trials=12)
    assert {type(trial.params["max_depth"]) for trial in tree.trials} == {int}


@pytest.mark.parametrize("search", ["grid", "random", "bayesian"])
def test_same_seed_gives_the_same_trials_for_any_number_of_jobs(search):
    X, y = numbers()
    values = [0.1, 1.0, 10.0] if search == "grid" else Reals(0.01, 100, log=True)
    n_trials = None if search == "grid" else 13
    runs = [
        tune(Ridge(), X, y, {"alpha": values}, search=search, n_trials=n_trials, random_state=7, n_jobs=n_jobs)
        for n_jobs in (None, 1, 2, 3)
    ]
    first = [(trial.number, dict(trial.params), trial.fold_scores) for trial in runs[0].trials]
    for run in runs[1:]:
        assert [(trial.number, dict(trial.params), trial.fold_scores) for trial in run.trials] == first


def test_auto_takes_the_grid_of_short_lists_and_searches_what_is_larger():
    X, y = numbers()
    assert tune(Ridge(), X, y, {"tol": [1e-4, 1e-3]}).how.startswith("all 2 values of tol")
    assert "TPE" in tune(Shrunken(), X, y, {"alpha": Reals(1, 2)}, n_trials=3).how
    assert len(tune(Shrunken(), X, y, {"alpha": [1.0, 2.0, 3.0]}, n_trials=2).trials) <= 2


def test_equal_scores_are_won_by_the_first():
    X, y = numbers()
    result = tune(Sometimes(), X, y, {"value": [2.0, 1.0, 1.0, 3.0]})
    assert result.best_trial.number == 1


def test_nan_never_wins_and_failures_say_why():
    X, y = numbers()
    with pytest.warns(UserWarning, match=r"2 of 3 trials failed; the first, trial 0: r2 is nan on fold 0, 1, 2, 3, 4"):
        result = tune(Sometimes(), X, y, {"value": [5.0, 7.0, -40.0]})
    assert result.best_params == {"value": -40.0}
    nan, failed, good = result.trials
    assert (nan.status, failed.status, good.status) == ("failed", "failed", "complete")
    assert np.isnan(nan.score)
    assert failed.error == "RuntimeError: value=7.0 is above 5"
    assert good.error is None
    assert "2 failed" in repr(result)


def test_an_error_score_that_is_a_number_counts_as_in_grid_search():
    X, y = numbers()
    with pytest.warns(UserWarning, match="1 of 2 trials failed"):
        result = tune(Sometimes(), X, y, {"value": [7.0, -40.0]}, error_score=-2000.0)
    assert result.trials[0].fold_scores == (-2000.0,) * 5
    assert result.best_trial.number == 1
    with pytest.warns(UserWarning, match="1 of 2 trials failed"):
        assert tune(Sometimes(), X, y, {"value": [7.0, -40.0]}, error_score=9.0, refit=False).best_trial.number == 0


def test_if_all_trials_fail_the_first_error_is_raised_with_its_traceback():
    X, y = numbers()
    with pytest.raises(RuntimeError, match=r"value=6\.0 is above 5") as caught:
        tune(Sometimes(), X, y, {"value": [6.0, 7.0]})
    assert caught.traceback[-1].name == "fit"
    with pytest.raises(ValueError, match="all 1 trials failed; the first: r2 is nan"):
        tune(Sometimes(), X, y, {"value": [5.0]})


def test_error_score_raise_ends_at_the_first_error():
    X, y = numbers()
    seen = []
    with pytest.raises(RuntimeError, match="above 5"):
        tune(Sometimes(), X, y, {"value": [1.0, 6.0, 2.0]}, error_score="raise", on_trial=seen.append)
    assert len(seen) == 1


@pytest.mark.filterwarnings("error")
def test_on_trial_sees_every_trial_and_may_stop():
    X, y = numbers()
    seen = []
    result = tune(Shrunken(), X, y, {"alpha": [1.0, 2.0, 3.0]}, on_trial=seen.append)
    assert [trial.number for trial in seen] == [0, 1, 2]
    assert seen == result.trials
    for n_jobs in (1, 2):
        stopped = tune(Shrunken(), X, y, {"alpha": [1.0, 2.0, 3.0]}, on_trial=lambda t: t.number == 1, n_jobs=n_jobs)
        assert stopped.status == "stopped"
        assert len(stopped.trials) == 2


def test_time_limit_ends_between_fits(monkeypatch):
    X, y = numbers()
    now = [0.0]
    monkeypatch.setattr("mercer.model_selection._tune.workers.time.monotonic", lambda: now[0])

    def pass_time(trial):
        now[0] += 1.0

    result = tune(Shrunken(), X, y, {"alpha": [1.0, 2.0, 3.0, 4.0]}, time_limit=1.5, on_trial=pass_time)
    assert result.status == "time limit"
    assert len(result.trials) == 2
    monkeypatch.setattr("mercer.model_selection._tune.workers.time.monotonic", iter(range(100)).__next__)
    with pytest.raises(TimeoutError, match=r"time_limit=2\.5 was over before the first trial"):
        tune(Shrunken(), X, y, {"alpha": [1.0, 2.0]}, time_limit=2.5)


def test_ctrl_c_ends_with_the_best_so_far_if_there_is_one():
    X, y = numbers()

    class Interrupted(Shrunken):
        def fit(self, X, y, sample_weight=None):
            if self.alpha == 3:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    result = tune(Interrupted(), X, y, {"alpha": [1, 2, 3, 4]})
    assert result.status == "interrupted"
    assert len(result.trials) == 2
    assert result.best_estimator.coef_ is not None
    with pytest.raises(KeyboardInterrupt):
        tune(Interrupted(), X, y, {"alpha": [3, 4]})


def test_refit_false_leaves_no_estimator_and_the_given_one_is_left_alone():
    X, y = numbers()
    estimator = Shrunken()
    assert tune(estimator, X, y, {"alpha": [1.0]}, refit=False).best_estimator is None
    assert not hasattr(tune(estimator, X, y, {"alpha": [5.0]}) and estimator, "coef_")
    assert estimator.alpha == 1.0


def test_empty_space_scores_the_estimator_as_it_is():
    X, y = numbers()
    result = tune(Shrunken(), X, y, {})
    assert [dict(trial.params) for trial in result.trials] == [{}]
    assert result.how == "fitted on each of 5 folds"


def test_space_none_asks_the_estimator_or_the_last_step_of_a_pipeline():
    X, y = numbers()

    class Searchable(Shrunken):
        _search_space = {"alpha": Choices(0.1, 1.0)}  # noqa: RUF012

    assert len(tune(Searchable(), X, y).trials) == 2
    assert [set(t.params) for t in tune(make_pipeline(StandardScaler(), Searchable()), X, y).trials] == [
        {"searchable__alpha"},
        {"searchable__alpha"},
    ]
    with pytest.raises(ValueError, match="space=None is not valid for Shrunken, which says nothing"):
        tune(Shrunken(), X, y)


def test_folds_keep_groups_together():
    X, y = numbers()
    groups = np.arange(len(y)) // 9
    result = tune(Shrunken(), X, y, {"alpha": [1.0, 9.0]}, groups=groups)
    by_hand = tune(Shrunken(), X, y, {"alpha": [1.0, 9.0]}, cv=list(GroupKFold(5).split(X, y, groups)))
    assert [t.fold_scores for t in result.trials] == [t.fold_scores for t in by_hand.trials]
    X, y = classes()
    groups = np.arange(len(y)) // 6
    result = tune(LogisticRegression(), X, y, {"tol": [1e-4]}, groups=groups, cv=3)
    by_hand = tune(LogisticRegression(), X, y, {"tol": [1e-4]}, cv=list(StratifiedGroupKFold(3).split(X, y, groups)))
    assert result.trials[0].fold_scores == by_hand.trials[0].fold_scores


def test_a_weight_of_two_is_two_rows_in_fits_and_in_scores():
    X, y = numbers(40)
    weight = np.random.RandomState(0).randint(0, 3, size=len(y))
    splits = list(KFold(4).split(X))
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = [(np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test))) for train, test in splits]
    space = {"alpha": [0.1, 10.0]}
    weighted = tune(Shrunken(), X, y, space, cv=splits, sample_weight=weight)
    plain = tune(Shrunken(), X[rows], y[rows], space, cv=repeated)
    np.testing.assert_allclose([t.fold_scores for t in weighted.trials], [t.fold_scores for t in plain.trials])
    np.testing.assert_allclose(weighted.best_estimator.coef_, plain.best_estimator.coef_)


def test_a_scorer_without_weights_says_so():
    X, y = numbers()
    with pytest.raises(TypeError, match="scoring=neg_max_error takes no weights, but sample_weight is given"):
        tune(Shrunken(), X, y, {"alpha": [1.0]}, scoring="neg_max_error", sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_give_what_arrays_give(make):
    X, y = numbers()
    frame = make({f"x{j}": X[:, j] for j in range(X.shape[1])})
    target = pd.Series(y) if make is pd.DataFrame else pl.Series(y)
    model = make_pipeline(StandardScaler(), Ridge())
    space = {"ridge__alpha": [0.1, 1.0, 10.0]}
    framed, plain = tune(model, frame, target, space), tune(model, X, y, space)
    np.testing.assert_allclose([t.score for t in framed.trials], [t.score for t in plain.trials])
    assert list(framed.best_estimator.feature_names_in_) == [f"x{j}" for j in range(X.shape[1])]


def test_pipeline_gives_the_scores_of_grid_search_and_prepares_once_a_fold():
    X, y = numbers()

    class Counted(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            CALLS["prepare"] += 1
            return super().fit(X, y)

    model = make_pipeline(Counted(), Shrunken())
    space = {"shrunken__alpha": [0.1, 1.0, 10.0], "shrunken__power": [1, 2]}
    peer = GridSearchCV(model, space).fit(X, y)
    CALLS.clear()
    result = tune(model, X, y, space, refit=False)
    assert CALLS["prepare"] == 5
    np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"])
    assert result.best_params == peer.best_params_
    CALLS.clear()
    tune(model, X, y, space, refit=False, n_jobs=2)
    assert CALLS["prepare"] == 5


def test_steps_of_a_pipeline_are_searched_and_replaced_too():
    X, y = numbers(60, 3)
    model = make_pipeline(PolynomialFeatures(), StandardScaler(), Ridge())
    for space in (
        {"polynomialfeatures__degree": [1, 2], "ridge__alpha": [1.0, 10.0]},
        {"standardscaler": ["passthrough", StandardScaler()], "ridge": [Ridge(), Lasso()]},
    ):
        result, peer = tune(model, X, y, space), GridSearchCV(model, space).fit(X, y)
        np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"])
        np.testing.assert_allclose(result.best_estimator.predict(X), peer.predict(X))


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = numbers()
    weight = np.linspace(0.1, 2, len(y))
    alone = tune(Shrunken(), X, y, {"alpha": [1.0]}, sample_weight=weight)
    inside = tune(make_pipeline("passthrough", Shrunken()), X, y, {"shrunken__alpha": [1.0]}, sample_weight=weight)
    assert alone.trials[0].fold_scores == inside.trials[0].fold_scores
    np.testing.assert_allclose(inside.best_estimator[-1].coef_, alone.best_estimator.coef_)


def test_several_scorers_share_predictions_and_the_first_decides():
    X, y = numbers()
    scoring = ["neg_mean_absolute_error", "r2"]
    CALLS.clear()
    result = tune(Shrunken(), X, y, {"alpha": [1.0, 100.0]}, scoring=scoring, refit=False)
    assert CALLS["predict"] == 2 * 5
    assert result.scoring == "neg_mean_absolute_error"
    alone = tune(Shrunken(), X, y, {"alpha": [1.0, 100.0]}, scoring="r2")
    assert [trial.others["r2"] for trial in result.trials] == [trial.fold_scores for trial in alone.trials]
    named = tune(Shrunken(), X, y, {"alpha": [1.0]}, scoring={"mine": lambda model, X, y: 3.0, "r2": "r2"})
    assert named.best_score == 3.0


def test_a_callable_scorer_sees_the_whole_pipeline_and_the_rows_as_they_are():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), Shrunken())

    def scorer(fitted, X_test, y_test):
        assert list(fitted.named_steps) == ["standardscaler", "shrunken"]
        return float(fitted.score(X_test, y_test))

    ours = tune(model, X, y, {"shrunken__alpha": [1.0, 10.0]}, scoring=scorer)
    plain = tune(model, X, y, {"shrunken__alpha": [1.0, 10.0]})
    np.testing.assert_allclose([t.fold_scores for t in ours.trials], [t.fold_scores for t in plain.trials], rtol=1e-12)
    assert ours.scoring == "scorer"


def test_models_without_y_are_tuned_by_their_own_score():
    X, _ = numbers()
    result = tune(KMeans(n_init=1, random_state=0), X, space={"n_clusters": [2, 4, 8]}, cv=3)
    peer = GridSearchCV(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 4, 8]}, cv=3).fit(X)
    np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"])


def test_verbose_logs_every_trial(caplog):
    X, y = numbers()
    with caplog.at_level("INFO", logger="mercer"):
        tune(Shrunken(), X, y, {"alpha": [1.0, 2.0]}, verbose=1)
    assert [record.getMessage().partition(":")[2].strip()[:21] for record in caplog.records] == [
        "trial 0, alpha=1.0: r",
        "trial 1, alpha=2.0: r",
    ]


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_point_that_is_drawn_twice_is_fitted_once(is_stored, n_jobs, tmp_path):
    X, y = numbers()
    CALLS.clear()
    storage = tmp_path / "run.db" if is_stored else None
    space = {"alpha": scipy.stats.randint(1, 3)}
    options = {"search": "random", "n_trials": 8, "random_state": 0, "refit": False}
    result = tune(Shrunken(), X, y, space, storage=storage, n_jobs=n_jobs, **options)
    assert len(result.trials) == 8
    assert CALLS["fit"] == 2 * 5
    assert len({trial.fold_scores for trial in result.trials}) == 2
