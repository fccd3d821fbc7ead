"""LinearSVC on all classes at once (Crammer and Singer) against a quadratic program and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import example, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from mercer._solvers.multiclass_descent import without_sums
from mercer.svm import LinearSVC
from tests.reference.linear_svm import crammer_singer_objective, crammer_singer_svm

EXACT = {"multi_class": "crammer_singer", "max_iter": 500_000, "random_state": 0}


def _data(n=120, d=5, n_classes=3, seed=0, shift=0.5):
    random = np.random.RandomState(seed)
    X = random.randn(n, d) + shift
    y = (X @ random.randn(d, n_classes) + random.randn(n, n_classes)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def _objective(model, X, y, weights=None, *, l2_of_intercept=0.0):
    """Two classes share a line of coefficients, which is the difference of theirs."""
    coef, intercept = np.asarray(model.coef_, dtype=float), np.atleast_1d(np.asarray(model.intercept_, dtype=float))
    if len(model.classes_) == 2:
        coef, intercept = np.vstack([-coef, coef]) / 2, np.concatenate([-intercept, intercept]) / 2
    intercept = np.broadcast_to(intercept, len(coef))
    options = {"C": model.C, "weights": weights, "l2_of_intercept": l2_of_intercept}
    return crammer_singer_objective(X, y, coef, intercept, **options)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_it_agrees_with_a_quadratic_program(n_classes, C):
    X, y = _data(25, 3, n_classes, seed=2)
    model = LinearSVC(**EXACT, C=C, tol=1e-6).fit(X, y)
    expected = crammer_singer_svm(X, y, C, n_classes)
    assert model.certificate_.converged
    assert _objective(model, X, y) == pytest.approx(expected, rel=3e-6)
    assert model.certificate_.primal == pytest.approx(_objective(model, X, y), rel=1e-10)
    assert model.certificate_.dual <= expected * (1 + 1e-7)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 2.0}])
@pytest.mark.parametrize("options", [{}, {"intercept_scaling": 3.0}, {"fit_intercept": False}])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_with_a_penalty_on_the_intercept_it_finds_what_scikit_learn_finds(n_classes, class_weight, options, container):
    X, y = _data(100, 4, n_classes)
    weights = np.random.RandomState(1).uniform(0.2, 2, size=len(y))
    shared = {**EXACT, "C": 0.1, "class_weight": class_weight, **options}
    model = LinearSVC(**shared, tol=1e-7, penalize_intercept=True).fit(container(X), y, weights)
    peer = sklearn.svm.LinearSVC(**shared, tol=1e-7).fit(X, y, weights)
    assert model.coef_.shape == peer.coef_.shape
    assert np.shape(model.intercept_) == np.shape(peer.intercept_)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=5e-3)
    of_class = {None: np.ones(n_classes), "balanced": weights.sum() / (n_classes * np.bincount(y, weights))}
    share = of_class[class_weight] if not isinstance(class_weight, dict) else np.array([0.5, 2.0, *np.ones(n_classes)])
    l2 = options.get("intercept_scaling", 1.0) ** -2.0
    ours, theirs = (_objective(m, X, y, weights * share[y], l2_of_intercept=l2) for m in (model, peer))
    assert ours <= theirs * (1 + 1e-6)
    assert model.certificate_.primal == pytest.approx(ours, rel=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 60),
    d=st.integers(1, 6),
    n_classes=st.integers(2, 5),
    log_c=st.floats(-3, 0),
    options=st.sampled_from([{}, {"fit_intercept": False}, {"penalize_intercept": True}]),
)
@example(seed=28664, n=41, d=1, n_classes=3, log_c=-2.0, options={})  # rows left out must come back as the intercepts move
def test_the_gap_is_true_and_within_tol_after_convergence(seed, n, d, n_classes, log_c, options):
    X, y = _data(n, d, n_classes, seed)
    model = LinearSVC(**EXACT, C=10**log_c, tol=1e-4, **options).fit(X, y)
    certificate = model.certificate_
    assert certificate.converged
    assert -1e-12 <= certificate.gap <= 1e-4 * certificate.primal * (1 + 1e-9)
    found = _objective(model, X, y, l2_of_intercept=float("penalize_intercept" in options))
    assert certificate.primal == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_a_weight_is_a_number_of_repetitions(container):
    X, y = _data(60, 4)
    weights = np.random.RandomState(0).randint(0, 4, size=len(y))
    model = LinearSVC(**EXACT, tol=1e-7, C=0.2, class_weight="balanced")
    weighted = model.fit(container(X), y, weights).decision_function(X)
    repeated = model.fit(container(np.repeat(X, weights, axis=0)), np.repeat(y, weights)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=5e-3)


def test_shifting_the_columns_changes_no_decision():
    X, y = _data()
    one, other = (LinearSVC(**EXACT, tol=1e-7, C=0.1).fit(X + s, y).decision_function(X + s) for s in (0.0, 7.0))
    np.testing.assert_allclose(one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True), atol=5e-3)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), n_classes=st.integers(2, 6), share=st.floats(0, 1))
def test_duals_without_sums_stay_within_their_bounds(seed, n, n_classes, share):
    random = np.random.RandomState(seed)
    codes = random.randint(n_classes, size=n)
    duals = -random.uniform(size=(n, n_classes)) * (random.uniform(size=(n, n_classes)) < share)
    duals[np.arange(n), codes] = 0
    duals[np.arange(n), codes] = -duals.sum(axis=1)
    kept = without_sums(duals, codes)
    np.testing.assert_allclose(kept.sum(axis=0), 0, atol=1e-12 * n)
    np.testing.assert_allclose(kept.sum(axis=1), 0, atol=1e-14 * n_classes)
    others = np.arange(n_classes) != codes[:, None]
    assert (kept[others] <= 0).all()
    assert (kept[others] >= duals[others] * (1 + 1e-15)).all()
    if n_classes == 2 and (duals[:, 0] != 0).any():
        up, down = duals[codes == 0, 0].sum(), duals[codes == 1, 1].sum()
        assert np.abs(kept).sum() == pytest.approx(4 * min(up, down))


def test_many_sparse_columns_are_solved_to_the_gap_with_the_same_bits_each_time():
    random = np.random.RandomState(0)
    X = sp.random(300, 2000, density=0.01, format="csr", random_state=random)
    y = (X @ random.randn(2000, 4)).argmax(axis=1)
    one, other = (LinearSVC(multi_class="crammer_singer", random_state=0).fit(X, y) for _ in range(2))
    assert one.certificate_.converged
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.score(X, y) > 0.9


@pytest.mark.parametrize("X", [np.zeros((20, 3)), np.full((20, 2), 1e3), np.random.RandomState(0).randn(20, 60)])
def test_degenerate_columns_are_no_obstacle(X):
    model = LinearSVC(**EXACT, C=0.1).fit(X, np.arange(20) % 3)
    assert model.certificate_.converged
    assert np.isfinite(model.coef_).all()


def test_float32_gives_float32_and_max_iter_one_warning():
    X, y = _data(200)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap .* max_iter=3 .*Raise max_iter") as caught:
        model = LinearSVC(multi_class="crammer_singer", max_iter=3).fit(X.astype(np.float32), y)
    assert len(caught) == 1
    assert model.n_iter_ == len(model.history_) == 3
    assert model.coef_.dtype == model.intercept_.dtype == np.float32


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"penalty": "l1"}, r"penalty='l1' is not valid with multi_class='crammer_singer'; it must be 'l2'"),
        ({"dual": False}, r"dual=False is not valid with multi_class='crammer_singer'; it must be True or 'auto'"),
    ],
)
def test_what_cannot_be_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        LinearSVC(multi_class="crammer_singer", **params).fit(*_data())
