"""Ordinary least squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import MultiOutputMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._arrays import Finite, FloatArray, check_weights, check_X, check_X_y
from mercer._base import FitTask, fit_method
from mercer._linear import SPARSE, LinearRegressor
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, NumberOfJobs, Real, Rule, check_params, check_value
from mercer._parts.passes import is_parted
from mercer._trace import Certificate, Outcome, Status
from mercer._tuning import Space
from mercer.linear_model._inference.diagnostics import Diagnostics, diagnose
from mercer.linear_model._inference.summary import RegressionSummary, Statistics, refusal, summarise
from mercer.linear_model._inference.table import names_of_features
from mercer.linear_model._least_squares.dense_rows import DenseRows
from mercer.linear_model._least_squares.parted_rows import PartedRows
from mercer.linear_model._least_squares.solvers import Solution, least_squares, non_negative_least_squares, sparse_least_squares
from mercer.linear_model._least_squares.sparse_rows import SparseRows


class LinearRegression(MultiOutputMixin, LinearRegressor):  # type: ignore[misc]  # scikit-learn has no types
    r"""Linear regression by ordinary, weighted or non-negative least squares, with inference.

    Minimises :math:`\tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2` over the coefficients :math:`w` and the intercept :math:`b`,
    for the sample weights :math:`s_i`; of all minimisers, the one with the smallest :math:`\|w\|`.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept; without, :math:`b = 0`.
    copy_X : bool, default=True
        X is never changed, and copied only where it is rank-deficient or nearly so, whatever this says.
    tol : float, default=1e-6
        Dense X: directions along which X, with its columns scaled to one norm, varies by less than `tol` of the most are taken
        as not there. Sparse X: the precision of LSQR (its `atol` and `btol`) where that is the method.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    positive : bool, default=False
        Whether to restrict the coefficients to be >= 0. Dense X only.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    rank_ : int
        The rank of X, centred if there is an intercept. Dense X without `positive` only.
    singular_ : array of shape (min(n_samples, n_features),)
        The singular values of X, centred if there is an intercept and its rows times the roots of the weights; computed when
        asked for. Dense X without `positive` only.
    certificate_ : Certificate
        The objective (half the weighted residual sum of squares, added over targets) and the relative gradient: the largest
        :math:`|x_j^\top S r| / (\|x_j\|_S \|y\|_S)` over columns and targets, for centred x and y and the residuals r. LSQR
        has norms of all of X in place of a column's. With `positive`, what violates the optimality conditions counts.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Well-conditioned X, the usual case, is read once, O(n d^2), where it lies, in any memory order, and not copied: the products
    of its columns are summed in double precision about their means and solved by Cholesky. A condition
    estimate then decides: worse conditioned X gets refinement steps by the true residuals, one more reading each, and X whose
    columns are nearly or exactly dependent a singular value decomposition, with a copy in double precision. With fewer rows
    than columns the products are those of rows, O(n^2 d), always refined. Of float32 X with 64 columns or more the products are
    summed in single precision first, and the solution corrected by its residuals in double precision; `summary` then has
    what single precision tells of the products. Sparse X with up to 500 columns is solved by its
    products, refined, and by LSQR otherwise.

    The certificate is that of the solution in double precision; for float32 data `coef_` is then rounded.

    Differences from scikit-learn: the units of the columns do not matter (there, a column whose norm is `tol` times that of
    another is dropped). Weights that are all zero are refused.

    References
    ----------
    Å. Björck, "Numerical Methods for Least Squares Problems", SIAM 1996, sections 2.2 and 2.9.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import LinearRegression
    >>> X = np.array([[1.0, 1], [1, 2], [2, 2], [2, 3]])
    >>> model = LinearRegression().fit(X, X @ [1, 2] + 3)
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([1., 2.]), 3.0)
    >>> model.predict([[3, 5]]).round(6)
    array([16.])
    >>> model.certificate_.converged
    True
    """

    _takes_parts = True
    _search_space: ClassVar[Mapping[str, Space]] = {}
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "fit_intercept": Bool(),
        "copy_X": Bool(),
        "tol": Real(least=0),
        "n_jobs": NumberOfJobs(),
        "positive": Bool(),
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Find the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows for the coefficients, and as one row with half the variance for
            `summary`.

        Returns
        -------
        self
        """
        params = check_params(self)
        finite: Finite = "check" if sp.issparse(X) else "deferred"
        X, y = check_X_y(self, X, y, sparse=None if params.positive else SPARSE, finite=finite, multi_output=True)
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        task = FitTask.start(self, X, y)
        solution = self._solve(X, y, weights, params)
        facts = {"has_intercept": params.fit_intercept, "is_positive": params.positive}
        statistics = {"_statistics": Statistics.of(solution, X.shape[0], weights, **facts)}
        attributes = {**_attributes(solution, y, params), **statistics}
        return self._finish(task, attributes, _outcome(solution, params), unset=("rank_",))

    def _solve(self, X: Any, y: FloatArray, weights: FloatArray | None, params: SimpleNamespace) -> Solution:
        if sp.issparse(X):
            return sparse_least_squares(SparseRows(X, y, weights, is_centred=params.fit_intercept), params.tol)
        if is_parted(X):
            if params.positive:
                raise TypeError("LinearRegression: positive=True is not there for X in parts; it must be False.")
            return least_squares(PartedRows(self, X, y, weights, is_centred=params.fit_intercept), params.tol)
        rows = DenseRows(self, X, y, weights, is_centred=params.fit_intercept, n_threads=effective_threads(params.n_jobs))
        return non_negative_least_squares(rows) if params.positive else least_squares(rows, params.tol)

    @property
    def singular_(self) -> FloatArray:
        statistics: Statistics | None = vars(self).get("_statistics")
        values = None if statistics is None else statistics.singular_values()
        if values is None:
            raise AttributeError(f"{type(self).__name__} has singular_ only after a fit on dense X with positive=False.")
        return values.astype(self.coef_.dtype, copy=False)

    def summary(self, alpha: float = 0.05, *, target: int = 0, feature_names: Sequence[str] | None = None) -> RegressionSummary:
        """Standard errors, t tests, intervals and measures of fit for one target.

        Errors are taken as independent and normal; a row of weight s has the variance `scale` / s (weighted least squares, as
        in statsmodels' WLS), and rows of weight zero are not counted. Figures are right to about 1e-16 times the square of the
        condition number of X with its columns scaled to one norm.

        Parameters
        ----------
        alpha : float, default=0.05
            The intervals have confidence 1 - alpha.
        target : int, default=0
            Which column of y.
        feature_names : sequence of str or None, default=None
            Names for the table; None takes `feature_names_in_`, or x0, x1, and so on.

        Returns
        -------
        RegressionSummary

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.linear_model import LinearRegression
        >>> X = np.array([[1.0], [2], [3], [4], [5]])
        >>> LinearRegression().fit(X, [1.1, 1.9, 3.2, 3.9, 5.1]).summary().std_err.round(4)
        array([0.1625, 0.049 ])
        """
        check_is_fitted(self)
        owner = type(self).__name__
        alpha = check_value(owner, "alpha", alpha, Real(above=0, most=1))
        target = check_value(owner, "target", target, Integer(0))
        statistics = self._statistics
        coef = statistics.solution.coef
        if target >= len(coef):
            raise ValueError(f"{owner}: target={target} is not a column of y; it must be < {len(coef)}.")
        if reason := refusal(statistics):
            raise ValueError(f"{owner}: no summary; {reason}.")
        names = names_of_features(self, coef.shape[1], feature_names)
        return summarise(statistics, coef[target], names, alpha, target)

    def diagnose(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        alpha: float = 0.05,
        target: int = 0,
        feature_names: Sequence[str] | None = None,
    ) -> Diagnostics:
        """Test what the residuals say about the four assumptions, and measure the influence of rows.

        Linearity by Ramsey's RESET, homoscedasticity by the tests of Breusch and Pagan (studentised) and White, independence
        by that of Breusch and Godfrey, normality by Jarque and Bera's and the omnibus test; all as in statsmodels, on rows
        times the roots of their weights. White's test is left out where it has more columns than half the rows, or than 500.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As a rule, what the model was fitted on: in its order, for the test of independence.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
        alpha : float, default=0.05
            A p-value below it counts as a violation.
        target : int, default=0
            Which column of y.
        feature_names : sequence of str or None, default=None
            None takes `feature_names_in_`, or x0, x1, and so on.

        Returns
        -------
        Diagnostics

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.linear_model import LinearRegression
        >>> random = np.random.RandomState(0)
        >>> X = random.uniform(size=(200, 1))
        >>> y = X[:, 0] ** 2 + 0.01 * random.normal(size=200)
        >>> LinearRegression().fit(X, y).diagnose(X, y).violated[0]
        'linearity'
        """
        check_is_fitted(self)
        owner = type(self).__name__
        alpha = check_value(owner, "alpha", alpha, Real(above=0, most=1))
        target = check_value(owner, "target", target, Integer(0))
        X = check_X(self, X, reset=False).astype(np.float64, copy=False)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, y)
        y = y.reshape(len(y), -1)
        coef = np.atleast_2d(self.coef_).astype(np.float64)
        if y.shape[1] != len(coef) or target >= len(coef):
            raise ValueError(f"{owner}: y has {y.shape[1]} columns and target={target}; the fit has {len(coef)} targets.")
        weights = check_weights(sample_weight, len(X), np.float64)
        rows = slice(None) if weights is None else weights > 0
        roots = np.ones(len(X)) if weights is None else np.sqrt(weights[rows])
        fitted = X[rows] @ coef[target] + np.ravel(self.intercept_)[target if self.fit_intercept else 0]
        names = names_of_features(self, X.shape[1], feature_names)
        try:
            return diagnose(X[rows], y[rows, target], fitted, roots, names, has_intercept=self.fit_intercept, alpha=alpha)
        except ValueError as error:
            raise ValueError(f"{owner}: no diagnostics; {error}.") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.positive
        return tags


