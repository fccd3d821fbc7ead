"""Principal component analysis."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, require_finite
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Null, OneOf, RandomState, Real, Rule, check_params
from mercer._parts.passes import is_parted
from mercer._random import as_random_state
from mercer._statistics import ColumnMoments
from mercer._trace import Outcome
from mercer.decomposition import _spectra
from mercer.decomposition._dimension import likeliest_dimension, n_components_for_share
from mercer.decomposition._projection import PrincipalComponents
from mercer.decomposition._spectra import Spectrum

# What "auto" goes by. Up to so many rows or columns, whichever are fewer, the eigenvectors of a Gram matrix cost less than
# subspace iteration; above, they do unless a small share of the components is asked for.
_MODERATE, _FEW = 1000, 0.1
_TALL = 10  # rows a column from which a decomposition of the rows costs many times more than their Gram matrix


class PCA(PrincipalComponents):
    r"""Principal component analysis: the orthogonal directions along which the rows vary most.

    The components are the eigenvectors of the covariance matrix, :math:`S v_j = \lambda_j v_j` with
    :math:`S = \sum_i (x_i - \mu)(x_i - \mu)^\top / (n - 1)`; the first k of them leave the least squared error
    :math:`\sum_i \|x_i - \mu - V V^\top (x_i - \mu)\|^2` of all projections on k dimensions.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        How many to keep; a number between 0 and 1 is a share of the variance that the kept ones must exceed; "mle" is the
        number of greatest evidence (Minka); None is as many as there are, min(n_samples, n_features), one fewer with "arpack".
    copy : bool, default=True
        X is never overwritten, whatever is said here.
    whiten : bool, default=False
        Divide the scores by their standard deviations: they are then uncorrelated with unit variance.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "covariance_eigh" takes the eigenvectors of the Gram matrix of the columns, or of the rows where they are fewer; "full"
        LAPACK's singular value decomposition of a centred copy; "arpack" Lanczos iteration and "randomized" subspace iteration
        from random starts, for the first few of many. "auto" is "covariance_eigh" up to 1,000 rows or columns (whichever are
        fewer) and where more than a tenth of the components is asked for, and "randomized" otherwise; where the smallest of
        the kept variances is below 1e-10 of the largest, and there are fewer than ten rows a column, it is "full". Sparse X is
        solved by "covariance_eigh" up to 1,000 columns and by "arpack" otherwise, and by no other.
    tol : float, default=0.0
        Of "arpack": how well singular values are to be found; 0 is machine precision.
    iterated_power : int or "auto", default="auto"
        Of "randomized": the number of power iterations; "auto" is 7 where fewer than a tenth of the components are asked for,
        and 4 otherwise.
    n_oversamples : int, default=10
        Of "randomized": how many random directions there are besides those asked for.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Of "randomized": what keeps the directions apart between iterations. "auto" divides them by the Cholesky factor of their
        Gram matrix (by QR where it has too few digits), and does nothing for two iterations and fewer.
    random_state : int, RandomState instance or None, default=None
        Seeds "arpack" and "randomized".

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The directions, orthonormal, in the order of their variances. The entry of largest magnitude of each is positive.
    explained_variance_ : array of shape (n_components,)
        The variances along them, with n - 1 in the denominator.
    explained_variance_ratio_ : array of shape (n_components,)
        Their shares of the variance of all columns together.
    singular_values_ : array of shape (n_components,)
        The norms of the scores: of the centred rows, the singular values.
    mean_ : array of shape (n_features,)
    n_components_, n_samples_ : int
    noise_variance_ : float
        The mean of the variances that are left out: the noise of probabilistic PCA (Tipping and Bishop).
    certificate_ : Certificate
        The residual of the eigen equation, max :math:`|S v_j - \lambda_j v_j|` over the largest eigenvalue, as the solver
        left it. "randomized" often ends short of machine precision, and its certificate says how far.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The Gram matrix is summed in double precision over rows shifted near their mean, in one pass, from any memory order and on
    all threads, with the same bits for any number of them: data far from the origin lose no digits. Time O(n d^2 + d^3) for
    n >= d; for n < d, O(n^2 d). Sparse X is centred implicitly and never made dense. float32 gives float32. Scores are those
    of rows that are centred value by value.

    Differences from scikit-learn: `certificate_`; "covariance_eigh" keeps the digits of data far from the origin, and takes the
    Gram matrix of the rows where they are fewer; "auto" chooses other solvers (above). `fit_transform` gives what `transform`
    gives. A singular model has no precision and no likelihood: an error instead of numbers that mean nothing.

    References
    ----------
    M. E. Tipping, C. M. Bishop, "Probabilistic principal component analysis", Journal of the Royal Statistical Society B 61
    (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.decomposition import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X)
    >>> pca.explained_variance_ratio_.round(4).tolist()
    [0.9924, 0.0076]
    >>> pca.transform([[0, 1]]).round(3).tolist()
    [[0.545, 0.838]]
    """

    _takes_parts = True
    _input_tags = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Null() | Integer(0) | Real(above=0, below=1) | OneOf("mle"),
        "copy": Bool(),
        "whiten": Bool(),
        "svd_solver": OneOf("auto", "full", "covariance_eigh", "arpack", "randomized"),
        "tol": Real(least=0),
        "iterated_power": OneOf("auto") | Integer(0),
        "n_oversamples": Integer(1),
        "power_iteration_normalizer": OneOf("auto", "QR", "LU", "none"),
        "random_state": RandomState(),
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    @fit_method
    def fit(self, X: Any, y: Any = None) -> PCA:
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    @fit_method
    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Find the components and give the scores of the same rows. Parameters as in `fit`."""
        return self._scores(self._fit(X))

    def _fit(self, X: Any) -> Any:
        """Fit, and give the checked X."""
        params = check_params(self)
        if sp.issparse(X) and params.svd_solver in ("full", "randomized"):
            raise TypeError(
                f"PCA: svd_solver={params.svd_solver!r} takes no sparse X; it must be 'auto', 'arpack' or 'covariance_eigh'. "
                "TruncatedSVD has a randomized solver for sparse X, which is then not centred."
            )
        X = check_X(self, X, sparse=("csr", "csc"), finite="deferred")
        _require_rows(self, X)
        solver = _choose_solver(params, X)
        n_components = _checked_number(params, X, solver)
        task = FitTask.start(self, X)
        spectrum = _solve(self, X, solver, n_components, params)
        k = _number_kept(spectrum, n_components, X.shape[0])
        attributes = {**spectrum.attributes(k, X.shape[0], X.dtype), "n_samples_": X.shape[0]}
        self._finish(task, attributes, Outcome(spectrum.certificate()))
        return X

    def score_samples(self, X: Any) -> FloatArray:
        """The logarithm of the density of each row under the model, that of probabilistic PCA.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Of sparse X, some rows at a time are made dense.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        X = check_X(self, X, sparse=("csr", "csc"), reset=False)
        return self._log_likelihoods(X).astype(np.result_type(X.dtype, self.components_), copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`. Parameters as there; y is ignored."""
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in ("auto", "arpack", "covariance_eigh")
        return tags


