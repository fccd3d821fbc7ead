"""Sufficient statistics of rows: values that are made `of` a part of the rows, and that `merge` with those of other parts.

Folds, `partial_fit`, parts of a file or several machines: whoever has the statistics of disjoint parts has those of all rows
together, and no part is read again. Sums are in double precision. Knows no model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from mercer._arrays import FloatArray
from mercer._matrix import SparseMatrix, native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.passes import additive

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # a column that varies by less, against its mean, is constant
CANCELLED = 1e-10  # of a sum of squares about zero: less than this about the mean is not to be trusted
CANCELLED_BY_PARTS = 1e-12  # of a sum of squares over all rows: what a difference of sums may leave by rounding


class ColumnMoments(NamedTuple):
    """For each column: the weight of the values present, their mean (0 where there is none) and their squared deviations."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray

    @classmethod
    @additive
    def of(cls, X: Any, weights: FloatArray | None, *, n_threads: int) -> ColumnMoments:
        """Of dense X in any memory order, or CSR or CSC; NaN is left out. One pass."""
        moments = cls(*np.empty((3, X.shape[1])))
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
            weights = None if weights is None else weights.astype(np.float64, copy=False)
            kernels.sparse_column_moments(X.data, X.indices, X.indptr, X.format == "csc", weights, X.shape[0], *moments)
        else:
            kernels.column_moments(X, weights, *moments, n_threads)
        return moments

    def merge(self, *others: ColumnMoments) -> ColumnMoments:
        """The moments of all rows together (Chan et al.)."""
        merged = self
        for other in others:
            weight = merged.weight + other.weight
            share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
            with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the result
                delta = other.mean - merged.mean
                between = delta * (delta * (merged.weight * share))
                deviation = merged.deviation + other.deviation + between
                merged = ColumnMoments(weight, merged.mean + delta * share, deviation)
        return merged


class ColumnRanges(NamedTuple):
    """The least and the greatest value of each column, NaN where there is none."""

    low: FloatArray
    high: FloatArray

    @classmethod
    @additive
    def of(cls, X: Any, *, n_threads: int) -> ColumnRanges:
        """Of dense X in any memory order, or CSR or CSC, whose zeros count; NaN is left out. One pass."""
        if sp.issparse(X):
            return cls(*min_max_axis(X, axis=0, ignore_nan=True))
        ranges = cls(*np.empty((2, X.shape[1]), dtype=X.dtype))
        kernels.column_ranges(X, *ranges, n_threads)
        return ranges

    def merge(self, *others: ColumnRanges) -> ColumnRanges:
        low, high = self
        for other in others:
            low, high = np.fmin(low, other.low), np.fmax(high, other.high)
        return ColumnRanges(low, high)


class Products(NamedTuple):
    """A Gram matrix: [A, b]' [A, b] and what it was made with.

    A is X minus its means, each row times the root of its weight, and b the same of y; or nothing is subtracted, and then the
    means are zero.
    """

    gram: FloatArray
    means: FloatArray  # of the columns of [X, y]
    weight: float  # of all rows
    noise: FloatArray  # what rounding alone may leave of the sum of squares of a constant column

    @classmethod
    @additive
    def of(cls, X: FloatArray, y: FloatArray, weights: FloatArray | None, *, is_centred: bool, n_threads: int) -> Products:
        """Of dense X and y (rows x targets), in one pass; not finite where X or y is not, or where sums overflow."""
        n_columns = X.shape[1] + y.shape[1]
        gram, means = np.empty((n_columns, n_columns)), np.empty(n_columns)
        weight = kernels.centred_gram(X, y, weights, is_centred, gram, means, n_threads)
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the result
            return cls(gram, means, weight, weight * (means * ROUNDING) ** 2)

    @classmethod
    def of_sparse(cls, X: SparseMatrix, y: FloatArray, weights: FloatArray, means: FloatArray) -> Products:
        """Of sparse X, which is never centred in memory: what centring changes is taken off the products."""
        d, weight = X.n_features, float(weights.sum())
        x_mean, y = means[:d], y - means[d:]
        weighted = y * weights[:, None]
        gram = np.empty((len(means), len(means)))
        gram[:d, :d] = X.products(weights) - weight * np.outer(x_mean, x_mean)
        gram[d:, :d] = X.output_sums(weighted)[:, :d]
        gram[:d, d:] = gram[d:, :d].T
        gram[d:, d:] = weighted.T @ y
        noise = weight * (means * ROUNDING) ** 2
        noise[:d] = CANCELLED * weight * x_mean**2
        return cls(gram, means, weight, noise)

    def merge(self, *others: Products) -> Products:
        """The products of all rows from those of disjoint parts: only sums, so that nothing cancels."""
        parts = (self, *others)
        weight = sum(part.weight for part in parts)
        means = np.sum([part.weight * part.means for part in parts], axis=0) / weight
        gram = np.zeros_like(self.gram)
        for part in parts:
            shift = part.means - means
            gram += part.gram + part.weight * np.outer(shift, shift)
        return Products(gram, means, weight, weight * (means * ROUNDING) ** 2)

    def without(self, part: Products) -> Products:
        """The products of the rows that are not in a part of them: cheap where the part is small, at the price of digits."""
        weight = self.weight - part.weight
        shift = part.means - self.means
        offset = -shift * (part.weight / weight)  # each centre is moved to that of the rows that are left
        gram = self.gram - part.gram - (part.weight * np.outer(shift, shift) + weight * np.outer(offset, offset))
        noise = np.maximum(self.noise, CANCELLED_BY_PARTS * self.gram.diagonal())
        return Products(gram, self.means + offset, weight, noise)


