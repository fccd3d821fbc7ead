"""What every estimator makes of bad data: an error that helps and no trace of a fit, or a correct one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from tests.common.cases import ESTIMATORS, case_of, fitted, make, make_data, takes_weights
from tests.common.state import assert_same_bits, fitted_attributes, outputs, traces_of_a_fit

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
weighted_estimators = pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if takes_weights(cls)], ids=lambda cls: cls.__name__
)


def _with(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


# What is done to X, and what the message must speak of.
BAD = {
    "infinity": (lambda X: _with(X, np.inf), "infinity"),
    "minus infinity": (lambda X: _with(X, -np.inf), "infinity"),
    "no rows": (lambda X: X[:0], r"0 sample"),
    "no columns": (lambda X: X[:, :0], r"0 feature"),
    "one dimension": (lambda X: X[0], r"[Ee]xpected 2D array"),
    "three dimensions": (lambda X: X[None], r"dim 3|3 dim|3D|with dim"),
    "a number": (lambda X: 3.0, r"2D array|scalar"),
    "words": (lambda X: np.full(X.shape, "word", dtype=object), r"convert|numeric|string"),
    "complex numbers": (lambda X: X + 1j, r"[Cc]omplex"),
    "nothing": (lambda X: None, r"NoneType|None|2D array"),
    "rows of different lengths": (lambda X: [[1.0, 2.0], [1.0]], r"inhomogeneous|sequence|shape"),
}


def _refuses(model, message, *args, **kwargs):
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*args, **kwargs)
    assert not traces_of_a_fit(model)
    if get_tags(model).requires_fit:
        with pytest.raises(NotFittedError):
            check_is_fitted(model)


def _refusal(model, *args):
    """The message of the ValueError that fit raises; None if it raises none."""
    try:
        model.fit(*args)
    except ValueError as error:
        assert not traces_of_a_fit(model)
        return str(error)
    return None


# Of coefficients that are all zero, of rows that nothing reaches, and of rows that take no part.
ENDLESS = ("margin_", "half_margin_", "reachability_", "core_distances_", "probabilities_")


def _is_finite(model, X):
    found = {**fitted_attributes(model), **outputs(model, X)}
    values = [v for name, v in found.items() if isinstance(v, (float, np.ndarray)) and name not in ENDLESS]
    return all(np.isfinite(v).all() for v in values if np.asarray(v).dtype.kind in "fiu")


@every_estimator
@pytest.mark.parametrize("kind", BAD)
def test_bad_data_is_refused_with_a_message_that_helps(estimator, kind):
    if kind == "words" and get_tags(make(estimator)).input_tags.string:
        pytest.skip("words are data here")
    data = make_data(estimator)
    change, message = BAD[kind]
    if message == "infinity" and case_of(estimator).takes_infinity:
        assert _is_finite(make(estimator).fit(*data.with_X(change(data.X)).args), change(data.X))
        return
    _refuses(make(estimator), message, *data.with_X(change(data.X)).args)


@every_estimator
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", [(0, 0), (3, 1), (-1, -1)])
def test_nan_is_refused_or_means_missing(estimator, dtype, place):
    data = make_data(estimator, dtype=dtype)
    X = data.X.copy()
    X[place] = np.nan
    if get_tags(make(estimator)).input_tags.allow_nan:
        assert _is_finite(make(estimator).fit(*data.with_X(X).args), data.X)
    else:
        _refuses(make(estimator), "NaN", *data.with_X(X).args)


@every_estimator
def test_nan_in_a_row_of_weight_zero_is_no_exception(estimator):
    if not takes_weights(estimator):
        pytest.skip("takes no weights")
    data = make_data(estimator)
    weights = np.ones(len(data.X))
    weights[3] = 0
    args = data.with_X(_with(data.X, np.nan)).args
    if get_tags(make(estimator)).input_tags.allow_nan:
        assert _is_finite(make(estimator).fit(*args, sample_weight=weights), data.X)
    else:
        _refuses(make(estimator), "NaN", *args, sample_weight=weights)


@every_estimator
@pytest.mark.parametrize(("huge", "dtype"), [(1e200, np.float64), (1e30, np.float32)])
@pytest.mark.parametrize("share", ["one value", "all values"])
def test_huge_values_are_refused_or_fitted_without_overflow(estimator, huge, dtype, share):
    data = make_data(estimator, dtype=dtype)
    X = _with(data.X, huge) if share == "one value" else (data.X * dtype(huge)).astype(dtype)
    model = make(estimator)
    refusal = _refusal(model, *data.with_X(X).args)
    if refusal is None:
        assert _is_finite(model, data.X)
    else:
        assert "large" in refusal
        assert "cale" in refusal  # the remedy: scale X


@every_estimator
def test_one_row_is_refused_with_a_reason_or_fitted(estimator):
    data = make_data(estimator).rows(slice(1))
    model = make(estimator)
    refusal = _refusal(model, *data.args)
    if refusal is None:
        refusal = _refusal_to_predict(model, data.X)
    assert refusal is None or "1" in refusal


def _refusal_to_predict(model, X):
    """What a fitted model says that needs more rows to predict from; None for one that predicts."""
    try:
        assert _is_finite(model, X)
    except ValueError as error:
        return str(error)
    return None


@every_estimator
def test_one_column_is_enough(estimator):
    data = make_data(estimator, n_columns=1)
    if case_of(estimator).of_columns:
        with pytest.raises(ValueError, match="minimum of 2"):
            make(estimator).fit(*data.args)
        return
    assert _is_finite(make(estimator).fit(*data.args), data.X)


@every_estimator
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_constant_column_does_no_harm(estimator):
    data = make_data(estimator)
    X = data.X.copy()
    X[:, 2] = 7.0
    assert _is_finite(make(estimator).fit(*data.with_X(X).args), X)
    X[:] = 7.0
    if case_of(estimator).needs_variation:
        with pytest.raises(ValueError, match="No feature in X meets"):
            make(estimator).fit(*data.with_X(X).args)
        return
    assert _is_finite(make(estimator).fit(*data.with_X(X).args), X)


@every_estimator
def test_whole_numbers_and_booleans_are_numbers(estimator):
    data = make_data(estimator)
    whole = np.abs(data.X * 10).astype(np.int64)
    expected = make(estimator).fit(*data.with_X(whole.astype(np.float64)).args)
    for dtype in (np.int64, np.int32, np.int16, np.uint8, object):
        if (whole.astype(dtype) == whole).all():
            assert_same_bits(make(estimator).fit(*data.with_X(whole.astype(dtype)).args), expected)
    assert _is_finite(make(estimator).fit(*data.with_X(data.X > 0).args), data.X)


@every_estimator
def test_half_precision_and_long_double_are_taken_as_double(estimator):
    data = make_data(estimator)
    for dtype in (np.float16, np.longdouble):
        X = data.X.astype(dtype)
        expected = fitted(estimator) if dtype is np.longdouble else make(estimator).fit(*data.with_X(X.astype(np.float64)).args)
        assert_same_bits(make(estimator).fit(*data.with_X(X).args), expected)


@every_estimator
def test_an_X_of_other_width_is_refused_after_the_fit(estimator):
    data, model = make_data(estimator), fitted(estimator)
    for name in outputs(model, data.X):
        for X in (data.X[:, :-1], np.hstack([data.X, data.X])):
            with pytest.raises(ValueError, match=f"{X.shape[1]} features.*{data.X.shape[1]} features"):
                getattr(model, name)(X)


@every_estimator
def test_bad_rows_are_refused_after_the_fit(estimator):
    data, model = make_data(estimator), fitted(estimator)
    allows_nan = get_tags(model).input_tags.allow_nan
    for name in outputs(model, data.X):
        refused = [*([] if allows_nan else [np.nan]), *([] if case_of(estimator).takes_infinity else [np.inf])]
        for value in refused:
            for dtype in (np.float64, np.float32):
                with pytest.raises(ValueError, match=r"NaN|infinity"):
                    getattr(model, name)(_with(data.X, value).astype(dtype))
        for X in (data.X[0], data.X[None], data.X[:0]):
            with pytest.raises(ValueError):
                getattr(model, name)(X)


@every_estimator
@pytest.mark.parametrize(("huge", "dtype"), [(1e200, np.float64), (1e30, np.float32)])
def test_huge_rows_after_the_fit_never_give_nan(estimator, huge, dtype):
    data, model = make_data(estimator, dtype=dtype), fitted(estimator, dtype)
    usual = outputs(model, data.X)
    for name, values in outputs(model, _with(data.X, huge)).items():
        if values.dtype.kind == "f":
            assert not np.isnan(values).any(), name
        else:
            assert np.isin(values, usual[name]).all(), name


@every_estimator
def test_methods_before_a_fit_say_that_there_was_none(estimator):
    if not get_tags(make(estimator)).requires_fit:
        pytest.skip("learns nothing")
    data = make_data(estimator)
    for name in ("predict", "predict_proba", "decision_function", "transform", "score"):
        if hasattr(make(estimator), name):
            with pytest.raises(NotFittedError, match=estimator.__name__):
                getattr(make(estimator), name)(*(data.args if name == "score" else (data.X,)))


@every_estimator
def test_a_failed_fit_leaves_the_earlier_one_whole(estimator):
    data = make_data(estimator)
    model, expected = (make(estimator).fit(*data.args) for _ in range(2))
    bad = data.X[:, :3] + 1j if case_of(estimator).takes_infinity else _with(data.X[:, :3], np.inf)
    with pytest.raises(ValueError):
        model.fit(*data.with_X(bad).args)
    assert_same_bits(model, expected)
    assert vars(model).keys() == vars(expected).keys()


# ---- y and weights


def _takes_y(estimator):
    return make_data(estimator).y is not None


@pytest.mark.parametrize("estimator", [cls for cls in ESTIMATORS if _takes_y(cls)], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y[:-1], r"inconsistent|length|rows"),
        (lambda y: np.concatenate([y, y]), r"inconsistent|length|rows"),
        (lambda y: None, r"y"),
        (lambda y: np.where(np.arange(len(y)) == 3, np.nan, 0.0), r"NaN"),
        (lambda y: np.where(np.arange(len(y)) == 3, np.inf, 0.0), r"infinity"),
        (lambda y: y[:0], r"inconsistent|length|rows|0 sample"),
        (lambda y: np.zeros((len(y), 2, 2)), r"dim|shape"),
    ],
    ids=["too short", "too long", "missing", "NaN", "infinity", "empty", "three dimensions"],
)
def test_a_bad_y_is_refused_with_a_message_that_helps(estimator, change, message):
    data = make_data(estimator)
    _refuses(make(estimator), message, data.X, change(data.y))


@weighted_estimators
@pytest.mark.parametrize(
    "change",
    [
        lambda w: w[:-1],
        lambda w: np.tile(w, 2),
        lambda w: w[:0],
        lambda w: w[:, None],
        lambda w: np.where(np.arange(len(w)) == 3, -1.0, w),
        lambda w: np.where(np.arange(len(w)) == 3, np.nan, w),
        lambda w: np.where(np.arange(len(w)) == 3, np.inf, w),
        lambda w: w * 0,
        lambda w: -w,
        lambda w: np.array(["word"] * len(w)),
        lambda w: w + 1j,
    ],
    ids=[
        "too short",
        "too long",
        "empty",
        "matrix",
        "negative",
        "NaN",
        "infinite",
        "all zero",
        "all negative",
        "words",
        "complex",
    ],
)
def test_bad_weights_are_refused_with_a_message_that_names_them(estimator, change):
    data = make_data(estimator)
    weights = change(np.ones(len(data.X)))
    if case_of(estimator).takes_any_sign and weights.dtype == np.float64 and weights.min(initial=0) == -1:
        pytest.skip("a weight of any sign means something")
    _refuses(make(estimator), "sample_weight", *data.args, sample_weight=weights)


# ---- parameters


@every_estimator
def test_a_bad_parameter_is_refused_by_name_with_its_value_and_what_would_do(estimator):
    data = make_data(estimator)
    for name in make(estimator).get_params(deep=False):
        value = {"not": "valid"}
        with pytest.raises((ValueError, TypeError), match=rf"{name}={{'not': 'valid'}}.*must be"):
            make(estimator, **{name: value}).fit(*data.args)


@every_estimator
def test_init_only_assigns(estimator):
    for name in make(estimator).get_params(deep=False):
        value = object()
        model = estimator(**{**case_of(estimator).params, name: value})
        assert getattr(model, name) is value
