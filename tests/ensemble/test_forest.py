"""Random forests and extremely randomised trees: draws, votes, out-of-bag estimates, importances, quantiles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1, make_regression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import cross_val_score, train_test_split
from threadpoolctl import threadpool_limits

from mercer.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from tests.ensemble.forest_data import CLASSIFICATION, REGRESSION, for_the_peer
from tests.reference.forest import out_of_bag_shares, quantile, weights_of_training_rows

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(300, noise=1.0, random_state=0)
CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
FORESTS = CLASSIFIERS + REGRESSORS


def _data(forest):
    return IRIS if forest in CLASSIFIERS else FRIEDMAN


# ---- as good as the peer


@pytest.mark.parametrize("name", CLASSIFICATION)
@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_held_out_accuracy_is_that_of_scikit_learn(forest, name):
    X, y = CLASSIFICATION[name]()
    peer = getattr(sklearn.ensemble, forest.__name__)
    mine = cross_val_score(forest(30, random_state=0), X, y, cv=3)
    theirs = cross_val_score(peer(30, random_state=0), for_the_peer(X), y, cv=3)
    assert mine.mean() > theirs.mean() - 0.025


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("forest", REGRESSORS)
def test_held_out_r2_is_that_of_scikit_learn(forest, name):
    X, y = REGRESSION[name]()
    peer = getattr(sklearn.ensemble, forest.__name__)
    mine = cross_val_score(forest(30, random_state=0), X, y, cv=3)
    theirs = cross_val_score(peer(30, random_state=0), for_the_peer(X), y, cv=3)
    assert mine.mean() > theirs.mean() - 0.03


def test_without_draws_a_forest_is_one_tree_and_its_importances_are_those_of_scikit_learn():
    X, y = make_regression(150, 5, random_state=0)
    X = X.astype(np.float32)  # as scikit-learn has it
    forest = RandomForestRegressor(3, bootstrap=False, min_samples_leaf=8).fit(X, y)
    peer = sklearn.ensemble.RandomForestRegressor(3, bootstrap=False, min_samples_leaf=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.feature_importances_, peer.feature_importances_, atol=1e-10)
    np.testing.assert_allclose(forest.predict(X), peer.predict(X), rtol=1e-10)
    np.testing.assert_allclose(forest.predict(X), DecisionTreeRegressor(min_samples_leaf=8).fit(X, y).predict(X), rtol=1e-12)


@pytest.mark.parametrize("forest", FORESTS)
def test_importances_are_the_mean_over_the_trees(forest):
    X, y = _data(forest)
    model = forest(7, random_state=0).fit(X, y)
    mean = np.mean([tree.feature_importances_ for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum(), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_forest_of_bare_roots_has_importances_of_zero():
    model = RandomForestRegressor(3, random_state=0).fit(np.zeros((10, 2)), np.arange(10.0))
    np.testing.assert_array_equal(model.feature_importances_, 0)


# ---- draws


def test_a_bootstrap_holds_63_percent_of_the_rows():
    X, y = make_classification(2000, 5, random_state=0)
    samples = RandomForestClassifier(30, max_depth=1, random_state=0).fit(X, y).estimators_samples_
    assert all(len(rows) == 2000 for rows in samples)
    held = np.array([len(np.unique(rows)) / 2000 for rows in samples])
    assert abs(held.mean() - (1 - np.exp(-1))) < 4 * 0.007 / np.sqrt(30)
    assert abs(held - (1 - np.exp(-1))).max() < 0.05


@pytest.mark.parametrize(("max_samples", "n_draws"), [(None, 150), (0.5, 75), (20, 20), (2.0, 300)])
def test_max_samples_is_a_number_or_a_share(max_samples, n_draws):
    forest = RandomForestClassifier(3, max_samples=max_samples, random_state=0).fit(*IRIS)
    assert {len(rows) for rows in forest.estimators_samples_} == {n_draws}
    assert forest.estimators_[0].tree_.weighted_n_node_samples[0] == n_draws


def test_rows_are_drawn_in_proportion_to_their_weights():
    X, y = IRIS
    weights = np.where(y == 2, 3.0, np.where(y == 1, 1.0, 0.0))
    forest = RandomForestClassifier(200, max_depth=1, random_state=0).fit(X, y, sample_weight=weights)
    drawn = np.bincount(y[np.concatenate(forest.estimators_samples_)], minlength=3)
    assert drawn[0] == 0
    assert abs(drawn[2] / drawn.sum() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / drawn.sum())


@pytest.mark.parametrize("forest", FORESTS)
def test_a_tree_fitted_alone_on_its_rows_is_the_tree_of_the_forest(forest):
    X, y = _data(forest)
    model = forest(4, bootstrap=True, min_samples_leaf=8, random_state=3).fit(X, y)  # large nodes have no equal splits
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        alone = clone(tree).fit(X, y, sample_weight=np.bincount(rows, minlength=len(X)))
        np.testing.assert_array_equal(alone.tree_.feature, tree.tree_.feature)
        np.testing.assert_allclose(alone.tree_.threshold, tree.tree_.threshold, rtol=1e-12)
        np.testing.assert_allclose(alone.predict(X), tree.predict(X), rtol=1e-12)


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_a_weight_equals_repetition_where_nothing_is_drawn(forest):
    X, y = _data(forest)
    weights = np.random.RandomState(0).randint(0, 3, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    fixed = forest(2, bootstrap=False, max_features=None, max_depth=3)
    one, other = clone(fixed).fit(X, y, sample_weight=weights), fixed.fit(X[rows], y[rows])
    np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, rtol=1e-9)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("forest", FORESTS)
def test_the_number_of_threads_changes_no_bit(forest):
    X, y = _data(forest)
    found = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            params = {"bootstrap": True, "oob_score": True, "oob_importance": True, "tree_weights": "oob"}
            model = forest(30, max_depth=4, random_state=0, **params).fit(X, y)
            found.append((model.predict(X), model.oob_score_, model.oob_permutation_importance_, model.tree_weights_))
            if forest in REGRESSORS:
                found[-1] += (model.predict_quantiles(X, [0.1, 0.9]),)
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


# ---- votes


@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize("tree_weights", [None, "oob"])
def test_the_forest_is_the_weighted_mean_of_its_trees(forest, tree_weights):
    X, y = _data(forest)
    model = forest(8, bootstrap=True, tree_weights=tree_weights, random_state=0).fit(X, y)
    ask = "predict_proba" if forest in CLASSIFIERS else "predict"
    each = [weight * getattr(tree, ask)(X) for tree, weight in zip(model.estimators_, model.tree_weights_, strict=True)]
    np.testing.assert_allclose(getattr(model, ask)(X), np.sum(each, axis=0), rtol=1e-12)


def test_two_classes_are_told_by_one_number():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    mean = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), mean, atol=1e-14)
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[mean.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(forest.predict_log_proba(X)), forest.predict_proba(X))


def test_trees_weigh_what_they_earn_out_of_their_bags():
    X, y = IRIS
    forest = RandomForestClassifier(10, tree_weights="oob", random_state=0).fit(X, y)
    expected = []
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(len(X)), rows)
        error = max(1 - accuracy_score(y[left_out], tree.predict(X[left_out])), 0.5 / len(left_out))
        expected.append(np.log((1 - error) / error) + np.log(2))
    np.testing.assert_allclose(forest.tree_weights_, np.array(expected) / np.sum(expected), rtol=1e-12)


def test_trees_that_only_guess_weigh_the_same():
    X, y = np.zeros((40, 1)), np.arange(40) % 2
    forest = RandomForestClassifier(5, tree_weights="oob", random_state=0).fit(X, y)
    assert forest.tree_weights_.sum() == pytest.approx(1)


def test_good_trees_outvote_bad_ones():
    random = np.random.RandomState(0)
    X = random.randn(400, 40)
    y = X[:, 0] + 0.1 * random.randn(400)  # a tree that never looks at the first feature knows nothing
    train, test = slice(200), slice(200, None)
    scores = {
        weights: RandomForestRegressor(30, max_features=1, max_depth=3, tree_weights=weights, random_state=0)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for weights in (None, "oob")
    }
    assert scores["oob"] > scores[None]


# ---- out of the bag


def test_the_out_of_bag_shares_are_those_of_the_trees_that_have_not_seen_the_row():
    X, y = IRIS
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    expected = out_of_bag_shares(forest, X, 3)
    np.testing.assert_allclose(forest.oob_decision_function_, expected, atol=1e-13)
    assert forest.oob_score_ == np.mean(expected.argmax(axis=1) == y)


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_the_out_of_bag_score_is_near_the_held_out_score(forest):
    if forest is RandomForestClassifier:
        X, y = make_classification(3000, 10, n_informative=4, flip_y=0.1, random_state=0)
    else:
        X, y = make_friedman1(3000, noise=1.0, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model = forest(60, min_samples_leaf=3, oob_score=True, random_state=0).fit(X, y)
    held_out = model.score(X_test, y_test)
    if forest is RandomForestClassifier:
        error = np.sqrt(2 * held_out * (1 - held_out) / len(y))  # of the difference between two such scores
    else:
        squares = (y_test - model.predict(X_test)) ** 2 / y_test.var()
        error = np.sqrt(2) * squares.std() / np.sqrt(len(y))
    assert abs(model.oob_score_ - held_out) < 2 * error


def test_the_out_of_bag_score_may_be_any_function():
    X, y = FRIEDMAN
    seen = []

    def score(truth, prediction):
        seen.append((truth.shape, prediction.shape))
        return -np.abs(truth - prediction).max()

    forest = RandomForestRegressor(40, oob_score=score, random_state=0).fit(X, y)
    assert seen == [((300,), (300,))]
    assert forest.oob_score_ == -np.abs(y - forest.oob_prediction_).max()


def test_a_row_in_every_bag_has_no_out_of_bag_prediction():
    X, y = IRIS
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    is_known = ~np.isnan(forest.oob_decision_function_).any(axis=1)
    assert 0 < is_known.sum() < len(y)
    assert forest.oob_score_ == np.mean(forest.oob_decision_function_[is_known].argmax(axis=1) == y[is_known])


def test_permuting_a_feature_that_matters_costs_accuracy_and_one_that_does_not_costs_nothing():
    random = np.random.RandomState(0)
    X = random.randn(500, 4)
    for forest, y in ((RandomForestClassifier, X[:, 1] > 0), (RandomForestRegressor, 3 * X[:, 1] + X[:, 2])):
        importance = forest(30, oob_importance=True, random_state=0).fit(X, y).oob_permutation_importance_
        assert importance.argmax() == 1
        assert abs(importance[0]) < 0.03
        assert importance[1] > 0.3
    assert importance[2] > 5 * abs(importance[3])


def test_the_permutation_importance_of_a_sure_feature_is_what_breiman_has():
    X = np.repeat(np.arange(2.0), 400)[:, None]
    y = X[:, 0].astype(int)
    forest = RandomForestClassifier(50, oob_importance=True, random_state=0).fit(X, y)
    assert abs(forest.oob_permutation_importance_[0] - 0.5) < 0.01  # from no error to that of a coin
    with pytest.raises(AttributeError, match="oob_importance=True"):
        _ = RandomForestClassifier(2).fit(X, y).oob_permutation_importance_


# ---- quantiles


@pytest.mark.parametrize(
    "params", [{}, {"bootstrap": False, "max_features": 0.5}, {"tree_weights": "oob"}, {"max_samples": 0.5}]
)
def test_quantiles_are_those_of_the_targets_that_share_leaves(params):
    X, y = FRIEDMAN
    forest = RandomForestRegressor(8, min_samples_leaf=4, random_state=0, **params).fit(X, y)
    forest.training_X = X
    weights = weights_of_training_rows(forest, X[:20], len(X))
    np.testing.assert_allclose(weights @ y, forest.predict(X[:20]), rtol=1e-10)
    for share in (0.0, 0.1, 0.5, 0.77, 1.0):
        expected = [quantile(y, line, share) for line in weights]
        np.testing.assert_array_equal(forest.predict_quantiles(X[:20], share), expected)


def test_a_tree_of_one_leaf_gives_the_quantiles_of_the_weighted_targets():
    y = np.random.RandomState(0).randn(50)
    weights = np.arange(50) % 3
    y[0] = -10.0  # of weight zero: not even the least quantile is there
    forest = RandomForestRegressor(1, bootstrap=False).fit(np.zeros((50, 1)), y, sample_weight=weights)
    shares = [0.0, 0.05, 0.5, 0.95]
    expected = np.quantile(np.repeat(y, weights), shares, method="inverted_cdf")
    np.testing.assert_array_equal(forest.predict_quantiles([[0.0]], shares)[0], expected)


def test_quantile_intervals_cover():
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, size=(3000, 2))
    y = X[:, 0] + (1 + X[:, 1]) * random.randn(3000)  # the spread hangs on the second feature
    forest = RandomForestRegressor(50, min_samples_leaf=20, random_state=0).fit(X[:1500], y[:1500])
    low, high = forest.predict_quantiles(X[1500:], [0.05, 0.95]).T
    is_inside = (low <= y[1500:]) & (y[1500:] <= high)
    assert abs(is_inside.mean() - 0.9) < 0.035
    is_wide = X[1500:, 1] > 0
    assert (high - low)[is_wide].mean() > 2 * (high - low)[~is_wide].mean()
    assert all(abs(is_inside[part].mean() - 0.9) < 0.05 for part in (is_wide, ~is_wide))


def test_quantiles_of_several_outputs_follow_the_first_axis():
    X, y = FRIEDMAN
    both = RandomForestRegressor(5, min_samples_leaf=5, random_state=0).fit(X, np.column_stack([y, -y]))
    out = both.predict_quantiles(X[:7], [0.25, 0.75])
    assert out.shape == (7, 2, 2)
    assert both.predict_quantiles(X[:7]).shape == (7, 2)
    assert (out[:, :, 0] <= out[:, :, 1]).all()
    assert RandomForestRegressor(2).fit(X, y).predict_quantiles(X[:7], [0.5]).shape == (7, 1)


@pytest.mark.parametrize("quantiles", [-0.1, 1.5, [0.5, np.nan], [[0.5]]])
def test_a_quantile_outside_0_to_1_is_refused(quantiles):
    forest = RandomForestRegressor(2, random_state=0).fit(*FRIEDMAN)
    with pytest.raises(ValueError, match=r"quantiles=.*must be a number from 0 to 1"):
        forest.predict_quantiles(FRIEDMAN[0], quantiles)


# ---- members, outputs, labels


@pytest.mark.parametrize("forest", FORESTS)
def test_members_are_views_of_one_store(forest):
    X, y = _data(forest)
    model = forest(5, random_state=0).fit(X, y)
    assert len(model.estimators_) == len(model) == 5
    assert model.estimators_[-1].random_state == model[4].random_state
    assert [tree.get_n_leaves() for tree in model] == [tree.get_n_leaves() for tree in model.estimators_[:]]
    assert np.shares_memory(model.estimators_[0].tree_.impurity, model.estimators_[1].tree_.impurity.base)
    with pytest.raises(IndexError):
        model.estimators_[5]
    np.testing.assert_array_equal(model.apply(X), np.stack([tree.apply(X) for tree in model], axis=1))
    paths, starts = model.decision_path(X)
    for number, tree in enumerate(model):
        part = paths[:, starts[number] : starts[number + 1]]
        assert (part != tree.decision_path(X)).nnz == 0
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_members_speak_of_the_labels():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(3, random_state=0).fit(X, names)
    assert type(forest.estimators_[0]) is DecisionTreeClassifier
    assert type(ExtraTreesClassifier(2).fit(X, names).estimators_[0]) is ExtraTreeClassifier
    assert set(forest.estimators_[0].predict(X)) <= set(names)


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["no", "yes"], [0.0, 2.0], [("a",), ("b",)]])
def test_labels_may_be_anything_sortable(labels):
    X, y = load_breast_cancer(return_X_y=True)
    if isinstance(labels[0], tuple):
        named = np.empty(len(y), dtype=object)
        named[:] = [labels[code][0] for code in y]
    else:
        named = np.array(labels)[y]
    forest = RandomForestClassifier(5, random_state=0).fit(X, named)
    coded = RandomForestClassifier(5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X) == named, coded.predict(X) == y)


@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_a_fold_that_lacks_a_class_works(forest):
    X, y = IRIS
    model = forest(5, random_state=0).fit(X[y < 2], y[y < 2])
    assert model.predict_proba(X).shape == (150, 2)
    assert forest(5, random_state=0).fit(X[y < 1], y[y < 1]).predict_proba(X).shape == (150, 1)
    few = forest(5, bootstrap=True, max_samples=2, random_state=0).fit(X, y)  # no bag has all classes
    assert few.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(few.predict_proba(X).sum(axis=1), 1)


def share_of_equal_labels(truth, answers):
    return np.mean(truth == answers)


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("values", [(0, 1), (3, 7), (0.0, 1.0)])
def test_the_out_of_bag_score_of_several_labels_is_of_the_kind_that_score_returns(forest, values):
    X = np.random.default_rng(0).normal(size=(300, 4))
    Y = np.where(X[:, :3] + 0.7 * np.roll(X, 1, axis=0)[:, :3] > 0, values[1], values[0])
    model = forest(30, bootstrap=True, oob_score=True, max_depth=3, random_state=0).fit(X, Y)
    labels = np.where(model.oob_decision_function_.argmax(axis=1), values[1], values[0])
    assert model.oob_score_ == (labels == Y).all(axis=1).mean() < (labels == Y).mean()


def test_several_outputs_of_classes_are_like_scikit_learns():
    X, y = IRIS
    Y = np.column_stack([y, y == 1])
    with pytest.raises(ValueError, match=r"oob_score=True is not valid.*multiclass-multioutput.*give a function"):
        RandomForestClassifier(20, oob_score=True).fit(X, Y)
    forest = RandomForestClassifier(20, oob_score=share_of_equal_labels, random_state=0).fit(X, Y)
    assert [part.shape for part in forest.predict_proba(X)] == [(150, 3), (150, 2)]
    assert forest.predict(X).shape == (150, 2)
    assert np.mean(forest.predict(X) == Y) > 0.97
    assert forest.oob_decision_function_.shape == (150, 3, 2)
    assert forest.oob_score_ > 0.9
    assert forest.n_classes_ == [3, 2]


def test_several_regression_targets():
    X, y = FRIEDMAN
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, np.column_stack([y, -y]))
    prediction = forest.predict(X)
    np.testing.assert_allclose(prediction[:, 0], -prediction[:, 1], rtol=1e-9)
    assert forest.oob_prediction_.shape == (300, 2)


# ---- class weights


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 20}])
def test_class_weights_find_the_rare_class(class_weight):
    X, y = make_classification(1500, 6, weights=[0.95], flip_y=0.05, class_sep=0.7, random_state=0)
    recalls = [
        RandomForestClassifier(20, max_depth=3, class_weight=weight, random_state=0).fit(X, y).predict(X)[y == 1].mean()
        for weight in (None, class_weight)
    ]
    assert recalls[1] > recalls[0] + 0.2


def test_a_balanced_bag_has_classes_of_the_same_weight():
    X, y = make_classification(300, 4, weights=[0.9], random_state=0)
    forest = RandomForestClassifier(6, class_weight="balanced_subsample", random_state=0).fit(X, y)
    for tree in forest.estimators_:
        np.testing.assert_allclose(tree.tree_.value[0, 0], [0.5, 0.5], atol=1e-12)
        assert tree.tree_.weighted_n_node_samples[0] == pytest.approx(300)


# ---- warm start


@pytest.mark.parametrize("forest", FORESTS)
def test_a_warm_start_adds_the_trees_that_a_larger_forest_has(forest):
    X, y = _data(forest)
    grown = forest(3, warm_start=True, random_state=0).fit(X, y)
    first = grown.estimators_[0]
    grown.set_params(n_estimators=8).fit(X, y)
    whole = forest(8, random_state=0).fit(X, y)
    assert len(grown.estimators_) == 8
    np.testing.assert_array_equal(first.tree_.threshold, grown.estimators_[0].tree_.threshold)
    np.testing.assert_array_equal(grown.predict(X), whole.predict(X))
    if forest in REGRESSORS:
        np.testing.assert_array_equal(grown.predict_quantiles(X, [0.2, 0.8]), whole.predict_quantiles(X, [0.2, 0.8]))
    assert all(np.array_equal(a, b) for a, b in zip(grown.estimators_samples_, whole.estimators_samples_, strict=True))


def test_a_warm_start_goes_on_with_out_of_bag_scores_and_other_data():
    X, y = FRIEDMAN
    grown = RandomForestRegressor(20, warm_start=True, oob_score=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=40).fit(X, y)
    assert grown.oob_score_ == RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y).oob_score_
    grown.set_params(n_estimators=45, oob_score=False).fit(X[:100], y[:100] + 1000)
    assert not hasattr(grown, "oob_score_")
    assert grown.predict_quantiles(X, 1.0).min() > 900  # every row shares a leaf with a row of the later data


def test_a_warm_start_refuses_fewer_trees_and_other_classes_and_warns_of_no_more():
    X, y = IRIS
    forest = RandomForestClassifier(4, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        forest.set_params(n_estimators=2).fit(X, y)
    forest.set_params(n_estimators=6)
    with pytest.raises(ValueError, match="same features"):
        forest.fit(X[:, :2], y)
    with pytest.raises(ValueError, match="classes of the first fit"):
        forest.fit(X, y + 1)


# ---- constraints, pruning, errors


def test_monotone_forests_are_monotone():
    X, y = FRIEDMAN
    forest = RandomForestRegressor(10, monotonic_cst=[0, 0, 0, 1, 0], max_features=3, random_state=0)
    forest.fit(X[:, :5], y)
    grid = np.tile(X[:50, :5], (9, 1, 1))
    grid[:, :, 3] = np.linspace(0, 1, 9)[:, None]
    values = forest.predict(grid.reshape(-1, 5)).reshape(9, 50)
    assert (np.diff(values, axis=0) >= -1e-12).all()


def test_pruned_forests_are_smaller_and_keep_their_leaves_rows():
    X, y = FRIEDMAN
    full, pruned = (RandomForestRegressor(5, ccp_alpha=alpha, random_state=0).fit(X, y) for alpha in (0.0, 0.3))
    assert sum(tree.get_n_leaves() for tree in pruned) < sum(tree.get_n_leaves() for tree in full) / 2
    pruned.training_X = X
    weights = weights_of_training_rows(pruned, X[:10], len(X))
    np.testing.assert_allclose(weights @ y, pruned.predict(X[:10]), rtol=1e-10)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bootstrap": False, "oob_score": True}, "oob_score=True.*bootstrap=True"),
        ({"bootstrap": False, "tree_weights": "oob"}, "tree_weights='oob'.*bootstrap=True"),
        ({"bootstrap": False, "oob_importance": True}, "oob_importance=True.*bootstrap=True"),
        ({"bootstrap": False, "max_samples": 0.5}, "max_samples=0.5.*bootstrap=False"),
        ({"max_samples": 10**6}, "max_samples=1000000.*at most"),
        ({"n_estimators": 0}, "n_estimators=0.*>= 1"),
        ({"max_features": 0}, "max_features=0"),
        ({"tree_weights": "accuracy"}, "tree_weights='accuracy'.*'oob'"),
        ({"criterion": "mse"}, "criterion='mse'"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**params).fit(*IRIS)


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        RandomForestRegressor(criterion="poisson").fit(FRIEDMAN[0], -FRIEDMAN[1])


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "friedman_mse"])
def test_every_criterion_of_regression_works(criterion):
    X, y = FRIEDMAN
    theirs = "squared_error" if criterion == "friedman_mse" else criterion  # which the peer is about to drop
    peer = sklearn.ensemble.RandomForestRegressor(15, criterion=theirs, random_state=0)
    mine = RandomForestRegressor(15, criterion=criterion, random_state=0)
    train, test = slice(200), slice(200, None)
    mine_r2, peer_r2 = (r2_score(y[test], model.fit(X[train], y[train]).predict(X[test])) for model in (mine, peer))
    assert mine_r2 > peer_r2 - 0.1


def test_an_unseen_category_follows_the_rule():
    table, y = CLASSIFICATION["categories"]()
    strange = table.head(3).assign(letter=["z", "a", "b"])
    for unseen in ("missing", "other"):
        forest = RandomForestClassifier(5, unseen=unseen, random_state=0).fit(table, y)
        assert len(forest.predict(strange)) == 3
        assert len(forest.estimators_[0].predict(strange)) == 3
    with pytest.raises(ValueError, match="'z'"):
        RandomForestClassifier(5, unseen="error", random_state=0).fit(table, y).predict(strange)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_the_rows_of_a_tree_are_numbers_of_four_bytes_that_grow_it_again(bootstrap):
    X, y = IRIS
    forest = RandomForestClassifier(3, bootstrap=bootstrap, random_state=None).fit(X, y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert rows.dtype == np.int32
        np.testing.assert_allclose(clone(tree).fit(X[rows], y[rows]).tree_.value, tree.tree_.value)


def test_a_forest_names_the_kind_of_its_trees_before_it_is_fitted():
    assert type(RandomForestRegressor().estimator) is DecisionTreeRegressor
    assert type(ExtraTreesClassifier().estimator) is ExtraTreeClassifier
    assert "estimator" not in RandomForestRegressor().get_params()


def test_a_sparse_y_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"y is sparse: .*y\.toarray"):
        RandomForestClassifier().fit(np.eye(3), sp.csr_matrix(np.eye(3)))
