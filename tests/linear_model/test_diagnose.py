"""`LinearRegression.diagnose` against statsmodels, and what it tells a reader."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as statsmodels
import statsmodels.stats.api as tests_of
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor
from statsmodels.stats.stattools import durbin_watson, jarque_bera, omni_normtest

from mercer.linear_model import LinearRegression

N = 240


def features(d=3):
    return np.random.default_rng(1).normal(size=(N, d)) * [1.0, 5.0, 0.1][:d] + [0.0, 3.0, 1.0][:d]


def good(X):
    return X @ np.arange(1.0, X.shape[1] + 1) + np.random.default_rng(2).normal(size=len(X))


def by_name(diagnostics):
    return {check.test.split(" (")[0].split(",")[0]: check for check in diagnostics.checks}


def weights_of(kind):
    if kind is None:
        return None
    weights = np.random.default_rng(3).uniform(0.5, 2, size=N)
    weights[::7] = 0 if kind == "some zero" else 1
    return weights


@pytest.mark.parametrize("weighting", [None, "random", "some zero"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("d", [1, 3])
def test_all_figures_equal_statsmodels(weighting, order, d):
    X, weights = np.asarray(features(d), order=order), weights_of(weighting)
    y = good(X) + 0.2 * X[:, 0] ** 2
    ours = LinearRegression().fit(X, y, weights).diagnose(X, y, weights)
    roots = np.ones(N) if weights is None else np.sqrt(weights)
    rows = roots > 0
    exog = (np.column_stack([np.ones(N), X]) * roots[:, None])[rows]
    theirs = statsmodels.OLS((y * roots)[rows], exog).fit()
    checks = by_name(ours)
    np.testing.assert_allclose(ours.residuals, theirs.resid, atol=1e-10)
    assert ours.durbin_watson == pytest.approx(durbin_watson(theirs.resid))
    statistic, p_value, skewness, kurtosis = jarque_bera(theirs.resid)
    assert (ours.skewness, ours.kurtosis) == pytest.approx((skewness, kurtosis))
    expected = {
        "Jarque-Bera": (statistic, p_value),
        "omnibus": omni_normtest(theirs.resid),
        "Breusch-Godfrey": tests_of.acorr_breusch_godfrey(theirs, result_object=False)[:2],
    }
    plain = np.column_stack([np.ones(N), X])[rows]
    expected["Breusch-Pagan"] = tests_of.het_breuschpagan(theirs.resid, plain)[:2]
    expected["White"] = tests_of.het_white(theirs.resid, plain)[:2]
    powers = (theirs.fittedvalues / roots[rows])[:, None] ** [2, 3] * roots[rows, None]
    augmented = statsmodels.OLS((y * roots)[rows], np.column_stack([exog, powers])).fit()
    expected["Ramsey RESET"] = augmented.compare_f_test(theirs)[:2]
    if weighting is None:  # else statsmodels finds no constant
        reset = tests_of.linear_reset(theirs, power=3, use_f=True)
        assert expected["Ramsey RESET"] == pytest.approx((float(reset.fvalue), float(reset.pvalue)), rel=1e-6)
        vif = [variance_inflation_factor(exog, j) for j in range(1, d + 1)]
        np.testing.assert_allclose(ours.vif, vif, rtol=1e-7)
    for name, figures in expected.items():
        assert (checks[name].statistic, checks[name].p_value) == pytest.approx(tuple(figures), rel=1e-6), name
    influence = OLSInfluence(theirs)
    np.testing.assert_allclose(ours.leverage, influence.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(ours.cooks_distance, influence.cooks_distance[0], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ours.studentised, influence.resid_studentized_internal, rtol=1e-8)


def test_without_an_intercept():
    X = features()
    y = good(X)
    ours = by_name(LinearRegression(fit_intercept=False).fit(X, y).diagnose(X, y))
    theirs = statsmodels.OLS(y, X).fit()
    reset = tests_of.linear_reset(theirs, power=3, use_f=True)
    assert (ours["Ramsey RESET"].statistic, ours["Ramsey RESET"].p_value) == pytest.approx(
        (float(reset.fvalue), float(reset.pvalue)), rel=1e-6
    )
    godfrey = tests_of.acorr_breusch_godfrey(theirs, result_object=False)
    assert (ours["Breusch-Godfrey"].statistic, ours["Breusch-Godfrey"].p_value) == pytest.approx(godfrey[:2], rel=1e-6)


def test_data_as_assumed_pass_all_tests():
    X = features()
    diagnostics = LinearRegression().fit(X, good(X)).diagnose(X, good(X), alpha=0.01)
    assert diagnostics.violated == []
    assert repr(diagnostics).count("no evidence against") == 4


@pytest.mark.parametrize(
    ("assumption", "spoil"),
    [
        ("linearity", lambda X, e: 0.5 * X[:, 0] ** 2 + e),
        ("homoscedasticity", lambda X, e: e * (0.2 + np.abs(X[:, 0]))),
        ("independence", lambda X, e: np.convolve(e, 0.8 ** np.arange(20))[: len(e)]),
        ("normality", lambda X, e: e**3),
    ],
)
def test_each_violation_is_found_and_told_with_a_remedy(assumption, spoil):
    X = features()
    y = X @ [2.0, 0.1, 1.0] + spoil(X, np.random.default_rng(4).normal(size=N))
    diagnostics = LinearRegression().fit(X, y).diagnose(X, y)
    assert assumption in diagnostics.violated
    verdict = diagnostics.verdict(assumption)
    assert verdict.startswith("violated, p = ")
    assert verdict in repr(diagnostics)


def test_the_table_is_a_frame_with_a_row_for_each_test():
    X = pd.DataFrame(features(), columns=["age", "size", "rooms"])
    y = good(X.to_numpy())
    diagnostics = LinearRegression().fit(X, y).diagnose(X, y)
    frame = diagnostics.to_frame()
    assert list(frame.columns) == ["assumption", "test", "statistic", "p_value"]
    assert set(frame["assumption"]) == {"linearity", "homoscedasticity", "independence", "normality"}
    assert diagnostics.names == ["age", "size", "rooms"]


def test_the_pictures_are_drawn_where_asked():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X = features()
    diagnostics = LinearRegression().fit(X, good(X)).diagnose(X, good(X))
    axes = diagnostics.plot()
    assert [ax.get_title() for ax in np.ravel(axes)] == ["Linearity", "Normality", "Homoscedasticity", "Independence"]
    given = plt.subplots(1, 4)[1]
    assert diagnostics.plot(given) is given
    assert all(ax.lines for ax in given)
    plt.close("all")


def test_each_target_has_its_own():
    X = features()
    Y = np.column_stack([good(X), X[:, 0] ** 3])
    model = LinearRegression().fit(X, Y)
    alone = LinearRegression().fit(X, Y[:, 1]).diagnose(X, Y[:, 1])
    assert model.diagnose(X, Y, target=1).checks[0].statistic == pytest.approx(alone.checks[0].statistic, rel=1e-8)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda X, y: (X[:7], y[:7]), {}, "7 rows of positive weight are too few"),
        (lambda X, y: (np.column_stack([X, X[:, 0]]), y), {}, "columns of X depend on others"),
        (lambda X, y: (X, X[:, 0]), {}, "the residuals are zero up to rounding"),
        (lambda X, y: (X, y), {"alpha": 0.0}, "alpha=0.0"),
        (lambda X, y: (X, y), {"target": 1}, "target=1"),
        (lambda X, y: (X, y), {"feature_names": ["a"]}, "feature_names"),
    ],
)
def test_where_there_is_nothing_to_say_the_reason_is_given(change, options, message):
    X, y = change(features(), good(features()))
    with pytest.raises(ValueError, match=message):
        LinearRegression().fit(X, y).diagnose(X, y, **options)
