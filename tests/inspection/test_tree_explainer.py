from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import ensemble, linear_model, tree
from mercer._params import InvalidParameterError
from mercer.inspection import TreeExplainer
from mercer.inspection._tree_models import sum_of
from tests.inspection.tree_cases import MODELS, N_FEATURES, table, trees_of
from tests.reference import tree_shapley as reference


@pytest.fixture(scope="module", params=MODELS)
def model(request: Any) -> Any:
    return MODELS[request.param]()


def _each_output(values: np.ndarray) -> np.ndarray:
    """Values with outputs as the first axis."""
    return values[None] if values.ndim == 2 else np.moveaxis(values, -1, 0)


def _of_oracle(model: Any, found: Any) -> Any:
    """The explained outputs that the sums of trees stand for: of two classes the second alone."""
    outputs = _each_output(found)
    return outputs[1:] if sum_of(model).is_mirrored else outputs


def test_path_dependent_values_are_those_over_all_coalitions(model):
    rows = table()[0][:3]
    sums = sum_of(model)
    found = _of_oracle(model, TreeExplainer(model)(rows).values)
    for k, values in enumerate(found):
        trees = trees_of(sums, k)
        for x, row in zip(sums.read(rows), values, strict=True):
            np.testing.assert_allclose(row, reference.values(reference.path_game(trees, x), N_FEATURES), atol=1e-11)


def test_interventional_values_are_those_over_all_coalitions(model):
    X = table()[0]
    rows, background = X[:3], X[50:57]
    sums = sum_of(model)
    found = _of_oracle(model, TreeExplainer(model, background)(rows).values)
    for k, values in enumerate(found):
        trees = trees_of(sums, k)
        for x, row in zip(sums.read(rows), values, strict=True):
            game = reference.background_game(trees, x, sums.read(background))
            np.testing.assert_allclose(row, reference.values(game, N_FEATURES), atol=1e-11)


@pytest.mark.parametrize("has_background", [False, True])
def test_interactions_are_those_over_all_coalitions(model, has_background):
    X = table()[0]
    rows, background = X[:2], X[50:54] if has_background else None
    sums = sum_of(model)
    explanation = TreeExplainer(model, background)(rows, interactions=True)
    pairs = explanation.interactions[None] if explanation.values.ndim == 2 else np.moveaxis(explanation.interactions, -1, 0)
    for k, of_output in enumerate(pairs[1:] if sums.is_mirrored else pairs):
        trees = trees_of(sums, k)
        for x, found in zip(sums.read(rows), of_output, strict=True):
            game = (
                reference.path_game(trees, x)
                if background is None
                else reference.background_game(trees, x, sums.read(background))
            )
            np.testing.assert_allclose(found, reference.interactions(game, N_FEATURES), atol=1e-11)
    np.testing.assert_allclose(explanation.interactions.sum(axis=2), explanation.values, atol=1e-11)


@pytest.mark.parametrize("has_background", [False, True])
def test_values_add_up_to_what_the_model_predicts(model, has_background):
    X = table()[0]
    explanation = TreeExplainer(model, X[:20] if has_background else None)(X)
    assert explanation.additivity_error < 1e-12
    assert explanation.values.shape[:2] == X.shape
    assert explanation.base_values.shape == explanation.values.shape[:1] + explanation.values.shape[2:]


def test_the_values_of_two_classes_are_opposite():
    explanation = TreeExplainer(MODELS["forest of two classes"]())(table()[0])
    np.testing.assert_array_equal(explanation.values[..., 0], -explanation.values[..., 1])
    assert explanation.output_names.tolist() == ["no", "yes"]


