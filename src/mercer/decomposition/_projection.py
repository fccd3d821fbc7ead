"""What linear projections share: scores from `components_`, rows from scores, and the Gaussian model behind components."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FLOATS, FloatArray, check_X, require_finite
from mercer._base import MercerEstimator
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.decomposition._operators import dense_product, operator_of

_ROWS_TOGETHER = 4096  # of which a centred copy is made at a time


class Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]  # no types there
    """A transformer to the span of `components_`: base of `PCA`, `IncrementalPCA` and `TruncatedSVD`."""

    components_: FloatArray

    def transform(self, X: Any) -> FloatArray:
        """The scores of X: its coordinates along the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_X(self, X, sparse=("csr", "csc"), finite="deferred", reset=False)
        return self._scores(X)

    def inverse_transform(self, X: Any) -> FloatArray:
        """The rows of the components' span that have the scores X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        n_components = len(self.components_)
        X = check_array(X, dtype=FLOATS, input_name="X", ensure_min_features=min(n_components, 1))
        if X.shape[1] != n_components:
            owner = type(self).__name__
            raise ValueError(f"X has {X.shape[1]} features, but {owner} is expecting {n_components} features as input: scores.")
        lines, centre = self._unscaled_components(), self._centre()
        dtype = np.result_type(X, lines)
        out = np.tile(centre.astype(dtype, copy=False), (len(X), 1))
        kernels.multiply(1.0, X.astype(dtype, copy=False), lines.astype(dtype, copy=False), 1.0, out, effective_threads(None))
        return out

    def _scores(self, X: Any) -> FloatArray:
        """Of checked X; one that is not finite is found by its scores."""
        lines = self._scaled_components()
        dtype = np.result_type(X.dtype, lines)
        operator = operator_of(X.astype(dtype, copy=False), self._centre())
        scores = operator.times(lines.astype(dtype, copy=False).T)
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = len(lines) > 0 and np.isfinite(scores.sum())
        if not is_finite:
            require_finite(self, X)
        return scores

    def _centre(self) -> FloatArray:
        """What scores are taken about."""
        return np.zeros(self.components_.shape[1], self.components_.dtype)

    def _scaled_components(self) -> FloatArray:
        """The lines that rows are multiplied with."""
        return self.components_

    def _unscaled_components(self) -> FloatArray:
        """The lines that scores are multiplied with."""
        return self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class PrincipalComponents(Projection):
    """A projection about the mean, perhaps whitened, with the covariance of the Gaussian model behind it."""

    whiten: bool
    mean_: FloatArray
    explained_variance_: FloatArray
    noise_variance_: float
    n_components_: int

    def get_covariance(self) -> FloatArray:
        """The covariance of the model: V' (L - s I) V + s I, with the variances L along the components V and the noise s.

        Returns
        -------
        array of shape (n_features, n_features)
        """
        check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        covariance = dense_product((self.components_.T * excess).astype(self.components_.dtype), self.components_)
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> FloatArray:
        """The inverse of the covariance, from its eigenvectors.

        Returns
        -------
        array of shape (n_features, n_features)
        """
        check_is_fitted(self)
        along, beside = self._precisions()
        components = self.components_.astype(np.float64, copy=False)
        precision = dense_product(components.T * (along - beside), components)
        precision.flat[:: len(precision) + 1] += beside
        return precision.astype(self.components_.dtype, copy=False)

    def _precisions(self) -> tuple[FloatArray, float]:
        """One over the variances of the model, along the components and beside them."""
        n_features, noise = self.components_.shape[1], float(self.noise_variance_)
        variances = np.maximum(self.explained_variance_.astype(np.float64), noise)
        if (noise <= 0 and self.n_components_ < n_features) or (len(variances) and variances[-1] <= 0):
            raise ValueError(
                f"{type(self).__name__}: the covariance of the model is singular: nothing varies in some direction "
                f"(n_components_={self.n_components_} of {n_features} features, noise_variance_={noise:g}), so that it has no "
                "inverse and rows no density. Leave constant and dependent columns out, or take fewer components."
            )
        return 1 / variances, 1 / noise if noise > 0 else 0.0

    def _log_likelihoods(self, X: Any) -> FloatArray:
        """log N(x; mean, covariance) of each row, in O(n d k): beside the components a row counts by its distance from them."""
        along, beside = self._precisions()
        (n_rows, n_features), n_components = X.shape, len(along)
        X = X.tocsr() if sp.issparse(X) else X
        mean, components = self.mean_.astype(np.float64), self.components_.astype(np.float64)
        squares = np.empty(n_rows)
        for first in range(0, n_rows, _ROWS_TOGETHER):
            rows = slice(first, first + _ROWS_TOGETHER)
            part = X[rows].toarray() if sp.issparse(X) else X[rows]
            centred = part.astype(np.float64) - mean
            scores = dense_product(centred, components.T) ** 2
            distances = np.maximum(np.einsum("ij,ij->i", centred, centred) - scores.sum(axis=1), 0)
            squares[rows] = (scores * along).sum(axis=1) + distances * beside
        log_determinant = -np.log(along).sum() - (n_features - n_components) * (np.log(beside) if beside else 0.0)
        return -0.5 * (squares + n_features * np.log(2 * np.pi) + log_determinant)

    def _centre(self) -> FloatArray:
        return self.mean_

    def _scaled_components(self) -> FloatArray:
        return self.components_ / self._scales() if self.whiten else self.components_

    def _unscaled_components(self) -> FloatArray:
        return self.components_ * self._scales() if self.whiten else self.components_

    def _scales(self) -> FloatArray:
        """Standard deviations along the components, in a column; where nothing varies, what keeps scores finite."""
        deviations = np.sqrt(self.explained_variance_)
        scales: FloatArray = np.maximum(deviations, np.finfo(deviations.dtype).eps)[:, None]
        return scales
