"""The support vector machine of one class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Rule, check_params
from mercer.svm._dual import one_class
from mercer.svm._kernel_machine import SHARE, KernelMachine, Sample
from mercer.svm._machines import Machines, Part


class OneClassSVM(OutlierMixin, KernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    r"""The support of a distribution: rows on one side of a boundary far from the origin in the space of a kernel.

    Minimises

    .. math:: \tfrac12 \|w\|^2 - \nu n \rho + \sum_i s_i \max(0, \rho - w^\top \phi(x_i))

    over w and :math:`\rho`; a row is an outlier where :math:`w^\top \phi(x) < \rho`. At most a share :math:`\nu` of the rows
    are, and at least that share supports the boundary.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol
        As in `SVC`.
    nu : float, default=0.5
        Between 0 and 1: the share of rows that may be outliers.
    shrinking, cache_size, verbose, max_iter, max_time, n_jobs
        As in `SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, kernel_, fit_status_, shape_fit_, n_iter_, \
history_, certificate_, n_features_in_, feature_names_in_
        As in `SVR`.
    offset_ : array of shape (1,)
        :math:`\rho`: what `decision_function` subtracts from `score_samples`; minus `intercept_`.

    Notes
    -----
    As in `SVC`. With a kernel that depends on differences alone, such as "rbf", it is the smallest ball around the rows.

    References
    ----------
    B. Schölkopf et al., "Estimating the support of a high-dimensional distribution", Neural Computation 13, 2001.

    Examples
    --------
    >>> from mercer.svm import OneClassSVM
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> OneClassSVM(gamma="auto").fit(X).predict([[0.45], [3.0]])
    array([ 1, -1])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {**KernelMachine._parameter_rules, "nu": SHARE}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = False,
        max_iter: int = -1,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Find the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) for `kernel="precomputed"`
        y : None
            There are no labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows, one of weight zero as absent.

        Returns
        -------
        self
        """
        params = check_params(self)
        sample = self._sample(self._check_rows(X), sample_weight, params)
        rows = np.arange(len(sample.places), dtype=np.int32)
        self._solve(sample, None, [Part(rows, lambda C: one_class(sample.weights, params.nu))], params)
        return self

    def _fitted(self, sample: Sample, solver: Machines) -> dict[str, Any]:
        part = solver.parts[0]
        duals = part.row_duals
        support = np.flatnonzero(duals)
        found = self._support(sample, support, duals[None, support], np.array([self._bias_of(part, sample)]))
        return {**found, "offset_": -found["intercept_"], "n_iter_": part.n_steps}

    @staticmethod
    def _bias_of(part: Part, sample: Sample) -> float:
        """Minus rho, so that rows on the boundary are within it: by no more than the tolerance, and what rounding may take.

        The same rows that are asked for again (sparse, in other blocks) round otherwise, by what kernel and number of support
        vectors say; a thousandth of the tolerance is far beyond that, and far within what rho is known to.
        """
        slopes = part.slopes
        is_free = (part.duals > part.dual.low) & (part.duals < part.dual.up)
        rounding = 16 * float(np.finfo(sample.dtype).eps) * float(np.abs(slopes).max())
        slack = rounding + 1e-3 * float(sample.params.tol)
        return max(float(part.biases[0]), -float(slopes[is_free].min(initial=np.inf))) + slack

    def decision_function(self, X: Any) -> FloatArray:
        """How far rows are from the boundary, of shape (n_samples,): negative for outliers."""
        return self._values(X)[:, 0]

    def score_samples(self, X: Any) -> FloatArray:
        """The same without the offset."""
        scores: FloatArray = self.decision_function(X) + self.offset_
        return scores

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """1 for rows within the boundary, -1 for outliers."""
        return np.where(self.decision_function(X) > 0, 1, -1)
