"""Gaussians as kernels and models see them: what whitens, log-densities of rows, and the sums of an E step.

Covariances come in four kinds, in scikit-learn's shapes: "full" (K, d, d), "tied" (d, d), "diag" (K, d) and "spherical"
(K,). What whitens has the same shape: the inverse of the Cholesky factor, transposed ("full", "tied"), or one over the standard
deviation. Rows are centred first and whitened then, and sums of rows are taken about the means, so that large means cost no
digits. Knows no model.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads

CovarianceType = Literal["full", "tied", "diag", "spherical"]
COVARIANCE_TYPES: tuple[CovarianceType, ...] = ("full", "tied", "diag", "spherical")

LOG_TWO_PI = float(np.log(2 * np.pi))


def shape_of(kind: CovarianceType, n_components: int, n_features: int) -> tuple[int, ...]:
    """Of the covariances of a kind."""
    d = n_features
    shapes = {"full": (n_components, d, d), "tied": (d, d), "diag": (n_components, d), "spherical": (n_components,)}
    return shapes[kind]


def require_positive(name: str, matrices: FloatArray, kind: CovarianceType) -> None:
    """Refuse what is no covariance, and no inverse of one."""
    if kind in ("diag", "spherical"):
        if (matrices <= 0).any():
            raise ValueError(f"{name} should be positive")
        return
    for matrix in matrices if kind == "full" else [matrices]:
        if not np.allclose(matrix, matrix.T) or (np.linalg.eigvalsh(matrix) <= 0).any():
            raise ValueError(f"{name} should be symmetric, positive-definite")


class SingularCovarianceError(ValueError):
    """A covariance is not positive definite: `components` says which."""

    def __init__(self, components: list[int]) -> None:
        super().__init__(f"the covariances of components {components} are not positive definite")
        self.components = components


def whitening(covariances: FloatArray, covariance_type: CovarianceType) -> FloatArray:
    """What whitens under each covariance, in double precision and in the shape of the covariances: P with P P' the inverse."""
    covariances = np.asarray(covariances, dtype=np.float64)
    if covariance_type in ("diag", "spherical"):
        is_positive = covariances > 0
        if not is_positive.all():
            per_component = is_positive.all(axis=1) if covariance_type == "diag" else is_positive
            raise SingularCovarianceError(np.flatnonzero(~per_component).tolist())
        return 1 / np.sqrt(covariances)
    if covariance_type == "tied":
        return _inverse_root(covariances, 0)
    factors, singular = np.empty_like(covariances), []
    for k, covariance in enumerate(covariances):
        try:
            factors[k] = _inverse_root(covariance, k)
        except SingularCovarianceError as error:
            singular += error.components
    if singular:
        raise SingularCovarianceError(singular)
    return factors


def _inverse_root(covariance: FloatArray, component: int) -> FloatArray:
    """The inverse of the Cholesky factor, transposed."""
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise SingularCovarianceError([component]) from error
    if not np.isfinite(lower).all():
        raise SingularCovarianceError([component])
    root: FloatArray = solve_triangular(lower, np.eye(len(lower)), lower=True).T
    return root


def log_determinants(factors: FloatArray, covariance_type: CovarianceType, n_features: int) -> FloatArray:
    """The logarithm of the determinant of what whitens: of each Gaussian, or of all."""
    if covariance_type == "spherical":
        logs: FloatArray = n_features * np.log(factors)
    elif covariance_type == "diag":
        logs = np.log(factors).sum(axis=1)
    else:
        logs = np.log(np.abs(np.diagonal(factors, axis1=-2, axis2=-1))).sum(axis=-1)
    return logs


def precisions_of(factors: FloatArray, covariance_type: CovarianceType) -> FloatArray:
    """The inverse covariances."""
    if covariance_type in ("diag", "spherical"):
        return factors**2
    precisions: FloatArray = factors @ np.swapaxes(factors, -1, -2)
    return precisions


def inverse_traces(factors: FloatArray, covariance_type: CovarianceType, n_features: int) -> FloatArray:
    """The traces of the inverse covariances: of each Gaussian, or of all."""
    squares = factors**2
    if covariance_type == "spherical":
        return n_features * squares
    traces: FloatArray = squares.sum(axis=1) if covariance_type == "diag" else squares.sum(axis=(-2, -1))
    return traces


