"""Explainers by coalitions: the definition, one another, shap, tables of all kinds, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import NotFittedError

from mercer.inspection import (
    Background,
    ExactExplainer,
    Grouped,
    KernelExplainer,
    LinearExplainer,
    PermutationExplainer,
    kmeans,
    sample,
)
from mercer.inspection._permutation import all_orders
from mercer.linear_model import LogisticRegression, Ridge
from tests.reference.shapley import interaction_value, model_game, shapley_values

few = settings(max_examples=15, deadline=None)
EXPLAINERS = [ExactExplainer, PermutationExplainer, KernelExplainer]


def function_of(seed, n, n_outputs=None):
    """A smooth function in which all columns act together."""
    random = np.random.RandomState(seed)
    first = random.standard_normal((n, 4))
    last = random.standard_normal(4 if n_outputs is None else (4, n_outputs))
    return lambda X: np.tanh(np.asarray(X) @ first) @ last * (1 + np.asarray(X)[:, :1] if n_outputs else 1)


@few
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 5),
    n_background=st.integers(1, 6),
    n_outputs=st.sampled_from([None, 1, 2]),
    kind=st.sampled_from([np.float64, np.float32]),
)
@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_with_all_coalitions_values_are_those_of_the_definition(explainer, seed, n, n_background, n_outputs, kind):
    random = np.random.RandomState(seed)
    background, X = (random.standard_normal((rows, n)).astype(kind) for rows in (n_background, 3))
    background[:, random.randint(n)] = X[0, 0]  # some columns do not vary
    weights = random.uniform(0.1, 1, n_background)
    function = function_of(seed, n, n_outputs)
    explanation = explainer(function, Background(background, weights))(X)
    wanted = [shapley_values(model_game(function, x, background, weights), n) for x in X]
    assert np.allclose(explanation.values, wanted, rtol=0, atol=1e-12 if kind is np.float64 else 1e-5)
    assert explanation.additivity_error < (1e-12 if kind is np.float64 else 1e-5)
    assert explanation.standard_errors is None or not explanation.standard_errors.any()


def test_interactions_are_those_of_the_definition():
    random = np.random.RandomState(0)
    background, X, function = random.randn(4, 5), random.randn(2, 5), function_of(0, 5)
    X[0, 2], background[:, 2] = 1.0, 1.0
    explanation = ExactExplainer(function, background)(X, interactions=True)
    assert np.allclose(explanation.interactions.sum(axis=1), explanation.values, rtol=0, atol=1e-13)
    for row, x in enumerate(X):
        game = model_game(function, x, background)
        for i, j in ((0, 1), (4, 3), (2, 0)):
            wanted = interaction_value(game, 5, i, j)
            assert explanation.interactions[row, i, j] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("explainer", "options"), [(PermutationExplainer, {"max_evals": 250}), (KernelExplainer, {"nsamples": 300})]
)
def test_standard_errors_of_samples_are_right(explainer, options):
    random = np.random.RandomState(1)
    background, X, function = random.randn(5, 12), random.randn(3, 12), function_of(1, 12, 2)
    exact = ExactExplainer(function, background).shap_values(X)
    scaled = []
    for seed in range(25):
        explanation = explainer(function, background, random_state=seed)(X, **options)
        assert explanation.additivity_error < 1e-12
        scaled.append((explanation.values - exact) / explanation.standard_errors)
    assert 0.85 < np.std(scaled) < 1.25
    assert abs(np.mean(scaled)) < 0.1


def test_all_orders_of_a_model_are_exact():
    random = np.random.RandomState(2)
    worth, empty, full = random.randn(1, 2**5, 2), np.zeros(2), np.zeros((1, 2))
    plan = all_orders(5)
    by_mask = worth[:, (plan.masks * 2 ** np.arange(5)).sum(axis=1)]
    found, errors = plan.solve(by_mask, empty, full)
    wanted = shapley_values(lambda S: worth[0, sum(2**i for i in S)], 5)
    assert np.allclose(found[0], wanted, rtol=0, atol=1e-12)
    assert not errors.any()


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_values_of_linear_models_are_those_of_the_linear_explainer(explainer):
    random = np.random.RandomState(3)
    X = random.randn(40, 14)
    model = Ridge().fit(X, np.column_stack([X @ random.randn(14), X[:, 0]]))
    wanted = LinearExplainer(model, X[:20])(X[20:25])
    found = explainer(model, X[:20])(X[20:25])
    assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-10)
    assert np.allclose(found.base_values, wanted.base_values, rtol=0, atol=1e-10)


def test_seeds_decide_what_is_drawn_and_threads_nothing():
    import threadpoolctl

    random = np.random.RandomState(4)
    background, X, function = random.randn(30, 13), random.randn(8, 13), function_of(4, 13)
    for explainer in (PermutationExplainer, KernelExplainer):
        first = explainer(function, background, random_state=0)(X)
        with threadpoolctl.threadpool_limits(1):
            again = explainer(function, background, random_state=0)(X)
        other = explainer(function, background, random_state=1)(X)
        assert np.array_equal(first.values, again.values)
        assert np.array_equal(first.standard_errors, again.standard_errors)
        assert not np.array_equal(first.values, other.values)


def test_batches_do_not_change_values(monkeypatch):
    from mercer.inspection import _explainer, _model_game

    random = np.random.RandomState(5)
    background, X, function = random.randn(7, 6), random.randn(9, 6), function_of(5, 6)
    wanted = ExactExplainer(function, background)(X)
    monkeypatch.setattr(_model_game, "_CELLS", 100)
    monkeypatch.setattr(_explainer, "_MOST_VALUES", 100)
    sizes = []

    def counted(rows):
        sizes.append(len(rows))
        return function(rows)

    found = ExactExplainer(counted, background)(X)
    assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-15)
    assert max(sizes) <= 100 // 6
    assert sum(sizes) - 7 == found.n_evaluations == wanted.n_evaluations == 7 + 9 + 9 * 62 * 7


# ---- groups


def test_groups_are_players():
    random = np.random.RandomState(6)
    background, X, function = random.randn(5, 5), random.randn(3, 5), function_of(6, 5)
    groups = {"left": ["x0", "x3"], "right": [4]}
    explanations = [explainer(function, background, groups=groups)(X) for explainer in EXPLAINERS]
    assert list(explanations[0].feature_names) == ["left", "x1", "x2", "right"]
    members = [[0, 3], [1], [2], [4]]

    def grouped_game(x):
        game = model_game(function, x, background)
        return lambda S: game(frozenset(j for player in S for j in members[player]))

    for explanation in explanations:
        wanted = [shapley_values(grouped_game(x), 4) for x in X]
        assert np.allclose(explanation.values, wanted, rtol=0, atol=1e-12)
    assert explanations[0].data[0, 1] == X[0, 1]
    assert explanations[0].data[0, 0].startswith("x0=")


def test_groups_sum_up_what_is_additive():
    random = np.random.RandomState(7)
    X = np.column_stack([np.eye(3)[random.randint(3, size=30)], random.randn(30)])
    model = Ridge().fit(X, X @ [1.0, 2.0, 3.0, 4.0])
    names = ["colour_red", "colour_green", "colour_blue", "size"]
    grouped = Grouped.by_prefix(names)
    alone = LinearExplainer(model, X, feature_names=names)(X[:4])
    summed = grouped.sums(alone)
    together = LinearExplainer(model, X, feature_names=names, groups=grouped)(X[:4])
    assert list(summed.feature_names) == list(together.feature_names) == ["colour", "size"]
    assert np.allclose(summed.values[:, 0], alone.values[:, :3].sum(axis=1), rtol=0, atol=1e-14)
    assert np.array_equal(summed.values, together.values)
    assert summed.data[0, 0] == names[int(np.argmax(X[0, :3]))]
    by_coalitions = ExactExplainer(model, X, names and "identity", names, groups=grouped)(X[:4])
    assert np.allclose(by_coalitions.values, summed.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["x9"]}, "'x9', which is no column"),
        ({"a": ["x0"], "b": [0]}, "may be in one alone"),
        ({"a": []}, "at least one"),
        ([["x0"]], "it must be None, a dict of columns by group or a Grouped"),
    ],
)
def test_wrong_groups_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        ExactExplainer(function_of(0, 3), np.zeros((1, 3)), groups=groups)


# ---- tables


@pytest.fixture(scope="module")
def words():
    pandas = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    n = 80
    frame = pandas.DataFrame(
        {
            "age": random.randint(20, 60, n),
            "colour": pandas.Categorical(random.choice(list("rgb"), n)),
            "town": random.choice(["north", "south"], n),
            "size": random.randn(n),
        }
    )
    return frame, np.where(frame["age"] + 20 * (frame["colour"] == "r") + 3 * frame["size"] > 45, "yes", "no")


def pipeline():
    from sklearn.compose import make_column_transformer

    from mercer.pipeline import make_pipeline
    from mercer.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer((OneHotEncoder(), ["colour", "town"]), (StandardScaler(), ["age", "size"]))
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_pipelines_are_explained_in_the_columns_that_they_take(words, explainer):
    frame, y = words
    model = pipeline().fit(frame, y)
    explanation = explainer(model, frame[:20])(frame[30:34])

    def game_of(x):
        def game(S):
            rows = frame[:20].copy()
            for j in S:
                name = frame.columns[j]
                rows[name] = frame[name].iloc[[x] * 20].array
            return model.predict_proba(rows).mean(axis=0)

        return game

    assert np.allclose(explanation.values, [shapley_values(game_of(x), 4) for x in range(30, 34)], rtol=0, atol=1e-12)
    assert list(explanation.feature_names) == list(frame.columns)
    assert list(explanation.output_names) == ["no", "yes"]
    assert explanation.data[0].tolist() == frame.iloc[30].tolist()
    assert explanation[0, :, "yes"].values.shape == (4,)


def test_frames_of_polars_are_explained_as_those_of_pandas(words):
    polars = pytest.importorskip("polars")
    frame, y = words
    other = polars.DataFrame({name: frame[name].astype(object).tolist() for name in frame.columns})
    found = ExactExplainer(pipeline().fit(other, y), other[:20])(other[30:34])
    wanted = ExactExplainer(pipeline().fit(frame, y), frame[:20])(frame[30:34])
    assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-12)
    assert list(found.feature_names) == list(frame.columns)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_numbers_reach_the_model_as_it_was_fitted(library):
    frames = pytest.importorskip(library)
    random = np.random.RandomState(8)
    X, y = random.randn(40, 4), np.arange(40) % 3
    frame = frames.DataFrame(dict(zip("abcd", X.T, strict=True)))
    wanted = ExactExplainer(LogisticRegression().fit(X, y), X[:10])(X[:3])
    for fitted_on in (frame, X):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = ExactExplainer(LogisticRegression().fit(fitted_on, y), frame[:10])(frame[:3])
        assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-12)
        assert list(found.feature_names) == list("abcd")


def test_sparse_rows_and_arrays_of_objects_are_tables_too():
    X = sp.random(30, 6, 0.5, format="csr", random_state=0)
    model = LogisticRegression().fit(X, np.arange(30) % 2)
    wanted = ExactExplainer(model, X[:10].toarray())(X[10:14].toarray())
    found = ExactExplainer(model, X[:10])(X[10:14])
    assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-14)
    table = np.array([["a", 1.0], ["b", 2.0], ["a", 3.0]], dtype=object)
    explanation = ExactExplainer(lambda rows: np.array([len(r[0]) * (r[0] == "a") + r[1] for r in rows]), table[:2])(table)
    assert np.allclose(explanation.values, [[0.5, -0.5], [-0.5, 0.5], [0.5, 1.5]])


def test_missing_values_are_values():
    def function(X):
        return np.where(np.isnan(X[:, 0]), 1.0, X[:, 0]) * X[:, 1]

    background = np.array([[np.nan, 2.0], [np.nan, 3.0]])
    explanation = ExactExplainer(function, background)(np.array([[np.nan, 5.0], [4.0, 2.0]]))
    assert explanation.values[0].tolist() == [0.0, 2.5]
    assert explanation.additivity_error < 1e-15


def test_backgrounds_are_sampled_and_summarised():
    random = np.random.RandomState(9)
    X = random.randn(300, 3)
    assert sample(X, 50).shape == (50, 3)
    assert sample(X, 500) is X
    summary = kmeans(X, 8)
    assert summary.rows.shape == (8, 3)
    assert summary.weights.sum() == pytest.approx(1)
    assert np.isin(summary.rows, X).all()
    with pytest.raises(ValueError, match="not all may be 0"):
        Background(X[:2], [0.0, 0.0])


# ---- what of a model


def test_classes_are_chosen_by_name():
    random = np.random.RandomState(10)
    X, y = random.randn(60, 3), random.choice(["a", "b", "c"], 60)
    model = LogisticRegression().fit(X, y)
    every, one = ExactExplainer(model, X[:5])(X[:4]), ExactExplainer(model, X[:5], class_of_interest="b")(X[:4])
    assert np.allclose(every[..., "b"].values, one.values, rtol=0, atol=1e-15)
    assert np.array_equal(every.values, ExactExplainer(model.predict_proba, X[:5])(X[:4]).values)
    two = LogisticRegression().fit(X, y == "a")
    yes, no = (
        ExactExplainer(two, X[:5], response_method="decision_function", class_of_interest=label)(X[:4])
        for label in (True, False)
    )
    assert np.allclose(yes.values, -no.values, rtol=0, atol=1e-15)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_log_odds_add_up_to_the_log_odds(explainer):
    random = np.random.RandomState(11)
    X = random.randn(60, 3)
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    explanation = explainer(model, X[:5], link="logit", class_of_interest=True)(X[:4])
    assert np.allclose(explanation.sums, model.decision_function(X[:4]), rtol=0, atol=1e-9)

    def log_odds(game):
        return lambda S: np.log(game(S) / (1 - game(S)))

    def probability(rows):
        return model.predict_proba(rows)[:, 1]

    wanted = [shapley_values(log_odds(model_game(probability, x, X[:5])), 3) for x in X[:4]]
    assert np.allclose(explanation.values, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_explainers_pickle(explainer):
    X = np.random.RandomState(12).randn(30, 3)
    made = explainer(LogisticRegression().fit(X, X[:, 0] > 0), X[:5])
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(made.shap_values(X), again.shap_values(X))
    assert made.shap_values(X[0]).shape == (3, 2)


def test_errors_name_what_is_wrong(words):
    frame, y = words
    model = pipeline().fit(frame, y)
    X = np.zeros((3, 4))
    with pytest.raises(NotFittedError, match="not fitted"):
        ExactExplainer(LogisticRegression(), X)
    with pytest.raises(
        ValueError, match="class_of_interest='maybe' is not a class of the model; it must be one of 'no', 'yes'"
    ):
        ExactExplainer(model, frame, class_of_interest="maybe")
    with pytest.raises(ValueError, match=r"it lacks 'town'\. Give the columns 'age', 'colour', 'town', 'size'"):
        ExactExplainer(model, frame)(frame[["age", "colour", "size"]])
    with pytest.raises(ValueError, match="their order differs"):
        ExactExplainer(model, frame)(frame[["size", "age", "colour", "town"]])
    with pytest.raises(TypeError, match="X is a ndarray; it must be a DataFrame"):
        ExactExplainer(model, frame)(frame.to_numpy())
    with pytest.raises(ValueError, match="X has 5 columns; it must have the 4 of the background"):
        KernelExplainer(lambda X: X[:, 0], X)(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="one value or one line of values a row"):
        ExactExplainer(lambda X: np.zeros(7), X)
    with pytest.raises(ValueError, match="NaN or infinity for some rows"):
        ExactExplainer(lambda X: np.full(len(X), np.nan), X)
    with pytest.raises(ValueError, match="which cannot be added up"):
        ExactExplainer(lambda X: np.array(["a"] * len(X)), X)
    with pytest.raises(ValueError, match="differs from the background in 16 features"):
        ExactExplainer(lambda X: X[:, 0], np.zeros((1, 16)))(np.ones((1, 16)))
    with pytest.raises(ValueError, match=r"max_evals=20 is too few for 12 features that vary"):
        PermutationExplainer(lambda X: X[:, 0], np.zeros((1, 12)))(np.ones((1, 12)), max_evals=20)
    with pytest.raises(ValueError, match="link='log' is not valid"):
        KernelExplainer(lambda X: X[:, 0], X, link="log")
    with pytest.raises(ValueError, match="response_method='predict_proba' is not valid, as Ridge has no predict_proba"):
        ExactExplainer(Ridge().fit(X, [0, 1, 2]), X, response_method="predict_proba")


# ---- peers


def test_values_are_those_of_shap():
    shap = pytest.importorskip("shap", reason="compares with the package shap where it is installed")
    random = np.random.RandomState(13)
    background, X, function = random.randn(20, 6), random.randn(4, 6), function_of(13, 6, 2)
    theirs = shap.KernelExplainer(function, background).shap_values(X, silent=True, l1_reg=False)
    assert np.allclose(KernelExplainer(function, background).shap_values(X), theirs, rtol=0, atol=1e-8)
    theirs = shap.ExactExplainer(function, shap.maskers.Independent(background, max_samples=20))(X).values
    assert np.allclose(ExactExplainer(function, background).shap_values(X), theirs, rtol=0, atol=1e-8)
    summary = shap.kmeans(background, 5)
    ours = kmeans(background, 5)
    order, own = np.lexsort(summary.data.T), np.lexsort(ours.rows.T)
    assert np.allclose(summary.data[order], ours.rows[own])
    assert np.allclose(summary.weights[order], ours.weights[own])


@pytest.mark.parametrize("rule", ["num_features(3)", "aic", "bic", 1e-4])
def test_the_lasso_keeps_what_shap_keeps(rule):
    shap = pytest.importorskip("shap", reason="compares with the package shap where it is installed")
    random = np.random.RandomState(14)
    background, X, function = random.randn(10, 7), random.randn(3, 7), function_of(14, 7)
    theirs = shap.KernelExplainer(function, background).shap_values(X, silent=True, l1_reg=rule)
    ours = KernelExplainer(function, background)(X, l1_reg=rule)
    assert np.allclose(ours.values, theirs, rtol=0, atol=1e-7)
    assert ours.additivity_error < 1e-12
    assert (ours.values == 0).sum() >= 3 * 3 if rule == "num_features(3)" else True


def test_few_coalitions_are_told_and_still_add_up():
    random = np.random.RandomState(15)
    background, X, function = random.randn(5, 9), random.randn(2, 9), function_of(15, 9)
    with pytest.warns(UserWarning, match="6 coalitions do not determine the values of 9 features"):
        explanation = KernelExplainer(function, background, random_state=0)(X, nsamples=6)
    assert explanation.additivity_error < 1e-12
    assert np.isfinite(explanation.values).all()
    one = PermutationExplainer(function, background, random_state=0)(X, max_evals=19)
    assert one.additivity_error < 1e-12
    assert np.isnan(one.standard_errors).all()


@pytest.mark.parametrize("m", [6, 9, 60, 700])
def test_drawn_coalitions_are_distinct_pairs_with_the_mass_of_the_kernel(m, monkeypatch):
    from mercer.inspection import _kernel

    monkeypatch.setattr(_kernel, "_CELLS", 5000)
    plan = _kernel.KernelPlan(m, 150, False, np.random.RandomState(0))
    assert len(np.unique(plan.masks, axis=0)) == len(plan.masks) <= 150 + m % 2
    assert np.array_equal(plan.masks[::2], 1 - plan.masks[1::2])
    assert plan._weights.sum() == pytest.approx(1)
    sizes = plan.masks.sum(axis=1)
    assert sizes.min() >= 1
    assert sizes.max() <= m - 1
    every = _kernel.KernelPlan(6, 62, False, np.random.RandomState(0))
    shares = np.bincount(every.masks.sum(axis=1), weights=every._weights)[1:6]
    wanted = 5 / (np.arange(1, 6) * np.arange(5, 0, -1))
    assert np.allclose(shares, wanted / wanted.sum(), rtol=0, atol=1e-15)