def test_the_background_is_expected_to_be_what_it_is_on_average(model):
    X = table()[0]
    explainer = TreeExplainer(model, X[:10])
    sums = sum_of(model)
    np.testing.assert_allclose(explainer.expected_value, np.mean(sums.predict(X[:10]), axis=0), atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits(model):
    X = table()[0]
    for data in (None, X[:30]):
        one, two = (TreeExplainer(model, data, n_jobs=n_jobs)(X).values for n_jobs in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_rows_are_explained_alike_alone_and_together(model):
    X = table()[0]
    explainer = TreeExplainer(model)
    together = explainer.shap_values(X)
    for i in (0, 50):
        np.testing.assert_allclose(explainer.shap_values(X[i : i + 1])[0], together[i], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["histogram boosting of two classes", "histogram boosting", "boosting"])
@pytest.mark.parametrize("output", ["probability", "log_loss"])
def test_other_outputs_add_up_to_themselves(kind, output):
    model, (X, y) = MODELS[kind](), table()
    is_classifier = hasattr(model, "classes_")
    if output == "probability" and not is_classifier:
        with pytest.raises(InvalidParameterError, match="probability"):
            TreeExplainer(model, X, output)
        return
    explainer = TreeExplainer(model, X[:15], output)
    if output == "probability":
        explanation, expected = explainer(X), model.predict_proba(X)[:, 1]
        assert explainer.expected_value == pytest.approx(model.predict_proba(X[:15])[:, 1].mean())
    else:
        target = np.where(y > 0.5, "yes", "no") if is_classifier else y
        explanation = explainer(X, target)
        if is_classifier:
            chosen = (target[:, None] == model.classes_).argmax(axis=1)
            expected = -np.log(model.predict_proba(X)[np.arange(len(X)), chosen])
        else:
            expected = (y - model.predict(X)) ** 2
        np.testing.assert_allclose(explainer.expected_value(target), explanation.base_values)
    np.testing.assert_allclose(explanation.predictions, expected)
    assert explanation.additivity_error < 1e-12


def test_a_row_of_the_background_alone_is_rescaled_by_the_slope():
    model, X = MODELS["histogram boosting of two classes"](), table()[0]
    values = TreeExplainer(model, X[:1], "probability")(X[:1]).values
    np.testing.assert_array_equal(values, 0.0)


def test_frames_give_their_names_and_categories():
    pandas = pytest.importorskip("pandas", reason="frames of pandas")
    X, y = table()
    frame = pandas.DataFrame(X[:, :3], columns=["age", "size", "rate"])
    frame["kind"] = pandas.Categorical(
        np.where(np.isnan(X[:, 4]), "z", np.array(list("abcdefz"))[np.nan_to_num(X[:, 4]).astype(int)])
    )
    model = ensemble.RandomForestRegressor(4, random_state=0, max_depth=4).fit(frame, y)
    explanation = TreeExplainer(model, frame[:20])(frame[:7])
    assert explanation.feature_names.tolist() == ["age", "size", "rate", "kind"]
    assert explanation.additivity_error < 1e-12
    assert explanation.data[0, 3] == frame["kind"].iloc[0]
    assert np.abs(explanation[:, "kind"].values).max() > 0


def test_sparse_rows_and_float32_rows_are_read():
    import scipy.sparse as sp

    X, y = table()
    X = np.nan_to_num(X)
    model = ensemble.RandomForestRegressor(3, random_state=0).fit(X, y)
    expected = TreeExplainer(model)(X).values
    np.testing.assert_array_equal(TreeExplainer(model)(sp.csr_matrix(X)).values, expected)
    single = TreeExplainer(model, X[:5].astype(np.float32))(X.astype(np.float32))
    assert single.additivity_error < 1e-12


def test_explainers_survive_pickling():
    model, X = MODELS["forest of two classes"](), table()[0]
    explainer = TreeExplainer(model, X[:10])
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again(X[:5]).values, explainer(X[:5]).values)


def test_a_tree_of_one_leaf_gives_nothing():
    X, y = table()
    model = tree.DecisionTreeRegressor().fit(X, np.ones(len(y)))
    for data in (None, X[:3]):
        explanation = TreeExplainer(model, data)(X[:4], interactions=True)
        np.testing.assert_array_equal(explanation.values, 0.0)
        np.testing.assert_array_equal(explanation.base_values, 1.0)


# ---- what is refused


def test_models_that_are_not_fitted_are_refused():
    with pytest.raises(NotFittedError):
        TreeExplainer(ensemble.RandomForestRegressor())


def test_models_that_are_no_sums_of_trees_say_why():
    X, y = table()
    X = np.nan_to_num(X)
    line = linear_model.LinearRegression().fit(X, y)
    assert "LinearRegression" in str(TreeExplainer.unsuited(line, None))
    with pytest.raises(InvalidParameterError, match="LinearRegression"):
        TreeExplainer(line)
    median = ensemble.AdaBoostRegressor(n_estimators=2, random_state=0).fit(X, y)
    assert "weighted median" in str(TreeExplainer.unsuited(median, None))
    started = ensemble.GradientBoostingRegressor(init=linear_model.LinearRegression(), n_estimators=2).fit(X, y)
    assert "init=" in str(TreeExplainer.unsuited(started, None))
    bag = ensemble.BaggingRegressor(linear_model.LinearRegression(), 2, random_state=0).fit(X, y)
    assert "LinearRegression" in str(TreeExplainer.unsuited(bag, None))
    assert TreeExplainer.unsuited(MODELS["tree"](), X) is None


def test_wrong_columns_are_refused():
    model, X = MODELS["tree of two outputs"](), table()[0]
    explainer = TreeExplainer(model)
    with pytest.raises(ValueError, match="5 features"):
        explainer(X[:, :3])
    with pytest.raises(ValueError, match="5 features"):
        TreeExplainer(model, X[:, :2])


def test_unknown_classes_and_lacking_targets_are_refused():
    model, X = MODELS["histogram boosting of two classes"](), table()[0]
    explainer = TreeExplainer(model, X[:5], "log_loss")
    with pytest.raises(ValueError, match="'maybe'"):
        explainer(X[:2], ["yes", "maybe"])
    with pytest.raises(ValueError, match="needs its y"):
        explainer(X[:2])
    with pytest.raises(ValueError, match="2 rows"):
        explainer(X[:2], ["yes"])
    with pytest.raises(ValueError, match="leave it out"):
        TreeExplainer(model)(X[:2], ["yes", "no"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model_output": "odds"}, "model_output"),
        ({"feature_perturbation": "observational"}, "feature_perturbation"),
        ({"feature_perturbation": "interventional"}, "background"),
        ({"feature_perturbation": "tree_path_dependent", "data": np.zeros((2, 5))}, "leave it out"),
        ({"model_output": "probability"}, "background"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        TreeExplainer(MODELS["boosting"](), **options)
