"""Wald inference from an information matrix: the formulas, against statsmodels and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as statsmodels

from mercer.linear_model._inference.wald import Likelihood, inverse_information, of_linear_rows, wald_summary


def poisson_fit(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) + 20
    y = random.poisson(np.exp((X - 20) @ [0.3, -0.2, 0.1] + 1))
    return X, statsmodels.GLM(y, statsmodels.add_constant(X), family=statsmodels.families.Poisson()).fit(tol=1e-14)


def summary_of(theirs, inverse, **options):
    likelihood = Likelihood(
        theirs.llf, theirs.deviance, theirs.null_deviance, theirs.pearson_chi2, int(theirs.nobs), 3, int(theirs.df_resid)
    )
    names = ["intercept", "a", "b", "a long name"]
    options = {"alpha": 0.05, "cov_type": "expected information", **options}
    return wald_summary("Poisson regression", names, theirs.params, inverse, likelihood, **options)


def information_about(X, mean, shift):
    rows = np.column_stack([X - shift, np.ones(len(X))])
    return rows.T @ (mean[:, None] * rows)


@pytest.mark.parametrize("uses_t", [False, True])
def test_errors_tests_and_intervals_equal_statsmodels(uses_t):
    X, theirs = poisson_fit()
    inverse = of_linear_rows(information_about(X, theirs.mu, X.mean(axis=0)), X.mean(axis=0), has_intercept=True)
    ours = summary_of(theirs, inverse, alpha=0.1, uses_t=uses_t)
    if uses_t:
        theirs = theirs.model.fit(tol=1e-14, use_t=True)
    pairs = {
        "std_err": theirs.bse, "z": theirs.tvalues, "p_value": theirs.pvalues, "conf_int": theirs.conf_int(0.1),
        "aic": theirs.aic, "bic": theirs.bic_llf, "covariance": theirs.cov_params(),
        "pseudo_r2": 1 - theirs.deviance / theirs.null_deviance,
    }  # fmt: skip
    for name, expected in pairs.items():
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=1e-7, err_msg=name)


def test_without_an_intercept_the_last_row_is_not_looked_at():
    X, theirs = poisson_fit()
    information = information_about(X, theirs.mu, np.zeros(3))
    information[-1] = information[:, -1] = np.nan
    inverse = of_linear_rows(information, np.zeros(3), has_intercept=False)
    np.testing.assert_allclose(inverse, np.linalg.inv(information[:3, :3]), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_units_of_columns_do_not_matter_and_singular_matrices_are_seen(scale):
    A = np.random.default_rng(0).normal(size=(20, 4)) * [1, scale, 1, 1]
    np.testing.assert_allclose(inverse_information(A.T @ A) @ (A.T @ A), np.eye(4), atol=1e-10 * max(scale, 1 / scale))
    A[:, 3] = A[:, 0]
    assert inverse_information(A.T @ A) is None
    A[:, 3] = A[:, 0] + 2e-8 * np.arange(20)  # Cholesky succeeds, with no digits left
    assert inverse_information(A.T @ A) is None
    A[:, 3] = 0
    assert inverse_information(A.T @ A) is None
    assert inverse_information(np.full((2, 2), np.inf)) is None


def test_the_text_is_a_table_with_the_names():
    pytest.importorskip("pandas")
    _, theirs = poisson_fit()
    summary = summary_of(theirs, np.eye(4))
    lines = repr(summary).splitlines()
    assert lines[0] == "Poisson regression"
    assert any(line.startswith("a long name") for line in lines)
    assert "[0.025" in repr(summary)
    assert max(map(len, lines)) <= 100
    frame = summary.to_frame()
    assert [*frame.index] == summary.names
    np.testing.assert_array_equal(frame["conf_high"], summary.conf_int[:, 1])
