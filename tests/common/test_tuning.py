"""What every estimator tells of tuning: search spaces that can be fitted, and sweeps that give what separate fits give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from mercer._tuning import Choices, Halving, OutOfBagSweep, Reals, Sweep
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.common.cases import ESTIMATORS, case_of, make, make_data, parameters_of, takes_weights
from tests.common.state import assert_close, assert_outputs_close, assert_same_bits, bits

SPACES = [(cls, name) for cls in ESTIMATORS if cls._search_space for name in cls._search_space]
# Searches of their own, and ensembles of what a user puts into them.
UNSEARCHED = ("CV", "Voting", "Stacking", "SuperLearner", "Threshold")

SOLVED = ("linear_model", "svm")  # families whose fits are solutions, not grown

# Out of order, one of them twice where that may matter.
VALUES: dict[str, list[Any]] = {
    "bandwidth": [0.5, 2.0, 0.7, 0.5],
    "alpha": [0.3, 0.02, 1.0, 0.02],
    "C": [1.0, 0.01, 30.0],
    "n_estimators": [4, 1, 7, 4],
    "max_iter": [5, 2, 9, 5],
    "max_depth": [2, None, 1, 4, 2],
    "ccp_alpha": [0.01, 0.0, 0.2],
    "min_samples_leaf": [1, 8],
    "min_samples_split": [2, 20],
    "min_weight_fraction_leaf": [0.0, 0.1],
    "min_impurity_decrease": [0.0, 0.01],
    "max_leaf_nodes": [4, None],
    "max_features": [0.5, 1.0],
    "max_samples": [0.3, None],
    "bootstrap_features": [False, True],
    "tree_weights": ["oob", None],
    "class_weight": [None, "balanced", "balanced_subsample"],
    "n_neighbors": [4, 1, 7, 4],
    "weights": ["uniform", "gaussian", "distance"],
    "ties": ["first", "closest"],
}


def values_of(estimator: type, name: str) -> list[Any]:
    if name == "criterion":
        return ["gini", "entropy"] if is_classifier(make(estimator)) else ["squared_error", "absolute_error"]
    if name == "estimator":
        tree = DecisionTreeClassifier if is_classifier(make(estimator)) else DecisionTreeRegressor
        return [tree(max_depth=1), tree(max_depth=3)]
    return VALUES[name]


def make_precise(estimator: type, **params: Any) -> Any:
    """An instance for comparisons: solvers go on to the last digits."""
    is_solved = "tol" in parameters_of(estimator) and estimator.__module__.split(".")[1] in SOLVED
    most = 10_000_000 if case_of(estimator).counts_steps else 10_000
    return make(estimator, **({"tol": 1e-12, "max_iter": most} if is_solved else {}), **params)


SWEEPS = [(cls, name) for cls in ESTIMATORS if hasattr(cls, "sweep") for name in make(cls).sweep_parameters()]
HALVED = [cls for cls in ESTIMATORS if isinstance(make(cls), Halving)]
BAGGED = [cls for cls in ESTIMATORS if hasattr(cls, "sweep_out_of_bag")]
LEFT_OUT = [(cls, name) for cls in BAGGED for name in make(cls, bootstrap=True).out_of_bag_parameters()]
every_sweep = pytest.mark.parametrize(("estimator", "name"), SWEEPS, ids=lambda given: getattr(given, "__name__", given))
every_halved = pytest.mark.parametrize("estimator", HALVED, ids=lambda cls: cls.__name__)
every_view = pytest.mark.parametrize(("estimator", "name"), LEFT_OUT, ids=lambda given: getattr(given, "__name__", given))


# ---- search spaces


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_classifier_and_regressor_says_what_is_worth_searching(estimator):
    instance = make(estimator)
    is_searched = is_classifier(instance) or is_regressor(instance)
    if any(word in estimator.__name__ for word in UNSEARCHED):
        is_searched = False
    assert (estimator._search_space is not None) == is_searched


@pytest.mark.parametrize(("estimator", "name"), SPACES, ids=lambda given: getattr(given, "__name__", given))
def test_what_is_worth_searching_can_be_fitted_from_end_to_end(estimator, name):
    assert name in parameters_of(estimator)
    space, data = estimator._search_space[name], make_data(estimator, 60)
    values = space.values if isinstance(space, Choices) else (space.low, space.high)
    if isinstance(space, Reals):
        values = tuple(map(float, values))
    for value in values:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            predicted = make(estimator, **{name: value}).fit(*data.args).predict(data.X)
        assert len(predicted) == 60
        assert predicted.dtype.kind != "f" or np.isfinite(predicted).all()


# ---- sweeps


def separate_fits(model: Any, name: str, values: list[Any], args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    return [clone(model).set_params(**{name: value}).fit(*args, **options) for value in values]


def assert_equal_models(swept: Any, fitted: Any, X: Any, *, rtol: float = 1e-6, passed_over: tuple[str, ...] = ()) -> None:
    """Trees and ensembles of them have the same bits, solvers the same solution."""
    if type(swept).__module__.split(".")[1] in SOLVED:
        assert_close(swept, fitted, rtol=rtol, passed_over=passed_over)
        assert_outputs_close(swept, fitted, X, rtol=rtol)
    else:
        assert_same_bits(swept, fitted)
        assert_outputs_close(swept, fitted, X, rtol=0)


@every_sweep
@pytest.mark.parametrize("kind", ["plain", "weighted", "float32", "sparse"])
def test_a_sweep_gives_what_separate_fits_give(estimator, name, kind):
    model, values = make_precise(estimator), values_of(estimator, name)
    if kind == "weighted" and not takes_weights(estimator):
        pytest.skip("it takes no weights")
    if kind == "sparse" and not get_tags(model).input_tags.sparse:
        pytest.skip("it takes no sparse X")
    data = make_data(estimator, 120, dtype=np.float32 if kind == "float32" else np.float64)
    data = data.with_X(sp.csr_matrix(np.where(data.X > 0.5, data.X, 0))) if kind == "sparse" else data
    options = {"sample_weight": np.random.RandomState(1).randint(3, size=120) / 2} if kind == "weighted" else {}
    swept = list(model.sweep(*data.args, name, values, **options))
    assert [getattr(each, name) for each in swept] == values
    rtol, passed_over = 1e-3 if kind == "float32" else 1e-6, case_of(estimator).of_equal_rows if kind == "sparse" else ()
    for each, fitted in zip(swept, separate_fits(model, name, values, data.args, options), strict=True):
        assert_equal_models(each, fitted, data.X, rtol=rtol, passed_over=passed_over)


@every_sweep
def test_a_sweep_leaves_the_estimator_and_the_data_alone(estimator, name):
    model, data = make(estimator), make_data(estimator, 60)
    before, X, y = dict(vars(model)), data.X.copy(), data.y.copy()
    swept = list(model.sweep(*data.args, name, values_of(estimator, name)))
    assert vars(model) == before
    assert (data.X == X).all()
    assert (data.y == y).all()
    assert all(type(each) is type(model) and each is not model for each in swept)
    again = clone(model).fit(*data.args)  # a fitted estimator is left alone as well
    state = bits(again)
    list(again.sweep(*data.args, name, values_of(estimator, name)))
    assert bits(again) == state


@every_sweep
def test_a_sweep_refuses_a_bad_value_as_a_fit_does(estimator, name):
    model, data = make(estimator), make_data(estimator, 60)
    with pytest.raises(ValueError, match=name) as of_fit:
        clone(model).set_params(**{name: "nonsense"}).fit(*data.args)
    with pytest.raises(type(of_fit.value)) as of_sweep:
        model.sweep(*data.args, name, [*values_of(estimator, name), "nonsense"])
    assert str(of_sweep.value) == str(of_fit.value)


@every_sweep
def test_a_sweep_refuses_bad_data_as_a_fit_does(estimator, name):
    model, data = make(estimator), make_data(estimator, 60)
    bad = data.X + 1j if case_of(estimator).takes_infinity else np.where(data.X[3, 0] == data.X, np.inf, data.X)
    for X, y in ((bad, data.y), (data.X, data.y[:-1])):
        with pytest.raises(ValueError) as of_fit:
            clone(model).fit(X, y)
        with pytest.raises(ValueError) as of_sweep:
            list(model.sweep(X, y, name, values_of(estimator, name)))
        assert str(of_sweep.value) == str(of_fit.value)


@every_sweep
def test_a_sweep_knows_the_names_of_the_columns(estimator, name):
    pandas = pytest.importorskip("pandas")
    model, data = make(estimator), make_data(estimator, 60)
    table = pandas.DataFrame(data.X, columns=list("abcde"))
    for each in model.sweep(table, data.y, name, values_of(estimator, name)):
        assert each.feature_names_in_.tolist() == list("abcde")
        assert each.n_features_in_ == 5


@pytest.mark.parametrize("estimator", dict.fromkeys(cls for cls, _ in SWEEPS), ids=lambda cls: cls.__name__)
def test_only_what_saves_is_swept(estimator):
    model, data = make(estimator), make_data(estimator, 60)
    assert isinstance(model, Sweep)
    with pytest.raises(ValueError, match=f"{estimator.__name__}: name='nonsense' cannot be swept"):
        model.sweep(*data.args, "nonsense", [1])
    name = model.sweep_parameters()[0]
    with pytest.raises(ValueError, match=f"no values of {name}"):
        model.sweep(*data.args, name, [])


# ---- looks on the way


@every_halved
@pytest.mark.parametrize("kind", ["plain", "weighted", "float32", "sparse"])
def test_a_fit_with_looks_is_the_fit_without(estimator, kind):
    """Every look is the model as it would be if the fit ended there, and the last one is what `fit` gives."""
    model = make(estimator, random_state=0)
    name = model.halving_parameter()
    model.set_params(**{name: 9})
    data = make_data(estimator, 120, dtype=np.float32 if kind == "float32" else np.float64)
    data = data.with_X(sp.csr_matrix(np.where(data.X > 0.5, data.X, 0))) if kind == "sparse" else data
    options = {"sample_weight": np.random.RandomState(1).randint(3, size=120) / 2} if kind == "weighted" else {}
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        looks = list(model.fit_in_stages(*data.args, [1, 3, 9], **options))
        fits = separate_fits(model, name, [1, 3, 9], data.args, options)
    assert vars(model) == before
    assert [is_over for _, is_over in looks] == [False, False, True]
    for (look, _), fitted in zip(looks, fits, strict=True):
        assert_same_bits(look, fitted)
        assert_outputs_close(look, fitted, data.X, rtol=0)


@every_halved
def test_what_a_look_gave_stays_as_the_fit_goes_on(estimator):
    model, data = make(estimator), make_data(estimator, 60)
    looks = model.fit_in_stages(*data.args, [1, 2])
    first, _ = next(looks)
    kept = bits(first)
    next(looks)
    assert bits(first) == kept


# ---- out of the bag


@every_view
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_view_out_of_the_bag_is_that_of_a_separate_fit(estimator, name, is_weighted):
    data, values = make_data(estimator, 120), values_of(estimator, name)
    model = make(estimator, bootstrap=True, random_state=3)
    options = {"sample_weight": np.random.RandomState(1).randint(3, size=120) / 2} if is_weighted else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few trees leave out few rows
        expected = separate_fits(model.__class__(**{**model.get_params(), "oob_score": True}), name, values, data.args, options)
        plain = separate_fits(model, name, values, data.args, options)
    found = list(model.sweep_out_of_bag(*data.args, name, values, **options))
    for (swept, view), scored, fitted in zip(found, expected, plain, strict=True):
        assert_same_bits(swept, fitted)
        truth = scored.oob_decision_function_ if is_classifier(model) else scored.oob_prediction_
        is_known = ~np.isnan(truth.reshape(len(truth), -1)).any(axis=1)
        np.testing.assert_array_equal(view.has_votes, is_known)
        assert view._estimator_type == ("classifier" if is_classifier(model) else "regressor")
        if is_classifier(model):
            np.testing.assert_array_equal(view.predict_proba(data.X), truth[is_known])
            np.testing.assert_array_equal(view.classes_, scored.classes_)
            np.testing.assert_array_equal(view.predict(data.X), scored.classes_[truth[is_known].argmax(axis=1)])
            assert np.mean(view.predict(data.X) == data.y[is_known]) == pytest.approx(scored.oob_score_)
        else:
            np.testing.assert_array_equal(view.predict(data.X), truth[is_known])


@pytest.mark.parametrize("estimator", BAGGED, ids=lambda cls: cls.__name__)
def test_without_a_bootstrap_there_is_nothing_out_of_the_bag(estimator):
    model, data = make(estimator, bootstrap=False), make_data(estimator, 60)
    assert isinstance(model, OutOfBagSweep)
    assert model.out_of_bag_parameters() == []
    with pytest.raises(ValueError, match="cannot be swept"):
        model.sweep_out_of_bag(*data.args, "n_estimators", [1])
