"""Ensembles of trees on sparse rows: the same models as on the dense ones."""

from __future__ import annotations

import os
import resource

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from mercer import ensemble
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from tests.common.children import run_in_child
from tests.tree.test_sparse_and_wide import hollow_table

SMALL = {"n_estimators": 4, "random_state": 0}
MODELS = [
    ensemble.RandomForestClassifier(**SMALL, oob_score=True, oob_importance=True),
    ensemble.RandomForestClassifier(**SMALL, class_weight="balanced_subsample", tree_weights="oob", oob_score=True),
    ensemble.RandomForestRegressor(**SMALL, max_features=3, oob_score=True),
    ensemble.ExtraTreesClassifier(**SMALL, bootstrap=True, oob_score=True),
    ensemble.ExtraTreesRegressor(**SMALL),
    ensemble.BaggingClassifier(DecisionTreeClassifier(), **SMALL, oob_score=True),
    ensemble.BaggingRegressor(DecisionTreeRegressor(max_features=4), **SMALL),
    ensemble.GradientBoostingClassifier(**SMALL, subsample=0.7),
    ensemble.GradientBoostingRegressor(**SMALL, n_iter_no_change=3),
    ensemble.AdaBoostClassifier(**SMALL),
    ensemble.AdaBoostRegressor(**SMALL),
    ensemble.AnyBoost(random_state=0),
    ensemble.IsolationForest(**SMALL, max_samples=40),
    ensemble.RandomTreesEmbedding(**SMALL),
]


def data_for(model, *, has_missing=False):
    random = np.random.default_rng(0)
    X = hollow_table(random, 90, 40, share=0.1, has_missing=has_missing)
    response = np.nan_to_num(X[:, 2:12]).sum(axis=1) + X.shape[1] * 0.01 * random.normal(size=90)
    return X, (response > np.median(response)).astype(int) if is_classifier(model) else response


def answers(model, X):
    for name in ("predict_proba", "predict", "score_samples", "transform", "apply", "staged_predict"):
        if hasattr(model, name):
            given = getattr(model, name)(X)
            given = list(given) if name.startswith("staged") else given
            yield name, given.toarray() if sp.issparse(given) else np.asarray(given)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array])
def test_a_model_of_sparse_rows_is_that_of_the_dense_ones(model, form, has_missing):
    X, y = data_for(model, has_missing=has_missing)
    dense, sparse = (clone(model).fit(given, y) for given in (X, form(X)))
    for (name, one), (_, other) in zip(answers(dense, X), answers(sparse, form(X)), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
    for name in ("oob_score_", "oob_permutation_importance_", "feature_importances_", "offset_"):
        if hasattr(dense, name):
            np.testing.assert_array_equal(getattr(dense, name), getattr(sparse, name), err_msg=name)


def test_no_model_writes_a_sparse_matrix_out():
    models = [*MODELS, DecisionTreeClassifier(), ExtraTreeRegressor()]
    assert run_in_child(_fit_in_little_memory, models) == len(models)


def _fit_in_little_memory(models):
    """Dense, the rows would take seven gigabytes. Returns how many models took them."""
    random = np.random.default_rng(0)
    columns = np.sort(random.choice(300_000, (3000, 5)).astype(np.int32), axis=1)
    indptr = np.arange(0, 15_001, 5, dtype=np.int32)
    X = sp.csr_matrix((random.normal(size=15_000), columns.ravel(), indptr), shape=(3000, 300_000))
    response = np.asarray(X[:, :100_000].sum(axis=1)).ravel()
    if "MERCER_SANITIZED" not in os.environ:  # AddressSanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    n_fitted = 0
    for model in models:
        small = {name: 3 for name in ("n_estimators", "max_depth", "estimator__max_depth") if name in model.get_params()}
        model.set_params(**small).fit(X, (response > 0).astype(int) if is_classifier(model) else response)
        n_fitted += len(list(answers(model, X))) > 0
    return n_fitted


def test_quantiles_of_a_forest_take_sparse_rows():
    X, y = data_for(ensemble.RandomForestRegressor())
    dense, sparse = (ensemble.RandomForestRegressor(5, random_state=0).fit(given, y) for given in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.predict_quantiles(X, [0.1, 0.5]), sparse.predict_quantiles(sp.csr_array(X), [0.1, 0.5]))