def _require_rows(estimator: Any, X: Any) -> None:
    if X.shape[0] < 2:
        raise ValueError(f"{type(estimator).__name__}: X has n_samples=1; variances need two rows at least.")


def _choose_solver(params: SimpleNamespace, X: Any) -> str:
    """The solver that is meant by "auto"; "gram" is "covariance_eigh" that may give way to "full"."""
    if is_parted(X):
        if params.svd_solver not in ("auto", "covariance_eigh"):
            raise TypeError(f"PCA: svd_solver={params.svd_solver!r} is not there for X in parts; it must be 'covariance_eigh'.")
        return "covariance_eigh"
    if params.svd_solver != "auto":
        return str(params.svd_solver)
    n_fewer, k = min(X.shape), params.n_components
    if sp.issparse(X):
        return "covariance_eigh" if X.shape[1] <= _MODERATE else "arpack"
    is_count = isinstance(k, int) and k >= 1
    return "randomized" if n_fewer > _MODERATE and is_count and k <= _FEW * n_fewer else "gram"


def _checked_number(params: SimpleNamespace, X: Any, solver: str) -> int | float | str:
    """The number of components asked for, or its rule; an error where this solver or X does not have as many."""
    n, d = X.shape
    is_iterative = solver in ("arpack", "randomized")
    name = "auto" if solver == "gram" else solver
    k: int | float | str | None = params.n_components
    if k is None:
        k = min(n, d) - (solver == "arpack")
    if k == "mle" and not is_iterative:
        if n < d:
            raise ValueError(
                f"n_components='mle' is only supported if n_samples >= n_features, and X has {n} rows and {d} columns. Give a "
                "number, or a share of the variance."
            )
        return "mle"
    if isinstance(k, str):
        raise ValueError(f"n_components={k!r} cannot be a string with svd_solver='{name}': it must be a number of components.")
    least, most = int(is_iterative), min(n, d)
    if not least <= k <= most:
        raise ValueError(
            f"n_components={k!r} must be between {least} and min(n_samples, n_features)={most} with svd_solver={name!r}"
        )
    if solver == "arpack" and k == most:
        raise ValueError(
            f"n_components={k!r} must be strictly less than min(n_samples, n_features)={most} with svd_solver={name!r}"
        )
    return k


