"""Cross-validation of paths: the squared error of every fold along the path of coefficients fitted without it.

Where X is tall with few features, each row's products are summed once: a fold's training products are the sums over the other
folds, and its error is a quadratic form in the coefficients. Otherwise every fold has its own copy of its training rows. Folds
run side by side, each on one thread, so that the result does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._solvers.coordinate_descent import Descent, Penalty
from mercer._statistics import Products
from mercer._trace import log
from mercer.linear_model._least_squares.solvers import CANCELLED
from mercer.linear_model._sparse.paths import run_path
from mercer.linear_model._sparse.penalised import Columns, Gram, Problem, are_products_better, make_problem, products_of

Indices = npt.NDArray[np.intp]
Split = tuple[Indices, Indices]


@dataclass(frozen=True)
class Data:
    """What is split."""

    estimator: Any
    X: Any
    y: FloatArray  # rows x targets
    weights: FloatArray | None
    is_centred: bool
    n_threads: int

    def by_rows(self) -> Data:
        """The same, with sparse X in the format of which rows are taken."""
        return replace(self, X=self.X.tocsr()) if sp.issparse(self.X) else self

    def rows(self, index: Any) -> Data:
        weights = None if self.weights is None else self.weights[index]
        if weights is not None and not weights.any():
            raise ValueError(
                f"{type(self.estimator).__name__}: sample_weight is zero for every row of a fold; use fewer folds."
            )
        return Data(self.estimator, self.X[index], self.y[index], weights, self.is_centred, self.n_threads)

    def products(self) -> Products:
        options: dict[str, Any] = {"is_centred": self.is_centred, "n_threads": self.n_threads}
        return products_of(self.estimator, self.X, self.y, self.weights, **options)

    def columns(self, n_threads: int) -> Columns:
        X = self.X.tocsc() if sp.issparse(self.X) else np.asfortranarray(self.X)
        return Columns(self.estimator, X, self.y, self.weights, is_centred=self.is_centred, n_threads=n_threads)

    def errors(self, coefs: FloatArray, intercepts: FloatArray) -> FloatArray:
        """The mean squared error for each of the coefficients (n_alphas x features x targets)."""
        used = np.flatnonzero(coefs.any(axis=(0, 2)))  # none, where the penalties are large
        n_alphas, _, n_targets = coefs.shape
        flat = coefs[:, used].transpose(1, 0, 2).reshape(len(used), n_alphas * n_targets)
        values = (self.X[:, used] @ flat).reshape(len(self.y), n_alphas, n_targets) + intercepts
        squares = (values - self.y[:, None, :].astype(np.float64)) ** 2
        errors: FloatArray = np.average(squares, axis=0, weights=self.weights).mean(axis=1)
        return errors


class Folds(Protocol):
    """Where the training problems and the errors of folds come from."""

    def whole(self, precompute: Any) -> Problem:
        """The problem of all rows."""
        ...

    def training(self, fold: int) -> Problem: ...

    def errors(self, fold: int, coefs: FloatArray, intercepts: FloatArray) -> FloatArray: ...


class ProductFolds:
    """Folds by sums of products. Where no row is tested twice, every row is read once."""

    def __init__(self, data: Data, splits: Sequence[Split]) -> None:
        self._data, self._splits = data.by_rows(), splits
        data = self._data
        cell_of_row = _disjoint_tests(splits, len(data.y))
        if cell_of_row is None:
            self._whole = data.products()
            self._tests = [data.rows(test).products() for _, test in splits]
            self._trainings = [data.rows(train).products() for train, _ in splits]
            return
        cells = [data.rows(_as_slice(np.flatnonzero(cell_of_row == cell))).products() for cell in range(cell_of_row.max() + 1)]
        self._whole = cells[0].merge(*cells[1:])
        self._tests = cells[: len(splits)]
        others = ([cell for k, cell in enumerate(cells) if k != fold] for fold in range(len(splits)))
        self._trainings = [first.merge(*rest) for first, *rest in others]

    def whole(self, precompute: Any) -> Problem:
        if isinstance(precompute, (bool, str)):
            return Gram.of(self._whole, self._data.X.shape[1])
        data = self._data
        options: dict[str, Any] = {"is_centred": data.is_centred, "n_penalties": 1, "n_threads": data.n_threads}
        return make_problem(data.estimator, data.X, data.y, data.weights, precompute=precompute, **options)

    def training(self, fold: int) -> Problem:
        return Gram.of(self._trainings[fold], self._data.X.shape[1])

    def errors(self, fold: int, coefs: FloatArray, intercepts: FloatArray) -> FloatArray:
        products, d = self._tests[fold], self._data.X.shape[1]
        gram, means = products.gram, products.means
        n_targets = gram.shape[0] - d
        squares = np.empty((len(coefs), n_targets))
        for t in range(n_targets):
            w = coefs[:, :, t].astype(np.float64)
            about_mean = gram[d + t, d + t] + np.einsum("aj,aj->a", w, w @ gram[:d, :d] - 2 * gram[d + t, :d])
            if (about_mean < CANCELLED * gram[d + t, d + t]).any():  # an almost perfect fit: digits were lost
                return self._data.rows(self._splits[fold][1]).errors(coefs, intercepts)
            mean = means[d + t] - w @ means[:d] - intercepts[:, t]
            squares[:, t] = about_mean / products.weight + (mean**2 if self._data.is_centred else 0.0)
        errors: FloatArray = squares.mean(axis=1)
        return errors


class RowFolds:
    """Folds by copies of their rows."""

    def __init__(self, data: Data, splits: Sequence[Split]) -> None:
        self._data, self._by_rows, self._splits = data, data.by_rows(), splits

    def whole(self, precompute: Any) -> Problem:
        data = self._data
        options: dict[str, Any] = {"is_centred": data.is_centred, "n_penalties": 1, "n_threads": data.n_threads}
        return make_problem(data.estimator, data.X, data.y, data.weights, precompute=precompute, **options)

    def training(self, fold: int) -> Problem:
        return self._by_rows.rows(self._splits[fold][0]).columns(n_threads=1)

    def errors(self, fold: int, coefs: FloatArray, intercepts: FloatArray) -> FloatArray:
        return self._by_rows.rows(self._splits[fold][1]).errors(coefs, intercepts)


def make_folds(data: Data, splits: Sequence[Split], precompute: Any) -> Folds:
    options: dict[str, Any] = {"is_centred": data.is_centred, "precompute": precompute, "n_penalties": 2}
    return ProductFolds(data, splits) if are_products_better(data.X, data.weights, **options) else RowFolds(data, splits)


def path_errors(
    folds: Folds,
    n_folds: int,
    paths: Sequence[tuple[float, FloatArray]],
    kind: Penalty,
    seeds: Sequence[int | None],
    params: SimpleNamespace,
) -> FloatArray:
    """Errors of shape (paths, folds, alphas) for paths (l1_ratio, alphas)."""

    def job(path: int, fold: int, is_cancelled: Callable[[], bool]) -> FloatArray:
        l1_ratio, alphas = paths[path]
        problem = folds.training(fold)
        descent: Descent = problem.descent(slice(None), kind, seeds[path * n_folds + fold])
        coefs = np.zeros((len(alphas), *descent.moments.shape))
        options: dict[str, Any] = {"tol": params.tol, "max_iter": params.max_iter, "is_cancelled": is_cancelled}
        run_path(descent, alphas, l1_ratio, coefs, **options)
        intercepts = problem.y_mean - np.einsum("ajt,j->at", coefs, problem.x_mean)
        errors = folds.errors(fold, coefs, intercepts)
        log(params.verbose, "path %d of %d, fold %d of %d: done", path + 1, len(paths), fold + 1, n_folds)
        return errors

    jobs = [partial(job, path, fold) for path in range(len(paths)) for fold in range(n_folds)]
    errors = np.array(_run_side_by_side(jobs, effective_threads(params.n_jobs)))
    return errors.reshape(len(paths), n_folds, -1)


def _run_side_by_side(jobs: Sequence[Callable[[Callable[[], bool]], FloatArray]], n_workers: int) -> list[FloatArray]:
    """The results of jobs, which are told when to give up: an error or Ctrl-C then ends all of them."""
    if n_workers == 1 or len(jobs) == 1:
        return [job(lambda: False) for job in jobs]
    cancelled = Event()
    with ThreadPoolExecutor(min(n_workers, len(jobs))) as pool:
        futures = [pool.submit(job, cancelled.is_set) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            cancelled.set()
            for future in futures:
                future.cancel()
            raise


def _disjoint_tests(splits: Sequence[Split], n_rows: int) -> Indices | None:
    """The fold that tests each row (one more for those never tested), or None where rows are tested twice or left out."""
    cell_of_row = np.full(n_rows, len(splits), dtype=np.intp)
    for fold, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or (cell_of_row[test] != len(splits)).any():
            return None
        in_training, is_tested = np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
        in_training[train], is_tested[test] = True, True
        if (in_training == is_tested).any():
            return None
        cell_of_row[test] = fold
    return cell_of_row


def _as_slice(index: Indices) -> Any:
    """Rows that lie together are taken without a copy."""
    lies_together = len(index) > 0 and index[-1] - index[0] == len(index) - 1
    return slice(index[0], index[-1] + 1) if lies_together else index
