"""Principal component analysis of rows that come in parts."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import gen_batches

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Null, Rule, check_params
from mercer._statistics import ColumnMoments, Products
from mercer._trace import Outcome
from mercer.decomposition._operators import operator_of
from mercer.decomposition._projection import PrincipalComponents
from mercer.decomposition._spectra import Spectrum, from_covariance, relative_residual, require_squares, with_fixed_signs

_MOST_COLUMNS = 1000  # of which all products are kept: eight megabytes; with more, the components stand for the rows seen


class IncrementalPCA(PrincipalComponents):
    r"""Principal component analysis of rows that come in parts, in memory that does not grow with them.

    The components are those of `PCA` on all rows seen: the eigenvectors of their covariance matrix. Up to 1,000 columns its
    sums are kept and added up (Chan et al.), so that parts and batches change nothing but the last digits. With more columns,
    the components stand for the rows seen: a part is decomposed together with them,

    .. math:: \begin{pmatrix} \Sigma V^\top \\ X - 1 \bar x^\top \\ \sqrt{n m / (n + m)}\, (\mu - \bar x)^\top \end{pmatrix},

    for n rows seen with mean :math:`\mu` and m new ones, and what they had beside the kept components is lost (Ross et al.).

    Parameters
    ----------
    n_components : int or None, default=None
        How many to keep; None is the smaller side of the first part.
    whiten : bool, default=False
        Divide the scores by their standard deviations: they are then uncorrelated with unit variance.
    copy : bool, default=True
        X is never overwritten, whatever is said here.
    batch_size : int or None, default=None
        How many rows `fit` takes at a time; None is five times the number of columns. Of sparse X, so many rows are made dense.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The directions, orthonormal, in the order of their variances. The entry of largest magnitude of each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : array of shape (n_components,)
        As in `PCA`.
    mean_, var_ : array of shape (n_features,)
        Of the columns, over all rows seen; `var_` with n in the denominator.
    noise_variance_ : float
        The mean of the variances that are left out.
    n_components_, n_samples_seen_, batch_size_ : int
    certificate_ : Certificate
        The residual max :math:`|S v_j - \lambda_j v_j|` over the largest eigenvalue; with more than 1,000 columns, of the
        matrix above.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Time O(n d^2) for the sums and O(d^3) at the end of `fit` and after each `partial_fit`; memory O(d^2). With more than 1,000
    columns O(m (k + m) d) a part of m rows. Bits do not depend on the number of threads.

    Differences from scikit-learn: up to 1,000 columns the result is that of `PCA` on all rows, where scikit-learn's depends on
    the batches; `noise_variance_` is the mean of all variances that are left out.

    References
    ----------
    D. A. Ross, J. Lim, R.-S. Lin, M.-H. Yang, "Incremental learning for robust visual tracking", International Journal of
    Computer Vision 77 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.decomposition import PCA, IncrementalPCA
    >>> X = np.random.RandomState(0).randn(200, 3) * [3, 2, 1]
    >>> parts = IncrementalPCA(n_components=2)
    >>> for rows in (X[:50], X[50:]):
    ...     parts = parts.partial_fit(rows)
    >>> bool(np.allclose(parts.components_, PCA(n_components=2).fit(X).components_))
    True
    """

    _input_tags = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "n_components": Null() | Integer(1),
        "whiten": Bool(),
        "copy": Bool(),
        "batch_size": Null() | Integer(1),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    @fit_method
    def fit(self, X: Any, y: Any = None) -> IncrementalPCA:
        """Find the components, batch by batch; what was seen before is forgotten.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse=("csr", "csc"))
        X = X.tocsr() if sp.issparse(X) else X
        batch_size = 5 * X.shape[1] if params.batch_size is None else params.batch_size
        task = FitTask.start(self, X)
        seen: Seen | None = None
        for batch in gen_batches(X.shape[0], batch_size, min_batch_size=params.n_components or 0):
            seen = self._added(seen, X[batch].toarray() if sp.issparse(X) else X[batch], params.n_components)
        return self._finish_with(task, seen, X, batch_size_=batch_size)

    @fit_method
    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> IncrementalPCA:
        """Add rows to those seen so far, as one batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        check_input : bool, default=True
            False leaves out all checks of X, which must then be a float array.

        Returns
        -------
        self
        """
        params = check_params(self)
        if sp.issparse(X):
            raise TypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense or use "
                "IncrementalPCA.fit to do so in batches."
            )
        seen = self._seen(params.n_components)
        if check_input:
            X = check_X(self, X, reset=seen is None)
        task = FitTask.start(self, X)
        return self._finish_with(task, self._added(seen, X, params.n_components), X)

    def _finish_with(self, task: FitTask, seen: Seen | None, X: Any, **others: Any) -> IncrementalPCA:
        """Store what was seen and the components of it."""
        assert seen is not None  # of one row at least
        spectrum = seen.spectrum(X.dtype)
        attributes = {
            **spectrum.attributes(seen.n_components, seen.n_rows, X.dtype),
            "var_": seen.column_variances.astype(X.dtype),
            "n_samples_seen_": seen.n_rows,
            "_sums": tuple(seen.products) if isinstance(seen, SeenSums) else None,
            **others,
        }
        return self._finish(task, attributes, Outcome(spectrum.certificate()))

    def _added(self, seen: Seen | None, rows: FloatArray, n_components: int | None) -> Seen:
        """What was seen, and more rows; sums that are not finite are an error."""
        seen = _first(rows, n_components) if seen is None else seen.added(rows)
        require_squares(self, rows, seen.n_rows * float(seen.column_variances.sum()))
        return seen

    def _seen(self, n_components: int | None) -> Seen | None:
        """What earlier calls have left; None before the first."""
        if not hasattr(self, "components_"):
            return None
        if n_components not in (None, self.n_components_):
            raise ValueError(
                f"Number of input features has changed from {self.n_components_} to {n_components} between calls to "
                "partial_fit! Try setting n_components to a fixed value: it must be the number of the components kept so far."
            )
        if self._sums is not None:
            return SeenSums(self.n_components_, Products(*self._sums))
        count = np.full(len(self.mean_), float(self.n_samples_seen_))
        moments = ColumnMoments(count, self.mean_.astype(np.float64), self.var_.astype(np.float64) * count)
        return SeenComponents(self.n_components_, moments, self.singular_values_, self.components_, 0.0)


