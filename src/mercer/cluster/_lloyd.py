"""The k-means problem in the form the kernels take, seeding, and Lloyd's iterations as a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from mercer._arrays import FloatArray, require_finite, require_no_overflow
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._statistics import ColumnMoments, GroupSums
from mercer._trace import Record

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Problem:
    """Rows to cluster. Dense rows are seen shifted by `shift`, near their mean, and so are all centres in here."""

    X: Any
    rows: Any
    weights: FloatArray | None
    shift: FloatArray
    total: float  # weighted sum of the squared norms of the shifted rows
    mean_variance: float

    @classmethod
    def of(cls, estimator: Any, X: Any, weights: FloatArray | None, n_threads: int) -> Problem:
        n, d = X.shape
        if sp.issparse(X):
            require_finite(estimator, X)
            mean, variance = (part.astype(np.float64) for part in mean_variance_axis(X, axis=0, weights=weights))
            total_weight = float(n if weights is None else weights.sum(dtype=np.float64))
            shift = np.zeros(d, dtype=X.dtype)
            total = float(total_weight * (variance + mean**2).sum())
        else:
            weight, mean, deviation = ColumnMoments.of(X, weights, n_threads=n_threads)
            # The moments leave NaN out: it shows in the weight, except in a row whose weight is zero.
            if weights is not None or (weight < n).any():
                require_finite(estimator, X)
            shift = mean.astype(X.dtype)
            with np.errstate(over="ignore", invalid="ignore"):
                variance = deviation / weight
                total = float((deviation + weight * (mean - shift) ** 2).sum())
        # NaN fails the comparison too.
        if not total < _largest_square(X.dtype):
            refuse_if_overflowing(estimator, X, shift)
        return cls(X, native_rows(X, shift), weights, shift, total, float(variance.mean()))

    def part(self, indices: npt.NDArray[np.int64]) -> Problem:
        """Some rows, with their repetitions, as a problem that is shifted as this one is."""
        X, weights = self.X[indices], None if self.weights is None else self.weights[indices]
        if sp.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        else:
            difference = X - self.shift
            squares = np.einsum("ij,ij->i", difference, difference, dtype=np.float64)
        total = float(squares.sum() if weights is None else squares @ weights.astype(np.float64))
        return Problem(X, native_rows(X, self.shift), weights, self.shift, total, self.mean_variance)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def to_shifted(self, centres: FloatArray) -> FloatArray:
        return np.ascontiguousarray(centres - self.shift, dtype=self.X.dtype)

    def from_shifted(self, centres: FloatArray) -> FloatArray:
        return centres + self.shift

    def pick(self, indices: npt.NDArray[np.int64]) -> FloatArray:
        """Some rows, dense and unshifted."""
        picked = self.X[indices]
        return picked.toarray() if sp.issparse(picked) else np.array(picked, order="C")


def _largest_square(dtype: npt.DTypeLike) -> float:
    """The most that a sum of squares may be: the margin leaves room for a square of a sum in that type."""
    return float(np.finfo(dtype).max) / 64


def refuse_if_overflowing(estimator: Any, X: Any, shift: FloatArray) -> None:
    values = X.data if sp.issparse(X) else X
    largest = float(np.abs(values).max(initial=0)) + float(np.abs(shift).max())
    if not largest * largest * X.shape[1] < _largest_square(X.dtype):  # a power of a float would raise OverflowError
        require_no_overflow(estimator, X, "squared distances between its rows")


def check_enough_rows(n_rows: int, n_clusters: int) -> None:
    if n_rows < n_clusters:
        raise ValueError(f"n_samples={n_rows} should be >= n_clusters={n_clusters}.")


def n_trials_for(n_clusters: int) -> int:
    """How many candidates greedy k-means++ tries for each centre, as the peer does."""
    return 2 + int(np.log(n_clusters))


def seed_plusplus(
    problem: Problem, n_clusters: int, random: np.random.RandomState, n_threads: int, n_trials: int | None = None
) -> npt.NDArray[np.int64]:
    """Row numbers of the centres that greedy k-means++ chooses, from the same draws as the peer's."""
    n = problem.X.shape[0]
    if problem.weights is None:
        first = min(int(random.random_sample() * n), n - 1)
    else:
        share = problem.weights.astype(np.float64)
        first = int(random.choice(n, p=share / share.sum()))
    uniforms = random.uniform(size=(n_clusters - 1, n_trials or n_trials_for(n_clusters)))
    chosen = np.empty(n_clusters, dtype=np.int64)
    kernels.kmeans_plusplus(problem.rows, problem.weights, first, uniforms, chosen, n_threads)
    return chosen