def _attributes(solution: Solution, y: FloatArray, params: SimpleNamespace) -> dict[str, Any]:
    """The fitted attributes, in the type and shape of y."""
    coef, d = solution.coef.astype(y.dtype, copy=False), solution.coef.shape[1]
    intercept: Any = 0.0
    if params.fit_intercept:  # by the coefficients as rounded, so that the mean of the predictions is that of y
        intercept = (solution.means[d:] - coef @ solution.means[:d]).astype(y.dtype, copy=False)
    if y.ndim == 1:
        coef, intercept = coef[0], intercept[0] if params.fit_intercept else intercept
    rank = {} if solution.rank is None else {"rank_": solution.rank}
    return {"coef_": coef, "intercept_": intercept, **rank}


def _outcome(solution: Solution, params: SimpleNamespace) -> Outcome:
    tol = max(params.tol, 1e-10)
    is_reached = solution.gradient <= tol
    certificate = Certificate(
        method=solution.method,
        status=Status.CONVERGED if is_reached else Status.INEXACT,
        primal=float(solution.residual_squares.sum()) / 2,
        condition="relative violation of the optimality conditions" if params.positive else "relative gradient",
        residual=solution.gradient,
        tol=tol,
    )
    warning = None
    if not is_reached:
        warning = (
            f"the relative gradient is {solution.gradient:.3g}, not within {tol:.3g}: X is badly conditioned. Scale its "
            "columns, drop those that nearly depend on others, or (dense X) lower tol."
        )
    return Outcome(certificate, warning=warning)
