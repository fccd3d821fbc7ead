"""Histogram boosting: constraints, categories, missing values, weights, early stopping, warm start, errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from mercer import losses
from mercer._native import kernels
from mercer.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

# ---- bins


def _edges(X, weights=None, max_bins=255):
    edges, counts = np.empty((X.shape[1], 254)), np.empty(X.shape[1], dtype=np.int32)
    kernels.find_bin_edges(X, None, weights, None, max_bins, edges, counts, 1)
    return edges, counts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bin_holds_the_numbers_up_to_its_edge(dtype):
    random = np.random.RandomState(0)
    X = np.column_stack([random.randn(5000), random.randint(0, 9, 5000), np.exp(5 * random.randn(5000))]).astype(dtype)
    X[::7, 0] = np.nan
    edges, counts = _edges(X)
    bins = kernels.BinnedRows(X, edges, counts, None, 2).bins
    for j in range(3):
        own = edges[j, : counts[j]]
        expected = np.where(np.isnan(X[:, j]), counts[j] + 1, np.searchsorted(own, X[:, j].astype(np.float64)))
        np.testing.assert_array_equal(bins[:, j], expected)
    assert counts[1] == 8


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_bins_hold_about_the_same_number_of_rows(max_bins):
    X = np.random.RandomState(0).randn(10_000, 1)
    edges, counts = _edges(X, max_bins=max_bins)
    assert counts[0] == max_bins - 1
    sizes = np.bincount(np.searchsorted(edges[0, : counts[0]], X[:, 0]))
    assert sizes.max() - sizes.min() <= 1


def test_a_value_that_many_rows_share_costs_the_others_no_bins():
    random = np.random.RandomState(0)
    X = np.where(random.uniform(size=(10_000, 1)) < 0.9, 0.0, random.uniform(1, 2, size=(10_000, 1)))
    _, counts = _edges(X)
    assert counts[0] == 254


def test_weights_move_edges_as_repetition_does():
    random = np.random.RandomState(0)
    X, weights = random.randn(3000, 2), random.randint(0, 4, size=3000)
    edges, counts = _edges(X, weights.astype(float), 50)
    expected, n_expected = _edges(np.repeat(X, weights, axis=0), None, 50)
    np.testing.assert_array_equal(counts, n_expected)
    for j in range(2):
        np.testing.assert_array_equal(edges[j, : counts[j]], expected[j, : counts[j]])


# ---- constraints


@pytest.mark.parametrize("policy", ["leaf_wise", "depth_wise"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_predictions_follow_the_monotone_constraints(policy, loss):
    random = np.random.RandomState(0)
    X = random.uniform(size=(2000, 3))
    y = np.sin(8 * X[:, 0]) + np.cos(8 * X[:, 1]) + X[:, 2] + 3 + 0.1 * random.randn(2000)
    model = HistGradientBoostingRegressor(loss=loss, monotonic_cst=[1, -1, 0], grow_policy=policy).fit(X, y)
    for feature, sign in ((0, 1), (1, -1)):
        for row in X[:30]:
            line = np.tile(row, (200, 1))
            line[:, feature] = np.linspace(-0.1, 1.1, 200)
            assert (sign * np.diff(model.predict(line)) >= -1e-12).all()


def test_a_constraint_by_name_is_one_by_place():
    frames = pytest.importorskip("pandas")
    X, y = make_friedman1(500, random_state=0)
    frame = frames.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    one = HistGradientBoostingRegressor(monotonic_cst={"x3": -1}, interaction_cst=[["x0", "x1"], [3]]).fit(frame, y)
    signs = np.zeros(X.shape[1], dtype=int)
    signs[3] = -1
    other = HistGradientBoostingRegressor(monotonic_cst=signs, interaction_cst=[(0, 1), [3]]).fit(X, y)
    np.testing.assert_array_equal(one.predict(frame), other.predict(X))


def _paths(model):
    """The features on the way to each leaf, of all trees."""
    for t in range(len(model._trees)):
        tree = model._trees[t]
        ways = {0: frozenset()}
        for node in range(tree.node_count):
            if tree.is_leaf[node]:
                yield ways[node]
            else:
                for child in (tree.children_left[node], tree.children_right[node]):
                    ways[child] = ways[node] | {int(tree.feature[node])}


@pytest.mark.parametrize(
    ("given", "is_allowed"),
    [
        ("no_interactions", lambda way: len(way) <= 1),
        ("pairwise", lambda way: len(way) <= 2),
        ([[0, 1], [1, 2, 3]], lambda way: way <= {0, 1} or way <= {1, 2, 3} or way <= {4, 5, 6, 7, 8, 9}),
    ],
    ids=["none", "pairwise", "groups"],
)
def test_paths_keep_to_the_interactions_allowed(given, is_allowed):
    X, y = make_friedman1(2000, random_state=0)
    model = HistGradientBoostingRegressor(interaction_cst=given, max_iter=20).fit(X, y)
    ways = set(_paths(model))
    assert all(is_allowed(way) for way in ways)
    assert len(ways) > 3


def test_features_are_drawn_for_each_split():
    X, y = make_friedman1(2000, random_state=0)
    all_features = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    some = HistGradientBoostingRegressor(max_iter=20, max_features=0.2, random_state=0).fit(X, y)
    same = HistGradientBoostingRegressor(max_iter=20, max_features=0.2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(some.predict(X), same.predict(X))
    assert (some.feature_importances_[5:] > 0).all()
    assert some.feature_importances_[5:].sum() > all_features.feature_importances_[5:].sum()


# ---- categories and missing values


def _coloured(n=3000):
    frames = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    colours = np.array(["red", "green", "blue", "grey", "white", "black"])[random.randint(6, size=n)]
    size = random.randn(n)
    y = np.isin(colours, ["green", "grey", "black"]) * 2.0 + size + 0.1 * random.randn(n)
    return frames.DataFrame({"colour": frames.Categorical(colours), "size": size}), y


def test_one_split_separates_any_set_of_categories():
    frame, y = _coloured()
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(frame, y)
    tree = model._trees[0]
    names = model.categories_[0]
    left = {str(names[k]) for k in tree.left_categories(0)}
    assert left in ({"green", "grey", "black"}, {"red", "blue", "white"})
    assert model.is_categorical_.tolist() == [True, False]


@pytest.mark.parametrize("unseen", ["missing", "other", "error"])
def test_a_category_never_seen_follows_the_rule(unseen):
    frames = pytest.importorskip("pandas")
    frame, y = _coloured()
    model = HistGradientBoostingRegressor(unseen=unseen, max_iter=10).fit(frame, y)
    strange = frames.DataFrame({"colour": frames.Categorical(["violet"]), "size": [0.0]})
    lacking = frames.DataFrame({"colour": frames.Categorical([None], categories=["red"]), "size": [0.0]})
    if unseen == "error":
        with pytest.raises(ValueError, match="violet"):
            model.predict(strange)
    else:
        assert np.isfinite(model.predict(strange)).all()
    if unseen == "missing":
        assert model.predict(strange) == model.predict(lacking)


def test_missing_values_go_to_the_better_side():
    random = np.random.RandomState(0)
    x = random.uniform(size=1000)
    for sign in (1, -1):
        y = sign * (x > 0.5)
        lacking = np.where(random.uniform(size=1000) < 0.3, np.nan, x)
        y = np.where(np.isnan(lacking), sign, y)  # missing ones are like the large
        model = HistGradientBoostingRegressor(max_iter=100).fit(lacking[:, None], y)
        np.testing.assert_allclose(model.predict([[np.nan], [0.1], [0.9]]), [sign, 0, sign], atol=0.01)


def test_whether_a_value_is_missing_can_be_all_that_counts():
    x = np.where(np.arange(1000) % 3 == 0, np.nan, 1.0)[:, None]
    y = np.isnan(x[:, 0]).astype(float)
    model = HistGradientBoostingRegressor(max_iter=100).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=0.01)


# ---- weights and threads


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_a_weight_of_k_is_k_rows(loss):
    random = np.random.RandomState(0)
    X = random.randint(0, 30, size=(800, 3)).astype(float)
    y = np.abs(X[:, 0] - 10) + random.uniform(size=800)
    weights = random.randint(0, 4, size=800)
    params = {"loss": loss, "min_samples_leaf": 1, "max_leaf_nodes": 8, "max_iter": 20}
    one = HistGradientBoostingRegressor(**params).fit(X, y, weights)
    other = HistGradientBoostingRegressor(**params).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_one_two_and_seven_threads_give_the_same_bits(loss):
    X, y = make_friedman1(150_000, 9, random_state=0)
    X[::11, 2] = np.nan
    found = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            found.append(
                HistGradientBoostingRegressor(loss=loss, max_iter=3, early_stopping=False).fit(X, np.abs(y)).predict(X)
            )
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_leaf_nodes", [3, 31, 60, 200])
def test_a_row_is_predicted_the_same_alone_and_among_others(dtype, max_leaf_nodes):
    X, y = make_friedman1(2000, random_state=0)
    X = X.astype(dtype)
    X[::5, 3] = np.nan
    model = HistGradientBoostingRegressor(max_leaf_nodes=max_leaf_nodes, min_samples_leaf=2, max_iter=20).fit(X, y)
    together = model.predict(X)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(0, 2000, 17)])
    np.testing.assert_array_equal(together[::17], alone)
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, together, rtol=1e-12)


def test_balanced_classes_weigh_the_same():
    X, y = make_classification(2000, weights=[0.9], flip_y=0.3, random_state=0)
    plain = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    balanced = HistGradientBoostingClassifier(max_iter=20, class_weight="balanced").fit(X, y)
    weights = np.where(y == 1, (y == 0).mean(), (y == 1).mean())
    by_hand = HistGradientBoostingClassifier(max_iter=20).fit(X, y, weights)
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)


# ---- early stopping and warm start


def test_early_stopping_needs_no_rows_of_the_users():
    X, y = make_friedman1(2000, noise=5, random_state=0)
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=1000, n_iter_no_change=5, random_state=0).fit(X, y)
    assert model.n_iter_ < 200
    assert model.certificate_.converged
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert model.best_n_iter_ == np.argmax(model.validation_score_) == model.n_iter_ - 5
    assert [record["validation_score"] for record in model.history_] == model.validation_score_[1:].tolist()


def test_a_refit_at_the_best_round_uses_all_rows():
    X, y = make_friedman1(2000, noise=5, random_state=0)
    params = {"early_stopping": True, "max_iter": 1000, "random_state": 0}
    searched = HistGradientBoostingRegressor(**params).fit(X, y)
    model = HistGradientBoostingRegressor(**params, refit_best=True).fit(X, y)
    expected = HistGradientBoostingRegressor(max_iter=searched.best_n_iter_).fit(X, y)
    assert model.n_iter_ == len(model.history_) == searched.best_n_iter_
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    np.testing.assert_array_equal(model.validation_score_, searched.validation_score_)


@pytest.mark.parametrize("scoring", ["loss", "accuracy", "neg_log_loss", None, lambda model, X, y: model.score(X, y)])
@pytest.mark.parametrize("validation_fraction", [0.2, 300, None])
def test_early_stopping_goes_by_any_score(scoring, validation_fraction):
    X, y = make_classification(1500, flip_y=0.2, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model = HistGradientBoostingClassifier(
        early_stopping=True, scoring=scoring, validation_fraction=validation_fraction, max_iter=15, random_state=0
    ).fit(X, labels)
    scores = model.train_score_ if validation_fraction is None else model.validation_score_
    assert len(scores) == model.n_iter_ + 1
    assert scores[-1] > scores[0]
    if validation_fraction is None and scoring == "neg_log_loss":
        assert scores[-1] == pytest.approx(-log_loss(labels, model.predict_proba(X)))


def test_rows_for_early_stopping_may_be_given():
    X, y = make_friedman1(2000, noise=5, random_state=0)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0)
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=1000).fit(X, y, X_val=X_val, y_val=y_val)
    errors = [np.mean((y_val - predicted) ** 2) / 2 for predicted in model.staged_predict(X_val)]
    np.testing.assert_allclose(model.validation_score_[1:], np.negative(errors))


def test_a_warm_start_goes_on_where_the_fit_ended():
    X, y = make_friedman1(1000, random_state=0)
    model = HistGradientBoostingRegressor(max_iter=10, warm_start=True, random_state=0).fit(X, y)
    model.set_params(max_iter=25).fit(X, y)
    whole = HistGradientBoostingRegressor(max_iter=25, random_state=0).fit(X, y)
    assert model.n_iter_ == len(model.history_) == 25
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match=r"max_iter=5 must be larger than or equal to n_iter_=25"):
        model.set_params(max_iter=5).fit(X, y)


def test_a_warm_start_needs_the_same_classes():
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=2, warm_start=True).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"goes on from a fit to the classes \[0, 1\]"):
        model.fit(X[50:], y[50:])


def test_a_class_of_one_row_is_no_hindrance_to_early_stopping():
    X, y = make_classification(300, random_state=0)
    y[7] = 2
    model = HistGradientBoostingClassifier(early_stopping=True, max_iter=5, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (300, 3)


def test_stages_end_at_the_prediction():
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    assert len(list(model.staged_predict(X))) == len(list(model.staged_decision_function(X))) == 5
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-12)


# ---- errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "quantile"}, "quantile=None is not valid"),
        ({"loss": losses.Hinge()}, r"loss=Hinge\(\) is not valid; of mercer.losses it may be"),
        ({"loss": lambda y, raw: raw}, "must return a gradient and a Hessian"),
        ({"loss": lambda y, raw: (raw, raw[:3])}, "Hessian of shape"),
        ({"loss": lambda y, raw: (raw, -np.ones_like(raw))}, "Hessian below zero"),
        ({"loss": lambda y, raw: (raw * np.nan, np.ones_like(raw))}, "not finite"),
        ({"loss": lambda y, raw: (raw - y, raw * 0 + 1), "early_stopping": True}, "gives only derivatives"),
        ({"max_bins": 256}, "max_bins=256 is not valid"),
        ({"interaction_cst": [0, 1]}, "groups of features"),
        ({"interaction_cst": [[0, 99]]}, "interaction_cst holds 99"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has the shape"),
        ({"monotonic_cst": [1] + [0] * 9, "categorical_features": [0]}, "have no order"),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_do(params, message):
    X, y = make_friedman1(100, random_state=0)
    X[:, 0] = np.arange(100) % 5
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(**params).fit(X, y)


@pytest.mark.parametrize(("loss", "y"), [("poisson", [-1.0, 1, 2]), ("gamma", [0.0, 1, 2]), ("poisson", [0.0, 0, 0])])
def test_targets_outside_the_domain_of_a_loss_are_refused(loss, y):
    with pytest.raises(ValueError, match="y "):
        HistGradientBoostingRegressor(loss=loss).fit(np.arange(3.0)[:, None], y)


def test_targets_too_large_for_the_loss_are_refused():
    X, y = make_friedman1(100, random_state=0)
    with pytest.raises(ValueError, match="Scale y"):
        HistGradientBoostingRegressor().fit(X, 1e200 * y)


def test_more_categories_than_bins_are_refused_by_column():
    X = np.column_stack([np.arange(300.0), np.arange(300.0)])
    with pytest.raises(ValueError, match="Column 1 has 300 categories"):
        HistGradientBoostingRegressor(categorical_features=[1]).fit(X, X[:, 0])


def test_monotone_constraints_need_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"monotonic_cst=.*3 classes"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, y)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_one_class_is_predicted_everywhere_with_certainty(early_stopping):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = HistGradientBoostingClassifier(max_iter=3, early_stopping=early_stopping).fit(X, ["only"] * 80)
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((80, 1)))  # one column a class
    assert all((stage == 1).all() for stage in model.staged_predict_proba(X))
    assert model.score(X, ["only"] * 80) == 1
