"""What models answer to rows some of whose features have other values: the one way in which dependences ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._tables import Table, as_table
from mercer.inspection._sums import Change, Sums, sums_of

_MOST_SUMS = 4_000_000  # numbers that are held at a time
_MOST_CELLS = 2_000_000  # of rows that are written out

Values = npt.NDArray[Any]


class Responses:
    """The answers of a fitted model, of shape (n_rows, n_targets): one target in regression and for two classes.

    `names` are the methods that answer, of which the first that the model has is asked.
    """

    def __init__(self, estimator: Any, names: Sequence[str]) -> None:
        self._estimator = estimator
        self.name = _first_method(estimator, names)
        self._is_binary = is_classifier(estimator) and len(estimator.classes_) == 2

    def __call__(self, X: Any, estimator: Any = None) -> FloatArray:
        answers = np.asarray(getattr(self._estimator if estimator is None else estimator, self.name)(X))
        if self._is_binary and answers.ndim == 2 and answers.shape[1] == 2:
            answers = answers[:, 1]
        return answers.reshape(len(answers), -1)

    def at(self, table: Table, columns: Sequence[int], points: Sequence[Values]) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Parts of the answers to each row at each point, of shape (n_points, n_rows, n_targets), with their points and rows.

        `points` has a vector of values for each of the columns.
        """
        sums = sums_of(self._estimator)
        rows: Any = None if sums is None else sums.coded(table.data)
        if sums is None or sp.issparse(rows):
            yield from self._by_copies(table, columns, points)
        else:
            yield from self._by_sums(sums, rows, table, columns, points)

    def chosen(
        self, table: Table, columns: Sequence[int], points: Sequence[Values], orders: npt.NDArray[np.uint32]
    ) -> FloatArray:
        """The answers to rows of which each is at points of its own, of shape (n_orders, n_rows, n_targets).

        A line of `orders` has the number of each row's point.
        """
        sums = sums_of(self._estimator)
        rows: Any = None if sums is None else sums.coded(table.data)
        if sums is None or sp.issparse(rows):
            copies = (table.with_values(columns, [each[order] for each in points]) for order in orders)
            return np.stack([self(copy) for copy in copies])
        setting = Change.setting(columns, coded_points(sums, table, columns, points), rows.shape[1])
        changed = sums.changed(rows, replace(setting, orders=orders), _threads(self._estimator))
        return np.stack([self(each, sums.answering(each)) for each in changed])

    def _by_sums(
        self, sums: Sums, rows: FloatArray, table: Table, columns: Sequence[int], points: Sequence[Values]
    ) -> Iterator[tuple[slice, slice, FloatArray]]:
        change = Change.setting(columns, coded_points(sums, table, columns, points), rows.shape[1])
        n_points = change.n_alternatives
        step = max(1, _MOST_SUMS // (n_points * sums.n_sums))
        for begin in range(0, len(rows), step):
            part = slice(begin, min(begin + step, len(rows)))
            changed = sums.changed(rows[part], change, _threads(self._estimator))
            flat = changed.reshape(-1, sums.n_sums)
            answers = self(flat, sums.answering(flat))
            yield slice(0, n_points), part, answers.reshape(n_points, part.stop - part.start, -1)

    def _by_copies(
        self, table: Table, columns: Sequence[int], points: Sequence[Values]
    ) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Several points at a time where rows are few: many a model takes longer to be asked than to answer."""
        n_rows, n_points = table.n_rows, len(points[0])
        step = max(1, _MOST_CELLS // max(n_rows * len(table.names), 1))
        copies = table
        for begin in range(0, n_points, step):
            part = slice(begin, min(begin + step, n_points))
            count = part.stop - part.start
            if count * n_rows != copies.n_rows:
                copies = as_table(table.take(np.tile(np.arange(n_rows), count)), "X")
            values = [np.repeat(each[part], n_rows) for each in points]
            answers = self(copies.with_values(columns, values))
            yield part, slice(0, n_rows), answers.reshape(count, n_rows, -1)


def coded_points(sums: Sums, table: Table, columns: Sequence[int], points: Sequence[Values]) -> FloatArray:
    """Points as the model reads them, of shape (n_points, n_columns): the first row, with their values."""
    first = as_table(table.take(np.zeros(len(points[0]), dtype=np.intp)), "X")
    coded = sums.coded(first.with_values(columns, points))
    chosen = coded[:, list(columns)]
    return np.ascontiguousarray(chosen.toarray() if sp.issparse(chosen) else chosen)


def response_names(estimator: Any, response_method: str) -> list[str]:
    """The methods that answer: `predict` of regressors; of classifiers probabilities, or else scores, unless one is named."""
    if response_method != "auto":
        return [response_method]
    return ["predict"] if is_regressor(estimator) else ["predict_proba", "decision_function"]


def _first_method(estimator: Any, names: Sequence[str]) -> str:
    found = next((name for name in names if hasattr(estimator, name)), None)
    if found is None:
        raise AttributeError(f"{type(estimator).__name__} has none of the following attributes: {', '.join(names)}.")
    return found


def _threads(estimator: Any) -> int:
    return effective_threads(getattr(estimator, "n_jobs", None))
