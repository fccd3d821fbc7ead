"""Least squares with a sparse penalty in the form that coordinate descent takes: products of A or a design, chosen by shape.

As in `_least_squares.rows`, A is X minus its means, each row times the root of its weight, and b the same of y; without an
intercept nothing is subtracted. Objectives divide the sum of squares by the total weight; the solvers' do not, and their
penalties are multiplied instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._params import Real, check_values
from mercer._parts.passes import is_parted
from mercer._solvers.coordinate_descent import Descent, GramDescent, Penalty, WorkingSetDescent
from mercer._statistics import ROUNDING, Products
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._least_squares.parted_rows import PartedRows
from mercer.linear_model._least_squares.rows import refuse_sums
from mercer.linear_model._least_squares.sparse_rows import SparseRows

# Features up to which the products of a tall X are made at once: for one penalty, and for a path of them.
MOST_GRAM_FEATURES = 200
MOST_GRAM_FEATURES_OF_A_PATH = 1000
SPARSE_GAIN = 4  # how many times more numbers the products may hold than sparse X: a sweep looks at moving columns alone
FEW = 40  # times the features: the most that the square of the number of pulling columns may be for products not to pay
WIDE = 1e-4  # the least variance of a sparse column, against the square of its mean, that centred products keep well
# The least penalty that leaves all coefficients at zero must not be rounded down: they would come out as 1e-17.
ABOVE_ROUNDING = 1 + 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Gram:
    """A' A without what rounding leaves of constant columns, A' b, ||b||^2 for each target, and the means."""

    gram: FloatArray
    moments: FloatArray  # features x targets
    totals: FloatArray
    x_mean: FloatArray
    y_mean: FloatArray
    weight: float

    @classmethod
    def of(cls, products: Products, n_features: int) -> Gram:
        diagonal, d = products.gram.diagonal(), n_features
        varies = diagonal > products.noise
        gram = np.where(varies[:, None] & varies, products.gram, 0.0)
        return cls(
            gram=np.ascontiguousarray(gram[:d, :d]),
            moments=np.ascontiguousarray(gram[:d, d:]),
            totals=gram.diagonal()[d:].copy(),
            x_mean=products.means[:d],
            y_mean=products.means[d:],
            weight=products.weight,
        )

    def descent(self, targets: slice, kind: Penalty, seed: int | None) -> Descent:
        moments = np.ascontiguousarray(self.moments[:, targets])
        return GramDescent(self.gram, moments, float(self.totals[targets].sum()), self.weight, kind, seed)


class Columns:
    """X itself, dense or sparse, for working sets."""

    def __init__(
        self, estimator: Any, X: Any, y: FloatArray, weights: FloatArray | None, *, is_centred: bool, n_threads: int
    ) -> None:
        self._X, self._weights, self._is_centred, self._n_threads = X, weights, is_centred, n_threads
        self._y = (y if y.ndim == 2 else y[:, None]).astype(np.float64)
        self._designs = [self._design()]  # for the first descent, which then owns it
        self.x_mean, self.squares = np.empty(X.shape[1]), np.empty(X.shape[1])
        self._designs[0].measures(self.x_mean, self.squares)
        self.weight: float = self._designs[0].weight()
        share = None if weights is None else weights.astype(np.float64)
        self.y_mean = np.average(self._y, axis=0, weights=share) if is_centred else np.zeros(self._y.shape[1])
        if not (np.isfinite(self.squares).all() and np.isfinite(self._y).all()):
            refuse_sums(estimator, X, y)

    def _design(self) -> Any:
        X = self._X
        if sp.issparse(X):
            kind = kernels.SparseDesign64 if X.dtype == np.float64 else kernels.SparseDesign32
            return kind(X.data, X.indices, X.indptr, X.shape[0], self._weights, self._is_centred)
        kind = kernels.DenseDesign64 if X.dtype == np.float64 else kernels.DenseDesign32
        return kind(X, self._weights, self._is_centred, self._n_threads)

    def target(self) -> FloatArray:
        """b, a line for each target; zero where the target is constant up to rounding."""
        target = np.ascontiguousarray((self._y - self.y_mean).T)
        if self._weights is not None:
            target *= np.sqrt(self._weights.astype(np.float64))
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", target, target)
        target[squares <= self.weight * (self.y_mean * ROUNDING) ** 2] = 0
        return target

    @lazy_property
    def moments(self) -> FloatArray:
        """A' b, features x targets."""
        moments = np.empty((self._X.shape[1], self._y.shape[1]))
        self._designs[0].correlate(self.target(), moments, self._n_threads)
        return moments

    @property
    def are_wide(self) -> bool:
        """Whether no column has almost all of its sum of squares from its mean."""
        return bool((self.squares >= WIDE * self.weight * self.x_mean**2).all())

    def are_few_in_use(self, l1: float) -> bool:
        """Whether few columns pull at zero coefficients by more than l1.

        The Gram matrix of so few working columns costs less than what products of all rows of sparse X do: rows from columns,
        and the products of their entries, about as much as 20 passes over X.
        """
        n_pulling = int(np.count_nonzero(np.abs(self.moments) > l1 * self.weight))
        return n_pulling**2 <= FEW * len(self.squares)

    def descent(self, targets: slice, kind: Penalty, seed: int | None) -> Descent:
        design = self._designs.pop() if self._designs else self._design()
        return WorkingSetDescent(design, np.ascontiguousarray(self.target()[targets]), kind, seed, self._n_threads)


