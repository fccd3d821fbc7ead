from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from mercer._matrix import native_rows
from mercer._native import kernels
from mercer.cluster import SelfOrganizingMap
from mercer.cluster._map_grid import MapGrid
from tests.reference import clusters as naive
from tests.reference.kmeans import squared_distances


@pytest.fixture(scope="module")
def X():
    return make_blobs(300, 4, centers=3, random_state=0)[0]


def test_neighbours_are_four_and_six():
    rectangular, hexagonal = MapGrid((5, 5), "rectangular"), MapGrid((5, 5), "hexagonal")
    assert rectangular.are_neighbors.sum(axis=1)[12] == 4
    assert rectangular.are_adjacent.sum(axis=1)[12] == 8
    assert hexagonal.are_neighbors.sum(axis=1)[12] == hexagonal.are_adjacent.sum(axis=1)[12] == 6
    assert (hexagonal.are_neighbors == hexagonal.are_neighbors.T).all()


@pytest.mark.parametrize("topology", ["rectangular", "hexagonal"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_batch_epochs_are_those_of_the_textbook(X, topology, form):
    start = X[:12].copy()
    model = SelfOrganizingMap((3, 4), topology=topology, init=start, radius=2.0, n_epochs=4, max_iter=4, tol=1e6)
    model.fit(form(X))
    vectors = start
    for record in model.history_:
        vectors = naive.batch_epoch(X, vectors, model.grid_positions_, record["radius"])
    assert [record["radius"] for record in model.history_] == pytest.approx(list(2.0 * 0.25 ** (np.arange(4) / 3)))
    np.testing.assert_allclose(model.cluster_centers_, vectors, atol=1e-9)


def test_online_visits_are_those_of_the_textbook(X):
    grid = MapGrid((3, 3), "hexagonal")
    random = np.random.RandomState(0)
    order, rates, radii = random.permutation(len(X)), np.linspace(0.5, 0.1, len(X)), np.linspace(2, 0.5, len(X))
    vectors = X[:9].copy()
    kernels.train_map(native_rows(X, None), None, order, rates, radii, grid.squared_distances, True, vectors)
    np.testing.assert_allclose(vectors, naive.online_epoch(X, X[:9], grid.positions, order, rates, radii), atol=1e-9)


@pytest.mark.parametrize("training", ["batch", "online"])
@pytest.mark.parametrize("topology", ["rectangular", "hexagonal"])
def test_near_units_have_near_vectors(training, topology):
    X = np.random.RandomState(0).uniform(size=(800, 2))
    model = SelfOrganizingMap((7, 7), training=training, topology=topology, random_state=0, n_epochs=10).fit(X)
    assert model.topographic_error_ < 0.12
    assert model.quantization_error_ < 0.08
    history = [record["inertia"] for record in model.history_]
    assert history[-1] < history[0]


def test_what_is_said_of_a_map_follows_from_its_vectors(X):
    weights = np.random.RandomState(0).randint(0, 3, len(X)).astype(float)
    model = SelfOrganizingMap((4, 3), random_state=0).fit(X, sample_weight=weights)
    distances = np.sqrt(squared_distances(X, model.cluster_centers_))
    np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.quantization_error_ == pytest.approx(weights @ distances.min(axis=1) / weights.sum())
    first, second = np.argsort(distances, axis=1)[:, :2].T
    across = np.abs(np.array(np.unravel_index(first, (4, 3))) - np.unravel_index(second, (4, 3))).max(axis=0)
    assert model.topographic_error_ == pytest.approx(weights @ (across > 1) / weights.sum())
    vectors = model.cluster_centers_.reshape(4, 3, -1)
    corner = (np.linalg.norm(vectors[0, 0] - vectors[0, 1]) + np.linalg.norm(vectors[0, 0] - vectors[1, 0])) / 2
    assert model.umatrix_[0, 0] == pytest.approx(corner)
    assert model.hits_.sum() == weights.sum()


def test_weights_count_as_repeated_rows(X):
    weights = np.random.RandomState(0).randint(0, 3, len(X))
    model = SelfOrganizingMap((3, 3)).fit(X, sample_weight=weights)
    repeated = SelfOrganizingMap((3, 3)).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(model.cluster_centers_, repeated.cluster_centers_, atol=1e-6)


def test_at_the_end_of_batch_training_vectors_rest(X):
    model = SelfOrganizingMap((4, 4), tol=1e-8).fit(X)
    assert model.certificate_.converged
    after = naive.batch_epoch(X, model.cluster_centers_, model.grid_positions_, 0.5)
    assert ((after - model.cluster_centers_) ** 2).sum() <= model.certificate_.tol * 1.01


def test_ridges_of_the_u_matrix_part_clusters():
    X = np.random.RandomState(0).randn(400, 2) + np.repeat([[0, 0], [40, 0]], 200, axis=0)
    umatrix = SelfOrganizingMap((4, 10)).fit(X).umatrix_
    assert umatrix.mean(axis=0)[3:7].max() > 2 * umatrix.mean(axis=0)[[0, 1, 8, 9]].max()


@pytest.mark.parametrize("X", [np.zeros((6, 2)), np.array([[1.0, 2.0]]), np.full((4, 3), 1e8)])
def test_equal_rows_give_equal_vectors(X):
    for training in ("batch", "online"):
        model = SelfOrganizingMap((2, 3), training=training, random_state=0).fit(X)
        np.testing.assert_allclose(model.cluster_centers_, np.tile(X[0], (6, 1)))
        assert model.quantization_error_ == pytest.approx(0, abs=1e-6)


def test_single_precision_is_kept(X):
    model = SelfOrganizingMap((3, 3)).fit(X.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(model.cluster_centers_, SelfOrganizingMap((3, 3)).fit(X).cluster_centers_, atol=1e-2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"grid_shape": (3, 0)}, "grid_shape"),
        ({"grid_shape": (3,)}, "grid_shape"),
        ({"radius": 1.0, "final_radius": 2.0}, "final_radius=2.0"),
        ({"final_radius": 0.0}, "decay='linear'"),
        ({"init": np.zeros((2, 2))}, r"init holds vectors of shape \(2, 2\)"),
    ],
)
def test_wrong_parameters_are_refused(X, params, message):
    with pytest.raises(ValueError, match=message):
        SelfOrganizingMap(**params).fit(X)
