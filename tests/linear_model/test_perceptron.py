"""Perceptron: three rules, the end of mistakes on separable data, and the bound on how many there are on the way."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from hypothesis import assume, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from mercer._trace import Status
from mercer.linear_model import Perceptron
from tests.reference import stochastic as reference

CORNERS = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
RULES = [("rosenblatt", "sign"), ("hebb", "sign"), ("widrow-hoff", "sign"), ("widrow-hoff", "tanh"), ("widrow-hoff", "sigmoid")]
every_rule = pytest.mark.parametrize(("rule", "activation"), RULES)


def make_data(n=200, d=6, n_classes=2, noise=0.5, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    if n_classes == 2:
        return X, (X @ random.randn(d) + noise * random.randn(n) > 0).astype(int)
    return X, np.argmax(X[:, :n_classes] + noise * random.randn(n, n_classes), axis=1)


# ---- one step by hand


@pytest.mark.parametrize(
    ("rule", "activation", "coef", "intercept"),
    [
        # From w = (0.25, 0.25), b = 0.25: the row (1, -2) has the value 0.25 - 0.5 + 0.25 = 0 for the label 1, a mistake.
        ("rosenblatt", "sign", [0.75, -0.75], 0.75),
        ("hebb", "sign", [0.75, -0.75], 0.75),
        ("widrow-hoff", "sign", [0.75, -0.75], 0.75),  # y - sign(0) = 1
        ("widrow-hoff", "tanh", [0.75, -0.75], 0.75),  # y - tanh(0) = 1
        ("widrow-hoff", "sigmoid", [0.5, -0.25], 0.5),  # 1 - 1/2
    ],
)
def test_one_step_by_hand_on_the_hyperplane(rule, activation, coef, intercept):
    model = Perceptron(rule=rule, activation=activation, eta0=0.5, warm_start=True)
    model.coef_, model.intercept_, model.classes_ = np.array([[0.25, 0.25]]), np.array([0.25]), np.array([0, 1])
    model.n_features_in_, model.t_ = 2, 1.0
    model.partial_fit(np.array([[1.0, -2.0]]), [1])
    np.testing.assert_allclose(model.coef_, [coef])
    np.testing.assert_allclose(model.intercept_, [intercept])


@pytest.mark.parametrize(
    ("rule", "activation", "error"),
    [
        ("rosenblatt", "sign", -1.0),
        ("hebb", "sign", -1.0),
        ("widrow-hoff", "sign", -2.0),
        ("widrow-hoff", "tanh", -1.0 - np.tanh(0.7)),
        ("widrow-hoff", "sigmoid", -1 / (1 + np.exp(-0.7))),
    ],
)
def test_one_step_by_hand_on_a_mistake(rule, activation, error):
    model = Perceptron(rule=rule, activation=activation, eta0=0.1)
    model.coef_, model.intercept_, model.classes_ = np.array([[1.0, 2.0]]), np.array([-0.5]), np.array([0, 1])
    model.n_features_in_, model.t_ = 2, 1.0
    model.partial_fit(np.array([[0.4, 0.4]]), [0])  # the value is 0.7, the label -1
    np.testing.assert_allclose(model.coef_, [[1.0 + 0.04 * error, 2.0 + 0.04 * error]])
    np.testing.assert_allclose(model.intercept_, [-0.5 + 0.1 * error])


@every_rule
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_rule_takes_the_steps_of_the_textbook(rule, activation, sparse):
    X, y = make_data()
    model = Perceptron(rule=rule, activation=activation, eta0=0.3, shuffle=False, max_iter=5, tol=None)
    model.fit(sp.csr_matrix(X) if sparse else X, y)
    settings = {"eta0": 0.3, "activation": activation, "max_passes": 5, "intercept_share": 0.01 if sparse else 1.0}
    w, b, n_mistakes = reference.perceptron(X, 2 * y - 1, rule, **settings)
    np.testing.assert_allclose(model.coef_[0], w)
    np.testing.assert_allclose(model.intercept_[0], b)
    assert model.n_mistakes_ == n_mistakes


# ---- the end of mistakes


@every_rule
@pytest.mark.parametrize("truth", [[0, 0, 0, 1], [0, 1, 1, 1], [1, 0, 1, 0]], ids=["and", "or", "not the second"])
def test_logical_functions_are_learnt(rule, activation, truth):
    model = Perceptron(rule=rule, activation=activation, eta0=0.5, tol=None).fit(CORNERS, truth)
    np.testing.assert_array_equal(model.predict(CORNERS), truth)
    assert model.certificate_.converged
    assert model.certificate_.residual == 0
    assert model.history_[-1]["n_mistakes"] == 0


@every_rule
def test_xor_does_not_converge_and_says_so(rule, activation):
    model = Perceptron(rule=rule, activation=activation, max_iter=50, tol=None)
    told = r"did not converge: \d rows are misclassified after 50 passes \(max_iter=50\).*XOR"
    with pytest.warns(ConvergenceWarning, match=told):
        model.fit(CORNERS, [0, 1, 1, 0])
    assert model.certificate_.status is Status.MAX_ITER
    assert model.certificate_.residual > 0
    assert "misclassified" in repr(model.certificate_)
    assert model.mistake_bound_ is None


def _nearly_touching_classes(seed):
    random = np.random.RandomState(seed)
    rows = random.randn(200, 3)
    return rows, (rows @ [1.0, 2.0, -1.0] + 0.1 > 0).astype(int)


@pytest.mark.parametrize("data", [(CORNERS, [0, 1, 1, 0]), *map(_nearly_touching_classes, range(4))])
def test_a_fit_that_tol_ends_with_mistakes_left_warns_and_is_no_convergence(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Perceptron().fit(*data)
    n_left = np.count_nonzero(model.decision_function(data[0]) * np.where(data[1], 1, -1) <= 0)
    assert model.certificate_.residual == n_left
    assert model.certificate_.status is (Status.INEXACT if n_left else Status.CONVERGED)
    assert len(caught) == (n_left > 0)
    assert all(f"{n_left} rows are misclassified" in str(each.message) for each in caught)
    assert all("set tol=None" in str(each.message) for each in caught)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40), d=st.integers(1, 6), seed=st.integers(0, 10_000), rule=st.sampled_from(RULES[:3]),
    has_intercept=st.booleans(), eta0=st.sampled_from([0.1, 1.0, 7.0]), weighted=st.booleans(), warm=st.booleans(),
)  # fmt: skip
def test_separable_data_converge_within_the_mistake_bound(n, d, seed, rule, has_intercept, eta0, weighted, warm):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    normal, shift = random.randn(d), random.randn() * has_intercept
    values = X @ normal + shift
    X, values = X[np.abs(values) > 0.1], values[np.abs(values) > 0.1]
    y = values > 0
    assume(len(set(y)) == 2)
    weights = random.uniform(0.5, 2, size=len(X)) if weighted else None
    start = {"coef_init": random.randn(1, d), "intercept_init": random.randn(1) * has_intercept} if warm else {}
    model = Perceptron(rule=rule[0], eta0=eta0, fit_intercept=has_intercept, tol=None, max_iter=100_000)
    model.fit(X, y, sample_weight=weights, **start)
    assert model.certificate_.converged
    assert model.score(X, y) == 1.0
    assert model.n_mistakes_ <= model.mistake_bound_ * (1 + 1e-9)
    if weights is None and not warm:
        rows = np.hstack([X, np.ones((len(X), 1))]) if has_intercept else X
        w = np.append(model.coef_[0], model.intercept_) if has_intercept else model.coef_[0]
        gamma = ((2 * y - 1) * (rows @ w)).min() / np.linalg.norm(w)
        factor = 2 if rule[0] == "widrow-hoff" else 1
        np.testing.assert_allclose(model.mistake_bound_, factor * (rows**2).sum(axis=1).max() / gamma**2, rtol=1e-6)


def test_the_bound_knows_of_a_start_on_the_wrong_side():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    model = Perceptron(rule="hebb", fit_intercept=False, shuffle=False).fit(X, y, coef_init=[[-100.0]])
    assert model.n_mistakes_ == 101  # one unit a mistake, from -100 to 1
    np.testing.assert_allclose(model.mistake_bound_, 201)
    again = Perceptron(rule="hebb", fit_intercept=False).fit(X, y, coef_init=model.coef_)
    assert again.n_mistakes_ == 0
    assert again.mistake_bound_ >= 0


def test_the_bound_adds_up_over_classes_and_is_not_given_where_it_does_not_hold():
    X = np.vstack([np.random.RandomState(0).randn(20, 2) + centre for centre in ([0, 12], [10, -6], [-10, -6])])
    y = np.repeat([0, 1, 2], 20)
    model = Perceptron(rule="hebb").fit(X, y)
    assert model.n_mistakes_ == sum(record["n_mistakes"] for record in model.history_)
    assert model.n_mistakes_ <= model.mistake_bound_
    assert Perceptron(rule="widrow-hoff", activation="tanh").fit(X, y).mistake_bound_ is None
    assert Perceptron(penalty="l2").fit(X, y).mistake_bound_ is None


def test_the_rate_scales_the_weights_and_nothing_else():
    X, y = make_data(noise=0.0)
    one, other = Perceptron(rule="hebb", eta0=1.0).fit(X, y), Perceptron(rule="hebb", eta0=0.25).fit(X, y)
    np.testing.assert_allclose(other.coef_, 0.25 * one.coef_)
    assert one.n_mistakes_ == other.n_mistakes_


# ---- scikit-learn


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_default_rule_agrees_with_scikit_learn(n_classes, penalty, shuffle):
    X, y = make_data(n_classes=n_classes)
    params = {"penalty": penalty, "shuffle": shuffle, "alpha": 1e-3, "max_iter": 8, "tol": None, "eta0": 0.5}
    mine, other = Perceptron(**params), peer.Perceptron(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mine.fit(X, y)
    other.fit(X, y)
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=1e-9, atol=1e-9)


def test_the_defaults_agree_with_scikit_learn():
    for n_classes, noise in [(2, 0.5), (4, 0.5), (2, 0.0)]:
        X, y = make_data(n_classes=n_classes, noise=noise)
        mine, other = Perceptron().fit(X, y), peer.Perceptron().fit(X, y)
        np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-9, atol=1e-9)
        assert mine.n_iter_ <= other.n_iter_  # a pass without mistakes is the last
    X, y = make_data()
    params = {"early_stopping": True, "n_iter_no_change": 3, "class_weight": {0: 1.0, 1: 2.0}}
    mine, other = Perceptron(**params).fit(X, y), peer.Perceptron(**params).fit(X, y)
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-9, atol=1e-9)


# ---- wrong parameters


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rule": "adaline"}, "rule='adaline'"),
        ({"activation": "relu"}, "activation='relu'"),
        ({"rule": "hebb", "penalty": "l2"}, "penalty='l2' is not valid with rule='hebb'"),
        ({"rule": "widrow-hoff", "early_stopping": True}, "early_stopping=True is not valid with rule='widrow-hoff'"),
        ({"eta0": -1.0}, "eta0=-1.0"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        Perceptron(**params).fit(CORNERS, [0, 0, 0, 1])
