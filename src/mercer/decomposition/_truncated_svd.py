"""The first singular vectors of rows that are not centred."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Integer, OneOf, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer._statistics import ColumnMoments
from mercer._trace import Certificate, Outcome
from mercer.decomposition._operators import Operator, operator_of
from mercer.decomposition._projection import Projection
from mercer.decomposition._spectra import (
    eigen_certificate,
    lanczos_svd,
    random_starts_svd,
    relative_residual,
    require_squares,
    shares,
)


class TruncatedSVD(Projection):
    r"""The first singular vectors of X, which is not centred: latent semantic analysis, where X counts words.

    Of all matrices of rank k, :math:`U_k \Sigma_k V_k^\top` leaves the least :math:`\|X - U_k \Sigma_k V_k^\top\|_F`; the
    scores are :math:`X V_k`.

    Parameters
    ----------
    n_components : int, default=2
        How many: at most n_features, and fewer than either side of X with "arpack".
    algorithm : {"randomized", "arpack"}, default="randomized"
        Subspace iteration from random starts, or Lanczos iteration.
    n_iter : int, default=5
        Of "randomized": the number of power iterations.
    n_oversamples : int, default=10
        Of "randomized": how many random directions there are besides those asked for.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Of "randomized": what keeps the directions apart between iterations. "auto" divides them by the Cholesky factor of their
        Gram matrix (by QR where it has too few digits), and does nothing for two iterations and fewer.
    random_state : int, RandomState instance or None, default=None
        Seeds the start.
    tol : float, default=0.0
        Of "arpack": how well singular values are to be found; 0 is machine precision.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The right singular vectors; the entry of largest magnitude of each is positive.
    singular_values_ : array of shape (n_components,)
    explained_variance_ : array of shape (n_components,)
        The variances of the scores, with n in the denominator.
    explained_variance_ratio_ : array of shape (n_components,)
        Their shares of the variance of all columns together.
    certificate_ : Certificate
        The residual max :math:`|X^\top X v_j - \sigma_j^2 v_j|` over the largest :math:`\sigma^2`, as it was left.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Sparse X (CSR or CSC) stays sparse; its products run on all threads, with the same bits for any number of them. Time
    O(n_iter nnz k) and memory O((n + d) k) besides X by columns. float32 gives float32.

    Differences from scikit-learn: `certificate_`. The draws are the same; "auto" normalises in another way, which changes the
    span of the directions by rounding alone.

    References
    ----------
    N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from mercer.decomposition import TruncatedSVD
    >>> X = sp.csr_array(np.diag([3.0, 2.0, 1.0, 0.5]))
    >>> svd = TruncatedSVD(n_components=2, random_state=0).fit(X)
    >>> svd.singular_values_.round(3).tolist()
    [3.0, 2.0]
    """

    _input_tags = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Integer(1),
        "algorithm": OneOf("arpack", "randomized"),
        "n_iter": Integer(0),
        "n_oversamples": Integer(1),
        "power_iteration_normalizer": OneOf("auto", "QR", "LU", "none"),
        "random_state": RandomState(),
        "tol": Real(least=0),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> TruncatedSVD:
        """Find the singular vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fit_scores(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Find the singular vectors and give the scores of the same rows. Parameters as in `fit`."""
        return self._fit_scores(X)

    @fit_method
    def _fit_scores(self, X: Any) -> FloatArray:
        params = check_params(self)
        X = check_X(self, X, sparse=("csr", "csc"))
        self._check_number(params.n_components, params.algorithm, X.shape)
        task = FitTask.start(self, X)
        n_rows, moments = X.shape[0], ColumnMoments.of(X, None, n_threads=effective_threads(None))
        with np.errstate(over="ignore"):
            require_squares(self, X, float((moments.deviation + n_rows * moments.mean**2).sum()))
        operator, random = operator_of(X), as_random_state(params.random_state)
        if params.algorithm == "arpack":
            _, singular, components = lanczos_svd(operator, params.n_components, tol=params.tol, random=random)
        else:
            _, singular, components = random_starts_svd(
                operator,
                params.n_components,
                n_oversamples=params.n_oversamples,
                n_iter=params.n_iter,
                normalizer=params.power_iteration_normalizer,
                random=random,
            )
        scores = operator.times(components.T)
        variances = scores.var(axis=0, dtype=np.float64)
        attributes = {
            "components_": components,
            "singular_values_": singular,
            "explained_variance_": variances.astype(X.dtype),
            "explained_variance_ratio_": shares(variances, float(moments.deviation.sum()) / n_rows).astype(X.dtype),
        }
        self._finish(task, attributes, Outcome(_certificate(operator, scores, components, singular, params)))
        return scores

    def _check_number(self, n_components: int, algorithm: str, shape: tuple[int, int]) -> None:
        if algorithm == "arpack" and n_components >= min(shape):
            raise ValueError(
                f"n_components={n_components} must be less than min(n_samples, n_features)={min(shape)} with "
                "algorithm='arpack'."
            )
        if n_components > shape[1]:
            raise ValueError(f"n_components({n_components}) must be <= n_features({shape[1]}): X has n_features={shape[1]}.")


def _certificate(
    operator: Operator, scores: FloatArray, components: FloatArray, singular: FloatArray, params: SimpleNamespace
) -> Certificate:
    method = "Lanczos iteration (ARPACK)"
    if params.algorithm == "randomized":
        method = f"randomized subspace iteration ({params.n_iter} power iterations)"
    residual = relative_residual(operator.transposed_times(scores).T, components, singular**2)
    return eigen_certificate(method, residual, components.dtype)
