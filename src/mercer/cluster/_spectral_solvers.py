"""Eigenvectors of a graph: of D^-1/2 W D^-1/2 for its largest eigenvalues, the smallest ones of the normalised Laplacian.

Of a graph with c components, c of them are known: the square roots of the degrees within each. They are taken out of the matrix
before the others are looked for, so that no solver has to tell equal eigenvalues apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg, splu

from mercer._arrays import FloatArray

_FEW_NODES = 400  # whose matrix is decomposed as a whole
_SHIFT = 1e-5  # of inverses: the Laplacian itself is singular
_MOST_RESTARTS = 30  # restarts of Lanczos's method before the matrix is inverted instead


class GraphSpectrum(NamedTuple):
    """Eigenvalues of the normalised Laplacian, ascending, with their eigenvectors as columns."""

    values: FloatArray
    vectors: FloatArray
    roots: FloatArray  # of the degrees; one for nodes without edges
    components: npt.NDArray[np.int32]  # of each node
    residual: float  # largest |L v - lambda v|
    method: str


class NormalizedGraph:
    """S = D^-1/2 W D^-1/2 without the diagonal of W, never formed for dense W: products are scaled before and after."""

    def __init__(self, affinity: Any) -> None:
        self.affinity = affinity
        self.n_nodes = affinity.shape[0]
        diagonal = np.asarray(affinity.diagonal(), dtype=np.float64)
        degrees = np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel() - diagonal
        # A sum whose terms cancel to nothing but rounding is nothing.
        degrees[np.abs(degrees) <= 1e-14 * np.abs(diagonal)] = 0
        if (degrees < 0).any():
            row = int(np.argmin(degrees))
            raise ValueError(
                f"the affinities of row {row} to the others sum to {degrees[row]:.3g}; they must not be negative. Use "
                "another affinity, such as 'rbf' or 'nearest_neighbors'."
            )
        self.roots = np.where(degrees > 0, np.sqrt(degrees), 1.0)
        self._diagonal = diagonal / self.roots**2

    def times(self, block: FloatArray) -> FloatArray:
        scaled = block / (self.roots if block.ndim == 1 else self.roots[:, None])
        product = np.asarray(self.affinity @ scaled)
        if block.ndim == 1:
            return np.asarray(product / self.roots - self._diagonal * block)
        return np.asarray(product / self.roots[:, None] - self._diagonal[:, None] * block)

    def matrix(self) -> Any:
        """S itself."""
        if sp.issparse(self.affinity):
            scale = sp.diags_array(1 / self.roots)
            scaled = sp.csr_array(scale @ self.affinity @ scale, dtype=np.float64)
            return scaled - sp.diags_array(self._diagonal)
        scaled = self.affinity / self.roots[:, None]
        scaled /= self.roots
        np.fill_diagonal(scaled, 0)
        return scaled

    def components(self) -> npt.NDArray[np.int32]:
        if sp.issparse(self.affinity):
            return np.asarray(connected_components(self.affinity, directed=False)[1], dtype=np.int32)
        found = np.full(self.n_nodes, -1, dtype=np.int32)
        number = 0
        while (rest := np.flatnonzero(found < 0)).size:
            frontier = rest[:1]
            while frontier.size:  # each line of the matrix is read once
                found[frontier] = number
                is_reached = np.zeros(self.n_nodes, dtype=bool)
                for block in np.array_split(frontier, max(1, frontier.size // 64)):
                    is_reached |= (self.affinity[block] != 0).any(axis=0)
                    if (is_reached | (found >= 0)).all():
                        break
                frontier = np.flatnonzero(is_reached & (found < 0))
            number += 1
        return found


def graph_spectrum(
    affinity: Any, n_vectors: int, *, solver: str | None, tol: float | None, random: np.random.RandomState
) -> GraphSpectrum:
    """The `n_vectors` smallest eigenvalues of the normalised Laplacian of a graph with symmetric affinities."""
    graph = NormalizedGraph(affinity)
    start = random.uniform(-1, 1, graph.n_nodes)  # drawn first, as by the peer
    components = graph.components()
    known = _known_vectors(graph, components, n_vectors)
    n_wanted = min(n_vectors, graph.n_nodes) - known.shape[1]
    if n_wanted <= 0:
        method, vectors = "components of the graph", known
    else:
        method, others = _others(graph, known, n_wanted, start, solver, tol, random)
        vectors = np.column_stack([known, others])
    images = graph.times(vectors)
    values = np.einsum("ij,ij->j", vectors, images)
    residual = float(np.linalg.norm(images - vectors * values, axis=0).max())
    order = np.argsort(-values, kind="stable")
    return GraphSpectrum(1 - values[order], vectors[:, order], graph.roots, components, residual, method)


def _known_vectors(graph: NormalizedGraph, components: npt.NDArray[np.int32], n_vectors: int) -> FloatArray:
    """The eigenvectors of the eigenvalue 0 of the Laplacian: one a component, the largest components first."""
    sizes = np.bincount(components)
    chosen = np.argsort(-sizes, kind="stable")[:n_vectors]
    vectors = np.zeros((graph.n_nodes, len(chosen)))
    for column, component in enumerate(chosen):
        members = components == component
        vectors[members, column] = graph.roots[members]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=0))


def _others(
    graph: NormalizedGraph,
    known: FloatArray,
    n_wanted: int,
    start: FloatArray,
    solver: str | None,
    tol: float | None,
    random: np.random.RandomState,
) -> tuple[str, FloatArray]:
    """Eigenvectors orthogonal to the known ones, and how they were found."""
    if graph.n_nodes <= _FEW_NODES or 4 * n_wanted >= graph.n_nodes:
        return "LAPACK", _by_decomposition(graph, known, n_wanted)
    if solver == "lobpcg":
        return "LOBPCG", _by_lobpcg(graph, known, n_wanted, tol, random)
    if tol is None:
        tol = 1e-9
    if not sp.issparse(graph.affinity):
        try:
            return "Lanczos", _by_lanczos(graph, known, n_wanted, start, tol)
        except ArpackError:  # eigenvalues too near to one another
            pass
    return "Lanczos, shifted and inverted", _by_inverse(graph, known, n_wanted, start, tol)


def _without(known: FloatArray, block: FloatArray) -> FloatArray:
    """The part orthogonal to the known vectors."""
    return np.asarray(block - known @ (known.T @ block))


def _by_decomposition(graph: NormalizedGraph, known: FloatArray, n_wanted: int) -> FloatArray:
    matrix = graph.matrix()
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    dense = (dense + dense.T) / 2 - 3 * known @ known.T  # eigenvalues are from -1 to 1
    n = graph.n_nodes
    vectors = scipy.linalg.eigh(dense, subset_by_index=(n - n_wanted, n - 1), check_finite=False)[1]
    return np.asarray(vectors[:, ::-1])


def _by_lanczos(graph: NormalizedGraph, known: FloatArray, n_wanted: int, start: FloatArray, tol: float) -> FloatArray:
    operator = LinearOperator(
        (graph.n_nodes, graph.n_nodes),
        dtype=np.float64,
        matvec=lambda x: _without(known, graph.times(_without(known, x.ravel()))),
    )
    n_basis = min(graph.n_nodes, max(2 * n_wanted + 1, 20) + 20)
    vectors = eigsh(operator, k=n_wanted, which="LA", v0=_without(known, start), tol=tol, ncv=n_basis, maxiter=_MOST_RESTARTS)[
        1
    ]
    return np.asarray(vectors[:, ::-1])


def _by_inverse(graph: NormalizedGraph, known: FloatArray, n_wanted: int, start: FloatArray, tol: float) -> FloatArray:
    """Of (1 + shift) I - S, which is positive definite, the inverse has the wanted eigenvalues far from all others."""
    n = graph.n_nodes
    matrix = graph.matrix()
    if sp.issparse(matrix):
        shifted = sp.csc_array((1 + _SHIFT) * sp.eye_array(n) - matrix)
        solve = splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0.0).solve
    else:
        np.negative(matrix, out=matrix)
        matrix.flat[:: n + 1] += 1 + _SHIFT
        factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(x: FloatArray) -> FloatArray:
            return np.asarray(scipy.linalg.cho_solve(factor, x, check_finite=False))

    operator = LinearOperator((n, n), dtype=np.float64, matvec=lambda x: _without(known, solve(_without(known, x.ravel()))))
    vectors = eigsh(operator, k=n_wanted, which="LA", v0=_without(known, start), tol=tol)[1]
    return np.asarray(vectors[:, ::-1])


def _by_lobpcg(
    graph: NormalizedGraph, known: FloatArray, n_wanted: int, tol: float | None, random: np.random.RandomState
) -> FloatArray:
    operator = LinearOperator(
        (graph.n_nodes, graph.n_nodes), dtype=np.float64, matvec=lambda x: graph.times(x.ravel()), matmat=graph.times
    )
    block = random.standard_normal((graph.n_nodes, n_wanted + 1))  # one more, which speeds up the others
    values, vectors = lobpcg(operator, block, Y=known, tol=1e-7 if tol is None else tol, largest=True, maxiter=2000)
    return np.asarray(vectors[:, np.argsort(-values)[:n_wanted]])
