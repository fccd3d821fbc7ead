"""What a user may rely on in every estimator: the same bits from any number of threads, forks, Ctrl-C, memory, pickles."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from tests.common.cases import (
    ESTIMATORS,
    case_of,
    fitted,
    fitted_fixed,
    fitted_serially,
    fixed,
    make,
    make_data,
    make_large,
    parameters_of,
    takes_weights,
)
from tests.common.children import finish_fork, fork_and_run, run_in_child, run_in_shared_child
from tests.common.discovery import peer_of
from tests.common.state import (
    assert_close,
    assert_outputs_close,
    assert_same_bits,
    bits,
    fitted_attributes,
    outputs,
    traces_of_a_fit,
)

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
weighted_estimators = pytest.mark.parametrize(
    "estimator", [cls for cls in ESTIMATORS if takes_weights(cls)], ids=lambda cls: cls.__name__
)
DTYPES = (np.float64, np.float32)
exhaustive = pytest.mark.slow  # one of several that look for the same: the others are left to `make test-all`
ACCEPTED_GROWTH = 5_000_000  # bytes


def test_there_are_estimators_to_test():
    assert "KMeans" in {estimator.__name__ for estimator in ESTIMATORS}


# ---- threads


threads_to_compare = pytest.mark.parametrize("n_threads", [pytest.param(2, marks=exhaustive), 7])


def _in_one_precision(place, dtype):
    """Kernels of both precisions are one source: `make test` fits every second estimator in each of them."""
    return () if dtype == DTYPES[place % 2] else exhaustive


@threads_to_compare
@pytest.mark.parametrize(
    ("estimator", "dtype"),
    [
        pytest.param(cls, dtype, marks=_in_one_precision(place, dtype), id=f"{cls.__name__}-{dtype.__name__}")
        for place, cls in enumerate(ESTIMATORS)
        for dtype in DTYPES
    ],
)
def test_the_number_of_threads_changes_no_bit(estimator, dtype, n_threads):
    data, serial = make_large(estimator, dtype), fitted_serially(estimator, dtype)
    with threadpool_limits(1, user_api="mercer"):
        expected = bits(outputs(serial, data.X))
    with threadpool_limits(n_threads, user_api="mercer"):
        model = make(estimator).fit(*data.args)
        assert bits(outputs(model, data.X)) == expected
    assert_same_bits(serial, model)


@every_estimator
@threads_to_compare
def test_the_number_of_threads_changes_no_bit_of_a_weighted_fit_on_sparse_rows(estimator, n_threads):
    if not get_tags(make(estimator)).input_tags.sparse:
        pytest.skip("takes no sparse input")
    data = make_large(estimator)
    data = data.with_X(sp.csr_matrix(np.where(data.X > 2, data.X, 0)))
    weights = {"sample_weight": np.linspace(0, 2, data.X.shape[0])} if takes_weights(estimator) else {}
    models = []
    for n in (1, n_threads):
        with threadpool_limits(n, user_api="mercer"):
            models.append(make(estimator).fit(*data.args, **weights))
    assert_same_bits(*models)


@every_estimator
@pytest.mark.parametrize(("n_rows", "n_repeats"), [(400, 4), pytest.param(5_000, 16, marks=exhaustive)])
def test_sixteen_python_threads_that_fit_at_once_give_the_serial_results(estimator, n_rows, n_repeats):
    data = make_data(estimator, min(n_rows, case_of(estimator).n_large), 12)
    parts = [data.rows(slice(50 * part, None)) for part in range(4)]  # different fits, so that nothing may be shared
    serial = [make(estimator).fit(*part.args) for part in parts]
    with ThreadPoolExecutor(16) as pool:
        models = list(pool.map(lambda part: make(estimator).fit(*part.args), parts * n_repeats))
    for expected, model in zip(serial * n_repeats, models, strict=True):
        assert_same_bits(expected, model)


# ---- memory layout and types


@every_estimator
def test_float32_is_kept_where_the_peer_keeps_it(estimator):
    data, model = make_data(estimator, dtype=np.float32), fitted(estimator, np.float32)
    mine = {**fitted_attributes(model), **outputs(model, data.X)}
    peer = peer_of(estimator)
    if peer is None:
        if "transform" in mine and "float32" in get_tags(model).transformer_tags.preserves_dtype:
            assert mine["transform"].dtype == np.float32
        return
    shared = {name: value for name, value in model.get_params(deep=False).items() if name in parameters_of(peer)}
    twin = peer(**shared).fit(*data.args)
    for name, value in {**fitted_attributes(twin), **outputs(twin, data.X)}.items():
        if isinstance(value, np.ndarray) and value.dtype == np.float32:
            assert mine[name].dtype == np.float32, name


@every_estimator
def test_float32_finds_what_float64_finds(estimator):
    double, single = (make_data(estimator, dtype=dtype) for dtype in DTYPES)
    wide, narrow = (fitted_fixed(estimator, dtype) for dtype in DTYPES)
    for name, value in outputs(wide, double.X).items():
        other = outputs(narrow, single.X)[name]
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, other, rtol=1e-3, atol=1e-3 * np.abs(value).max())
        else:
            np.testing.assert_array_equal(value, other)


@every_estimator
def test_a_read_only_memory_map_will_do(estimator, tmp_path):
    data = make_data(estimator)
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=data.X.shape)
    stored[:] = data.X
    stored.flush()
    mapped = np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=data.X.shape)
    model = make(estimator).fit(*data.with_X(mapped).args)
    assert_same_bits(model, fitted(estimator))
    assert bits(outputs(model, mapped)) == bits(outputs(fitted(estimator), data.X))


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "rows backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "columns backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "not aligned": lambda X: np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "list of lists": np.ndarray.tolist,
}


@functools.lru_cache(maxsize=4)  # the layouts of one estimator are tried one after another
def _fixed_fit(estimator, n_rows, dtype):
    data = make_data(estimator, n_rows, dtype=dtype)
    model = fixed(estimator, data.X).fit(*data.args)
    return data, model, outputs(model, data.X)


# Where an element lies does not depend on its size but for these.
OF_THE_SIZE = ("Fortran order", "not aligned", "other byte order")


@pytest.mark.parametrize(
    ("layout", "dtype"),
    [
        pytest.param(layout, dtype, marks=marks, id=f"{layout}-{dtype.__name__}")
        for dtype in DTYPES
        for layout in LAYOUTS
        for marks in [() if dtype == np.float64 or layout in OF_THE_SIZE else exhaustive]
    ],
)
@pytest.mark.parametrize("n_rows", [200, pytest.param(3_000, marks=exhaustive)])
@every_estimator
def test_the_memory_layout_of_X_does_not_matter(estimator, layout, dtype, n_rows):
    if layout == "list of lists" and dtype == np.float32:
        pytest.skip("a list of Python floats is float64")
    data, expected, values = _fixed_fit(estimator, n_rows, dtype)
    other = LAYOUTS[layout](data.X)
    rtol = 1e-7 if dtype == np.float64 else 1e-3
    model = fixed(estimator, data.X).fit(*data.with_X(other).args)
    np.testing.assert_array_equal(other, data.X)
    assert_close(expected, model, rtol=rtol)
    for name, value in values.items():
        np.testing.assert_allclose(*(_numbers(v) for v in (value, outputs(model, other)[name])), rtol=rtol, atol=rtol)


def _numbers(values):
    return values if values.dtype.kind in "fiu" else np.unique(values, return_inverse=True)[1]


SPARSE = {
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "csr array": sp.csr_array,
    "csr of 64-bit indices": lambda X: _with_long_indices(sp.csr_matrix(X)),
    "csc array of 64-bit indices": lambda X: _with_long_indices(sp.csc_array(X)),
    "coo array of 64-bit indices": lambda X: _with_long_indices(sp.coo_array(X)),
    "entries given twice": lambda X: _with_entries_twice(sp.csr_matrix(X)),
    "entries out of order": lambda X: _with_entries_backwards(sp.csr_matrix(X)),
}


def _with_long_indices(X):
    if X.format == "coo":
        X.coords = tuple(index.astype(np.int64) for index in X.coords)
    else:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _index_of(X):
    return list(X.coords) if X.format == "coo" else [X.indices, X.indptr]


def _with_entries_twice(X):
    columns, halves = np.repeat(X.indices, 2), np.repeat(X.data / 2, 2)
    return sp.csr_matrix((halves, columns, X.indptr * 2), shape=X.shape)


def _with_entries_backwards(X):
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:end], X.data[start:end] = X.indices[start:end][::-1].copy(), X.data[start:end][::-1].copy()
    X.has_sorted_indices = False
    return X


@functools.lru_cache(maxsize=4)  # the kinds of one estimator are tried one after another
def _fit_on_dense_rows(estimator):
    data = make_data(estimator)
    data = data.with_X(np.where(data.X > 0, data.X, 0))
    known = make(estimator).get_params(deep=False)
    params = {name: False for name in ("with_mean", "with_centering") if name in known}
    params |= {"algorithm": "brute"} if "leaf_size" in known else {}  # no tree holds sparse rows
    # The intercept of an online learner takes smaller steps where X is sparse, as in scikit-learn; all else is the same.
    params |= {"fit_intercept": False} if case_of(estimator).is_online else {}
    model = fixed(estimator, data.X, **params).fit(*data.args)
    return data, params, model, outputs(model, data.X)


@every_estimator
@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_rows_give_what_the_same_dense_rows_give(estimator, kind):
    if not get_tags(make(estimator)).input_tags.sparse:
        pytest.skip("takes no sparse input")
    data, params, dense_model, values = _fit_on_dense_rows(estimator)
    sparse = SPARSE[kind](data.X)
    before = bits([sparse.data, *_index_of(sparse)])
    sparse_model = fixed(estimator, data.X, **params)
    sparse_model.fit(*data.with_X(sparse).args)
    of_rows = case_of(estimator).row_counting  # rows that are kept are sparse themselves
    assert_close(
        dense_model, sparse_model, rtol=1e-6, shared_only=True, passed_over=of_rows
    )  # not every method finds all there is
    for name, value in values.items():
        other = getattr(sparse_model, name)(sparse)
        other = other.toarray() if sp.issparse(other) else other
        np.testing.assert_allclose(_numbers(value), _numbers(other), rtol=1e-6, atol=1e-6)
    if hasattr(dense_model, "score"):
        assert sparse_model.score(*data.with_X(sparse).args) == pytest.approx(dense_model.score(*data.args), rel=1e-6, abs=1e-6)
    assert bits([sparse.data, *_index_of(sparse)]) == before


@every_estimator
def test_sparse_rows_that_32_bits_do_not_count_are_refused_with_the_remedy(estimator):
    if not get_tags(make(estimator)).input_tags.sparse:
        pytest.skip("takes no sparse input")
    data = make_data(estimator)
    wide = sp.csr_matrix(data.X)
    wide.resize(wide.shape[0], 2**31)
    with pytest.raises(ValueError, match=f"{2**31}.*fewer columns"):
        make(estimator).fit(*data.with_X(wide).args)


@every_estimator
def test_a_fit_leaves_its_input_alone(estimator):
    data = make_data(estimator)
    before = bits(list(data.args))
    model = make(estimator).fit(*data.args)
    outputs(model, data.X)
    assert bits(list(data.args)) == before


# ---- processes


def _fit_in_a_fork(estimator):
    data = make_data(estimator, min(case_of(estimator).n_large, 5_000), 12)  # enough to wake the threads before the fork
    before = make(estimator).fit(*data.args)

    def fit_again():
        assert_same_bits(make(estimator).fit(*data.args), before)

    finish_fork(fork_and_run(fit_again))
    fit_again()


@every_estimator
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fit_after_a_fork_ends_and_gives_the_same(estimator):
    run_in_shared_child(_fit_in_a_fork, estimator)


def _fork_while_fitting(estimator, n_rows, n_forks):
    data = make_data(estimator, n_rows, 12)
    expected = make(estimator).fit(*data.args)
    stop = threading.Event()

    def keep_fitting():
        while not stop.is_set():
            make(estimator).fit(*data.args)

    threads = [threading.Thread(target=keep_fitting) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(n_forks):
            time.sleep(0.02)
            finish_fork(fork_and_run(lambda: assert_same_bits(make(estimator).fit(*data.args), expected)))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@every_estimator
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_other_threads_fit_can_fit(estimator):
    run_in_shared_child(_fork_while_fitting, estimator, 500, 1)


@every_estimator
@exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forks_while_other_threads_fit_large_data_can_fit(estimator):
    run_in_child(_fork_while_fitting, estimator, case_of(estimator).n_large, 5)


def _interrupt(estimator, n_rows, delay):
    """Seconds from the signal to the KeyboardInterrupt; the estimator must then be as if never fitted."""
    params = case_of(estimator).long_params
    data = make_data(estimator, n_rows, 20)
    small = make_data(estimator)
    sent = []

    def send():
        time.sleep(delay)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    while True:
        model = make(estimator, **(params or {}))
        threading.Thread(target=send).start()
        try:
            while True:  # a one-pass fit ends before the signal comes: fit anew until one is interrupted
                model = make(estimator, **(params or {}))
                model.fit(*data.args)
                assert params is None, "the long fit was not long enough to interrupt"
        except KeyboardInterrupt:
            waited = time.monotonic() - sent[-1]
        if not traces_of_a_fit(model):
            break
        assert params is None, traces_of_a_fit(model)  # else the signal came just between two short fits
        assert len(sent) < 20, f"after 20 interrupts the estimator always has {traces_of_a_fit(model)}"
    if get_tags(model).requires_fit:
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
    assert_same_bits(model.set_params(**make(estimator).get_params()).fit(*small.args), make(estimator).fit(*small.args))
    return waited


@every_estimator
def test_ctrl_c_ends_a_fit_within_a_second_and_leaves_no_trace(estimator):
    assert run_in_child(_interrupt, estimator, case_of(estimator).n_large, 0.05) < 1.0


@every_estimator
@exhaustive
@pytest.mark.parametrize("delay", [0.05, 0.5])
def test_ctrl_c_ends_a_pass_over_many_rows_within_a_second(estimator, delay):
    assert run_in_child(_interrupt, estimator, case_of(estimator).n_long, delay) < 1.0


def _grow(estimator):
    """Growth of the resident set over 500 fits, in bytes: the least of three rounds, as the allocator takes it in leaps."""

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    data = make_data(estimator)

    def fit_many(count):
        for _ in range(count):
            outputs(make(estimator).fit(*data.args), data.X)

    fit_many(100)
    growth = []
    for _ in range(3):
        before = resident()
        fit_many(500)
        growth.append(resident() - before)
        if growth[-1] < ACCEPTED_GROWTH:
            break
    return min(growth)


@every_estimator
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_five_hundred_fits_do_not_grow_the_process(estimator):
    assert run_in_child(_grow, estimator, timeout=250) < ACCEPTED_GROWTH  # hundreds of fits of an ensemble on a busy machine


def _fit_where_nothing_can_be_written(estimator):
    with contextlib.chdir("/proc/self/task"):  # nobody, not even root, can make a file here
        with pytest.raises(OSError):
            open("file", "w").close()
        data = make_data(estimator)
        outputs(make(estimator).fit(*data.args), data.X)


@every_estimator
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /proc")
def test_a_fit_needs_no_writable_directory(estimator):
    run_in_shared_child(_fit_where_nothing_can_be_written, estimator)


# ---- copies


@every_estimator
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_predicts_the_same_bits(estimator, protocol):
    data, model = make_data(estimator), fitted(estimator)
    copy = pickle.loads(pickle.dumps(model, protocol=protocol))
    assert_same_bits(model, copy)
    assert bits(outputs(model, data.X)) == bits(outputs(copy, data.X))


@every_estimator
def test_a_clone_is_unfitted_and_fits_to_the_same_bits(estimator):
    data, model = make_data(estimator), fitted(estimator)
    copy = clone(model)
    assert not traces_of_a_fit(copy)
    copy.fit(*data.args)
    assert_same_bits(model, copy)
    assert bits(outputs(model, data.X)) == bits(outputs(copy, data.X))


@every_estimator
def test_a_second_fit_forgets_the_first(estimator):
    data, other = make_data(estimator), make_data(estimator, 150, 3)
    again = fixed(estimator, data.X)
    again.fit(*data.args)
    fresh = fixed(estimator, other.X)
    again.set_params(**fresh.get_params()).fit(*other.args)
    assert_same_bits(again, fresh.fit(*other.args))


# ---- weights


@weighted_estimators
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_integer_weight_equals_repetition_and_zero_equals_absence(estimator, dtype):
    if case_of(estimator).is_online:
        pytest.skip("one step of weight two is not two steps of weight one")
    if case_of(estimator).draws_rows:
        pytest.skip("a weight is a chance to be drawn: it equals repetition on average")
    if case_of(estimator).draws_for_rows:
        pytest.skip("a row of weight two is learnt from with one draw, two equal rows with two")
    data = make_data(estimator, 400, dtype=dtype)
    weights = np.random.RandomState(1).randint(0, 4, size=400)
    repeated = data.rows(np.repeat(np.arange(400), weights))
    one = fixed(estimator, data.X).fit(*data.args, sample_weight=weights.astype(dtype))
    other = fixed(estimator, data.X).fit(*repeated.args)
    rtol = 1e-8 if dtype == np.float64 else 1e-3
    assert_close(one, other, rtol=rtol, n_rows=(400, len(repeated.X)), passed_over=case_of(estimator).row_counting)
    assert_outputs_close(one, other, data.X, rtol=rtol)


@weighted_estimators
def test_a_row_of_weight_zero_can_be_anywhere(estimator):
    data = make_data(estimator, 400)
    weights = np.ones(400)
    weights[300:] = 0
    X = data.X.copy()
    X[300:] += 50
    one = fixed(estimator, data.X).fit(*data.with_X(X).args, sample_weight=weights)
    other = fixed(estimator, data.X).fit(*data.rows(slice(300)).args)
    assert_close(one, other, rtol=1e-8, n_rows=(400, 300), passed_over=case_of(estimator).row_counting)


@weighted_estimators
def test_weights_of_one_change_no_more_than_rounding(estimator):
    data = make_data(estimator)
    one = fixed(estimator, data.X).fit(*data.args, sample_weight=np.ones(len(data.X)))
    assert_close(one, fitted_fixed(estimator), rtol=1e-10)


@weighted_estimators
def test_weights_of_any_numeric_type_will_do(estimator):
    data = make_data(estimator)
    weights = np.arange(len(data.X)) % 3 + 1
    expected = fixed(estimator, data.X).fit(*data.args, sample_weight=weights.astype(np.float64))
    for given in (weights, weights.astype(np.float32), weights.tolist(), weights.astype(np.uint8), np.repeat(weights, 2)[::2]):
        assert_same_bits(fixed(estimator, data.X).fit(*data.args, sample_weight=given), expected)
