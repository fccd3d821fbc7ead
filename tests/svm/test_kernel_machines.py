"""Kernel support vector machines against the textbook's, LIBSVM's, and each optimality condition."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import mercer
from mercer.kernels import RBF, Cosine, Laplacian, Linear, Spectrum
from mercer.svm import SVC, SVCCV, SVR, SVRCV, NuSVC, NuSVR, OneClassSVM
from tests.reference import kernel_svm as reference

TIGHT = 1e-7


def _rows(n=60, d=3, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * random.randn(n) > 1).astype(int)
    return X, y, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * random.randn(n)


def _row_duals(model, n):
    duals = np.zeros(n)
    duals[model.support_] = model.dual_coef_[0]
    return duals


def test_classification_is_the_textbooks():
    X, y, _ = _rows()
    weights = np.random.RandomState(1).uniform(0.2, 2, len(y))
    model = SVC(gamma=0.5, C=2.0, tol=TIGHT).fit(X, y, sample_weight=weights)
    expected = reference.classify(reference.rbf(X, X, 0.5), np.where(y == 1, 1.0, -1.0), 2.0 * weights)
    np.testing.assert_allclose(_row_duals(model, len(y)), expected, atol=1e-5)


def test_regression_is_the_textbooks():
    X, _, target = _rows()
    model = SVR(gamma=0.5, C=3.0, epsilon=0.2, tol=TIGHT).fit(X, target)
    expected = reference.regress(reference.rbf(X, X, 0.5), target, np.full(len(target), 3.0), 0.2)
    np.testing.assert_allclose(_row_duals(model, len(target)), expected, atol=1e-5)


def test_one_class_is_the_textbooks():
    X, _, _ = _rows()
    model = OneClassSVM(gamma=0.5, nu=0.3, tol=TIGHT).fit(X)
    expected = reference.one_class(reference.rbf(X, X, 0.5), np.ones(len(X)), 0.3)
    np.testing.assert_allclose(_row_duals(model, len(X)), expected, atol=1e-5)


MACHINES = {
    "SVC": (SVC, sklearn.svm.SVC, {"C": 2.0}, 1),
    "NuSVC": (NuSVC, sklearn.svm.NuSVC, {"nu": 0.2}, 1),
    "SVR": (SVR, sklearn.svm.SVR, {"C": 2.0}, 2),
    "NuSVR": (NuSVR, sklearn.svm.NuSVR, {"C": 2.0, "nu": 0.4}, 2),
    "OneClassSVM": (OneClassSVM, sklearn.svm.OneClassSVM, {"nu": 0.3}, None),
}


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_finds_what_libsvm_finds(name, kernel):
    own, peer, params, target = MACHINES[name]
    data = _rows(120)
    args = data[:1] if target is None else (data[0], data[target])
    params = {**params, "kernel": kernel, "coef0": 1.0, "gamma": 0.3}
    model, other = own(**params, tol=TIGHT).fit(*args), peer(**params, tol=TIGHT).fit(*args)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-4)
    values = "decision_function" if hasattr(other, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(model, values)(data[0]), getattr(other, values)(data[0]), atol=1e-4)


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_pairs_of_classes_are_laid_out_as_libsvm_lays_them_out(shape):
    X, _, target = _rows(150)
    y = np.array(["a", "b", "c", "d"])[np.digitize(target, [-1, 0, 1])]
    params = {"decision_function_shape": shape, "tol": TIGHT, "gamma": 0.3}
    model, other = SVC(**params).fit(X, y), sklearn.svm.SVC(**params).fit(X, y)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_array_equal(model.n_support_, other.n_support_)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    linear, plain = (cls(kernel="linear", tol=TIGHT).fit(X, y) for cls in (SVC, sklearn.svm.SVC))
    np.testing.assert_allclose(linear.coef_, plain.coef_, atol=1e-3)


def test_every_optimality_condition_holds_and_says_where_the_row_lies():
    X, y, _ = _rows(200)
    model = SVC(C=1.5, tol=1e-5).fit(X, y)
    alpha = np.abs(_row_duals(model, len(y)))
    signs = np.where(y == 1, 1.0, -1.0)
    margin = signs * model.decision_function(X)
    assert abs(_row_duals(model, len(y)).sum()) < 1e-9
    assert alpha.min() >= 0
    assert alpha.max() <= 1.5
    is_free = (alpha > 0) & (alpha < 1.5)
    assert all([is_free.any(), (alpha == 0).any(), (alpha == 1.5).any()])
    assert (margin[alpha == 0] >= 1 - 1e-4).all()
    np.testing.assert_allclose(margin[is_free], 1, atol=1e-4)
    assert (margin[alpha == 1.5] <= 1 + 1e-4).all()
    assert set(model.point_status_[is_free]) == {"on"}
    assert set(model.point_status_[alpha == 0]) <= {"outside", "on"}
    assert set(model.point_status_[alpha == 1.5]) <= {"inside", "misclassified", "on"}
    found = model.margins(X, y)
    np.testing.assert_array_equal(found.place, model.point_status_)
    np.testing.assert_allclose(found.geometric, found.functional * model.half_margin_)


def test_the_gap_is_that_of_the_objective_and_bounds_the_distance_to_the_solution():
    X, y, _ = _rows(150)
    signs, costs = np.where(y == 1, 1.0, -1.0), np.full(len(y), 5.0)
    loose, tight = SVC(C=5, gamma=0.5, tol=0.1).fit(X, y), SVC(C=5, gamma=0.5, tol=1e-9).fit(X, y)
    K = reference.rbf(X, X, 0.5)
    primal = reference.primal(K, _row_duals(loose, len(y)), loose.intercept_[0], signs, costs)
    assert loose.certificate_.primal == pytest.approx(primal, rel=1e-6)
    assert tight.certificate_.gap < 1e-5 < loose.certificate_.gap
    assert 0 <= loose.certificate_.primal - tight.certificate_.primal <= loose.certificate_.gap + 1e-6


def test_rows_inside_the_tube_support_nothing():
    X, _, target = _rows(150)
    model = SVR(epsilon=0.2, C=3, tol=1e-6).fit(X, target)
    residual = np.abs(target - model.predict(X))
    others = np.setdiff1d(np.arange(len(X)), model.support_)
    assert len(others)
    assert (residual[others] <= 0.2 + 1e-5).all()
    is_free = np.abs(model.dual_coef_[0]) < 3
    np.testing.assert_allclose(residual[model.support_[is_free]], 0.2, atol=1e-5)
    nu = NuSVR(nu=0.3, C=3, tol=1e-6).fit(X, target)
    assert (np.abs(target - nu.predict(X)) > nu.epsilon_ + 1e-4).mean() <= 0.3 <= len(nu.support_) / len(X)


def test_the_hard_margin_of_two_points_is_their_distance_and_what_has_none_is_refused():
    X, y = np.array([[0.0, 0], [1, 1], [3, 3], [4, 4]]), np.array([0, 0, 1, 1])
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.5, 0.5]], atol=1e-8)
    assert model.margin_ == pytest.approx(2 * np.sqrt(2))
    assert model.half_margin_ == pytest.approx(np.sqrt(2))
    assert model.point_status_.tolist() == ["outside", "on", "on", "outside"]
    with pytest.raises(ValueError, match=r"C=inf .* not separable"):
        SVC(kernel="linear", C=np.inf).fit(np.vstack([X, X[:1]]), [0, 0, 1, 1, 1])


def test_equal_rows_with_opposite_labels_and_constant_columns_do_no_harm():
    X, y, _ = _rows(50)
    X[:, 2] = 7.0
    twice, labels = np.vstack([X, X]), np.concatenate([y, 1 - y])
    model = SVC(tol=1e-6).fit(twice, labels)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.decision_function(X), 0, atol=1e-4)


def test_rows_without_weight_are_absent():
    X, y, _ = _rows(80)
    weights = np.where(np.arange(80) % 3 == 0, 0.0, 1.0)
    model = SVC(tol=1e-8).fit(X, y, sample_weight=weights)
    alone = SVC(
        tol=1e-8,
    ).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(model.support_, np.flatnonzero(weights)[alone.support_])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-6)
    with pytest.raises(ValueError, match="all samples of class 1 have zero weights"):
        SVC().fit(X, y, sample_weight=1.0 - y)


def test_large_powers_of_data_that_are_not_scaled_end_and_say_so():
    random = np.random.RandomState(0)
    X = random.uniform(0, 100, (60, 2))
    y = (X[:, 0] + 30 * random.randn(60) > 50).astype(int)
    hard = {"kernel": "poly", "degree": 10, "gamma": 1.0}
    with pytest.warns(ConvergenceWarning, match=r"10000000 steps, the most that are taken by default.*duality gap"):
        model = SVC(**hard).fit(X, y)
    assert not model.certificate_.converged
    assert model.fit_status_ == 1
    assert model.n_iter_[0] <= 10_000_000
    with pytest.warns(ConvergenceWarning, match="Solver terminated early: after max_iter=200 "):
        assert SVC(**hard, max_iter=200).fit(X, y).n_iter_[0] == 200
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.0001 seconds"):
        SVC(**hard, max_time=1e-4).fit(X, y)


def test_a_kernel_that_is_not_positive_is_warned_about():
    X, y, _ = _rows(60)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0, C=100).fit(X, y)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cls", [NuSVC, NuSVR, SVR])
def test_few_rows_are_solved_to_the_tolerance(cls, seed):
    """Blocks are shared out among groups of variables: where there are few, each must still have a pair to move."""
    random = np.random.RandomState(seed)
    for n_rows in (4, 9, 15):
        X, y = random.rand(n_rows, 30), np.arange(n_rows) % 2 if cls is NuSVC else random.rand(n_rows)
        model = cls(gamma=0.3, tol=1e-9, **({} if cls is SVR else {"nu": 0.1})).fit(X, y)
        assert model.certificate_.converged, model.certificate_


def test_a_nu_that_no_class_can_pay_is_refused():
    X = np.arange(10.0)[:, None]
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        NuSVC(nu=0.9).fit(X, [0] * 9 + [1])


@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_the_largest_probability_is_that_of_the_class_predicted(cls):
    X, y, target = _rows(200)
    three = np.digitize(target, [-0.5, 0.5])
    for labels in (y, three):
        model = cls(probability=True, random_state=0, **({"nu": 0.2} if cls is NuSVC else {})).fit(X, labels)
        found = model.predict_proba(X)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert found.min() >= 0
        np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
        assert len(model.probA_) == len(model.probB_) == (1 if labels is y else 3)
    assert not hasattr(cls(), "predict_proba")


@pytest.mark.parametrize("cls", [SVC, SVR, OneClassSVM])
def test_given_kernels_functions_and_sparse_rows_give_the_same(cls):
    X, y, target = _rows(80)
    args = () if cls is OneClassSVM else (target if cls is SVR else y,)
    K = X @ X.T
    plain = cls(kernel="linear", tol=1e-8).fit(X, *args)
    values = "predict" if cls is SVR else "decision_function"
    expected = getattr(plain, values)(X)
    given = cls(kernel="precomputed", tol=1e-8).fit(K, *args)
    by_call = cls(kernel=lambda a, b: a @ b.T, tol=1e-8).fit(X, *args)
    sparse = cls(kernel="linear", tol=1e-8).fit(sp.csr_matrix(X), *args)
    for found in (getattr(given, values)(K), getattr(by_call, values)(X), getattr(sparse, values)(sp.csr_matrix(X))):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "kernel", [0.5 * Linear() + RBF(0.1), Linear() * RBF(0.3), Laplacian(0.2), Cosine(), RBF(0.5).on_features([0, 2])], ids=repr
)
def test_kernels_of_the_algebra_are_those_of_their_matrices(kernel):
    X, y, target = _rows()
    for cls, known in ((SVC, y), (SVR, target)):
        model, given = cls(kernel=kernel).fit(X, known), cls(kernel="precomputed").fit(kernel(X), known)
        np.testing.assert_allclose(model.predict(X), given.predict(kernel(X)), atol=1e-10)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        file = io.BytesIO()
        mercer.save(model, file)
        np.testing.assert_array_equal(mercer.load(file.getvalue()).predict(X), model.predict(X))
    assert model.kernel_ == kernel


def test_sequences_and_named_columns_are_rows_too():
    words = ["spam spam", "ham eggs", "spam", "eggs ham ham", "spammy", "eggs"]
    model = SVC(kernel=Spectrum(2), C=10).fit(words, [1, 0, 1, 0, 1, 0])
    assert model.predict(["spams", "ham egg"]).tolist() == [1, 0]
    X, y, _ = _rows()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name, by_number = (SVC(kernel=RBF(0.5).on_features(columns)) for columns in (["a", "c"], [0, 2]))
    np.testing.assert_array_equal(by_name.fit(table, y).decision_function(table), by_number.fit(X, y).decision_function(X))


def test_a_second_fit_forgets_the_support_vectors_of_the_first():
    X, y, _ = _rows()
    model = SVC().fit(X, y)
    model.predict(X)
    np.testing.assert_array_equal(
        model.fit(X[:40], y[:40]).decision_function(X), SVC().fit(X[:40], y[:40]).decision_function(X)
    )


@pytest.mark.parametrize("cls", [SVC, SVR, OneClassSVM])
def test_the_number_of_threads_changes_no_bit_of_many_blocks(cls):
    X, y, target = _rows(1500)
    args = () if cls is OneClassSVM else (target if cls is SVR else y,)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="mercer"):
            found.append(cls(cache_size=3).fit(X, *args))
    assert len(found[0].history_) > 2
    np.testing.assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)
    np.testing.assert_array_equal(found[0].intercept_, found[1].intercept_)


def test_a_cache_of_few_lines_changes_nothing_but_the_work():
    X, y, _ = _rows(1500)
    small, large = (SVC(cache_size=size, tol=1e-5).fit(X, y) for size in (1e-3, 200))
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(X), atol=1e-4)


def test_float32_stays_and_finds_what_float64_finds():
    X, y, _ = _rows(200)
    single, double = SVC().fit(X.astype(np.float32), y), SVC().fit(X, y)
    assert single.dual_coef_.dtype == single.intercept_.dtype == single.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), double.decision_function(X), atol=5e-3)


def test_a_sweep_of_costs_gives_what_separate_fits_give():
    X, _, target = _rows(150)
    three = np.digitize(target, [-0.5, 0.5])
    for cls, labels in ((SVC, three), (SVR, target)):
        machine = cls(tol=1e-7)
        for cost, model in zip([10.0, 0.1, 1.0], machine.sweep(X, labels, "C", [10.0, 0.1, 1.0]), strict=True):
            alone = cls(tol=1e-7, C=cost).fit(X, labels)
            assert cost == model.C
            np.testing.assert_allclose(model.intercept_, alone.intercept_, atol=1e-5)
            np.testing.assert_array_equal(model.support_, alone.support_)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_choice_is_that_of_a_grid_search(classes):
    from sklearn.model_selection import GridSearchCV

    X, y, target = _rows(150)
    labels = y if classes == 2 else np.digitize(target, [-0.5, 0.5])
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}
    model = SVCCV(**grid, cv=3, tol=1e-6).fit(X, labels)
    search = GridSearchCV(sklearn.svm.SVC(tol=1e-6), grid, cv=3).fit(X, labels)
    np.testing.assert_allclose(model.cv_scores_, search.cv_results_["mean_test_score"].reshape(3, 2).T, atol=1e-9)
    assert model.best_score_ == pytest.approx(search.best_score_)
    np.testing.assert_array_equal(model.predict(X), SVC(C=model.C_, gamma=model.gamma_, tol=1e-6).fit(X, labels).predict(X))


def test_the_choice_of_a_regression_is_that_of_a_grid_search():
    from sklearn.model_selection import GridSearchCV

    X, _, target = _rows(120)
    grid = {"C": [0.1, 10.0], "gamma": [0.05, 0.5]}
    model = SVRCV(**grid, cv=3, tol=1e-7, scoring="neg_mean_squared_error").fit(X, target)
    search = GridSearchCV(sklearn.svm.SVR(tol=1e-7), grid, cv=3, scoring="neg_mean_squared_error").fit(X, target)
    np.testing.assert_allclose(model.cv_scores_, search.cv_results_["mean_test_score"].reshape(2, 2).T, rtol=1e-4)
    assert (model.C_, model.gamma_) == (search.best_params_["C"], search.best_params_["gamma"])


def test_a_row_on_the_boundary_of_one_class_is_within_it_dense_or_sparse():
    X = np.round(np.random.RandomState(3).normal([5, 3, 4, 1], 1, size=(150, 4)), 1)
    dense, sparse = (OneClassSVM(gamma=1.0).fit(rows) for rows in (X, sp.csr_matrix(X)))
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_matrix(X)))
    is_free = (dense.dual_coef_[0] > 0) & (dense.dual_coef_[0] < 1)
    slack = dense.decision_function(X[dense.support_[is_free]])
    assert slack.min() > 1e-7  # far beyond the rounding of the kernel's values
    assert slack.max() < 2.1e-3  # within the tolerance


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_variance_that_overflows_is_no_scale(kind):
    X = np.finfo(float).max * np.random.RandomState(0).uniform(size=(10, 2))
    with pytest.raises(ValueError, match="gamma='scale' is one over the variance of X, which overflows"):
        SVC().fit(kind(X), [0, 1] * 5)


def test_classes_without_an_edge_over_one_another_are_voted_for_alike():
    X = np.arange(9.0)[:, None]
    far = SVC(gamma=1e6).fit(X, [0, 1, 2] * 3)  # no support vector reaches a row between: all pairs are at exactly zero
    between = X + 0.5
    np.testing.assert_array_equal(far.predict(between), far.decision_function(between).argmax(axis=1))
