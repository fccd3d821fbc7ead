"""Locally weighted regression: a fit of its own around each query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, check_X_y
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, NumberOfJobs, Real, Rule, check_params
from mercer._tuning import Choices, Reals, Space


class LocallyWeightedRegression(MultiOutputMixin, RegressorMixin, MercerEstimator):  # type: ignore[misc]
    r"""Regression by a weighted fit around each query: near rows count more than far ones.

    For a query :math:`x'` it minimises :math:`\sum_i s_i \exp(-\|x_i - x'\|^2 / \tau^2) (y_i - b - w^\top (x_i - x'))^2` and
    predicts :math:`b`; with degree 0, :math:`w = 0` and the prediction is the weighted mean (Nadaraya and Watson's estimator).

    Parameters
    ----------
    tau : float, default=1.0
        The bandwidth: rows farther than a few `tau` hardly count. Large values give the global fit, small ones the value of
        the nearest row.
    degree : {0, 1}, default=1
        Whether the fit around a query is a constant or linear.
    n_jobs : int or None, default=None
        The number of threads for predictions; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The fit only keeps a copy of the data, so that there is nothing to certify. A prediction costs O(n d) for the distances and
    O(m d^2) for the m rows that count. Weights are relative to the largest, which never vanishes, however far the query; rows
    below 2^-52 of it are left out. Where the rows around a query leave several fits, such as fewer rows than
    features, it is the one of least slope: the value of the nearest row if that is alone.

    scikit-learn has no such model. Scale the columns of X first: one bandwidth serves them all.

    References
    ----------
    W. S. Cleveland and S. J. Devlin, "Locally Weighted Regression: An Approach to Regression Analysis by Local Fitting",
    Journal of the American Statistical Association 83, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LocallyWeightedRegression
    >>> X = np.linspace(0, 6, 61)[:, None]
    >>> model = LocallyWeightedRegression(tau=0.3).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[0.0], [1.5], [3.0]]).round(2)
    array([0.  , 0.98, 0.14])
    """

    _search_space: ClassVar[Mapping[str, Space]] = {"tau": Reals(0.05, 10.0, log=True), "degree": Choices(0, 1)}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "tau": Real(above=0),
        "degree": Integer(0, most=1),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(self, tau: float = 1.0, *, degree: int = 1, n_jobs: int | None = None) -> None:
        self.tau = tau
        self.degree = degree
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LocallyWeightedRegression:
        """Learn the rows by heart.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        check_params(self)
        X, y = check_X_y(self, X, y, multi_output=True)
        weights = check_weights(sample_weight, X.shape[0], np.float64)
        task = FitTask.start(self, X, y)
        if weights is not None:
            with np.errstate(divide="ignore"):
                weights = np.log(weights)
        attributes = {
            "_fit_X": np.array(X, order="F"),  # columns lie together: distances are taken a column at a time
            "_fit_y": np.array(y if y.ndim == 2 else y[:, None]),
            "_log_weights": weights,
            "_has_one_target": y.ndim == 1,
        }
        return self._finish(task, attributes)

    def predict(self, X: Any) -> FloatArray:
        """The value at each query, of shape (n_queries,) or (n_queries, n_targets)."""
        check_is_fitted(self)
        params = check_params(self)
        X = check_X(self, X, reset=False).astype(self._fit_X.dtype, copy=False)
        out = np.empty((X.shape[0], self._fit_y.shape[1]), dtype=X.dtype)
        n_threads = effective_threads(params.n_jobs)
        kernels.locally_weighted(self._fit_X, self._fit_y, self._log_weights, params.tau, params.degree == 1, X, out, n_threads)
        return out[:, 0] if self._has_one_target else out
