"""`DeepExplainer`: the rescale rule, sums that are the prediction, and networks of every shape."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import expit

from mercer.inspection import Background, DeepExplainer, ExactExplainer
from mercer.neural_network import MLPClassifier, MLPRegressor
from tests.reference.shapley import rescaled

SETTINGS = {"max_iter": 15, "random_state": 0, "hidden_layer_sizes": (9, 6)}


@pytest.fixture(autouse=True)
def _few_epochs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def table():
    X = np.random.RandomState(0).randn(80, 4)
    return X, X[:, 0] * X[:, 1] + X[:, 2]


@pytest.mark.parametrize(("name", "function"), [("tanh", np.tanh), ("logistic", expit), ("relu", lambda z: np.maximum(z, 0))])
def test_values_are_those_of_the_rule(table, name, function):
    X, y = table
    model = MLPRegressor(activation=name, **SETTINGS).fit(X, np.column_stack([y, X[:, 3]]))
    weights = np.arange(1.0, 8)
    explanation = DeepExplainer(model, Background(X[:7], weights))(X[10:13])
    for place, x in enumerate(X[10:13]):
        pairs = [rescaled(model.coefs_, model.intercepts_, function, x, b) for b in X[:7]]
        assert np.allclose(explanation.values[place], np.average(pairs, axis=0, weights=weights), rtol=0, atol=1e-10)
    assert explanation.additivity_error < 1e-12


@pytest.mark.parametrize("activation", ["relu", ["gelu", "leaky_relu"], ["identity", "tanh"]])
@pytest.mark.parametrize("skips", [None, [(0, 2)], [(0, 3), (1, 3)]])
def test_sums_are_predictions_whatever_the_network(table, activation, skips):
    X, y = table
    model = MLPRegressor(activation=activation, skip_connections=skips, **SETTINGS).fit(X, y)
    explanation = DeepExplainer(model, X[:20])(X)
    assert explanation.additivity_error < 1e-12
    assert explanation.n_evaluations == 80 * 20
    near = ExactExplainer(model, X[:20])(X)
    assert np.corrcoef(explanation.values.ravel(), near.values.ravel())[0, 1] > 0.95


def test_linear_networks_have_shapley_values(table):
    X, y = table
    model = MLPRegressor(activation="identity", **SETTINGS).fit(X, y)
    found, wanted = (explainer(model, X[:9]).shap_values(X[:5]) for explainer in (DeepExplainer, ExactExplainer))
    assert np.allclose(found, wanted, rtol=0, atol=1e-12)


def test_rows_of_the_background_give_nothing_against_themselves(table):
    X, y = table
    model = MLPRegressor(activation="tanh", **SETTINGS).fit(X, y)
    assert not DeepExplainer(model, X[:1]).shap_values(X[:1]).any()
    near = X[:1] + 1e-9
    explanation = DeepExplainer(model, X[:1])(near)
    assert np.allclose(explanation.sums, explanation.predictions, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_classes_are_explained_by_their_outputs(table, kind):
    X, y = table
    X = X.astype(kind)
    most = 1e-12 if kind is np.float64 else 1e-5
    three = MLPClassifier(**SETTINGS).fit(X, np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])])
    every = DeepExplainer(three, X[:10])(X[:5])
    assert every.shape == (5, 4, 3)
    assert every.additivity_error < most
    one = DeepExplainer(three, X[:10], class_of_interest="b")(X[:5])
    assert np.allclose(one.values, every[..., "b"].values, rtol=0, atol=1e-14)
    two = MLPClassifier(**SETTINGS).fit(X, y > 0)
    yes, no = (DeepExplainer(two, X[:10], class_of_interest=label)(X[:5]) for label in (True, False))
    assert np.array_equal(yes.values, -no.values)
    for label in (True, False, None):
        explanation = DeepExplainer(two, X[:10], model_output="probability", class_of_interest=label)(X[:5])
        assert explanation.additivity_error < most
        assert np.array_equal(explanation.predictions, two.predict_proba(X[:5])[:, int(label is not False)].astype(float))
    with pytest.raises(ValueError, match="model_output='probability' is not valid"):
        DeepExplainer(three, X[:10], model_output="probability")


def test_it_pickles_and_refuses_what_is_no_network(table):
    from mercer.linear_model import Ridge

    X, y = table
    model = MLPRegressor(**SETTINGS).fit(X, y)
    explainer = pickle.loads(pickle.dumps(DeepExplainer(model, X[:10])))
    assert np.array_equal(explainer.shap_values(X[:5]), DeepExplainer(model, X[:10]).shap_values(X[:5]))
    assert "no multi-layer perceptron" in DeepExplainer.unsuited(Ridge().fit(X, y), X)
    assert DeepExplainer.unsuited(model, None) == "it needs background rows"
    with pytest.raises(ValueError, match="not a class of the model"):
        DeepExplainer(MLPClassifier(**SETTINGS).fit(X, y > 0), X[:5], class_of_interest="maybe")
    with pytest.raises(ValueError, match="4 inputs"):
        DeepExplainer(model, X[:5, :3])
