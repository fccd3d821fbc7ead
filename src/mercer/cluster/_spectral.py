"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_symmetric

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._kernelized import gram
from mercer._params import (
    Function,
    Instance,
    Integer,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
)
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Status, log, warn
from mercer.cluster._kmeans import KMeans
from mercer.cluster._partitions import cluster_qr, discretize
from mercer.cluster._spectral_solvers import GraphSpectrum, graph_spectrum
from mercer.kernels import KERNELS, Kernel, as_kernel
from mercer.neighbors import NearestNeighbors, kneighbors_graph

_GRAPHS = ("nearest_neighbors", "precomputed", "precomputed_nearest_neighbors")


class SpectralClustering(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Clustering of a graph of rows by the eigenvectors of its Laplacian.

    With affinities W and degrees D, the relaxed normalised cut

    .. math:: \min_U \; \mathrm{tr}\, U^\top (D - W) U \quad \text{with} \quad U^\top D U = I

    is solved by the eigenvectors of :math:`D^{-1/2} W D^{-1/2}` for its largest eigenvalues times :math:`D^{-1/2}`; the rows
    of U are then clustered.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    eigen_solver : {"arpack", "lobpcg"} or None, default=None
        Lanczos's method, or locally optimal block conjugate gradients; None is the first. Up to 400 rows are decomposed
        directly.
    n_components : int or None, default=None
        How many eigenvectors to cluster; None is `n_clusters`.
    random_state : int, RandomState or None, default=None
        Draws the start of the eigensolver, and the starts of k-means or the rotation of "discretize".
    n_init : int, default=10
        How many starts k-means tries.
    gamma : float, default=1.0
        Coefficient of the kernels rbf, poly, sigmoid, laplacian and chi2.
    affinity : str, callable or Kernel, default="rbf"
        The name of a kernel, an object of `mercer.kernels`, or a function of two rows; "nearest_neighbors": the mean of the
        graph of the nearest rows and its transpose; "precomputed": X holds the affinities; "precomputed_nearest_neighbors": X
        is a graph of distances, from which the nearest rows are taken.
    n_neighbors : int, default=10
        How many nearest rows, the row itself among them.
    eigen_tol : float or "auto", default="auto"
        What the residual of an eigenvector may be; "auto" is 1e-9.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How the rows of U are clustered: by k-means, by the nearest partition to a rotation of U, or by a pivoted QR
        factorisation.
    degree, coef0 : float, default=3 and 1
        Of the kernels poly and sigmoid.
    kernel_params : dict or None, default=None
        Arguments of an affinity that is a function.
    n_jobs : int or None, default=None
        The number of threads of the search for neighbours.
    verbose : bool, default=False
        Log the steps to the logger `mercer`.

    Attributes
    ----------
    affinity_matrix_ : array or CSR matrix of shape (n_samples, n_samples)
    labels_ : int array of shape (n_samples,)
    embedding_ : array of shape (n_samples, n_components)
        U, whose rows were clustered.
    eigenvalues_ : array of shape (n_components,)
        Of the normalised Laplacian :math:`I - D^{-1/2} W D^{-1/2}`, ascending: as many near zero as the graph has parts that
        hardly hang together.
    n_graph_components_ : int
        Parts that do not hang together at all.
    certificate_ : Certificate
        The relaxed cut (the sum of the eigenvalues), and the largest residual of the eigen equation.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n^2) memory for a kernel, O(n k) for neighbours. A product with the affinities is one pass over them, and there are some
    hundreds; where eigenvalues are too near one another for that, and for sparse graphs, a factorisation of I - S.
    The eigenvectors of a graph's components are known and are not searched for: with as many components as clusters these are
    the clusters.

    Affinities are in double precision, as in scikit-learn; the embedding is in that of X.

    Differences from scikit-learn: `eigen_solver="amg"` is not there. Affinities whose sum over a row
    is negative are refused.

    References
    ----------
    J. Shi and J. Malik, "Normalized cuts and image segmentation", IEEE PAMI 22, 2000.
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import SpectralClustering
    >>> X = np.array([[1.0, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]])
    >>> model = SpectralClustering(n_clusters=2, assign_labels="discretize", random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": Integer(1),
        "eigen_solver": OneOf("arpack", "lobpcg") | Null(),
        "n_components": Integer(1) | Null(),
        "random_state": RandomState(),
        "n_init": Integer(1),
        "gamma": Real(least=0),
        "affinity": OneOf(*KERNELS, *_GRAPHS) | Instance(Kernel) | Function(),
        "n_neighbors": Integer(1),
        "eigen_tol": Real(least=0) | OneOf("auto"),
        "assign_labels": OneOf("kmeans", "discretize", "cluster_qr"),
        "degree": Real(least=0),
        "coef0": Real(),
        "kernel_params": Mapped() | Null(),
        "n_jobs": NumberOfJobs(),
        "verbose": Verbosity(),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: float | str = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_method
    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Find the clusters of rows, or of a graph.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows; affinities with affinity="precomputed"; distances with "precomputed_nearest_neighbors".
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr")
        n = X.shape[0]
        if n < 2:
            raise ValueError(f"SpectralClustering: Found array with {n} sample(s); a minimum of 2 is required for a graph.")
        if n < params.n_clusters:
            raise ValueError(f"SpectralClustering: n_samples={n} should be >= n_clusters={params.n_clusters}.")
        task = FitTask.start(self, X)
        # In double precision: the eigenvectors are, and labels hang on their last digits where clusters meet.
        affinity = self._affinities(X.astype(np.float64, copy=False), params)
        random = as_random_state(params.random_state)
        found = _spectrum(affinity, params, random)
        embedding = _embedding(found)
        log(params.verbose, "SpectralClustering: eigenvectors by %s, residual %.3g", found.method, found.residual)
        labels = _assigned(embedding, params, random)
        attributes = {
            "affinity_matrix_": affinity,
            "labels_": labels,
            "embedding_": embedding.astype(X.dtype, copy=False),
            "eigenvalues_": found.values,
            "n_graph_components_": int(found.components.max()) + 1,
        }
        return self._finish(task, attributes, _outcome(found, params))

    def _affinities(self, X: Any, params: SimpleNamespace) -> Any:
        """The graph: symmetric, dense or sparse."""
        name = params.affinity if isinstance(params.affinity, str) else None
        if name in ("precomputed", "precomputed_nearest_neighbors"):
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"SpectralClustering: affinity={name!r} takes a square X; its shape is {X.shape}.")
        elif X.shape[0] == X.shape[1]:
            warn(
                "SpectralClustering: The spectral clustering API has changed. ``fit`` now constructs an affinity matrix "
                "from data, and X is square. To use a custom affinity matrix, set ``affinity=precomputed``."
            )
        if name == "precomputed":
            return check_symmetric(X)
        if name in _GRAPHS:
            graph = self._neighbor_graph(X, params, name)
            return sp.csr_array((0.5 * (graph + graph.T)).astype(X.dtype))
        if params.kernel_params is not None and not callable(params.affinity):
            raise ValueError(
                f"SpectralClustering: kernel_params={params.kernel_params!r} is not valid with "
                f"affinity={params.affinity!r}; it must be "
                "None, since its arguments are those of a function."
            )
        own = {"gamma": params.gamma, "degree": params.degree, "coef0": params.coef0}
        kernel = as_kernel(params.affinity, by="rows", params=params.kernel_params, **own)
        rows = X if sp.issparse(X) else np.ascontiguousarray(X)
        return gram(self, kernel.resolved(rows), rows)

    def _neighbor_graph(self, X: Any, params: SimpleNamespace, name: str) -> Any:
        k = min(params.n_neighbors, X.shape[0]) if name == "nearest_neighbors" else params.n_neighbors
        if name == "nearest_neighbors":
            return kneighbors_graph(X, k, include_self=True, n_jobs=params.n_jobs)
        search = NearestNeighbors(n_neighbors=k, metric="precomputed", n_jobs=params.n_jobs).fit(X)
        return search.kneighbors_graph(X, mode="connectivity")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_given = isinstance(self.affinity, str) and self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        tags.input_tags.pairwise = is_given
        return tags