Problem = Gram | Columns


def make_problem(
    estimator: Any,
    X: Any,
    y: FloatArray,
    weights: FloatArray | None,
    *,
    is_centred: bool,
    precompute: Any,
    n_penalties: int,
    n_threads: int,
    l1: float | None = None,
) -> Problem:
    """Products for a tall X with few features, else the columns. `precompute` may ask for products, or (dense X) give A' A.

    `l1` is a single penalty of single coefficients, for rows of a total weight of one: it tells how many will be in use.
    """
    options: dict[str, Any] = {"is_centred": is_centred, "n_threads": n_threads}
    if is_parted(X):
        if not isinstance(precompute, bool):
            raise TypeError(
                f"{type(estimator).__name__}: a given Gram matrix is not there for X in parts; set precompute=False."
            )
        rows = PartedRows(estimator, X, y, weights, is_centred=is_centred)
        return Gram.of(rows.products(), X.shape[1])
    if not (isinstance(precompute, (bool, str)) or sp.issparse(X)):
        columns = Columns(estimator, X, y, weights, **options)
        return _with_given_gram(estimator, columns, precompute, X.shape[0])
    if l1 is not None and sp.issparse(X) and _has_small_products(X, n_penalties):
        columns = Columns(estimator, X, y, weights, **options)
        if columns.are_few_in_use(l1) or not columns.are_wide:
            return columns
        return Gram.of(products_of(estimator, X, y, weights, **options), X.shape[1])
    if are_products_better(X, weights, is_centred=is_centred, precompute=precompute, n_penalties=n_penalties):
        return Gram.of(products_of(estimator, X, y, weights, **options), X.shape[1])
    return Columns(estimator, X, y, weights, **options)


def are_products_better(X: Any, weights: FloatArray | None, *, is_centred: bool, precompute: Any, n_penalties: int) -> bool:
    """Whether products of all rows are worth making: they cost n d^2 once, and n d is saved in every round.

    Sparse X must not be much smaller than its products, nor lie so far from zero that centring them cancels digits.
    """
    if sp.issparse(X):
        return _has_small_products(X, n_penalties) and (not is_centred or _has_wide_columns(X, weights))
    return precompute is True or _has_few_features(X, n_penalties)


def _has_few_features(X: Any, n_penalties: int) -> bool:
    n, d = X.shape
    return bool(n >= d and d <= (MOST_GRAM_FEATURES if n_penalties == 1 else MOST_GRAM_FEATURES_OF_A_PATH))


def _has_small_products(X: Any, n_penalties: int) -> bool:
    """Whether sparse X has few features, and is not much smaller than their products."""
    return _has_few_features(X, n_penalties) and X.nnz * SPARSE_GAIN >= X.shape[1] ** 2


