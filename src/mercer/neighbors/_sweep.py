"""Many numbers of neighbours and ways to weight them from one search (see `_tuning.JointSweep`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._candidates import Candidates, clones_at, require_swept
from mercer._params import check_params
from mercer._saved import saved
from mercer.neighbors._search import IntArray, Search

SWEPT = ("n_neighbors", "weights", "bandwidth", "ties")
MOST_ANSWERS = 8  # to parts of the queries, that are recalled: some 600 MB


@saved("mercer.neighbors.RecallingSearch")
class RecallingSearch(Search):
    """A search that recalls its last answers: models that differ in what they make of neighbours ask for the same ones.

    `most` is the largest number that will be asked for; that many are found at once.
    """

    def __init__(self, measure: Any, index: Any, most: int) -> None:
        super().__init__(measure, index)
        self.most = min(most, self.shape[0])
        self._lock = Lock()
        # With copies of the queries, as X may be written to; None are the rows themselves.
        self._answers_to: list[tuple[Any, tuple[FloatArray, IntArray]]] = []

    def __reduce__(self) -> Any:
        return RecallingSearch, (self.measure, self.index, self.most)

    def nearest(
        self, queries: Any, k: int, *, leave_out_self: bool = False, max_leaves: int | None = None, n_threads: int = 1
    ) -> tuple[FloatArray, IntArray]:
        if k > self.most or (queries is None) > leave_out_self or max_leaves is not None or sp.issparse(queries):
            return super().nearest(queries, k, leave_out_self=leave_out_self, max_leaves=max_leaves, n_threads=n_threads)
        with self._lock:
            answer = next((answer for asked, answer in self._answers_to if _is_same(asked, queries)), None)
            if answer is None:
                most = min(self.most, self.shape[0] - (queries is None))
                answer = super().nearest(queries, max(k, most), leave_out_self=leave_out_self, n_threads=n_threads)
                if len(self._answers_to) == MOST_ANSWERS:
                    self._answers_to.clear()
                self._answers_to.append((None if queries is None else queries.copy(), answer))
            distances, rows = answer
        return distances[:, :k], rows[:, :k]


def _is_same(asked: Any, queries: Any) -> bool:
    if asked is None or queries is None:
        return asked is queries
    is_alike = asked.dtype == queries.dtype and asked.shape == queries.shape and np.array_equal(asked[:1], queries[:1])
    return bool(is_alike and np.array_equal(asked, queries))


class NeighborsSweep:
    """Estimators whose search does not depend on how many neighbours count, nor on how much."""

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return [name for name in SWEPT if hasattr(self, name)]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value in the order given, which search once for all of them.

        `sweep_points` is the same for several parameters.

        Parameters
        ----------
        X, y
            As for `fit`.
        name : {"n_neighbors", "weights", "bandwidth", "ties"}
        values : sequence
        sample_weight : None
            Rows cannot be weighted.

        Returns
        -------
        iterator of estimators
        """
        _refuse_weights(self, sample_weight)
        candidates = Candidates(self, name, values, self.sweep_parameters())
        return _fitted_together(candidates.estimators, max(params.n_neighbors for params in candidates.params), X, y)

    def sweep_points(self, X: Any, y: Any, points: Sequence[Mapping[str, Any]], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each point in the order given, which search once for all of them.

        Parameters
        ----------
        X, y
            As for `fit`.
        points : sequence of mappings
            Each gives values to parameters that `sweep` takes.
        sample_weight : None
            Rows cannot be weighted.

        Returns
        -------
        iterator of estimators
        """
        _refuse_weights(self, sample_weight)
        if len(points) == 0:
            raise ValueError(f"{type(self).__name__}: there are no points to sweep; there must be one at least.")
        require_swept(self, (name for point in points for name in point), self.sweep_parameters())
        estimators = clones_at(self, points)
        return _fitted_together(estimators, max(check_params(each).n_neighbors for each in estimators), X, y)


def _refuse_weights(estimator: Any, sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError(f"{type(estimator).__name__}.fit() takes no sample_weight: rows cannot be weighted.")


def _fitted_together(estimators: list[Any], most: int, X: Any, y: Any) -> Iterator[Any]:
    """The first fitted, and the others with what it has found: one search of at most so many neighbours serves all."""
    first = estimators[0].fit(X, y)
    shared = RecallingSearch(first._search.measure, first._search.index, most)
    fitted = {key: value for key, value in vars(first).items() if key not in first.get_params(deep=False)}
    for each in estimators:
        vars(each).update({**fitted, "_search": shared})
    return iter(estimators)
