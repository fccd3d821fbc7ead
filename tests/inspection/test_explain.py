"""`explain`: what is chosen for which model, what is said of it, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer.inspection import Grouped, explain
from mercer.linear_model import LogisticRegression, Ridge
from mercer.naive_bayes import GaussianNB
from mercer.neural_network import MLPRegressor


@pytest.fixture(scope="module")
def table():
    X = np.random.RandomState(0).randn(120, 10)
    return X, X[:, 0] * X[:, 1] + X[:, 2]


@pytest.mark.parametrize(
    ("make", "n_columns", "chosen"),
    [
        (lambda X, y: Ridge().fit(X, y), 10, "linear"),
        (lambda X, y: LogisticRegression().fit(X, y > 0), 10, "linear"),
        (lambda X, y: MLPRegressor(max_iter=5, random_state=0).fit(X, y), 10, "deep"),
        (lambda X, y: GaussianNB().fit(X, y > 0), 5, "exact"),
        (lambda X, y: GaussianNB().fit(X, y > 0), 10, "permutation"),
        (lambda X, y: lambda X: X.sum(axis=1), 10, "permutation"),
        (lambda X, y: GaussianNB().fit(X, y > 0).predict_proba, 4, "exact"),
    ],
)
def test_the_first_that_suits_is_chosen_and_told(table, make, n_columns, chosen):
    X, y = table
    X = X[:, :n_columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(X, y)
    explanation = explain(model, X[:5], X[:50])
    assert explanation.method.startswith(chosen)
    assert explanation.additivity_error < 1e-12
    assert explanation.shape[:2] == (5, n_columns)


@pytest.mark.parametrize("method", ["linear", "permutation", "kernel"])
def test_methods_are_taken_as_they_are_asked_for(table, method):
    X, y = table
    model = Ridge().fit(X, y)
    explanation = explain(model, X[:4], 30, method=method, groups={"first": [0, 1]})
    assert explanation.method.startswith(method)
    assert explanation.feature_names[0] == "first"
    assert explanation.additivity_error < 1e-12


def test_groups_are_players_or_have_their_values_added_up(table):
    X, y = table
    groups = Grouped({"first": [0, 1]})
    model = Ridge().fit(X[:, :4], y)
    summed = explain(model, X[:4, :4], groups=groups)
    assert summed.method == "linear, independent features"
    asked = explain(model, X[:4, :4], groups=groups, response_method="predict")
    assert asked.method == "exact, all 8 coalitions"
    assert np.allclose(summed.values, asked.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_explained_by_every_method(table, library):
    frames = pytest.importorskip(library)
    X, y = table
    frame = frames.DataFrame({f"c{j}": X[:, j] for j in range(3)})
    model = Ridge().fit(frame, y)
    for method in ("auto", "exact", "permutation", "kernel"):
        explanation = explain(model, frame[:3], frame[:3], method=method)
        assert list(explanation.feature_names) == ["c0", "c1", "c2"]
        assert np.allclose(explanation.values, (X[:3, :3] - X[:3, :3].mean(axis=0)) * model.coef_, rtol=0, atol=1e-12)
    assert explain(lambda t: np.asarray(t)[:, 0], frame[:3]).method.startswith("exact")


def test_errors_are_clear(table):
    X, y = table
    with pytest.raises(NotFittedError, match="not fitted"):
        explain(Ridge(), X)
    with pytest.raises(TypeError, match="it must be a fitted estimator or a function"):
        explain("model", X)
    with pytest.raises(ValueError, match="method='guess' is not valid"):
        explain(Ridge().fit(X, y), X, method="guess")
    with pytest.raises(ValueError, match="3 features"):
        explain(GaussianNB().fit(X, y > 0), X[:, :3])
    with pytest.raises(ValueError, match="4 columns; it must have the 10 of the background"):
        explain(Ridge().fit(X, y), X[:, :4], X)
    with pytest.raises(ValueError, match="class_of_interest='maybe' is not a class"):
        explain(LogisticRegression().fit(X, y > 0), X, class_of_interest="maybe")
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        explain(Ridge().fit(X, y), X, depth=3)
