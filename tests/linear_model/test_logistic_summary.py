"""Inference for logistic regression against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.linear_model import LogisticRegression
from tests.linear_model.test_logistic import make

sm = pytest.importorskip("statsmodels.api")


def _assert_summary_is(summary, theirs, params, bse, conf_int, n_parameters):
    np.testing.assert_allclose(summary.coef, params, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(summary.std_err, bse, rtol=1e-6)
    np.testing.assert_allclose(summary.z, params / bse, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(summary.conf_int, conf_int, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(summary.log_likelihood, theirs.llf)
    np.testing.assert_allclose(summary.null_deviance, -2 * theirs.llnull, rtol=1e-7)
    np.testing.assert_allclose(summary.deviance, -2 * theirs.llf)
    np.testing.assert_allclose(summary.pseudo_r2, theirs.prsquared, rtol=1e-6)
    np.testing.assert_allclose(summary.aic, -2 * theirs.llf + 2 * n_parameters)
    np.testing.assert_allclose(summary.bic, -2 * theirs.llf + np.log(summary.n_obs) * n_parameters)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_two_classes_are_statsmodels_logit(alpha, fit_intercept, is_sparse):
    X, codes, _ = make(2, n=200, d=3)
    exog = sm.add_constant(X) if fit_intercept else X
    theirs = sm.Logit(codes, exog).fit(disp=0, tol=1e-12)
    model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept, tol=1e-11)
    model.fit(sp.csr_matrix(X) if is_sparse else X, codes)
    summary = model.summary(alpha)
    _assert_summary_is(summary, theirs, theirs.params, theirs.bse, theirs.conf_int(alpha), exog.shape[1])
    np.testing.assert_allclose(summary.p_value, theirs.pvalues, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(summary.aic, theirs.aic)
    np.testing.assert_allclose(summary.bic, theirs.bic)
    np.testing.assert_allclose(summary.pearson_chi2, (theirs.resid_pearson**2).sum(), rtol=1e-6)
    assert summary.df_resid == theirs.df_resid
    assert summary.names == (["intercept"] if fit_intercept else []) + ["x0", "x1", "x2"]


@pytest.mark.parametrize("parametrization", ["softmax", "reference"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_classes_are_statsmodels_mnlogit(fit_intercept, parametrization):
    X, codes, _ = make(3, n=300, d=2)
    exog = sm.add_constant(X) if fit_intercept else X
    theirs = sm.MNLogit(codes, exog).fit(disp=0, tol=1e-12, maxiter=100)
    labels = np.array(["a", "b", "c"])[codes]
    model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept, tol=1e-11, parametrization=parametrization)
    summary = model.fit(X, labels).summary()
    conf_int = np.asarray(theirs.conf_int()).reshape(-1, 2)
    _assert_summary_is(summary, theirs, theirs.params.T.ravel(), theirs.bse.T.ravel(), conf_int, theirs.params.size)
    assert summary.names[-1] == "c: x1"
    assert "b: x0" in repr(summary)


def test_a_weight_of_two_counts_as_two_rows_for_coefficients_and_likelihood():
    X, codes, _ = make(2, n=100, d=2)
    twice = LogisticRegression(C=np.inf, tol=1e-11).fit(np.repeat(X, 2, axis=0), np.repeat(codes, 2)).summary()
    weighted = LogisticRegression(C=np.inf, tol=1e-11).fit(X, codes, np.full(100, 2.0)).summary()
    np.testing.assert_allclose(weighted.std_err, twice.std_err, rtol=1e-7)
    np.testing.assert_allclose(weighted.log_likelihood, twice.log_likelihood)
    np.testing.assert_allclose(weighted.null_deviance, twice.null_deviance)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_a_penalised_fit_has_no_summary(l1_ratio):
    X, codes, _ = make()
    with pytest.raises(ValueError, match=r"no summary; a penalised fit has no standard errors.*C=inf"):
        LogisticRegression(l1_ratio=l1_ratio).fit(X, codes).summary()


def test_dependent_columns_have_no_summary():
    X, codes, _ = make(d=2)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(ValueError, match="no summary; the information is singular"):
        LogisticRegression(C=np.inf).fit(X, codes).summary()


def test_names_and_alpha_are_checked():
    X, codes, _ = make(d=2)
    model = LogisticRegression(C=np.inf).fit(X, codes)
    assert model.summary(feature_names=["age", "height"]).names == ["intercept", "age", "height"]
    with pytest.raises(ValueError, match="feature_names"):
        model.summary(feature_names=["age"])
    with pytest.raises(ValueError, match="alpha=0 is not valid"):
        model.summary(0)
