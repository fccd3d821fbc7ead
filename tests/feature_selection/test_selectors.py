"""Selectors by scores and by models: what stays is what the peer lets stay, tables stay tables, and files keep them."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.feature_selection as peer
from sklearn.datasets import make_classification, make_friedman1, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import mercer
from mercer.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from mercer.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
)
from mercer.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, SGDClassifier
from mercer.neighbors import KNeighborsClassifier

CLASSES = make_classification(200, n_features=12, n_informative=4, n_redundant=0, random_state=0)
NUMBERS = make_regression(150, n_features=10, n_informative=4, noise=20.0, random_state=1)


@pytest.mark.parametrize(
    ("ours", "options"),
    [
        (SelectKBest, {"k": 3}),
        (SelectKBest, {"k": "all"}),
        (SelectKBest, {"k": 0}),
        (SelectPercentile, {"percentile": 30}),
        (SelectFpr, {"alpha": 0.1}),
        (SelectFdr, {"alpha": 0.1}),
        (SelectFwe, {"alpha": 0.1}),
        (GenericUnivariateSelect, {"mode": "fdr", "param": 0.1}),
        (GenericUnivariateSelect, {"mode": "percentile", "param": 40}),
        (GenericUnivariateSelect, {"mode": "k_best", "param": "all"}),
    ],
)
def test_the_columns_that_stay_are_the_peers(ours, options):
    for score, their_score, data in (
        (f_classif, peer.f_classif, CLASSES),
        (f_regression, peer.f_regression, NUMBERS),
    ):
        mine = ours(score, **options).fit(*data)
        theirs = getattr(peer, ours.__name__)(their_score, **options).fit(*data)
        np.testing.assert_array_equal(mine.get_support(), theirs.get_support())
        np.testing.assert_allclose(mine.pvalues_, theirs.pvalues_, rtol=1e-6, atol=1e-300)


def test_equal_scores_leave_as_many_as_asked_for():
    scores = np.array([1.0, 2.0, 2.0, 2.0, np.nan, 0.5])

    def score(X, y):
        return scores

    X = np.ones((4, 6))
    assert SelectKBest(score, k=2).fit(X, [0, 1, 0, 1]).get_support(indices=True).tolist() == [2, 3]
    assert SelectPercentile(score, percentile=40).fit(X, [0, 1, 0, 1]).get_support(indices=True).tolist() == [1, 2]


def test_false_discoveries_are_kept_to_their_share():
    """Of columns without an effect among some with one: on average at most alpha of those that stay."""
    random, shares = np.random.RandomState(0), []
    for _ in range(60):
        y = random.randn(100)
        X = random.randn(100, 50)
        X[:, :10] += y[:, None]
        kept = SelectFdr(f_regression, alpha=0.2).fit(X, y).get_support()
        shares.append(kept[10:].sum() / max(1, kept.sum()))
        assert kept[:10].all()
    assert np.mean(shares) < 0.2


def test_a_score_without_p_values_is_refused_where_they_are_needed():
    with pytest.raises(ValueError, match="gives no p-values"):
        SelectFpr(lambda X, y: np.ones(12)).fit(*CLASSES)
    with pytest.raises(ValueError, match=r"param='all' is not valid with mode='fpr'"):
        GenericUnivariateSelect(mode="fpr", param="all").fit(*CLASSES)
    with pytest.warns(UserWarning, match="k=20 is greater than n_features=12"):
        SelectKBest(k=20).fit(*CLASSES)


def test_columns_that_hardly_vary_leave():
    random = np.random.RandomState(0)
    X = random.randn(100, 4) * [0.1, 1.0, 2.0, 0.0] + [0, 0, 1e6, 0.1]
    selector = VarianceThreshold(0.5).fit(X)
    np.testing.assert_allclose(selector.variances_, X.var(axis=0), rtol=1e-6, atol=1e-30)
    assert selector.get_support(indices=True).tolist() == [1, 2]
    assert VarianceThreshold().fit(X).get_support(indices=True).tolist() == [0, 1, 2]
    X[3, 1] = np.nan
    np.testing.assert_allclose(VarianceThreshold().fit(X).variances_[1], np.nanvar(X[:, 1]))
    thinned = sp.random(50, 6, 0.4, format="csr", random_state=0)
    np.testing.assert_allclose(VarianceThreshold().fit(thinned).variances_, thinned.toarray().var(axis=0))


# ---- by models


@pytest.mark.parametrize("threshold", [None, "median", "1.5*mean", 0.3, -np.inf])
@pytest.mark.parametrize("most", [None, 2])
def test_selection_from_a_model_is_the_peers(threshold, most):
    for model in (Ridge(), Lasso(), RandomForestRegressor(10, random_state=0)):
        options = {"threshold": threshold, "max_features": most}
        mine, theirs = (cls(model, **options).fit(*NUMBERS) for cls in (SelectFromModel, peer.SelectFromModel))
        np.testing.assert_array_equal(mine.get_support(), theirs.get_support())
        assert mine.threshold_ == pytest.approx(theirs.threshold_)


def test_a_fitted_model_selects_without_a_fit():
    X, y = NUMBERS
    model = Lasso().fit(X, y)
    expected = SelectFromModel(Lasso()).fit(X, y).get_support()
    np.testing.assert_array_equal(SelectFromModel(model, prefit=True).get_support(), expected)
    with pytest.raises(NotFittedError, match="is expected to be a fitted"):
        SelectFromModel(Lasso(), prefit=True).fit(X, y)


def test_a_model_is_fitted_in_parts():
    X, y = CLASSES
    selector = SelectFromModel(SGDClassifier(random_state=0))
    selector.partial_fit(X[:100], y[:100], classes=[0, 1])
    first = selector.estimator_
    before = first.coef_.copy()
    selector.partial_fit(X[100:], y[100:])
    assert selector.estimator_ is first
    assert (first.coef_ != before).any()
    assert not hasattr(SelectFromModel(Lasso()), "partial_fit")


@pytest.mark.parametrize("step", [1, 3, 0.3])
def test_recursive_elimination_is_the_peers(step):
    mine, theirs = (cls(Ridge(), n_features_to_select=3, step=step).fit(*NUMBERS) for cls in (RFE, peer.RFE))
    np.testing.assert_array_equal(mine.ranking_, theirs.ranking_)
    X, y = NUMBERS
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X))
    assert mine.score(X, y) == pytest.approx(theirs.score(X, y))
    mine, theirs = (cls(Ridge(), step=step, cv=3).fit(X, y) for cls in (RFECV, peer.RFECV))
    np.testing.assert_array_equal(mine.ranking_, theirs.ranking_)
    for name, values in theirs.cv_results_.items():
        np.testing.assert_allclose(mine.cv_results_[name], values, err_msg=name)
    both = RFECV(Ridge(), step=step, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(both.ranking_, mine.ranking_)


def test_a_classifier_among_selectors_is_a_classifier():
    X, y = CLASSES
    selector = RFE(LogisticRegression(), n_features_to_select=4).fit(X, np.where(y, "yes", "no"))
    assert sklearn.base.is_classifier(selector)
    assert selector.classes_.tolist() == ["no", "yes"]
    assert set(selector.predict(X)) == {"no", "yes"}
    assert selector.predict_proba(X).shape == (200, 2)
    assert not hasattr(RFE(Ridge()), "predict_proba")


# ---- pipelines, tables, metadata, files


def test_selection_within_a_pipeline_sees_training_folds_only():
    """Of columns that have nothing to do with the classes: chosen by all rows, some seem to; by training rows, none does."""
    random = np.random.RandomState(0)
    X, y = random.randn(60, 2000), np.arange(60) % 2
    cv = KFold(5, shuffle=True, random_state=0)
    honest = cross_val_score(make_pipeline(SelectKBest(k=20), KNeighborsClassifier(3)), X, y, cv=cv).mean()
    cheating = cross_val_score(KNeighborsClassifier(3), SelectKBest(k=20).fit_transform(X, y), y, cv=cv).mean()
    assert honest < 0.65
    assert cheating > 0.8


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=2),
        SelectFromModel(LogisticRegression(), max_features=2),
        RFE(LogisticRegression(), n_features_to_select=2),
        SequentialFeatureSelector(LogisticRegression(), n_features_to_select=2, cv=2),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_the_rows_of_a_pipelines_fold_are_all_that_is_seen(selector):
    seen = []
    X, y = CLASSES

    class Spy(type(selector)):
        def fit(self, X, y=None, **params):
            seen.append({row.tobytes() for row in np.asarray(X)})
            return super().fit(X, y, **params)

    options = selector.get_params(deep=False)
    for train, test in KFold(3).split(X):
        seen.clear()
        model = make_pipeline(Spy(**options), LogisticRegression()).fit(X[train], y[train])
        model.predict(X[test])
        assert seen == [{row.tobytes() for row in X[train]}]


def test_frames_keep_their_columns():
    X, y = CLASSES
    names = [f"column {j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names).astype({"column 3": np.float32})
    for selector in (SelectKBest(k=3), RFE(LogisticRegression(), n_features_to_select=3)):
        selector.set_output(transform="pandas").fit(frame, y)
        kept = [names[j] for j in selector.get_support(indices=True)]
        out = selector.transform(frame)
        assert out.columns.tolist() == kept == selector.get_feature_names_out().tolist()
        assert (out.dtypes == frame.dtypes[kept]).all()
        selector.set_output(transform="polars").fit(pl.DataFrame(X, schema=names), y)
        assert selector.transform(pl.DataFrame(X, schema=names)).columns == kept
        back = selector.inverse_transform(X[:, :3])
        assert (back[:, ~selector.get_support()] == 0).all()


def test_sparse_rows_stay_sparse():
    X = sp.csr_matrix(np.random.RandomState(0).poisson(0.5, size=(100, 8)))
    y = np.arange(100) % 2
    selector = SelectKBest(chi2, k=3).fit(X, y)
    out = selector.transform(X)
    assert sp.issparse(out)
    np.testing.assert_array_equal(out.toarray(), X.toarray()[:, selector.get_support()])
    assert selector.inverse_transform(out).shape == X.shape
    chosen = SequentialFeatureSelector(LogisticRegression(), n_features_to_select=2, cv=2).fit(X, y)
    dense = SequentialFeatureSelector(LogisticRegression(), n_features_to_select=2, cv=2).fit(X.toarray(), y)
    np.testing.assert_array_equal(chosen.get_support(), dense.get_support())


def test_missing_values_are_for_the_estimator_to_take():
    X, y = (part.copy() for part in NUMBERS)
    X[::7, 2] = np.nan
    model = HistGradientBoostingRegressor(max_iter=5)
    selector = SequentialFeatureSelector(model, n_features_to_select=2, cv=2).fit(X, y)
    assert selector.get_support().sum() == 2
    with pytest.raises(ValueError, match="NaN"):
        SequentialFeatureSelector(Ridge(), n_features_to_select=2, cv=2).fit(X, y)


def test_metadata_go_where_they_are_asked_for():
    X, y = NUMBERS
    groups, weights = np.arange(150) % 5, np.linspace(0.1, 2, 150)
    with pytest.raises(ValueError, match="only where metadata routing is enabled"):
        SequentialFeatureSelector(Ridge(), cv=2).fit(X, y, sample_weight=weights)
    grouped = RFECV(Ridge(), cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert sum(name.endswith("test_score") and name.startswith("split") for name in grouped.cv_results_) == 5
    weighted = RFE(Ridge(), n_features_to_select=2).fit(X, y, sample_weight=weights)
    kept = weighted.get_support()
    np.testing.assert_allclose(weighted.estimator_.coef_, Ridge().fit(X[:, kept], y, sample_weight=weights).coef_)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        routed = SequentialFeatureSelector(model, n_features_to_select=2, cv=GroupKFold(5))
        routed.fit(X, y, sample_weight=weights, groups=groups)
        assert routed.get_support().sum() == 2
        mine = SelectFromModel(model).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(mine.estimator_.coef_, Ridge().fit(X, y, sample_weight=weights).coef_)


SELECTORS = [
    SelectKBest(chi2, k=3),
    SelectPercentile(f_regression, percentile=20),
    SelectFpr(),
    SelectFdr(),
    SelectFwe(),
    GenericUnivariateSelect(mode="k_best", param=2),
    VarianceThreshold(0.01),
    SelectFromModel(Ridge(), threshold="1.25*mean"),
    RFE(LinearRegression(), step=2),
    RFECV(Ridge(), cv=3),
    SequentialFeatureSelector(Ridge(), floating=True, n_features_to_select=2),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_a_file_keeps_a_selector(selector):
    X, y = make_friedman1(80, n_features=7, random_state=0)
    y = (y > np.median(y)).astype(int)
    fitted = sklearn.base.clone(selector).fit(X, y)
    buffer = io.BytesIO()
    mercer.save(fitted, buffer)
    loaded = mercer.load(buffer.getvalue())
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    assert repr(loaded) == repr(fitted)
    for name, value in vars(fitted).items():
        if name == "history_":
            assert [step["score"] for step in loaded.history_] == [step["score"] for step in value]
