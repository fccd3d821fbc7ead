"""Calibration: the peer's probabilities, optimality of each map, folds that lack a class, weights, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.calibration as peer
from hypothesis import given, settings, strategies as st
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from mercer._params import InvalidParameterError
from mercer._score_maps import fit_isotonic, fit_sigmoid, fit_temperature
from mercer._trace import Status
from mercer.calibration import CalibratedClassifierCV, calibration_curve
from tests.versions import against_scikit_learn_1_9

METHODS = ["sigmoid", "isotonic", "temperature"]
PEER_METHODS = ["sigmoid", "isotonic", pytest.param("temperature", marks=against_scikit_learn_1_9)]


def make_data(n_classes):
    X, y = make_classification(240, n_classes=n_classes, n_informative=5, random_state=0)
    return X, np.array(["c", "a", "b"])[y]


def weights_of(n_rows, kind):
    random = np.random.RandomState(0)
    return {"none": None, "some zero": random.randint(0, 3, n_rows).astype(float), "shares": random.rand(n_rows) + 0.1}[kind]


# ---- the peer


@pytest.mark.sampled(5)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", PEER_METHODS)
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("base", [GaussianNB(), LinearSVC(random_state=0)], ids=["probabilities", "decision values"])
@pytest.mark.parametrize("kind", ["none", "some zero", "shares"])
def test_probabilities_are_the_peers(n_classes, method, ensemble, base, kind):
    X, y = make_data(n_classes)
    weights = weights_of(len(y), kind)
    models = [
        family.CalibratedClassifierCV(base, method=method, ensemble=ensemble, cv=3).fit(X, y, sample_weight=weights)
        for family in (peer, __import__("mercer.calibration").calibration)
    ]
    expected, mine = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(mine, expected, atol=3e-6)
    np.testing.assert_allclose(mine.sum(axis=1), 1)
    theirs, own = (model.calibrated_classifiers_ for model in models)
    assert len(own) == len(theirs) == (3 if ensemble else 1)
    for pair, other in zip(own, theirs, strict=True):
        assert len(pair.calibrators) == len(other.calibrators)
        for map_, twin in zip(pair.calibrators, other.calibrators, strict=True):
            assert map_.certificate_.status is Status.CONVERGED
            names = {"sigmoid": ["a_", "b_"], "isotonic": ["X_thresholds_", "y_thresholds_"], "temperature": ["beta_"]}[method]
            for name in names:
                np.testing.assert_allclose(getattr(map_, name), getattr(twin, name), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("cv", [None, 4, KFold(3), StratifiedKFold(2, shuffle=True, random_state=1), "iterable"], ids=str)
def test_folds_are_the_peers(cv):
    X, y = make_data(2)
    splits = list(StratifiedKFold(3).split(X, y))
    mine = CalibratedClassifierCV(GaussianNB(), cv=splits if cv == "iterable" else cv).fit(X, y)
    theirs = peer.CalibratedClassifierCV(GaussianNB(), cv=splits if cv == "iterable" else cv).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=3e-6)
    np.testing.assert_array_equal(mine.predict(X), mine.classes_[mine.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize("method", PEER_METHODS)
def test_a_frozen_estimator_is_only_calibrated(method):
    X, y = make_data(3)
    base = GaussianNB().fit(X[:100], y[:100])
    mine = CalibratedClassifierCV(FrozenEstimator(base), method=method).fit(X[100:], y[100:])
    theirs = peer.CalibratedClassifierCV(FrozenEstimator(base), method=method).fit(X[100:], y[100:])
    assert len(mine.calibrated_classifiers_) == 1
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=3e-6)


def test_the_default_is_a_linear_svm():
    X, y = make_data(2)
    model = CalibratedClassifierCV().fit(X, y)
    assert type(model.calibrated_classifiers_[0].estimator).__module__.startswith("mercer.svm")
    assert model.score(X, y) > 0.8


def test_calibration_makes_naive_bayes_honest():
    X, y = make_classification(2000, n_informative=2, n_redundant=15, random_state=0)
    rows, others = slice(0, 1000), slice(1000, 2000)
    before = GaussianNB().fit(X[rows], y[rows]).predict_proba(X[others])[:, 1]
    for method in METHODS:
        after = CalibratedClassifierCV(GaussianNB(), method=method).fit(X[rows], y[rows]).predict_proba(X[others])[:, 1]
        assert np.mean((after - y[others]) ** 2) < np.mean((before - y[others]) ** 2)


# ---- maps

score_lists = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0]), min_size=4, max_size=30)


@given(scores=score_lists, seed=st.integers(0, 99), scale=st.sampled_from([1e-8, 1.0, 1e8, 1e200]))
@settings(max_examples=60, deadline=None)
def test_the_slope_of_platts_loss_is_zero(scores, seed, scale):
    random = np.random.RandomState(seed)
    scores = np.array(scores) * scale
    y, weights = random.rand(len(scores)) < 0.5, random.randint(1, 4, len(scores)).astype(float)
    found = fit_sigmoid(scores, y, weights)
    n1, n0 = weights @ y, weights @ ~y
    target = np.where(y, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    residual = weights * (found.predict(scores) - target)
    assert found.certificate_.converged
    assert abs(residual.sum()) <= 1e-6
    assert abs(residual @ (scores / scale)) <= 1e-6


@given(scores=score_lists, seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_isotonic_map_is_the_peers_and_rises(scores, seed):
    random = np.random.RandomState(seed)
    scores = np.array(scores)
    y, weights = random.rand(len(scores)) < 0.5, random.randint(0, 4, len(scores)).astype(float)
    if not weights.any():
        return
    found = fit_isotonic(scores, y, weights)
    twin = IsotonicRegression(out_of_bounds="clip").fit(scores, y, sample_weight=weights)
    grid = np.linspace(-3, 4, 41)
    np.testing.assert_allclose(found.predict(grid), twin.predict(grid), atol=1e-12)
    assert (np.diff(found.predict(grid)) >= 0).all()
    assert found.certificate_.converged


@given(seed=st.integers(0, 200), n_classes=st.integers(2, 4), scale=st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=40, deadline=None)
def test_no_temperature_has_less_loss(seed, n_classes, scale):
    random = np.random.RandomState(seed)
    logits, codes = random.randn(25, n_classes) * scale, random.randint(0, n_classes, 25)
    weights = random.rand(25) + 0.1
    found = fit_temperature(logits, codes, weights)

    def loss(beta):
        z = beta * logits
        return weights @ (np.logaddexp.reduce(z, axis=1) - z[np.arange(25), codes])

    assert found.certificate_.converged
    assert found.certificate_.primal == pytest.approx(loss(found.beta_))
    for other in found.beta_ * np.array([0.5, 0.9, 0.99, 1.01, 1.1, 2.0]):
        if np.exp(-10) <= other <= np.exp(10):
            assert loss(found.beta_) <= loss(other) + 1e-9


def test_a_temperature_stays_within_bounds():
    logits = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert fit_temperature(logits, np.array([0, 1]), np.ones(2)).beta_ == pytest.approx(
        np.exp(10)
    )  # all right: the surer the better
    assert fit_temperature(logits, np.array([1, 0]), np.ones(2)).beta_ == pytest.approx(np.exp(-10))  # all wrong


# ---- degenerate folds


def test_constant_scores_give_the_share_of_each_class():
    y = np.array([0, 0, 1] * 10)
    found = fit_sigmoid(np.full(30, 5.0), y == 1, np.ones(30))
    assert found.a_ == 0
    targets = np.where(y == 1, 11 / 12, 1 / 22)
    np.testing.assert_allclose(found.predict(np.array([5.0])), targets.mean())
    assert fit_isotonic(np.full(30, 5.0), y == 1, np.ones(30)).predict(np.array([1.0, 9.0])) == pytest.approx([1 / 3, 1 / 3])


@pytest.mark.parametrize("method", METHODS)
def test_a_class_that_a_training_fold_lacks_has_probability_zero_there(method):
    X, y = make_data(3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    rows = np.arange(len(y))
    splits = [(rows[y != "c"], rows), (rows[::2], rows[1::2])]
    model = CalibratedClassifierCV(GaussianNB(), method=method, cv=splits).fit(X, y)
    first, second = (pair.predict_proba(X) for pair in model.calibrated_classifiers_)
    assert (first[:, 2] == 0).all()
    assert second[:, 2].max() > 0.5
    np.testing.assert_allclose(model.predict_proba(X), (first + second) / 2)
    with pytest.raises(ValueError, match="a training fold lacks a class"):
        CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=[(rows[y != "c"], rows)]).fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_a_test_fold_with_one_class_does_no_harm(method):
    X, y = make_data(2)
    rows = np.arange(len(y))
    splits = [(rows, rows[y == "a"]), (rows[::2], rows[1::2])]
    proba = CalibratedClassifierCV(GaussianNB(), method=method, cv=splits).fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_rows_that_no_map_believes_in_are_shared_out():
    X = np.array([[0.0], [1], [2], [3], [4], [5]])
    y = np.array([0, 1, 2, 0, 1, 2])
    model = CalibratedClassifierCV(KNeighborsClassifier(1), method="isotonic", cv=[(np.arange(6), np.array([0, 1, 2]))])
    assert np.isfinite(model.fit(X, y).predict_proba(X)).all()


# ---- weights and metadata


def test_weights_for_the_maps_only_are_warned_about():
    X, y = make_data(2)
    model = CalibratedClassifierCV(KNeighborsClassifier())
    with pytest.warns(UserWarning, match="KNeighborsClassifier does not appear to accept sample_weight"):
        model.fit(X, y, sample_weight=np.ones(len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)


def test_metadata_go_where_they_are_asked_for():
    X, y = make_data(2)
    groups, weights = np.arange(len(y)) % 5, np.linspace(0.5, 2, len(y))
    with config_context(enable_metadata_routing=True):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        model = CalibratedClassifierCV(base, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    expected = CalibratedClassifierCV(LogisticRegression(), cv=splits).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


# ---- what is refused


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "platt"}, r"method='platt' is not valid; it must be 'sigmoid'"),
        ({"ensemble": "yes"}, r"ensemble='yes' is not valid"),
        ({"cv": "prefit"}, r"cv='prefit' is not valid"),
        ({"cv": LeaveOneOut()}, r"LeaveOneOut cross-validation does not allow"),
        ({"estimator": StratifiedKFold()}, r"estimator=.* is not valid"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        CalibratedClassifierCV(**params).fit(*make_data(2))


def test_too_few_rows_of_a_class_are_refused():
    X = make_data(2)[0]
    with pytest.raises(ValueError, match="Requesting 10-fold cross-validation but provided less than 10 examples"):
        CalibratedClassifierCV(cv=10).fit(X[:12], ["a"] * 8 + ["b"] * 4)


# ---- the curve


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 3, 10])
def test_the_curve_is_the_peers(strategy, n_bins):
    random = np.random.RandomState(0)
    prob = np.round(random.rand(200), 2)
    y = random.rand(200) < prob
    mine = calibration_curve(y, prob, n_bins=n_bins, strategy=strategy)
    theirs = peer.calibration_curve(y, prob, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(mine, theirs)
    repeated = np.repeat(np.arange(200), random.randint(0, 3, 200))
    counts = np.bincount(repeated, minlength=200)
    np.testing.assert_allclose(
        calibration_curve(y, prob, n_bins=n_bins, sample_weight=counts),
        calibration_curve(y[repeated], prob[repeated], n_bins=n_bins),
    )


def test_the_curve_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        calibration_curve([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        calibration_curve([0, 1], [0.5, np.nan])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        calibration_curve([0, 1, 2], [0.5, 0.1, 0.2])
    with pytest.raises(ValueError, match="pos_label is not specified"):
        calibration_curve(["a", "b"], [0.5, 0.1])
    with pytest.raises(ValueError, match="n_bins=0 is not valid"):
        calibration_curve([0, 1], [0.5, 0.1], n_bins=0)
    with pytest.raises(ValueError, match="strategy='even' is not valid"):
        calibration_curve([0, 1], [0.5, 0.1], strategy="even")
    share, _ = calibration_curve(["a", "b"], [0.9, 0.1], pos_label="a", n_bins=2)
    np.testing.assert_array_equal(share, [0, 1])
