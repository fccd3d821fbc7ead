"""The Bayes classifier: known risks, costs, draws, and densities that are none."""

import io
import pickle

import numpy as np
import pytest
from scipy import stats

import mercer
from mercer.bayes import BayesClassifier
from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis


def rising(x):
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)


def flat(x):
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)


@pytest.mark.parametrize("bounds", [None, (0, 1.75), (-3, 10)])
def test_the_bayes_error_of_the_two_densities_is_an_eighth(bounds):
    model = BayesClassifier([rising, flat], bounds=bounds)
    risk = model.risk()
    assert risk.method == "quadrature"
    assert abs(risk.value - 0.125) <= max(risk.error, 1e-8)  # the common area is .25
    assert model.predict([[0.5], [0.76], [0.99], [1.5]]).tolist() == [0, 0, 0, 1]


def test_normal_laws_have_the_error_of_the_closed_form_at_any_place_and_scale():
    for place, scale in ((0, 1), (-3, 0.01), (0, 100)):
        model = BayesClassifier([stats.norm(place, scale), stats.norm(place + 2 * scale, scale)], classes=["a", "b"])
        assert model.risk().value == pytest.approx(stats.norm.cdf(-1), abs=1e-7)
    far = BayesClassifier([stats.norm(1e6, 1), stats.norm(1e6 + 2, 1)], bounds=(1e6 - 50, 1e6 + 50))
    assert far.risk().value == pytest.approx(stats.norm.cdf(-1), abs=1e-7)


def test_two_features_and_more_have_the_same_error():
    for d in (2, 3):
        means = np.zeros(d), np.eye(d)[0] * 2
        model = BayesClassifier([stats.multivariate_normal(mean) for mean in means])
        risk = model.risk(tol=1e-5, n_samples=20_000, random_state=0)
        assert risk.method == ("quadrature" if d == 2 else "monte_carlo")
        assert abs(risk.value - stats.norm.cdf(-1)) < 4 * risk.error
    assert model.n_features_in_ == 3


def test_draws_and_quadrature_agree():
    model = BayesClassifier([stats.norm(0, 1), stats.norm(1, 2), stats.expon()], priors=[0.2, 0.5, 0.3])
    exact, drawn = model.risk(), model.risk(method="monte_carlo", n_samples=50_000, random_state=0)
    assert abs(exact.value - drawn.value) < 4 * drawn.error < 0.02
    assert drawn == model.risk(method="monte_carlo", n_samples=50_000, random_state=0)


def test_posteriors_are_bayes_rule():
    laws, priors = [stats.norm(0, 1), stats.norm(1, 2)], [0.3, 0.7]
    x = np.linspace(-4, 4, 9)
    joint = np.column_stack([prior * law.pdf(x) for prior, law in zip(priors, laws, strict=True)])
    model = BayesClassifier(laws, priors)
    np.testing.assert_allclose(model.predict_proba(x[:, None]), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(x[:, None])), model.predict_proba(x[:, None]), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(x[:, None]), joint.argmax(axis=1))


def test_where_no_class_can_be_the_priors_decide():
    model = BayesClassifier([rising, flat], priors=[0.4, 0.6])
    np.testing.assert_allclose(model.predict_proba([[9.0]]), [[0.4, 0.6]])


def test_costs_move_the_answer_and_the_risk():
    laws = [stats.norm(-1), stats.norm(1)]
    costs = [[0, 1], [5, 0]]  # to miss the second class costs five
    model = BayesClassifier(laws, costs=costs)
    threshold = -np.log(5) / 2
    assert model.predict([[threshold - 1e-6], [threshold + 1e-6]]).tolist() == [0, 1]
    expected = 0.5 * (stats.norm.sf(threshold + 1) + 5 * stats.norm.cdf(threshold - 1))
    assert model.risk().value == pytest.approx(expected, abs=1e-7)
    assert BayesClassifier(laws).risk().value < model.risk().value


def test_a_fitted_classifier_comes_near_the_bayes_error():
    random = np.random.default_rng(0)
    laws = [stats.multivariate_normal([0, 0]), stats.multivariate_normal([1, 1], [[2, 0.5], [0.5, 1]])]
    y = random.integers(2, size=4_000)
    X = np.where(y[:, None] == 1, laws[1].rvs(4_000, random_state=random), laws[0].rvs(4_000, random_state=random))
    best = BayesClassifier(laws)
    error = 1 - QuadraticDiscriminantAnalysis().fit(X[:2_000], y[:2_000]).score(X[2_000:], y[2_000:])
    assert abs(error - best.risk(tol=1e-4).value) < 0.03
    assert abs(1 - best.score(X, y) - best.risk(tol=1e-4).value) < 0.03


def test_what_is_no_density_is_refused():
    twice = lambda x: 2 * stats.norm.pdf(x)  # noqa: E731
    with pytest.raises(ValueError, match="class 1 integrates to 2 "):
        BayesClassifier([stats.norm(), twice]).risk()
    with pytest.raises(ValueError, match=r"integrates to 0.5"):
        BayesClassifier([stats.norm(), stats.norm()], bounds=(0, 50)).risk()
    with pytest.raises(ValueError, match="densities must be numbers >= 0"):
        BayesClassifier([stats.norm(), lambda x: -np.ones_like(x)]).predict([[0.0]])
    with pytest.raises(TypeError, match=r"densities\[1\]"):
        BayesClassifier([stats.norm(), 3])
    with pytest.raises(TypeError, match="rvs"):
        BayesClassifier([rising, flat]).risk(method="monte_carlo")


def test_arguments_that_do_not_fit_are_refused():
    laws = [stats.norm(), stats.norm(1)]
    for options, message in (
        ({"classes": ["a", "a"]}, "different labels"),
        ({"costs": [[0, 1]]}, "2 x 2"),
        ({"bounds": (1, 0)}, "low < high"),
        ({"priors": [1, 2, 3]}, "Number of priors"),
        ({"n_features": 2}, "same number"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesClassifier(laws, **options)
    with pytest.raises(ValueError, match="shape"):
        BayesClassifier(laws).predict([0.0])
    with pytest.raises(ValueError, match="NaN"):
        BayesClassifier(laws).predict([[np.nan]])
    with pytest.warns(UserWarning, match="do not sum to 1"):
        np.testing.assert_allclose(BayesClassifier(laws, [1, 3]).priors_, [0.25, 0.75])


LAWS = {
    "one feature": [stats.norm(0, 1), stats.expon(scale=0.5)],
    "two features": [stats.multivariate_normal([0, 1]), stats.multivariate_normal([1, 0], [[2.0, 0.5], [0.5, 1.0]])],
}


@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
def test_a_classifier_of_laws_comes_back_from_a_file_and_from_a_pickle(laws, tmp_path):
    model = BayesClassifier(laws, [0.3, 0.7], classes=["a", "b"], costs=[[0, 1], [5, 0]], bounds=(-9, 9))
    mercer.save(model, tmp_path / "model.mercer")
    X = np.random.default_rng(0).normal(size=(20, model.n_features_in_))
    for loaded in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.risk(tol=1e-4) == model.risk(tol=1e-4)


def test_functions_as_densities_are_in_no_file_and_the_error_says_which():
    with pytest.raises(TypeError, match=r"model.densities\[1\]: a Python function \(flat\) cannot be stored"):
        mercer.save(BayesClassifier([stats.norm(), flat]), io.BytesIO())
