"""Every bound is tested for what it claims: over many draws from a law that is known, it fails no more often than delta."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from mercer.ensemble import AdaBoostClassifier
from mercer.linear_model import Ridge
from mercer.neighbors import KNeighborsClassifier
from mercer.theory import (
    VC,
    Bernstein,
    BinomialTest,
    BoostingMargin,
    Catoni,
    Compression,
    DeletedNeighbors,
    EmpiricalBernstein,
    EmpiricalRademacher,
    FiniteClass,
    Hoeffding,
    Margin,
    Massart,
    McAllester,
    McDiarmid,
    Occam,
    Rademacher,
    RealizableFiniteClass,
    RealizableVC,
    RegularizedLoss,
    Seeger,
    UniformStability,
)

DELTA = 0.1
CHANCE = 1e-6  # of this test to fail a bound that holds


def is_kept(n_violations: int, n_draws: int) -> bool:
    """Whether so many violations are no sign that the bound fails more often than delta."""
    return binom.sf(n_violations - 1, n_draws, DELTA) > CHANCE


def share_of_violations(bounds, truths):
    violations = np.asarray(bounds) < np.asarray(truths)
    assert is_kept(int(violations.sum()), len(violations)), violations.mean()
    return violations.mean()


# ---- means of a fixed loss

P, M, N_DRAWS = 0.1, 60, 4000


def draws_of_errors(seed=0):
    return np.random.RandomState(seed).binomial(M, P, size=N_DRAWS)


MEANS = {
    "Hoeffding": lambda k: Hoeffding(m=M, delta=DELTA, risk=k / M),
    "McDiarmid": lambda k: McDiarmid(m=M, delta=DELTA, risk=k / M),
    "Bernstein": lambda k: Bernstein(m=M, delta=DELTA, risk=k / M, variance=P * (1 - P)),
    "empirical Bernstein": lambda k: EmpiricalBernstein(
        m=M, delta=DELTA, risk=k / M, variance=k / M * (1 - k / M) * M / (M - 1)
    ),
    "binomial": lambda k: BinomialTest(m=M, delta=DELTA, risk=k / M),
}


@pytest.mark.parametrize("name", MEANS)
def test_a_bound_on_a_mean_fails_no_more_often_than_delta(name):
    by_errors = {k: MEANS[name](k).value for k in range(M + 1)}
    share_of_violations([by_errors[k] for k in draws_of_errors()], np.full(N_DRAWS, P))


def test_the_two_sided_hoeffding_bound_holds_on_both_sides():
    shares = draws_of_errors(1) / M
    gap = Hoeffding(m=M, delta=DELTA, two_sided=True).gap
    assert is_kept(int((np.abs(shares - P) > gap).sum()), N_DRAWS)


@pytest.mark.parametrize("name", ["Hoeffding", "binomial"])
def test_this_test_refuses_a_bound_that_is_too_good(name):
    by_errors = {k: k / M + 0.2 * (MEANS[name](k).value - k / M) for k in range(M + 1)}
    n_violations = int((np.array([by_errors[k] for k in draws_of_errors()]) < P).sum())
    assert not is_kept(n_violations, N_DRAWS)


def test_the_binomial_interval_fails_on_each_side_no_more_often_than_half_of_delta():
    ends = np.array([BinomialTest(m=M, delta=DELTA, risk=k / M).interval for k in range(M + 1)])[draws_of_errors(2)]
    for missed in (ends[:, 0] > P, ends[:, 1] < P):
        assert binom.sf(missed.sum() - 1, N_DRAWS, DELTA / 2) > CHANCE


# ---- finite classes


def test_the_best_of_a_finite_class_keeps_its_bound():
    random = np.random.RandomState(0)
    risks = random.binomial(80, 0.3, size=(2000, 50)).min(axis=1) / 80
    gap = FiniteClass(size=50, m=80, delta=DELTA).gap
    assert share_of_violations(risks + gap, np.full(2000, 0.3)) > 0  # and it is not so loose that it is never missed


def test_a_model_of_a_finite_class_without_errors_keeps_its_bound_nearly_with_equality():
    size, m = 200, 152  # so that the bound is just below the risk of every model
    bound = RealizableFiniteClass(size=size, m=m, delta=DELTA)
    assert bound.value < 0.0502
    errors = np.random.RandomState(0).binomial(m, 0.0502, size=(5000, size))
    is_violated = (errors == 0).any(axis=1)
    assert is_kept(int(is_violated.sum()), 5000)
    assert is_violated.mean() > 0.02


def test_the_length_of_a_description_bounds_the_models_of_a_countable_class():
    random, m, lengths = np.random.RandomState(0), 100, np.arange(1, 30)
    gaps = np.array([Occam(bits=float(bits), m=m, delta=DELTA).gap for bits in lengths])
    risks = random.binomial(m, 0.3, size=(3000, len(lengths))) / m
    share_of_violations((risks + gaps).min(axis=1), np.full(3000, 0.3))


def gibbs_draws(n_draws=1500, m=100, size=20, temperature=30.0):
    """Risks of a finite class, and those that a Gibbs posterior of it has on the rows and in truth, with its divergence."""
    random = np.random.RandomState(0)
    risks = np.linspace(0.1, 0.5, size)
    shares = random.binomial(m, risks, size=(n_draws, size)) / m
    posterior = np.exp(-temperature * (shares - shares.min(axis=1, keepdims=True)))
    posterior /= posterior.sum(axis=1, keepdims=True)
    divergence = (posterior * np.log(np.maximum(posterior * size, 1e-300))).sum(axis=1)
    return (posterior * shares).sum(axis=1), posterior @ risks, divergence


@pytest.mark.parametrize("kind", [McAllester, Seeger, Catoni])
def test_a_gibbs_posterior_keeps_the_pac_bayes_bounds(kind):
    empirical, true, divergence = gibbs_draws()
    bounds = [
        kind(m=100, delta=DELTA, risk=float(risk), divergence=max(float(kl), 0.0)).value
        for risk, kl in zip(empirical, divergence, strict=True)
    ]
    share_of_violations(bounds, true)


# ---- thresholds on a line: the class of x > t, with noisy labels of x > 1/2; R(t) = noise + (1 - 2 noise) |t - 1/2|


def threshold_draws(n_draws, m, noise, seed=0):
    """The threshold with the fewest errors, its share of errors, and its risk, of each draw."""
    random = np.random.RandomState(seed)
    x = np.sort(random.uniform(size=(n_draws, m)), axis=1)
    y = (x > 0.5) ^ (random.uniform(size=(n_draws, m)) < noise)
    below = np.concatenate([np.zeros((n_draws, 1)), y.cumsum(axis=1)], axis=1)  # ones at or below the threshold are errors
    zeros = np.arange(m + 1) - below
    errors = below + zeros[:, -1:] - zeros
    best = errors.argmin(axis=1)
    ends = np.concatenate([np.zeros((n_draws, 1)), x], axis=1)
    t = ends[np.arange(n_draws), best]
    return errors.min(axis=1) / m, noise + (1 - 2 * noise) * np.abs(t - 0.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda m: VC(dimension=1, m=m, delta=DELTA),
        lambda m: Massart(log_size=math.log(m + 1), m=m, delta=DELTA),
        lambda m: Rademacher(complexity=math.sqrt(math.log(m + 1) / (2 * m)), m=m, delta=DELTA),
        lambda m: EmpiricalRademacher(complexity=math.sqrt(math.log(m + 1) / (2 * m)), m=m, delta=DELTA),
    ],
    ids=["VC", "Massart", "Rademacher", "empirical Rademacher"],
)
@pytest.mark.parametrize("m", [10, 200])
def test_the_best_threshold_keeps_bounds_of_its_class(make, m):
    empirical, true = threshold_draws(1500, m, noise=0.2)
    share_of_violations(empirical + make(m).gap, true)


def test_a_threshold_without_errors_keeps_its_bounds():
    empirical, true = threshold_draws(2000, 100, noise=0.0)
    assert (empirical == 0).all()
    share_of_violations(np.full(2000, RealizableVC(dimension=1, m=100, delta=DELTA).value), true)
    # The largest row of the lower class determines the threshold.
    share_of_violations(np.full(2000, Compression(n_kept=1, m=100, delta=DELTA).value), true)


def test_what_few_rows_determine_keeps_its_bound_with_errors_as_well():
    m = 80
    empirical, true = threshold_draws(1500, m, noise=0.1)
    bounds = {risk: Compression(n_kept=1, m=m, delta=DELTA, risk=risk).value for risk in set(empirical.tolist())}
    share_of_violations([bounds[risk] for risk in empirical.tolist()], true)


# ---- margins, votes, neighbours


def test_the_best_direction_keeps_its_margin_bound():
    random, m, margin, noise = np.random.RandomState(0), 400, 0.3, 0.1
    angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    W = np.stack([np.cos(angles), np.sin(angles)])
    bounds, truths = [], []
    for _ in range(200):
        x = random.normal(size=(m, 2))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y = np.sign(x[:, 0]) * np.where(random.uniform(size=m) < noise, -1, 1)
        shares = ((y[:, None] * (x @ W)) < margin).mean(axis=0)
        best = int(shares.argmin())
        turn = min(angles[best], 2 * np.pi - angles[best])
        truths.append(noise + (1 - 2 * noise) * turn / np.pi)
        bounds.append(Margin(m=m, delta=DELTA, risk=float(shares[best]), complexity=1 / math.sqrt(m), margin=margin).value)
    assert max(bounds) < 1
    share_of_violations(bounds, truths)


def test_a_vote_of_stumps_keeps_its_margin_bound():
    random, bounds, truths = np.random.RandomState(0), [], []
    grid = (np.arange(2000) + 0.5)[:, None] / 2000
    for _ in range(12):
        x = random.uniform(size=(3000, 1))
        y = (x[:, 0] > 0.5).astype(int)
        model = AdaBoostClassifier(n_estimators=3).fit(x, y)
        weights = np.asarray(model.estimator_weights_)
        votes = np.stack([2 * member.predict(x) - 1 for member in model.estimators_])
        share = float(((2 * y - 1) * (weights @ votes) / weights.sum() < 0.5).mean())
        bounds.append(BoostingMargin(m=3000, delta=DELTA, risk=share, margin=0.5, dimension=2).value)
        truths.append((model.predict(grid) != (grid[:, 0] > 0.5)).mean())
    assert max(bounds) < 1
    share_of_violations(bounds, truths)


def test_neighbours_keep_their_bound_by_the_rows_left_out():
    random, noise, m, bounds = np.random.RandomState(0), 0.1, 1500, []
    for _ in range(60):
        x, y = random.uniform(size=(m, 1)), (random.uniform(size=m) < noise).astype(int)
        model = KNeighborsClassifier(1).fit(x, y)
        risk = float((y[model.kneighbors(return_distance=False)[:, 0]] != y).mean())
        bounds.append(DeletedNeighbors(n_neighbors=1, m=m, delta=DELTA, risk=risk).value)
    share_of_violations(bounds, np.full(60, 2 * noise * (1 - noise)))
    assert np.mean(bounds) < 1


# ---- stability: ridge without intercept, y = x / 2 + noise of two values, x of two values


def ridge_draws(alpha, m, n_draws=300):
    """The risk on the rows and in truth of each draw, and the inputs of the bounds."""
    random, empirical, true = np.random.RandomState(0), [], []
    for _ in range(n_draws):
        x = random.choice([-1.0, 1.0], size=(m, 1))
        y = 0.5 * x[:, 0] + random.choice([-0.5, 0.5], size=m)
        w = float(Ridge(alpha=alpha, fit_intercept=False).fit(x, y).coef_[0])
        empirical.append(float(((x[:, 0] * w - y) ** 2).mean()))
        true.append((w - 0.5) ** 2 + 0.25)
    largest = 1 + math.sqrt(m / alpha)
    return np.array(empirical), np.array(true), 2 * largest, alpha / m, largest**2


def test_ridge_keeps_the_bounds_of_its_stability():
    m = 2000
    empirical, true, lipschitz, strength, largest = ridge_draws(20_000.0, m)
    gap = UniformStability(beta=2 * lipschitz**2 / strength, loss_bound=largest, m=m, delta=DELTA).gap
    share_of_violations(empirical + gap, true)
    in_expectation = RegularizedLoss(lipschitz=lipschitz, strength=strength, m=m).gap
    error = (true - empirical).std() / math.sqrt(len(true))
    assert (true - empirical).mean() - 4 * error <= in_expectation
