"""The four scalers: worked examples, parity with scikit-learn, and the promises scikit-learn does not make."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as peers
import threadpoolctl
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer._params import InvalidParameterError
from mercer.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

SCALERS = [StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler]
PIECEWISE = [StandardScaler, MinMaxScaler, MaxAbsScaler]
SPARSE = [
    StandardScaler(with_mean=False),
    StandardScaler(with_mean=False, with_std=False),
    MaxAbsScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_centering=False, quantile_range=(3.0, 80.0), unit_variance=True),
]
CONFIGURED = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-3.5, 12), clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(quantile_range=(10.0, 65.0), unit_variance=True),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
]
ATTRIBUTES = [
    "mean_",
    "var_",
    "scale_",
    "n_samples_seen_",
    "min_",
    "data_min_",
    "data_max_",
    "data_range_",
    "max_abs_",
    "center_",
]
NOTES = np.array([[0.3, 0.89, 232], [-0.1, 0.23, 652], [0.2, 0.7, 122], [0.3, -0.8, 232]])

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@parametrize_with_checks(SPARSE[:1])  # the defaults are checked with all other estimators
def test_scikit_learns_checks_pass_with_sparse_input(estimator, check):
    check(estimator)


def peer_of(scaler):
    """scikit-learn's scaler of the same name and parameters."""
    peer = getattr(peers, type(scaler).__name__)()
    return peer.set_params(**{name: value for name, value in scaler.get_params().items() if name in peer.get_params()})


def tolerance(X):
    return {"rtol": 1e-10, "atol": 1e-12} if X.dtype == np.float64 else {"rtol": 2e-5, "atol": 2e-5}


def assert_same_fit(scaler, peer, X):
    for name in ATTRIBUTES:
        assert hasattr(scaler, name) == hasattr(peer, name), name
        mine, theirs = getattr(scaler, name, None), getattr(peer, name, None)
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            assert np.shape(mine) == np.shape(theirs), name
            np.testing.assert_allclose(mine, theirs, **tolerance(X), err_msg=name)


@st.composite
def matrices(draw, dtypes=(np.float64, np.float32), least_rows=1):
    """Matrices of any shape, type, order and stride, with missing values, constant columns and columns far from zero."""
    n, d = draw(st.integers(least_rows, 300)), draw(st.integers(1, 9))
    random = np.random.RandomState(draw(st.integers(0, 2**31)))
    X = random.standard_normal((n, d)) * 10.0 ** random.randint(-1, 3, d) + random.randint(-3, 4, d)
    if draw(st.booleans()):
        X[:, random.randint(d)] = random.randint(-5, 6)
    if draw(st.booleans()):
        X[random.uniform(size=X.shape) < draw(st.sampled_from([0.05, 0.5]))] = np.nan
    if draw(st.integers(0, 4)) == 0:
        X[:, random.randint(d)] = np.nan
    X = X.astype(draw(st.sampled_from(dtypes)))
    return layouts(X)[draw(st.sampled_from(["C", "F", "strided", "reversed", "every second column"]))]


