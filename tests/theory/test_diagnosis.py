"""Verdicts on fits, and the choice among nested classes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mercer._fit_verdict import verdict_by_skill, verdict_by_target
from mercer._params import InvalidParameterError
from mercer.datasets import load_diabetes, load_iris
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.pipeline import make_pipeline
from mercer.preprocessing import PolynomialFeatures
from mercer.svm import SVC
from mercer.theory import VC, diagnose_fit, structural_risk_minimization
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.mark.parametrize(
    ("train", "test", "verdict"),
    [
        (0.3, 0.35, "underfitting"),  # both errors are high
        (0.3, 0.6, "underfitting"),
        (0.01, 0.3, "overfitting"),
        (0.05, 0.09, "balanced"),  # held-out rows are worse, and good enough
        (0.1, 0.1, "balanced"),
    ],
)
def test_with_a_target_bias_is_a_training_error_above_it_and_variance_a_held_out_one(train, test, verdict):
    assert verdict_by_target(train, test, 0.1) == verdict


def test_without_a_target_a_gap_must_exceed_what_folds_vary():
    assert verdict_by_skill(gap=0.3, spread=0.05, way=1.0, skill=0.99) == "overfitting"
    assert verdict_by_skill(gap=0.3, spread=0.2, way=1.0, skill=0.99) == "balanced"
    assert verdict_by_skill(gap=0.3, spread=0.2, way=1.0, skill=0.99, n_folds=5) == "overfitting"  # a mean of folds varies less
    assert verdict_by_skill(gap=0.16, spread=0.05, way=1.0, skill=0.92) == "overfitting"
    assert verdict_by_skill(gap=0.1, spread=0.01, way=1.0, skill=0.3) == "underfitting"


def test_a_deep_tree_overfits_and_a_constant_like_ridge_underfits():
    X, y = load_diabetes(return_X_y=True)
    deep = diagnose_fit(DecisionTreeRegressor(random_state=0), X, y)
    assert (deep.verdict, deep.train_error) == ("overfitting", 0.0)
    stiff = diagnose_fit(Ridge(alpha=1e4), X, y)
    assert stiff.verdict == "underfitting"
    assert "boosting" in stiff.remedies
    assert "try boosting" in repr(stiff)


def test_the_validation_curve_names_the_best_value():
    X, y = load_diabetes(return_X_y=True)
    found = diagnose_fit(DecisionTreeRegressor(random_state=0), X, y, param_name="max_depth", param_range=[1, 2, 3, 20])
    assert found.best_value in (2, 3)
    assert found.param_test_errors.shape == (4, 5)
    assert found.param_train_errors[-1].max() < found.param_train_errors[0].min()
    assert "max_depth=" in repr(found)


def test_a_good_fit_is_balanced_and_errors_are_shares():
    X, y = load_iris(return_X_y=True)
    found = diagnose_fit(LogisticRegression(max_iter=500), X, y, target_error=0.1, train_sizes=[0.5, 1.0])
    assert found.verdict == "balanced"
    assert found.remedies == ()
    assert found.test_errors.shape == (2, 5)
    assert 0 <= found.train_error <= 0.1


def test_param_name_and_range_belong_together():
    with pytest.raises(InvalidParameterError, match="belong together"):
        diagnose_fit(Ridge(), [[1.0], [2.0]], [1.0, 2.0], param_name="alpha")
    with pytest.raises(InvalidParameterError, match="target_error=-1"):
        diagnose_fit(Ridge(), [[1.0], [2.0]], [1.0, 2.0], -1)


# ---- structural risk


def polynomials(n, model):
    return [make_pipeline(PolynomialFeatures(d, include_bias=False), model) for d in range(1, n + 1)]


def cubic(n=80):
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, size=(n, 1))
    return X, 2 * X[:, 0] ** 3 - X[:, 0] + 0.1 * random.normal(size=n)


@pytest.mark.parametrize("penalty", ["bic", "mdl"])
def test_the_class_that_made_the_rows_is_chosen(penalty):
    found = structural_risk_minimization(polynomials(9, LinearRegression()), *cubic(), penalty=penalty)
    assert found.best_index == 2
    assert found.labels[found.best_index] == "3"
    assert (np.diff(found.risks) <= 1e-12).all()
    assert (np.diff(found.penalties) > 0).all()


def test_criteria_are_those_of_the_textbook():
    X, y = cubic(50)
    found = {name: structural_risk_minimization([LinearRegression()], X, y, penalty=name) for name in ("aic", "bic", "mdl")}
    mse = float(((LinearRegression().fit(X, y).predict(X) - y) ** 2).mean())
    fit = math.log(2 * math.pi * mse) + 1
    assert found["aic"].totals[0] == pytest.approx(fit + 2 * 2 / 50)
    assert found["bic"].totals[0] == pytest.approx(fit + 2 * math.log(50) / 50)
    assert found["mdl"].totals[0] * 2 * math.log(2) == pytest.approx(found["bic"].totals[0])


def test_bounds_as_penalties_have_a_share_of_delta_each():
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    family = [SVC(kernel="poly", degree=d, C=10.0, gamma=1.0, coef0=1.0) for d in (1, 2, 3)]
    found = structural_risk_minimization(family, X, y, penalty="vc", delta=0.1, labels=["line", "conic", "cubic"])
    assert found.best_index == 0
    dimensions = [3, 6, 10]
    for k, d in enumerate(dimensions):
        assert found.penalties[k] == pytest.approx(VC(m=300, dimension=d, delta=0.1 / ((k + 1) * (k + 2))).gap)
    assert "line" in repr(found)


def test_complexities_by_random_signs_grow_with_the_class():
    random = np.random.RandomState(0)
    X = random.normal(size=(100, 3))
    y = (X[:, 0] + random.normal(size=100) > 0).astype(int)
    family = [DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 3, 8)]
    found = structural_risk_minimization(family, X, y, penalty="rademacher", n_draws=5, random_state=0)
    assert (np.diff(found.penalties) > 0).all()
    assert found.best_index == 0


def test_a_penalty_of_ones_own():
    X, y = cubic()
    found = structural_risk_minimization(
        polynomials(5, LinearRegression()), X, y, penalty=lambda model, X, y: 0.01 * model[-1].n_features_in_
    )
    np.testing.assert_allclose(found.penalties, 0.01 * np.arange(1, 6))
    assert found.penalty == "own penalty"


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ([], {}, "at least"),
        ([LinearRegression()], {}, "classifiers of two classes"),
        ([LinearRegression()], {"penalty": "hqc"}, "penalty='hqc'"),
        ([LinearRegression()], {"penalty": "bic", "sizes": [1, 2]}, "sizes has 2 entries"),
    ],
)
def test_wrong_calls_are_named(family, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        structural_risk_minimization(family, *cubic(), **options)