def spectral_clustering(
    affinity: Any,
    *,
    n_clusters: int = 8,
    n_components: int | None = None,
    eigen_solver: str | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_init: int = 10,
    eigen_tol: float | str = "auto",
    assign_labels: str = "kmeans",
    verbose: int = False,
) -> npt.NDArray[np.int32]:
    """`SpectralClustering` of given affinities as a function.

    Parameters
    ----------
    affinity : {array-like, sparse matrix} of shape (n_samples, n_samples)
        The affinities, symmetric.
    n_clusters, n_components, eigen_solver, random_state, n_init, eigen_tol, assign_labels, verbose
        As in `SpectralClustering`.

    Returns
    -------
    labels : int array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import spectral_clustering
    >>> affinity = np.kron(np.eye(2), np.ones((2, 2))) + 0.01
    >>> labels = spectral_clustering(affinity, n_clusters=2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    model = SpectralClustering(
        n_clusters,
        n_components=n_components,
        eigen_solver=eigen_solver,
        random_state=random_state,
        n_init=n_init,
        affinity="precomputed",
        eigen_tol=eigen_tol,
        assign_labels=assign_labels,
        verbose=verbose,
    ).fit(affinity)
    labels: npt.NDArray[np.int32] = model.labels_
    return labels


def _spectrum(affinity: Any, params: SimpleNamespace, random: np.random.RandomState) -> GraphSpectrum:
    n_vectors = params.n_clusters if params.n_components is None else params.n_components
    tol = None if params.eigen_tol == "auto" else params.eigen_tol
    found = graph_spectrum(affinity, n_vectors, solver=params.eigen_solver, tol=tol, random=random)
    if found.components.max() > 0:
        warn(
            "SpectralClustering: Graph is not fully connected, spectral embedding may not work as expected: it has "
            f"{found.components.max() + 1} components. Raise n_neighbors or widen the kernel."
        )
    return found


def _embedding(found: GraphSpectrum) -> FloatArray:
    """U = D^-1/2 V, each column with its entry of largest magnitude above zero."""
    columns = found.vectors / found.roots[:, None]
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None], axis=0)
    return columns * np.where(largest < 0, -1.0, 1.0)


def _assigned(embedding: FloatArray, params: SimpleNamespace, random: np.random.RandomState) -> npt.NDArray[Any]:
    if params.assign_labels == "cluster_qr":
        return cluster_qr(embedding)
    if params.assign_labels == "discretize":
        return discretize(embedding, random)
    model = KMeans(params.n_clusters, n_init=params.n_init, random_state=random)
    return np.asarray(model.fit(embedding).labels_)


def _outcome(found: GraphSpectrum, params: SimpleNamespace) -> Outcome:
    tol = params.eigen_tol if params.eigen_tol != "auto" else 0.0
    # A residual is computed from numbers that are rounded to their type.
    tol = max(tol, 1e-7)
    status = Status.INEXACT.given(is_reached=found.residual <= tol)
    certificate = Certificate(
        found.method, status, float(found.values.sum()), "residual of the eigen equation", found.residual, tol
    )
    warning = None
    if not certificate.converged:
        warning = (
            f"the eigenvectors have a residual of {found.residual:.3g} > {tol:.3g}. Set eigen_solver='arpack', or lower "
            "eigen_tol."
        )
    return Outcome(certificate, warning=warning)
