"""Inference for generalised linear models: what an unpenalised fit keeps for its summary, O(d^2) numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer._solvers.linear_loss import make_linear_rows
from mercer._solvers.newton import Newton
from mercer._trace import iterate
from mercer.linear_model._glm.families import Family
from mercer.linear_model._glm.links import Link
from mercer.linear_model._glm.loss import DevianceLoss, ScoringLoss, sums_of_weights
from mercer.linear_model._inference.wald import Likelihood, WaldSummary, of_linear_rows, wald_summary


@saved("GlmStatistics")
@dataclass(frozen=True)
class GlmStatistics:
    """The inverse information of (intercept, coefficients), or why there is none, and how well the model fits."""

    coef: FloatArray
    inverse: FloatArray | None
    likelihood: Likelihood | None
    refusal: str | None
    title: str
    has_intercept: bool

    @classmethod
    def refused(cls, reason: str) -> GlmStatistics:
        """Of a fit without inference."""
        return cls(np.empty(0), None, None, reason, "", has_intercept=False)

    def summary(self, owner: str, names: list[str], alpha: float, *, uses_t: bool) -> WaldSummary:
        """The table, or an error that says why there is none."""
        if self.refusal is not None:
            raise ValueError(f"{owner}: no summary; {self.refusal}.")
        assert self.inverse is not None
        assert self.likelihood is not None
        names = ["intercept", *names] if self.has_intercept else names
        return wald_summary(
            self.title,
            names,
            self.coef,
            self.inverse,
            self.likelihood,
            alpha=alpha,
            cov_type="expected information",
            uses_t=uses_t,
        )


def glm_statistics(problem: DevianceLoss, point: FloatArray, raw: FloatArray, offset: FloatArray | None) -> GlmStatistics:
    """From the fitted point and the linear values there; one more pass over X, for the expected information."""
    family, link = problem.family, problem.link
    coef, intercept = problem.to_user(point)
    if problem.has_intercept:
        coef = np.append(intercept, coef)
    title = f"Generalised linear model: {family.name}, {link.name} link"
    weights = np.ones_like(problem.y) if problem.weights is None else problem.weights
    n_obs, n_parameters = int(np.count_nonzero(weights)), len(coef)
    inverse = likelihood = refusal = None
    if n_obs <= n_parameters:
        refusal = f"{n_obs} rows of positive weight leave nothing to estimate the errors of {n_parameters} parameters from"
    else:
        with np.errstate(all="ignore"):
            inverse = _inverse_information(problem, weights, raw)
            likelihood = _likelihood(problem, weights, raw, offset, n_obs, n_parameters)
        if inverse is None:
            refusal = "the information is singular, so that the coefficients are not unique; drop columns that depend on others"
    return GlmStatistics(coef, inverse, likelihood, refusal, title, problem.has_intercept)


def _means(family: Family, link: Link, raw: FloatArray) -> FloatArray:
    """Means, those that rounding has put on the border of the domain a little inside."""
    mean = link.inverse(raw)
    inside = family.inside(mean)
    return mean if inside is None else inside


def _inverse_information(problem: DevianceLoss, weights: FloatArray, raw: FloatArray) -> FloatArray | None:
    mean = problem.family.inside(problem.link.inverse(raw))
    if mean is None:
        return None
    curvatures = np.where(weights > 0, weights * problem.link.derivative(raw) ** 2 / problem.family.variance(mean), 0)
    _, information = problem.rows.weighted_sums(np.zeros_like(raw), curvatures)
    return of_linear_rows(information, problem.rows.shift, has_intercept=problem.has_intercept)


def _likelihood(
    problem: DevianceLoss, weights: FloatArray, raw: FloatArray, offset: FloatArray | None, n_obs: int, n_parameters: int
) -> Likelihood:
    family, link = problem.family, problem.link
    null = np.broadcast_to(problem.average, raw.shape) if offset is None else _null_means(problem, offset)
    mean = _means(family, link, raw)
    present = weights > 0
    y, mean, null, weights = problem.y[present], mean[present], null[present], weights[present]
    deviance = float((weights * family.unit_deviance(y, mean)).sum())
    pearson = float((weights * (y - mean) ** 2 / family.variance(mean)).sum())
    df_resid = n_obs - n_parameters
    scale = 1.0 if family.has_fixed_scale else pearson / df_resid
    # With the identity link the scale of the normal law has a closed form, at which the likelihood is largest.
    of_density = deviance / n_obs if (family.name, link.name) == ("normal", "identity") else scale
    return Likelihood(
        log_likelihood=float(family.log_likelihood(y, mean, weights, of_density).sum()),
        deviance=deviance,
        null_deviance=float((weights * family.unit_deviance(y, null)).sum()),
        pearson_chi2=pearson,
        n_obs=n_obs,
        df_model=n_parameters - problem.has_intercept,
        df_resid=df_resid,
        scale=scale,
    )


def _null_means(problem: DevianceLoss, offset: FloatArray) -> FloatArray:
    """The means of the model with nothing but an intercept and the offset."""
    rows = make_linear_rows(np.empty((len(offset), 0)), is_shifted=True, n_threads=1)
    null = ScoringLoss(rows, problem.y, problem.weights, problem.family, problem.link, 0.0, has_intercept=True, offset=offset)
    solver = Newton(null, null.first_point(), tol=1e-12)
    iterate(solver, max_iter=100, watch=lambda record: False)
    return problem.link.inverse(null.values(solver.point))


def explained_deviance(family: Family, link: Link, y: FloatArray, raw: FloatArray, weights: FloatArray | None) -> float:
    """D^2: one minus the deviance of the predictions over that of the mean of y; for a constant y, whether it is met."""
    _, average = sums_of_weights(weights, y)
    with np.errstate(all="ignore"):
        mean = _means(family, link, raw)
        of_mean = np.broadcast_to(average, y.shape)
        deviance, null = (float(np.average(family.unit_deviance(y, at), weights=weights)) for at in (mean, of_mean))
    if null > 0:
        return 1 - deviance / null
    return float(deviance == 0)
