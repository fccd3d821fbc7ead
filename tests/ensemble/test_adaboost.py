"""AdaBoost against its definition, scikit-learn and its bound."""

import numpy as np
import pytest
import sklearn.ensemble as peers
import sklearn.tree as peer_trees
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from threadpoolctl import threadpool_limits

from mercer.ensemble import AdaBoostClassifier, AdaBoostRegressor
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.reference.boosting import samme, votes


def classes(n_rows=1500, n_classes=2, seed=0):
    """Continuous columns, exact in single precision, and classes that no tree separates."""
    random = np.random.RandomState(seed)
    X = random.randn(n_rows, 6).astype(np.float32).astype(np.float64)
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * random.randn(n_rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def numbers(n_rows=1500, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n_rows, 6).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * random.randn(n_rows)


# ---- classes


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_members_are_those_of_the_definition(n_classes, depth, is_weighted):
    X, y = classes(400, n_classes)
    weights = np.random.RandomState(1).randint(0, 3, len(y)).astype(float) if is_weighted else None
    learner = DecisionTreeClassifier(max_depth=depth)
    model = AdaBoostClassifier(learner, n_estimators=10).fit(X, y, weights)
    members, alphas, errors = samme(X, y, learner, 10, weights)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-10)
    np.testing.assert_allclose(model.estimator_weights_, alphas, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), votes(members, alphas, X, np.unique(y)))
    for mine, theirs in zip(model.estimators_, members, strict=True):
        np.testing.assert_array_equal(mine.tree_.threshold, theirs.tree_.threshold)
        np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_everything_equals_scikit_learn(n_classes, depth, learning_rate):
    X, y = classes(n_classes=n_classes)
    params = {"n_estimators": 20, "learning_rate": learning_rate, "random_state": 3}
    mine = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), **params).fit(X, y)
    peer = peers.AdaBoostClassifier(peer_trees.DecisionTreeClassifier(max_depth=depth), **params).fit(X, y)
    np.testing.assert_allclose(mine.estimator_errors_, peer.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(mine.estimator_weights_, peer.estimator_weights_, rtol=1e-9)
    assert [each.random_state for each in mine.estimators_] == [each.random_state for each in peer.estimators_]
    for method in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        np.testing.assert_allclose(getattr(mine, method)(X), getattr(peer, method)(X), rtol=1e-9, atol=1e-12)
    for method in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
        for one, other in zip(getattr(mine, method)(X), getattr(peer, method)(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(list(mine.staged_score(X, y)), list(peer.staged_score(X, y)))
    if depth == 1:
        np.testing.assert_allclose(mine.feature_importances_, peer.feature_importances_, atol=1e-10)


@pytest.mark.parametrize("learner", [PeerLogistic(), GaussianNB(), peer_trees.DecisionTreeClassifier(max_depth=2)])
def test_any_learner_with_weights_gives_what_scikit_learn_gives(learner):
    X, y = classes(500, 3)
    mine = AdaBoostClassifier(learner, n_estimators=8, random_state=0).fit(X, y)
    peer = peers.AdaBoostClassifier(learner, n_estimators=8, random_state=0).fit(X, y)
    n = len(mine.estimators_)
    assert n == len(peer.estimators_)
    np.testing.assert_allclose(mine.estimator_errors_, peer.estimator_errors_[:n], rtol=1e-7)
    np.testing.assert_allclose(mine.decision_function(X), peer.decision_function(X), rtol=1e-7, atol=1e-9)


def test_class_weights_of_the_learner_take_the_long_way_to_the_same_kind_of_model():
    X, y = classes(300)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, class_weight={0: 1, 1: 1}), n_estimators=5).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=5).fit(X, y)
    np.testing.assert_allclose(model.estimator_errors_, plain.estimator_errors_, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-12)


DATA = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "moons": lambda: make_moons(800, noise=0.3, random_state=0),
    "generated": lambda: make_classification(1000, 20, n_informative=6, n_classes=3, random_state=0),
}


@pytest.mark.parametrize("name", DATA)
def test_held_out_scores_are_the_peers(name):
    X_train, X_test, y_train, y_test = train_test_split(*DATA[name](), random_state=0)
    depth = {"max_depth": 3}
    params = {"n_estimators": 30, "random_state": 0}
    mine = AdaBoostClassifier(DecisionTreeClassifier(**depth), **params).fit(X_train, y_train)
    peer = peers.AdaBoostClassifier(peer_trees.DecisionTreeClassifier(**depth), **params).fit(X_train, y_train)
    assert mine.score(X_test, y_test) >= peer.score(X_test, y_test) - 3 * np.sqrt(0.25 / len(y_test))


