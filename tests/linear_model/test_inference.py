"""`summary` against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import statsmodels.api as statsmodels

from mercer.linear_model import LinearRegression
from mercer.linear_model._inference.summary import NoSummary


def make_data(n=80, d=4, n_targets=None, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * [1, 10, 0.1, 3][:d] + [0, 5, 1, -20][:d]
    y = X @ random.normal(size=(d, n_targets or 1)) + random.normal(size=(n, n_targets or 1))
    return X, y if n_targets else y[:, 0]


def statsmodels_fit(X, y, weights, fit_intercept):
    exog = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    return statsmodels.OLS(y, exog).fit() if weights is None else statsmodels.WLS(y, exog, weights=weights).fit()


def assert_equal(ours, theirs, rel=1e-8):
    pairs = {
        "coef": theirs.params, "std_err": theirs.bse, "t": theirs.tvalues, "p_value": theirs.pvalues,
        "conf_int": theirs.conf_int(ours.alpha), "r2": theirs.rsquared, "adj_r2": theirs.rsquared_adj,
        "f_statistic": theirs.fvalue, "f_pvalue": theirs.f_pvalue, "scale": theirs.scale, "sigma2": theirs.scale,
        "log_likelihood": theirs.llf, "aic": theirs.aic, "bic": theirs.bic, "df_model": theirs.df_model,
        "df_resid": theirs.df_resid, "n_obs": theirs.nobs, "condition_number": theirs.condition_number,
    }  # fmt: skip
    for name, expected in pairs.items():
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=rel, atol=1e-300, err_msg=name)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array])
def test_the_summary_equals_statsmodels(fit_intercept, weighted, alpha, make):
    X, y = make_data()
    weights = np.random.default_rng(1).uniform(0.2, 3, size=len(X)) if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(make(X), y, weights).summary(alpha)
    assert_equal(ours, statsmodels_fit(X, y, weights, fit_intercept))


def test_the_summary_of_refined_and_orthogonal_fits_equals_statsmodels():
    for degree, tol, rel in ((3, 1e-6, 1e-8), (5, 1e-6, 1e-7), (9, 0, 1e-3)):
        X = np.vander(np.linspace(0, 1, 200), degree + 1)[:, :-1]
        y = np.sin(5 * X[:, -1]) + 0.1 * np.random.default_rng(0).normal(size=200)
        assert_equal(LinearRegression(tol=tol).fit(X, y).summary(), statsmodels_fit(X, y, None, True), rel)


def test_each_target_has_its_summary():
    X, y = make_data(n_targets=3)
    model = LinearRegression().fit(X, y)
    for target in range(3):
        assert_equal(model.summary(target=target), statsmodels_fit(X, y[:, target], None, True))
    with pytest.raises(ValueError, match="target=3"):
        model.summary(target=3)


def test_rows_of_weight_zero_are_not_counted():
    X, y = make_data()
    weights = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    ours = LinearRegression().fit(X, y, weights).summary()
    assert_equal(ours, statsmodels_fit(X[weights > 0], y[weights > 0], weights[weights > 0], True))


def test_float32_data_keep_the_precision_of_their_values():
    X, y = (part.astype(np.float32) for part in make_data())
    assert_equal(LinearRegression().fit(X, y).summary(), statsmodels_fit(X.astype(float), y.astype(float), None, True))


def test_the_text_is_a_table_with_the_names_of_the_features():
    pandas = pytest.importorskip("pandas")
    X, y = make_data()
    summary = LinearRegression().fit(pandas.DataFrame(X, columns=["a", "b", "c", "long name"]), y).summary()
    assert summary.names == ["intercept", "a", "b", "c", "long name"]
    lines = repr(summary).splitlines()
    assert any(line.startswith("long name") for line in lines)
    assert "[0.025" in repr(summary)
    assert "0.975]" in repr(summary)
    assert max(map(len, lines)) <= 100
    frame = summary.to_frame()
    assert [*frame.index] == summary.names
    np.testing.assert_array_equal(frame["std_err"], summary.std_err)


def test_a_perfect_fit_has_no_errors_to_speak_of():
    X, _ = make_data()
    summary = LinearRegression().fit(X, X @ [1.0, 2, 3, 4]).summary()
    assert summary.r2 == pytest.approx(1)
    assert (summary.std_err < 1e-12).all()
    repr(LinearRegression().fit(np.arange(4.0)[:, None], np.zeros(4)).summary())


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda X: X, {"positive": True}, "positive=True"),
        (lambda X: X[:5], {}, "5 rows of positive weight"),
        (lambda X: X[:3], {}, "3 rows of positive weight"),
        (lambda X: X[:, [0, 1, 1]], {}, "rank 2 of 3"),
        (lambda X: sp.csr_array(X[:, [0, 1, 1]]), {}, "sparse X"),
    ],
)
def test_where_there_is_no_inference_the_reason_is_given(change, options, message):
    X, y = make_data()
    X = change(X)
    model = LinearRegression(**options).fit(X, y[: X.shape[0]])
    with pytest.raises(ValueError, match=message):
        model.summary()


@pytest.mark.parametrize("alpha", [0, -1, 2, "5%", np.nan])
def test_alpha_is_checked(alpha):
    X, y = make_data()
    with pytest.raises(ValueError, match="alpha"):
        LinearRegression().fit(X, y).summary(alpha)


def test_what_a_fit_keeps_does_not_grow_with_the_rows():
    import pickle

    sizes = [len(pickle.dumps(LinearRegression().fit(*make_data(n)))) for n in (100, 10_000)]
    assert abs(sizes[0] - sizes[1]) < 200


def test_names_are_given_taken_from_the_frame_or_numbered():
    random = np.random.RandomState(0)
    X, y = random.randn(20, 2), random.randn(20)
    model = LinearRegression().fit(X, y)
    assert model.summary().names == ["intercept", "x0", "x1"]
    assert model.summary(feature_names=["age", "dose"]).names == ["intercept", "age", "dose"]
    assert LinearRegression().fit(pd.DataFrame(X, columns=["a", "b"]), y).summary().names == ["intercept", "a", "b"]
    with pytest.raises(ValueError, match=r"feature_names=\['age'\] is not valid; it must hold 2 names"):
        model.summary(feature_names=["age"])


def test_fits_without_standard_errors_say_why_and_what_has_them():
    class Penalised(NoSummary):
        pass

    with pytest.raises(ValueError, match=r"^Penalised: no summary; standard errors are not defined .*use LinearRegression"):
        Penalised().summary(alpha=0.1)