Groups = npt.NDArray[np.integer[Any]]  # the number of each row's group


def _groups(groups: Groups) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(groups, dtype=np.int64)


def _doubles(weights: FloatArray | None) -> FloatArray | None:
    return None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)


class GroupSums(NamedTuple):
    """The sums of the rows of each group: of the members of a cluster, or of a class."""

    sums: FloatArray  # groups x columns
    weights: FloatArray  # of the groups
    members: npt.NDArray[np.int64]  # rows of positive weight

    @classmethod
    def zeros(cls, n_groups: int, n_columns: int) -> GroupSums:
        return cls(np.zeros((n_groups, n_columns)), np.zeros(n_groups), np.zeros(n_groups, dtype=np.int64))

    @classmethod
    @additive
    def of(
        cls, X: Any, groups: Groups, n_groups: int, weights: FloatArray | None = None, *, n_threads: int | None = None
    ) -> GroupSums:
        """Of dense or sparse X, for the number of each row's group; the weights are not negative."""
        groups, weights = _groups(groups), _doubles(weights)
        sums = np.empty((n_groups, X.shape[1]))
        rows = native_rows(X.tocsr() if sp.issparse(X) else X)
        kernels.group_sums(rows, groups, weights, sums, effective_threads(None) if n_threads is None else n_threads)
        members = np.bincount(groups if weights is None else groups[weights > 0], minlength=n_groups)
        totals = np.bincount(groups, weights=weights, minlength=n_groups).astype(np.float64, copy=False)
        return cls(sums, totals, members)

    def merge(self, *others: GroupSums) -> GroupSums:
        sums, weights, members = self
        for other in others:
            sums, weights, members = sums + other.sums, weights + other.weights, members + other.members
        return GroupSums(sums, weights, members)


class GroupMoments(NamedTuple):
    """For each group and column: the weight of the values present, their mean (0 where there is none), squared deviations."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray

    @classmethod
    @additive
    def of(cls, X: FloatArray, groups: Groups, n_groups: int, weights: FloatArray | None, *, n_threads: int) -> GroupMoments:
        """Of dense X in any memory order; NaN is left out. One pass."""
        moments = cls(*np.empty((3, n_groups, X.shape[1])))
        kernels.group_moments(X, _groups(groups), _doubles(weights), *moments, n_threads)
        return moments

    def merge(self, *others: GroupMoments) -> GroupMoments:
        """The moments of all rows together (Chan et al.)."""
        return GroupMoments(*ColumnMoments(*self).merge(*(ColumnMoments(*other) for other in others)))

    def total(self) -> ColumnMoments:
        """The moments of the columns, of all groups together."""
        first, *others = (ColumnMoments(*lines) for lines in zip(*self, strict=True))
        return first.merge(*others)


class GroupScatters(NamedTuple):
    """For each group: its weight, the means of the columns, and the scatter matrix of its rows about them."""

    weight: FloatArray  # of the groups
    mean: FloatArray  # groups x columns
    scatter: FloatArray  # groups x columns x columns

    @classmethod
    @additive
    def of(cls, X: FloatArray, groups: Groups, n_groups: int, weights: FloatArray | None, *, n_threads: int) -> GroupScatters:
        """Of dense X in any memory order. Two passes: rows are centred before they are multiplied."""
        groups, weights, d = _groups(groups), _doubles(weights), X.shape[1]
        moments = GroupMoments.of(X, groups, n_groups, weights, n_threads=n_threads)
        scatter = np.empty((n_groups * d, d))
        kernels.group_scatters(X, groups, weights, moments.mean, scatter, n_threads)
        return cls(moments.weight[:, 0].copy(), moments.mean, scatter.reshape(n_groups, d, d))

    def merge(self, *others: GroupScatters) -> GroupScatters:
        """The scatter matrices of all rows together."""
        merged = self
        for other in others:
            weight = merged.weight + other.weight
            share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
            delta = other.mean - merged.mean
            between = (merged.weight * share)[:, None, None] * (delta[:, :, None] * delta[:, None, :])
            scatter = merged.scatter + other.scatter + between
            merged = GroupScatters(weight, merged.mean + delta * share[:, None], scatter)
        return merged


def pooled_scatter(
    X: FloatArray, groups: Groups, means: FloatArray, weights: FloatArray | None, *, n_threads: int
) -> FloatArray:
    """The scatter matrix of rows about the means of their groups, one for all groups together, in one pass."""
    scatter = np.empty((X.shape[1], X.shape[1]))
    kernels.group_scatters(X, _groups(groups), _doubles(weights), np.ascontiguousarray(means), scatter, n_threads)
    return scatter