def _solve(estimator: Any, X: Any, solver: str, n_components: int | float | str, params: SimpleNamespace) -> Spectrum:
    """The spectrum by the chosen solver; X that is not finite, or whose squares are not, is an error."""
    count = n_components if isinstance(n_components, int) else None
    if solver in ("gram", "covariance_eigh"):
        spectrum = _by_gram_matrix(X, count, may_give_way=solver == "gram")
        if spectrum is not None:
            _spectra.require_squares(estimator, X, spectrum.total)
            return spectrum
    require_finite(estimator, X)
    moments = ColumnMoments.of(X, None, n_threads=effective_threads(None))
    _spectra.require_squares(estimator, X, float(moments.deviation.sum()))
    if count is None or solver in ("gram", "full"):
        return _spectra.from_svd(X, moments)
    random = as_random_state(params.random_state)
    if solver == "arpack":
        return _spectra.from_lanczos(X, moments, count, tol=params.tol, random=random)
    n_iter = params.iterated_power
    if n_iter == "auto":
        n_iter = 7 if count < 0.1 * min(X.shape) else 4
    return _spectra.from_random_starts(
        X,
        moments,
        count,
        n_oversamples=params.n_oversamples,
        n_iter=n_iter,
        normalizer=params.power_iteration_normalizer,
        random=random,
    )


def _by_gram_matrix(X: Any, n_components: int | None, *, may_give_way: bool) -> Spectrum | None:
    """By the smaller Gram matrix; None where it has too few digits and may give way to a decomposition of the rows."""
    n, d = X.shape
    if n < d and not sp.issparse(X) and not is_parted(X):
        spectrum = _spectra.from_rows(X, n_components)
        return spectrum if spectrum is not None or may_give_way else _spectra.from_columns(X, n_components)
    spectrum = _spectra.from_columns(X, n_components)
    has_digits = not may_give_way or n >= _TALL * d or _spectra.has_digits(spectrum.values[: n - 1])
    return spectrum if has_digits else None


def _number_kept(spectrum: Spectrum, n_components: int | float | str, n_rows: int) -> int:
    """How many components are kept, now that all variances are known where that matters."""
    if n_components == "mle":
        return likeliest_dimension(spectrum.values, n_rows)
    if isinstance(n_components, float):
        return n_components_for_share(spectrum.values, spectrum.total, n_components)
    return int(n_components)
