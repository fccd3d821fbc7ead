"""Boosting round by round: errors after each, bounds that hold, and the rows as a round weighs them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.exceptions import NotFittedError

from mercer.ensemble import AdaBoostClassifier, AdaBoostRegressor, GradientBoostingRegressor
from mercer.linear_model import LogisticRegression
from mercer.plots import plot_boosting_round, plot_staged_error
from mercer.tree import DecisionTreeClassifier


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.3, random_state=0)


def lines(ax):
    return [line.get_ydata() for line in ax.lines]


@pytest.mark.parametrize("peer", [AdaBoostClassifier, PeerAdaBoost])
def test_staged_errors_stay_below_both_bounds(ax, moons, peer):
    X, y = moons
    model = peer(n_estimators=15).fit(X, y)
    assert plot_staged_error(model, X, y, X[::2], y[::2], ax=ax) is ax
    training, held_out, product, exponential = lines(ax)
    np.testing.assert_allclose(training, [1 - score for score in model.staged_score(X, y)])
    np.testing.assert_allclose(held_out, [1 - score for score in model.staged_score(X[::2], y[::2])])
    errors = model.estimator_errors_[: len(training)]
    np.testing.assert_allclose(product, np.cumprod(2 * np.sqrt(errors * (1 - errors))))
    np.testing.assert_allclose(exponential, np.exp(-2 * np.cumsum((0.5 - errors) ** 2)))
    assert (training <= product + 1e-12).all()
    assert (product <= exponential + 1e-12).all()


@pytest.mark.parametrize(("n_classes", "learning_rate"), [(2, 0.5), (3, 1.0)])
def test_one_bound_is_left_with_many_classes_or_shrinkage(n_classes, learning_rate):
    X, y = make_classification(90, n_informative=4, n_classes=n_classes, random_state=0)
    model = AdaBoostClassifier(n_estimators=8, learning_rate=learning_rate).fit(X, y)
    training, product = lines(plot_staged_error(model, X, y))
    assert (training <= product).all()


def test_errors_of_gradient_boosting_and_weights_of_rows(moons):
    X, y = moons
    model = GradientBoostingRegressor(n_estimators=4).fit(X, y)
    weights = np.arange(len(y))
    ax = plot_staged_error(model, X, y, sample_weight=weights)
    expected = [np.average((y - predicted) ** 2, weights=weights) for predicted in model.staged_predict(X)]
    np.testing.assert_allclose(lines(ax), [expected])
    assert ax.get_ylabel() == "mean squared error"


@pytest.mark.parametrize("frame", [np.asarray, lambda X: pd.DataFrame(X, columns=["a", "b"])])
@pytest.mark.filterwarnings("error")
def test_a_round_draws_its_member_and_the_weights_that_it_was_fitted_with(moons, frame):
    seen = []

    class Watched(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight / sample_weight.sum())
            return super().fit(X, y, sample_weight)

    X, y = frame(moons[0]), moons[1]
    given = np.linspace(1, 2, len(y))
    model = AdaBoostClassifier(Watched(max_depth=1), n_estimators=4).fit(X, y, sample_weight=given)
    for number in (1, 2, 4):
        ax = plot_boosting_round(model, X, y, number, sample_weight=given, n_points=40)
        sizes = np.concatenate([part.get_sizes() for part in ax.collections[:4] if len(part.get_offsets())])
        expected = np.concatenate([seen[number - 1][y == label] for label in (0, 1)])
        np.testing.assert_allclose(sizes / sizes.sum(), expected, rtol=1e-9)
        wrong = model.estimators_[number - 1].predict(np.asarray(X)) != y
        np.testing.assert_array_equal(ax.collections[-1].get_offsets(), moons[0][wrong])
        assert ax.get_title().startswith(f"Round {number} of 4: error {model.estimator_errors_[number - 1]:.3f}")


def test_what_has_no_rounds_is_refused(moons):
    X, y = moons
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="LogisticRegression has no staged_predict"):
        plot_staged_error(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(TypeError, match="X_test and y_test go together"):
        plot_staged_error(model, X, y, X)
    for plot in (plot_staged_error, plot_boosting_round):
        with pytest.raises(NotFittedError):
            plot(AdaBoostClassifier(), X, y)
    for wrong in (LogisticRegression().fit(X, y), AdaBoostRegressor(n_estimators=2).fit(X, y), AdaBoostClassifier):
        with pytest.raises(TypeError, match="must be a fitted AdaBoostClassifier"):
            plot_boosting_round(wrong, X, y)
    with pytest.raises(ValueError, match="round=3 is not valid; it must be an integer >= 1 and <= 2"):
        plot_boosting_round(model, X, y, 3)
