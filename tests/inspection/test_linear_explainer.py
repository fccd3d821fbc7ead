"""`LinearExplainer`: the definition with independent and correlated features, every linear model, and what is not linear."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.inspection import Background, LinearExplainer, _conditional_linear as conditional
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from tests.reference.shapley import conditional_game, model_game, shapley_values


@pytest.fixture
def table():
    random = np.random.RandomState(0)
    X = random.randn(60, 5) @ random.randn(5, 5)
    return X, X @ [1.0, -2.0, 0.5, 0.0, 3.0]


def test_independent_features_give_what_they_differ_from_the_mean(table):
    X, y = table
    model = Ridge().fit(X, np.column_stack([y, X[:, 0]]))
    weights = np.arange(1.0, 21)
    explanation = LinearExplainer(model, Background(X[:20], weights))(X[20:23])
    for place, row in enumerate(X[20:23]):
        wanted = shapley_values(model_game(model.predict, row, X[:20], weights), 5)
        assert np.allclose(explanation.values[place], wanted, rtol=0, atol=1e-10)
    assert explanation.additivity_error < 1e-12


def test_correlated_features_share_what_they_know(table):
    X, y = table
    model = Ridge().fit(X, np.column_stack([y, X[:, 0]]))
    explanation = LinearExplainer(model, X, feature_perturbation="correlation_dependent")(X[:3])
    mean, covariance = X.mean(axis=0), np.cov(X.T)
    for place, row in enumerate(X[:3]):
        wanted = shapley_values(conditional_game(model.coef_, model.intercept_, mean, covariance, row), 5)
        assert np.allclose(explanation.values[place], wanted, rtol=0, atol=1e-9)
    assert explanation.additivity_error < 1e-12
    same = LinearExplainer((model.coef_, model.intercept_), (mean, covariance), feature_perturbation="correlation_dependent")
    assert np.allclose(same(X[:3]).values, explanation.values, rtol=0, atol=1e-9)


def test_sampled_orders_come_near_with_the_errors_that_they_say(table, monkeypatch):
    X, y = table
    model = Ridge().fit(X, y)
    exact = LinearExplainer(model, X, feature_perturbation="correlation_dependent")(X[:10])
    monkeypatch.setattr(conditional, "MOST_EXACT", 0)
    scaled = []
    for seed in range(20):
        explainer = LinearExplainer(model, X, "identity", 400, "correlation_dependent", random_state=seed)
        explanation = explainer(X[:10])
        scaled.append((explanation.values - exact.values) / explanation.standard_errors)
        assert explanation.additivity_error < 1e-9
    assert 0.85 < np.std(scaled) < 1.25
    assert abs(np.mean(scaled)) < 0.15


def test_copies_of_a_column_share_evenly_and_constant_columns_keep_their_own():
    random = np.random.RandomState(1)
    one = random.randn(40)
    X = np.column_stack([one, one, random.randn(40), np.ones(40)])
    explainer = LinearExplainer(([2.0, 0.0, 1.0, 5.0], 0.0), X, feature_perturbation="correlation_dependent")
    explanation = explainer(np.array([[1.0, 1.0, 0.5, 3.0]]))
    assert explanation.values[0, 0] == pytest.approx(explanation.values[0, 1], abs=1e-9)
    assert explanation.values[0, 3] == pytest.approx(10.0)
    assert explanation.additivity_error < 1e-9


def linear_models():
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.linear_model import PoissonRegressor
    from sklearn.svm import SVC

    from mercer.discriminant_analysis import LinearDiscriminantAnalysis
    from mercer.linear_model import Lasso, RidgeClassifier, SGDClassifier
    from mercer.svm import LinearSVC

    two, three = (lambda y: y > 0), (lambda y: np.digitize(y, [-2, 2]))
    positive = lambda y: np.exp(y / 10)  # noqa: E731
    return [
        (LinearRegression(), lambda y: y, "linear, "),
        (Lasso(alpha=0.1), lambda y: y, "linear, "),
        (LogisticRegression(), two, "linear, "),
        (LogisticRegression(), three, "linear, "),
        (RidgeClassifier(), three, "linear, "),
        (SGDClassifier(random_state=0), two, "linear, "),
        (LinearSVC(), three, "linear, "),
        (LinearDiscriminantAnalysis(), three, "linear, "),
        (SVC(kernel="linear"), two, "linear, "),
        (PLSRegression(2), lambda y: y, "linear, "),
        (PoissonRegressor(), positive, "linear of logarithms, "),
    ]


@pytest.mark.parametrize("place", range(11))
def test_every_linear_model_is_taken(table, place):
    X, y = table
    model, target, words = linear_models()[place]
    model.fit(X, target(y))
    assert LinearExplainer.unsuited(model, X) is None
    explanation = LinearExplainer(model, X)(X[:5])
    assert explanation.additivity_error < 1e-9
    assert explanation.method.startswith(words)
    assert explanation.values.ndim == (3 if hasattr(model, "classes_") and len(model.classes_) > 2 else 2)
    again = pickle.loads(pickle.dumps(LinearExplainer(model, X)))
    assert np.array_equal(again.shap_values(X[:5]), explanation.values)


def test_rows_may_be_sparse_and_classes_chosen():
    X = sp.random(50, 8, 0.3, format="csr", random_state=0)
    y = np.array(["a", "b", "c"])[np.arange(50) % 3]
    model = LogisticRegression().fit(X, y)
    dense, sparse = LinearExplainer(model, X.toarray())(X.toarray()), LinearExplainer(model, X)(X)
    assert np.allclose(sparse.values, dense.values, rtol=0, atol=1e-14)
    assert list(sparse.output_names) == ["a", "b", "c"]
    one = LinearExplainer(model, X, class_of_interest="c")(X)
    assert np.allclose(one.values, sparse[..., "c"].values, rtol=0, atol=1e-14)
    two = LogisticRegression().fit(X, y == "a")
    no = LinearExplainer(two, X, class_of_interest=False, link="logit")
    assert np.allclose(no.shap_values(X), -LinearExplainer(two, X).shap_values(X), rtol=0, atol=1e-14)


def test_what_is_not_linear_is_refused(table):
    from mercer.naive_bayes import GaussianNB
    from mercer.svm import SVC

    X, y = table
    assert "has no coef_" in LinearExplainer.unsuited(GaussianNB().fit(X, y > 0), X)
    assert LinearExplainer.unsuited(SVC().fit(X, y > 0), X) is not None
    assert LinearExplainer.unsuited(Ridge().fit(X, y), None) == "it needs background rows"

    class Bent(LinearRegression):
        def predict(self, X):
            return np.abs(super().predict(X)) - 100

    with pytest.raises(ValueError, match="what Bent gives is not linear"):
        LinearExplainer(Bent().fit(X, y), X)
    with pytest.raises(ValueError, match="link='logit' is not valid"):
        LinearExplainer(Ridge().fit(X, y), X, link="logit")
    with pytest.raises(ValueError, match="groups is not valid with"):
        LinearExplainer(Ridge().fit(X, y), X, "identity", 10, "correlation_dependent", groups={"a": [0, 1]})
    with pytest.raises(ValueError, match="4 columns; it must have the 5"):
        LinearExplainer(Ridge().fit(X, y), X)(X[:, :4])
    with pytest.raises(ValueError, match="data holds words"):
        LinearExplainer(Ridge().fit(X, y), [["a"] * 5])


def test_values_are_those_of_shap(table):
    shap = pytest.importorskip("shap", reason="compares with the package shap where it is installed")
    X, y = table
    model = LinearRegression().fit(X, y)
    theirs = shap.LinearExplainer(model, shap.maskers.Independent(X, max_samples=100)).shap_values(X[:5])
    assert np.allclose(LinearExplainer(model, X).shap_values(X[:5]), theirs, rtol=0, atol=1e-10)
    np.random.seed(0)
    theirs = shap.LinearExplainer(model, shap.maskers.Impute(X), nsamples=4000).shap_values(X[:5])
    ours = LinearExplainer(model, X, feature_perturbation="correlation_dependent").shap_values(X[:5])
    assert np.abs(ours - theirs).max() < 0.05 * np.abs(theirs).max()
