"""Sums, products, multiples and powers of Mercer kernels are Mercer kernels, and objects that estimators can be tuned by."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

import mercer
from mercer.kernel_ridge import KernelRidge
from mercer.kernels import (
    KERNELS,
    RBF,
    Constant,
    Cosine,
    Function,
    Laplacian,
    Linear,
    OnFeatures,
    Polynomial,
    Power,
    Scaled,
    Sigmoid,
    Spectrum,
    Subsequence,
    is_psd,
)
from mercer.model_selection import GridSearchCV

SEEDS = st.integers(0, 2**20)


def made_of(random, n_columns, depth):
    """A random Mercer kernel of others."""
    number = float(random.uniform(0.01, 3))
    if depth == 0:
        whole = Polynomial(int(random.randint(1, 4)), number, float(random.uniform(0, 2)))
        return [Linear(), Cosine(), Constant(number), RBF(number), Laplacian(number), whole][random.randint(6)]
    kind = random.randint(6)
    if kind == 0:
        return made_of(random, n_columns, depth - 1) + made_of(random, n_columns, depth - 1)
    if kind == 1:
        return made_of(random, n_columns, depth - 1) * made_of(random, n_columns, depth - 1)
    if kind == 2:
        return number * made_of(random, n_columns, depth - 1)
    if kind == 3:
        return made_of(random, n_columns, depth - 1) ** int(random.randint(1, 4))
    if kind == 4:
        columns = random.permutation(n_columns)[: random.randint(1, n_columns + 1)]
        return made_of(random, len(columns), depth - 1).on_features(columns)
    return made_of(random, n_columns, depth - 1).normalized()


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 12), depth=st.integers(0, 3))
def test_what_is_made_of_mercer_kernels_is_positive_semi_definite(seed, n, depth):
    random = np.random.RandomState(seed)
    kernel, X = made_of(random, 3, depth), random.randn(n, 3)
    assert kernel.is_mercer
    K = kernel(X)
    assert is_psd(K, tol=1e-9, raises=True)
    scale = max(1.0, np.abs(K).max())
    matrix = kernel.on(X)
    np.testing.assert_allclose(matrix.rows(np.arange(n)), K, atol=1e-9 * scale)
    np.testing.assert_allclose(matrix.against(X), K, atol=1e-9 * scale)
    np.testing.assert_allclose(matrix.diagonal(), np.diagonal(K), atol=1e-9 * scale)
    np.testing.assert_allclose(matrix.take([0]).rows([0]), K[:1, :1], atol=1e-9 * scale)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, depth=st.integers(0, 3))
def test_kernels_compare_by_their_parameters_and_survive_copies(seed, depth):
    kernel = made_of(np.random.RandomState(seed), 3, depth)
    assert clone(kernel) == kernel
    assert clone(kernel) is not kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel != Sigmoid()
    names = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    assert eval(repr(kernel), names) == kernel
    assert kernel.set_params(**kernel.get_params()) is kernel


def test_algebra_says_what_it_is():
    X = np.random.RandomState(0).randn(5, 3)
    K, R = Linear()(X), RBF(0.3)(X)
    np.testing.assert_allclose((Linear() + RBF(0.3))(X), K + R)
    np.testing.assert_allclose((Linear() * RBF(0.3))(X), K * R)
    np.testing.assert_allclose((2.5 * Linear() * 2)(X), 5 * K)
    np.testing.assert_allclose((1 + 2 * Linear() + 3 * Linear() ** 2)(X), 1 + 2 * K + 3 * K**2)
    np.testing.assert_allclose(Linear().on_features([2, 0])(X), X[:, [2, 0]] @ X[:, [2, 0]].T)
    np.testing.assert_allclose(Linear().normalized()(X), Cosine()(X))
    assert 2 * Linear() == Scaled(2.0, Linear())
    assert not (Sigmoid() + Linear()).is_mercer
    with pytest.raises(TypeError):
        Linear() + "rbf"


def test_arrays_of_the_user_are_not_written_to():
    K = np.eye(3)
    kernel = 2 * mercer.kernels.Precomputed()
    np.testing.assert_array_equal(kernel(K), 2 * np.eye(3))
    np.testing.assert_array_equal(kernel.on(K).against(K), 2 * np.eye(3))
    kept = np.ones((3, 3))
    np.testing.assert_array_equal((2 * Function(lambda A, B: kept))(K), 2 * np.ones((3, 3)))
    np.testing.assert_array_equal(K, np.eye(3))
    np.testing.assert_array_equal(kept, np.ones((3, 3)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(-1.0), r"RBF: gamma=-1.0 is not valid; it must be a finite number >= 0 or 'scale' or 'auto' or None"),
        (lambda: RBF("large"), "gamma='large' is not valid"),
        (lambda: Polynomial(0.5), "degree=0.5 is not valid; it must be a finite number >= 1"),
        (lambda: Linear() ** 0, "power=0 is not valid; it must be an integer >= 1"),
        (lambda: Linear() ** 1.5, "power=1.5 is not valid"),
        (lambda: -1 * Linear(), "factor=-1 is not valid; it must be a finite number >= 0"),
        (lambda: Linear() + -2.0, "value=-2.0 is not valid"),
        (lambda: Linear().on_features([]), "features=.* is not valid"),
        (lambda: Linear().on_features("a"), "features='a' is not valid"),
        (lambda: Linear().on_features([0, "a"]), "features=.* is not valid"),
        (lambda: Spectrum(0), "length=0 is not valid"),
        (lambda: Subsequence(2, 0.0), "decay=0.0 is not valid; it must be a finite number > 0 and <= 1"),
        (lambda: RBF().set_params(gama=1.0), r"Invalid parameter 'gama' for kernel RBF\(gamma=None\)"),
        (lambda: (Linear() + RBF()).set_params(k2__gamma=-1.0), "gamma=-1.0 is not valid"),
        (lambda: setattr(RBF(), "gamma", -1.0), "gamma=-1.0 is not valid"),
    ],
)
def test_wrong_parameters_are_refused_whenever_they_are_set(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_columns_are_chosen_by_number_or_by_name():
    table = pd.DataFrame(np.random.RandomState(0).randn(30, 3), columns=["a", "b", "c"])
    by_name, by_number = RBF(0.5).on_features(["c", "a"]), RBF(0.5).on_features([2, 0])
    np.testing.assert_allclose(by_name(table), by_number(table.to_numpy()))
    np.testing.assert_allclose(by_name.on(table).rows([3]), by_number(table.to_numpy())[[3]])
    y = table["a"].to_numpy()
    model = KernelRidge(kernel=by_name).fit(table, y)
    assert model.kernel_ == by_number
    np.testing.assert_array_equal(model.predict(table), KernelRidge(kernel=by_number).fit(table, y).predict(table))
    with pytest.raises(ValueError, match="X has no column 'z'"):
        RBF(0.5).on_features(["z"])(table)
    with pytest.raises(ValueError, match="X has no column named 'z'"):
        KernelRidge(kernel=RBF(0.5).on_features(["z"])).fit(table, y)
    with pytest.raises(ValueError, match=r"X has 3 columns; features=.* asks for others"):
        RBF(0.5).on_features([3])(table.to_numpy())
    assert OnFeatures(RBF(), np.array([1])).features == (1,)


def test_searches_reach_the_parameters_of_nested_kernels():
    X = np.random.RandomState(0).randn(40, 2)
    y = np.sin(3 * X[:, 0])
    kernel = RBF(0.01) + 0.1 * Linear()
    search = GridSearchCV(KernelRidge(0.01, kernel=kernel), {"kernel__k1__gamma": [0.001, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel__k1__gamma": 1.0}
    assert kernel.k1.gamma == 0.01
    assert search.best_estimator_.kernel_.k1.gamma == 1.0


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_are_saved_with_models(tmp_path, name):
    X, y = np.random.RandomState(0).rand(10, 3), np.arange(10.0)
    kernel = KERNELS[name]()
    X = X @ X.T if name == "precomputed" else X
    model = KernelRidge(kernel=Power(1 + kernel, 2) if name != "precomputed" else kernel).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_matrices_that_are_no_kernel_are_found_out():
    assert is_psd(np.eye(3))
    assert is_psd(np.zeros((0, 0)))
    assert not is_psd(np.diag([1.0, -0.5]))
    with pytest.raises(
        ValueError, match=r"not positive semi-definite: its most negative eigenvalue is -0.5, and its largest 1\."
    ):
        is_psd(np.diag([1.0, -0.5]), raises=True)
    with pytest.raises(ValueError, match="differs from its transpose by up to 1"):
        is_psd([[1.0, 1.0], [0.0, 1.0]], raises=True)
    with pytest.raises(ValueError, match="it must be square"):
        is_psd(np.ones((2, 3)))
    with pytest.raises(ValueError, match="NaN or infinity"):
        is_psd([[np.nan]])
    X = np.random.RandomState(0).randn(20, 2)
    assert not is_psd(Sigmoid(gamma=2.0, coef0=-1.0)(X))
