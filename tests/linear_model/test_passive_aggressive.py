"""PassiveAggressiveClassifier and PassiveAggressiveRegressor against the textbook and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer

import mercer.linear_model
from mercer._trace import Status
from mercer.linear_model import PassiveAggressiveClassifier, PassiveAggressiveRegressor, SGDClassifier, SGDRegressor
from tests.reference import stochastic as reference

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated in version 1.8:FutureWarning"),
]
random = np.random.RandomState(0)
X = random.randn(150, 7)
LABELS = (X @ random.randn(7) + 0.3 * random.randn(150) > 0).astype(int)
CLASSES = np.argmax(X[:, :3] + random.randn(150, 3), axis=1)
TARGETS = X @ random.randn(7) + random.randn(150)


def assert_same_model(mine, other, rtol=1e-9):
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("loss", "schedule"), [("hinge", "pa1"), ("squared_hinge", "pa2")])
def test_classification_takes_the_steps_of_the_textbook(loss, schedule):
    model = PassiveAggressiveClassifier(C=0.1, loss=loss, shuffle=False, max_iter=3, tol=None).fit(X, LABELS)
    w, b = reference.descend(X, 2 * LABELS - 1, "hinge", n_passes=3, penalty=None, schedule=schedule, eta0=0.1)
    np.testing.assert_allclose(model.coef_[0], w)
    np.testing.assert_allclose(model.intercept_[0], b)
    same = SGDClassifier(penalty=None, learning_rate=schedule, eta0=0.1, shuffle=False, max_iter=3, tol=None).fit(X, LABELS)
    assert_same_model(model, same, rtol=1e-15)


@pytest.mark.parametrize(("loss", "schedule"), [("epsilon_insensitive", "pa1"), ("squared_epsilon_insensitive", "pa2")])
def test_regression_takes_the_steps_of_the_textbook(loss, schedule):
    model = PassiveAggressiveRegressor(C=0.1, loss=loss, epsilon=0.3, shuffle=False, max_iter=3, tol=None).fit(X, TARGETS)
    settings = {"n_passes": 3, "penalty": None, "schedule": schedule, "eta0": 0.1, "parameter": 0.3}
    w, b = reference.descend(X, TARGETS, "epsilon_insensitive", **settings)
    np.testing.assert_allclose(model.coef_, w)
    np.testing.assert_allclose(model.intercept_, b)
    same = SGDRegressor(
        "epsilon_insensitive", penalty=None, learning_rate=schedule, eta0=0.1, epsilon=0.3, shuffle=False, max_iter=3, tol=None
    )
    assert_same_model(model, same.fit(X, TARGETS), rtol=1e-15)


@pytest.mark.parametrize("average", [False, 40])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("y", [LABELS, CLASSES], ids=["two classes", "three classes"])
def test_classifiers_agree_with_scikit_learn(y, loss, average):
    params = {"loss": loss, "C": 0.05, "average": average, "random_state": 2, "class_weight": "balanced"}
    mine, other = PassiveAggressiveClassifier(**params).fit(X, y), peer.PassiveAggressiveClassifier(**params).fit(X, y)
    assert_same_model(mine, other)
    assert mine.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressors_agree_with_scikit_learn(loss):
    params = {"loss": loss, "C": 0.05, "random_state": 2}
    mine, other = (
        PassiveAggressiveRegressor(**params).fit(X, TARGETS),
        peer.PassiveAggressiveRegressor(**params).fit(X, TARGETS),
    )
    assert_same_model(mine, other)
    assert mine.n_iter_ == other.n_iter_


def test_parts_agree_with_scikit_learn():
    mine, other = PassiveAggressiveClassifier(random_state=0), peer.PassiveAggressiveClassifier(random_state=0)
    for rows in (slice(0, 80), slice(80, None)):
        mine.partial_fit(X[rows], CLASSES[rows], classes=[0, 1, 2])
        other.partial_fit(X[rows], CLASSES[rows], classes=[0, 1, 2])
    assert_same_model(mine, other)
    mine, other = PassiveAggressiveRegressor(random_state=0), peer.PassiveAggressiveRegressor(random_state=0)
    assert_same_model(mine.partial_fit(X, TARGETS), other.partial_fit(X, TARGETS))


def test_a_step_goes_just_as_far_as_a_row_asks_for():
    x = np.array([[3.0, 4.0], [0.0, 0.0]])  # a row of zeros asks for nothing that a weight could give
    model = PassiveAggressiveRegressor(epsilon=0.5, fit_intercept=False, max_iter=1, tol=None, shuffle=False).fit(
        x, [10.0, 1.0]
    )
    np.testing.assert_allclose(model.predict(x[:1]), [9.5])
    model.set_params(C=0.1).fit(x, [10.0, 1.0])
    np.testing.assert_allclose(model.coef_, 0.1 * x[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_agree_with_scikit_learn_and_without_an_intercept_with_dense_rows(fit_intercept):
    sparse = np.where(X > 0.5, X, 0)
    for name, y in (("PassiveAggressiveClassifier", CLASSES), ("PassiveAggressiveRegressor", TARGETS)):
        params = {"random_state": 0, "fit_intercept": fit_intercept}
        model = getattr(mercer.linear_model, name)(**params).fit(sp.csr_matrix(sparse), y)
        assert_same_model(model, getattr(peer, name)(**params).fit(sp.csr_matrix(sparse), y))
        if not fit_intercept:
            assert_same_model(model, type(model)(**params).fit(sparse, y))


def test_there_is_no_bound_where_there_is_no_objective():
    certificate = PassiveAggressiveRegressor(random_state=0).fit(X, TARGETS).certificate_
    assert certificate.gap is None
    assert certificate.status is Status.SETTLED
    assert certificate.residual <= certificate.tol


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"C=0.0.*> 0"):
        PassiveAggressiveClassifier(C=0.0).fit(X, LABELS)
    with pytest.raises(ValueError, match="loss='log_loss'"):
        PassiveAggressiveClassifier(loss="log_loss").fit(X, LABELS)
