"""Quadratic discriminant analysis: the closed form, scikit-learn's answers, singular covariances."""

import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from sklearn.covariance import OAS

from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis
from tests.discriminant_analysis.test_linear import _classes
from tests.reference import generative as reference


def test_discriminant_scores_are_the_closed_form():
    X, y = _classes(3)
    expected = reference.quadratic_scores(X, y, X)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.discriminant_scores(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"store_covariance": True},
        {"reg_param": 0.3},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": OAS()},
    ],
    ids=str,
)
def test_it_is_the_peers(options, n_classes):
    X, y = _classes(n_classes)
    mine, yours = (cls(**options).fit(X, y) for cls in (QuadraticDiscriminantAnalysis, peer.QuadraticDiscriminantAnalysis))
    np.testing.assert_allclose(mine.decision_function(X), yours.decision_function(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(mine.predict_proba(X), yours.predict_proba(X), atol=1e-9)
    for name in ("means_", "priors_", "scalings_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(yours, name), rtol=1e-8, atol=1e-10, err_msg=name)
    if "store_covariance" in options:
        np.testing.assert_allclose(mine.covariance_, yours.covariance_, rtol=1e-8, atol=1e-10)


def test_the_unbiased_normaliser_scales_the_covariances():
    X, y = _classes(2)
    model = QuadraticDiscriminantAnalysis(normalizer="n-1", store_covariance=True).fit(X, y)
    for label, covariance in enumerate(model.covariance_):
        np.testing.assert_allclose(covariance, np.cov(X[y == label].T), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_data_far_from_the_origin_and_of_any_units_keep_their_digits(dtype):
    X, y = _classes(3)
    units = np.array([1e-6, 1.0, 1e4, 1e-2])
    expected = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    shift = 1e7 if dtype == np.float64 else 100.0
    moved = ((X + shift) * units).astype(dtype)
    tol = 1e-6 if dtype == np.float64 else 5e-3
    np.testing.assert_allclose(QuadraticDiscriminantAnalysis().fit(moved, y).predict_proba(moved), expected, atol=tol)


@pytest.mark.parametrize(("solver", "remedy"), [("svd", "reg_param"), ("eigen", "shrinkage")])
def test_a_singular_covariance_is_an_error_that_names_class_and_remedy(solver, remedy):
    X, y = _classes(2)
    X[y == 1, 2] = X[y == 1, 0]
    with pytest.raises(np.linalg.LinAlgError, match=f"class 1 is not full rank.*{remedy}"):
        QuadraticDiscriminantAnalysis(solver=solver).fit(X, y)
    assert QuadraticDiscriminantAnalysis(solver=solver).set_params(**{remedy: 0.1}).fit(X, y).score(X, y) > 0.5


def test_few_rows_a_class_few_classes_and_single_rows_are_refused_with_a_reason():
    X, y = _classes(2)
    with pytest.raises(np.linalg.LinAlgError, match="more than the number of features"):
        QuadraticDiscriminantAnalysis().fit(X[:6], y[:6])
    with pytest.raises(ValueError, match="Got 1 class"):
        QuadraticDiscriminantAnalysis().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="only 1 sample in class 2"):
        QuadraticDiscriminantAnalysis().fit(X, np.where(np.arange(len(X)) == 3, 2, y))
    with pytest.raises(ValueError, match="normalizer='n-1'"):
        QuadraticDiscriminantAnalysis(normalizer="n-1").fit(X, y, sample_weight=np.full(len(X), 0.01))


@pytest.mark.parametrize("options", [{}, {"solver": "eigen", "shrinkage": "auto"}, {"normalizer": "n-1"}], ids=str)
def test_weights_are_repetitions(options):
    X, y = _classes(3)
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    one = QuadraticDiscriminantAnalysis(**options).fit(X, y, sample_weight=weights)
    other = QuadraticDiscriminantAnalysis(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-8)


def test_the_certificate_tells_how_well_the_covariances_are_inverted():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 3)) * [1e-4, 1, 1e4], np.arange(100) % 2
    certificate = QuadraticDiscriminantAnalysis().fit(X, y).certificate_
    assert certificate.converged
    assert certificate.residual < 1e-13
    X[:, 2] = X[:, 0] * (1 + 1e-6 * random.normal(size=100))
    nearly_singular = QuadraticDiscriminantAnalysis(tol=0).fit(X, y).certificate_
    assert nearly_singular.residual > 1e-9
    assert not nearly_singular.converged
