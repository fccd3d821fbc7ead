"""Every estimator that sweeps gives, value by value, the scores of separate fits, and the choice of grid search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from mercer.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from mercer.model_selection import OutOfBagSweep, Sweep, evaluate, tune
from mercer.preprocessing import StandardScaler
from mercer.tree import DecisionTreeRegressor
from tests.model_selection.data import classes, numbers

ALPHAS = np.logspace(-3, 1, 7).tolist()
ROUNDS = [1, 3, 8, 15]
CASES = {
    "lasso": (Lasso(tol=1e-8), {"alpha": ALPHAS}, numbers(), None),
    "elastic net": (ElasticNet(tol=1e-8), {"alpha": ALPHAS, "l1_ratio": [0.3, 0.9]}, numbers(), "neg_mean_squared_error"),
    "ridge": (Ridge(), {"alpha": ALPHAS, "fit_intercept": [True, False]}, numbers(), None),
    "logistic": (LogisticRegression(tol=1e-8), {"C": ALPHAS}, classes(), "neg_log_loss"),
    "many classes": (LogisticRegression(tol=1e-8), {"C": ALPHAS}, classes(n_classes=3), "neg_log_loss"),
    "histograms": (HistGradientBoostingRegressor(early_stopping=False), {"max_iter": ROUNDS}, numbers(200), None),
    "histograms of classes": (
        HistGradientBoostingClassifier(early_stopping=False),
        {"max_iter": ROUNDS, "max_leaf_nodes": [3, 7]},
        classes(200),
        "roc_auc",
    ),
    "boosting": (GradientBoostingRegressor(random_state=0), {"n_estimators": ROUNDS}, numbers(), None),
    "AdaBoost": (AdaBoostClassifier(random_state=0), {"n_estimators": ROUNDS}, classes(), "accuracy"),
    "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2, 4, 8]}, numbers(), None),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_and_choice_are_those_of_grid_search(case):
    model, space, (X, y), scoring = CASES[case]
    result = tune(model, X, y, space, scoring=scoring, cv=3)
    assert ("one sweep per fold" in result.how) == isinstance(model, Sweep)
    peer = GridSearchCV(model, space, scoring=scoring, cv=3).fit(X, y)
    assert [dict(trial.params) for trial in result.trials] == peer.cv_results_["params"]
    np.testing.assert_allclose([t.score for t in result.trials], peer.cv_results_["mean_test_score"], rtol=1e-4, atol=1e-6)
    assert result.best_params == peer.best_params_


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_forests_are_scored_out_of_bag_as_their_own_fits_are(forest):
    model = forest(40, random_state=0, oob_score=True)
    if not isinstance(model, OutOfBagSweep):
        pytest.skip(f"{forest.__name__} has no sweep")
    X, y = classes(300) if forest is RandomForestClassifier else numbers(300)
    space = {"max_depth": [1, 3, 6], "min_samples_leaf": [1, 10]}
    result = tune(model, X, y, space)
    assert "out of bag" in result.how
    for trial in result.trials:
        alone = forest(40, random_state=0, oob_score=True, **trial.params).fit(X, y)
        assert trial.score == pytest.approx(alone.oob_score_, rel=1e-6)
    whole = forest(40, random_state=0, **result.best_params).fit(X, y)
    np.testing.assert_allclose(result.best_estimator.predict(X), whole.predict(X))


def test_a_sweep_behind_a_pipeline_and_inside_the_protocol():
    X, y = numbers(150)
    model = make_pipeline(StandardScaler(), Lasso(tol=1e-8))
    result = evaluate(model, X, y, space={"lasso__alpha": ALPHAS}, random_state=0)
    train = result.train_rows
    peer = GridSearchCV(model, {"lasso__alpha": ALPHAS}).fit(X[train], y[train])
    assert result.tuning.best_params == peer.best_params_
    assert result.cv_score == pytest.approx(peer.best_score_, rel=1e-5)
