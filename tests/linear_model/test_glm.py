"""Generalised linear models: equal to scikit-learn, statsmodels and the textbook over families, links, weights and sparsity."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
import statsmodels.api as statsmodels
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import d2_tweedie_score, mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance

from mercer._trace import Status
from mercer.linear_model import Family, GammaRegressor, GeneralizedLinearRegressor, Link, PoissonRegressor, TweedieRegressor
from mercer.linear_model._glm.families import FAMILIES, make_tweedie
from mercer.linear_model._glm.links import LINKS
from mercer.linear_model._glm.loss import is_convex
from tests.reference import glm as reference

# Pairs that are in use: where a fit from data of the model converges, and statsmodels has it.
PAIRS = [
    ("normal", "identity"), ("normal", "log"), ("normal", "inverse"),
    ("bernoulli", "logit"), ("bernoulli", "probit"), ("bernoulli", "cloglog"),
    ("poisson", "log"), ("poisson", "identity"), ("poisson", "sqrt"),
    ("gamma", "log"), ("gamma", "inverse"), ("gamma", "identity"),
    ("inverse_gaussian", "log"), ("inverse_gaussian", "inverse"),
    ("tweedie", "log"), ("tweedie", "identity"),
]  # fmt: skip
THEIR_FAMILIES = {
    "normal": statsmodels.families.Gaussian,
    "bernoulli": statsmodels.families.Binomial,
    "poisson": statsmodels.families.Poisson,
    "gamma": statsmodels.families.Gamma,
    "inverse_gaussian": statsmodels.families.InverseGaussian,
    "tweedie": lambda link: statsmodels.families.Tweedie(link=link, var_power=1.5),
}
links = statsmodels.families.links
THEIR_LINKS = {
    "identity": links.Identity, "log": links.Log, "logit": links.Logit, "probit": links.Probit, "cloglog": links.CLogLog,
    "inverse": links.InversePower, "sqrt": links.Sqrt,
}  # fmt: skip


def make_targets(family, mean, random):
    n = len(mean)
    draws = {
        "normal": lambda: mean + 0.3 * random.normal(size=n),
        "bernoulli": lambda: (random.random(n) < mean).astype(float),
        "poisson": lambda: random.poisson(mean).astype(float),
        "gamma": lambda: random.gamma(3, mean / 3),
        "inverse_gaussian": lambda: random.wald(mean, 5.0),
        "tweedie": lambda: np.where(random.random(n) < 0.3, 0, random.gamma(2, mean / 2)),
    }
    return draws[family]()


def make_data(family, link="log", n=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) * [1, 2, 0.5] + [0, 1, 5]
    value = (X - X.mean(axis=0)) @ [0.3, -0.1, 0.2]
    scaled = {"identity": value + 3, "inverse": 0.5 * value + 2.5, "sqrt": 0.5 * value + 2, "log": value + 1}.get(link, value)
    return X, make_targets(family, np.maximum(LINKS[link].inverse(scaled), 0.05), random)


def uniform_weights(n, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 3, size=n)


# ---- inference


def statsmodels_fit(X, y, family, link, weights=None, offset=None, fit_intercept=True):
    exog = np.column_stack([np.ones(len(y)), X]) if fit_intercept else X
    model = statsmodels.GLM(
        y, exog, family=THEIR_FAMILIES[family](link=THEIR_LINKS[link]()), var_weights=weights, offset=offset
    )
    return model.fit(maxiter=300, tol=1e-14)


def assert_equal(ours, theirs, rtol=1e-5):
    pairs = {
        "coef": theirs.params, "std_err": theirs.bse, "z": theirs.tvalues, "p_value": theirs.pvalues,
        "conf_int": theirs.conf_int(ours.alpha), "deviance": theirs.deviance, "null_deviance": theirs.null_deviance,
        "pearson_chi2": theirs.pearson_chi2, "log_likelihood": theirs.llf, "aic": theirs.aic, "bic": theirs.bic_llf,
        "scale": theirs.scale, "n_obs": theirs.nobs, "df_resid": theirs.df_resid, "df_model": theirs.df_model,
    }  # fmt: skip
    for name, expected in pairs.items():
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=rtol, atol=1e-9, err_msg=name)


@pytest.mark.filterwarnings("ignore:.*domain:statsmodels.tools.sm_exceptions.DomainWarning")
@pytest.mark.filterwarnings("ignore:The .* link function does not respect")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("family", "link"), PAIRS)
def test_the_summary_equals_statsmodels(family, link, weighted, make):
    X, y = make_data(family, link)
    weights = uniform_weights(len(y)) if weighted else None
    model = GeneralizedLinearRegressor(family, link, tol=1e-10).fit(make(X), y, weights)
    assert model.certificate_.converged
    assert_equal(model.summary(alpha=0.1), statsmodels_fit(X, y, family, link, weights))


def test_offsets_and_fits_without_intercept_equal_statsmodels():
    X, y = make_data("poisson")
    offset = np.log(uniform_weights(len(y)))
    model = GeneralizedLinearRegressor("poisson", tol=1e-10).fit(X, y, offset=offset)
    assert_equal(model.summary(), statsmodels_fit(X, y, "poisson", "log", offset=offset))
    np.testing.assert_allclose(model.predict(X, offset=offset), model.predict(X) * np.exp(offset), rtol=1e-12)
    with pytest.raises(ValueError, match="offset has shape"):
        model.fit(X, y, offset=offset[:-1])
    model = GeneralizedLinearRegressor("gamma", fit_intercept=False, tol=1e-10).fit(X, y + 1)
    theirs = statsmodels_fit(X, y + 1, "gamma", "log", fit_intercept=False)
    np.testing.assert_allclose(model.summary().std_err, theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(model.summary().deviance, theirs.deviance, rtol=1e-8)


def test_an_offset_with_weights_is_a_rate_with_exposure():
    X, y = make_data("poisson")
    exposure = uniform_weights(len(y))
    one = GeneralizedLinearRegressor("poisson", tol=1e-10).fit(X, y, offset=np.log(exposure))
    other = GeneralizedLinearRegressor("poisson", tol=1e-10).fit(X, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7)


def test_rows_of_weight_zero_are_not_counted_by_the_summary():
    X, y = make_data("gamma")
    weights = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    kept = weights > 0
    ours = GammaRegressor(alpha=0, tol=1e-10).fit(X, y, weights).summary()
    assert_equal(ours, statsmodels_fit(X[kept], y[kept], "gamma", "log", weights[kept]))


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (PoissonRegressor(), lambda X: X, "alpha=1"),
        (PoissonRegressor(alpha=0), lambda X: X[:, [0, 1, 1]], "singular"),
        (PoissonRegressor(alpha=0), lambda X: X[:4], "4 rows of positive weight"),
    ],
)
def test_where_there_is_no_inference_the_reason_is_given(model, change, message):
    X, y = make_data("poisson")
    X = change(X)
    model.fit(X, y[: len(X)])
    with pytest.raises(ValueError, match=message):
        model.summary()


def test_what_a_fit_keeps_does_not_grow_with_the_rows():
    import pickle

    sizes = [len(pickle.dumps(PoissonRegressor(alpha=0).fit(*make_data("poisson", n=n)))) for n in (100, 10_000)]
    assert abs(sizes[0] - sizes[1]) < 1000


# ---- coefficients


@pytest.mark.sampled(11)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize(
    ("ours", "theirs", "params", "family"),
    [
        (PoissonRegressor, peer.PoissonRegressor, {}, "poisson"),
        (GammaRegressor, peer.GammaRegressor, {}, "gamma"),
        (TweedieRegressor, peer.TweedieRegressor, {"power": 1.5}, "tweedie"),
        (TweedieRegressor, peer.TweedieRegressor, {"power": 0}, "normal"),
        (TweedieRegressor, peer.TweedieRegressor, {"power": 3}, "inverse_gaussian"),
        (TweedieRegressor, peer.TweedieRegressor, {"power": 0, "link": "log"}, "gamma"),
    ],
)
def test_coefficients_equal_scikit_learn(ours, theirs, params, family, alpha, make, weighted, fit_intercept):
    X, y = make_data(family)
    X = X / 2
    weights = uniform_weights(len(y)) if weighted else None
    params = {**params, "alpha": alpha, "fit_intercept": fit_intercept, "tol": 1e-8, "max_iter": 2000}
    model, twin = ours(**params).fit(make(X), y, weights), theirs(**params).fit(X, y, weights)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.predict(make(X)), twin.predict(X), rtol=1e-4)
    np.testing.assert_allclose(model.score(make(X), y, weights), twin.score(X, y, weights), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("family", "link"), [pair for pair in PAIRS if pair[0] != "tweedie" and pair[1] in reference.LINKS])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_coefficients_equal_the_textbook(family, link, alpha):
    X, y = make_data(family, link)
    weights = uniform_weights(len(y))
    model = GeneralizedLinearRegressor(family, link, alpha=alpha, tol=1e-11).fit(X, y, weights)
    coef = reference.irls(X, y, family, link, weights, alpha)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), coef, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("family", "link"), PAIRS)
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_penalised_fits_are_stationary_and_their_gap_is_small_where_there_is_one(family, link, alpha):
    X, y = make_data(family, link)
    model = GeneralizedLinearRegressor(family, link, alpha=alpha, tol=1e-8).fit(X, y)
    certificate, law = model.certificate_, model._family
    assert certificate.converged
    mean, value = model.predict(X), X @ model.coef_ + model.intercept_
    slopes = (mean - y) * LINKS[link].derivative(value) / law.variance(mean) / len(y)
    np.testing.assert_allclose(X.T @ slopes + alpha * model.coef_, 0, atol=1e-6)
    assert abs(slopes.sum()) < 1e-7
    assert (certificate.gap is not None) == is_convex(law, LINKS[link])
    if certificate.gap is not None:
        assert 0 <= certificate.gap <= 1e-8 * abs(certificate.primal)
        best = GeneralizedLinearRegressor(family, link, alpha=alpha, tol=1e-13).fit(X, y).certificate_.primal
        for record in model.history_:
            assert record["gap"] >= record["objective"] - best * len(y) - 1e-9 * abs(best * len(y))


def test_the_objective_is_scikit_learns():
    X, y = make_data("poisson")
    model = PoissonRegressor(alpha=0.3, tol=1e-8).fit(X, y)
    raw = X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.certificate_.primal, np.mean(np.exp(raw) - y * raw) + 0.15 * model.coef_ @ model.coef_)


# ---- families and links


@pytest.mark.parametrize("power", [-1.5, 0, 1, 1.5, 2, 2.5, 3])
def test_deviances_equal_scikit_learns_metrics(power):
    random = np.random.default_rng(0)
    y, mean, weights = random.gamma(2, size=50), random.gamma(2, size=50), random.random(50)
    deviance = np.average(make_tweedie(power).unit_deviance(y, mean), weights=weights)
    np.testing.assert_allclose(deviance, mean_tweedie_deviance(y, mean, sample_weight=weights, power=power), rtol=1e-10)


def test_deviances_at_the_border_of_the_domain_are_finite():
    y, mean = np.array([0.0, 0.0, 1.0]), np.array([0.5, 1e-300, 2.0])
    np.testing.assert_allclose(FAMILIES["poisson"].unit_deviance(y, mean).mean(), mean_poisson_deviance(y, mean))
    np.testing.assert_allclose(FAMILIES["gamma"].unit_deviance(y + 1, mean + 1).mean(), mean_gamma_deviance(y + 1, mean + 1))
    assert np.isfinite(FAMILIES["bernoulli"].unit_deviance(y, np.array([0.0, 0.5, 1.0]))).all()


@pytest.mark.parametrize("family", [*FAMILIES.values(), make_tweedie(1.5), make_tweedie(-1)], ids=lambda family: family.name)
def test_the_loss_is_half_the_deviance_and_its_slope_is_that_of_the_variance(family):
    random = np.random.default_rng(0)
    y, mean, step = random.uniform(0.1, 0.9, size=20), random.uniform(0.1, 0.9, size=20), 1e-6
    other = random.uniform(0.1, 0.9, size=20)
    np.testing.assert_allclose(
        family.loss(y, mean) - family.loss(y, other),
        (family.unit_deviance(y, mean) - family.unit_deviance(y, other)) / 2,
        rtol=1e-8,
        atol=1e-10,
    )
    numeric = (family.loss(y, mean + step) - family.loss(y, mean - step)) / (2 * step)
    np.testing.assert_allclose(numeric, (mean - y) / family.variance(mean), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(family.unit_deviance(y, y), 0, atol=1e-12)


@pytest.mark.parametrize("link", LINKS.values(), ids=lambda link: link.name)
def test_links_are_inverted_and_differentiated(link):
    mean, step = np.linspace(0.05, 0.95, 20), 1e-6
    value = link.link(mean)
    np.testing.assert_allclose(link.inverse(value), mean, rtol=1e-12)
    np.testing.assert_allclose(
        link.derivative(value), (link.inverse(value + step) - link.inverse(value - step)) / (2 * step), rtol=1e-6
    )


@pytest.mark.parametrize("power", [1.1, 1.5, 1.9])
def test_the_tweedie_density_adds_up_to_one(power):
    family, grid = make_tweedie(power), np.linspace(1e-4, 40, 20_001)
    at = np.append(0.0, grid)
    density = np.exp(family.log_likelihood(at, np.full_like(at, 2.0), np.full_like(at, 1.5), 0.9))
    np.testing.assert_allclose(density[0] + np.trapezoid(density[1:], grid), 1, atol=5e-3)


def test_a_family_and_a_link_of_the_users_own_will_do():
    class Mine(Family):
        name, default_link, least_mean, targets = "mine", "log", 0.0, "y >= 0"

        def allows(self, y):
            return y >= 0

        def variance(self, mean):
            return mean

        def unit_deviance(self, y, mean):
            return FAMILIES["poisson"].unit_deviance(y, mean)

    class Logarithm(Link):
        name = "logarithm"
        link, inverse, derivative = (staticmethod(f) for f in (np.log, np.exp, np.exp))

    X, y = make_data("poisson")
    expected = PoissonRegressor(alpha=0.1, tol=1e-10).fit(X, y)
    for link in ("auto", Logarithm()):
        model = GeneralizedLinearRegressor(Mine(), link, alpha=0.1, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
        assert model.certificate_.method == "Fisher scoring"
        assert model.certificate_.gap is None  # nothing is known about its convexity
    with pytest.raises(ValueError, match=r"y\[2\]=-1 is not valid for the mine family; it must be y >= 0"):
        GeneralizedLinearRegressor(Mine()).fit(X[:4], [1, 2, -1, 3])


# ---- the domain, and its borders


@pytest.mark.parametrize(
    ("model", "bad", "message"),
    [
        (PoissonRegressor(), -1.0, r"y\[3\]=-1 is not valid for the poisson family; it must be y >= 0"),
        (GammaRegressor(), 0.0, r"y\[3\]=0 is not valid for the gamma family; it must be y > 0"),
        (TweedieRegressor(power=1.5), -0.1, r"y\[3\]=-0.1"),
        (TweedieRegressor(power=3), 0.0, r"y\[3\]=0"),
        (
            GeneralizedLinearRegressor("bernoulli"),
            1.5,
            r"y\[3\]=1.5 is not valid for the bernoulli family; it must be in \[0, 1\]",
        ),
    ],
)
def test_targets_outside_the_domain_are_named(model, bad, message):
    X, y = make_data("bernoulli", "logit")
    y = y / 2 + 0.25
    model.fit(X, y)
    y[3] = bad
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.score(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"family": "beta"}, "family='beta'"),
        ({"family": "tweedie", "power": 0.5}, "power=0.5"),
        ({"family": "multinoulli", "link": "log"}, "link='log'"),
        ({"family": "multinoulli", "warm_start": True}, "warm_start"),
        ({"link": "square"}, "link='square'"),
        ({"alpha": -1}, "alpha=-1"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearRegressor(**params).fit(*make_data("gamma"))
    if "power" in params:
        with pytest.raises(ValueError, match=message):
            TweedieRegressor(power=params["power"]).fit(*make_data("gamma"))


@pytest.mark.parametrize("link", ["log", "identity", "sqrt"])
def test_targets_that_are_all_zero_have_a_mean_of_nearly_zero(link):
    X, _ = make_data("poisson")
    model = GeneralizedLinearRegressor("poisson", link, alpha=0.1, tol=1e-4).fit(X, np.zeros(len(X)))
    assert (model.predict(X) < 0.05).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_targets_of_one_class_have_a_probability_near_it(value):
    X, _ = make_data("bernoulli", "logit")
    model = GeneralizedLinearRegressor("bernoulli", alpha=0.1, tol=1e-4).fit(X, np.full(len(X), value))
    np.testing.assert_allclose(model.predict(X), value, atol=1e-2)


@pytest.mark.parametrize(
    "model", [PoissonRegressor(alpha=1e-6), GammaRegressor(alpha=1e-6), TweedieRegressor(power=1.5, alpha=1e-6)]
)
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_targets_far_from_one_do_not_overflow(model, unit):
    X, y = make_data("gamma")
    without = type(model)(**{**model.get_params(), "fit_intercept": False, "max_iter": 500})
    for candidate in (model, without):
        candidate.fit(X, y * unit)
        assert np.isfinite(candidate.predict(X)).all()
    np.testing.assert_allclose(model.fit(X, y * unit).predict(X).mean(), y.mean() * unit, rtol=0.05)


def test_a_constant_target_is_met():
    X, _ = make_data("poisson")
    model = PoissonRegressor().fit(X, np.full(len(X), 7.0))
    np.testing.assert_allclose(model.predict(X), 7, rtol=1e-6)
    assert model.score(X, np.full(len(X), 7.0)) in (0.0, 1.0)


def test_the_score_is_the_share_of_deviance_explained():
    X, y = make_data("tweedie")
    weights = uniform_weights(len(y))
    model = TweedieRegressor(power=1.5, alpha=0.1).fit(X, y)
    expected = d2_tweedie_score(y, model.predict(X), sample_weight=weights, power=1.5)
    np.testing.assert_allclose(model.score(X, y, weights), expected, rtol=1e-10)


@pytest.mark.parametrize("shape", [(5, 20), (30, 30)])
def test_more_columns_than_rows_do_no_harm(shape):
    random = np.random.default_rng(0)
    X, y = random.normal(size=shape), random.poisson(2, size=shape[0])
    model = PoissonRegressor(alpha=0.1, tol=1e-8).fit(X, y)
    assert model.certificate_.converged
    np.testing.assert_allclose(
        model.coef_, peer.PoissonRegressor(alpha=0.1, tol=1e-9, solver="newton-cholesky").fit(X, y).coef_, atol=1e-6
    )


def test_no_start_inside_the_domain_is_an_error_that_says_so():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    with pytest.raises(ValueError, match="link='identity' gives means outside the poisson family's domain"):
        GeneralizedLinearRegressor("poisson", "identity", fit_intercept=False).fit(X, [1, 2, 3, 4])


# ---- iteration


@pytest.mark.parametrize("order", ["shuffled", "sorted", "zero weights where it looks"])
def test_a_rough_start_on_some_rows_changes_the_way_and_not_the_end(order, monkeypatch):
    X, y = make_data("gamma", n=4000)
    if order == "sorted":
        rows = np.argsort(y)
        X, y = X[rows], y[rows]
    weights = np.ones(len(y))
    if order == "zero weights where it looks":
        weights[::40] = 0
    plain = GammaRegressor(alpha=1e-3, tol=1e-10).fit(X, y, weights)
    monkeypatch.setattr("mercer.linear_model._glm.glm.ROUGH_ROWS", 100)
    monkeypatch.setattr("mercer.linear_model._glm.glm.ROUGH_ROWS_PER_COLUMN", 10)
    model = GammaRegressor(alpha=1e-3, tol=1e-10).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-7)
    assert model.history_[0]["objective"] != plain.history_[0]["objective"] or order == "zero weights where it looks"


@pytest.mark.parametrize("is_sparse", [False, True])
def test_many_columns_take_l_bfgs_to_the_same_minimum(is_sparse, monkeypatch):
    X, y = make_data("poisson")
    rows = sp.csr_array(X) if is_sparse else X
    expected = PoissonRegressor(alpha=0.01, tol=1e-9).fit(rows, y)
    monkeypatch.setattr("mercer.linear_model._glm.glm.MOST_HESSIAN_COLUMNS", 2)
    model = PoissonRegressor(alpha=0.01, tol=1e-9, max_iter=500).fit(rows, y)
    assert model.certificate_.method == "L-BFGS"
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    assert PoissonRegressor(solver="newton-cholesky").fit(rows, y).certificate_.method == "Newton's method"
    with pytest.raises(ValueError, match="solver='newton-cholesky'"):
        PoissonRegressor(alpha=0, max_iter=500).fit(rows, y).summary()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("n_columns", [6, 12])
def test_sparse_rows_reach_what_newtons_method_reaches(n_columns, alpha, fit_intercept):
    random = np.random.default_rng(n_columns)
    X = (random.random((400, n_columns)) < 0.3) * random.exponential(size=(400, n_columns))
    X *= 10.0 ** random.uniform(-1, 1, n_columns)
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]  # which curvatures of single columns do not tell: a Hessian ends it
    y = random.poisson(np.exp(X @ random.normal(size=n_columns) / np.abs(X).sum(axis=1).max())).astype(float)
    weights = random.exponential(size=400)
    options = {"alpha": alpha, "tol": 1e-9, "fit_intercept": fit_intercept}
    expected = PoissonRegressor(solver="newton-cholesky", **options).fit(X, y, weights)
    model = PoissonRegressor(**options).fit(sp.csr_array(X), y, weights)
    assert model.certificate_.method == "L-BFGS"
    assert model.certificate_.converged
    assert model.n_iter_ <= 40
    np.testing.assert_allclose(model.certificate_.primal, expected.certificate_.primal, rtol=1e-10)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-4)
    assert (model.certificate_.gap is None) == (alpha == 0)


def test_l_bfgs_handles_more_columns_than_a_hessian_would_fit():
    random = np.random.default_rng(0)
    X = sp.random_array((300, 30_000), density=1e-3, rng=random, format="csr")
    y = random.poisson(1 + X[:, :50].sum(axis=1)).astype(float)
    model = PoissonRegressor(alpha=1e-3).fit(X, y)
    assert model.certificate_.method == "L-BFGS"
    assert model.certificate_.converged


@pytest.mark.parametrize(("family", "link"), [("bernoulli", "probit"), ("gamma", "identity"), ("poisson", "sqrt")])
def test_pairs_without_a_native_loss_take_l_bfgs_for_many_columns_alike(family, link, monkeypatch):
    X, y = make_data(family, link)
    expected = GeneralizedLinearRegressor(family, link, alpha=0.01, tol=1e-9).fit(X, y)
    assert expected.certificate_.method == "Fisher scoring"
    monkeypatch.setattr("mercer.linear_model._glm.glm.MOST_HESSIAN_COLUMNS", 2)
    monkeypatch.setattr("mercer.linear_model._glm.loss.MOST_SCORED_COLUMNS", 2)
    model = GeneralizedLinearRegressor(family, link, alpha=0.01, tol=1e-9, max_iter=500, solver="lbfgs").fit(X, y)
    assert model.certificate_.method == "L-BFGS"
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5, atol=1e-7)


def positive_targets(power, seed, is_shifted):
    random = np.random.default_rng(seed)
    X = random.normal(size=(80, 3))
    X = X if is_shifted else np.abs(X)
    return X, np.abs(X @ [1.0, 2, -1] + random.normal(size=80)) + (1 if seed % 2 else 0.01)


@pytest.mark.parametrize("power", [1, 1.3, 1.5, 2, 2.5, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [0, 0.01, 1.0])
@pytest.mark.parametrize("seed", [2, 3])
def test_the_identity_keeps_means_positive_on_the_way_to_the_minimum(power, fit_intercept, alpha, seed):
    X, y = positive_targets(power, seed, fit_intercept)
    model = TweedieRegressor(power=power, link="identity", alpha=alpha, fit_intercept=fit_intercept, tol=1e-7).fit(X, y)
    mean = model.predict(X)
    assert (mean > 0).all()
    assert model.certificate_.converged
    assert model.n_iter_ < 40
    slopes = (mean - y) / mean**power / len(y)  # the condition itself
    np.testing.assert_allclose(X.T @ slopes + alpha * model.coef_, 0, atol=2e-7)
    if fit_intercept:
        assert abs(slopes.sum()) < 2e-7


@pytest.mark.parametrize("power", [1, 1.5])
def test_a_minimum_on_the_border_of_the_domain_is_warned_about_with_the_remedy(power):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = np.maximum(0, np.round(X @ [1.0, 2, -1] + 1))
    with pytest.warns(ConvergenceWarning, match=r"border of the .* family's domain.*use link='log'"):
        model = TweedieRegressor(power=power, link="identity").fit(X, y)
    assert (model.predict(X) > 0).all()
    assert np.isfinite(model.certificate_.residual)


@pytest.mark.parametrize("link", ["identity", "sqrt", "inverse"])
def test_a_start_inside_the_domain_is_found_where_there_is_one(link):
    """Without an intercept, and with columns that least squares would leave the domain with."""
    random = np.random.default_rng(1)
    X = np.c_[np.full(60, 0.05), random.normal(size=(60, 2))]
    y = random.gamma(2.0, size=60) ** 3 + 1e-3
    model = GeneralizedLinearRegressor("gamma", link, alpha=0.1, fit_intercept=False).fit(X, y)
    assert (model.predict(X) > 0).all()
    assert model.certificate_.converged


def test_a_row_of_weight_zero_may_lie_outside_the_domain():
    X, y = positive_targets(1.5, 3, is_shifted=True)
    far = np.vstack([X, [[-50.0, -50, 50]]])
    weights = np.append(np.ones(len(y)), 0.0)
    options = {"power": 1.5, "link": "identity", "alpha": 0.1, "tol": 1e-9}
    expected = TweedieRegressor(**options).fit(X, y)
    model = TweedieRegressor(**options).fit(far, np.append(y, 1.0), weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


def test_a_warm_start_goes_on_where_the_earlier_fit_ended():
    X, y = make_data("poisson")
    model = PoissonRegressor(alpha=0.1, warm_start=True, tol=1e-8).fit(X, y)
    n_cold = model.n_iter_
    assert model.fit(X, y).n_iter_ == 1 < n_cold
    with pytest.raises(ValueError, match="warm_start=True needs the features"):
        model.fit(X[:, :2], y)


def test_too_few_iterations_give_one_warning_with_the_figure_and_the_remedy():
    X, y = make_data("poisson")
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=1: the largest entry of the gradient is .* Raise max_iter"
    ) as caught:
        model = PoissonRegressor(alpha=0.1, max_iter=1, tol=1e-10).fit(X, y)
    assert len(caught) == 1
    assert model.certificate_.status is Status.MAX_ITER


def _classes(seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 3))
    scores = X @ random.normal(size=(3, 4)) + random.gumbel(size=(300, 4))
    return X, np.array(["a", "b", "c", "d"])[scores.argmax(axis=1)]


def test_multinoulli_targets_are_fitted_as_statsmodels_fits_them():
    X, y = _classes()
    model = GeneralizedLinearRegressor("multinoulli", tol=1e-10).fit(X, y)
    expected = statsmodels.MNLogit(np.unique(y, return_inverse=True)[1], statsmodels.add_constant(X)).fit(
        disp=0, method="newton"
    )
    np.testing.assert_allclose(model.predict(X), expected.predict(), rtol=1e-6)
    found = model.summary()
    np.testing.assert_allclose(found.std_err.reshape(3, 4).T, expected.bse, rtol=1e-5)
    assert found.log_likelihood == pytest.approx(expected.llf)
    assert model.score(X, y) == pytest.approx(expected.prsquared)
    assert list(model.classes_) == ["a", "b", "c", "d"]
    assert model.certificate_.converged


def test_multinoulli_targets_take_penalties_weights_and_other_families_afterwards():
    X, y = _classes(1)
    weights = np.random.default_rng(2).integers(1, 3, size=len(y))
    model = GeneralizedLinearRegressor("multinoulli", alpha=0.1, tol=1e-10).fit(X, y, weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.predict(X), repeated.predict(X), rtol=1e-6)
    with pytest.raises(ValueError, match="penalised"):
        model.summary()
    with pytest.raises(ValueError, match="'e'"):
        model.score(X[:1], ["e"])
    again = model.set_params(family="normal", alpha=0.0).fit(X, X[:, 0])
    np.testing.assert_allclose(again.predict(X), X[:, 0], atol=1e-8)