class SeenSums(NamedTuple):
    """Rows as the sums of all products of their columns, which add up without loss."""

    n_components: int
    products: Products

    @property
    def n_rows(self) -> int:
        return int(self.products.weight)

    @property
    def column_variances(self) -> FloatArray:
        return self.products.gram.diagonal() / self.products.weight

    @staticmethod
    def of(rows: FloatArray, n_components: int) -> SeenSums:
        nothing, n_threads = np.empty((len(rows), 0), rows.dtype), effective_threads(None)
        return SeenSums(n_components, Products.of(rows, nothing, None, is_centred=True, n_threads=n_threads))

    def added(self, rows: FloatArray) -> SeenSums:
        with np.errstate(over="ignore", invalid="ignore"):  # the end of the fit looks at the result
            return SeenSums(self.n_components, self.products.merge(SeenSums.of(rows, self.n_components).products))

    def spectrum(self, dtype: Any) -> Spectrum:
        covariance = self.products.gram / max(self.n_rows - 1, 1)
        return from_covariance(self.products.means, covariance, self.n_components, dtype)


class SeenComponents(NamedTuple):
    """Rows as their components and singular values, which stand for them; the moments of the columns are exact."""

    n_components: int
    moments: ColumnMoments
    singular: FloatArray
    components: FloatArray
    residual: float

    @property
    def n_rows(self) -> int:
        return int(self.moments.weight[0])

    @property
    def column_variances(self) -> FloatArray:
        return self.moments.deviation / self.moments.weight

    @staticmethod
    def of(rows: FloatArray, n_components: int) -> SeenComponents:
        moments = ColumnMoments.of(rows, None, n_threads=effective_threads(None))
        return SeenComponents._decomposed(rows - moments.mean.astype(rows.dtype), moments, n_components)

    def added(self, rows: FloatArray) -> SeenComponents:
        part = ColumnMoments.of(rows, None, n_threads=effective_threads(None))
        moments = self.moments.merge(part)
        share = np.sqrt(self.n_rows * (len(rows) / moments.weight[0]))
        stacked = np.vstack(
            [
                self.singular[:, None] * self.components,
                rows - part.mean.astype(rows.dtype),
                share * (self.moments.mean - part.mean),
            ]
        )
        return SeenComponents._decomposed(stacked.astype(rows.dtype, copy=False), moments, self.n_components)

    @staticmethod
    def _decomposed(stacked: FloatArray, moments: ColumnMoments, n_components: int) -> SeenComponents:
        if not np.isfinite(moments.deviation).all():  # the caller looks for the culprit
            return SeenComponents(n_components, moments, moments.mean, stacked, np.nan)
        _, singular, vectors = scipy.linalg.svd(stacked, full_matrices=False, check_finite=False)
        components, operator = with_fixed_signs(vectors[:n_components]), operator_of(stacked)
        images = operator.transposed_times(operator.times(components.T)).T
        residual = relative_residual(images, components, singular[:n_components] ** 2)
        return SeenComponents(n_components, moments, singular[:n_components], components, residual)

    def spectrum(self, dtype: Any) -> Spectrum:
        degrees = max(self.n_rows - 1, 1)
        values, total = self.singular.astype(np.float64) ** 2 / degrees, float(self.moments.deviation.sum()) / degrees
        method = "singular value decomposition of components and new rows"
        return Spectrum(self.moments.mean, values, self.components.astype(dtype, copy=False), total, self.residual, method)


Seen = SeenSums | SeenComponents


def _first(rows: FloatArray, n_components: int | None) -> Seen:
    """The first rows, which decide how many components there are, and how rows are kept."""
    n, d = rows.shape
    if n_components is not None and n_components > d:
        raise ValueError(
            f"n_components={n_components} invalid for n_features={d}, need more rows than columns for IncrementalPCA "
            f"processing: it must be at most {d}."
        )
    if n_components is not None and n_components > n:
        raise ValueError(
            f"n_components={n_components} must be less or equal to the batch number of samples {n} for the first partial_fit "
            "call."
        )
    kind = SeenSums if d <= _MOST_COLUMNS else SeenComponents
    return kind.of(rows, min(n, d) if n_components is None else n_components)