# ---- the bound


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_training_error_is_within_its_bound_after_every_round(depth, is_weighted):
    X, y = classes(600)
    weights = np.random.RandomState(1).rand(600) if is_weighted else None
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=60).fit(X, y, weights)
    expected = np.exp(-2 * np.cumsum((0.5 - model.estimator_errors_) ** 2))
    np.testing.assert_allclose(model.training_error_bounds_, expected, rtol=1e-12)
    assert model.training_error_bound_ == model.training_error_bounds_[-1]
    errors = 1 - np.array(list(model.staged_score(X, y, weights)))
    assert (errors <= model.training_error_bounds_).all()
    assert [record["bound"] for record in model.history_] == model.training_error_bounds_.tolist()


def test_the_three_bounds_stand_in_their_order():
    X, y = classes(600)
    model = AdaBoostClassifier(n_estimators=40).fit(X, y)
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.training_error_products_, np.cumprod(2 * np.sqrt(errors * (1 - errors))), rtol=1e-12)
    assert model.training_error_product_ == model.training_error_products_[-1] == model.history_[-1]["product"]
    least = 0.5 - errors.max()
    assert model.training_error_edge_bound_ == pytest.approx(np.exp(-2 * least**2 * 40))
    assert 1 - model.score(X, y) <= model.training_error_product_ < model.training_error_bound_
    assert model.training_error_bound_ < model.training_error_edge_bound_ < 1


def test_an_error_of_a_quarter_has_the_weight_and_the_factor_of_the_notes():
    model = AdaBoostClassifier(n_estimators=1).fit([[0], [1], [2], [3]], [0, 1, 1, 0])
    assert model.estimator_errors_ == [0.25]
    assert model.estimator_weights_[0] / 2 == pytest.approx(0.549306, abs=5e-7)  # the notes' weight; scikit-learn doubles it
    assert model.training_error_product_ == pytest.approx(0.866025, abs=5e-7)


