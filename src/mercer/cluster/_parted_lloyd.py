"""k-means on rows in parts: k-means|| for a start, and Lloyd's iterations whose sums add up. No vector of labels is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from mercer._arrays import FloatArray, require_finite, require_no_overflow
from mercer._base import FitTask, run_solver
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.merging import Sums
from mercer._parts.passes import Parted, PartNumber, each, total
from mercer._random import as_random_state
from mercer._statistics import ColumnMoments, GroupSums
from mercer._trace import Certificate, Outcome, Record

ROUNDS = 5  # of k-means||: each draws about as many rows as there are clusters, times
OVERSAMPLING = 2.0


class PartedProblem:
    """Rows in parts, seen shifted by their mean."""

    def __init__(self, estimator: Any, X: Parted, weights: Parted | None) -> None:
        self.X, self.weights = X, weights
        moments = ColumnMoments.of(X, weights, n_threads=effective_threads(None))
        self.n_rows = X.n_rows
        if weights is not None or (moments.weight < self.n_rows).any():
            require_finite(estimator, X)
        dtype = np.dtype(X.dtype)
        self.shift = moments.mean.astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean_variance = float((moments.deviation / moments.weight).mean())
            self.total = float((moments.deviation + moments.weight * (moments.mean - self.shift) ** 2).sum())
        if not self.total < float(np.finfo(dtype).max) / 64:
            require_no_overflow(estimator, X, "squared distances between its rows")


class _Farthest(NamedTuple):
    """Some rows (shifted) that are farthest from their centres, the farthest first."""

    distances: FloatArray
    rows: FloatArray

    def merge(self, *others: _Farthest) -> _Farthest:
        distances = np.concatenate([self.distances, *(other.distances for other in others)])
        rows = np.concatenate([self.rows, *(other.rows for other in others)])
        order = np.argsort(-distances, kind="stable")[: len(self.distances)]
        return _Farthest(distances[order], rows[order])


class PartedLloyd:
    """Lloyd's iterations: a step is one pass, of which sums of the clusters and the inertia come back."""

    def __init__(self, problem: PartedProblem, centres: FloatArray, *, tol: float) -> None:
        self._problem, self._tol, self.centres = problem, tol, centres
        self.shift, self.weights = np.inf, np.zeros(len(centres))

    @property
    def is_done(self) -> bool:
        return self.shift <= self._tol

    def step(self) -> Record:
        problem = self._problem
        sums, part = self._assigned()
        weights = sums.weights[:, None]
        centres = np.divide(sums.sums, weights, out=self.centres.astype(np.float64), where=weights > 0)
        if empty := np.flatnonzero(sums.weights == 0).tolist():
            found = total(_farthest, problem.X, problem.weights, problem.shift, self.centres, len(empty))
            centres[empty[: len(found.rows)]] = found.rows
        moved = centres.astype(self.centres.dtype)
        self.shift = float(((moved - self.centres).astype(np.float64) ** 2).sum())
        self.centres, self.weights = moved, sums.weights
        return {"inertia": problem.total + part, "shift": self.shift}

    def _assigned(self) -> tuple[GroupSums, float]:
        problem = self._problem
        values = total(_assign, problem.X, problem.weights, problem.shift, self.centres).values
        return GroupSums(*values[:3]), float(values[3])

    def inertia(self) -> float:
        """From the differences, at the centres that were reached; and the weights of the clusters there."""
        problem = self._problem
        inertia, self.weights = total(_inertia, problem.X, problem.weights, problem.shift, self.centres).values
        return float(inertia)


def _labelled(X: FloatArray, shift: FloatArray, centres: FloatArray) -> tuple[Any, Any]:
    rows, labels = native_rows(X, shift), np.empty(len(X), dtype=np.int32)
    kernels.nearest_centres(rows, centres, labels, effective_threads(None))
    return rows, labels


def _in_type_of(X: FloatArray, weights: FloatArray | None) -> FloatArray | None:
    return None if weights is None else weights.astype(X.dtype)


def _assign(X: FloatArray, weights: FloatArray | None, shift: FloatArray, centres: FloatArray) -> Sums:
    """Sums, weights and members of the clusters, and the inertia less the sum of the squared norms of the rows."""
    labels, sums = np.full(len(X), -1, dtype=np.int32), GroupSums.zeros(*centres.shape)
    rows, n_threads = native_rows(X, shift), effective_threads(None)
    inertia, *_ = kernels.lloyd_step(rows, _in_type_of(X, weights), centres, 0.0, None, None, None, labels, *sums, n_threads)
    return Sums((*sums, inertia))


def _inertia(X: FloatArray, weights: FloatArray | None, shift: FloatArray, centres: FloatArray) -> Sums:
    rows, labels = _labelled(X, shift, centres)
    inertia = kernels.inertia(rows, _in_type_of(X, weights), centres, labels, effective_threads(None))
    return Sums((inertia, np.bincount(labels, weights=weights, minlength=len(centres)).astype(np.float64)))


