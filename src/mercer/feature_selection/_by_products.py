r"""Scores of least squares and ridge regression on sets of columns, from products alone.

For the Gram matrix A of the training rows of a fold, centred, with the penalty on its diagonal, and that of the held-out rows
about the same means, M, both with y as the last column: sweeping A by the columns of a set S leaves the coefficients of S in
the column of y, and what each other column is without its regression on S. The same elimination of M, rows and columns alike,
keeps in it the products of the held-out residuals. With t = A_ky / A_kk, the held-out sum of squares after column k goes in,
or out, is

    M_yy - 2 t M_ky + t^2 M_kk.

A step costs O(d^2) a fold, and no row is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._statistics import Products
from mercer.feature_selection._by_fits import ByFits, Split
from mercer.feature_selection._walks import Features, Mask
from mercer.linear_model import LinearRegression, Ridge

LEAST_PIVOT = 1e-6  # of a column of unit norm: what is left of it without its regression on the others, or it is fitted plainly
MOST_SWEEPS = 32  # after which the matrices are swept afresh, so that rounding does not add up
MOST_BYTES = 2**30
MOST_PARTS = 64
SCORINGS = (None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error")


class Swept:
    """The matrices of all folds, swept by the columns of a set."""

    def __init__(self, train: FloatArray, test: FloatArray, n_features: int) -> None:
        self.train, self.test = train.copy(), test.copy()
        self.support: Mask = np.zeros(n_features, dtype=bool)
        self.n_sweeps = 0

    def distance(self, support: Mask) -> int:
        return int((self.support != support).sum())

    def moves_to(self, support: Mask) -> bool:
        """Sweep in and out what differs; False where some column is as good as dependent on the others."""
        for feature in np.flatnonzero(self.support & ~support).tolist():
            self._sweep(feature)
        for feature in np.flatnonzero(support & ~self.support).tolist():
            if not self.is_free(feature):
                return False
            self._sweep(feature)
        return True

    def is_free(self, features: Any) -> Any:
        """Whether columns may be swept: those of the set may always leave it."""
        pivots = self.train[:, features, features].min(axis=0)
        return self.support[features] | (pivots > LEAST_PIVOT)

    def squares_after(self, features: Features) -> FloatArray:
        """The held-out sums of squares (features x folds) after each single change."""
        t = self.train[:, features, -1] / self.train[:, features, features]
        crossed, own = self.test[:, features, -1], self.test[:, features, features]
        squares: FloatArray = (self.test[:, -1, -1, None] + t * (t * own - 2 * crossed)).T
        return squares

    def _sweep(self, k: int) -> None:
        A, M = self.train, self.test
        sign = -1.0 if self.support[k] else 1.0
        pivot = A[:, k, k].copy()
        t = A[:, k] / pivot[:, None]
        t[:, k] = 0
        A -= A[:, :, k, None] * t[:, None, :]
        A[:, k] = A[:, :, k] = sign * t
        A[:, k, k] = -1 / pivot
        line, own = M[:, k].copy(), M[:, k, k].copy()
        half = line - own[:, None] * t / 2
        M -= t[:, :, None] * half[:, None, :] + half[:, :, None] * t[:, None, :]
        line -= t * own[:, None]
        line[:, k] = own
        M[:, k] = M[:, :, k] = sign * line / pivot[:, None]
        M[:, k, k] = own / pivot**2
        self.support[k] = ~self.support[k]
        self.n_sweeps += 1


class ByProducts:
    """Changes of a set are read off swept matrices; columns that are as good as dependent on the set are fitted plainly."""

    def __init__(self, plain: ByFits, train: FloatArray, test: FloatArray, scales: FloatArray, scoring: str | None) -> None:
        self._plain, self._train, self._test, self._scales, self._scoring = plain, train, test, scales, scoring
        y = np.asarray(plain.y, dtype=np.float64)
        self._n_test = np.array([len(rows) for _, rows in plain.splits])
        self._totals = np.array([((y[rows] - y[rows].mean()) ** 2).sum() for _, rows in plain.splits])
        self._states: list[Swept] = []  # two: a walk may go from both ends

    @classmethod
    def of(cls, plain: ByFits, scoring: Any) -> ByProducts | None:
        """For least squares and ridge regression on dense rows, scored by squares; None otherwise."""
        estimator, X = plain.estimator, plain.X
        alpha = _penalty(estimator)
        if alpha is None or not isinstance(X, np.ndarray) or not _is_scoring(scoring) or plain.metadata:
            return None
        y = _targets(plain.y, len(X))
        size = X.shape[1] + 1
        if y is None or 2 * len(plain.splits) * 8 * size**2 > MOST_BYTES:
            return None
        least = 2 if scoring in (None, "r2") else 1
        if any(len(test) < least or len(train) < 2 for train, test in plain.splits):
            return None
        with np.errstate(over="ignore", invalid="ignore"):  # products that overflow are left to the estimator's own error
            train, test, scales = _matrices(X, y, plain.splits, alpha, is_centred=estimator.fit_intercept)
        made = cls(plain, train, test, scales, scoring)
        if scoring in (None, "r2") and (made._totals <= 0).any():
            return None
        return made if np.isfinite(train).all() and np.isfinite(test).all() else None

    def changed(self, base: Mask, features: Features) -> FloatArray:
        state = self._state(base)
        if state is None:
            return self._plain.changed(base, features)
        is_free = state.is_free(features)
        scores = np.empty((len(features), len(self._n_test)))
        scores[is_free] = self._scored(state.squares_after(features[is_free]))
        if not is_free.all():
            scores[~is_free] = self._plain.changed(base, features[~is_free])
        return scores

    def _scored(self, squares: FloatArray) -> FloatArray:
        squares = np.maximum(squares, 0) * self._scales
        errors: FloatArray = squares / self._n_test
        if self._scoring in (None, "r2"):
            shares: FloatArray = 1 - errors * (self._n_test / self._totals)
            return shares
        return -np.sqrt(errors) if self._scoring == "neg_root_mean_squared_error" else -errors

    def _state(self, base: Mask) -> Swept | None:
        """The matrices swept by a set, from the nearest set at hand; None where its columns are as good as dependent."""
        near = min(self._states, key=lambda state: state.distance(base), default=None)
        if near is None or near.distance(base) >= int(base.sum()) or near.n_sweeps + near.distance(base) > MOST_SWEEPS:
            fresh = Swept(self._train, self._test, len(base))
            self._states = [*(state for state in self._states if state is not near), fresh][-2:]
            near = fresh
            if not near.moves_to(base):
                self._states.remove(near)
                return None
            near.n_sweeps = 0
            return near
        if not near.moves_to(base):
            self._states.remove(near)
            return None
        return near


def _penalty(estimator: Any) -> float | None:
    """The strength of the l2 penalty; None where the fit is no solution of the penalised normal equations."""
    if type(estimator) is LinearRegression:
        return None if estimator.positive else 0.0
    if type(estimator) is Ridge and not estimator.positive and estimator.solver in ("auto", "svd", "cholesky"):
        alpha = estimator.alpha
        is_number = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
        return float(alpha) if is_number and np.isfinite(alpha) and alpha >= 0 else None
    return None


def _is_scoring(scoring: Any) -> bool:
    return scoring is None or (isinstance(scoring, str) and scoring in SCORINGS)


def _targets(y: Any, n_rows: int) -> FloatArray | None:
    """One finite number a row, or None."""
    values = np.asarray(y)
    if values.shape != (n_rows,) or values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        return None
    return values.astype(np.float64)


def _matrices(
    X: FloatArray, y: FloatArray, splits: Sequence[Split], alpha: float, *, is_centred: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each fold the matrices A and M, with columns of unit norm; and the squared norm of y, by which M_yy was divided."""
    pairs = _products(X, y, splits, is_centred=is_centred)
    size = X.shape[1] + 1
    train, test = np.empty((2, len(pairs), size, size))
    scales = np.empty(len(pairs))
    for place, (of_train, of_test) in enumerate(pairs):
        A, shift = of_train.gram.copy(), of_test.means - of_train.means
        A[A.diagonal() <= of_train.noise] = 0  # a constant column
        A[:, A.diagonal() <= of_train.noise] = 0
        A.flat[: -1 : size + 1] += alpha
        norms = np.sqrt(A.diagonal())
        norms[norms == 0] = 1.0
        train[place] = A / norms[:, None] / norms
        test[place] = (of_test.gram + of_test.weight * np.outer(shift, shift)) / norms[:, None] / norms
        scales[place] = norms[-1] ** 2
    return train, test, scales