class Moments(NamedTuple):
    """What rows add up to for each Gaussian, by their shares in it: sums about `centres`, near the means."""

    centres: FloatArray  # (K, d)
    shares: FloatArray  # (K,): the sums of the shares
    firsts: FloatArray  # (K, d): the sums of share (x - centre)
    seconds: FloatArray  # (K, d, d): of share (x - centre)(x - centre)'; (K, d), their diagonals, for "diag" and "spherical"

    @classmethod
    def of(cls, X: FloatArray, shares: FloatArray, centres: FloatArray, covariance_type: CovarianceType) -> Moments:
        """By the shares given, (n, K) in double precision. One pass."""
        moments = cls._empty(centres, covariance_type)
        kernel = kernels.gaussian_moments if moments.is_full else kernels.diagonal_moments
        kernel(X, np.ascontiguousarray(shares, dtype=np.float64), *moments._flat(), effective_threads(None))
        return moments

    @classmethod
    def _empty(cls, centres: FloatArray, covariance_type: CovarianceType) -> Moments:
        centres = np.ascontiguousarray(centres, dtype=np.float64)
        k, d = centres.shape
        seconds = np.empty((k, d, d) if covariance_type in ("full", "tied") else (k, d))
        return cls(centres, np.empty(k), np.empty((k, d)), seconds)

    def _flat(self) -> tuple[FloatArray, ...]:
        return self.centres, self.shares, self.firsts, self.seconds.reshape(-1, self.centres.shape[1])

    @property
    def is_full(self) -> bool:
        return self.seconds.ndim == 3

    def shifts(self) -> FloatArray:
        """The means minus the centres; zero for a Gaussian without a share."""
        shares = self.shares[:, None]
        return np.divide(self.firsts, shares, out=np.zeros_like(self.firsts), where=shares > 0)

    def means(self) -> FloatArray:
        return self.centres + self.shifts()

    def scatter(self) -> FloatArray:
        """The sums of share (x - mean)(x - mean)' about the means of the rows themselves, or their diagonals."""
        shifts = self.shifts()
        if not self.is_full:
            return np.asarray(np.maximum(self.seconds - shifts * self.firsts, 0))
        scatter: FloatArray = self.seconds - shifts[:, :, None] * self.firsts[:, None, :]
        return (scatter + np.swapaxes(scatter, 1, 2)) / 2


class Gaussians:
    """K Gaussians: means (K, d), what whitens, and the logarithm of a weight each (or any other constant).

    log p_k(x) = log_weight_k + log |P_k| - d log(2 pi) / 2 - |P_k' (x - mean_k)|^2 / 2
    """

    def __init__(
        self,
        means: FloatArray,
        factors: FloatArray,
        covariance_type: CovarianceType,
        log_weights: FloatArray | float = 0.0,
    ) -> None:
        self.means = np.ascontiguousarray(means, dtype=np.float64)
        self.covariance_type: CovarianceType = covariance_type
        k, d = self.means.shape
        factors = np.asarray(factors, dtype=np.float64)
        self._is_full = covariance_type in ("full", "tied")
        if covariance_type == "spherical":
            lines = np.repeat(factors[:, None], d, axis=1)
        else:
            lines = np.ascontiguousarray(factors.reshape(-1, d))
        self._lines = lines
        constant = log_determinants(factors, covariance_type, d) - d * LOG_TWO_PI / 2
        self._offsets = np.ascontiguousarray(np.broadcast_to(constant + log_weights, k), dtype=np.float64)

    def log_densities(self, X: FloatArray) -> FloatArray:
        """log p_k of each row, (n, K), in the type of X; in any memory order of X. O(n K d^2), or O(n K d) for diagonals."""
        out = np.empty((len(X), len(self.means)), dtype=X.dtype)
        kernel = kernels.gaussian_log_densities if self._is_full else kernels.diagonal_log_densities
        kernel(X, self.means, self._lines, self._offsets, out, effective_threads(None))
        return out

    def expect(self, X: FloatArray, weights: FloatArray | None = None) -> tuple[Moments, float]:
        """The moments of the rows by their shares p_k / sum_k p_k, times their weights, and the weighted sum of
        log sum_k p_k: an E step and the sums of the M step in one pass over X. NaN in X gives NaN."""
        moments = Moments._empty(self.means, self.covariance_type)
        kernel = kernels.gaussian_expectations if self._is_full else kernels.diagonal_expectations
        centres, *sums = moments._flat()
        total = kernel(X, weights, centres, self._lines, self._offsets, *sums, effective_threads(None))
        return moments, float(total)


def shares_of(log_densities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The logarithm of the sum of each line of densities, and the share of each in it; the memory is that of the densities."""
    sums = np.empty(len(log_densities), dtype=log_densities.dtype)
    kernels.softmax_rows(log_densities, sums, log_densities, effective_threads(None))
    return sums, log_densities


def draw(random: Any, mean: FloatArray, covariance: FloatArray, n: int) -> FloatArray:
    """n rows from a Gaussian whose covariance is a matrix, a diagonal or one variance."""
    d = len(mean)
    if np.ndim(covariance) == 2:
        rows: FloatArray = random.multivariate_normal(mean, covariance, n)
    else:
        rows = mean + random.standard_normal(size=(n, d)) * np.sqrt(covariance)
    return rows
