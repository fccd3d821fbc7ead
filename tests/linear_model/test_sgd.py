"""SGDClassifier and SGDRegressor: the same steps as the textbook and as scikit-learn, and an honest certificate."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from sklearn.exceptions import ConvergenceWarning

from mercer._trace import Status
from mercer.linear_model import SGDClassifier, SGDRegressor
from tests.reference import stochastic as reference

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CLASSIFICATION = [
    "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber", "epsilon_insensitive",
    "squared_epsilon_insensitive",
]  # fmt: skip
REGRESSION = ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
PENALTIES = ["l2", "l1", "elasticnet", None]
SCHEDULES = ["optimal", "constant", "invscaling", "adaptive"]
PASSES = {"max_iter": 4, "tol": None}


def make_X(n=120, d=11, seed=0):
    return np.random.RandomState(seed).randn(n, d)


def make_labels(X, n_classes=2, seed=1):
    random = np.random.RandomState(seed)
    if n_classes == 2:
        return (X @ random.randn(X.shape[1]) + 0.5 * random.randn(len(X)) > 0).astype(int)
    return np.argmax(X[:, :n_classes] + random.randn(len(X), n_classes), axis=1)


def make_targets(X, seed=2):
    random = np.random.RandomState(seed)
    return X @ random.randn(X.shape[1]) / 2 + random.randn(len(X))


def assert_same_model(mine, other, rtol=1e-9):
    scale = np.abs(other.coef_).max()
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=rtol, atol=rtol * max(scale, 1))


# ---- the textbook


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", sorted(set(reference.LOSSES) - {"poisson", "gamma"}))
def test_classification_takes_the_steps_of_the_textbook(loss, penalty, sparse):
    X = make_X()
    X[X < -0.3] = 0
    y = make_labels(X)
    settings = {"penalty": penalty, "alpha": 0.01, "l1_ratio": 0.3, "eta0": 0.02, "power_t": 0.3}
    rtol = 2e-4 if sparse and penalty == "elasticnet" else 1e-9  # l2 and l1 on what is not in a row come in another order
    model = SGDClassifier(loss, learning_rate="invscaling", shuffle=False, epsilon=0.2, quantile=0.2, **PASSES, **settings)
    model.fit(sp.csr_matrix(X) if sparse else X, y)
    settings["intercept_share"] = 0.01 if sparse else 1.0
    w, b = reference.descend(X, 2 * y - 1, loss, n_passes=4, schedule="invscaling", parameter=0.2, **settings)
    np.testing.assert_allclose(model.coef_[0], w, rtol=rtol, atol=rtol * np.abs(w).max())
    np.testing.assert_allclose(model.intercept_, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("loss", ["squared_error", "absolute", "huber", "log_cosh", "pinball", "poisson", "gamma"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_regression_takes_the_steps_of_the_textbook(loss, dtype):
    X = make_X().astype(dtype)
    y = make_targets(X)
    if loss in ("poisson", "gamma"):
        y = np.exp(y / 4)
    y = y.astype(dtype)
    model = SGDRegressor(loss, shuffle=False, epsilon=0.2, quantile=0.2, alpha=0.01, **PASSES).fit(X, y)
    w, b = reference.descend(
        X.astype(float), y.astype(float), loss, n_passes=4, alpha=0.01, schedule="invscaling", power_t=0.25, parameter=0.2
    )
    rtol = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(model.coef_, w, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(model.intercept_, b, rtol=rtol, atol=rtol)
    assert model.coef_.dtype == dtype
    if loss in ("poisson", "gamma"):
        np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("penalty", "extra"),
    [("lp", {"p": 0.5}), ("lp", {"p": 0.8}), ("box", {"bounds": (-0.1, 0.2)}), ("box", {"bounds": (0.1, 1.0)})],
)
def test_lp_and_box_take_the_steps_of_the_textbook(penalty, extra, sparse):
    X = make_X()
    y = make_targets(X)
    model = SGDRegressor(penalty=penalty, alpha=0.05, shuffle=False, **extra, **PASSES).fit(
        sp.csr_matrix(X) if sparse else X, y
    )
    settings = {"alpha": 0.05, "schedule": "invscaling", "power_t": 0.25, "intercept_share": 0.01 if sparse else 1.0}
    w, b = reference.descend(X, y, "squared_error", n_passes=4, penalty=penalty, **settings, **extra)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9)
    if penalty == "box":
        assert model.coef_.min() == extra["bounds"][0]
        assert model.coef_.max() <= extra["bounds"][1]


# With l1, what is not in a sparse row pays later, and the average sees that.
@pytest.mark.parametrize(("penalty", "sparse"), [*((penalty, False) for penalty in PENALTIES), ("l2", True), (None, True)])
@pytest.mark.parametrize("average", [1, 50, 481, 10_000])
def test_an_average_is_that_of_the_iterates(penalty, average, sparse):
    X = make_X()
    y = make_targets(X)
    settings = {"penalty": penalty, "alpha": 0.05}
    model = SGDRegressor(shuffle=False, average=average, max_iter=4, tol=None, **settings).fit(
        sp.csr_matrix(X) if sparse else X, y
    )
    w, b = reference.descend(
        X,
        y,
        "squared_error",
        n_passes=4,
        schedule="invscaling",
        power_t=0.25,
        average_from=average if average <= 480 else 0,
        intercept_share=0.01 if sparse else 1.0,
        **settings,
    )
    np.testing.assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-9)


def test_a_row_of_weight_zero_is_absent_and_weights_are_factors_of_steps():
    X = make_X()
    y = make_targets(X)
    weights = np.random.RandomState(3).choice([0.0, 0.5, 2.0], size=len(X))
    model = SGDRegressor(shuffle=False, **PASSES).fit(X, y, sample_weight=weights)
    w, b = reference.descend(X, y, "squared_error", n_passes=4, schedule="invscaling", power_t=0.25, weights=weights)
    np.testing.assert_allclose(model.coef_, w)
    np.testing.assert_allclose(model.intercept_, b)
    assert model.t_ == 1 + 4 * np.count_nonzero(weights)


# ---- scikit-learn


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", CLASSIFICATION)
def test_classifiers_agree_with_scikit_learn(loss, schedule, shuffle):
    X = make_X()
    # The optimal rate begins with steps so long that steep losses are chaotic; a large alpha keeps them short.
    shared = {
        "loss": loss,
        "learning_rate": schedule,
        "shuffle": shuffle,
        "eta0": 0.005,
        "alpha": 5.0 if schedule == "optimal" else 0.01,
    }
    for penalty, n_classes in itertools.product(PENALTIES, [2, 4]):
        if schedule == "optimal" and penalty is None:
            continue
        # With l1 the sums that stopping hangs on differ a little, so that a close decision may fall differently.
        params = {
            **shared,
            "penalty": penalty,
            "max_iter": 12,
            "random_state": 3,
            "tol": 1e-3 if penalty in ("l2", None) else None,
        }
        y = make_labels(X, n_classes)
        mine, other = SGDClassifier(**params).fit(X, y), peer.SGDClassifier(**params).fit(X, y)
        assert_same_model(mine, other)
        assert mine.n_iter_ == other.n_iter_
        assert mine.t_ == other.t_
        np.testing.assert_array_equal(mine.predict(X), other.predict(X))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_regressors_agree_with_scikit_learn(schedule, penalty, shuffle):
    X = make_X()
    y = make_targets(X)
    for loss in REGRESSION:
        params = {"loss": loss, "learning_rate": schedule, "penalty": penalty, "shuffle": shuffle, "random_state": 5}
        params |= {"max_iter": 12, "eta0": 0.005, "alpha": 5.0 if schedule == "optimal" else 0.01}
        mine, other = SGDRegressor(**params).fit(X, y), peer.SGDRegressor(**params).fit(X, y)
        assert_same_model(mine, other)
        assert mine.n_iter_ == other.n_iter_
        assert mine.coef_.shape == other.coef_.shape
        assert mine.intercept_.shape == other.intercept_.shape


@pytest.mark.parametrize("schedule", ["pa1", "pa2"])
def test_passive_aggressive_rates_agree_with_scikit_learn(schedule):
    X = make_X()
    X[7] = 0
    params = {"learning_rate": schedule, "penalty": None, "eta0": 0.3, "random_state": 1, "average": 20}
    y, target = make_labels(X, 3), make_targets(X)
    assert_same_model(SGDClassifier(**params).fit(X, y), peer.SGDClassifier(**params).fit(X, y))
    params["loss"] = "epsilon_insensitive"
    assert_same_model(SGDRegressor(**params).fit(X, target), peer.SGDRegressor(**params).fit(X, target))


@pytest.mark.parametrize("params", [{"class_weight": "balanced"}, {"class_weight": {0: 3.0, 1: 0.5}}, {"average": 30}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_and_averages_agree_with_scikit_learn(params, n_classes):
    X = make_X()
    y = make_labels(X, n_classes)
    weights = np.random.RandomState(0).uniform(0.5, 2, size=len(X))
    shared = {"random_state": 0, "max_iter": 7, "tol": None, "alpha": 0.1}
    given = None if params.get("class_weight") == "balanced" else weights
    mine = SGDClassifier(**shared, **params).fit(X, y, sample_weight=given)
    assert_same_model(mine, peer.SGDClassifier(**shared, **params).fit(X, y, sample_weight=given))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("average", [False, 30])
@pytest.mark.parametrize("penalty", ["l2", None])
def test_sparse_rows_agree_with_scikit_learn(penalty, average, fit_intercept):
    X = sp.random(200, 60, density=0.1, format="csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel() + 1
    params = {"penalty": penalty, "fit_intercept": fit_intercept, "average": average, "random_state": 0, "max_iter": 7}
    params["tol"] = None
    assert_same_model(SGDRegressor(**params).fit(X, y), peer.SGDRegressor(**params).fit(X, y))


def test_probabilities_agree_with_scikit_learn():
    X = make_X()
    for loss, n_classes in itertools.product(["log_loss", "modified_huber"], [2, 3]):
        y = make_labels(X, n_classes)
        params = {"loss": loss, "random_state": 0, "alpha": 0.1}
        mine, other = SGDClassifier(**params).fit(X, y), peer.SGDClassifier(**params).fit(X, y)
        np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-6, atol=1e-9)
    assert not hasattr(SGDClassifier("hinge"), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        SGDClassifier("hinge").predict_proba(X)
    assert "loss='hinge'" in str(caught.value.__cause__)


def test_the_aliases_name_the_same_loss():
    X = make_X()
    y = make_labels(X)
    for one, other in [("log_loss", "logistic"), ("squared_error", "squared"), ("quantile", "pinball")]:
        models = [SGDClassifier(loss, random_state=0, max_iter=5, tol=None).fit(X, y) for loss in (one, other)]
        np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_allclose(SGDClassifier("logistic", random_state=0).fit(X, y).predict_proba(X).sum(axis=1), 1)


# ---- parts of fits


@pytest.mark.parametrize("average", [False, 30])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_add_up_to_a_fit(n_classes, average):
    X = make_X()
    y = make_labels(X, n_classes)
    whole = SGDClassifier(shuffle=False, average=average, **PASSES).fit(X, y)
    parts = SGDClassifier(shuffle=False, average=average)
    for _ in range(4):
        for rows in (slice(0, 70), slice(70, None)):
            parts.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
    assert_same_model(parts, whole, rtol=1e-12)
    assert parts.t_ == whole.t_
    assert not hasattr(parts, "certificate_")


def test_parts_agree_with_scikit_learn():
    X = make_X()
    y = make_targets(X)
    mine, other = SGDRegressor(random_state=0, average=True), peer.SGDRegressor(random_state=0, average=True)
    for _ in range(3):
        mine.partial_fit(X, y)
        other.partial_fit(X, y)
    assert_same_model(mine, other)
    assert mine.t_ == other.t_


def test_coefficients_that_are_set_are_gone_on_from():
    X = make_X()
    y = make_targets(X)
    model = SGDRegressor(shuffle=False).partial_fit(X, y)
    other = SGDRegressor(shuffle=False).partial_fit(X, y).partial_fit(X, y)
    model.coef_, model.intercept_, model.t_ = other.coef_.copy(), other.intercept_.copy(), other.t_
    assert_same_model(model.partial_fit(X, y), other.partial_fit(X, y), rtol=1e-15)


def test_a_part_that_fails_leaves_the_last_one_whole():
    X = make_X()
    y = make_targets(X)
    model = SGDRegressor(shuffle=False).partial_fit(X, y)
    coef, time = model.coef_.copy(), model.t_
    bad = X.copy()
    bad[-1, 0] = 1e300
    with pytest.raises(ValueError, match=r"overflow.*Scale X"):
        model.partial_fit(bad * 1e8, y)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(bad > 1e100, np.nan, bad), y)
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.t_ == time


def test_what_partial_fit_cannot_do_is_said():
    X = make_X()
    y = make_labels(X)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SGDClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="class_weight='balanced'"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="early_stopping=True"):
        SGDRegressor(early_stopping=True).partial_fit(X, y)
    model = SGDClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="label 2, which is not among classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="average=1 is not valid after"):
        model.set_params(average=True).partial_fit(X, y)


def test_a_warm_start_begins_at_the_last_fit_and_an_init_where_it_says():
    X = make_X()
    y = make_labels(X, 3)
    once = SGDClassifier(shuffle=False, max_iter=1, tol=None).fit(X, y)
    warm = SGDClassifier(shuffle=False, max_iter=1, tol=None, warm_start=True).fit(X, y).fit(X, y)
    given = SGDClassifier(shuffle=False, max_iter=1, tol=None).fit(X, y, coef_init=once.coef_, intercept_init=once.intercept_)
    assert_same_model(warm, given, rtol=1e-15)
    twin = peer.SGDClassifier(shuffle=False, max_iter=1, tol=None)
    assert_same_model(given, twin.fit(X, y, coef_init=once.coef_, intercept_init=once.intercept_))
    with pytest.raises(ValueError, match=r"coef_init has shape \(2, 2\).*must be \(3, 11\)"):
        once.fit(X, y, coef_init=np.zeros((2, 2)))


# ---- stopping and certificates


def test_early_stopping_watches_rows_set_aside():
    X = make_X(400)
    y = make_targets(X)
    params = {"early_stopping": True, "penalty": None, "random_state": 0, "n_iter_no_change": 3, "validation_fraction": 0.2}
    mine, other = SGDRegressor(**params).fit(X, y), peer.SGDRegressor(**params).fit(X, y)
    assert_same_model(mine, other)
    assert mine.n_iter_ == other.n_iter_
    assert all("score" in record for record in mine.history_)
    assert "validation score" in mine.certificate_.condition
    for n_classes in (2, 3):
        labels = make_labels(X, n_classes)
        model, twin = (cls(**params).fit(X, labels) for cls in (SGDClassifier, peer.SGDClassifier))
        assert_same_model(model, twin)
    with pytest.raises(ValueError, match="sample weights for validation set are all zero"):
        SGDRegressor(**params).fit(X, y, sample_weight=np.arange(400) == 3)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge", "modified_huber", "exponential", "huber", "absolute"])
def test_no_model_is_better_than_the_bound_of_the_certificate(loss, penalty):
    X = make_X()
    y = make_labels(X)
    weights = np.random.RandomState(0).choice([0.0, 1.0, 2.0], size=len(X))
    settings = {"penalty": penalty, "alpha": 0.05}
    model = SGDClassifier(loss, random_state=0, epsilon=0.2, learning_rate="constant", **settings).fit(
        X, y, sample_weight=weights
    )
    value = reference.objective(
        X, 2 * y - 1, loss, model.coef_[0], model.intercept_[0], weights=weights, parameter=0.2, **settings
    )
    np.testing.assert_allclose(model.certificate_.primal, value, rtol=1e-10)
    assert model.certificate_.gap == model.certificate_.primal - model.certificate_.dual
    best = value
    for eta0 in (0.02, 0.005, 0.001):
        rival = SGDClassifier(
            loss, random_state=1, epsilon=0.2, learning_rate="adaptive", eta0=eta0, max_iter=300, tol=1e-6, **settings
        )
        best = min(best, rival.fit(X, y, sample_weight=weights).certificate_.primal)
        assert rival.certificate_.dual <= best
        assert model.certificate_.dual <= best


def test_the_gap_closes_as_the_fit_gets_better():
    X = make_X(500)
    y = make_targets(X)
    params = {"alpha": 0.1, "learning_rate": "adaptive", "random_state": 0, "eta0": 0.05, "max_iter": 1000}
    rough, fine = SGDRegressor(tol=1.0, **params).fit(X, y), SGDRegressor(tol=1e-9, **params).fit(X, y)
    assert 0 <= fine.certificate_.gap < 1e-3
    assert fine.certificate_.gap < rough.certificate_.gap
    exact = peer.Ridge(alpha=0.1 * len(X)).fit(X, y)
    np.testing.assert_allclose(fine.coef_, exact.coef_, atol=1e-3)
    poisson = SGDRegressor("poisson", tol=1e-9, **params).fit(X, np.exp(y / 4))
    assert 0 <= poisson.certificate_.gap < 1e-3


def test_a_fit_that_ends_at_max_iter_says_so():
    X = make_X()
    y = make_labels(X)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .*improved by"):
        model = SGDClassifier(max_iter=2, random_state=0).fit(X, y)
    assert model.certificate_.status is Status.MAX_ITER
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SGDClassifier(max_iter=2, tol=None, random_state=0).fit(X, y)  # asked for


def test_history_tells_about_every_pass():
    X = make_X()
    model = SGDClassifier(random_state=0).fit(X, make_labels(X, 3))
    assert len(model.history_) == model.n_iter_
    assert set(model.history_[0]) == {"objective", "loss", "n_updates", "n_mistakes"}
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]


# ---- degenerate data and wrong parameters


def test_more_features_than_rows_constant_columns_and_constant_targets_are_fitted():
    X = make_X(8, 30)
    X[:, 3] = 1.0
    model = SGDRegressor(random_state=0).fit(X, np.full(8, 2.0))
    assert np.isfinite(model.coef_).all()
    assert SGDClassifier(random_state=0).fit(X, np.arange(8) % 2).score(X, np.arange(8) % 2) == 1.0


@pytest.mark.parametrize(
    ("estimator", "params", "message"),
    [
        (SGDClassifier, {"loss": "poisson"}, "loss='poisson'"),
        (SGDRegressor, {"loss": "hinge"}, "loss='hinge'"),
        (SGDClassifier, {"learning_rate": "optimal", "alpha": 0.0}, "alpha=0.0.*must be > 0"),
        (SGDClassifier, {"learning_rate": "pa1", "loss": "log_loss"}, "loss='log_loss'.*must be 'hinge'"),
        (SGDRegressor, {"learning_rate": "pa2"}, "must be 'epsilon_insensitive'"),
        (SGDRegressor, {"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio=None"),
        (SGDRegressor, {"penalty": "box"}, "bounds=None"),
        (SGDRegressor, {"penalty": "lp", "p": 1.5}, "p=1.5"),
        (SGDRegressor, {"eta0": 0.0}, "eta0=0.0"),
        (SGDRegressor, {"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction=1.0.*must be < 1"),
        (SGDClassifier, {"average": 0}, "average=0"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(estimator, params, message):
    X = make_X()
    with pytest.raises(ValueError, match=message):
        estimator(**params).fit(X, make_labels(X))


def test_targets_that_a_loss_cannot_have_are_refused():
    X = make_X()
    y = make_targets(X)
    with pytest.raises(ValueError, match="loss='poisson' every value must be >= 0"):
        SGDRegressor("poisson").fit(X, y)
    with pytest.raises(ValueError, match="loss='gamma' every value must be > 0"):
        SGDRegressor("gamma").fit(X, np.abs(y) * (y > 0))


def test_steps_that_are_too_long_are_an_error_that_names_them():
    X = make_X()
    with pytest.raises(ValueError, match=r"overflow.*eta0=1e\+300"):
        SGDRegressor(learning_rate="constant", eta0=1e300).fit(X, make_targets(X))
