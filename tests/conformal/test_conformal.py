"""Conformal intervals and sets hold the truth as often as they say, on ten real tables and by their definition."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import mercer
from mercer._params import InvalidParameterError
from mercer.conformal import conformal_classifier, conformal_regressor
from mercer.datasets import (
    load_breast_cancer,
    load_dataset,
    load_diabetes,
    load_digits,
    load_iris,
    load_linnerud,
    load_wine,
)
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.naive_bayes import GaussianNB
from mercer.neighbors import KNeighborsRegressor
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier

ALPHA = 0.1


def numbers_of(name, target):
    """The complete rows of an embedded table: its columns of numbers without the target, and the target."""
    frame = load_dataset(name).frame.drop_nulls()
    columns = [column for column in frame.columns if frame[column].dtype.is_numeric() and column != target]
    return frame.select(columns).to_numpy().astype(float), frame[target].to_numpy()


def linnerud():
    data = load_linnerud()
    return data.data, data.target[:, 0]


CLASSES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "penguins": lambda: numbers_of("penguins", "species"),
}
NUMBERS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "linnerud": linnerud,
    "cars": lambda: numbers_of("cars", "price") if "price" in load_dataset("cars").frame.columns else cars(),
    "mass of penguins": lambda: numbers_of("penguins", "body_mass_g"),
    "alcohol of wines": lambda: (load_wine().data[:, 1:], load_wine().data[:, 0]),
}


def cars():
    frame = load_dataset("cars").frame.drop_nulls()
    numeric = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    return frame.select(numeric[1:]).to_numpy().astype(float), frame[numeric[0]].to_numpy().astype(float)


def halves(X, y, random):
    """Rows to fit and to judge by, in an order that makes them exchangeable."""
    order = random.permutation(len(y))[:600]
    cut = 2 * len(order) // 3
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


def is_covered(shares, least):
    """Whether the mean of shares, each of its own draw, is no lower than it may be."""
    return np.mean(shares) >= least - 4 * np.std(shares) / math.sqrt(len(shares)) - 1e-12


@pytest.mark.parametrize("table", CLASSES)
@pytest.mark.parametrize("options", [{}, {"score": "cumulative"}, {"method": "cross", "cv": 4}], ids=str)
def test_sets_hold_the_label_of_real_tables(table, options):
    X, y = CLASSES[table]()
    random, shares = np.random.RandomState(0), []
    for _ in range(12):
        X_fit, y_fit, X_test, y_test = halves(X, y, random)
        model = conformal_classifier(GaussianNB(), X_fit, y_fit, random_state=random, **options)
        sets = model.predict_set(X_test, ALPHA)
        shares.append(sets[np.arange(len(y_test)), np.searchsorted(model.classes, y_test)].mean())
    assert is_covered(shares, 1 - ALPHA if "method" not in options else 1 - 2 * ALPHA)
    if "method" in options or not options:  # and they are not so large that they hold everything
        assert np.mean(shares) < 0.995


@pytest.mark.parametrize("table", NUMBERS)
@pytest.mark.parametrize("options", [{}, {"method": "cross", "cv": 5}, {"method": "jackknife+"}], ids=str)
def test_intervals_hold_the_target_of_real_tables(table, options):
    X, y = NUMBERS[table]()
    random, shares = np.random.RandomState(0), []
    for _ in range(12 if options.get("method") != "jackknife+" else 3):
        X_fit, y_fit, X_test, y_test = (part[:90] for part in halves(X, y, random))
        model = conformal_regressor(Ridge(), X_fit, y_fit, random_state=random, **options)
        low, high = model.predict_interval(X_test, ALPHA).T
        shares.append(((low <= y_test) & (y_test <= high)).mean())
    assert is_covered(shares, 1 - ALPHA if not options else 1 - 2 * ALPHA)


def test_the_coverage_of_a_split_is_exact_without_ties():
    """k / (n + 1) with k = ceil((1 - alpha)(n + 1)): over many draws neither more nor less."""
    random, covered, n = np.random.RandomState(0), [], 40
    for _ in range(1500):
        X, y = np.zeros((n + 11, 1)), random.normal(size=n + 11)
        model = conformal_regressor(LinearRegression(), X[:-10], y[:-10], calibration_size=19 / (n + 1), random_state=random)
        assert len(model.residuals) == 19
        low, high = model.predict_interval(X[-10:], 0.2).T
        covered.append(((low <= y[-10:]) & (y[-10:] <= high)).mean())
    assert abs(np.mean(covered) - 16 / 20) < 4 * np.std(covered) / math.sqrt(len(covered))


def test_the_jackknife_plus_is_its_definition():
    random = np.random.RandomState(0)
    X, y, X_test = random.normal(size=(19, 2)), random.normal(size=19), random.normal(size=(5, 2))
    found = conformal_regressor(KNeighborsRegressor(3), X, y, method="jackknife+").predict_interval(X_test, 0.1)
    models = [KNeighborsRegressor(3).fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(19)]
    residuals = np.array([abs(y[i] - models[i].predict(X[i : i + 1])[0]) for i in range(19)])
    values = np.array([model.predict(X_test) for model in models]).T
    k = math.ceil(0.9 * 20)
    np.testing.assert_allclose(found[:, 0], np.sort(values - residuals)[:, 19 - k])
    np.testing.assert_allclose(found[:, 1], np.sort(values + residuals)[:, k - 1])


def test_p_values_are_shares_of_rows_that_are_as_strange():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(40, 2)), random.choice(["a", "b", "c"], size=40)
    model = conformal_classifier(LogisticRegression(), X, y, random_state=0)
    strange = 1 - model.model.predict_proba(X[:6])
    expected = [[(1 + (model.scores >= s).sum()) / (1 + len(model.scores)) for s in row] for row in strange]
    np.testing.assert_allclose(model.p_values(X[:6]), expected)
    np.testing.assert_array_equal(model.predict_set(X[:6], 0.3), np.array(expected) > 0.3)


def test_with_too_few_rows_an_interval_is_everything():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    model = conformal_regressor(LinearRegression(), X, y, random_state=0)
    assert np.isinf(model.predict_interval(X, 0.1)).all()
    assert np.isfinite(model.predict_interval(X, 0.5)).all()


def test_groups_and_classes_are_covered_one_by_one():
    """A quarter of the rows is ten times as noisy: one interval for all would miss most of these."""
    random, missed = np.random.RandomState(0), []
    for _ in range(40):
        X = random.uniform(size=(300, 1))
        y = np.where(X[:, 0] < 0.25, 10, 1) * random.normal(size=300)
        own = {"group_by": lambda X: X[:, 0] < 0.25}
        models = [conformal_regressor(LinearRegression(), X[:200], y[:200], random_state=0, **o) for o in ({}, own)]
        for model in models:
            low, high = model.predict_interval(X[200:], 0.1).T
            outside = (y[200:] < low) | (y[200:] > high)
            missed.append(outside[X[200:, 0] < 0.25].mean())
    assert np.mean(missed[::2]) > 0.2
    assert np.mean(missed[1::2]) < 0.13

    X = random.normal(size=(1200, 1))
    y = (X[:, 0] + random.normal(size=1200) > 1.5).astype(int)
    shares = {}
    for by_class in (False, True):
        model = conformal_classifier(LogisticRegression(), X[:900], y[:900], by_class=by_class, random_state=0)
        rare = y[900:] == 1
        shares[by_class] = model.predict_set(X[900:], 0.1)[rare, 1].mean()
    assert shares[True] > 0.8 > shares[False]


def test_models_come_back_from_a_pickle_and_jobs_change_nothing():
    X, y = load_iris(return_X_y=True)
    model = conformal_classifier(GaussianNB(), X, y, method="cross", cv=3, random_state=0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.p_values(X), model.p_values(X))
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))


@pytest.mark.parametrize("method", ["split", "cross"])
def test_models_come_back_from_a_file(tmp_path, method):
    X, y = load_iris(return_X_y=True)
    labels = conformal_classifier(GaussianNB(), X, y, method=method, by_class=True, random_state=0)
    mercer.save(labels, tmp_path / "labels.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "labels.mercer").p_values(X), labels.p_values(X))
    numbers = conformal_regressor(Ridge(), X[:, :3], X[:, 3], method=method, random_state=0)
    mercer.save(numbers, tmp_path / "numbers.mercer")
    again = mercer.load(tmp_path / "numbers.mercer")
    np.testing.assert_array_equal(again.predict_interval(X[:, :3]), numbers.predict_interval(X[:, :3]))


def test_a_class_that_a_fold_lacks_has_no_probability_there():
    X, y = np.arange(12.0)[:, None], np.array(["a"] * 6 + ["b"] * 5 + ["c"])
    model = conformal_classifier(DecisionTreeClassifier(random_state=0), X, y, method="jackknife+")
    assert model.predict_set(X, 0.05).shape == (12, 3)
    assert model.predict_set(X, 0.05).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: conformal_regressor(Ridge(), X, y, method="full"), "method='full'"),
        (lambda X, y: conformal_regressor(Ridge(), X, y, calibration_size=1.0), "calibration_size"),
        (lambda X, y: conformal_regressor(Ridge(), X, y[:3]), "as many"),
        (lambda X, y: conformal_regressor(Ridge(), X, y, group_by="sex"), "group_by"),
        (lambda X, y: conformal_regressor(Ridge(), X, y, group_by=lambda X: [1]), "a group for each"),
        (lambda X, y: conformal_regressor(Ridge(), X, y).predict_interval(X, 1.0), "alpha"),
        (lambda X, y: conformal_classifier(LinearSVC(), X, y > 0), "predict_proba"),
        (lambda X, y: conformal_classifier(GaussianNB(), X, y > 0, score="raps"), "score='raps'"),
    ],
)
def test_wrong_calls_are_named(call, message):
    random = np.random.RandomState(0)
    with pytest.raises(InvalidParameterError, match=message):
        call(random.normal(size=(30, 2)), random.normal(size=30))


def test_a_level_that_a_difference_gives_is_that_level():
    """1 - 0.8 lies a rounding below 0.2: at an exact tie neither may keep a label that the other leaves out."""
    X = np.random.RandomState(0).randn(98, 2)
    y = (X[:, 0] + 0.8 * np.random.RandomState(1).randn(98) > 0).astype(int)
    model = conformal_classifier(GaussianNB(), X, y, random_state=0)
    assert np.isclose(model.p_values(X), 0.2, atol=1e-12).any()  # there are ties
    np.testing.assert_array_equal(model.predict_set(X, alpha=1 - 0.8), model.predict_set(X, alpha=0.2))