def _products(X: FloatArray, y: FloatArray, splits: Sequence[Split], *, is_centred: bool) -> list[tuple[Products, Products]]:
    """Those of training and held-out rows. Where the folds are parts of all rows, each row is read once."""
    n_threads = effective_threads(None)

    def of(rows: Any) -> Products:
        part = X[rows].astype(np.float64, copy=False)
        return Products.of(part, y[rows][:, None], None, is_centred=is_centred, n_threads=n_threads)

    tests = [of(test) for _, test in splits]
    if not are_parts(splits, len(X)):
        return [(of(train), held_out) for (train, _), held_out in zip(splits, tests, strict=True)]
    trains = [first.merge(*others) for first, *others in (tests[:k] + tests[k + 1 :] for k in range(len(tests)))]
    return list(zip(trains, tests, strict=True))


def are_parts(splits: Sequence[Split], n_rows: int) -> bool:
    """Whether every row is held out once, and is a training row of every other fold."""
    if not 2 <= len(splits) <= MOST_PARTS:
        return False
    is_complement = all(len(train) + len(test) == n_rows for train, test in splits)
    held_out = np.sort(np.concatenate([test for _, test in splits]))
    if not is_complement or not np.array_equal(held_out, np.arange(n_rows)):
        return False
    for train, test in splits:
        seen = np.zeros(n_rows, dtype=bool)
        seen[train] = True
        if seen[test].any() or int(seen.sum()) != len(train):
            return False
    return True
