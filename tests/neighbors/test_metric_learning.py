"""Linear maps from labels: objectives and gradients equal the textbook's, fits descend and help the nearest neighbour."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis as Peer
from threadpoolctl import threadpool_limits

from mercer._params import check_params
from mercer.neighbors import LMNN, NeighborhoodComponentsAnalysis
from mercer.neighbors._metric_learning.descent import MapObjective, SortedRows
from tests.reference import metric_learning as reference

IRIS = load_iris(return_X_y=True)


def _objective(model, X, y):
    rows = SortedRows(X, y)
    kernel, unit = model._kernel(rows, check_params(model))
    return MapObjective(rows.X, kernel, total_weight=unit)


def _data(n=75, d=4, seed=0):
    X, y = make_classification(n, d, n_informative=d, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=seed)
    return X, y


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize(
    ("model", "textbook"),
    [
        (NeighborhoodComponentsAnalysis(), reference.neighbourhood_components),
        (LMNN(3), lambda X, y, L: reference.large_margins(X, y, L, n_neighbors=3)),
        (
            LMNN(1, regularization=0.8, margin=0.3),
            lambda X, y, L: reference.large_margins(X, y, L, n_neighbors=1, push=0.8, margin=0.3),
        ),
    ],
    ids=["components", "margins", "other margins"],
)
def test_objective_and_gradient_equal_the_textbook(model, textbook, k):
    X, y = _data()
    point = np.random.RandomState(k).randn(k, 4).ravel()
    at = _objective(model, X + 100, y).evaluate(point)

    def value(flat):
        return textbook(X, y, flat.reshape(k, 4))

    assert at.value == pytest.approx(value(point), rel=1e-9)
    np.testing.assert_allclose(at.gradient, approx_fprime(point, value, 1e-7), rtol=1e-4, atol=1e-4 * np.abs(at.gradient).max())


def test_small_classes_have_fewer_target_neighbours():
    X, y = _data(20)
    y = np.concatenate([y, [3, 4, 4]])
    X = np.vstack([X, np.random.RandomState(0).randn(3, 4)])
    at = _objective(LMNN(9), X, y).evaluate(np.eye(4).ravel())
    assert at.value == pytest.approx(reference.large_margins(X, y, np.eye(4), n_neighbors=9), rel=1e-9)


def test_far_images_leave_no_nan():
    X, y = _data()
    at = _objective(NeighborhoodComponentsAnalysis(), X, y).evaluate(1e4 * np.eye(4).ravel())
    assert np.isfinite(at.value)
    assert np.isfinite(at.gradient).all()
    assert at.value == pytest.approx(reference.neighbourhood_components(X, y, 1e4 * np.eye(4)), rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_components_reach_what_the_peer_reaches(seed):
    X, y = _data(150, 5, seed)
    ours = NeighborhoodComponentsAnalysis(init="identity", max_iter=300, tol=1e-7).fit(X, y)
    theirs = Peer(init="identity", max_iter=300, tol=1e-7).fit(X, y)
    value = _objective(ours, X, y).evaluate
    assert value(ours.components_.ravel()).value <= value(theirs.components_.ravel()).value + 0.5
    assert ours.certificate_.primal == pytest.approx(value(ours.components_.ravel()).value)


@pytest.mark.parametrize("model", [NeighborhoodComponentsAnalysis(random_state=0), LMNN(random_state=0)])
def test_the_objective_falls_and_is_told(model):
    objectives = [record["objective"] for record in model.fit(*IRIS).history_]
    assert np.all(np.diff(objectives) <= 1e-9 * np.abs(objectives[:-1]))
    assert model.n_iter_ == len(objectives)
    assert model.certificate_.primal == objectives[-1]
    assert model.certificate_.residual == model.history_[-1]["gradient"]


@pytest.mark.parametrize("name", ["components", "margins"])
def test_the_nearest_neighbour_gains_where_columns_hold_noise(name):
    X, y = IRIS
    noisy = np.hstack([X, 3 * np.random.RandomState(0).randn(len(X), 6)])
    model = NeighborhoodComponentsAnalysis(2, random_state=0, max_iter=200) if name == "components" else LMNN(n_components=2)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)

    def score(Z):
        return KNeighborsClassifier(3).fit(Z[train], y[train]).score(Z[test], y[test])

    model.fit(noisy[train], y[train])
    assert score(model.transform(noisy)) > score(noisy) + 0.1


@pytest.mark.parametrize("Model", [NeighborhoodComponentsAnalysis, LMNN])
def test_threads_change_no_bit(Model):
    X, y = _data(300)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="mercer"):
            found.append(Model(init="identity", max_iter=5).fit(X, y).components_)
    np.testing.assert_array_equal(*found)


def test_a_fit_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = NeighborhoodComponentsAnalysis(max_iter=2).fit(*IRIS)
    assert not model.certificate_.status.is_success


def test_the_callback_sees_every_step():
    seen = []
    model = LMNN(max_iter=4, tol=0, callback=lambda flat, n_iter: seen.append((flat.shape, n_iter)))
    with pytest.warns(ConvergenceWarning):
        model.fit(*IRIS)
    assert seen == [((16,), n_iter) for n_iter in (1, 2, 3, 4)]


def test_a_warm_start_goes_on():
    model = NeighborhoodComponentsAnalysis(init="identity", warm_start=True, max_iter=300).fit(*IRIS)
    before = model.certificate_.primal
    model.fit(*IRIS)
    assert model.history_[0]["objective"] <= before + 1e-9
    assert model.n_iter_ < 20


def test_float32_is_kept():
    X, y = IRIS
    model = LMNN(n_components=2).fit(X.astype(np.float32), y)
    assert model.components_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("params", [{"n_neighbors": 0}, {"regularization": 1.5}, {"margin": 0}, {"init": "best"}])
def test_wrong_parameters_are_named(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        LMNN(**params).fit(*IRIS)
