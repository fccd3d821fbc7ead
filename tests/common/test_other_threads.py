"""Other threads than the one that fits: one that writes to the data meanwhile, and one that fits when the process ends.

What comes out of data that change under a fit is anybody's guess; the process must survive it.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import itertools
import os
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

import mercer.metrics
from mercer.cluster import KMeans
from mercer.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from mercer.linear_model import Lasso, LogisticRegression
from mercer.model_selection import tune
from tests.common.cases import ESTIMATORS, make, make_data, takes_weights
from tests.common.children import run_in_child

# ---- data that change under a fit

GARBAGE = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 1.0, -3.5, 1e9, 127.0])
INDICES = np.array([0, 1, 2, 3, 4, -1, 2**31 - 1, -(2**31), 100, 10**6])


class Vandal:
    """A thread that writes to arrays for as long as it is entered: what checks let pass but at another scale or place, what was
    there, garbage, and what was there again."""

    def __init__(self, *arrays):
        random = np.random.RandomState(0)
        self._arrays = [array for array in arrays if isinstance(array, np.ndarray) and array.size]
        self._contents = [_contents(array, random) for array in self._arrays]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def _write(self):
        random = np.random.RandomState(0)
        for turn in itertools.count():
            for array, contents in zip(self._arrays, self._contents, strict=True):
                np.copyto(array, contents[turn % len(contents)])
                time.sleep(random.uniform(0, 0.001))
            if self._is_over.is_set():
                return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *args):
        self._is_over.set()
        self._thread.join()


def _contents(array, random):
    saved = array.copy()
    if array.dtype.kind == "f":
        return [saved, saved * array.dtype.type(-1e6), saved, random.choice(GARBAGE, size=array.shape)]
    return [saved, random.permutation(saved), saved, random.choice(INDICES.astype(array.dtype), size=array.shape)]


def _survive(calls, *arrays, n_repeats):
    """Make the calls, which may raise, while the arrays are written to."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), Vandal(*arrays):
        warnings.simplefilter("ignore")
        for _ in range(n_repeats):
            for call in calls:
                try:
                    call()
                except Exception:
                    continue
    return True


def _fit_vandalised(name, n_rows, n_repeats, is_sparse):
    estimator = next(cls for cls in ESTIMATORS if cls.__name__ == name)
    data = make_data(estimator, n_rows)
    X = np.ascontiguousarray(data.X)
    y = None if data.y is None else np.array(data.y)
    parts = [X]
    if is_sparse:
        X = sp.csr_matrix(np.where(np.median(X) < X, X, 0))
        parts = [X.data, X.indices, X.indptr]
    weights = {"sample_weight": np.ones(n_rows)} if takes_weights(estimator) else {}
    labels = [y] if y is not None and y.dtype.kind in "fiu" else []
    fitted = make(estimator).fit(*data.args)
    used = [getattr(fitted, method) for method in ("predict", "transform", "predict_proba") if hasattr(fitted, method)]
    calls = [lambda: make(estimator).fit(X, *([] if y is None else [y]), **weights), *(lambda f=f: f(X) for f in used)]
    return _survive(calls, *parts, *labels, *weights.values(), n_repeats=n_repeats)


INDEXING = ("HistGradientBoostingClassifier", "RandomForestClassifier", "KMeans", "RobustScaler")


@pytest.mark.parametrize("name", INDEXING)
def test_a_fit_survives_a_thread_that_writes_to_its_data(name):
    assert run_in_child(_fit_vandalised, name, 2000, 2, False)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_fit_survives_a_thread_that_writes_to_its_data(estimator):
    assert run_in_child(_fit_vandalised, estimator.__name__, 3000, 4, False, timeout=300)
    if get_tags(make(estimator)).input_tags.sparse:
        assert run_in_child(_fit_vandalised, estimator.__name__, 3000, 4, True, timeout=300)


@pytest.mark.parametrize("name", ["Lasso", "KMeans", "LinearSVC"])
def test_a_fit_survives_a_thread_that_writes_to_the_indices_of_sparse_rows(name):
    assert run_in_child(_fit_vandalised, name, 1000, 2, True)


def _measure_vandalised(n_rows, n_repeats):
    random = np.random.RandomState(0)
    truth, scores, weights = random.randint(0, 2, n_rows), random.uniform(size=n_rows), random.uniform(size=n_rows)
    predicted = random.randint(0, 2, n_rows)
    shares = np.column_stack([1 - scores, scores])
    calls = []
    for name in mercer.metrics.__all__:
        measure = getattr(mercer.metrics, name)
        if not inspect.isfunction(measure):
            continue
        for second in (scores, predicted, shares, scores.astype(np.float32)):
            calls.append(lambda measure=measure, second=second: measure(truth, second))
            calls.append(lambda measure=measure, second=second: measure(truth, second, sample_weight=weights))
    return _survive(calls, truth, scores, weights, predicted, shares, n_repeats=n_repeats)


def _rank_vandalised(n_rows, n_repeats):
    random = np.random.RandomState(0)
    truth, scores = random.randint(0, 2, n_rows), random.uniform(size=n_rows)
    calls = [lambda: mercer.metrics.roc_auc_score(truth, scores)]
    return _survive(calls, scores, n_repeats=n_repeats)


def test_the_area_under_the_roc_curve_survives_a_thread_that_writes_to_the_scores():
    assert run_in_child(_rank_vandalised, 300_000, 40)


@pytest.mark.slow
def test_every_measure_survives_a_thread_that_writes_to_its_data():
    assert run_in_child(_measure_vandalised, 300_000, 3, timeout=300)


# ---- a process that ends


def _fit_for_ever(kind):
    random = np.random.RandomState(0)
    X = random.randn(3000, 10)
    y = X[:, 0] + random.randn(3000)
    fits = {
        "k-means": lambda: KMeans(30, n_init=1, max_iter=50, tol=0, n_jobs=2).fit(X),
        "forest": lambda: RandomForestRegressor(20, n_jobs=2).fit(X, y),
        "histogram boosting": lambda: HistGradientBoostingRegressor(max_iter=50, n_jobs=2).fit(X, y),
        "logistic regression": lambda: LogisticRegression().fit(X, y > 0),
        "lasso": lambda: Lasso(1e-4).fit(X, y),
        "tune": lambda: tune(Lasso(), X, y, n_trials=3, n_jobs=2),
    }
    while True:
        fits[kind]()


def _exit_codes(kind, delays):
    """How processes end that say exit(7) after a while, with a daemon thread in the midst of fits."""
    codes = []
    for delay in delays:
        pid = os.fork()
        if pid == 0:
            threading.Thread(target=_fit_for_ever, args=(kind,), daemon=True).start()
            time.sleep(delay)
            gc.freeze()  # what the suite has loaded need not be searched for garbage
            ctypes.pythonapi.Py_Exit(7)  # what ends a script; a forked process would leave without it
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return codes


@pytest.mark.parametrize("kind", ["k-means", "histogram boosting", "lasso"])
def test_a_process_ends_with_its_own_code_while_a_daemon_thread_fits(kind):
    assert run_in_child(_exit_codes, kind, [0.1]) == [7]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["k-means", "forest", "histogram boosting", "logistic regression", "lasso", "tune"])
def test_a_process_ends_with_its_own_code_at_any_moment_of_a_fit(kind):
    delays = np.random.RandomState(0).uniform(0.01, 0.5, size=20).tolist()
    assert run_in_child(_exit_codes, kind, delays, timeout=300) == [7] * 20
