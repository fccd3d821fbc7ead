"""The leading singular vectors of X minus its mean: by a Gram matrix, by LAPACK, by Lanczos iteration or from random starts.

Solvers neither print nor warn. What they find is measured in one way: the residual of the eigen equation S v = lambda v of the
covariance matrix S, relative to the largest eigenvalue.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from mercer._arrays import FloatArray, require_no_overflow
from mercer._matrix import SparseMatrix
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._parts.passes import rowwise
from mercer._statistics import ColumnMoments, Products
from mercer._trace import Certificate, Status
from mercer.decomposition._operators import Operator, dense_product, operator_of

# A Gram matrix holds squares: of eigenvalues smaller than this share of the largest, fewer than six digits are left.
_LEAST_SHARE = 1e-10


class Spectrum(NamedTuple):
    """Eigenvalues and eigenvectors of the covariance matrix (ddof 1), the largest first: those asked for, or all."""

    mean: FloatArray
    values: FloatArray  # variances along the components
    components: FloatArray  # one a line
    total: float  # the sum of all eigenvalues, also of those that are not here
    residual: float
    method: str

    def attributes(self, n_components: int, n_rows: int, dtype: Any) -> dict[str, Any]:
        """What an estimator keeps of it, for the first few components."""
        kept = self.values[:n_components]
        return {
            "components_": np.ascontiguousarray(self.components[:n_components]),
            "explained_variance_": kept.astype(dtype),
            "explained_variance_ratio_": shares(kept, self.total).astype(dtype),
            "singular_values_": np.sqrt(kept * (n_rows - 1)).astype(dtype),
            "mean_": self.mean.astype(dtype),
            "noise_variance_": self._noise_variance(n_components, n_rows),
            "n_components_": n_components,
        }

    def _noise_variance(self, n_components: int, n_rows: int) -> float:
        """The mean of the eigenvalues left out (Tipping and Bishop), or of what the total has besides the others."""
        n_left = min(n_rows, len(self.mean)) - n_components
        if n_left <= 0:
            return 0.0
        others = self.values[n_components:]
        rest = others.sum() if len(others) >= n_left else self.total - self.values[:n_components].sum()
        return max(float(rest), 0.0) / n_left

    def certificate(self) -> Certificate:
        return eigen_certificate(self.method, self.residual, self.components.dtype)


def shares(variances: FloatArray, total: float) -> FloatArray:
    """Of a total; none where nothing varies."""
    return variances / total if total > 0 else np.zeros_like(variances)


def require_squares(estimator: Any, X: Any, total: float) -> None:
    """Raise an error for a sum of squares that is not finite, or that is none in the type of X."""
    if not total <= float(np.finfo(X.dtype).max):
        require_no_overflow(estimator, X, "the sums of squares of its columns")


def eigen_certificate(method: str, residual: float, dtype: Any) -> Certificate:
    """Of singular vectors that are to have two thirds of the digits of their type."""
    tol = float(np.finfo(dtype).eps) ** (2 / 3)
    status = Status.CONVERGED.given(is_reached=residual <= tol)
    return Certificate(method, status, None, "relative residual of the eigen equation", residual, tol)


def from_columns(X: Any, n_components: int | None) -> Spectrum:
    """By the Gram matrix of the columns, in one pass over dense or sparse X; all components for None. O(n d^2 + d^3)."""
    n = X.shape[0]
    if sp.issparse(X):
        weights, matrix = np.ones(n), SparseMatrix(X)
        means = matrix.column_moments(weights)[0]
        products = Products.of_sparse(matrix, np.empty((n, 0)), weights, means)
    else:
        products = Products.of(X, rowwise(_no_targets, X), None, is_centred=True, n_threads=effective_threads(None))
    covariance = products.gram / (n - 1)
    return from_covariance(products.means, covariance, n_components, X.dtype)


def _no_targets(X: FloatArray) -> FloatArray:
    return np.empty((len(X), 0), X.dtype)


def from_covariance(mean: FloatArray, covariance: FloatArray, n_components: int | None, dtype: Any) -> Spectrum:
    """Of a covariance matrix in double precision. O(d^3)."""
    method = "eigenvectors of the covariance matrix"
    total = float(np.trace(covariance))
    if not np.isfinite(total):  # the caller looks for the culprit in X
        return Spectrum(mean, covariance[0], covariance, total, np.nan, method)
    values, vectors = _largest_eigenpairs(covariance, n_components)
    components = with_fixed_signs(vectors.T).astype(dtype)
    images = dense_product(components.astype(np.float64, copy=False), covariance)
    return Spectrum(mean, values, components, total, relative_residual(images, components, values), method)


def from_rows(X: FloatArray, n_components: int | None) -> Spectrum | None:
    """By the Gram matrix of the rows, for dense X of fewer rows than columns; None where it has too few digits. O(n^2 d)."""
    n, d = X.shape
    n_components = n if n_components is None else n_components
    gram, mean = np.empty((n, n)), np.empty(d)
    kernels.row_gram(X, None, True, gram, mean, effective_threads(None))
    method = "eigenvectors of the Gram matrix of rows"
    total = float(np.trace(gram)) / (n - 1)
    if not np.isfinite(total):
        return Spectrum(mean, gram[0], gram, total, np.nan, method)
    k = min(n_components, n - 1)  # rows minus their mean have no more dimensions than that
    values, left = _largest_eigenpairs(gram, k)
    if not has_digits(values):
        return None
    operator = operator_of(X, mean)
    vectors = operator.transposed_times((left / np.sqrt(values)).astype(X.dtype)).astype(np.float64, copy=False)
    if n_components == n:  # one more direction, in which nothing varies: any that is orthogonal to the others
        vectors = np.column_stack([vectors, _completion(vectors)])
    if not _orthonormalise(vectors):
        return None
    components = with_fixed_signs(vectors.T).astype(X.dtype)
    return _measured(operator, mean, components, total, method)


def from_svd(X: FloatArray, moments: ColumnMoments) -> Spectrum:
    """All of them by LAPACK's singular value decomposition of a centred copy. O(n d min(n, d))."""
    centred = X - moments.mean.astype(X.dtype)
    _, singular, vectors = scipy.linalg.svd(centred, full_matrices=False, overwrite_a=True, check_finite=False)
    values, components = singular.astype(np.float64) ** 2 / (len(X) - 1), with_fixed_signs(vectors)
    operator = operator_of(X, moments.mean)
    images = operator.transposed_times(operator.times(components.T)).T / (len(X) - 1)
    residual = relative_residual(images, components, values)
    return Spectrum(moments.mean, values, components, _total(moments), residual, "singular value decomposition")


