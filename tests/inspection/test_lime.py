"""`LimeExplainer`: the same explanation for the same seed, the surrogate of the definition, lime itself, what is refused."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import truncnorm

from mercer.inspection import LimeExplainer, LimeTabularExplainer
from mercer.inspection._lime_bins import truncated_normal
from mercer.inspection._lime_surrogate import Neighbours
from mercer.linear_model import Lasso, LogisticRegression, Ridge

N_SAMPLES = 400


@pytest.fixture(autouse=True)
def _fits_may_be_poor():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LimeExplainer: the surrogate does not fit")
        yield


@pytest.fixture(scope="module")
def table():
    random = np.random.RandomState(0)
    X = random.randn(200, 6) * [1, 2, 3, 1, 1, 1] + 1
    X[:, 3] = random.randint(0, 3, 200)
    y = X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] == 1) > 2
    return X, y, LogisticRegression().fit(X, y)


WAYS = [
    {},
    {"categorical_features": [3]},
    {"sample_around_instance": True},
    {"sample_around_instance": True, "categorical_features": [3]},
    {"discretize_continuous": True},
    {"discretize_continuous": True, "discretizer": "decile", "categorical_features": [3]},
]


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_gives_the_same_explanation(table, way):
    X, _, model = table
    explainer = LimeExplainer(X, random_state=3, **way)
    first = explainer.explain_instance(X[7], model, num_samples=N_SAMPLES)
    explainer.explain_instance(X[8], model, num_samples=N_SAMPLES)
    again = explainer.explain_instance(X[7], model, num_samples=N_SAMPLES)
    pickled = pickle.loads(pickle.dumps(explainer)).explain_instance(X[7], model, num_samples=N_SAMPLES)
    among = explainer.explain_instances(X[5:10], model, num_samples=N_SAMPLES)[2]
    side_by_side = explainer.explain_instances(X[5:10], model, num_samples=N_SAMPLES, n_jobs=2)[2]
    for one, other in ((again, first), (pickled, first), (among, side_by_side)):
        assert other.as_map() == one.as_map()
        assert other.scores == one.scores
    # The last bits of a model's predictions may depend on how many rows it is given.
    assert dict(among.as_list()) == pytest.approx(dict(first.as_list()), abs=1e-12)
    other_seed = LimeExplainer(X, random_state=4, **way).explain_instance(X[7], model, num_samples=N_SAMPLES)
    assert other_seed.as_map() != first.as_map()


def test_an_explainer_without_a_seed_repeats_itself(table):
    X, _, model = table
    explainer = LimeExplainer(X)
    one, two = (explainer.explain_instance(X[0], model, num_samples=N_SAMPLES) for _ in range(2))
    assert one.as_map() == two.as_map()


@pytest.mark.parametrize("kernel", ["root", "gaussian"])
def test_coefficients_are_those_of_weighted_ridge_regression(table, kernel):
    X, _, model = table
    explainer = LimeExplainer(X, random_state=0, kernel=kernel, kernel_width=2.5, feature_selection="none")
    found = explainer.explain_instance(X[4], model, num_samples=N_SAMPLES)
    normals = np.random.RandomState(0).normal(0, 1, N_SAMPLES * 6).reshape(N_SAMPLES, 6)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    rows = normals * deviation + mean
    rows[0] = X[4]
    data = (rows - mean) / deviation
    squares = ((data - data[0]) ** 2).sum(axis=1) / 2.5**2
    weights = np.exp(-squares if kernel == "gaussian" else -squares / 2)
    target = model.predict_proba(rows)[:, 1]
    wanted = Ridge(alpha=1.0).fit(data, target, sample_weight=weights)
    assert np.allclose([dict(found.as_map()[1])[j] for j in range(6)], wanted.coef_, rtol=0, atol=1e-12)
    assert found.intercept[1] == pytest.approx(wanted.intercept_)
    assert found.score == pytest.approx(wanted.score(data, target, sample_weight=weights))
    assert found.local_pred == pytest.approx(wanted.predict(data[:1]))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31), method=st.sampled_from(["forward_selection", "highest_weights", "lasso_path"]))
def test_chosen_features_are_those_that_the_fits_would_choose(seed, method):
    random = np.random.RandomState(seed)
    data, weights = random.randn(60, 5), random.uniform(0.1, 1, 60)
    target = data @ random.randn(5) + random.randn(60)
    near = Neighbours(data[0], np.ascontiguousarray(data[1:]), weights, target[:, None])
    found = near.selected(0, 3, method)
    if method == "highest_weights":
        coef = Ridge(alpha=0.01).fit(data, target, sample_weight=weights).coef_
        assert found.tolist() == np.argsort(-np.abs(coef * data[0]))[:3].tolist()
    if method == "forward_selection":
        chosen: list[int] = []
        for _ in range(3):
            scores = {
                j: Ridge(alpha=1e-12)
                .fit(data[:, [*chosen, j]], target, sample_weight=weights)
                .score(data[:, [*chosen, j]], target, sample_weight=weights)
                for j in set(range(5)) - set(chosen)
            }
            chosen.append(max(scores, key=lambda j: scores[j]))
        assert found.tolist() == chosen
    assert len(found) <= 3


def test_standard_errors_are_the_spread_over_repeats(table):
    X, _, model = table
    explainer = LimeExplainer(X, "regression", random_state=0, feature_selection="none")
    found = explainer.explain_instance(X[2], model.decision_function, num_samples=2000, n_repeats=30)
    curved = explainer.explain_instance(X[2], lambda X: X[:, 0] ** 2 + X[:, 1], num_samples=2000, n_repeats=40)
    errors, spreads = curved.standard_errors[1], curved.repeat_spreads[1]
    assert np.mean([errors[j] / spreads[j] for j in range(6)]) == pytest.approx(1.0, abs=0.2)
    assert found.repeat_overlaps[1] == 1.0
    assert found.score > 0.99
    frame = pytest.importorskip("pandas") and curved.to_frame()
    assert list(frame.columns) == ["coefficient", "standard_error", "spread_over_repeats"]


def test_standard_errors_are_those_of_independent_samples():
    random = np.random.RandomState(0)
    data, weights = random.randn(40, 3) + np.array([1.0, 2.0, 3.0]), random.uniform(0.1, 1, 40)
    target = data[:, 0] ** 2 + random.randn(40)
    found = Neighbours(data[0], np.ascontiguousarray(data[1:]), weights, target[:, None]).ridge(0, np.array([0, 2]), 1.0)
    centred = (data - np.average(data, axis=0, weights=weights))[:, found.features]
    bread = np.linalg.inv((centred * weights[:, None]).T @ centred + np.eye(2))
    residuals = target - data[:, found.features] @ found.coef - found.intercept
    meat = sum((w * r) ** 2 * np.outer(x, x) for x, w, r in zip(centred, weights, residuals, strict=True))
    assert np.allclose(found.standard_errors, np.sqrt(np.diagonal(bread @ meat @ bread)), rtol=1e-10)


def test_a_surrogate_that_does_not_fit_is_told(table):
    X, _, _ = table
    explainer = LimeExplainer(X, "regression", random_state=0)
    warnings.simplefilter("always")
    with pytest.warns(UserWarning, match=r"does not fit 1 of 1 explanations: weighted R2 .* below least_score=0.2"):
        explainer.explain_instance(X[0], lambda X: np.sin(20 * X[:, 0]), num_samples=N_SAMPLES)


def test_labels_are_numbered_named_or_the_likeliest(table):
    X, _, _ = table
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0, 2])]
    model = LogisticRegression().fit(X, y)
    explainer = LimeExplainer(X, random_state=0)
    by_number = explainer.explain_instance(X[0], model, labels=(0, 2), num_samples=N_SAMPLES)
    by_name = explainer.explain_instance(X[0], model, labels=["a", "c"], num_samples=N_SAMPLES)
    assert by_number.as_map() == by_name.as_map()
    assert by_name.as_list("c") == by_name.as_list(2)
    likeliest = explainer.explain_instance(X[0], model, top_labels=2, num_samples=N_SAMPLES)
    assert likeliest.available_labels() == np.argsort(-model.predict_proba(X[:1])[0])[:2].tolist()
    with pytest.raises(KeyError, match="no explanation of label 1"):
        by_number.as_list()
    with pytest.raises(ValueError, match="label 'd' is not a class"):
        explainer.explain_instance(X[0], model, labels="d", num_samples=N_SAMPLES)


@pytest.mark.parametrize("surrogate", ["lasso", Lasso(alpha=0.05), "ridge", Ridge(alpha=1.0)])
def test_other_surrogates_take_the_place_of_ridge(table, surrogate):
    X, _, model = table
    explainer = LimeExplainer(X, random_state=0)
    found = explainer.explain_instance(X[0], model, num_samples=N_SAMPLES, model_regressor=surrogate)
    ridge = explainer.explain_instance(X[0], model, num_samples=N_SAMPLES)
    if isinstance(surrogate, Lasso) or surrogate == "lasso":
        assert sum(weight == 0 for _, weight in found.as_list()) > 0
        assert found.standard_errors[1] is None
    else:
        assert [name for name, _ in found.as_list()] == [name for name, _ in ridge.as_list()]
        assert np.allclose([w for _, w in found.as_list()], [w for _, w in ridge.as_list()], rtol=0, atol=1e-10)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_words_are_explained_in_their_columns(library):
    frames = pytest.importorskip(library)
    from sklearn.compose import make_column_transformer

    from mercer.pipeline import make_pipeline
    from mercer.preprocessing import OneHotEncoder, StandardScaler

    random = np.random.RandomState(0)
    age, colour = random.randint(20, 60, 100), random.choice(["red", "blue"], 100)
    frame = frames.DataFrame({"age": age, "colour": colour})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["age"]))
    model = make_pipeline(columns, LogisticRegression()).fit(frame, age + 15 * (colour == "red") > 45)
    for binned in (False, True):
        explainer = LimeExplainer(frame, random_state=0, discretize_continuous=binned)
        found = explainer.explain_instance(frame[5:6], model, num_samples=N_SAMPLES)
        names = dict(found.as_list())
        assert f"colour={colour[5]}" in names
        assert (names[f"colour={colour[5]}"] > 0) == (colour[5] == "red")
    with pytest.raises(ValueError, match="'green' is no value that 'colour' has"):
        explainer.explain_instance(frames.DataFrame({"age": [30], "colour": ["green"]}), model)
    with pytest.raises(ValueError, match="with the columns of training_data: 'age', 'colour'"):
        explainer.explain_instance(frame[["age"]][5:6], model)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_words_are_a_category(missing):
    pandas = pytest.importorskip("pandas")
    town = np.array(["north", missing] * 30, dtype=object)
    frame = pandas.DataFrame({"town": town, "size": np.random.RandomState(0).randn(60)})

    def is_missing(rows):
        return rows["town"].isna().to_numpy() + 0.1 * rows["size"].to_numpy()

    explainer = LimeExplainer(frame, "regression", random_state=0)
    found = [dict(explainer.explain_instance(frame[i : i + 1], is_missing, num_samples=N_SAMPLES).as_map()[1]) for i in (0, 1)]
    assert found[0][0] < -0.9
    assert found[1][0] > 0.9


def test_numbers_within_bins_are_cut_normals():
    u = np.linspace(0.001, 0.999, 50)
    for low, high in ((-1.0, 0.5), (2.0, 3.0), (-9.0, -8.0), (6.0, 40.0), (0.0, 0.1)):
        found = truncated_normal(u, np.full(50, low), np.full(50, high))
        assert np.allclose(found, truncnorm.ppf(u, low, high), rtol=1e-8, atol=1e-10)


def test_constant_columns_and_bins_of_one_value_do_no_harm():
    X = np.random.RandomState(0).randn(100, 3)
    X[:, 1], X[:, 2] = 5.0, np.round(X[:, 2])
    for way in ({}, {"discretize_continuous": True}):
        found = LimeExplainer(X, "regression", random_state=0, **way).explain_instance(X[0], lambda X: X[:, 0])
        weights = dict(found.as_map()[1])
        assert abs(weights[1]) < 1e-3
        assert abs(weights[0]) > 10 * abs(weights[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "ranking"}, "mode='ranking' is not valid"),
        ({"kernel_width": 0.0}, "kernel_width=0.0 is not valid"),
        ({"kernel": "triangle"}, "kernel='triangle' is not valid"),
        ({"categorical_features": [9]}, "there are columns 0 to 5"),
        ({"discretize_continuous": True, "discretizer": "entropy"}, "needs training_labels"),
        ({"feature_names": ["a"]}, "feature_names has 1 names; there must be 6"),
    ],
)
def test_wrong_parameters_are_named(table, arguments, message):
    with pytest.raises(ValueError, match=message):
        LimeExplainer(table[0], **arguments)


def test_wrong_calls_are_named(table):
    X, _, model = table
    explainer = LimeExplainer(X, random_state=0)
    with pytest.raises(ValueError, match=r"data_row has the shape \(2, 6\); it must be one row"):
        explainer.explain_instance(X[:2], model)
    with pytest.raises(ValueError, match="a row has 5 values; it must have the 6 columns"):
        explainer.explain_instance(X[0, :5], model)
    with pytest.raises(ValueError, match="predict_fn gives one value a row"):
        explainer.explain_instance(X[0], model.decision_function)
    with pytest.raises(ValueError, match="predict_fn gives 2 values a row"):
        LimeExplainer(X, "regression").explain_instance(X[0], model)
    with pytest.raises(ValueError, match="num_samples=1 is not valid"):
        explainer.explain_instance(X[0], model, num_samples=1)
    with pytest.raises(ValueError, match="a row has NaN"):
        explainer.explain_instance(np.full(6, np.nan), model)
    with pytest.raises(ValueError, match="the kernel gives no weights"):
        LimeExplainer(X, kernel=lambda d, width: -d).explain_instance(X[0], model)
    with pytest.warns(UserWarning, match="does not add up to 1"):
        explainer.explain_instance(X[0], lambda X: 2 * model.predict_proba(X), num_samples=N_SAMPLES)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("selection", ["auto", "highest_weights", "lasso_path", "none"])
def test_explanations_are_those_of_lime(table, way, selection):
    tabular = pytest.importorskip("lime.lime_tabular", reason="compares with the package lime where it is installed")
    X, _, model = table
    options = {"random_state": 3, "feature_selection": selection, **way}
    asked = {"num_features": 3, "num_samples": N_SAMPLES}
    theirs = tabular.LimeTabularExplainer(X, **{"discretize_continuous": False, **options})
    theirs = theirs.explain_instance(X[7], model.predict_proba, **asked)
    ours = LimeTabularExplainer(X, **options).explain_instance(X[7], model.predict_proba, **asked)
    assert dict(ours.as_list()) == pytest.approx(dict(theirs.as_list()), abs=1e-9)
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.local_pred == pytest.approx(theirs.local_pred, abs=1e-9)
    assert ours.intercept[1] == pytest.approx(theirs.intercept[1], abs=1e-9)
