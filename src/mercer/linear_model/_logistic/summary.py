"""Wald inference for logistic regression without a penalty: coefficients relative to the first class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer.linear_model._inference.wald import Likelihood, WaldSummary, inverse_information, wald_summary
from mercer.linear_model._logistic.fit import LikelihoodSums, LogisticProblem
from mercer.linear_model._logistic.run import Run

MOST_COEFFICIENTS = 2000  # the information of more is not kept


@saved("LogisticStatistics")
@dataclass(frozen=True)
class Statistics:
    """What a fit keeps for `summary`; `refusal` says why there is none."""

    sums: LikelihoodSums | None
    has_intercept: bool
    refusal: str | None = None


def statistics_of(run: Run) -> Statistics:
    """What `summary` will need, or why there is none."""
    has_intercept = run.problem.has_intercept
    if not run.strength.is_none:
        return Statistics(
            None, has_intercept, "a penalised fit has no standard errors, because its coefficients are biased; fit with C=inf"
        )
    if not isinstance(run.problem, LogisticProblem):
        return Statistics(
            None, has_intercept, "separate fits have no joint likelihood; fit with parametrization='reference', or two classes"
        )
    if run.point.coef.size > MOST_COEFFICIENTS:
        return Statistics(None, has_intercept, f"there are more than {MOST_COEFFICIENTS} coefficients")
    if run.problem.is_separated(run.point):
        return Statistics(
            None, has_intercept, "the classes are perfectly separable, so the coefficients have no finite estimate"
        )
    return Statistics(run.problem.likelihood(run.point), has_intercept)


def summarise(statistics: Statistics, classes: list[str], features: list[str], alpha: float) -> WaldSummary | str:
    """The summary, or the reason why there is none."""
    sums = statistics.sums
    if sums is None:
        return statistics.refusal or "nothing was kept for it"
    inverse = _inverse(sums, has_intercept=statistics.has_intercept)
    if inverse is None:
        return "the information is singular: some columns of X depend on others, or the classes are nearly separable"
    coef = np.column_stack([sums.intercept, sums.coef]) if statistics.has_intercept else sums.coef
    terms = ["intercept", *features] if statistics.has_intercept else features
    is_binary = len(classes) == 2
    names = terms if is_binary else [f"{label}: {term}" for label in classes[1:] for term in terms]
    model = "logistic regression" if is_binary else "multinomial logistic regression"
    return wald_summary(
        f"{model}, {'odds' if is_binary else 'each class'} relative to {classes[0]}",
        names,
        coef.ravel(),
        inverse,
        _likelihood(sums, coef.size),
        alpha=alpha,
        cov_type="observed information",
    )


def _likelihood(sums: LikelihoodSums, n_parameters: int) -> Likelihood:
    total = sums.class_weights.sum()
    null = float(xlogy(sums.class_weights, sums.class_weights / total).sum())
    return Likelihood(
        log_likelihood=sums.log_likelihood,
        deviance=-2 * sums.log_likelihood,
        null_deviance=-2 * null,
        pearson_chi2=sums.pearson_chi2,
        n_obs=sums.n_obs,
        df_model=sums.coef.size,
        df_resid=sums.n_obs - n_parameters,
    )


def _inverse(sums: LikelihoodSums, *, has_intercept: bool) -> FloatArray | None:
    """The inverse information of (intercept, coefficients) of X, output by output; None where it is singular."""
    n_outputs, d = sums.coef.shape
    blocks = sums.information.reshape(n_outputs, d + 1, n_outputs, d + 1)
    if not has_intercept:
        return inverse_information(blocks[:, :d, :, :d].reshape(n_outputs * d, n_outputs * d))
    inverse = inverse_information(sums.information)
    if inverse is None:
        return None
    change = np.zeros((d + 1, d + 1))  # the intercept of X is that of X - shift minus shift' coef
    change[0, :d], change[0, d] = -sums.shift, 1
    change[1:, :d] = np.eye(d)
    every = np.kron(np.eye(n_outputs), change)
    moved: FloatArray = every @ inverse @ every.T
    return moved