def from_lanczos(X: Any, moments: ColumnMoments, n_components: int, *, tol: float, random: np.random.RandomState) -> Spectrum:
    """The largest by ARPACK's implicitly restarted Lanczos method, of dense or sparse X."""
    operator = operator_of(X, moments.mean)
    _, _, components = lanczos_svd(operator, n_components, tol=tol, random=random)
    return _measured(operator, moments.mean, components, _total(moments), "Lanczos iteration (ARPACK)")


def from_random_starts(
    X: FloatArray,
    moments: ColumnMoments,
    n_components: int,
    *,
    n_oversamples: int,
    n_iter: int,
    normalizer: str,
    random: np.random.RandomState,
) -> Spectrum:
    """The largest by subspace iteration from random starts: as good as its residual says."""
    operator = operator_of(X, moments.mean)
    _, _, components = random_starts_svd(
        operator, n_components, n_oversamples=n_oversamples, n_iter=n_iter, normalizer=normalizer, random=random
    )
    method = f"randomized subspace iteration ({n_iter} power iterations)"
    return _measured(operator, moments.mean, components, _total(moments), method)


def _total(moments: ColumnMoments) -> float:
    """The sum of the columns' variances, which is that of all eigenvalues."""
    return float(moments.deviation.sum()) / (float(moments.weight[0]) - 1)


# Singular triples (U, s, V') of any operator, for principal components and for truncated decompositions alike.


