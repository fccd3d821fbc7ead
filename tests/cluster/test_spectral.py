from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering as PeerSpectralClustering
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score

from mercer.cluster import SpectralClustering, _spectral_solvers as solvers, spectral_clustering
from mercer.kernels import RBF
from mercer.neighbors import NearestNeighbors
from tests.reference import clusters as naive

ASSIGNMENTS = ["kmeans", "discretize", "cluster_qr"]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, 3, centers=4, cluster_std=1.0, random_state=1)


def affinities(n, seed=0):
    W = np.random.RandomState(seed).rand(n, n) ** 8
    return W + W.T


@pytest.mark.parametrize("assign_labels", ASSIGNMENTS)
@pytest.mark.parametrize(
    "affinity", ["rbf", "nearest_neighbors", RBF(gamma=0.1), lambda x, y: np.exp(-0.1 * ((x - y) ** 2).sum())]
)
@pytest.mark.filterwarnings("ignore:.*not fully connected")
def test_separate_blobs_are_found(blobs, affinity, assign_labels):
    X, y = blobs
    model = SpectralClustering(4, gamma=0.1, affinity=affinity, assign_labels=assign_labels, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.certificate_.converged


def test_circles_are_found_where_k_means_cannot():
    X, y = make_circles(300, factor=0.4, noise=0.03, random_state=0)
    labels = SpectralClustering(2, gamma=60.0, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("solver", ["arpack", "lobpcg"])
@pytest.mark.parametrize("n_few", [0, 400])
def test_every_solver_finds_the_least_eigenvalues(form, solver, n_few, monkeypatch):
    monkeypatch.setattr(solvers, "_FEW_NODES", n_few)
    W = affinities(60)
    model = SpectralClustering(5, affinity="precomputed", eigen_solver=solver, random_state=0).fit(form(W))
    np.testing.assert_allclose(model.eigenvalues_, naive.laplacian_values(W)[:5], atol=1e-6)
    assert model.certificate_.residual < 1e-6
    U = model.embedding_
    degrees = W.sum(axis=1) - W.diagonal()
    np.testing.assert_allclose(U.T @ (degrees[:, None] * U), np.eye(5), atol=1e-6)


def test_where_lanczos_gives_up_the_matrix_is_inverted(monkeypatch):
    monkeypatch.setattr(solvers, "_FEW_NODES", 0)
    monkeypatch.setattr(solvers, "_MOST_RESTARTS", 1)
    W = np.diag(np.ones(199), 1)
    W = W + W.T  # a path, whose eigenvalues are very near to one another
    model = SpectralClustering(4, affinity="precomputed", random_state=0).fit(W)
    assert "inverted" in model.certificate_.method
    np.testing.assert_allclose(model.eigenvalues_, naive.laplacian_values(W)[:4], atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("assign_labels", ASSIGNMENTS)
def test_the_components_of_a_graph_are_its_clusters(form, assign_labels):
    sizes = (5, 9, 3)
    W = np.asarray(sp.block_diag([affinities(size, size) for size in sizes]).todense())
    order = np.random.RandomState(0).permutation(17)
    model = SpectralClustering(3, affinity="precomputed", assign_labels=assign_labels, random_state=0)
    with pytest.warns(UserWarning, match="not fully connected"):
        labels = model.fit_predict(form(W[np.ix_(order, order)]))
    truth = np.repeat(np.arange(3), sizes)[order]
    assert adjusted_rand_score(truth, labels) == 1
    assert model.n_graph_components_ == 3
    np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-12)


def test_a_node_without_edges_is_a_component():
    W = affinities(8)
    W[3] = W[:, 3] = 0
    with pytest.warns(UserWarning, match="not fully connected"):
        labels = spectral_clustering(W, n_clusters=2, random_state=0)
    assert (labels == labels[3]).sum() == 1


def test_graphs_of_distances_give_their_neighbours(blobs):
    X, y = blobs
    graph = NearestNeighbors(n_neighbors=12).fit(X).kneighbors_graph(X, mode="distance")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SpectralClustering(4, affinity="precomputed_nearest_neighbors", n_neighbors=10, random_state=0).fit(graph)
        peer = PeerSpectralClustering(4, affinity="precomputed_nearest_neighbors", n_neighbors=10, random_state=0).fit(graph)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), peer.affinity_matrix_.toarray())
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_hard_data_have_a_documented_end():
    equal = SpectralClustering(2, random_state=0).fit(np.zeros((6, 2)))
    assert equal.labels_.shape == (6,)
    with pytest.raises(ValueError, match="minimum of 2"):
        SpectralClustering(1).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        SpectralClustering().fit(np.eye(3, 2))
    with pytest.raises(ValueError, match=r"the affinities of row \d+ to the others sum to"):
        spectral_clustering(-affinities(5), n_clusters=2)
    with pytest.raises(ValueError, match="takes a square X"):
        SpectralClustering(2, affinity="precomputed").fit(np.ones((4, 3)))


def test_the_embedding_has_the_precision_of_the_rows(blobs):
    X, y = blobs
    model = SpectralClustering(4, gamma=0.1, random_state=0).fit(X.astype(np.float32))
    assert model.embedding_.dtype == np.float32
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.certificate_.converged