def _has_wide_columns(X: Any, weights: FloatArray | None) -> bool:
    """Whether no column of sparse X has almost all of its sum of squares from its mean."""
    weights = np.ones(X.shape[0]) if weights is None else weights.astype(np.float64)
    of_means = (X.T @ weights) ** 2 / weights.sum()
    squared = type(X)((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape)
    return bool((squared.T @ weights - of_means >= WIDE * of_means).all())


def products_of(
    estimator: Any, X: Any, y: FloatArray, weights: FloatArray | None, *, is_centred: bool, n_threads: int
) -> Products:
    """The products of all columns of [X, y]."""
    if not sp.issparse(X):
        return DenseRows(estimator, X, y, weights, is_centred=is_centred, n_threads=n_threads).products()
    products = SparseRows(X, y, weights, is_centred=is_centred).products()
    if not np.isfinite(products.gram).all():
        refuse_sums(estimator, X, y)
    return products


def _with_given_gram(estimator: Any, columns: Columns, given: Any, n_rows: int) -> Gram:
    """The user's Gram matrix in place of ours: of A, or of X with rows times roots of weights, which is then centred here.

    Weights count as they are, or divided by their mean.
    """
    owner, squares, x_mean = _owner(estimator), columns.squares, columns.x_mean
    gram = np.array(check_array(given, dtype=np.float64, input_name="precompute"))
    if gram.shape != (len(squares), len(squares)):
        raise ValueError(
            f"{owner}: precompute has shape {gram.shape}; for this X it must be {(len(squares), len(squares))}, "
            "the matrix of products of the columns."
        )
    shift = columns.weight * np.outer(x_mean, x_mean)
    share = columns.weight / n_rows  # scikit-learn's has weights of mean one
    readings = (gram, gram - shift, gram * share, gram * share - shift)
    atol = 1e-4 * squares.max(initial=0)
    found = next((each for each in readings if np.allclose(each.diagonal(), squares, rtol=1e-4, atol=atol)), None)
    if found is None:
        raise ValueError(
            f"{owner}: precompute is not the Gram matrix of X: its diagonal must hold the sums of squares of the columns of X, "
            "weighted by sample_weight (or that over its mean), about zero or (fit_intercept=True) about the means."
        )
    gram = found
    gram[squares == 0] = 0
    gram[:, squares == 0] = 0
    target = columns.target()
    return Gram(gram, columns.moments, np.einsum("ij,ij->i", target, target), x_mean, columns.y_mean, columns.weight)


def _owner(caller: Any) -> str:
    """The name of a function or of an estimator's class."""
    return str(getattr(caller, "__name__", type(caller).__name__))


def alpha_grid(moments: FloatArray, weight: float, l1_ratio: float, eps: float, n_alphas: int, *, positive: bool) -> FloatArray:
    """From the least alpha that leaves all coefficients at zero down to `eps` times that, in equal ratios."""
    strengths = moments.max(axis=1) if positive else np.sqrt(np.einsum("ij,ij->i", moments, moments))
    highest = max(float(strengths.max(initial=0)), 0.0) / (weight * l1_ratio) * ABOVE_ROUNDING
    resolution = float(np.finfo(np.float64).resolution)
    if highest <= resolution:
        return np.full(n_alphas, resolution)
    grid: FloatArray = np.geomspace(highest, highest * eps, num=n_alphas)
    return grid


def check_alphas(owner: str, alphas: Any) -> FloatArray:
    """Given values, from the largest to the smallest."""
    return np.sort(np.array(check_values(owner, "alphas", alphas, Real(least=0)), dtype=np.float64))[::-1]


def elastic_net_penalty(alpha: float, l1_ratio: float, weight: float) -> tuple[float, float]:
    """(l1, l2) in the solvers' units."""
    return alpha * l1_ratio * weight, alpha * (1 - l1_ratio) * weight


def draw_seed(selection: str, random: np.random.RandomState | None) -> int | None:
    """A seed for random coordinates; None where they are cycled through."""
    return None if selection == "cyclic" or random is None else int(random.randint(np.iinfo(np.int32).max))


def linear_attributes(coef: FloatArray, problem: Problem, dtype: npt.DTypeLike, *, fit_intercept: bool) -> dict[str, Any]:
    """`coef_` (targets x features) and `intercept_` by the coefficients as rounded, so that the mean residual is zero."""
    coef = np.ascontiguousarray(coef.T, dtype=dtype)
    intercept: Any = np.zeros(len(coef), dtype=dtype)
    if fit_intercept:
        intercept = (problem.y_mean - coef.astype(np.float64) @ problem.x_mean).astype(dtype)
    return {"coef_": coef, "intercept_": intercept}
