"""Linear discriminant analysis: the closed form, scikit-learn's answers, and data on which both are hard to compute."""

import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from hypothesis import given, settings, strategies as st
from sklearn.covariance import OAS

from mercer.discriminant_analysis import LinearDiscriminantAnalysis
from tests.reference import generative as reference

SOLVERS = ("svd", "lsqr", "eigen")


def _classes(n_classes=3, n=60, d=4, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    mixing = random.normal(size=(d, d))
    return random.normal(size=(n, d)) @ mixing + 2 * random.normal(size=(n_classes, d))[y], y


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("normalizer", ["n", "n-K"])
def test_discriminant_scores_are_the_closed_form(solver, normalizer):
    X, y = _classes(3)
    model = LinearDiscriminantAnalysis(solver=solver, normalizer=normalizer).fit(X, y)
    divisor = len(X) if normalizer == "n" else len(X) - 3
    expected = reference.linear_scores(X, y, X, divisor)
    np.testing.assert_allclose(model.discriminant_scores(X), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_rule_of_two_classes_is_that_of_the_notes(solver):
    X, y = _classes(2)
    y = 2 * y - 1
    model = LinearDiscriminantAnalysis(solver=solver, normalizer="n-K").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), reference.rule_of_two(X, y, X), rtol=1e-8, atol=1e-9)


OPTIONS = [
    {},
    {"store_covariance": True},
    {"priors": [0.2, 0.3, 0.5]},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "lsqr", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "covariance_estimator": OAS()},
    {"n_components": 1},
]


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 6))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_the_peers(options, seed, d):
    X, y = _classes(3, 50, d, seed)
    mine, yours = (cls(**options).fit(X, y) for cls in (LinearDiscriminantAnalysis, peer.LinearDiscriminantAnalysis))
    for name in ("coef_", "intercept_", "means_", "priors_", "covariance_", "explained_variance_ratio_", "xbar_"):
        assert hasattr(mine, name) == hasattr(yours, name), name
        if hasattr(yours, name):
            expected = getattr(yours, name)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(getattr(mine, name), expected, rtol=1e-6, atol=1e-8 * scale, err_msg=name)
    np.testing.assert_allclose(mine.predict_proba(X), yours.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(mine.decision_function(X), yours.decision_function(X), rtol=1e-6, atol=1e-7)
    if options.get("solver") != "lsqr":  # the sign of a direction is anybody's
        np.testing.assert_allclose(np.abs(mine.transform(X)), np.abs(yours.transform(X)), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_data_far_from_the_origin_keep_their_digits(solver):
    X, y = _classes(3)
    expected = LinearDiscriminantAnalysis(solver=solver).fit(X, y).predict_proba(X)
    found = LinearDiscriminantAnalysis(solver=solver).fit(X + 1e7, y).predict_proba(X + 1e7)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_units_do_not_matter(solver):
    X, y = _classes(3)
    units = np.array([1e-9, 1.0, 1e6, 1e-3])
    expected = LinearDiscriminantAnalysis(solver=solver).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(
        LinearDiscriminantAnalysis(solver=solver).fit(X * units, y).predict_proba(X * units), expected, atol=1e-7
    )


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_columns_that_say_nothing_new_are_left_out(solver):
    X, y = _classes(3)
    expected = LinearDiscriminantAnalysis(solver=solver).fit(X, y).predict_proba(X)
    more = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 1e6 + 0.1)])
    np.testing.assert_allclose(LinearDiscriminantAnalysis(solver=solver).fit(more, y).predict_proba(more), expected, atol=1e-6)


def test_a_singular_covariance_is_an_error_of_eigen_that_names_the_remedy():
    X, y = _classes(3)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(np.linalg.LinAlgError, match=r"singular.*shrinkage"):
        LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X, y).score(X, y) > 0.5


def test_more_columns_than_rows_have_the_answer_of_the_peer():
    X, y = _classes(3, 20, 50)
    mine, yours = (cls().fit(X, y) for cls in (LinearDiscriminantAnalysis, peer.LinearDiscriminantAnalysis))
    np.testing.assert_allclose(mine.decision_function(X), yours.decision_function(X), rtol=1e-6)


def test_one_class_is_predicted_for_every_row():
    X, _ = _classes()
    for solver in ("svd", "lsqr"):
        model = LinearDiscriminantAnalysis(solver=solver).fit(X, np.full(len(X), "a"))
        assert (model.predict(X) == "a").all()
        assert (model.predict_proba(X) == 1).all()


def test_as_many_rows_as_classes_are_refused():
    with pytest.raises(ValueError, match="more than the number of classes"):
        LinearDiscriminantAnalysis().fit(np.eye(3), [0, 1, 2])


def test_a_class_of_one_row_has_the_covariance_of_the_others():
    X, y = _classes(2, 40)
    X, y = np.vstack([X, X[:1] + 50]), np.append(y, 2)
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(model.predict(X[-1:]), [2])
    np.testing.assert_allclose(model.discriminant_scores(X), reference.linear_scores(X, y, X, len(X)), rtol=1e-8, atol=1e-7)


def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum():
    X, y = _classes(2)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        model = LinearDiscriminantAnalysis(priors=[1, 3]).fit(X, y)
    np.testing.assert_allclose(model.priors_, [0.25, 0.75])
    for priors, message in (([-0.5, 1.5], "non-negative"), ([0.2, 0.3, 0.5], "Number of priors")):
        with pytest.raises(ValueError, match=message):
            LinearDiscriminantAnalysis(priors=priors).fit(X, y)


def test_what_does_not_go_together_is_refused():
    X, y = _classes(2)
    with pytest.raises(NotImplementedError, match="svd"):
        LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
    with pytest.raises(ValueError, match="Only one of the two"):
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1, covariance_estimator=OAS()).fit(X, y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(NotImplementedError, match="lsqr"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).transform(X)


@pytest.mark.parametrize(
    "options", [{}, {"solver": "eigen", "shrinkage": "auto"}, {"solver": "lsqr", "normalizer": "n-K"}], ids=str
)
def test_weights_are_repetitions(options):
    X, y = _classes(3)
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    one = LinearDiscriminantAnalysis(**options).fit(X, y, sample_weight=weights)
    other = LinearDiscriminantAnalysis(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-8)


@pytest.mark.parametrize("shape", [(90, 5), (20, 40)])
@pytest.mark.parametrize("options", [{}, {"solver": "lsqr", "shrinkage": 0.2}, {"solver": "eigen", "shrinkage": 0.2}])
def test_the_certificate_is_of_the_equation_that_was_solved(shape, options):
    random = np.random.default_rng(0)
    X, y = random.normal(size=shape) * 10.0 ** np.linspace(-3, 3, shape[1]), np.arange(shape[0]) % 3
    certificate = LinearDiscriminantAnalysis(**options).fit(X, y).certificate_
    assert certificate.converged
    assert certificate.residual < 1e-12


def test_directions_that_rounding_leaves_no_digits_of_are_told():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3))
    X = np.column_stack([X, X[:, 0] + 1e-7 * random.normal(size=100)])
    y = np.arange(100) % 3
    assert LinearDiscriminantAnalysis().fit(X, y).certificate_.converged  # leaves the direction out
    certificate = LinearDiscriminantAnalysis(tol=0).fit(X, y).certificate_
    assert not certificate.converged
    assert certificate.residual > certificate.tol