class Lloyd:
    """Lloyd's iterations from given (shifted) centres.

    A step assigns every row to its nearest centre and moves the centres to the means. It is done when no label changes or
    when the squared shift of the centres is at most `tol`. Bounds on the distances are kept while they save work.
    """

    def __init__(self, problem: Problem, centres: FloatArray, *, tol: float, always_bounded: bool, n_threads: int) -> None:
        n, (k, d) = problem.X.shape[0], centres.shape
        self._problem, self._tol, self._n_threads = problem, tol, n_threads
        self.centres, self._next_centres = centres, np.empty_like(centres)
        self.labels: Labels = np.full(n, -1, dtype=np.int32)
        self._sums = GroupSums.zeros(k, d)  # of the rows of each label
        self._moves: FloatArray = np.zeros(k)
        self._bounds = _BoundsPolicy(n, d, k, always_bounded)
        self.shift = np.inf
        self.n_changed = n

    def _assign(self) -> tuple[float, int]:
        upper, lower, moves = self._bounds.arguments(self._moves, self.n_changed)
        inertia, self.n_changed, n_scanned = kernels.lloyd_step(
            self._problem.rows,
            self._problem.weights,
            self.centres,
            self._problem.total,
            upper,
            lower,
            moves,
            self.labels,
            *self._sums,
            self._n_threads,
        )
        self._bounds.learn(n_scanned, self.n_changed)
        return inertia, n_scanned

    def step(self) -> Record:
        inertia, n_scanned = self._assign()
        kernels.update_centres(
            self._problem.rows,
            self._problem.weights,
            self.centres,
            self.labels,
            *self._sums,
            self._next_centres,
            self._moves,
            self._n_threads,
        )
        self.centres, self._next_centres = self._next_centres, self.centres
        self.shift = float(self._moves @ self._moves)
        return {"inertia": inertia, "shift": self.shift, "n_changed": self.n_changed, "n_scanned": n_scanned}

    @property
    def is_done(self) -> bool:
        return self.n_changed == 0 or self.shift <= self._tol

    def result(self) -> tuple[FloatArray, Labels, float]:
        """Centres, the labels that belong to them, and the inertia from the differences. The iterations may go on after it."""
        labels = self.labels
        if self.n_changed > 0:
            labels = np.empty_like(labels)
            kernels.nearest_centres(self._problem.rows, self.centres, labels, self._n_threads)
        inertia = kernels.inertia(self._problem.rows, self._problem.weights, self.centres, labels, self._n_threads)
        return self._problem.from_shifted(self.centres), labels, inertia


class _BoundsPolicy:
    """Decides when bounds on the distances are worth keeping, and keeps them.

    A full scan is fast; bounds pay when a row costs much (many features, many centres) and when few rows still change, so
    that the centres hardly move. Where they turn out to prove too little, they are dropped until far fewer rows change. A row
    that they let through is measured by itself and again with others against all centres: with few centres that costs much
    more than its share of a full scan.
    """

    _COST_OF_MEASURING = 40  # of such a row, in distances of a full scan; timed with 8 to 50 centres in 60 columns

    def __init__(self, n_rows: int, n_features: int, n_centres: int, always: bool) -> None:
        self._n_rows, self._always = n_rows, always
        self._most_scanned = n_rows * min(0.5, n_centres / (n_centres + self._COST_OF_MEASURING))
        pays = n_features >= 8 and n_features * n_centres >= 256
        self._begin_below = n_rows + 1 if always else n_rows // 64 if pays else 0
        self._arrays: tuple[FloatArray, FloatArray] | None = None
        self._are_filled = False

    def arguments(self, moves: FloatArray, n_changed: int) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
        """Upper bounds, lower bounds, and the moves of the centres since they were true (None: fill them anew)."""
        if self._arrays is None:
            if n_changed >= self._begin_below:
                return None, None, None
            self._arrays = np.empty(self._n_rows, dtype=np.float32), np.empty(self._n_rows, dtype=np.float32)
            self._are_filled = False
        return *self._arrays, moves if self._are_filled else None

    def learn(self, n_scanned: int, n_changed: int) -> None:
        if self._arrays is None:
            return
        if self._are_filled and not self._always and n_scanned > self._most_scanned:
            self._arrays = None
            self._begin_below = n_changed // 4
        self._are_filled = True
