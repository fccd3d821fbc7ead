"""LinearSVC against naive solvers and scikit-learn, over losses, penalties, solvers, weights and shapes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer.svm import LinearSVC
from tests.reference.linear_svm import hinge_loss, hinge_svm, l1_squared_hinge_svm, squared_hinge_loss, svm_objective

LOSSES = {"hinge": hinge_loss, "squared_hinge": squared_hinge_loss}
KINDS = [
    {"loss": "hinge", "dual": False},
    {"loss": "hinge", "dual": True},
    {"loss": "squared_hinge", "dual": False},
    {"loss": "squared_hinge", "dual": True},
    {"loss": "squared_hinge", "penalty": "l1"},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def _data(n=120, d=5, n_classes=2, seed=0, shift=0.5):
    random = np.random.RandomState(seed)
    X = random.randn(n, d) + shift
    scores = X @ random.randn(d, n_classes) + random.randn(n, n_classes)
    return X, scores.argmax(axis=1)


def _objective(model, X, y, weights=None):
    """Of the first of the problems, whose classes are `classes_[1]` against the rest (two classes)."""
    labels = np.where(y == model.classes_[-1], 1.0, -1.0)
    l2 = model.intercept_scaling**-2.0 if model.penalize_intercept else 0.0
    options = {"C": model.C, "loss": LOSSES[model.loss], "penalty": model.penalty, "l2_of_intercept": l2}
    intercept = np.ravel(model.intercept_)[0]
    return svm_objective(X.astype(float), labels, model.coef_[0].astype(float), float(intercept), weights=weights, **options)


# ---- against others


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("dual", [False, True])
def test_the_hinge_agrees_with_a_quadratic_program(C, dual):
    X, y = _data(40, 3)
    model = LinearSVC(loss="hinge", C=C, tol=1e-8, dual=dual, max_iter=50_000).fit(X, y)
    expected = hinge_svm(X, np.where(y == 1, 1.0, -1.0), C)
    assert _objective(model, X, y) == pytest.approx(expected, rel=1e-6)
    assert model.certificate_.primal == pytest.approx(_objective(model, X, y), rel=1e-12)


@pytest.mark.parametrize("C", [0.02, 1.0])
@pytest.mark.parametrize("shape", [(60, 4), (30, 40)])
def test_the_l1_penalty_agrees_with_a_bounded_quasi_newton_method(C, shape):
    X, y = _data(*shape)
    model = LinearSVC(penalty="l1", C=C, tol=1e-10).fit(X, y)
    assert _objective(model, X, y) == pytest.approx(l1_squared_hinge_svm(X, np.where(y == 1, 1.0, -1.0), C), rel=1e-7)
    assert model.certificate_.converged


@every_kind
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 2.0, 2: 1.0}])
@pytest.mark.parametrize("options", [{}, {"intercept_scaling": 3.0}, {"fit_intercept": False}])
def test_with_a_penalty_on_the_intercept_the_coefficients_are_scikit_learns(kind, n_classes, class_weight, options):
    X, y = _data(150, 4, n_classes)
    if class_weight == {0: 0.5, 1: 2.0, 2: 1.0} and n_classes == 2:
        class_weight = {0: 0.5, 1: 2.0}
    weights = np.random.RandomState(1).uniform(0.2, 2, size=len(y))
    shared = {"C": 0.3, "class_weight": class_weight, "max_iter": 100_000, **options}
    model = LinearSVC(**kind, **shared, tol=1e-10, penalize_intercept=True).fit(X, y, weights)
    peer_kind = {**kind, "dual": kind["loss"] == "hinge"}
    peer = sklearn.svm.LinearSVC(**peer_kind, **shared, tol=1e-9, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@every_kind
@pytest.mark.parametrize("scaling", [0.3, 10.0])
def test_a_scaling_of_the_intercept_asks_for_scikit_learns_objective(kind, scaling):
    X, y = _data(shift=1.0)
    shared = {**kind, "intercept_scaling": scaling, "tol": 1e-6, "max_iter": 10_000, "random_state": 0}
    asked, named = (LinearSVC(**shared, penalize_intercept=is_named).fit(X, y) for is_named in (False, True))
    np.testing.assert_array_equal(asked.coef_, named.coef_)
    np.testing.assert_array_equal(asked.intercept_, named.intercept_)


@every_kind
def test_the_free_intercept_gives_a_lower_objective_than_a_penalised_one(kind):
    X, y = _data(shift=3.0)
    free = LinearSVC(**kind, tol=1e-8, max_iter=50_000).fit(X, y)
    bound = LinearSVC(**kind, tol=1e-8, max_iter=50_000, penalize_intercept=True).fit(X, y)
    bound.penalize_intercept = False
    assert _objective(free, X, y) < _objective(bound, X, y)


@every_kind
def test_shifting_the_columns_changes_no_decision(kind):
    X, y = _data()
    shifts = np.array([10.0, -3, 0, 5, 1])
    one = LinearSVC(**kind, tol=1e-11, max_iter=100_000).fit(X, y)
    other = LinearSVC(**kind, tol=1e-11, max_iter=100_000).fit(X + shifts, y)
    np.testing.assert_allclose(other.decision_function(X + shifts), one.decision_function(X), atol=2e-4)


# ---- optimality


@every_kind
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(4, 60), d=st.integers(1, 8), log_c=st.floats(-3, 1), has_intercept=st.booleans()
)
def test_the_gap_is_never_negative_and_within_tol_after_convergence(kind, seed, n, d, log_c, has_intercept):
    X, y = _data(n, d, seed=seed)
    y[:2] = 0, 1
    model = LinearSVC(**kind, C=10**log_c, tol=1e-5, fit_intercept=has_intercept, max_iter=20_000).fit(X, y)
    certificate = model.certificate_
    assert certificate.gap >= 0
    assert certificate.dual <= certificate.primal * (1 + 1e-12)
    assert certificate.converged
    assert certificate.gap <= 1e-5 * certificate.primal * (1 + 1e-9)
    assert certificate.primal == pytest.approx(_objective(model, X, y), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_hinge_meets_its_optimality_conditions(C):
    X, y = _data(200, 6)
    labels = np.where(y == 1, 1.0, -1.0)
    model = LinearSVC(loss="hinge", C=C, tol=1e-12).fit(X, y)
    margins = labels * model.decision_function(X)
    on_margin = np.abs(margins - 1) < 1e-8
    fixed = np.where(margins < 1 - 1e-8, C, 0.0) * labels
    # w and sum(a) = 0 leave the duals of the rows on the margin: they must lie between 0 and C
    wanted = np.append(model.coef_[0] - X.T @ fixed, -fixed.sum())
    rows = np.column_stack([X, np.ones(len(X))])[on_margin] * labels[on_margin, None]
    duals, *_ = np.linalg.lstsq(rows.T, wanted, rcond=None)
    np.testing.assert_allclose(rows.T @ duals, wanted, atol=1e-8)
    assert (duals > -1e-8).all()
    assert (duals < C + 1e-8).all()


def test_the_squared_hinge_has_no_gradient_left():
    X, y = _data(200, 6)
    labels = np.where(y == 1, 1.0, -1.0)
    model = LinearSVC(tol=1e-12, C=2.0).fit(X, y)
    slack = np.maximum(0, 1 - labels * model.decision_function(X))
    np.testing.assert_allclose(model.coef_[0], 2 * 2.0 * X.T @ (labels * slack), atol=1e-9)
    assert labels @ slack == pytest.approx(0, abs=1e-9)


def test_l1_with_a_huge_C_reaches_its_gap():
    X = np.random.default_rng(0).normal(size=(40, 6))
    model = LinearSVC(penalty="l1", C=1e9).fit(X, X[:, 0] > 0)
    assert model.certificate_.converged
    assert model.certificate_.primal < 7.27  # 8.25 where rounding ends it


def test_l1_zeroes_columns_without_use_even_among_many():
    X, y = make_classification(
        200, 800, n_informative=5, n_redundant=0, shuffle=False, class_sep=2.0, n_clusters_per_class=1, random_state=0
    )
    model = LinearSVC(penalty="l1", C=0.05, tol=1e-8).fit(X, y)
    assert model.certificate_.converged
    assert 0 < np.count_nonzero(model.coef_) < 60
    expected = l1_squared_hinge_svm(X, np.where(y == 1, 1.0, -1.0), 0.05)
    assert _objective(model, X, y) == pytest.approx(expected, rel=1e-6)


def _wide(container=sp.csr_matrix, n_classes=2):
    random = np.random.RandomState(3)
    X = sp.random(150, 700, density=0.03, format="csr", random_state=random)
    y = (X @ random.randn(700, n_classes) + 0.1 * random.randn(150, n_classes)).argmax(axis=1)
    return container(X) if container is not np.asarray else X.toarray(), y


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, np.asarray])
@pytest.mark.parametrize("options", [{}, {"penalize_intercept": True, "intercept_scaling": 2.0}, {"fit_intercept": False}])
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_l1_among_many_columns_is_solved_on_working_sets(container, options, C):
    X, y = _wide(container)
    weights = np.random.RandomState(0).uniform(0, 2, size=len(y)) * (np.arange(len(y)) > 5)
    model = LinearSVC(penalty="l1", C=C, tol=1e-8, **options).fit(X, y, weights)
    assert "working sets" in model.certificate_.method
    assert model.certificate_.converged
    assert 0 <= model.certificate_.gap <= 1e-8 * model.certificate_.primal * (1 + 1e-9)
    labels, coef, intercept = np.where(y == 1, 1.0, -1.0), model.coef_[0], float(np.ravel(model.intercept_)[0])
    excess = np.maximum(0, 1 - labels * (X @ coef + intercept))
    of_intercept = abs(intercept) / 2 if "penalize_intercept" in options else 0.0
    assert model.certificate_.primal == pytest.approx(np.abs(coef).sum() + of_intercept + C * weights @ excess**2, rel=1e-9)
    slopes = 2 * C * X.T @ (weights * labels * excess)
    assert (np.abs(slopes) <= 1 + 1e-3).all()
    np.testing.assert_allclose(slopes[coef != 0], np.sign(coef[coef != 0]), atol=1e-3)
    if not options:
        assert weights @ (labels * excess) == pytest.approx(0, abs=1e-6)


def test_l1_among_many_columns_is_no_worse_than_scikit_learn():
    X, y = _wide(n_classes=3)
    shared = {"penalty": "l1", "C": 5.0, "random_state": 0, "class_weight": "balanced"}
    model = LinearSVC(**shared, tol=1e-9, penalize_intercept=True).fit(X, y)
    peer = sklearn.svm.LinearSVC(**shared, dual=False, tol=1e-7, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-3)


@every_kind
@pytest.mark.parametrize(("bad", "message"), [(np.nan, "Input X contains NaN"), (1e200, "as large as 1e.200")])
def test_bad_values_among_many_columns_are_named(kind, bad, message):
    X, y = _wide(np.asarray)
    X = np.tile(X, 2)
    X[3, 5] = bad
    with pytest.raises(ValueError, match=message):
        LinearSVC(**{**kind, "dual": "auto"}).fit(X, y)


def test_separable_classes_get_the_widest_margin_for_large_C():
    X = np.array([[0.0, 0], [0, 1], [-1, 0.5], [4, 0], [4, 1], [6, 0.3]])
    y = [0, 0, 0, 1, 1, 1]
    for C in (1e2, 1e4, 1e8):
        model = LinearSVC(loss="hinge", C=C, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.coef_, [[0.5, 0]], atol=1e-7)
        np.testing.assert_allclose(model.intercept_, [-1], atol=1e-7)
        assert model.certificate_.converged


# ---- data


@every_kind
def test_sparse_rows_give_what_dense_rows_give(kind):
    X, y = _data(200, 12, 3)
    X[X < 1] = 0
    params = {**kind, "tol": 1e-11, "max_iter": 100_000, "C": 0.2}
    dense = LinearSVC(**params).fit(X, y)
    for make in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        sparse = LinearSVC(**params).fit(make(X), y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=2e-5)
        np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=2e-5)


@every_kind
def test_a_weight_is_a_number_of_repetitions(kind):
    X, y = _data(80, 4, 3)
    weights = np.random.RandomState(0).randint(0, 4, size=len(y))
    params = {**kind, "tol": 1e-11, "max_iter": 200_000, "C": 0.2, "class_weight": "balanced"}
    weighted = LinearSVC(**params).fit(X, y, weights)
    repeated = LinearSVC(**params).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)


@every_kind
def test_float32_gives_float32_near_the_double_solution(kind):
    X, y = _data(300, 5)
    double = LinearSVC(**kind, tol=1e-9, max_iter=50_000).fit(X.astype(np.float32).astype(np.float64), y)
    single = LinearSVC(**kind, tol=1e-9, max_iter=50_000).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)


@every_kind
@pytest.mark.parametrize(
    "X",
    [
        np.column_stack([np.arange(20.0), np.full(20, 7.0)]),
        np.column_stack([np.arange(20.0), np.arange(20.0)]),
        np.zeros((20, 3)),
        np.random.RandomState(0).randn(20, 60),
        1e4 + np.random.RandomState(0).randn(20, 2),
    ],
    ids=["constant column", "equal columns", "all zero", "wide", "far from zero"],
)
def test_degenerate_columns_are_no_obstacle(kind, X):
    y = np.arange(20) % 3 == 0
    model = LinearSVC(**kind, tol=1e-6, max_iter=50_000).fit(X, y)
    assert model.certificate_.converged
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", [{"loss": "hinge"}, {"loss": "squared_hinge"}], ids=["hinge", "squared_hinge"])
def test_many_sparse_columns_are_solved_to_the_gap(kind):
    random = np.random.RandomState(0)
    X = sp.random(400, 3000, density=0.01, format="csr", random_state=random)
    y = X @ random.randn(3000) > 0
    model = LinearSVC(**kind, random_state=0).fit(X, y)
    assert "dual" in model.certificate_.method
    assert model.certificate_.converged
    again = LinearSVC(**kind, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    peer = sklearn.svm.LinearSVC(**kind, dual=True, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    same = LinearSVC(**kind, tol=1e-10, penalize_intercept=True, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(same.coef_, peer.coef_, atol=1e-4)


# ---- conduct


def test_max_iter_gives_one_warning_with_the_gap_and_a_remedy():
    X, y = _data(300, 5, 3)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .* max_iter=2 .*Raise max_iter") as caught:
        model = LinearSVC(loss="hinge", max_iter=2).fit(X, y)
    assert len(caught) == 1
    assert model.n_iter_ == 2
    assert not model.certificate_.converged
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"penalty": "l1", "loss": "hinge"}, r"penalty='l1' is not valid with loss='hinge'"),
        ({"penalty": "l1", "dual": True}, r"dual=True is not valid with penalty='l1'"),
        ({"multi_class": "ovo"}, r"multi_class='ovo' is not valid; it must be 'ovr' or 'crammer_singer'"),
        ({"C": 0.0}, r"C=0.0 is not valid; it must be a finite number > 0"),
        ({"C": np.inf}, r"C=inf is not valid"),
    ],
)
def test_what_cannot_be_is_refused(params, message):
    X, y = _data()
    with pytest.raises(ValueError, match=message):
        LinearSVC(**params).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_coefficients_decide_as_dense_ones(n_classes):
    X, y = _data(100, 5, n_classes)
    model = LinearSVC(penalty="l1", C=0.05).fit(X, y)
    expected = model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), expected)
    np.testing.assert_allclose(model.decision_function(sp.csr_matrix(X)), expected)
    assert isinstance(model.densify().coef_, np.ndarray)
    np.testing.assert_allclose(model.decision_function(X), expected)


def test_several_classes_are_solved_as_one_against_the_rest():
    X, y = _data(150, 4, 4)
    model = LinearSVC(tol=1e-10).fit(X, y)
    for k, coef in enumerate(model.coef_):
        one = LinearSVC(tol=1e-10).fit(X, y == k)
        np.testing.assert_allclose(one.coef_[0], coef, atol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hinge = LinearSVC(loss="hinge").fit(X, y)
    assert len(hinge.history_) == hinge.n_iter_


@pytest.mark.parametrize(("shape", "scale"), [((300, 2000), 1.0), ((800, 300), 1e-3)], ids=["many rows", "few rows"])
def test_a_free_intercept_takes_few_epochs_whether_many_rows_hold_it_or_few(shape, scale):
    random = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.02, format="csr", rng=random, data_sampler=random.standard_normal)
    values = X @ random.normal(size=shape[1]) + random.normal(size=shape[0])
    y = values > np.median(values)
    model = LinearSVC(loss="hinge", dual=True, max_iter=25, random_state=0).fit(scale * X, y)
    assert model.certificate_.converged
