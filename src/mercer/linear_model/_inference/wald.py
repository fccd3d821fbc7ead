"""Wald inference for models fitted by maximum likelihood: errors of the coefficients from the curvature at the maximum.

The covariance of the estimates is the dispersion times the inverse of the information, the Hessian of the negative log
likelihood at dispersion one: the observed one, or the one expected under the model (they are equal for canonical links). A row
of weight s has the dispersion scale / s, as with the prior weights of R's glm and statsmodels' `var_weights`; rows of weight
zero say nothing and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer.linear_model._inference.table import coefficient_frame, coefficient_text

SINGULAR = 1e-13  # the least reciprocal condition number (unit diagonal) of an information that is inverted


@saved("Likelihood")
@dataclass(frozen=True)
class Likelihood:
    """How well a model fits, apart from its coefficients.

    `deviance` is twice the distance of the log likelihood from that of a model with a mean for every row, at dispersion one;
    `null_deviance` is that of a model with nothing but an intercept. `pearson_chi2` may be NaN where it has no meaning.
    """

    log_likelihood: float
    deviance: float
    null_deviance: float
    pearson_chi2: float
    n_obs: int
    df_model: int
    df_resid: int
    scale: float = 1.0


@dataclass(frozen=True, repr=False)
class WaldSummary:
    """Coefficients with their asymptotic uncertainty, and how well the model fits; its text is a table.

    Attributes
    ----------
    model : str
        What was fitted, in words.
    names : list of str
        "intercept" first if there is one, then the features.
    coef, std_err, z, p_value : arrays of shape (n_parameters,)
        z = coef / std_err; p-values are two-sided, for the hypothesis that the coefficient is zero.
    conf_int : array of shape (n_parameters, 2)
        Intervals of confidence 1 - `alpha`.
    alpha : float
    uses_t : bool
        Whether p-values and intervals are those of Student's t with `df_resid` degrees of freedom, not of the normal law.
    covariance : array of shape (n_parameters, n_parameters)
        Of the coefficients, in the order of `names`.
    cov_type : str
        "expected information" or "observed information": what `covariance` is the inverse of, times `scale`.
    scale : float
        The dispersion: one where the family fixes it, else `pearson_chi2` / `df_resid`.
    log_likelihood, aic, bic : float
        The log likelihood at `scale`; the criteria count the coefficients alone, as statsmodels does.
    deviance, null_deviance, pearson_chi2 : float
        Of the model, of the model with an intercept alone, and the sum of squares of the Pearson residuals.
    pseudo_r2 : float
        The share of the deviance explained, 1 - `deviance` / `null_deviance`; for 0/1 targets that is McFadden's.
    n_obs, df_model, df_resid : int
        Rows of positive weight, coefficients without the intercepts, and `n_obs` minus all parameters.
    """

    model: str
    names: list[str]
    coef: FloatArray
    std_err: FloatArray
    z: FloatArray
    p_value: FloatArray
    conf_int: FloatArray
    alpha: float
    uses_t: bool
    covariance: FloatArray
    cov_type: str
    scale: float
    log_likelihood: float
    aic: float
    bic: float
    deviance: float
    null_deviance: float
    pearson_chi2: float
    pseudo_r2: float
    n_obs: int
    df_model: int
    df_resid: int

    def to_frame(self) -> object:
        """The table of coefficients as a pandas DataFrame."""
        columns = {"coef": self.coef, "std_err": self.std_err, "z": self.z, "p_value": self.p_value}
        return coefficient_frame(type(self).__name__, self.names, columns, self.conf_int)

    def __repr__(self) -> str:
        figures = [
            ("observations", f"{self.n_obs}", "log likelihood", f"{self.log_likelihood:.6g}"),
            ("df residuals", f"{self.df_resid}", "deviance", f"{self.deviance:.6g}"),
            ("df model", f"{self.df_model}", "null deviance", f"{self.null_deviance:.6g}"),
            ("scale", f"{self.scale:.6g}", "Pearson chi2", f"{self.pearson_chi2:.6g}"),
            ("pseudo R squared", f"{self.pseudo_r2:.6g}", "AIC", f"{self.aic:.6g}"),
            ("covariance", self.cov_type, "BIC", f"{self.bic:.6g}"),
        ]
        statistic = "t" if self.uses_t else "z"
        columns = {"coef": self.coef, "std err": self.std_err, statistic: self.z, "p": self.p_value}
        return coefficient_text(self.model, figures, self.names, columns, self.conf_int, self.alpha)


def inverse_information(information: FloatArray) -> FloatArray | None:
    """The inverse of a symmetric positive definite matrix; None where it is singular up to rounding."""
    roots = np.sqrt(np.maximum(information.diagonal(), 0))
    if not np.isfinite(information).all() or not (roots > 0).all():
        return None
    scaled = information / np.outer(roots, roots)  # the units of the columns do not matter
    try:
        inverse: FloatArray = cho_solve(cho_factor(scaled, lower=True), np.eye(len(roots)))
    except LinAlgError:
        return None
    if np.linalg.norm(scaled, 1) * np.linalg.norm(inverse, 1) > 1 / SINGULAR:
        return None
    symmetric: FloatArray = (inverse + inverse.T) / (2 * np.outer(roots, roots))
    return symmetric


def of_linear_rows(information: FloatArray, shift: FloatArray, *, has_intercept: bool) -> FloatArray | None:
    """The inverse information of (intercept, coefficients) of X from that of X - shift, whose intercept comes last.

    Inverted about the shift, where columns far from zero do no harm, and carried over: the intercept of X is that of X - shift
    minus shift' coef. Without an intercept, its row and column of `information` are not looked at. None where it is singular.
    """
    d = len(shift)
    if not has_intercept:
        return inverse_information(information[:d, :d])
    inverse = inverse_information(information)
    if inverse is None:
        return None
    change = np.zeros((d + 1, d + 1))
    change[0, :d], change[0, d] = -shift, 1
    change[1:, :d] = np.eye(d)
    moved: FloatArray = change @ inverse @ change.T
    return moved


def wald_summary(
    model: str,
    names: list[str],
    coef: FloatArray,
    inverse: FloatArray,
    likelihood: Likelihood,
    *,
    alpha: float,
    cov_type: str,
    uses_t: bool = False,
) -> WaldSummary:
    """The summary of coefficients with this inverse information, one name, coefficient and row each, in one order."""
    covariance = likelihood.scale * inverse
    # A perfect fit makes these infinite or undefined; that is the answer, and no reason to warn.
    with np.errstate(divide="ignore", invalid="ignore"):
        std_err = np.sqrt(covariance.diagonal())
        z = coef / std_err
        pseudo_r2 = float(1 - np.float64(likelihood.deviance) / likelihood.null_deviance)
    df = likelihood.df_resid
    half_width = (stdtrit(df, 1 - alpha / 2) if uses_t else ndtri(1 - alpha / 2)) * std_err
    n_parameters = len(coef)
    return WaldSummary(
        model=model,
        names=names,
        coef=coef,
        std_err=std_err,
        z=z,
        p_value=2 * (stdtr(df, -np.abs(z)) if uses_t else ndtr(-np.abs(z))),
        conf_int=np.column_stack([coef - half_width, coef + half_width]),
        alpha=alpha,
        uses_t=uses_t,
        covariance=covariance,
        cov_type=cov_type,
        scale=likelihood.scale,
        log_likelihood=likelihood.log_likelihood,
        aic=-2 * likelihood.log_likelihood + 2 * n_parameters,
        bic=-2 * likelihood.log_likelihood + float(np.log(likelihood.n_obs)) * n_parameters,
        deviance=likelihood.deviance,
        null_deviance=likelihood.null_deviance,
        pearson_chi2=likelihood.pearson_chi2,
        pseudo_r2=pseudo_r2,
        n_obs=likelihood.n_obs,
        df_model=likelihood.df_model,
        df_resid=likelihood.df_resid,
    )