def _squared_distances(X: FloatArray, shift: FloatArray, centres: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shifted rows, and the squared distance of each to its nearest centre, in double precision."""
    _, labels = _labelled(X, shift, centres)
    rows = X - shift
    difference = rows - centres[labels]
    return rows, np.einsum("ij,ij->i", difference, difference, dtype=np.float64)


def _farthest(X: FloatArray, weights: FloatArray | None, shift: FloatArray, centres: FloatArray, count: int) -> _Farthest:
    rows, distances = _squared_distances(X, shift, centres)
    if weights is not None:
        distances = np.where(weights > 0, distances, -1.0)
    order = np.argsort(-distances, kind="stable")[:count]
    lacking = count - len(order)
    found = np.concatenate([rows[order].astype(np.float64), np.tile(rows[:1].astype(np.float64), (lacking, 1))])
    return _Farthest(np.append(distances[order], np.full(lacking, -1.0)), found)


# ---- k-means|| (Bahmani et al., 2012)


def scalable_start(problem: PartedProblem, n_clusters: int, seed: int) -> FloatArray:
    """Shifted centres: rows drawn in rounds by their squared distance to those drawn before, then clustered by their weight."""
    from mercer.cluster._kmeans import KMeans

    X, weights, shift = problem.X, problem.weights, problem.shift
    first = list(each(_draw_first, X, weights, shift, seed, PartNumber()))
    shares = np.array([share for share, _ in first])
    random = np.random.RandomState(seed)
    candidates = first[int(random.choice(len(first), p=shares / shares.sum()))][1][None, :]
    for number in range(ROUNDS):
        cost = total(_cost, X, weights, shift, candidates).values[0]
        if not cost > 0:
            break
        rate = OVERSAMPLING * n_clusters / cost
        drawn = list(each(_draw, X, weights, shift, candidates, rate, seed, number + 1, PartNumber()))
        candidates = np.concatenate([candidates, *drawn])
    if len(candidates) < n_clusters:  # few distinct rows: those that there are, repeated
        return np.resize(candidates, (n_clusters, candidates.shape[1]))
    sizes = total(_inertia, X, weights, shift, candidates).values[1]
    model = KMeans(n_clusters, random_state=random.randint(2**31), n_init=1)
    model.fit(candidates, sample_weight=np.maximum(sizes, np.finfo(np.float32).tiny))
    centres: FloatArray = np.ascontiguousarray(model.cluster_centers_, dtype=shift.dtype)
    return centres


def _random_of(*key: int) -> np.random.Generator:
    """By the seed, the round and the number of the part: draws depend neither on who makes them nor on when."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))


def _draw_first(X: FloatArray, weights: FloatArray | None, shift: FloatArray, seed: int, part: int) -> tuple[float, FloatArray]:
    """The weight of a part, and one of its rows."""
    share = np.ones(len(X)) if weights is None else weights
    row = _random_of(seed, part).choice(len(X), p=share / share.sum()) if share.any() else 0
    return float(share.sum()), X[row] - shift


def _cost(X: FloatArray, weights: FloatArray | None, shift: FloatArray, centres: FloatArray) -> Sums:
    _, distances = _squared_distances(X, shift, centres)
    return Sums((float(distances.sum() if weights is None else distances @ weights),))


def _draw(
    X: FloatArray, weights: FloatArray | None, shift: FloatArray, centres: FloatArray, rate: float, *key: int
) -> FloatArray:
    """The rows of a part that chance takes, each by its squared distance to the centres so far."""
    rows, distances = _squared_distances(X, shift, centres)
    chance = rate * (distances if weights is None else distances * weights)
    drawn: FloatArray = rows[_random_of(*key).random(len(X)) < chance]
    return drawn


def fit_parts(estimator: Any, X: Any, weights: Any, params: SimpleNamespace) -> tuple[FitTask, dict[str, Any], Outcome]:
    """Run Lloyd's iterations from given centres or from those of k-means||: what ends the fit."""
    problem = PartedProblem(estimator, X, weights)
    if problem.n_rows < params.n_clusters:
        raise ValueError(f"n_samples={problem.n_rows} should be >= n_clusters={params.n_clusters}.")
    start = _start(problem, params)
    tol = params.tol * problem.mean_variance
    solver = PartedLloyd(problem, start, tol=tol)
    task = FitTask.start(estimator, X, n_subtasks=params.max_iter)

    def fitted() -> dict[str, Any]:
        return {"cluster_centers_": solver.centres + problem.shift}

    status, history = run_solver(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
    inertia = solver.inertia()
    method = "Lloyd's iterations on rows in parts, a local minimum"
    status = status.given(is_reached=solver.shift <= tol)
    certificate = Certificate(method, status, inertia, "squared shift of the centres", solver.shift, tol)
    n_found = int(np.count_nonzero(solver.weights))
    warning = None
    if n_found < params.n_clusters:
        warning = f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({params.n_clusters}). Ask for fewer."
    return task, {**fitted(), "inertia_": inertia}, Outcome(certificate, history, warning)


def _start(problem: PartedProblem, params: SimpleNamespace) -> FloatArray:
    if isinstance(params.init, str) and params.init == "k-means++":
        return scalable_start(problem, params.n_clusters, int(as_random_state(params.random_state).randint(2**31)))
    if isinstance(params.init, str) or callable(params.init):
        raise TypeError(f"KMeans: init={params.init!r} is not there for X in parts; it must be 'k-means++' or centres.")
    centres = np.asarray(params.init, dtype=problem.shift.dtype)
    wanted = (params.n_clusters, len(problem.shift))
    if centres.shape != wanted:
        raise ValueError(f"KMeans: init holds centres of shape {centres.shape}; it must be {wanted}.")
    return np.ascontiguousarray(centres - problem.shift)
