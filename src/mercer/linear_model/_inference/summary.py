"""Inference for least squares: standard errors, tests and intervals from the small matrices that a fit leaves behind.

The errors are taken as independent and normal with variance scale / w_i for a row of weight w_i (known up to the scale), as in
statsmodels' WLS; without weights that is OLS. Rows of weight zero say nothing and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular, svdvals
from scipy.special import fdtrc, stdtr, stdtrit

from mercer._arrays import FloatArray
from mercer._parts.merging import Sums
from mercer._parts.passes import is_parted, total
from mercer._saved import saved
from mercer.linear_model._inference.table import coefficient_frame, coefficient_text
from mercer.linear_model._least_squares.solvers import Solution


@saved("RegressionStatistics")
@dataclass(frozen=True)
class Statistics:
    """What a fit keeps for `summary` and `singular_`: O(d^2) numbers, nothing of the length of the data."""

    solution: Solution
    n_obs: int
    log_weights: float  # the sum of the logarithms of the weights
    has_intercept: bool
    is_positive: bool

    @classmethod
    def of(
        cls, solution: Solution, n_rows: int, weights: FloatArray | None, *, has_intercept: bool, is_positive: bool
    ) -> Statistics:
        if weights is None:
            return cls(solution, n_rows, 0.0, has_intercept, is_positive)
        if is_parted(weights):
            n_obs, log_weights = total(_weight_sums, weights).values
        else:
            n_obs, log_weights = _weight_sums(weights).values
        return cls(solution, n_obs, log_weights, has_intercept, is_positive)

    @property
    def triangle(self) -> FloatArray:
        """Upper triangular R with R' R = A' A."""
        solution = self.solution
        assert solution.factor is not None
        assert solution.scales is not None
        triangle: FloatArray = solution.factor.T / solution.scales
        return triangle

    def singular_values(self) -> FloatArray | None:
        """Those of A, descending; None where the method neither found nor left them."""
        if self.solution.singular is not None:
            return self.solution.singular
        if self.solution.rank is None:
            return None
        if self.solution.row_gram is not None:
            squares = eigvalsh(self.solution.row_gram, check_finite=False)[::-1]
            return np.where(np.arange(len(squares)) < self.solution.rank, np.sqrt(np.maximum(squares, 0)), 0.0)
        values: FloatArray = svdvals(self.triangle, check_finite=False)
        return values


def _weight_sums(weights: FloatArray) -> Sums:
    """How many are positive, and the sum of their logarithms."""
    positive = weights[weights > 0].astype(np.float64)
    return Sums((len(positive), float(np.log(positive).sum())))


@dataclass(frozen=True, repr=False)
class RegressionSummary:
    """Coefficients with their uncertainty, and how well the model fits; its text is a table.

    Attributes
    ----------
    names : list of str
        "intercept" first if there is one, then the features.
    coef, std_err, t, p_value : arrays of shape (n_parameters,)
        p-values are two-sided, for the hypothesis that the coefficient is zero.
    conf_int : array of shape (n_parameters, 2)
        Intervals of confidence 1 - `alpha`.
    alpha : float
    r2, adj_r2 : float
        The share of the sum of squares explained: about the mean with an intercept, about zero without.
    f_statistic, f_pvalue : float
        For the hypothesis that all coefficients but the intercept are zero.
    scale : float
        The estimated variance of the errors, RSS / `df_resid`; `sigma2` is the same number.
    log_likelihood, aic, bic : float
    n_obs, df_model, df_resid : int
        Rows of positive weight, coefficients without the intercept, and `n_obs` minus all parameters.
    condition_number : float
        The ratio of the largest to the smallest singular value of X with its column of ones, rows times the roots of weights.
    """

    names: list[str]
    coef: FloatArray
    std_err: FloatArray
    t: FloatArray
    p_value: FloatArray
    conf_int: FloatArray
    alpha: float
    r2: float
    adj_r2: float
    f_statistic: float
    f_pvalue: float
    scale: float
    log_likelihood: float
    aic: float
    bic: float
    n_obs: int
    df_model: int
    df_resid: int
    condition_number: float

    @property
    def sigma2(self) -> float:
        return self.scale

    def to_frame(self) -> Any:
        """The table of coefficients as a pandas DataFrame."""
        columns = {"coef": self.coef, "std_err": self.std_err, "t": self.t, "p_value": self.p_value}
        return coefficient_frame(type(self).__name__, self.names, columns, self.conf_int)

    def __repr__(self) -> str:
        figures = [
            ("observations", f"{self.n_obs}", "R squared", f"{self.r2:.6g}"),
            ("df residuals", f"{self.df_resid}", "adjusted R squared", f"{self.adj_r2:.6g}"),
            ("df model", f"{self.df_model}", "F statistic", f"{self.f_statistic:.5g}"),
            ("scale", f"{self.scale:.6g}", "p of F", f"{self.f_pvalue:.3g}"),
            ("log likelihood", f"{self.log_likelihood:.6g}", "AIC", f"{self.aic:.6g}"),
            ("condition number", f"{self.condition_number:.3g}", "BIC", f"{self.bic:.6g}"),
        ]
        columns = {"coef": self.coef, "std err": self.std_err, "t": self.t, "p": self.p_value}
        return coefficient_text("Least squares", figures, self.names, columns, self.conf_int, self.alpha)


def summarise(statistics: Statistics, coef: FloatArray, names: list[str], alpha: float, target: int) -> RegressionSummary:
    """The summary for one target."""
    solution, n, d = statistics.solution, statistics.n_obs, len(coef)
    n_constant = int(statistics.has_intercept)
    df_resid = n - d - n_constant
    rss, tss = float(solution.residual_squares[target]), float(solution.total_squares[target])
    scale = rss / df_resid
    estimate, variance = coef, _unscaled_variance(statistics)
    if statistics.has_intercept:
        estimate = np.append(solution.means[d + target] - solution.means[:d] @ coef, coef)
        names = ["intercept", *names]
    # A perfect fit makes these infinite or undefined; that is the answer, and no reason to warn.
    with np.errstate(divide="ignore", invalid="ignore"):
        std_err = np.sqrt(scale * variance)
        t = estimate / std_err
        r2 = float(1 - np.float64(rss) / tss)
        f_statistic = float(np.float64(tss - rss) / d / scale)
        log_likelihood = float(-n / 2 * (np.log(2 * np.pi * rss / n) + 1)) + statistics.log_weights / 2
    half_width = stdtrit(df_resid, 1 - alpha / 2) * std_err
    n_parameters = d + n_constant
    return RegressionSummary(
        names=names,
        coef=estimate,
        std_err=std_err,
        t=t,
        p_value=2 * stdtr(df_resid, -np.abs(t)),
        conf_int=np.column_stack([estimate - half_width, estimate + half_width]),
        alpha=alpha,
        r2=r2,
        adj_r2=1 - (n - n_constant) / df_resid * (1 - r2),
        f_statistic=f_statistic,
        f_pvalue=float(fdtrc(d, df_resid, f_statistic)),
        scale=scale,
        log_likelihood=log_likelihood,
        aic=-2 * log_likelihood + 2 * n_parameters,
        bic=-2 * log_likelihood + float(np.log(n)) * n_parameters,
        n_obs=n,
        df_model=d,
        df_resid=df_resid,
        condition_number=_condition_number(statistics),
    )


def _unscaled_variance(statistics: Statistics) -> FloatArray:
    """The diagonal of the inverse of the Gram matrix, the intercept first if there is one."""
    solution = statistics.solution
    assert solution.factor is not None
    assert solution.scales is not None
    d = len(solution.scales)
    inverse = solve_triangular(solution.factor, np.diag(solution.scales), lower=True, check_finite=False)
    variance: FloatArray = np.einsum("ij,ij->j", inverse, inverse)
    if not statistics.has_intercept:
        return variance
    of_mean = inverse @ solution.means[:d]
    return np.append(1 / solution.weight + of_mean @ of_mean, variance)


def _condition_number(statistics: Statistics) -> float:
    triangle, solution = statistics.triangle, statistics.solution
    if statistics.has_intercept:
        d = len(triangle)
        root = np.sqrt(solution.weight)
        triangle = np.block([[np.array([[root]]), root * solution.means[None, :d]], [np.zeros((d, 1)), triangle]])
    values = svdvals(triangle, check_finite=False)
    return float(values[0] / values[-1])


def refusal(statistics: Statistics) -> str | None:
    """Why there is no inference for this fit, or None."""
    solution = statistics.solution
    d = solution.coef.shape[1]
    n_parameters = d + statistics.has_intercept
    if statistics.is_positive:
        return "positive=True restricts the coefficients, and their errors are then not normal; fit with positive=False"
    if statistics.n_obs <= n_parameters:
        return (
            f"{statistics.n_obs} rows of positive weight leave nothing to estimate the errors of {n_parameters} parameters from"
        )
    if solution.rank is not None and solution.rank < d:
        return f"X has rank {solution.rank} of {d}, so that the coefficients are not unique; drop columns that depend on others"
    if solution.factor is None:
        return "this sparse X was fitted without its Gram matrix (many columns, or badly conditioned); pass it dense"
    return None


NO_LIKELIHOOD = (
    "the loss is not a likelihood of the errors, so that standard errors do not follow from the fit; bootstrap it, or use "
    "LinearRegression or GeneralizedLinearRegressor"
)


class NoSummary:
    """Mixin for estimators whose fits have no standard errors: `summary` says why, and what has them."""

    _no_summary: ClassVar[str] = (
        "standard errors are not defined for a penalised fit, whose coefficients are biased by the penalty; "
        "use LinearRegression, or bootstrap the fit"
    )

    def summary(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: raises ValueError with the reason, for the arguments that `LinearRegression.summary` takes."""
        raise ValueError(f"{type(self).__name__}: no summary; {self._no_summary}.")
