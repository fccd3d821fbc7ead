"""Single trees against scikit-learn's, node by node, and what they make of weights, limits, labels and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from threadpoolctl import threadpool_limits

from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from tests.common.state import assert_same_bits
from tests.tree.comparison import assert_same_tree, assert_same_up_to_ties, fit_peer

CLASSES = ("gini", "entropy", "log_loss")
NUMBERS = ("squared_error", "friedman_mse", "poisson")
pytestmark = pytest.mark.filterwarnings(
    "ignore:Value `.friedman_mse:FutureWarning", "ignore:divide by zero:RuntimeWarning"
)  # the peer's
LIMITS = (
    {"max_depth": 4, "min_samples_leaf": 5},
    {"min_samples_split": 30, "min_samples_leaf": 7},
    {"min_samples_split": 0.1, "min_samples_leaf": 0.02},
    {"min_weight_fraction_leaf": 0.04},
    {"min_impurity_decrease": 0.004, "min_samples_leaf": 5},
    {"max_leaf_nodes": 12, "min_samples_leaf": 5},
    {"max_leaf_nodes": 25, "max_depth": 5, "min_samples_leaf": 5},
)


def weights_without_ties(criterion, n):
    """Counts of classes often tie; weighted ones do not."""
    return np.random.default_rng(0).uniform(0.5, 1.5, n) if criterion in CLASSES else None


def make_rows(seed, n=500, d=5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)).astype(np.float32)  # scikit-learn rounds to single precision
    signal = 2 * X[:, 0] + np.sin(3 * X[:, 1 % d]) + X[:, 2 % d] * X[:, 1 % d] + random.normal(size=n)
    return X, signal, random


def targets_of(criterion, signal, n_classes=2):
    if criterion in CLASSES:
        return np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return np.exp(signal / 3) if criterion == "poisson" else signal


def make_tree(criterion, **params):
    kind = DecisionTreeClassifier if criterion in (*CLASSES, "misclassification") else DecisionTreeRegressor
    return kind(criterion=criterion, **params)


# ---- agreement with scikit-learn


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_the_tree_is_scikit_learns_on_data_without_ties(criterion, limits):
    for seed in range(3):
        X, signal, _ = make_rows(seed)
        y, weights = targets_of(criterion, signal), weights_without_ties(criterion, len(X))
        model = make_tree(criterion, **limits).fit(X, y, weights)
        peer = fit_peer(model, X, y, weights)
        assert_same_tree(model.tree_, peer.tree_)
        np.testing.assert_allclose(model.feature_importances_, peer.feature_importances_, atol=1e-10)
        np.testing.assert_array_equal(model.predict(X).round(9), peer.predict(X).round(9))
        assert model.get_depth() == model.tree_.depths.max()
        assert model.get_n_leaves() == (model.tree_.children_left < 0).sum()


@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize("n_classes", [3, 7])
@pytest.mark.parametrize("class_weight", [None, {0: 2.0, 1: 0.5}])
def test_many_classes_give_scikit_learns_tree(criterion, n_classes, class_weight):
    X, signal, _ = make_rows(1)
    y = targets_of(criterion, signal, n_classes)
    if isinstance(class_weight, dict):
        class_weight = {**dict.fromkeys(range(n_classes), 1.0), **class_weight}
    weights = weights_without_ties(criterion, len(X))
    model = make_tree(criterion, max_depth=4, min_samples_leaf=6, class_weight=class_weight).fit(X, y, weights)
    peer = fit_peer(model, X, y, weights)
    assert_same_tree(model.tree_, peer.tree_)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), atol=1e-10)


def test_balanced_classes_weigh_the_same():
    X, signal, random = make_rows(1)
    y = np.digitize(signal, [-2, 1.5])
    model = DecisionTreeClassifier(max_depth=4, min_samples_leaf=6, class_weight="balanced").fit(X, y)
    assert_same_up_to_ties(model.tree_, fit_peer(model, X, y).tree_)
    weights = random.integers(0, 4, len(X))  # here scikit-learn balances the rows, Mercer their weights
    one = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(X, y, weights).tree_
    other = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(one.value[0], np.full((1, 3), 1 / 3))
    np.testing.assert_allclose(one.value, other.tree_.value, atol=1e-9)


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (30, 40), (400, 1), (1000, 12)])
def test_a_tree_grown_to_the_end_differs_from_scikit_learns_only_where_splits_tie(criterion, n, d):
    for seed in range(3):
        X, signal, _ = make_rows(seed, n, d)
        y = targets_of(criterion, signal)
        model = make_tree(criterion).fit(X, y)
        assert_same_up_to_ties(model.tree_, fit_peer(model, X, y).tree_)
        if criterion != "poisson":
            assert (model.tree_.impurity[model.tree_.is_leaf] < 1e-12).all()


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
def test_weighted_rows_give_scikit_learns_tree(criterion):
    for seed in range(3):
        X, signal, random = make_rows(seed)
        y, weights = targets_of(criterion, signal), random.random(len(X)) * (random.random(len(X)) < 0.8)
        model = make_tree(criterion, max_depth=5, min_samples_leaf=6).fit(X, y, weights)
        assert_same_tree(model.tree_, fit_peer(model, X, y, weights).tree_)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_missing_values_give_scikit_learns_tree(criterion):
    for seed in range(5):
        X, signal, random = make_rows(seed)
        X[random.random(X.shape) < 0.15] = np.nan
        y, weights = targets_of(criterion, signal), weights_without_ties(criterion, len(X))
        model = make_tree(criterion, max_depth=4, min_samples_leaf=8).fit(X, y, weights)
        peer = fit_peer(model, X, y, weights)
        assert_same_tree(model.tree_, peer.tree_)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-9)


def test_where_training_had_no_missing_values_they_go_to_the_larger_side():
    X, signal, _ = make_rows(0)
    tree = DecisionTreeRegressor(max_depth=1).fit(X, signal).tree_
    larger_left = tree.n_node_samples[1] > tree.n_node_samples[2]
    assert tree.apply(np.full((1, 5), np.nan))[0] == (1 if larger_left else 2)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("direction", [1, -1])
def test_monotone_constraints_hold_and_give_scikit_learns_tree(criterion, direction):
    X, signal, random = make_rows(3)
    y = targets_of(criterion, signal)
    directions = [direction, 0, 0, -direction, 0]
    weights = weights_without_ties(criterion, len(X))
    model = make_tree(criterion, max_depth=5, min_samples_leaf=6, monotonic_cst=directions).fit(X, y, weights)
    assert_same_tree(model.tree_, fit_peer(model, X, y, weights).tree_)
    values = (lambda Z: model.predict_proba(Z)[:, 1]) if criterion in CLASSES else model.predict
    for column, sign in ((0, direction), (3, -direction)):
        lower = random.normal(size=(500, 5))
        upper = lower.copy()
        upper[:, column] += random.exponential(size=500)
        assert (sign * (values(upper) - values(lower)) >= -1e-12).all()


def test_a_constraint_can_go_by_column_name():
    pandas = pytest.importorskip("pandas")
    X, signal, _ = make_rows(3)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    by_name = DecisionTreeRegressor(max_depth=4, monotonic_cst={"b": 1}).fit(frame, signal)
    by_place = DecisionTreeRegressor(max_depth=4, monotonic_cst=[0, 1, 0, 0, 0]).fit(X, signal)
    np.testing.assert_array_equal(by_name.tree_.threshold, by_place.tree_.threshold)


@pytest.mark.parametrize("criterion", CLASSES)
def test_several_outputs_of_classes_give_scikit_learns_tree(criterion):
    X, signal, random = make_rows(2)
    y = np.column_stack([signal > 0, np.digitize(signal + random.normal(size=len(X)), [-1, 1]), X[:, 3] > 0.5]).astype(int)
    weights = weights_without_ties(criterion, len(X))
    model = make_tree(criterion, max_depth=4, min_samples_leaf=6).fit(X, y, weights)
    peer = fit_peer(model, X, y, weights)
    assert_same_tree(model.tree_, peer.tree_)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    for mine, yours in zip(model.predict_proba(X), peer.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, yours, atol=1e-12)
    assert model.n_classes_ == [2, 3, 2]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
@pytest.mark.parametrize("max_depth", [2, 4, None])
def test_real_data_give_scikit_learns_splits_up_to_ties(load, max_depth):
    X, y = load(return_X_y=True)
    X = X.astype(np.float32)
    model = (DecisionTreeRegressor if load is load_diabetes else DecisionTreeClassifier)(max_depth=max_depth).fit(X, y)
    assert_same_up_to_ties(model.tree_, fit_peer(model, X, y).tree_)


def test_the_misclassification_criterion_takes_the_split_with_fewest_errors():
    for seed in range(5):
        X, signal, _ = make_rows(seed, 60, 3)
        y = np.digitize(signal, [-1, 1])
        tree = DecisionTreeClassifier(criterion="misclassification", max_depth=1).fit(X, y).tree_
        errors = min(
            sum((y[side] != np.bincount(y[side]).argmax()).sum() for side in (X[:, j] <= cut, X[:, j] > cut))
            for j in range(3)
            for cut in np.sort(X[:, j])[:-1]
        )
        np.testing.assert_allclose(tree.impurity[0], 1 - np.bincount(y).max() / 60)
        found = sum(tree.n_node_samples[i] * tree.impurity[i] for i in (1, 2)) if tree.node_count > 1 else 60 * tree.impurity[0]
        np.testing.assert_allclose(found, errors)


def test_apply_and_decision_path_are_scikit_learns():
    X, signal, _ = make_rows(0)
    model = DecisionTreeRegressor(max_depth=5, min_samples_leaf=4).fit(X, signal)
    peer = fit_peer(model, X, signal)
    np.testing.assert_array_equal(model.apply(X), peer.apply(X))
    assert (model.decision_path(X) != peer.decision_path(X)).nnz == 0


# ---- weights, threads, labels


@pytest.mark.parametrize("criterion", [*CLASSES, "misclassification", *NUMBERS])
def test_a_weight_is_a_number_of_repetitions(criterion):
    X, signal, random = make_rows(4)
    y = targets_of("gini" if criterion == "misclassification" else criterion, signal)
    weights = random.integers(0, 4, len(X))
    one = make_tree(criterion, max_depth=4, min_weight_fraction_leaf=0.03).fit(X, y, weights)
    other = make_tree(criterion, max_depth=4, min_weight_fraction_leaf=0.03).fit(
        np.repeat(X, weights, 0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)
    np.testing.assert_allclose(one.tree_.weighted_n_node_samples, other.tree_.weighted_n_node_samples)
    np.testing.assert_allclose(one.tree_.value, other.tree_.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.tree_.impurity, other.tree_.impurity, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 50}, {"max_features": 3}], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_the_number_of_threads_changes_no_bit(criterion, params):
    X, signal, random = make_rows(5, 5000, 8)
    X[random.random(X.shape) < 0.05] = np.nan
    y = targets_of(criterion, signal, 3)
    models = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            models.append(make_tree(criterion, random_state=3, **params).fit(X, y))
    assert_same_bits(models[0], models[1])
    assert_same_bits(models[0], models[2])


def test_draws_of_features_come_from_the_random_state():
    X, signal, _ = make_rows(6)
    fits = [DecisionTreeRegressor(max_features=1, random_state=seed).fit(X, signal).tree_.threshold for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert len(fits[0]) != len(fits[2]) or (fits[0] != fits[2]).any()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "maybe"]),
        np.array(["no", "yes", "maybe"], dtype=object),
        np.array([-5, 3, 7]),
        np.array([True, False]),
        np.array([0.0, 1.0, 2.0]),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]").astype(str),
    ],
    ids=str,
)
def test_labels_may_be_anything_that_sorts(labels):
    X, signal, _ = make_rows(7)
    codes = targets_of("gini", signal, len(labels))
    model = DecisionTreeClassifier(max_depth=4).fit(X, labels[codes])
    np.testing.assert_array_equal(model.classes_, np.sort(labels))
    assert model.predict(X).dtype == labels.dtype
    assert (model.predict(X) == labels[codes]).mean() > 0.6
    assert set(model.leaf_counts(0)) == set(labels.tolist())


def test_one_class_and_constant_targets_make_a_single_leaf():
    X, _, _ = make_rows(0, 20)
    model = DecisionTreeClassifier().fit(X, ["only"] * 20)
    assert model.tree_.node_count == 1
    assert model.predict_proba(X).tolist() == [[1.0]] * 20
    assert DecisionTreeRegressor().fit(X, np.full(20, 0.1)).tree_.node_count == 1
    assert DecisionTreeRegressor().fit(np.ones((20, 2)), np.arange(20.0)).predict([[1, 1]]) == [9.5]


def test_random_splits_that_cannot_be_are_not_made():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    model = DecisionTreeRegressor(min_samples_leaf=6).fit(X, np.arange(10.0))
    assert model.tree_.node_count == 1


# ---- the worked examples of the notes

MANDATES = ["Premium", "Premium", "Advanced", "Advanced", "Basic"]


def test_the_five_mandates_have_the_gini_and_the_leaf_of_the_notes():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {
            "wealth": [5, 5, 10, 10, 5],
            "country": pandas.Categorical(["France", "Switzerland", "UAE", "UAE", "Switzerland"]),
        }
    )
    model = DecisionTreeClassifier().fit(table, MANDATES)
    np.testing.assert_allclose(model.tree_.impurity[0], 0.64)
    swiss = model.apply(pandas.DataFrame({"wealth": [5], "country": pandas.Categorical(["Switzerland"])}))[0]
    assert model.leaf_counts(swiss) == {"Premium": 1, "Basic": 1}
    assert model.leaf_counts(0) == {"Premium": 2, "Advanced": 2, "Basic": 1}
    assert model.tree_.n_leaves == 3
    tree = model.tree_
    risk = tree.weighted_n_node_samples * tree.impurity / 5
    splits = np.flatnonzero(~tree.is_leaf)
    assert tree.feature[splits].tolist() == [0, 1]  # wealth at the root
    removed = risk[splits] - risk[tree.children_left[splits]] - risk[tree.children_right[splits]]
    np.testing.assert_allclose(removed, [0.37333, 0.06667], atol=5e-6)
    np.testing.assert_allclose(model.feature_importances_, [0.8485, 0.1515], atol=5e-5)


def test_the_node_importances_of_the_notes_give_their_feature_importances():
    model = DecisionTreeClassifier().fit([[0, 2], [0, 1], [1, 0], [1, 0], [2, 3]], ["B", "C", "A", "B", "A"])
    tree = model.tree_
    risk = tree.weighted_n_node_samples * tree.impurity / 5
    splits = np.flatnonzero(~tree.is_leaf)
    removed = risk[splits] - risk[tree.children_left[splits]] - risk[tree.children_right[splits]]
    np.testing.assert_allclose(sorted(removed), [0.2 / 3, 0.52 / 3, 0.2], atol=1e-12)  # .066, .174 and .2 of the notes
    assert tree.feature[splits].tolist() == [0, 1, 0]
    np.testing.assert_allclose(model.feature_importances_, [0.24 / 0.44, 0.2 / 0.44], atol=1e-12)  # .545, .454


# The seven persons of the notes: ages and heights that give all of their figures.
AGES = np.array([20.0, 38, 68, 26, 18, 30, 38])
HEIGHTS = np.array([168.0, 169, 170, 172, 175, 178, 180])
SEXES = np.array(["F", "F", "F", "M", "F", "M", "M"])


def test_four_females_and_three_males_have_the_gini_of_the_notes():
    tree = DecisionTreeClassifier().fit(np.column_stack([AGES, HEIGHTS]), SEXES).tree_
    np.testing.assert_allclose(tree.impurity[0], 24 / 49)
    stump = DecisionTreeClassifier(max_depth=1).fit(AGES[:, None], SEXES).tree_
    np.testing.assert_allclose(stump.impurity[1:], [0, 12 / 25], atol=1e-15)
    assert stump.n_node_samples.tolist() == [7, 2, 5]
    np.testing.assert_allclose(stump.compute_feature_importances(normalize=False), 36 / 245)


def test_the_variance_gains_of_the_notes():
    sides = {169: (2, 81, 5, 297.6, 10), 170: (3, 392, 4, 52, 48), 172: (4, 342, 3, 67.56, 21.33)}
    for threshold, (n_left, left, n_right, right, gain) in sides.items():
        tree = DecisionTreeRegressor(max_depth=1).fit((threshold < HEIGHTS)[:, None].astype(float), AGES).tree_
        np.testing.assert_allclose(tree.impurity, [245.71, left, right], atol=0.005)
        assert tree.n_node_samples.tolist() == [7, n_left, n_right]
        risk = tree.n_node_samples * tree.impurity / 7
        np.testing.assert_allclose(risk[0] - risk[1] - risk[2], gain, atol=0.005)
    best = DecisionTreeRegressor(max_depth=1).fit(HEIGHTS[:, None], AGES).tree_
    assert 170 < best.threshold[0] < 172


# ---- errors


def refuses(model, message, X, y, **kwargs):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y, **kwargs)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "mse"),
        ("splitter", "worst"),
        ("max_depth", 0),
        ("min_samples_split", 1),
        ("min_samples_split", 1.5),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 1.0),
        ("min_weight_fraction_leaf", 0.6),
        ("max_features", 0),
        ("max_features", "auto"),
        ("random_state", -1),
        ("max_leaf_nodes", 1),
        ("min_impurity_decrease", -0.1),
        ("ccp_alpha", -1.0),
        ("unseen", "ignore"),
        ("categorical_features", "all"),
        ("monotonic_cst", 1),
    ],
)
def test_wrong_parameters_are_named(kind, name, value):
    X, signal, _ = make_rows(0, 20)
    refuses(kind(**{name: value}), rf"{name}={value!r}.*must be", X, (signal > 0).astype(int))


def test_constraints_that_make_no_sense_are_refused():
    X, signal, _ = make_rows(0, 60)
    classes = np.digitize(signal, [-1, 1])
    refuses(DecisionTreeRegressor(monotonic_cst=[1, 0]), "shape", X, signal)
    refuses(DecisionTreeRegressor(monotonic_cst=[2, 0, 0, 0, 0]), "-1, 0 or 1", X, signal)
    refuses(DecisionTreeRegressor(monotonic_cst={"a": 1}), "names", X, signal)
    refuses(DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0, 0]), "3 classes", X, classes)
    refuses(DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0, 0]), "outputs", X, np.column_stack([signal > 0] * 2))
    X[:, 0] = np.arange(60) % 4
    refuses(DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0, 0], categorical_features=[0]), "no order", X, signal)


def test_poisson_targets_must_be_counts():
    X, signal, _ = make_rows(0, 60)
    refuses(DecisionTreeRegressor(criterion="poisson"), "negative", X, signal)
    refuses(DecisionTreeRegressor(criterion="poisson"), "strictly positive", X, np.zeros(60))


def test_class_weights_must_fit_the_outputs():
    X, signal, _ = make_rows(0, 60)
    y = (signal > 0).astype(int)
    refuses(DecisionTreeClassifier(class_weight=[{0: 1}, {1: 1}]), "class_weight", X, y)
    refuses(DecisionTreeClassifier(class_weight={0: 1, 1: 2}), "class_weight", X, np.column_stack([y, y]))
    refuses(DecisionTreeClassifier(class_weight={5: 1.0}), "class_weight", X, y)


def test_bad_arrays_are_refused():
    X, signal, _ = make_rows(0, 60)
    refuses(DecisionTreeRegressor(), "infinity", np.where(X > 2, np.inf, X), signal)
    refuses(DecisionTreeRegressor(), "NaN", X, np.where(signal > 1, np.nan, signal))
    refuses(DecisionTreeRegressor(), "inconsistent", X, signal[:-1])
    refuses(DecisionTreeClassifier(), "continuous", X, signal)
    refuses(DecisionTreeClassifier(), "dim", X, np.zeros((60, 2, 2)))
    model = DecisionTreeRegressor().fit(X, signal)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.full((1, 5), np.inf))
    assert np.isfinite(model.predict(np.full((1, 5), np.inf), check_input=False)).all()
    assert DecisionTreeRegressor().fit(np.where(X > 2, np.inf, X), signal, check_input=False).get_depth() > 0
    with pytest.raises(ValueError, match="node=1000"):
        DecisionTreeClassifier().fit(X, signal > 0).leaf_counts(1000)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_scale_of_the_targets_does_not_matter(scale):
    X = np.random.RandomState(0).rand(60, 3)
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    plain, scaled = DecisionTreeRegressor().fit(X, y), DecisionTreeRegressor().fit(X, scale * y)
    assert scaled.get_n_leaves() == plain.get_n_leaves() == 60
    np.testing.assert_allclose(scaled.predict(X), scale * y, rtol=1e-10, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor])
def test_what_rounding_leaves_of_a_constant_is_not_split(kind, dtype):
    random = np.random.default_rng(0)
    noise, signal = random.uniform(0, 1e-7, 40), random.normal(size=40)
    y = random.integers(0, 2, 40)
    model = kind(random_state=0).fit(np.column_stack([noise, signal]).astype(dtype), y)
    assert model.feature_importances_.tolist() == [0, 1]
    alone = kind(random_state=0).fit(noise[:, None].astype(dtype), y)
    assert alone.tree_.node_count == 1
    noise[::4] = np.nan  # what is missing still differs from what is not
    assert kind(random_state=0).fit(noise[:, None].astype(dtype), np.isnan(noise).astype(int)).tree_.node_count == 3


def test_values_count_as_one_only_as_far_as_the_least_of_them_reaches():
    x = np.arange(1000) * 0.5e-7  # each close to the next, and together far apart
    tree = DecisionTreeRegressor().fit(x[:, None], np.arange(1000) // 3).tree_
    assert tree.n_leaves > 300
    steps = np.diff(np.sort(tree.threshold[~tree.is_leaf]))
    assert steps.min() > 0.9e-7


@pytest.mark.parametrize("scale", [1, 0.25, 1024.0])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_leaf_of_equal_targets_says_exactly_that(n_outputs, scale):
    random = np.random.default_rng(0)
    X = np.arange(60.0)[:, None]
    Y = scale * random.integers(-3, 9, (60, n_outputs))
    Y = Y[:, 0] if n_outputs == 1 else Y
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, Y).predict(X), Y)
