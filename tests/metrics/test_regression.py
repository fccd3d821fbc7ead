"""Errors of predicted numbers equal scikit-learn's; information criteria those of statsmodels and of `summary()`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
import statsmodels.tools.eval_measures as statsmodels_measures
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

import mercer.metrics
from mercer.linear_model import LinearRegression
from mercer.metrics import aic, bic, max_error, mean_squared_error, mean_tweedie_deviance, r2_score
from tests.metrics.cases import assert_same, outcome, weights
from tests.versions import against_scikit_learn_1_9

OUTPUTS = [{}, {"multioutput": "raw_values"}, {"multioutput": [0.2, 0.8]}]
FORCED = [*OUTPUTS, {"multioutput": "variance_weighted"}, {"force_finite": False}]
MEASURES = {
    "mean_squared_error": OUTPUTS,
    "root_mean_squared_error": OUTPUTS,
    "mean_absolute_error": OUTPUTS,
    "median_absolute_error": OUTPUTS,
    "mean_absolute_percentage_error": OUTPUTS,
    "mean_squared_log_error": OUTPUTS,
    "root_mean_squared_log_error": OUTPUTS,
    "mean_pinball_loss": [{"alpha": alpha, **option} for alpha in (0, 0.3, 1) for option in OUTPUTS],
    "r2_score": FORCED,
    "explained_variance_score": FORCED,
    "d2_pinball_score": [{"alpha": alpha, **option} for alpha in (0.1, 0.5) for option in OUTPUTS],
    "d2_absolute_error_score": OUTPUTS,
    "max_error": [{}],
    "mean_tweedie_deviance": [{"power": power} for power in (-1, 0, 1, 1.5, 2, 3)],
    "mean_poisson_deviance": [{}],
    "mean_gamma_deviance": [{}],
    "d2_tweedie_score": [{"power": power} for power in (-1, 0, 1, 1.5, 2, 3)],
}


@st.composite
def targets(draw):
    """True and predicted values of one or two outputs, and weights or None."""
    n, k = draw(st.integers(2, 12)), draw(st.integers(1, 2))
    value = draw(st.sampled_from([st.integers(1, 4), st.integers(-3, 3), st.floats(0.125, 100)]))

    def column():
        values = np.array(draw(st.lists(value, min_size=n * k, max_size=n * k)), dtype=float)
        return values if k == 1 else values.reshape(n, k)

    return column(), column(), draw(weights(n))


@against_scikit_learn_1_9
@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=40, deadline=None)
@given(data=targets())
def test_measures_equal_scikit_learns(name, data):
    y_true, y_pred, weight = data
    for option in MEASURES[name]:
        if y_true.ndim == 1 and isinstance(option.get("multioutput"), list):
            continue
        arguments = option if name == "max_error" else {**option, "sample_weight": weight}
        mine = outcome(getattr(mercer.metrics, name), y_true, y_pred, **arguments)
        theirs = outcome(getattr(sklearn.metrics, name), y_true, y_pred, **arguments)
        if theirs is ZeroDivisionError or (isinstance(theirs, float) and np.isinf(theirs)):  # a constant target
            assert not np.isfinite(mine)
        else:
            assert_same(mine, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", MEASURES)
def test_float32_is_taken_as_it_is_and_added_up_in_float64(name):
    random = np.random.RandomState(0)
    y_true, y_pred = random.uniform(1, 2, size=(2, 50_000)).astype(np.float32)
    exact = getattr(sklearn.metrics, name)(y_true.astype(np.float64), y_pred.astype(np.float64))
    np.testing.assert_allclose(getattr(mercer.metrics, name)(y_true, y_pred), exact, rtol=2e-6)


@pytest.mark.parametrize(
    "make", [list, tuple, pd.Series, pl.Series, lambda y: np.array(y)[:, None], lambda y: np.array(y, dtype=object)]
)
def test_numbers_may_come_in_any_container(make):
    assert mean_squared_error(make([1, 2, 4]), make([1.0, 2.0, 2.0])) == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1, 2, 3]), {}, "inconsistent numbers of samples"),
        (([1, np.nan], [1, 2]), {}, "Input y_true contains NaN"),
        (([1, 2], [1, np.inf]), {}, "Input y_pred contains infinity"),
        (([[1, 2]], [[1, 2, 3]]), {}, r"different number of output \(2!=3\)"),
        (
            ([1, 2], [1, 2]),
            {"multioutput": "sum"},
            "multioutput='sum' is not valid; it must be 'raw_values'",
        ),
        (([1, 2], [1, 2]), {"multioutput": [1.0]}, "only in multi-output cases"),
        (([[1, 2]], [[1, 2]]), {"multioutput": [1.0]}, r"equally many custom weights \(1\) as outputs \(2\)"),
        (([1, 2], [1, 2]), {"sample_weight": [0, 0]}, "at least one non-zero"),
    ],
)
def test_bad_targets_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        mean_squared_error(*arguments, **options)


def test_measures_of_one_output_refuse_two_and_bad_powers():
    with pytest.raises(ValueError, match="Multioutput not supported in max_error"):
        max_error([[1, 2]], [[1, 2]])
    with pytest.raises(ValueError, match=r"power=0.5 is not valid; it must be a finite number <= 0 or a finite number >= 1"):
        mean_tweedie_deviance([1, 2], [1, 2], power=0.5)
    with pytest.raises(ValueError, match="power=2 can only be used on strictly positive y and y_pred"):
        mean_tweedie_deviance([0, 2], [1, 2], power=2)
    with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
        assert np.isnan(r2_score([1], [1]))


# ---- information criteria


def test_information_criteria_are_those_of_statsmodels_and_of_the_summary():
    random = np.random.RandomState(0)
    X = random.normal(size=(60, 3))
    y = X @ [1, 2, 0] + random.normal(size=60)
    model = LinearRegression().fit(X, y)
    rss = float(np.sum((y - model.predict(X)) ** 2))
    log_likelihood = -30 * (np.log(2 * np.pi * rss / 60) + 1)
    assert aic(4, rss=rss, n_samples=60) == pytest.approx(statsmodels_measures.aic(log_likelihood, 60, 4))
    assert bic(4, 60, rss=rss) == pytest.approx(statsmodels_measures.bic(log_likelihood, 60, 4))
    assert aic(4, rss=rss, n_samples=60, corrected=True) == pytest.approx(statsmodels_measures.aicc(log_likelihood, 60, 4))
    assert aic(4, log_likelihood=log_likelihood) == pytest.approx(aic(4, rss=rss, n_samples=60))
    summary = model.summary()
    assert (summary.aic, summary.bic) == pytest.approx((aic(4, rss=rss, n_samples=60), bic(4, 60, rss=rss)))


def test_information_criteria_refuse_what_they_cannot_use():
    assert aic(2, rss=0, n_samples=10) == -np.inf
    for arguments in ({}, {"rss": 1.0, "log_likelihood": 1.0}):
        with pytest.raises(ValueError, match="give either log_likelihood or rss"):
            aic(2, **arguments)
    with pytest.raises(ValueError, match="n_samples=None is not valid"):
        aic(2, rss=1.0)
    with pytest.raises(ValueError, match="rss=-1 is not valid"):
        bic(2, 10, rss=-1)
    with pytest.raises(ValueError, match="n_samples=3 is not valid; it must be an integer >= 4"):
        aic(2, rss=1.0, n_samples=3, corrected=True)