class RightWhenWeighted(ClassifierMixin, BaseEstimator):
    """Says that all rows are of the first class, until the rows have different weights: then it knows them by heart."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.is_right_ = np.unique(y), np.ptp(sample_weight) > 1e-12
        self.known_ = dict(zip(X[:, 0].tolist(), y, strict=True))
        return self

    def predict(self, X):
        return np.array([self.known_[x] if self.is_right_ else self.classes_[0] for x in X[:, 0].tolist()])


def test_a_later_member_without_error_decides_alone():
    X, y = np.arange(10.0)[:, None], np.repeat(["a", "b"], [7, 3])
    model = AdaBoostClassifier(RightWhenWeighted(), n_estimators=9).fit(X, y)
    assert (len(model.estimators_), model.n_iter_) == (1, 2)
    assert model.estimators_[0].is_right_
    assert (model.estimator_errors_, model.training_error_product_) == ([0], 0)
    np.testing.assert_allclose(model.training_error_bounds_, np.exp(-2 * np.cumsum([0.2**2, 0.5**2])))
    assert model.score(X, y) == 1


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("learning_rate", [0.2, 1.0, 1.7])
def test_the_bound_holds_for_many_classes_and_any_shrinkage(n_classes, learning_rate):
    X, y = classes(600, n_classes)
    learner = DecisionTreeClassifier(max_depth=8)
    model = AdaBoostClassifier(learner, n_estimators=30, learning_rate=learning_rate).fit(X, y)
    errors = 1 - np.array(list(model.staged_score(X, y)))
    assert (errors <= model.training_error_bounds_ + 1e-12).all()
    assert learning_rate > 1 or model.training_error_bound_ < 1


# ---- ends


def test_a_member_without_error_ends_the_fit():
    model = AdaBoostClassifier(n_estimators=10).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    assert len(model.estimators_) == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.predict([[0.0], [2.0]]).tolist() == ["a", "b"]


def test_a_member_at_chance_ends_the_fit_and_is_not_kept():
    X = [[0.0]] * 10  # nothing to split: every member says what most weight says
    model = AdaBoostClassifier(n_estimators=10).fit(X, [0] * 6 + [1] * 4)
    assert len(model.estimators_) == len(model.estimator_weights_) == len(model.estimator_errors_) == 1
    assert len(model.history_) == 2
    assert model.history_[-1]["error"] == pytest.approx(0.5)
    assert model.history_[-1]["weight"] == 0


@pytest.mark.parametrize("learner", [None, peer_trees.DecisionTreeClassifier(max_depth=1)])
def test_a_first_member_at_chance_is_an_error(learner):
    with pytest.raises(ValueError, match=r"error 0\.5, no better than chance.*worse than random"):
        AdaBoostClassifier(learner).fit([[0.0]] * 4, [0, 1, 0, 1])


def test_one_class_is_learnt_at_once():
    model = AdaBoostClassifier().fit([[0.0], [1.0]], ["only", "only"])
    assert model.predict([[5.0]]).tolist() == ["only"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_a_huge_learning_rate_overflows_nothing():
    X, y = classes(200)
    model = AdaBoostClassifier(n_estimators=20, learning_rate=1e6).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"learning_rate": 0.0}, "learning_rate=0"),
        ({"estimator": "stump"}, "estimator='stump'"),
        ({"estimator": KNeighborsClassifier()}, "doesn't support sample_weight"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(**params).fit([[0.0], [1.0]], [0, 1])


# ---- data


@pytest.mark.parametrize("estimator", [AdaBoostClassifier, AdaBoostRegressor])
def test_the_number_of_threads_changes_no_bit(estimator):
    X, y = classes(10_000)
    outputs = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            outputs.append(estimator(n_estimators=5, random_state=0).fit(X, y).predict(X).tobytes())
    assert len(set(outputs)) == 1


def test_categories_and_missing_values_go_through():
    pandas = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    kind = random.choice(list("abcdef"), 300)
    size = random.randn(300)
    size[::7] = np.nan
    X = pandas.DataFrame({"kind": pandas.Categorical(kind), "size": size})
    y = np.isin(kind, ["a", "d", "f"])
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    assert model.score(X, y) == 1
    assert (model.estimators_[0].predict(X) == y).all()
    strange = X.assign(kind=pandas.Categorical(["z"] * 300))
    assert len(model.predict(strange)) == 300
    refusing = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, unseen="error")).fit(X, y)
    with pytest.raises(ValueError, match="'z', which training never saw"):
        refusing.predict(strange)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", ["low", "high"])
def test_the_errors_of_stumps_are_those_of_their_predictions(dtype, missing):
    X, y = classes(500)
    X = X.astype(dtype)
    X[(X[:, 2] < -0.5) if missing == "low" else (X[:, 2] > 0.5), 2] = np.nan  # to be sent left, or right
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    weights = np.full(500, 1 / 500)
    for member, weight, error in zip(model.estimators_, model.estimator_weights_, model.estimator_errors_, strict=True):
        is_wrong = member.predict(X) != y
        assert error == pytest.approx(weights[is_wrong].sum())
        weights[is_wrong] *= np.exp(weight)
        weights /= weights.sum()


def test_labels_may_be_anything_sortable():
    X, y = classes(200, 3)
    names = np.array(["low", "mid", "top"])[y]
    for learner in (None, GaussianNB()):
        model = AdaBoostClassifier(learner, n_estimators=5).fit(X, names)
        coded = AdaBoostClassifier(learner, n_estimators=5).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), np.array(["low", "mid", "top"])[coded.predict(X)])


# ---- numbers


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_the_first_rounds_of_r2_equal_scikit_learns(loss):
    X, y = numbers()
    params = {"n_estimators": 4, "loss": loss, "random_state": 0}
    for depth in (1, 2):
        mine = AdaBoostRegressor(DecisionTreeRegressor(max_depth=depth), **params).fit(X, y)
        peer = peers.AdaBoostRegressor(peer_trees.DecisionTreeRegressor(max_depth=depth), **params).fit(X, y)
        np.testing.assert_allclose(mine.estimator_errors_, peer.estimator_errors_[: len(mine.estimators_)], rtol=1e-9)
        np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-9)
        for one, other in zip(mine.staged_predict(X), peer.staged_predict(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("learner", [peer_trees.DecisionTreeRegressor(max_depth=3), DecisionTreeRegressor(min_samples_leaf=5)])
def test_other_learners_of_r2_draw_rows_as_scikit_learn_does(learner):
    X, y = numbers(300)
    mine = AdaBoostRegressor(learner, n_estimators=6, random_state=0).fit(X, y)
    peer = peers.AdaBoostRegressor(learner, n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_allclose(mine.estimator_errors_, peer.estimator_errors_[: len(mine.estimators_)], rtol=1e-9)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-9)


def test_r2_with_weights_instead_of_draws_weighs_and_does_as_well():
    X, y = numbers()
    model = AdaBoostRegressor(resample=False, n_estimators=30).fit(X[:1000], y[:1000])
    drawn = AdaBoostRegressor(n_estimators=30, random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > drawn.score(X[1000:], y[1000:]) - 0.05


def test_r2_keeps_a_first_member_however_bad():
    X, y = [[0.0]] * 4, [0.0, 1.0, 0.0, 1.0]
    model = AdaBoostRegressor(random_state=0, resample=False).fit(X, y)
    assert len(model.estimators_) == 1
    assert np.isfinite(model.predict(X)).all()


def test_weights_instead_of_draws_need_a_learner_that_takes_them():
    with pytest.raises(ValueError, match="resample=False hands it the weights"):
        AdaBoostRegressor(KNeighborsRegressor(), resample=False).fit([[0.0], [1.0]], [0.0, 1.0])
    assert len(AdaBoostRegressor(KNeighborsRegressor(1), random_state=0).fit([[0.0], [1.0]], [0.0, 1.0]).estimators_) >= 1