def layouts(X):
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    columns = np.zeros((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    columns[:, ::2] = X
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "reversed": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "every second column": columns[:, ::2],
    }


# The worked examples


def test_standard_scores_with_the_n_minus_1_deviation_match_the_worked_example():
    scores = StandardScaler(ddof=1).fit_transform(NOTES)
    assert scores[:, 0].round(2).tolist() == [0.66, -1.45, 0.13, 0.66]
    np.testing.assert_allclose(scores, (NOTES - NOTES.mean(axis=0)) / NOTES.std(axis=0, ddof=1), rtol=1e-12)


def test_min_max_scaling_matches_the_worked_example():
    columns = MinMaxScaler().fit_transform(NOTES).round(2).T.tolist()
    assert columns == [[1, 0, 0.75, 1], [1, 0.61, 0.89, 0], [0.21, 1, 0, 0.21]]


# Parity


@pytest.mark.filterwarnings("ignore::RuntimeWarning:numpy", "ignore::RuntimeWarning:sklearn", "ignore:All-NaN")
@pytest.mark.parametrize("scaler", CONFIGURED, ids=repr)
@quick
@given(X=matrices())
def test_fit_transform_and_inverse_agree_with_scikit_learn(scaler, X):
    scaler, peer = clone(scaler), peer_of(scaler)
    before = X.copy()
    Z = scaler.fit_transform(X)
    expected = peer.fit_transform(X)
    assert_same_fit(scaler, peer, X)
    assert Z.dtype == expected.dtype == X.dtype
    assert Z.flags.c_contiguous == expected.flags.c_contiguous
    assert Z.flags.f_contiguous == expected.flags.f_contiguous
    magnitude = np.nanmax(np.abs(expected), initial=1.0)
    close = tolerance(X) | {"atol": tolerance(X)["atol"] * magnitude * 50}
    np.testing.assert_allclose(Z, expected, **close)
    back = scaler.inverse_transform(Z)
    np.testing.assert_allclose(back, peer.inverse_transform(expected), **(close | {"atol": close["atol"] * 1000}))
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fitted_attributes_are_of_the_types_scikit_learn_gives_them(make, dtype):
    scaler = make().fit(NOTES.astype(dtype))
    peer = peer_of(scaler).fit(NOTES.astype(dtype))
    for name in set(ATTRIBUTES) - {"n_samples_seen_"}:
        assert np.asarray(getattr(scaler, name, None)).dtype == np.asarray(getattr(peer, name, None)).dtype, name


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")
@quick
@given(X=matrices(dtypes=(np.float64,)), data=st.data())
def test_weighted_standard_scores_agree_with_scikit_learn(X, data):
    seed = data.draw(st.integers(0, 1000))
    weights = np.random.RandomState(seed).randint(1, 5, X.shape[0]) / 2
    assert_same_fit(StandardScaler().fit(X, sample_weight=weights), peers.StandardScaler().fit(X, sample_weight=weights), X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning:numpy", "ignore::RuntimeWarning:sklearn", "ignore:All-NaN")
@pytest.mark.parametrize("scaler", SPARSE, ids=repr)
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
@settings(quick, max_examples=8)
@given(X=matrices(), data=st.data())
def test_sparse_rows_agree_with_scikit_learn(scaler, make, X, data):
    X = np.array(X)
    X[np.random.RandomState(data.draw(st.integers(0, 1000))).uniform(size=X.shape) < 0.6] = 0
    scaler, peer = clone(scaler), peer_of(scaler)
    S = make(X)
    Z, expected = scaler.fit_transform(S), peer.fit_transform(S)
    assert_same_fit(scaler, peer, X.astype(np.float32))  # scikit-learn's sparse sums are of the type of X
    assert Z.format == expected.format
    assert Z.dtype == X.dtype
    np.testing.assert_allclose(Z.toarray(), expected.toarray(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaler.inverse_transform(Z).toarray(), X, rtol=1e-5)
    np.testing.assert_array_equal(S.toarray(), X)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_moments_of_sparse_columns_are_those_of_dense_ones(make, is_weighted):
    random = np.random.RandomState(0)
    X = np.where(random.uniform(size=(500, 6)) < 0.4, random.standard_normal((500, 6)) + 1e4, 0)
    X[::7, 1], X[:, 2], X[:, 3], X[:, 4] = np.nan, 0.1, 0, np.nan  # some missing; constant; empty; all missing
    weights = random.exponential(size=500) if is_weighted else None
    scaler = StandardScaler(with_mean=False)
    found, expected = (clone(scaler).fit(given, sample_weight=weights) for given in (make(X), X))
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, err_msg=name)
    assert found.var_[2] == 0
    assert np.ndim(scaler.fit(make(X[:, [0, 2, 3, 5]]), sample_weight=weights).n_samples_seen_) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "few values", "one octave", "signed zeros"])
