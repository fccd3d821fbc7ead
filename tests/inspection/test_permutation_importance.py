from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.inspection
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline

from mercer._tables import as_table
from mercer.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from mercer.inspection import permutation_importance
from mercer.linear_model import LogisticRegression
from mercer.metrics import accuracy_score
from mercer.preprocessing import StandardScaler
from tests.inspection.models import ALL, NUMBERS, THREE, TWO, X, fitted
from tests.reference.dependence import permutation_importance as by_formula


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("max_samples", [1.0, 0.5])
def test_importances_are_those_of_scikit_learn_for_the_same_seed(name, max_samples):
    model, rows, target = fitted(name)
    options = {"n_repeats": 3, "random_state": 1, "max_samples": max_samples}
    found = permutation_importance(model, rows, target, **options)
    theirs = sklearn.inspection.permutation_importance(model, rows, target, **options)
    for field in ("importances", "importances_mean", "importances_std"):
        np.testing.assert_allclose(found[field], theirs[field], atol=1e-12, err_msg=field)


@pytest.mark.parametrize("name", ["forest of three classes", "histogram boosting of two classes", "logistic, two classes"])
def test_groups_are_shuffled_together(name):
    model, rows, target = fitted(name)
    found = permutation_importance(
        model, rows, target, n_repeats=4, random_state=3, groups={"both": [1, 3]}, scoring="neg_log_loss"
    )
    assert found.groups == {"x0": [0], "both": [1, 3], "x2": [2], "x4": [4]}
    random = np.random.RandomState(np.random.RandomState(3).randint(2**31))
    step, order, orders = np.arange(len(rows)), np.arange(len(rows)), []
    for _ in range(4):
        random.shuffle(step)
        order = order[step]
        orders.append(order)
    expected = by_formula(model, np.array(rows), target, orders, list(found.groups.values()), "neg_log_loss")
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)


def test_groups_are_found_by_rank_correlation():
    random = np.random.RandomState(0)
    z = random.randn(400, 3)
    rows = np.column_stack([z[:, 0], z[:, 1], np.exp(z[:, 0]), z[:, 2], -z[:, 1] + 0.1 * random.randn(400), np.ones(400)])
    target = (z[:, 0] + z[:, 1] > 0).astype(int)
    model = RandomForestClassifier(20, random_state=0).fit(rows, target)
    found = permutation_importance(model, rows, target, groups=0.8, random_state=0)
    assert list(found.groups.values()) == [[0, 2], [1, 4], [3], [5]]
    assert list(found.groups) == ["x0 + x2", "x1 + x4", "x3", "x5"]
    alone = permutation_importance(model, rows, target, random_state=0)
    assert found.importances_mean[0] > alone.importances_mean[[0, 2]].max()


