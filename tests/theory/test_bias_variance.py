"""Bias, variance and noise: they add up, agree with closed forms, and with mlxtend's figures where these are right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mercer._params import InvalidParameterError
from mercer.linear_model import LinearRegression, LogisticRegression
from mercer.neighbors import KNeighborsClassifier
from mercer.theory import (
    ClassificationLaw,
    RegressionLaw,
    bias_variance,
    bootstrap_bias_variance,
    double_descent,
)
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

LINE = RegressionLaw(lambda random, n: random.normal(size=(n, 2)), lambda X: X[:, 0] - 2 * X[:, 1], noise=0.5)
STEP = ClassificationLaw(lambda random, n: random.uniform(size=(n, 1)), lambda X: 0.2 + 0.6 * (X[:, 0] > 0.5))


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean of y, shrunken."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        self.value_ = self.factor * float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_a_shrunken_mean_has_the_bias_and_the_variance_of_the_textbook():
    law = RegressionLaw(lambda random, n: np.zeros((n, 1)), lambda X: np.full(len(X), 2.0), noise=3.0)
    found = bias_variance(Mean(0.5), law, 20, n_rounds=4000, random_state=0)
    for name, expected in (("bias", 1.0), ("variance", 0.25 * 9 / 20), ("noise", 9.0), ("error", 1.0 + 0.25 * 9 / 20 + 9.0)):
        error = found.standard_errors[name]
        assert abs(getattr(found, name) - expected) <= 5 * error + 1e-12, name
    assert 0 < found.standard_errors["variance"] < 0.01


def test_the_bias_of_few_rounds_does_not_hold_their_variance():
    law = RegressionLaw(lambda random, n: np.zeros((n, 1)), lambda X: np.full(len(X), 2.0), noise=3.0)
    found = [bias_variance(Mean(), law, 20, X_test=[[0.0]], n_rounds=4, random_state=seed).bias for seed in range(200)]
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(200) < 0.11  # a quarter of the variance, 9 / 20


def test_least_squares_has_no_bias_on_a_line_and_its_variance_is_that_of_the_formula():
    n, d = 25, 2
    found = bias_variance(LinearRegression(fit_intercept=False), LINE, n, n_rounds=1500, random_state=0)
    assert abs(found.bias) < 5 * found.standard_errors["bias"] + 1e-4
    # Over normal rows, x' (Z'Z)^-1 x has expectation |x|^2 / (n - d - 1).
    assert found.variance == pytest.approx(0.25 * d / (n - d - 1), rel=0.15)


def test_parts_add_up_for_both_losses():
    for estimator, law in ((DecisionTreeRegressor(random_state=0), LINE), (DecisionTreeClassifier(random_state=0), STEP)):
        found = bias_variance(estimator, law, 30, n_rounds=20, random_state=0)
        assert found.error == pytest.approx(found.bias + found.variance + found.noise, abs=1e-12)


def test_domingos_parts_are_those_of_his_formulas():
    X_test = np.linspace(0.01, 0.99, 50)[:, None]
    found = bias_variance(KNeighborsClassifier(3), STEP, 20, X_test=X_test, n_rounds=60, random_state=0)
    # With two classes the net variance is the unbiased one less the biased one, and noise counts (2 P(right) - 1) times.
    assert found.variance == pytest.approx(found.unbiased_variance - found.biased_variance, abs=1e-12)
    assert found.bayes_error == pytest.approx(0.2)
    share_of_best = 1 - found.bias - found.variance
    assert found.noise == pytest.approx((2 * share_of_best - 1) * 0.2, abs=1e-12)


def test_the_error_is_that_which_fresh_rows_show():
    found = bias_variance(KNeighborsClassifier(5), STEP, 40, n_rounds=300, random_state=0)
    random, errors = np.random.RandomState(1), []
    for _ in range(300):
        model = KNeighborsClassifier(5).fit(*STEP.draw(40, random))
        X, y = STEP.draw(200, random)
        errors.append((model.predict(X) != y).mean())
    assert abs(np.mean(errors) - found.error) < 5 * (np.std(errors) / np.sqrt(300) + found.standard_errors["error"])


class Rows(ClassifierMixin, BaseEstimator):
    """Predicts what its first row was."""

    def fit(self, X, y):
        self.classes_, self.value_ = np.unique(y), y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_many_classes_and_words_have_their_parts():
    law = ClassificationLaw(
        lambda random, n: np.zeros((n, 1)), lambda X: np.tile([0.5, 0.3, 0.2], (len(X), 1)), classes=("a", "b", "c")
    )
    found = bias_variance(Rows(), law, 3, n_rounds=4000, random_state=0)
    assert found.main[0] == "a"
    assert found.bias == 0
    assert found.variance == pytest.approx(0.5, abs=0.03)
    assert found.error == pytest.approx(1 - 0.25 - 0.09 - 0.04, abs=0.02)


# ---- from a table


def mlxtend_figures(predictions, y_test, loss):
    """What mlxtend reports: loss, bias, variance without a sign."""
    if loss == "squared":
        main = predictions.mean(axis=0)
        return ((predictions - y_test) ** 2).mean(), ((main - y_test) ** 2).mean(), ((main - predictions) ** 2).mean()
    main = np.array([np.bincount(column).argmax() for column in predictions.T])
    return (predictions != y_test).mean(), (main != y_test).mean(), (predictions != main).mean()


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_tree_of_all_bags_agrees_with_fits_one_by_one(kind):
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 4))
    y = X[:, 0] + 0.5 * random.normal(size=300)
    y = (y > 0).astype(int) if kind == "classes" else y
    tree = DecisionTreeClassifier if kind == "classes" else DecisionTreeRegressor
    rows = X[:200], y[:200], X[200:], y[200:]
    found = bootstrap_bias_variance(tree(random_state=0), *rows, n_rounds=150, random_state=0)

    class Same(tree):
        """The same tree, which is no longer known to be one."""

    slow = bootstrap_bias_variance(Same(random_state=0), *rows, n_rounds=150, random_state=1)
    for name in ("error", "bias", "variance"):
        error = np.hypot(found.standard_errors[name], slow.standard_errors[name])
        assert abs(getattr(found, name) - getattr(slow, name)) < 5 * error + 0.01, name
    assert found.noise == 0


def test_figures_are_mlxtends_but_for_what_they_leave_out():
    random = np.random.RandomState(0)
    X, n_rounds = random.normal(size=(80, 2)), 30
    y = (X[:, 0] + random.normal(size=80) > 0).astype(int)
    found = bootstrap_bias_variance(LogisticRegression(), X[:50], y[:50], X[50:], y[50:], n_rounds=n_rounds, random_state=3)
    draws = np.random.RandomState(3)
    fits = [draws.randint(50, size=50) for _ in range(n_rounds)]
    predictions = np.array([LogisticRegression().fit(X[:50][rows], y[:50][rows]).predict(X[50:]) for rows in fits])
    error, bias, variance = mlxtend_figures(predictions, y[50:], "zero_one")
    assert found.error == pytest.approx(error, abs=1e-12)
    assert found.bias == pytest.approx(bias, abs=1e-12)
    assert found.unbiased_variance + found.biased_variance == pytest.approx(variance, abs=1e-12)


def test_words_as_classes_come_back_from_bags():
    random = np.random.RandomState(0)
    X = random.normal(size=(90, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    found = bootstrap_bias_variance(DecisionTreeClassifier(max_depth=1), X[:60], y[:60], X[60:], y[60:], n_rounds=5)
    assert set(found.main) == {"up", "down"}
    assert found.error < 0.2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bias_variance(Mean(), LINE, 0), "n_samples=0"),
        (lambda: bias_variance(Mean(), LINE, 5, n_rounds=1), "n_rounds=1"),
        (lambda: bootstrap_bias_variance(Mean(), [[1.0]], [1.0], [[1.0]], [1.0, 2.0]), "X_test has 1 rows"),
        (lambda: bootstrap_bias_variance(Mean(), [[1.0]], [1.0], [[1.0]], [1.0], loss="hinge"), "loss='hinge'"),
        (lambda: double_descent(STEP, 10, [2]), "RegressionLaw"),
        (lambda: double_descent(LINE, 10, []), "at least one"),
    ],
)
def test_wrong_calls_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()


def test_the_error_peaks_where_as_many_features_as_rows_fit_all_of_them():
    curve = double_descent(LINE, 30, [5, 15, 30, 60, 300], n_rounds=15, random_state=0)
    assert curve.peak == 30
    assert curve.train_error[-1] < 1e-12 < curve.train_error[0]
    assert curve.error[-1] < curve.error[2] / 5
    np.testing.assert_allclose(curve.error, curve.bias + curve.variance + curve.noise)
    assert curve.norm.argmax() == 2
