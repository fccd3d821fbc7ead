"""`RetrainExplainer`: the definition with a fit for each coalition, its count and its guard."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest

from mercer.inspection import RetrainExplainer, explain
from mercer.linear_model import LogisticRegression, Ridge
from tests.reference.shapley import shapley_values


@pytest.fixture
def table():
    random = np.random.RandomState(0)
    X = random.randn(50, 4) @ random.randn(4, 4)
    return X, X @ [1.0, -1.0, 0.5, 0.0] + 0.1 * random.randn(50)


def refitted(model, X, y, x):
    """The game of one row: what the model says that was fitted on the columns of S alone."""

    def game(S):
        columns = sorted(S)
        return model.fit(X[:, columns], y).predict(x[None, columns])[0] if columns else y.mean()

    return game


def test_values_are_those_of_the_definition(table):
    X, y = table
    explainer = RetrainExplainer(Ridge(), X, y)
    explanation = explainer(X[:3])
    assert explainer.n_fits == 15
    assert explainer.expected_value == pytest.approx(y.mean())
    for place, x in enumerate(X[:3]):
        assert np.allclose(explanation.values[place], shapley_values(refitted(Ridge(), X, y, x), 4), rtol=0, atol=1e-10)
    assert np.allclose(explanation.predictions, Ridge().fit(X, y).predict(X[:3]), rtol=0, atol=1e-12)
    assert explanation.additivity_error < 1e-12


def test_a_column_that_is_given_twice_is_worth_the_same_twice(table):
    X, y = table
    values = RetrainExplainer(Ridge(alpha=1e-8), np.column_stack([X, X[:, 0]]), y).shap_values(
        np.column_stack([X, X[:, 0]])[:5]
    )
    assert np.allclose(values[:, 0], values[:, 4], rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_classes_have_shares_where_nothing_is_known(table, n_jobs, caplog):
    X, y = table
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    with caplog.at_level(logging.INFO, "mercer"):
        explainer = RetrainExplainer(LogisticRegression(), X, labels, npermutations=2, random_state=0, n_jobs=n_jobs, verbose=1)
    assert f"RetrainExplainer: {explainer.n_fits} fits of LogisticRegression" in caplog.text
    assert np.allclose(explainer.expected_value, [(labels == name).mean() for name in ("high", "low", "middle")])
    explanation = pickle.loads(pickle.dumps(explainer))(X[:4])
    assert list(explanation.output_names) == ["high", "low", "middle"]
    assert explanation.additivity_error < 1e-12
    assert explanation.standard_errors.shape == explanation.shape


def test_frames_and_groups_keep_their_columns(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame(X, columns=list("abcd"))
    groups = {"left": ["a", "b"]}
    explanation = explain(Ridge(), frame[:3], frame, method="retrain", y=y, groups=groups)
    assert list(explanation.feature_names) == ["left", "c", "d"]
    assert np.allclose(explanation.values, RetrainExplainer(Ridge(), X, y, groups={"left": [0, 1]}).shap_values(X[:3]))
    with pytest.raises(ValueError, match="it must have the 4 columns"):
        RetrainExplainer(Ridge(), frame, y)(frame[["a", "b", "c"]])


def test_too_many_fits_are_refused_before_they_begin():
    class Never(Ridge):
        def fit(self, X, y):
            raise AssertionError("a fit began")

    X, y = np.zeros((5, 12)), np.zeros(5)
    with pytest.raises(ValueError, match="12 features take 4095 fits; max_fits=1024 allows fewer"):
        RetrainExplainer(Never(), X, y)
    with pytest.raises(ValueError, match=r"30 features take 2\*\*30 - 1 fits"):
        RetrainExplainer(Never(), np.zeros((5, 30)), y)
    with pytest.raises(ValueError, match="row for each value of y"):
        RetrainExplainer(Ridge(), X, y[:3])
