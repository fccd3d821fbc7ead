"""Support vector regression with kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._arrays import FloatArray
from mercer._base import fit_method
from mercer._params import Real, Rule, check_params
from mercer._tuning import Reals, Space
from mercer.svm._dual import Dual, nu_regression, regression
from mercer.svm._kernel_machine import COST, GAMMAS, SHARE, KernelMachine, Sample
from mercer.svm._machines import Machines, Part


class KernelRegressor(RegressorMixin, KernelMachine):  # type: ignore[misc]  # scikit-learn has no types
    """What regression by epsilon and by nu share."""

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) for `kernel="precomputed"`
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the cost of a row: a row of weight two counts as two equal rows, one of weight zero as absent.

        Returns
        -------
        self
        """
        params = check_params(self)
        X, y, sample = self._check_data(X, y, sample_weight, params)
        self._solve(sample, y, self._parts(sample, params), params)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> tuple[Any, Any, Sample]:
        X, y = self._check_rows(X, y, y_numeric=True)
        sample = self._sample(X, sample_weight, params)
        sample.targets = np.asarray(y, dtype=np.float64)[sample.places]
        return X, y, sample

    def _parts(self, sample: Sample, params: SimpleNamespace) -> list[Part]:
        rows = np.arange(len(sample.targets), dtype=np.int32)
        return [Part(rows, lambda C: self._problem(sample.targets, C * sample.weights, params))]

    @abstractmethod
    def _problem(self, y: FloatArray, costs: FloatArray, params: SimpleNamespace) -> Dual: ...

    def _fitted(self, sample: Sample, solver: Machines) -> dict[str, Any]:
        part = solver.parts[0]
        duals = part.row_duals
        support = np.flatnonzero(duals)
        found = self._support(sample, support, duals[None, support], np.array([np.mean(part.biases)]))
        return {**found, "n_iter_": part.n_steps}

    def predict(self, X: Any) -> FloatArray:
        """The values of the model, of shape (n_samples,)."""
        return self._values(X)[:, 0]


class SVR(KernelRegressor):
    r"""Support vector regression with a kernel, solved to a duality gap.

    Minimises, in the space of the kernel :math:`k(x, z) = \phi(x)^\top \phi(z)`,

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i \max(0, |y_i - f(x_i)| - \varepsilon), \qquad f(x) = w^\top \phi(x) + b,

    by its dual over :math:`\beta_i = \alpha_i - \alpha_i^*` in :math:`[-C s_i, C s_i]` with sum zero,
    :math:`\max -\tfrac12 \sum_{ij} \beta_i \beta_j k(x_i, x_j) - \varepsilon \sum_i |\beta_i| + \sum_i y_i \beta_i`. Rows
    inside the tube support nothing.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in `SVC`.
    tol : float, default=1e-3
        The fit stops when no optimality condition is violated by more; the gap reached is in `certificate_`.
    C : float, default=1.0
        The weight of the losses against the penalty. `inf` allows no error beyond the tube.
    epsilon : float, default=0.1
        Half the width of the tube: errors up to it cost nothing.
    shrinking, cache_size, verbose, max_iter, max_time, n_jobs
        As in `SVC`.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
    support_vectors_ : {array, sparse matrix} of shape (n_SV, n_features)
    n_support_ : array of shape (1,)
    dual_coef_ : {array, sparse matrix} of shape (1, n_SV)
        :math:`\beta`.
    coef_ : {array, sparse matrix} of shape (1, n_features)
        For the linear kernel.
    intercept_ : array of shape (1,)
    kernel_, fit_status_, shape_fit_, history_, certificate_, n_features_in_, feature_names_in_
        As in `SVC`.
    n_iter_ : int
        Steps, each of which moves two variables.

    Notes
    -----
    Each row has two variables over one line of the kernel. Otherwise as in `SVC`.

    References
    ----------
    A. J. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing 14, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> len(model.support_) < 20
    True
    >>> bool((np.abs(np.sin(X[:, 0]) - model.predict(X)) < 0.06).all())
    True
    """

    _search_space: ClassVar[Mapping[str, Space] | None] = {
        "gamma": GAMMAS,
        "C": Reals(1e-2, 1e3, log=True),
        "epsilon": Reals(1e-3, 1.0, log=True),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {**KernelMachine._parameter_rules, "C": COST, "epsilon": Real(least=0)}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _problem(self, y: FloatArray, costs: FloatArray, params: SimpleNamespace) -> Dual:
        return regression(y, costs, params.epsilon)


class NuSVR(KernelRegressor):
    r"""Support vector regression with a kernel, where a share of the rows replaces the width of the tube.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + C \Bigl( \nu n \varepsilon + \sum_i s_i \max(0, |y_i - f(x_i)| - \varepsilon) \Bigr)

    over w, b and :math:`\varepsilon`. At most a share :math:`\nu` of the rows lies outside the tube.

    Parameters
    ----------
    nu : float, default=0.5
        Between 0 and 1.
    C : float, default=1.0
        The weight of the losses against the penalty.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_time, n_jobs
        As in `SVC`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found.
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, kernel_, fit_status_, shape_fit_, n_iter_, \
history_, certificate_, n_features_in_, feature_names_in_
        As in `SVR`.

    Notes
    -----
    The dual keeps the sums of both halves of the variables, so that pairs are moved within a half. Otherwise as in `SVR`.

    References
    ----------
    B. Schölkopf et al., "New support vector algorithms", Neural Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.svm import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> NuSVR(C=10, nu=0.2).fit(X, np.sin(X[:, 0])).predict([[1.5]]).round()
    array([1.])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {
        "gamma": GAMMAS,
        "C": Reals(1e-2, 1e3, log=True),
        "nu": Reals(0.05, 1.0),
    }
    _parameter_rules: ClassVar[dict[str, Rule]] = {**KernelMachine._parameter_rules, "C": Real(above=0), "nu": SHARE}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: int = False,
        max_iter: int = -1,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs

    def _problem(self, y: FloatArray, costs: FloatArray, params: SimpleNamespace) -> Dual:
        return nu_regression(y, costs, params.nu)

    def _fitted(self, sample: Sample, solver: Machines) -> dict[str, Any]:
        under, over = solver.parts[0].biases  # of y - f = epsilon and of y - f = -epsilon
        return {**super()._fitted(sample, solver), "epsilon_": (under - over) / 2}