def test_intervals_are_students_over_the_shuffles():
    model, rows, target = fitted("ridge")
    found = permutation_importance(model, rows, target, n_repeats=8, random_state=0, confidence_level=0.9)
    deviation = found.importances.std(axis=1, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(
        found.importances_interval[:, 1] - found.importances_mean, 1.894578605 * deviation
    )  # t, 7 df, 95 %
    np.testing.assert_allclose(found.importances_interval.mean(axis=1), found.importances_mean)
    assert np.isnan(permutation_importance(model, rows, target, n_repeats=1).importances_interval).all()


def test_several_scorers_give_a_result_each_and_any_scorer_will_do():
    model, rows, target = fitted("forest of two classes")
    options = {"n_repeats": 2, "random_state": 0}
    many = permutation_importance(model, rows, target, scoring=["accuracy", "roc_auc"], **options)
    assert set(many) == {"accuracy", "roc_auc"}
    for name, result in many.items():
        alone = permutation_importance(model, rows, target, scoring=name, **options)
        np.testing.assert_array_equal(result.importances, alone.importances)

    def by_a_look_at_the_rows(model, rows, target):  # no stand-in would do
        return float(np.nanmean(rows[:, 0] * target)) + model.score(rows, target)

    mixed = {"own": by_a_look_at_the_rows, "accuracy": make_scorer(accuracy_score)}
    found = permutation_importance(model, rows, target, scoring=mixed, **options)
    theirs = sklearn.inspection.permutation_importance(model, rows, target, scoring=mixed, **options)
    np.testing.assert_allclose(found["own"].importances, theirs["own"].importances)
    np.testing.assert_allclose(found["accuracy"].importances, many["accuracy"].importances)


def test_weights_of_rows_count_in_the_score():
    model, rows, target = fitted("histogram boosting of numbers")
    options = {"n_repeats": 2, "random_state": 0, "sample_weight": np.arange(len(rows), dtype=float), "max_samples": 60}
    found = permutation_importance(model, rows, target, **options)
    theirs = sklearn.inspection.permutation_importance(model, rows, target, **options)
    np.testing.assert_allclose(found.importances, theirs.importances, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_results_do_not_depend_on_the_number_of_jobs(n_jobs):
    for model in (
        RandomForestRegressor(5, random_state=0).fit(X, NUMBERS),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ):
        target = NUMBERS if isinstance(model, RandomForestRegressor) else TWO
        model.fit(X, target)
        first = permutation_importance(model, X, target, random_state=0, n_jobs=1).importances
        np.testing.assert_array_equal(
            permutation_importance(model, X, target, random_state=0, n_jobs=n_jobs).importances, first
        )


@pytest.mark.parametrize("kind", ["pandas", "polars", "csr", "csc", "list"])
def test_any_table_gives_what_an_array_gives(kind):
    names = [f"x{j}" for j in range(5)]
    if kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
        rows = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    else:
        rows = X.tolist() if kind == "list" else getattr(sp, f"{kind}_matrix")(X)
    for model in (
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    ):
        expected = permutation_importance(model.fit(X, THREE), X, THREE, random_state=0, groups=[[0, 2]]).importances
        found = permutation_importance(model.fit(rows, THREE), rows, THREE, random_state=0, groups=[["x0", "x2"]])
        np.testing.assert_allclose(found.importances, expected, atol=1e-12)


def test_categories_are_shuffled_in_the_words_of_the_user():
    pd = pytest.importorskip("pandas")
    words = pd.Categorical(np.where(X[:, 0] > 0, "up", "down"))
    frame = pd.DataFrame({"way": words, "size": X[:, 1], "text": np.where(X[:, 2] > 0, "a", "b")})
    model = HistGradientBoostingClassifier(max_iter=10).fit(frame[["way", "size"]], TWO)
    found = permutation_importance(model, frame[["way", "size"]], TWO, random_state=0)
    theirs = sklearn.inspection.permutation_importance(model, frame[["way", "size"]], TWO, random_state=0)
    np.testing.assert_array_equal(found.importances, theirs.importances)
    assert list(found.groups) == ["way", "size"]


def test_models_of_others_and_classes_derived_from_ours_are_asked_themselves():
    class Contrary(RandomForestClassifier):
        def predict(self, X):
            return super().predict(-np.asarray(X))

    for model in (PeerForest(5, random_state=0), Contrary(5, random_state=0)):
        model.fit(X, TWO)
        found = permutation_importance(model, X, TWO, random_state=0)
        theirs = sklearn.inspection.permutation_importance(model, X, TWO, random_state=0)
        np.testing.assert_array_equal(found.importances, theirs.importances)


def test_a_feature_that_no_tree_asks_for_has_no_importance_at_all():
    rows = np.column_stack([X, np.zeros(len(X))])
    model = RandomForestClassifier(5, random_state=0).fit(rows, TWO)
    assert (permutation_importance(model, rows, TWO, random_state=0).importances[5] == 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_repeats": 0}, "n_repeats=0 is not valid"),
        ({"max_samples": 151}, "max_samples=151 .* must be <= n_samples"),
        ({"max_samples": 0.001}, "leaves none of 150 rows"),
        ({"confidence_level": 1.0}, "confidence_level=1.0 is not valid"),
        ({"groups": {"a": [0, 1], "b": [1]}}, "'x1' twice"),
        ({"groups": {"a": []}}, "the group 'a' is empty"),
        ({"groups": {"a": ["age"]}}, "holds 'age'; it must hold names of columns or numbers from 0 to 4"),
        ({"groups": {"x4": [0, 1]}}, "calls a group 'x4'"),
        ({"groups": 2.0}, "groups=2.0 is not valid"),
        ({"scoring": "speed"}, "speed"),
    ],
)
def test_wrong_parameters_are_named(options, words):
    model, rows, target = fitted("ridge")
    with pytest.raises(ValueError, match=words):
        permutation_importance(model, rows, target, **options)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_columns_of_sparse_tables_are_shuffled_by_their_entries(format):
    random = np.random.RandomState(0)
    dense = random.randn(8, 4) * (random.rand(8, 4) < 0.5)
    table, order = as_table(sp.csr_matrix(dense).asformat(format), "X"), random.permutation(8)
    expected = dense.copy()
    expected[:, [3, 1]] = dense[order][:, [3, 1]]
    shuffled = table.shuffled([3, 1], order)
    assert shuffled.format == format
    np.testing.assert_array_equal(shuffled.toarray(), expected)
    np.testing.assert_array_equal(table.data.toarray(), dense)
