"""Logistic regression against its oracle, scikit-learn and its own optimality conditions."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from mercer._trace import Status
from mercer.linear_model import LogisticRegression, LogisticRegressionCV
from tests.reference import logistic as reference

SOLVERS = ("auto", "newton", "irls", "quasi-newton", "cd")
PENALTIES = {"l2": (0.7, 0.0), "strong l2": (1e-3, 0.0), "l1": (2.0, 1.0), "elastic net": (1.0, 0.4), "none": (np.inf, 0.0)}


def make(n_classes=2, n=150, d=5, seed=0, *, is_sparse=False, is_weighted=False):
    random = np.random.RandomState(seed)
    X = random.randn(n, d) + 2.0 * random.randn(d)
    if is_sparse:
        X[random.rand(n, d) < 0.5] = 0
    codes = (X @ random.randn(n_classes, d).T + 3 * random.gumbel(size=(n, n_classes))).argmax(axis=1)
    codes[:n_classes] = np.arange(n_classes)
    return X, codes, random.rand(n) + 0.1 if is_weighted else None


def objective_of(model, X, codes, weights, C, l1_ratio):
    weights = np.ones(len(codes)) if weights is None else weights
    return reference.objective(X, codes, weights, model.coef_, model.intercept_, C, l1_ratio)


def violation_of(model, X, codes, weights, C, l1_ratio):
    weights = np.ones(len(codes)) if weights is None else weights
    return reference.violation(X, codes, weights, model.coef_, model.intercept_, C, l1_ratio)


# ---- agreement


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_are_those_of_scikit_learn(n_classes, name, fit_intercept, is_weighted):
    C, l1_ratio = PENALTIES[name]
    X, codes, weights = make(n_classes, is_weighted=is_weighted)
    shared = {"C": C, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept}
    solver = "newton-cholesky" if l1_ratio == 0 else "saga"
    scaled = X / 4  # saga is slow otherwise
    peer = Peer(**shared, solver=solver, tol=1e-10, max_iter=30_000).fit(scaled, codes, weights)
    model = LogisticRegression(**shared, tol=1e-11).fit(scaled, codes, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(scaled), peer.predict_proba(scaled), atol=1e-6)
    np.testing.assert_allclose(model.predict_log_proba(scaled), peer.predict_log_proba(scaled), atol=1e-5)
    np.testing.assert_allclose(model.decision_function(scaled), peer.decision_function(scaled), atol=1e-5)
    np.testing.assert_array_equal(model.predict(scaled), peer.predict(scaled))
    assert model.coef_.shape == peer.coef_.shape
    assert model.intercept_.shape == peer.intercept_.shape
    assert model.n_iter_.shape == peer.n_iter_.shape


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_method_ends_at_the_optimality_conditions(n_classes, name, solver, is_sparse):
    C, l1_ratio = PENALTIES[name]
    if (solver == "cd" and np.isinf(C)) or (solver not in ("auto", "cd") and l1_ratio > 0):
        return
    X, codes, weights = make(n_classes, is_sparse=is_sparse, is_weighted=True)
    given_X = sp.csr_matrix(X) if is_sparse else X
    model = LogisticRegression(C=C, l1_ratio=l1_ratio, solver=solver, tol=1e-8, max_iter=500).fit(given_X, codes, weights)
    assert model.certificate_.converged
    assert violation_of(model, X, codes, weights, C, l1_ratio) <= 2e-8 * weights.sum() * np.abs(X).max()
    np.testing.assert_allclose(model.certificate_.primal, objective_of(model, X, codes, weights, C, l1_ratio), rtol=1e-10)


@pytest.mark.parametrize("name", ["l2", "l1", "elastic net"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_descent_for_teaching_takes_fixed_steps_to_the_same_minimum(n_classes, name):
    C, l1_ratio = PENALTIES[name]
    X, codes, _ = make(n_classes, d=2)
    if l1_ratio > 0:
        with pytest.raises(ValueError, match=r"solver='gd' needs a smooth penalty.*must be 'auto' or 'cd'"):
            LogisticRegression(C=C, l1_ratio=l1_ratio, solver="gd").fit(X, codes)
        return
    model = LogisticRegression(C=C, solver="gd", tol=1e-8, max_iter=100_000).fit(X, codes)
    expected = LogisticRegression(C=C, tol=1e-10).fit(X, codes)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    objectives = [record["objective"] for record in model.history_]
    assert all(later <= sooner * (1 + 1e-14) for sooner, later in pairwise(objectives))
    assert len({record["step"] for record in model.history_}) == 1


def test_newton_raphson_is_the_oracles():
    X, codes, _ = make()
    coef, intercept = reference.newton(X, codes)
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, codes)
    np.testing.assert_allclose(model.coef_[0], coef, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_[0], intercept, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5, 2: 3.0}, {1: 4.0}])
def test_class_weights_are_those_of_scikit_learn(n_classes, class_weight):
    X, codes, _ = make(n_classes)
    if isinstance(class_weight, dict):
        class_weight = {label: weight for label, weight in class_weight.items() if label < n_classes}
    peer = Peer(class_weight=class_weight, solver="newton-cholesky", tol=1e-10).fit(X, codes)
    model = LogisticRegression(class_weight=class_weight, tol=1e-10).fit(X, codes)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-7)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("intercept_scaling", [1.0, 5.0])
def test_liblinear_penalises_the_intercept_as_the_peer_does(l1_ratio, intercept_scaling):
    X, codes, weights = make(is_weighted=True)
    shared = {"C": 0.2, "l1_ratio": l1_ratio, "solver": "liblinear", "intercept_scaling": intercept_scaling}
    peer = Peer(**shared, tol=1e-9, max_iter=10_000).fit(X, codes, weights)
    model = LogisticRegression(**shared, tol=1e-11).fit(X, codes, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
    again = LogisticRegression(**shared, tol=1e-6, warm_start=True).fit(X, codes, weights).fit(X, codes, weights)
    assert again.n_iter_ == 1


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_float32_gives_float32_near_the_solution(n_classes, l1_ratio):
    X, codes, _ = make(n_classes)
    single = LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-8).fit(X.astype(np.float32), codes)
    double = LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-8).fit(X, codes)
    assert single.coef_.dtype == single.intercept_.dtype == single.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-5)


def test_labels_may_be_of_any_type():
    X, codes, _ = make(3)
    expected = LogisticRegression().fit(X, codes)
    for labels in (np.array(["x", "a", "m"]), np.array([2.0, -1.0, 7.0]), np.array([True, False])[:2], np.array([9, 3, 5])):
        if len(labels) < 3:
            model = LogisticRegression().fit(X, labels[codes % 2])
            assert model.predict(X).dtype == bool
            continue
        order = np.argsort(labels)
        model = LogisticRegression().fit(X, labels[order][codes])
        np.testing.assert_array_equal(model.predict(X), labels[order][expected.predict(X)])
        np.testing.assert_array_equal(model.coef_, expected.coef_)


# ---- parametrisations


@pytest.mark.parametrize("n_classes", [3, 5])
def test_the_reference_class_has_zero_coefficients_and_without_a_penalty_the_same_probabilities(n_classes):
    X, codes, _ = make(n_classes, n=400)
    reference_class = LogisticRegression(C=np.inf, parametrization="reference", tol=1e-10).fit(X, codes)
    softmax = LogisticRegression(C=np.inf, tol=1e-10).fit(X, codes)
    assert not reference_class.coef_[0].any()
    assert reference_class.intercept_[0] == 0
    np.testing.assert_allclose(reference_class.predict_proba(X), softmax.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(softmax.coef_.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(softmax.coef_ - softmax.coef_[0], reference_class.coef_, atol=1e-7)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("solver", ["auto", "cd"])
def test_the_reference_class_parametrisation_minimises_its_own_penalised_objective(l1_ratio, solver):
    X, codes, _ = make(3)
    model = LogisticRegression(C=0.5, l1_ratio=l1_ratio, parametrization="reference", tol=1e-10, solver=solver).fit(X, codes)
    assert model.certificate_.converged
    of_coef, _ = reference.gradient(X, codes, np.ones(len(codes)), model.coef_, model.intercept_)
    l1, l2 = l1_ratio / 0.5, (1 - l1_ratio) / 0.5
    coef, slopes = model.coef_[1:], of_coef[1:] + l2 * model.coef_[1:]
    distance = np.where(coef == 0, np.maximum(np.abs(slopes) - l1, 0), np.abs(slopes + l1 * np.sign(coef)))
    assert distance.max() < 1e-6


# ---- certificates


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    log_C=st.floats(-3, 2),
    l1_ratio=st.sampled_from([0.0, 0.3, 1.0]),
    fit_intercept=st.booleans(),
    solver=st.sampled_from(["auto", "cd", "quasi-newton"]),
)
def test_the_gap_bounds_the_distance_to_the_minimum(seed, n_classes, log_C, l1_ratio, fit_intercept, solver):
    X, codes, weights = make(n_classes, n=40, d=3, seed=seed, is_weighted=True)
    C = 10.0**log_C
    solver = "auto" if solver == "quasi-newton" and l1_ratio > 0 else solver
    shared = {"C": C, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "solver": solver, "max_iter": 1000}
    best = LogisticRegression(**shared, tol=1e-9).fit(X, codes, weights).certificate_.primal
    for tol in (1e-1, 1e-3):
        certificate = LogisticRegression(**shared, tol=tol).fit(X, codes, weights).certificate_
        assert certificate.converged
        assert certificate.gap >= 0
        assert certificate.gap <= tol * certificate.primal
        np.testing.assert_allclose(certificate.dual, certificate.primal - certificate.gap, rtol=1e-12)
        assert certificate.primal - best <= certificate.gap * (1 + 1e-6) + 1e-8 * best


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_max_iter_warns_once_with_the_figure_and_the_remedy(n_classes, l1_ratio):
    X, codes, _ = make(n_classes)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1: .* is .*, not within 1e-08\. Increase max_iter") as caught:
        model = LogisticRegression(C=10, l1_ratio=l1_ratio, max_iter=1, tol=1e-8).fit(X, codes)
    assert len(caught) == 1
    assert model.certificate_.status is Status.MAX_ITER
    assert model.certificate_.residual > 1e-8


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["auto", "quasi-newton"])
def test_separable_classes_without_a_penalty_get_a_message_that_says_so(n_classes, solver):
    X, codes = make_classification(60, 4, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=20, random_state=0,
                                   n_clusters_per_class=1)  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="perfectly separable.*set a finite C") as caught:
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, codes)
    assert len(caught) == 1
    assert np.isfinite(model.coef_).all()
    assert model.score(X, codes) == 1
    with pytest.raises(ValueError, match="no summary; the classes are perfectly separable"):
        model.summary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=1.0).fit(X, codes)


# ---- degenerate data


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_columns_than_rows(n_classes, l1_ratio):
    X, codes, _ = make(n_classes, n=30, d=500)
    model = LogisticRegression(C=0.05, l1_ratio=l1_ratio, tol=1e-9).fit(X, codes)
    assert model.certificate_.converged
    assert violation_of(model, X, codes, None, 0.05, l1_ratio) < 1e-5
    if l1_ratio == 1:
        assert np.count_nonzero(model.coef_) < 100


def test_one_column_and_constant_columns():
    X, codes, _ = make(2, d=1)
    peer = Peer(tol=1e-10, solver="newton-cholesky").fit(X, codes)
    np.testing.assert_allclose(LogisticRegression(tol=1e-10).fit(X, codes).coef_, peer.coef_, atol=1e-8)
    with_constant = np.column_stack([X, np.full(len(X), 3.0)])
    for l1_ratio in (0.0, 1.0):
        model = LogisticRegression(tol=1e-10, l1_ratio=l1_ratio).fit(with_constant, codes)
        assert abs(model.coef_[0, 1]) < 1e-10  # the intercept is free to do the same
        assert model.certificate_.converged


def test_l1_strong_enough_leaves_the_intercept_alone():
    X, codes, _ = make(3)
    for solver in ("auto", "cd"):
        model = LogisticRegression(C=1e-5, l1_ratio=1.0, solver=solver, tol=1e-10).fit(X, codes)
        assert not model.coef_.any()
        np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(codes) / len(codes), atol=1e-9)


def test_columns_far_from_zero_do_no_harm():
    X, codes, _ = make()
    near = LogisticRegression(C=np.inf, tol=1e-10).fit(X, codes)
    far = LogisticRegression(C=np.inf, tol=1e-10).fit(X + 1e6, codes)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-5)


# ---- company


@pytest.mark.parametrize("solver", ["auto", "cd", "quasi-newton"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_warm_start_from_the_solution_needs_one_iteration(n_classes, solver):
    X, codes, _ = make(n_classes)
    model = LogisticRegression(solver=solver, warm_start=True, tol=1e-6).fit(X, codes)
    before = model.coef_
    assert model.fit(X, codes).n_iter_ == 1
    np.testing.assert_allclose(model.coef_, before, atol=1e-4)
    model.fit(X[:, :2], codes)  # another shape starts anew
    assert model.coef_.shape[1] == 2


def test_coefficients_kept_sparse_predict_the_same():
    X, codes, _ = make(3, d=20)
    model = LogisticRegression(C=0.02, l1_ratio=1.0).fit(X, codes)
    dense, values = model.coef_.copy(), model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), values)
    np.testing.assert_allclose(model.decision_function(sp.csr_matrix(X)), values)
    np.testing.assert_array_equal(model.densify().coef_, dense)


def test_the_older_penalty_means_what_it_meant():
    X, codes, _ = make()
    for penalty, C, l1_ratio in (("l1", 0.5, 1.0), ("l2", 0.5, 0.0), (None, np.inf, 0.0)):
        old = LogisticRegression(penalty, C=0.5).fit(X, codes)
        np.testing.assert_array_equal(old.coef_, LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, codes).coef_)
    old = LogisticRegression(penalty="elasticnet", l1_ratio=0.3).fit(X, codes)
    np.testing.assert_array_equal(old.coef_, LogisticRegression(l1_ratio=0.3).fit(X, codes).coef_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, r"C=0.0 is not valid; it must be a finite number > 0 or infinity"),
        ({"C": np.nan}, r"C=nan is not valid"),
        ({"l1_ratio": 1.5}, r"l1_ratio=1.5 is not valid; it must be"),
        ({"solver": "magic"}, r"solver='magic' is not valid; it must be 'lbfgs' or"),
        ({"dual": True}, r"dual=True is not valid; it must be False unless solver='liblinear'"),
        ({"solver": "newton", "l1_ratio": 1.0}, r"solver='newton' needs a smooth penalty"),
        ({"solver": "cd", "C": np.inf}, r"solver='cd' needs a penalty; without one .* must be 'auto'"),
        ({"solver": "liblinear", "l1_ratio": 0.5}, r"solver='liblinear' has no elastic net"),
        ({"class_weight": {0: -1.0}}, r"class_weight=\{0: -1.0\} is not valid; each weight must be"),
        ({"max_iter": -1}, r"max_iter=-1 is not valid; it must be an integer >= 0"),
        ({"penalty": "elasticnet", "l1_ratio": None}, r"l1_ratio=None is not valid with penalty='elasticnet'"),
        ({"parametrization": "other"}, r"parametrization='other' is not valid; it must be 'softmax' or 'reference'"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, codes, _ = make()
    with pytest.raises(ValueError, match=message):
        LogisticRegression(**params).fit(X, codes)


def test_liblinear_refuses_more_than_two_classes():
    X, codes, _ = make(3)
    with pytest.raises(ValueError, match="solver='liblinear' solves problems of two classes, and y has 3"):
        LogisticRegression(solver="liblinear").fit(X, codes)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga", "auto"])
def test_the_peers_names_of_solvers_lead_to_the_same_bits(solver):
    X, codes, _ = make(3)
    expected = LogisticRegression().fit(X, codes)
    np.testing.assert_array_equal(LogisticRegression(solver=solver).fit(X, codes).coef_, expected.coef_)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "quasi-newton", "gd", "cd", "liblinear"])
def test_no_iterations_leave_the_start(solver):
    X, codes, _ = make()
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model = LogisticRegression(solver=solver, max_iter=0).fit(X, codes)
    assert not model.coef_.any()
    assert model.n_iter_ == 0
    assert model.history_ == []
    assert not model.certificate_.converged


# ---- the span of the rows


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "far from zero", "repeated rows", "float32"])
def test_wide_problems_are_solved_in_the_span_of_their_rows(n_classes, fit_intercept, kind):
    random = np.random.RandomState(0)
    X = random.randn(30, 400)
    y = np.arange(30) % n_classes
    if kind == "far from zero":
        X += 1000 if fit_intercept else 0
    elif kind == "repeated rows":
        X[15:] = X[:15]
    elif kind == "float32":
        X = X.astype(np.float32)
    weights = random.rand(30) + 0.1
    params = {"fit_intercept": fit_intercept, "tol": 1e-9, "C": 0.1, "max_iter": 1000}
    mine = LogisticRegression(**params).fit(X, y, sample_weight=weights)
    other = LogisticRegression(solver="quasi-newton", **params).fit(X, y, sample_weight=weights)
    assert "span of the rows" in mine.certificate_.method
    assert mine.certificate_.converged
    rtol = 1e-4 if kind == "float32" else 1e-5
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=rtol, atol=rtol * np.abs(other.coef_).max())
    np.testing.assert_allclose(mine.certificate_.primal, other.certificate_.primal, rtol=1e-8)


@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_wide_problems_with_repeated_rows_converge(C, fit_intercept):
    random = np.random.RandomState(0)
    half = random.randn(40, 300)
    X, y = np.vstack([half, half]), random.randint(3, size=80)
    assert LogisticRegression(C=C, fit_intercept=fit_intercept).fit(X, y).certificate_.converged


def test_a_warm_start_is_taken_into_the_span():
    random = np.random.RandomState(0)
    X, y = random.randn(30, 400), np.arange(30) % 2
    model = LogisticRegression(warm_start=True, tol=1e-6).fit(X, y)
    assert model.n_iter_ > 1
    assert model.fit(X, y).n_iter_ == 1


# ---- separate fits


@pytest.mark.parametrize("params", [{}, {"l1_ratio": 1.0}, {"solver": "cd"}, {"fit_intercept": False, "C": 0.1}])
def test_separate_fits_are_those_of_each_class_and_the_first(params):
    X, y, weights = make(4, 120, 4, is_weighted=True)
    shared = {"tol": 1e-9, "max_iter": 1000, **params}
    model = LogisticRegression(parametrization="separate", **shared).fit(X, y, sample_weight=weights)
    assert not model.coef_[0].any()
    total = 0.0
    for k in range(1, 4):
        rows = np.isin(y, model.classes_[[0, k]])
        part = LogisticRegression(**shared).fit(X[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_allclose(model.coef_[k], part.coef_[0], atol=1e-6)
        np.testing.assert_allclose(model.intercept_[k], part.intercept_, atol=1e-6)
        total += part.certificate_.primal
    np.testing.assert_allclose(model.certificate_.primal, total)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_separate_fits_have_no_joint_likelihood_and_two_classes_need_none():
    X, y, _ = make(3, 120, 3)
    with pytest.raises(ValueError, match="separate fits have no joint likelihood"):
        LogisticRegression(C=np.inf, parametrization="separate").fit(X, y).summary()
    X, y, _ = make(2, 120, 3)
    two = LogisticRegression(parametrization="separate").fit(X, y)
    np.testing.assert_array_equal(two.coef_, LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_liblinear_gives_coefficients_in_double_precision_as_scikit_learns_does(container, fit_intercept):
    X, y = make_classification(60, 4, random_state=0)
    X = container(X.astype(np.float32))
    for estimator in (LogisticRegression(solver="liblinear"), LogisticRegressionCV(solver="liblinear", Cs=2, cv=2)):
        model = estimator.set_params(fit_intercept=fit_intercept).fit(X, y)
        assert model.coef_.dtype == model.intercept_.dtype == np.float64
    assert LogisticRegression(solver="lbfgs").fit(X, y).coef_.dtype == np.float32
