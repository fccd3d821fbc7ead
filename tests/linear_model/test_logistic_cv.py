"""Cross-validated logistic regression against scikit-learn and against separate fits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV as Peer
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.linear_model import LogisticRegression, LogisticRegressionCV
from mercer.metrics import get_measure
from tests.linear_model.test_logistic import make

CS = (3.0, 10.0, 40.0)  # weak enough to leave coefficients: where there are none, saga stops before its intercept has settled
SHARED = {"Cs": CS, "cv": 3}
ATTRIBUTES = ("C_", "l1_ratio_", "Cs_", "l1_ratios_", "coef_", "intercept_", "scores_", "coefs_paths_", "n_iter_")


def _assert_same(name, mine, theirs):
    if isinstance(theirs, dict):
        assert mine.keys() == theirs.keys()
        for key in theirs:
            _assert_same(name, mine[key], theirs[key])
        return
    assert type(mine) is type(theirs), name
    assert np.shape(mine) == np.shape(theirs), name
    if np.asarray(theirs).dtype == object:
        np.testing.assert_array_equal(mine, theirs)
    elif name != "n_iter_":
        np.testing.assert_allclose(mine, theirs, atol=5e-4, err_msg=name)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("use_legacy_attributes", [True, False])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("l1_ratios", [None, np.array([0.0, 0.5, 1.0])], ids=["l2", "elastic net"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_attribute_is_scikit_learns(n_classes, l1_ratios, refit, use_legacy_attributes):
    X, codes, weights = make(n_classes, n=120, d=3, is_weighted=True)
    X, labels = X / 4, np.array(["a", "b", "c"])[codes]
    params = {**SHARED, "l1_ratios": l1_ratios, "refit": refit, "use_legacy_attributes": use_legacy_attributes}
    params |= {"scoring": "neg_log_loss", "fit_intercept": refit}
    solver = "newton-cholesky" if l1_ratios is None else "saga"
    peer = Peer(**params, tol=1e-7, max_iter=10_000, solver=solver).fit(X, labels, weights)
    model = LogisticRegressionCV(**params, tol=1e-9).fit(X, labels, weights)
    for name in ATTRIBUTES:
        _assert_same(name, getattr(model, name), getattr(peer, name))


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_is_that_of_separate_fits(n_classes, l1_ratio, kind):
    X, codes, _ = make(n_classes, is_sparse=kind == "sparse")
    X = sp.csr_matrix(X) if kind == "sparse" else X.astype(np.float32) if kind == "float32" else X
    splits = list(StratifiedKFold(3).split(X, codes))
    params = {"l1_ratios": [l1_ratio], "use_legacy_attributes": False, "tol": 1e-9}
    model = LogisticRegressionCV(**SHARED, **params).fit(X, codes)
    for fold, (train, test) in enumerate(splits):
        for c, C in enumerate(CS):
            single = LogisticRegression(C=C, l1_ratio=l1_ratio, tol=1e-10).fit(X[train], codes[train])
            path = model.coefs_paths_[fold, 0, c]
            np.testing.assert_allclose(path[:, :-1], single.coef_, atol=2e-4 if kind == "float32" else 1e-6)
            np.testing.assert_allclose(path[:, -1], single.intercept_, atol=1e-3 if kind == "float32" else 1e-5)
            np.testing.assert_allclose(model.scores_[fold, 0, c], single.score(X[test], codes[test]))
    best = LogisticRegression(C=model.C_, l1_ratio=l1_ratio, tol=1e-10).fit(X, codes)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=2e-4 if kind == "float32" else 1e-6)


def test_the_order_of_the_values_does_not_matter():
    X, codes, _ = make(3)
    params = {"cv": 3, "use_legacy_attributes": False, "tol": 1e-9}
    up = LogisticRegressionCV(Cs=CS, **params).fit(X, codes)
    down = LogisticRegressionCV(Cs=CS[::-1], **params).fit(X, codes)
    np.testing.assert_array_equal(up.scores_, down.scores_[:, :, ::-1])
    np.testing.assert_array_equal(up.coefs_paths_, down.coefs_paths_[:, :, ::-1])


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro", "roc_auc_ovr", None])
def test_any_scorer_will_do(scoring):
    X, codes, _ = make(3)
    model = LogisticRegressionCV(**SHARED, scoring=scoring, use_legacy_attributes=False).fit(X, codes)
    assert np.isfinite(model.scores_).all()
    assert np.isfinite(model.score(X, codes))


def test_a_fold_may_lack_a_class():
    X, codes, _ = make(3)
    order = np.argsort(codes, kind="stable")
    model = LogisticRegressionCV(Cs=2, cv=KFold(3), scoring="neg_log_loss").fit(X[order], codes[order])
    assert np.isfinite(model.coef_).all()
    assert len(model.classes_) == 3


@pytest.mark.parametrize("refit", [True, False])
def test_the_certificate_is_that_of_the_last_fit_or_of_the_worst_averaged(refit):
    X, codes, _ = make()
    model = LogisticRegressionCV(**SHARED, refit=refit, use_legacy_attributes=False).fit(X, codes)
    assert model.certificate_.converged
    assert model.certificate_.gap >= 0
    if refit:
        single = LogisticRegression(C=model.C_, tol=1e-10).fit(X, codes)
        np.testing.assert_allclose(model.certificate_.primal, single.certificate_.primal, rtol=1e-4)


def test_fits_on_folds_that_do_not_converge_are_told_of_once():
    X, codes, _ = make(2)
    with pytest.warns(
        ConvergenceWarning, match=r"\d of the 9 fits on the folds stopped at max_iter=2|stopped at max_iter=2"
    ) as caught:
        LogisticRegressionCV(Cs=[1.0, 100.0, 1e4], cv=3, max_iter=2, tol=1e-10).fit(X, codes)
    assert len(caught) == 1
    with pytest.warns(ConvergenceWarning, match=r"fits on the folds stopped at max_iter=1, the farthest at"):
        LogisticRegressionCV(Cs=[1e-6, 100.0], cv=3, max_iter=1, tol=1e-3, scoring=lambda m, X, y: -abs(m.coef_).sum()).fit(
            X, codes
        )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"Cs": [1.0, -1.0]}, r"Cs=\[1.0, -1.0\] is not valid; each must be a number > 0"),
        ({"Cs": []}, r"Cs=\[\] is not valid; it must be a sequence of numbers"),
        ({"Cs": ["x"]}, r"Cs=\['x'\] is not valid"),
        ({"l1_ratios": [2.0]}, r"l1_ratios=\[2.0\] is not valid; each must be from 0 to 1"),
        ({"cv": 1}, r"cv=1 is not valid; it must be None, an integer >= 2"),
        ({"scoring": "magic"}, r"scoring='magic' is not valid"),
        ({"l1_ratios": [0.5], "solver": "newton"}, r"solver='newton' needs a smooth penalty"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, codes, _ = make()
    with pytest.raises(ValueError, match=message):
        LogisticRegressionCV(**params).fit(X, codes)


def test_metadata_without_routing_is_refused():
    X, codes, _ = make()
    with pytest.raises(ValueError, match="metadata routing"):
        LogisticRegressionCV().fit(X, codes, groups=codes)


# ---- folds that lack classes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "f1_macro", "f1_weighted", "balanced_accuracy"])
def test_folds_that_lack_classes_are_scored_with_all_classes(n_classes, scoring):
    random = np.random.RandomState(0)
    X, y = random.randn(12 * n_classes, 2), np.repeat(np.array(["b", "a", "c"])[:n_classes], 12)
    cv = KFold(n_classes + 1)
    model = LogisticRegressionCV(Cs=[0.01, 1], cv=cv, scoring=scoring, use_legacy_attributes=False).fit(X, y)
    assert model.coefs_paths_.shape == (n_classes + 1, 1, 2, 1 if n_classes == 2 else 3, 3)
    measure = get_measure(scoring)
    labels = {"labels": model.classes_} if scoring != "balanced_accuracy" else {}
    if scoring == "neg_brier_score" and n_classes == 2:
        labels["pos_label"] = "b"
    for fold, (_, test) in enumerate(cv.split(X)):
        model.coef_ = model.coefs_paths_[fold, 0, 1, :, :-1]
        model.intercept_ = model.coefs_paths_[fold, 0, 1, :, -1]
        predicted = getattr(model, measure.response_method)(X[test])
        np.testing.assert_allclose(model.scores_[fold, 0, 1], measure.score(y[test], predicted, **labels), atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_folds_without_a_score_leave_the_choice_to_the_others():
    random = np.random.RandomState(1)
    X = random.randn(60, 3)
    y = (X[:, 0] + random.randn(60) > 0).astype(int)
    order = np.concatenate([np.flatnonzero(y == 0)[:10], random.permutation(np.flatnonzero(y == 1))])
    order = np.concatenate([order, np.setdiff1d(np.arange(60), order)])
    folds = [(np.delete(order, np.s_[a:b]), order[a:b]) for a, b in ((0, 10), (15, 60), (5, 30))]
    model = LogisticRegressionCV(Cs=[1e-4, 1.0], cv=folds, scoring="roc_auc", use_legacy_attributes=False).fit(X, y)
    assert np.isnan(model.scores_[0]).all()
    assert not np.isnan(model.scores_[1:]).any()
    assert model.Cs_[[np.argmax(model.scores_[1:, 0].mean(axis=0))]] == [model.C_]
    with pytest.warns(ConvergenceWarning, match="no fold has a score"):
        alone = LogisticRegressionCV(Cs=[1e-4, 1.0], cv=folds[:1], scoring="roc_auc", use_legacy_attributes=False).fit(X, y)
    assert alone.C_ == 1e-4