def test_quantiles_of_long_columns_are_numpys(dtype, kind):
    random = np.random.RandomState(0)
    n = 70_001
    x = {
        "normal": random.standard_normal(n),
        "heavy tails": random.standard_cauchy(n) ** 3,
        "few values": random.randint(-2, 3, n) * 0.1,
        "one octave": 1 + random.uniform(size=n) * 1e-3,
        "signed zeros": np.where(random.uniform(size=n) < 0.5, -0.0, 0.0),
    }[kind].astype(dtype)
    for rows in (n, 20_000, 5_000, 501, 2, 1):
        X = x[:rows, None].copy()
        X[: rows // 7 : 3] = np.nan
        scaler = RobustScaler(quantile_range=(1.0, 93.7)).fit(X)
        low, middle, high = np.nanpercentile(X.astype(np.float64), [1.0, 50.0, 93.7])
        np.testing.assert_allclose(scaler.center_, [middle], rtol=1e-13 if dtype == np.float64 else 1e-6)
        np.testing.assert_allclose(scaler.scale_, [high - low] if high - low > 1e-15 else [1], rtol=1e-9)


def test_columns_wide_and_long_enough_for_many_chunks_agree_with_numpy():
    X = np.random.RandomState(1).standard_normal((3000, 300)) + 5
    for rows in layouts(X).values():
        np.testing.assert_allclose(StandardScaler().fit_transform(rows), (X - X.mean(0)) / X.std(0), rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(MinMaxScaler().fit(rows).data_min_, X.min(axis=0))
        np.testing.assert_array_equal(MinMaxScaler().fit(rows).data_max_, X.max(axis=0))


@pytest.mark.parametrize("make", SCALERS)
def test_integers_and_lists_become_float64(make):
    X = np.arange(12).reshape(4, 3) ** 2
    expected = make().fit_transform(X.astype(np.float64))
    np.testing.assert_array_equal(make().fit_transform(X), expected)
    np.testing.assert_array_equal(make().fit_transform(X.tolist()), expected)
    np.testing.assert_array_equal(make(copy=False).fit_transform(X), expected)
    assert X[3, 2] == 121


@pytest.mark.parametrize("make", SCALERS)
def test_float32_rows_after_a_float64_fit_stay_float32(make):
    scaler = make().fit(NOTES)
    Z = scaler.transform(NOTES.astype(np.float32))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, scaler.transform(NOTES), rtol=1e-4, atol=1e-5)
    assert scaler.inverse_transform(Z).dtype == np.float32


# Promises


@pytest.mark.parametrize("make", SCALERS)
@quick
@given(X=matrices())
def test_the_inverse_brings_the_rows_back(make, X):
    scaler = make().fit(X)
    back = scaler.inverse_transform(scaler.transform(X))
    is_empty = np.isnan(X).all(axis=0)
    atol = np.nanmax(np.abs(X), initial=1.0) * (1e-13 if X.dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(back[:, ~is_empty], X[:, ~is_empty], rtol=1e-12 if X.dtype == np.float64 else 1e-5, atol=atol)


@pytest.mark.parametrize("make", PIECEWISE)
@quick
@given(X=matrices(least_rows=4), data=st.data())
def test_partial_fit_in_pieces_equals_fit_at_once(make, X, data):
    cuts = sorted({0, X.shape[0], *data.draw(st.lists(st.integers(1, X.shape[0] - 1), max_size=4))})
    pieces = make()
    for begin, end in pairwise(cuts):
        pieces.partial_fit(X[begin:end])
    at_once = make().fit(X)
    for name in ATTRIBUTES:
        if hasattr(at_once, name):
            np.testing.assert_allclose(getattr(pieces, name), getattr(at_once, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_partial_fit_with_weights_and_sparse_pieces_equals_fit_at_once():
    random = np.random.RandomState(0)
    X, weights = random.standard_normal((40, 3)), random.randint(1, 4, 40)
    pieces = StandardScaler(with_mean=False, ddof=1)
    pieces.partial_fit(sp.csr_matrix(X[:10]), sample_weight=weights[:10])
    pieces.partial_fit(X[10:15], sample_weight=weights[10:15]).partial_fit(sp.csc_matrix(X[15:]), sample_weight=weights[15:])
    at_once = StandardScaler(ddof=1).fit(X, sample_weight=weights)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(at_once, name), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@settings(quick, max_examples=15)
@given(X=matrices(dtypes=(np.float64,), least_rows=12), seed=st.integers(0, 1000))
def test_a_weight_equals_repetition(ddof, make, X, seed):
    X = np.where(np.isnan(X).sum(axis=0) > X.shape[0] / 2, 1.0, X)
    weights = np.random.RandomState(seed).randint(0, 4, X.shape[0])
    weights[-3:] += 1
    X[-3:] = np.nan_to_num(X[-3:])
    weighted = StandardScaler(with_mean=False, ddof=ddof).fit(make(X), sample_weight=weights)
    repeated = StandardScaler(with_mean=False, ddof=ddof).fit(make(np.repeat(X, weights, axis=0)))
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_number_of_threads_gives_the_same_bits(make, order):
    X = np.asarray(np.random.RandomState(0).standard_normal((150_000, 7)) + 3, order=order)
    X[::17, 2] = np.nan
    results = []
    for n_threads in (1, 2, 7):
        with threadpoolctl.threadpool_limits(n_threads, user_api="mercer"):
            scaler = make().fit(X)
            Z = scaler.transform(X)
            results.append((scaler.scale_.tobytes(), Z.tobytes(), scaler.inverse_transform(Z).tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("copy", [True, False])
def test_a_read_only_memory_map_is_read_and_left_alone(make, copy, tmp_path):
    np.save(tmp_path / "X.npy", NOTES)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    scaler = make(copy=copy)
    Z = scaler.fit_transform(X)
    np.testing.assert_array_equal(Z, make().fit_transform(NOTES))
    np.testing.assert_allclose(scaler.inverse_transform(Z), NOTES)
    np.testing.assert_array_equal(X, NOTES)


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("layout", layouts(NOTES))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copy_false_works_in_place(make, layout, dtype):
    X = layouts(NOTES.astype(dtype))[layout]
    expected = make().fit_transform(X)
    scaler = make(copy=False).fit(X)
    Z = scaler.transform(X)
    assert np.shares_memory(Z, X)
    np.testing.assert_array_equal(X, expected)
    assert np.shares_memory(scaler.inverse_transform(X), X)
    np.testing.assert_allclose(X, NOTES.astype(dtype), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "scaler", [StandardScaler(with_mean=False), MaxAbsScaler(), RobustScaler(with_centering=False)], ids=repr
)
def test_copy_false_works_in_place_on_sparse_rows(scaler):
    X = sp.csr_matrix(NOTES)
    expected = clone(scaler).fit_transform(X).toarray()
    Z = clone(scaler).set_params(copy=False).fit_transform(X)
    assert np.shares_memory(Z.data, X.data)
    np.testing.assert_array_equal(X.toarray(), expected)


def test_the_copy_argument_of_transform_overrides_the_parameter():
    X = NOTES.copy()
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X, copy=False)
    assert np.shares_memory(Z, X)
    assert np.shares_memory(scaler.inverse_transform(Z, copy=False), X)
    np.testing.assert_allclose(X, NOTES, rtol=1e-12)


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_go_in_and_come_out(make, frame):
    X = frame({name: NOTES[:, j] for j, name in enumerate("abc")})
    scaler = make().fit(X)
    assert scaler.get_feature_names_out().tolist() == ["a", "b", "c"]
    scaler.set_output(transform="pandas" if frame is pd.DataFrame else "polars")
    Z = scaler.transform(X)
    assert isinstance(Z, frame)
    assert list(Z.columns) == ["a", "b", "c"]
    expected = make().fit_transform(NOTES)
    np.testing.assert_array_equal(Z.to_numpy(), expected)
    np.testing.assert_array_equal(X.to_numpy(), NOTES)
    np.testing.assert_allclose(scaler.inverse_transform(Z), NOTES)
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(frame({name: NOTES[:, j] for j, name in enumerate("abd")}))


@pytest.mark.parametrize("make", SCALERS)
def test_feature_names_are_given_even_without_any(make):
    assert make().fit(NOTES).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize("make", SCALERS)
def test_a_pickled_scaler_scales_the_same(make):
    scaler = make().fit(NOTES)
    copy = pickle.loads(pickle.dumps(scaler))
    np.testing.assert_array_equal(copy.transform(NOTES), scaler.transform(NOTES))


def test_the_ends_of_the_interval_are_reached_without_rounding_errors_below_zero():
    X = np.random.RandomState(0).uniform(0.1, 1, (1000, 50))
    assert (MinMaxScaler().fit_transform(X).min(axis=0) == 0).all()


def test_clipping_keeps_later_rows_in_the_interval_and_missing_values_missing():
    later = np.array([[1e3, -1e3, np.nan]])
    np.testing.assert_array_equal(MinMaxScaler((-2, 5), clip=True).fit(NOTES).transform(later), [[5, -2, np.nan]])
    np.testing.assert_array_equal(MaxAbsScaler(clip=True).fit(NOTES).transform(later), [[1, -1, np.nan]])
    sparse = MaxAbsScaler(clip=True).fit(NOTES).transform(sp.csr_matrix(later))
    np.testing.assert_array_equal(sparse.toarray(), [[1, -1, np.nan]])


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -7.3, 1e-12])
@pytest.mark.parametrize("n", [1, 3, 1000, 100_000])
def test_a_constant_column_has_scale_one(value, n):
    X = np.full((n, 2), value)
    assert StandardScaler().fit(X).scale_.tolist() == [1, 1]
    assert StandardScaler().fit(X, sample_weight=np.full(n, 0.3 / n)).scale_.tolist() == [1, 1]
    assert RobustScaler().fit(X).scale_.tolist() == [1, 1]
    assert MinMaxScaler((0, 2)).fit(X).scale_.tolist() == [2, 2]


def test_a_batch_without_values_in_a_column_changes_nothing_there():
    batch = NOTES.copy()
    batch[:, 1] = np.nan
    for make in PIECEWISE:
        for first, second in ((NOTES, batch), (batch, NOTES)):
            scaler = make().partial_fit(first).partial_fit(second)
            assert scaler.scale_[1] == pytest.approx(make().fit(NOTES).scale_[1], rel=1e-13)


def test_the_count_is_an_integer_without_weights_and_an_array_where_columns_differ():
    X = NOTES.copy()
    assert isinstance(StandardScaler().fit(X).n_samples_seen_, (int, np.integer))
    X[0, 1] = np.nan
    counts = StandardScaler().fit(X).n_samples_seen_
    assert counts.tolist() == [4, 3, 4]
    assert counts.dtype.kind == "i"
    assert StandardScaler().fit(NOTES, sample_weight=[0.5, 1, 1, 1]).n_samples_seen_ == 3.5


@pytest.mark.parametrize("make", SCALERS)
def test_a_callback_sees_the_fit_begin_and_end_with_the_fitted_scaler(make):
    pytest.importorskip("sklearn.callback")
    seen = []

    class Recorder:
        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            seen.append(X.shape)

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
            seen.append(fitted_estimator.transform(X).shape)

    make().set_callbacks(Recorder()).fit(NOTES)
    assert seen == ["setup", (4, 3), (4, 3), "teardown"]


# Errors


@pytest.mark.parametrize("make", SCALERS)
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_infinity_is_an_error_everywhere(make, bad, layout):
    X = NOTES.copy()
    X[2, 1], X[0, 0] = bad, np.nan
    X = layouts(X)[layout]
    message = r"Input X contains infinity or a value too large for dtype\('float64'\)."
    with pytest.raises(ValueError, match=message):
        make().fit(X)
    scaler = make().fit(NOTES)
    in_place = make(copy=False).fit(NOTES)
    before = X.copy()
    for call in (scaler.transform, scaler.inverse_transform, in_place.transform, in_place.inverse_transform):
        with pytest.raises(ValueError, match=message):
            call(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "scaler", [StandardScaler(with_mean=False), MaxAbsScaler(), RobustScaler(with_centering=False)], ids=repr
)
def test_infinity_in_sparse_rows_is_an_error(scaler):
    X = sp.csr_matrix(np.where(NOTES == 0.7, np.inf, NOTES))
    with pytest.raises(ValueError, match="Input X contains infinity"):
        clone(scaler).fit(X)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        clone(scaler).fit(NOTES).transform(X)


def test_infinity_in_a_row_of_weight_zero_is_an_error():
    X = NOTES.copy()
    X[0, 0] = np.inf
    long = np.ones((5000, 1))
    long[0] = np.inf
    for with_std in (True, False):
        scaler = StandardScaler(with_std=with_std)
        for weights in ([0, 1, 1, 1], [0, 0, 0, 1]):
            with pytest.raises(ValueError, match="infinity"):
                scaler.fit(X, sample_weight=weights)
        with pytest.raises(ValueError, match="infinity"):
            scaler.fit(long, sample_weight=np.arange(5000) > 4000)


@pytest.mark.parametrize("make", [StandardScaler, MinMaxScaler, RobustScaler])
def test_an_overflow_is_an_error_that_says_so(make):
    X = np.array([[-1.5e308], [np.nan], [-1.6e308], [1.7e308], [1.6e308]])
    with pytest.raises(ValueError, match=r"as large as 1.7e\+308.*overflow float64"):
        make().fit(X)


def test_an_interval_too_wide_for_the_type_is_an_error():
    with pytest.raises(ValueError, match=r"feature_range=\(-1e\+308, 1e\+308\).*overflow"):
        MinMaxScaler((-1e308, 1e308)).fit(NOTES)


@pytest.mark.parametrize("make", PIECEWISE)
def test_an_error_leaves_the_scaler_as_it_was(make):
    scaler = make().partial_fit(NOTES)
    before = pickle.dumps(vars(scaler))
    for wrong in (np.full((2, 3), np.inf), np.ones((2, 4)), [["a", "b", "c"]], np.ones(3)):
        for fit in (scaler.partial_fit, scaler.fit):
            if fit == scaler.fit and np.shape(wrong) == (2, 4):
                continue
            with pytest.raises(ValueError):
                fit(wrong)
            assert pickle.dumps(vars(scaler)) == before


@pytest.mark.parametrize("make", PIECEWISE)
def test_partial_fit_does_not_write_to_arrays_it_gave_out(make):
    scaler = make().partial_fit(NOTES)
    kept = scaler.scale_
    before = kept.copy()
    scaler.partial_fit(NOTES * 10)
    np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize(
    ("scaler", "name"),
    [
        (StandardScaler(ddof=-1), "ddof=-1"),
        (StandardScaler(ddof=0.5), "ddof=0.5"),
        (StandardScaler(with_mean="yes"), "with_mean='yes'"),
        (MinMaxScaler((1, 1)), r"feature_range=\(1, 1\)"),
        (MinMaxScaler((2, 1)), r"feature_range=\(2, 1\)"),
        (MinMaxScaler((0, np.inf)), r"feature_range=\(0, inf\)"),
        (MinMaxScaler(clip=1), "clip=1"),
        (MaxAbsScaler(copy=None), "copy=None"),
        (RobustScaler(quantile_range=(75, 25)), r"quantile_range=\(75, 25\)"),
        (RobustScaler(quantile_range=(-1, 25)), r"quantile_range=\(-1, 25\)"),
        (RobustScaler(quantile_range=(0, 50), unit_variance=True), r"quantile_range=\(0, 50\)"),
    ],
    ids=repr,
)
def test_a_wrong_parameter_is_named_with_its_value_and_what_would_do(scaler, name):
    with pytest.raises(InvalidParameterError, match=rf"{type(scaler).__name__}: {name} is not valid.*it must be"):
        scaler.fit(NOTES)


def test_too_few_rows_for_ddof_are_an_error():
    with pytest.raises(ValueError, match=r"ddof=1 needs more than 1 row.*column 0 has 1"):
        StandardScaler(ddof=1).fit(NOTES[:1])
    with pytest.raises(ValueError, match=r"ddof=1 needs more than 1 row.*column 0 has 1"):
        StandardScaler(ddof=1).fit(NOTES, sample_weight=np.full(4, 0.25))
    assert StandardScaler(ddof=1, with_std=False).fit(NOTES[:1]).scale_ is None


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, np.nan], [[1, 1, 1, 1]]])
def test_wrong_weights_are_an_error(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        StandardScaler().fit(NOTES, sample_weight=weights)


def test_sparse_rows_where_they_cannot_be_are_an_error():
    S = sp.csr_matrix(NOTES)
    for scaler in (StandardScaler(), RobustScaler()):
        for call in (scaler.fit, clone(scaler).fit(NOTES).transform, clone(scaler).fit(NOTES).inverse_transform):
            with pytest.raises(ValueError, match=r"Cannot (un)?center sparse matrices"):
                call(S)
    with pytest.raises(TypeError, match="MinMaxScaler does not support sparse input"):
        MinMaxScaler().fit(S)
    for call in (MinMaxScaler().fit(NOTES).transform, MinMaxScaler().fit(NOTES).inverse_transform):
        with pytest.raises(TypeError, match="dense data is required"):
            call(S)


@pytest.mark.parametrize("make", SCALERS)
def test_the_wrong_number_of_columns_or_no_fit_is_an_error(make):
    scaler = make()
    for call in (scaler.transform, scaler.inverse_transform):
        with pytest.raises(NotFittedError):
            call(NOTES)
    scaler.fit(NOTES)
    for call in (scaler.transform, scaler.inverse_transform):
        with pytest.raises(ValueError, match=r"X has 2 features, but \w+ is expecting 3 features"):
            call(NOTES[:, :2])


@pytest.mark.parametrize("value", [1e-10, 0.1, 1 / 3, 1e17])
@pytest.mark.parametrize("n_rows", [3, 100, 1001])
def test_a_constant_column_has_no_variance_whatever_rounding_does_to_its_mean(value, n_rows):
    model = StandardScaler().fit(np.full((n_rows, 2), value))
    assert (model.var_ == 0).all()
    assert (model.scale_ == 1).all()
