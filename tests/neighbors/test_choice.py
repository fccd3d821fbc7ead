"""The choice of k and weights: as one by one, from one search a fold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_predict, cross_val_score

from mercer.model_selection import tune
from mercer.neighbors import (
    KNeighborsClassifier,
    KNeighborsClassifierCV,
    KNeighborsRegressor,
    KNeighborsRegressorCV,
    _questions,
    _search,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(150, 3)
LABELS = np.where(X[:, 0] + 0.8 * RANDOM.randn(150) > 0, "yes", "no")
NUMBERS = np.sin(X[:, 0]) + 0.3 * RANDOM.randn(150)
NUMBERS_OF_NEIGHBORS, WEIGHTS = [1, 3, 7, 12], ["uniform", "distance", "gaussian"]


@pytest.fixture
def searches(monkeypatch):
    """The numbers of queries of all searches."""
    asked, nearest = [], _search.Search.nearest

    def counted(self, queries, k, **options):
        asked.append(self.shape[0] if queries is None else len(queries))
        return nearest(self, queries, k, **options)

    monkeypatch.setattr(_search.Search, "nearest", counted)
    return asked


@pytest.mark.parametrize(
    ("chooser", "model", "y", "scoring"),
    [
        (KNeighborsClassifierCV, KNeighborsClassifier, LABELS, None),
        (KNeighborsClassifierCV, KNeighborsClassifier, LABELS, "neg_log_loss"),
        (KNeighborsClassifierCV, KNeighborsClassifier, LABELS, "roc_auc"),
        (KNeighborsRegressorCV, KNeighborsRegressor, NUMBERS, None),
        (KNeighborsRegressorCV, KNeighborsRegressor, NUMBERS, "neg_mean_absolute_error"),
    ],
)
def test_folds_choose_what_a_grid_search_chooses(chooser, model, y, scoring, searches):
    found = chooser(NUMBERS_OF_NEIGHBORS, weights=WEIGHTS, cv=5, scoring=scoring).fit(X, y)
    assert searches == [30] * 5
    grid = GridSearchCV(model(), {"weights": WEIGHTS, "n_neighbors": NUMBERS_OF_NEIGHBORS}, cv=5, scoring=scoring)
    grid.fit(X, y)
    scores = dict(
        zip(
            [(str(each["weights"]), each["n_neighbors"]) for each in grid.cv_results_["params"]],
            grid.cv_results_["mean_test_score"],
            strict=True,
        )
    )
    expected = [[scores[weights, k] for k in NUMBERS_OF_NEIGHBORS] for weights in WEIGHTS]
    np.testing.assert_allclose(found.cv_scores_, expected, rtol=1e-10)
    assert found.best_score_ == found.cv_scores_.max()
    best = model(found.n_neighbors_, weights=found.weights_).fit(X, y)
    assert (found.predict(X[:20]) == best.predict(X[:20])).all()
    assert (found.kneighbors(X[:3])[1] == best.kneighbors(X[:3])[1]).all()


def test_leaving_one_out_takes_one_search_in_all(searches):
    found = KNeighborsClassifierCV(NUMBERS_OF_NEIGHBORS).fit(X, LABELS)
    assert searches == [150]
    scores = [cross_val_score(KNeighborsClassifier(k), X, LABELS, cv=LeaveOneOut()).mean() for k in NUMBERS_OF_NEIGHBORS]
    np.testing.assert_allclose(found.cv_scores_[0], scores, rtol=1e-12)
    found = KNeighborsRegressorCV(NUMBERS_OF_NEIGHBORS, scoring="neg_mean_squared_error").fit(X, NUMBERS)
    left_out = [cross_val_predict(KNeighborsRegressor(k), X, NUMBERS, cv=LeaveOneOut()) for k in NUMBERS_OF_NEIGHBORS]
    np.testing.assert_allclose(found.cv_scores_[0], [-np.mean((NUMBERS - each) ** 2) for each in left_out], rtol=1e-12)


def test_several_outputs():
    both = np.column_stack([LABELS, np.roll(LABELS, 1)])
    found = KNeighborsClassifierCV([1, 5], cv=KFold(3)).fit(X, both)

    def scored(k, train, test):
        model = KNeighborsClassifier(k).fit(X[train], both[train])
        return (model.predict(X[test]) == both[test]).all(axis=1).mean()

    scores = [np.mean([scored(k, train, test) for train, test in KFold(3).split(X)]) for k in (1, 5)]
    np.testing.assert_allclose(found.cv_scores_[0], scores)
    targets = np.column_stack([NUMBERS, -NUMBERS])
    assert KNeighborsRegressorCV([1, 5]).fit(X, targets).predict(X).shape == (150, 2)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": [3, 150]}, "n_neighbors = 150, n_samples_fit = 150.*left out has 149 others"),
        ({"n_neighbors": [130], "cv": 5}, "n_neighbors = 130, n_samples_fit = 120.*a fold has no more training rows"),
        ({"n_neighbors": []}, "n_neighbors=.* must hold"),
        ({"n_neighbors": [0]}, r"n_neighbors\[0\]=0 is not valid"),
        ({"weights": ["uniform", "strong"]}, r"weights\[1\]='strong' is not valid"),
    ],
)
def test_one_clear_error_for_each_wrong_parameter(params, words):
    with pytest.raises(ValueError, match=words):
        KNeighborsClassifierCV(**params).fit(X, LABELS)


@pytest.mark.parametrize(("model", "y"), [(KNeighborsClassifier(), LABELS), (KNeighborsRegressor(), NUMBERS)])
@pytest.mark.parametrize(("name", "values"), [("n_neighbors", [4, 1, 9]), ("weights", WEIGHTS), ("bandwidth", [0.1, 1.0])])
def test_a_sweep_is_what_fits_give_from_one_search(model, y, name, values, searches):
    model = model.set_params(weights="gaussian")
    queries = RANDOM.randn(20, 3)
    fitted = list(model.sweep(X, y, name, values))
    found = [each.predict(queries) for each in fitted]
    assert searches == [20]
    for value, mine in zip(values, found, strict=True):
        assert (mine == type(model)(**{"weights": "gaussian", name: value}).fit(X, y).predict(queries)).all()
    before, queries[:] = queries.copy(), RANDOM.randn(20, 3)  # what is recalled is not what has been written over
    alone = type(model)(**{"weights": "gaussian", name: values[0]}).fit(X, y)
    assert (fitted[0].predict(queries) == alone.predict(queries)).all()
    assert (fitted[0].predict(before) == found[0]).all()


@pytest.mark.parametrize(("model", "y"), [(KNeighborsClassifier(), LABELS), (KNeighborsRegressor(), NUMBERS)])
def test_a_sweep_over_points_is_what_fits_give_from_one_search(model, y, searches):
    points = [{"weights": weights, "n_neighbors": k} for weights in WEIGHTS for k in (4, 1, 9)]
    queries = RANDOM.randn(20, 3)
    found = [each.predict(queries) for each in model.sweep_points(X, y, points)]
    assert searches == [20]
    for point, mine in zip(points, found, strict=True):
        assert (mine == type(model)(**point).fit(X, y).predict(queries)).all()


def test_queries_that_are_answered_in_parts_are_searched_once_too(searches, monkeypatch):
    monkeypatch.setattr(_questions, "MOST_ENTRIES", 60)
    queries = RANDOM.randn(20, 3)
    fitted = list(KNeighborsRegressor().sweep(X, NUMBERS, "n_neighbors", [9, 1, 4]))
    found = [each.predict(queries) for each in fitted]
    assert searches == [6, 6, 6, 2]
    for k, mine in zip([9, 1, 4], found, strict=True):
        assert (mine == KNeighborsRegressor(k).fit(X, NUMBERS).predict(queries)).all()
    searches.clear()
    many = RANDOM.randn(60, 3)  # more parts than are recalled
    for each in fitted * 2:
        assert (each.predict(many) == KNeighborsRegressor(each.n_neighbors).fit(X, NUMBERS).predict(many)).all()
    assert (fitted[0].predict(queries) == found[0]).all()


def test_a_sweep_over_points_refuses_what_a_fit_refuses_and_what_needs_another_search():
    model = KNeighborsClassifier()
    with pytest.raises(ValueError, match="weights='strong' is not valid"):
        model.sweep_points(X, LABELS, [{"n_neighbors": 1, "weights": "uniform"}, {"n_neighbors": 1, "weights": "strong"}])
    with pytest.raises(ValueError, match="name='p' cannot be swept"):
        model.sweep_points(X, LABELS, [{"n_neighbors": 1, "p": 1}])
    with pytest.raises(ValueError, match="no points to sweep"):
        model.sweep_points(X, LABELS, [])
    with pytest.raises(TypeError, match="takes no sample_weight"):
        model.sweep_points(X, LABELS, [{"n_neighbors": 1}], sample_weight=np.ones(150))


def test_a_sweep_refuses_weights_of_rows_and_more_neighbours_than_rows():
    with pytest.raises(TypeError, match="takes no sample_weight"):
        KNeighborsClassifier().sweep(X, LABELS, "n_neighbors", [1], sample_weight=np.ones(150))
    fitted = list(KNeighborsClassifier().sweep(X, LABELS, "n_neighbors", [1, 200]))
    assert len(fitted[0].predict(X)) == 150
    with pytest.raises(ValueError, match="n_neighbors = 200"):
        fitted[1].predict(X)


def test_tune_searches_once_for_each_fold_and_metric(searches):
    space = {"n_neighbors": NUMBERS_OF_NEIGHBORS, "weights": WEIGHTS, "p": [1, 2]}
    result = tune(KNeighborsClassifier(), X, LABELS, space, cv=5, refit=False)
    assert searches == [30] * 10
    grid = GridSearchCV(KNeighborsClassifier(), space, cv=5, refit=False).fit(X, LABELS)
    np.testing.assert_array_equal([trial.score for trial in result.trials], grid.cv_results_["mean_test_score"])
    assert [trial.params for trial in result.trials] == grid.cv_results_["params"]
    assert result.best_params == grid.best_params_


def test_tune_searches_once_for_each_fold(searches):
    result = tune(KNeighborsClassifier(), X, LABELS, {"n_neighbors": NUMBERS_OF_NEIGHBORS}, cv=5, refit=False)
    assert searches == [30] * 5
    scores = [cross_val_score(KNeighborsClassifier(k), X, LABELS, cv=5).mean() for k in NUMBERS_OF_NEIGHBORS]
    assert result.best_score == pytest.approx(max(scores))
