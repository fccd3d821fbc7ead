"""AnyBoost: steps that no other step beats, learners and losses of every kind, and what the loss makes of the model."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as PeerTree
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from mercer._trace import Status
from mercer.ensemble import AdaBoostClassifier, AnyBoost
from mercer.ensemble._boosting.line_search import Line
from mercer.losses import Exponential, Huber, Logistic, Pinball, SoftmaxCrossEntropy, ZeroOne, get_loss
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.reference.boosting import best_step

NUMBERS = ["squared", "absolute", "pinball", "huber", "log_cosh", "epsilon_insensitive", "squared_epsilon_insensitive"]
POSITIVE = ["poisson", "gamma", "tweedie"]
MARGINS = ["logistic", "exponential", "hinge", "squared_hinge", "modified_huber", "perceptron"]


def problem(loss, n_rows=300, seed=0):
    """Rows, and targets that the loss takes."""
    random = np.random.RandomState(seed)
    X = random.randn(n_rows, 5)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * random.randn(n_rows)
    kind = get_loss(loss).kind
    return X, {"residual": y, "positive": np.abs(y) + 0.1, "margin": np.where(y > 0, "yes", "no")}[kind]


@pytest.mark.parametrize("loss", NUMBERS + POSITIVE + MARGINS)
def test_a_step_is_the_best_along_its_direction(loss):
    random = np.random.RandomState(0)
    loss = Pinball(quantile=0.8) if loss == "pinball" else get_loss(loss)
    y = {"residual": random.randn(200), "positive": random.rand(200) + 0.1, "margin": np.sign(random.randn(200))}[loss.kind]
    raw, h, weights = random.randn(200) * 0.3, random.randn(200) + 0.7, random.randint(0, 3, 200).astype(float)
    h *= -np.sign((weights * h) @ loss.derivative(y, raw))  # downhill
    step = Line(loss, y, raw, h, weights).minimum()
    assert step > 0

    def objective(t):
        return weights @ loss.value(y, raw + t * h)

    assert objective(step) <= objective(best_step(objective)) * (1 + 1e-9) + 1e-12


def test_the_step_along_a_separating_direction_is_finite():
    y = np.array([1.0, -1.0, 1.0])
    for loss in (Exponential(), Logistic()):
        step = Line(loss, y, np.zeros(3), y, None).minimum()
        assert 10 < step < 100


@pytest.mark.parametrize("loss", NUMBERS + POSITIVE + MARGINS)
def test_the_loss_never_rises(loss):
    X, y = problem(loss)
    model = AnyBoost(loss=loss, n_estimators=15).fit(X, y)
    losses = [record["loss"] for record in model.history_]
    assert (np.diff(losses) <= 1e-12).all()
    assert model.certificate_.primal == losses[-1]
    assert len(model.estimators_) == len(model.estimator_weights_)
    raw = model._raw(X)
    targets = np.where(y == "yes", 1.0, -1.0) if y.dtype.kind == "U" else y
    assert np.mean(model.loss_.value(targets, raw)) == pytest.approx(losses[-1], rel=1e-9)


@pytest.mark.parametrize("n_rounds", [1, 10])
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=1), GaussianNB()], ids=["stump", "naive Bayes"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_classifier_on_the_exponential_loss_is_adaboost(n_rounds, learner, is_weighted):
    X, y = problem("exponential")
    weights = np.random.RandomState(1).rand(len(y)) if is_weighted else None
    mine = AnyBoost(learner, loss="exponential", init="zero", n_estimators=n_rounds).fit(X, y, weights)
    ada = AdaBoostClassifier(learner, n_estimators=n_rounds).fit(X, y, weights)
    np.testing.assert_allclose(2 * mine.estimator_weights_, ada.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(mine.predict(X), ada.predict(X))
    np.testing.assert_allclose(
        mine.decision_function(X), ada.decision_function(X) / 2 * mine.estimator_weights_.sum(), rtol=1e-9, atol=1e-9
    )


def test_a_linear_learner_on_squared_loss_is_done_after_one_round():
    X, y = problem("squared")
    model = AnyBoost(LinearRegression()).fit(X, y)
    assert len(model.estimators_) == 1
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-9)
    assert model.certificate_.status is Status.CONVERGED
    assert model.history_[-1]["step"] == 0
    assert model.history_[-1]["correlation"] <= 1e-6


@pytest.mark.parametrize("loss", ["logistic", "huber", "poisson"])
def test_a_linear_learner_finds_the_linear_model(loss):
    X, y = problem(loss)
    model = AnyBoost(LinearRegression(), loss=loss, n_estimators=500).fit(X, y)
    assert model.certificate_.converged
    targets = np.where(y == "yes", 1.0, -1.0) if loss == "logistic" else y
    slopes = model.loss_.derivative(targets, model._raw(X))
    design = np.column_stack([np.ones(len(X)), X])
    assert np.abs(design.T @ slopes).max() < 1e-3 * np.abs(design.T @ targets).max()  # the gradient of the linear model


@pytest.mark.parametrize("learner", [Ridge(), PeerTree(max_depth=2), KNeighborsRegressor(), DecisionTreeRegressor(max_depth=2)])
def test_any_regressor_can_learn(learner):
    X, y = problem("huber")
    model = AnyBoost(learner, loss=Huber(delta=0.5), n_estimators=10, random_state=0).fit(X, y)
    assert model.history_[-1]["loss"] < 0.95 * np.mean(Huber(delta=0.5).value(y, np.full(300, model.init_raw_)))
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, model.predict(X), rtol=1e-10)


def test_trees_of_the_library_and_of_the_peer_give_the_same():
    X, y = problem("logistic", 1000)
    X = X.astype(np.float32).astype(np.float64)
    mine, peer = (
        AnyBoost(tree(max_depth=2, min_samples_leaf=30), loss="logistic", n_estimators=8).fit(X, y)
        for tree in (DecisionTreeRegressor, PeerTree)
    )
    np.testing.assert_allclose(mine.decision_function(X), peer.decision_function(X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mine.estimator_weights_, peer.estimator_weights_, rtol=1e-7)


def test_any_classifier_can_learn():
    X, y = problem("logistic")
    model = AnyBoost(GaussianNB(), loss="logistic", n_estimators=10).fit(X, y)
    assert len(model.estimators_) >= 1
    assert model.score(X, y) > 0.6


# ---- what the loss makes of the model


def test_a_loss_of_margins_makes_a_classifier():
    model = AnyBoost(loss="logistic", n_estimators=5)
    assert is_classifier(model)
    assert not is_regressor(model)
    assert not get_tags(model).classifier_tags.multi_class
    X, y = problem("logistic")
    model.fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) >= 0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[-1], model.decision_function(X), rtol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_classifier_passes_scikit_learns_checks(loss):
    check_estimator(AnyBoost(Ridge(), loss=loss, n_estimators=5))  # splits of trees would tie on the few rows of some checks


def test_a_loss_of_margins_without_probabilities_tells_none():
    assert not hasattr(AnyBoost(loss="hinge"), "predict_proba")
    assert hasattr(AnyBoost(loss="hinge"), "decision_function")


def test_a_loss_of_numbers_makes_a_regressor():
    model = AnyBoost(loss="poisson", n_estimators=5)
    assert is_regressor(model)
    assert not hasattr(model, "decision_function")
    X, y = problem("poisson")
    assert (model.fit(X, y).predict(X) > 0).all()
    assert not hasattr(model, "classes_")


def test_a_model_may_change_its_loss():
    X, y = problem("logistic")
    model = AnyBoost(loss="logistic", n_estimators=2).fit(X, y)
    model.set_params(loss="squared").fit(X, X[:, 0])
    assert is_regressor(model)
    assert not hasattr(model, "classes_")
    assert is_classifier(clone(model).set_params(loss="hinge"))


# ---- ends and errors


def test_nothing_to_learn_leaves_the_best_constant():
    for loss in NUMBERS + POSITIVE:
        model = AnyBoost(loss=loss).fit(np.zeros((5, 2)), [1.0, 2.0, 3.0, 4.0, 10.0])
        assert model.estimators_ == []
        assert model.certificate_.converged
        predicted = model.predict(np.zeros((1, 2)))[0]
        assert (4 if loss in ("squared", *POSITIVE) else 3) == pytest.approx(predicted, abs=1.1)
    assert AnyBoost(loss="squared").fit(np.zeros((4, 1)), [1, 2, 3, 6]).predict([[0.0]]) == pytest.approx(3.0)


def test_zero_is_a_start():
    X, y = problem("squared")
    assert AnyBoost(init="zero", n_estimators=1).fit(X, y + 5).init_raw_ == 0
    assert AnyBoost(n_estimators=1).fit(X, y + 5).init_raw_ == pytest.approx(np.mean(y + 5))


def test_weights_are_repetitions():
    X, y = problem("log_cosh", 200)
    weights = np.random.RandomState(0).randint(0, 4, 200)
    rows = np.repeat(np.arange(200), weights)
    for learner in (PeerTree(max_depth=1), DecisionTreeRegressor(max_depth=1)):  # deeper trees meet ties
        one = AnyBoost(learner, loss="log_cosh", n_estimators=3, random_state=0).fit(X, y, weights)
        other = AnyBoost(learner, loss="log_cosh", n_estimators=3, random_state=0).fit(X[rows], y[rows])
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-7)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "zero_one"}, "loss='zero_one'"),
        ({"loss": ZeroOne()}, "has no slope"),
        ({"loss": SoftmaxCrossEntropy()}, "has an output a class"),
        ({"loss": "cubic"}, "loss='cubic'"),
        ({"estimator": "tree"}, "estimator='tree'"),
        ({"init": "mean"}, "init='mean'"),
        ({"tol": -1.0}, "tol=-1"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        AnyBoost(**params).fit([[0.0], [1.0]], [0.0, 1.0])


def test_wrong_targets_are_named():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match="3 classes"):
        AnyBoost(loss="hinge").fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="1 class only"):
        AnyBoost(loss="hinge").fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match="y holds -1"):
        AnyBoost(loss="poisson").fit(X, [0, -1, 2])
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        AnyBoost(KNeighborsRegressor()).fit(X, [0, 1, 2], [1, 1, 2])