def lanczos_svd(
    operator: Operator, n_components: int, *, tol: float, random: np.random.RandomState
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By ARPACK, from scikit-learn's random start."""
    start = random.uniform(-1, 1, min(operator.shape)).astype(operator.dtype)
    linear = LinearOperator(
        operator.shape,
        dtype=operator.dtype,
        matvec=lambda vector: operator.times(_as_column(vector, operator)),
        rmatvec=lambda vector: operator.transposed_times(_as_column(vector, operator)),
        matmat=lambda right: operator.times(right.astype(operator.dtype, copy=False)),
        rmatmat=lambda right: operator.transposed_times(right.astype(operator.dtype, copy=False)),
    )
    left, singular, right = svds(linear, k=n_components, tol=tol, v0=start)
    components = right[::-1]
    signs = _signs(components)[:, None]
    return left[:, ::-1] * signs.T, singular[::-1].copy(), components * signs


def random_starts_svd(
    operator: Operator,
    n_components: int,
    *,
    n_oversamples: int,
    n_iter: int,
    normalizer: str,
    random: np.random.RandomState,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By subspace iteration (Halko et al., algorithm 4.4) with scikit-learn's draws, from the shorter side."""
    is_wide = operator.shape[0] < operator.shape[1]
    forth, back = operator.times, operator.transposed_times
    if is_wide:
        forth, back = back, forth
    basis = random.normal(size=(min(operator.shape), n_components + n_oversamples)).astype(operator.dtype)
    for _ in range(n_iter):
        basis = _normalised(forth(basis), normalizer, n_iter)
        basis = _normalised(back(basis), normalizer, n_iter)
    basis = scipy.linalg.qr(forth(basis), mode="economic", check_finite=False)[0]
    small = back(np.ascontiguousarray(basis))
    # B' = P s W' for B = Q' A, so that A is about (Q W) s P'.
    short, singular, inner = scipy.linalg.svd(small, full_matrices=False, check_finite=False)
    long = dense_product(np.ascontiguousarray(basis), np.ascontiguousarray(inner[:n_components].T))
    left, right = (short[:, :n_components], long.T) if is_wide else (long, short[:, :n_components].T)
    signs = _signs(right)[:, None]
    return left * signs.T, singular[:n_components], np.ascontiguousarray(right * signs)


def with_fixed_signs(components: FloatArray) -> FloatArray:
    """Each line times 1 or -1, so that its entry of largest magnitude, the first of equals, is positive."""
    fixed: FloatArray = components * _signs(components)[:, None]
    return fixed


def _signs(components: FloatArray) -> FloatArray:
    if components.size == 0:
        return np.ones(len(components), components.dtype)
    largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(largest < 0, -1, 1).astype(components.dtype)


def _largest_eigenpairs(matrix: FloatArray, n_pairs: int | None) -> tuple[FloatArray, FloatArray]:
    """Of a symmetric positive semidefinite matrix, the largest first; a few of many cost less than half of all."""
    d = len(matrix)
    if n_pairs is None or 3 * n_pairs > d:
        values, vectors = np.linalg.eigh(matrix)
        first = 0 if n_pairs is None else d - n_pairs
        values, vectors = values[first:], vectors[:, first:]
    elif n_pairs == 0:
        return np.empty(0), np.empty((d, 0))
    else:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(d - n_pairs, d - 1), check_finite=False)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def has_digits(values: FloatArray) -> bool:
    return len(values) == 0 or bool(values[-1] > _LEAST_SHARE * values[0])


def _completion(vectors: FloatArray) -> FloatArray:
    """A direction that is not in the span of some orthogonal ones, of unit length and orthogonal to them up to rounding."""
    vector = np.random.RandomState(0).normal(size=(len(vectors), 1))
    for _ in range(2):
        vector -= dense_product(vectors, dense_product(vectors.T, vector))
        vector /= np.linalg.norm(vector)
    return vector


def _normalised(basis: FloatArray, normalizer: str, n_iter: int) -> FloatArray:
    """Another basis of the same span whose vectors are not nearly parallel, as the powers of a matrix make them."""
    if normalizer == "none" or (normalizer == "auto" and n_iter <= 2):
        return basis
    if normalizer == "LU":
        return np.ascontiguousarray(scipy.linalg.lu(basis, permute_l=True, check_finite=False)[0])
    if normalizer == "auto" and _orthonormalise(basis):
        return basis
    return np.ascontiguousarray(scipy.linalg.qr(basis, mode="economic", check_finite=False)[0])


def _orthonormalise(basis: FloatArray) -> bool:
    """Overwrite columns by orthonormal ones, each against those before it, by the Cholesky factor of their Gram matrix.

    False, and nothing done, where that matrix has too few digits left.
    """
    n_threads = effective_threads(None)
    gram = np.empty((basis.shape[1], basis.shape[1]), basis.dtype)
    kernels.gram(1.0, basis, None, None, 0.0, gram, n_threads)
    if not kernels.factor_cholesky(gram, n_threads):
        return False
    pivots = gram.diagonal()
    if not pivots.min() > 32 * np.sqrt(np.finfo(basis.dtype).eps) * pivots.max():
        return False
    kernels.solve_lower(gram, basis, n_threads)
    return True


def _measured(operator: Operator, mean: FloatArray, components: FloatArray, total: float, method: str) -> Spectrum:
    """Components with the variances along them, which are as good as squares of their errors allow (Rayleigh quotients)."""
    scores = operator.times(components.T)
    n = operator.shape[0]
    values = np.einsum("ij,ij->j", scores, scores, dtype=np.float64) / (n - 1)
    images = operator.transposed_times(scores).T / (n - 1)
    order = np.argsort(-values, kind="stable")  # of components that are not exact, neighbours may have changed places
    values, components = values[order], components[order]
    return Spectrum(mean, values, components, total, relative_residual(images[order], components, values), method)


def relative_residual(images: FloatArray, components: FloatArray, values: FloatArray) -> float:
    """The largest |S v - lambda v| over the largest lambda; `images` has the lines S v."""
    if len(values) == 0 or values[0] == 0:
        return 0.0
    return float(np.linalg.norm(images - components * values[:, None], axis=1).max() / values[0])


def _as_column(vector: FloatArray, operator: Operator) -> FloatArray:
    return vector.reshape(-1, 1).astype(operator.dtype, copy=False)
