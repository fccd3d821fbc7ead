"""Hidden Markov models: all paths, hmmlearn, and what EM promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

import mercer
from mercer.hmm import GMMHMM, CategoricalHMM, GaussianHMM, PoissonHMM
from mercer.hmm._chain import Chain, Steps
from tests.reference import gaussians as reference

KINDS = ("full", "tied", "diag", "spherical")
LENGTHS = [40, 1, 59]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sequences(seed=0):
    """Rows of three states that stay for ten steps."""
    random = np.random.default_rng(seed)
    states = np.repeat(random.integers(3, size=10), 10)
    return np.array([[0, 0], [4, 4], [-4, 4]])[states] + random.normal(size=(100, 2)), states


def counts(seed=0):
    return np.random.default_rng(seed).poisson(np.array([1, 6, 20])[sequences(seed)[1]])[:, None]


def models():
    X, _ = sequences()
    symbols = (X[:, :1] > 1).astype(int) + 2 * (X[:, 1:] > 1)
    for kind in KINDS:
        yield GaussianHMM(3, covariance_type=kind), X
        yield GMMHMM(2, n_mix=2, covariance_type=kind), X
    yield CategoricalHMM(3), symbols
    yield PoissonHMM(3), counts()


MODELS = list(models())


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 4),
    st.sampled_from([1.0, 50.0, 2000.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 999),
)
def test_passes_add_up_all_paths(n, k, spread, is_scaled, has_zeros, seed):
    random = np.random.default_rng(seed)
    start, moves = random.dirichlet(np.ones(k)), random.dirichlet(np.ones(k), size=k)
    if has_zeros:  # from left to right
        start, moves = np.eye(k)[0], np.triu(moves) / np.triu(moves).sum(axis=1, keepdims=True)
    emissions = random.normal(size=(n, k)) * spread
    total, posteriors, taken = reference.expectations(start, moves, emissions)
    chain, steps = Chain(start, moves, is_scaled), Steps(emissions, None, np.array([0, n]))
    found = chain.expect(steps, emissions)
    assert found.log_likelihoods[0] == pytest.approx(total, rel=1e-10)
    assert chain.score(steps, emissions)[0] == found.log_likelihoods[0]
    np.testing.assert_allclose(found.posteriors, posteriors, atol=1e-9)
    np.testing.assert_allclose(found.transitions, taken, atol=1e-9)
    np.testing.assert_allclose(found.starts, posteriors[0], atol=1e-9)
    likelihoods, path = chain.decode(steps, emissions)
    best = max(reference.paths(start, moves, emissions), key=lambda found: found[1])
    assert likelihoods[0] == pytest.approx(best[1], rel=1e-12)
    assert tuple(path) == best[0]


@pytest.mark.parametrize("is_scaled", [True, False])
def test_a_path_that_only_the_unlikeliest_states_allow_loses_no_digits(is_scaled):
    start, moves = np.array([1.0, 0, 0]), np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])
    emissions = np.array([[-2000.0, 0, 0], [0, -3000, 0], [-4000, 0, -900], [0, 0, -5000]])
    total, posteriors, _ = reference.expectations(start, moves, emissions)
    found = Chain(start, moves, is_scaled).expect(Steps(emissions, None, np.array([0, 4])), emissions)
    assert found.log_likelihoods[0] == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(found.posteriors, posteriors, atol=1e-10)


def test_an_impossible_sequence_has_no_likelihood():
    emissions = np.array([[0.0, -np.inf], [-np.inf, -np.inf], [0.0, 0.0]])
    for is_scaled in (True, False):
        found = Chain(np.array([0.5, 0.5]), np.full((2, 2), 0.5), is_scaled).score(
            Steps(emissions, None, np.array([0, 3])), emissions
        )
        assert found[0] == -np.inf


@pytest.mark.parametrize(("model", "X"), MODELS)
@pytest.mark.parametrize("implementation", ["log", "scaling"])
def test_the_posterior_density_never_falls(model, X, implementation):
    model = type(model)(
        **{**model.get_params(), "random_state": 0, "n_iter": 25, "tol": -1.0, "implementation": implementation}
    )
    history = np.array(model.fit(X, LENGTHS).monitor_.history)
    assert len(history) == 25
    assert np.diff(history).min() > -1e-8 * np.abs(history).max()


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_what_is_said_of_sequences_is_what_hmmlearn_says(model, X):
    ours = type(model)(**{**model.get_params(), "random_state": 0}).fit(X, LENGTHS)
    peer = getattr(pytest.importorskip("hmmlearn.hmm"), type(model).__name__)(n_components=ours.n_components)
    if "covariance_type" in ours.get_params():
        peer.covariance_type = ours.covariance_type
    if isinstance(ours, GMMHMM):
        peer.n_mix = ours.n_mix
    for name in ("startprob_", "transmat_", "emissionprob_", "lambdas_", "weights_", "means_"):
        if hasattr(ours, name):
            setattr(peer, name, getattr(ours, name))
    if isinstance(ours, GaussianHMM):
        peer.n_features = X.shape[1]
        peer._covars_ = np.repeat(ours._covars_[:, None], 2, axis=1) if ours.covariance_type == "spherical" else ours._covars_
    elif isinstance(ours, GMMHMM):
        peer.covars_ = ours.covars_
    assert ours.score(X, LENGTHS) == pytest.approx(peer.score(X, LENGTHS), rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X, LENGTHS), peer.predict_proba(X, LENGTHS), atol=1e-8)
    for algorithm in ("viterbi", "map"):
        found, wanted = ours.decode(X, LENGTHS, algorithm), peer.decode(X, LENGTHS, algorithm)
        assert found[0] == pytest.approx(wanted[0], rel=1e-9)
        np.testing.assert_array_equal(found[1], wanted[1])


def test_a_chain_is_recovered():
    model = GaussianHMM(2)
    model.startprob_, model.transmat_ = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]])
    model.means_, model.covars_ = np.array([[0.0], [5.0]]), np.ones((2, 1))
    X, states = model.sample(5000, random_state=0)
    fitted = GaussianHMM(2, random_state=0, n_iter=50).fit(X)
    order = np.argsort(fitted.means_.ravel())
    np.testing.assert_allclose(fitted.means_[order], model.means_, atol=0.1)
    np.testing.assert_allclose(fitted.transmat_[np.ix_(order, order)], model.transmat_, atol=0.03)
    np.testing.assert_allclose(model.get_stationary_distribution(), [0.75, 0.25])
    assert (order[fitted.predict(X)] == states).mean() > 0.95 or (np.argsort(order)[fitted.predict(X)] == states).mean() > 0.95


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_a_state_that_nothing_visits_keeps_proper_rows(model, X):
    params = {
        **model.get_params(),
        "n_components": 3,
        "random_state": 0,
        "init_params": "".join(set(model.init_params) - {"s", "t"}),
    }
    ours = type(model)(**params)
    ours.startprob_, ours.transmat_ = np.array([0.5, 0.5, 0.0]), np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]])
    ours.fit(X, LENGTHS)
    np.testing.assert_allclose(ours.transmat_.sum(axis=1), 1)
    np.testing.assert_allclose(ours.transmat_[2], [0.2, 0.3, 0.5])
    assert all(np.isfinite(value).all() for value in vars(ours).values() if isinstance(value, np.ndarray))


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_missing_steps_say_nothing(model, X):
    fitted = type(model)(**{**model.get_params(), "random_state": 0}).fit(X, LENGTHS)
    gaps = np.concatenate([X[:10].astype(float), np.full((300, X.shape[1]), np.nan), X[10:20]])
    law = fitted.predict_proba(gaps)
    np.testing.assert_allclose(law.sum(axis=1), 1)
    behind = np.concatenate([X[:10].astype(float), np.full((5, X.shape[1]), np.nan)])
    assert fitted.score(behind) == pytest.approx(fitted.score(X[:10]), rel=1e-9)
    again = type(model)(**{**model.get_params(), "random_state": 0, "n_iter": 5, "tol": -1.0}).fit(gaps)
    assert np.diff(again.monitor_.history).min() > -1e-7


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_a_sequence_of_weight_two_is_two_and_of_zero_none(model, X):
    params = {**model.get_params(), "random_state": 0, "n_iter": 3, "tol": -1.0}
    start = type(model)(**{**params, "n_iter": 0}).fit(X, LENGTHS)

    def fit(*data, **weights):
        again = type(model)(**{**params, "init_params": ""})
        for name, value in vars(start).items():
            if name.endswith("_"):
                again.__dict__[name] = value
        return again.fit(*data, **weights)

    parts = np.split(X, np.cumsum(LENGTHS)[:-1])
    weighted = fit(X, LENGTHS, sequence_weight=[2, 0, 1])
    repeated = fit(np.concatenate([parts[0], parts[0], parts[2]]), [40, 40, 59])
    np.testing.assert_allclose(weighted.transmat_, repeated.transmat_, rtol=1e-7)
    np.testing.assert_allclose(weighted.monitor_.history, repeated.monitor_.history, rtol=1e-9)


def test_sequences_have_the_same_bits_side_by_side():
    from threadpoolctl import threadpool_limits

    X = np.tile(sequences()[0], (40, 1))
    found = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads):
            found.append(GaussianHMM(3, random_state=0, n_iter=3).fit(X, [100] * 40).transmat_)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([50, 49], "adds up to 99"),
        ([101], "adds up to 101"),
        ([0, 100], "integers >= 1"),
        ([[100]], "integers >= 1"),
        ([99.5], "integers"),
    ],
)
def test_lengths_must_add_up(lengths, message):
    with pytest.raises(ValueError, match=message):
        GaussianHMM(2).fit(sequences()[0], lengths)


@pytest.mark.parametrize("X", [[[0.5]], [[-1]], [[1, 2]]])
def test_symbols_are_whole_numbers_in_one_column(X):
    with pytest.raises(ValueError, match="CategoricalHMM"):
        CategoricalHMM(1).fit(X)


def test_a_row_of_which_some_cells_are_missing_is_refused():
    X, _ = sequences()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        GaussianHMM(2).fit(X)


def test_laws_that_do_not_add_up_are_refused():
    model = CategoricalHMM(2, init_params="")
    model.startprob_, model.transmat_, model.emissionprob_ = [0.5, 0.6], np.eye(2), np.eye(2)
    with pytest.raises(ValueError, match="startprob_ must sum to 1"):
        model.fit([[0], [1]])


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_a_saved_model_says_the_same(model, X, tmp_path):
    fitted = clone(model).fit(X)
    mercer.save(fitted, tmp_path / "chain.mercer")
    loaded = mercer.load(tmp_path / "chain.mercer")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.score(X) == fitted.score(X)


@pytest.mark.parametrize(("model", "X"), MODELS)
def test_what_was_set_is_replaced_with_a_warning_and_not_in_a_second_fit(model, X, recwarn):
    model = clone(model)
    model.startprob_ = np.full(model.n_components, 1 / model.n_components)
    with pytest.warns(UserWarning, match="startprob_ will be overwritten") as told:
        model.fit(X)
    remedy = str(told[0].message).split("init_params='")[-1].split("'")[0]
    assert "s" not in remedy
    recwarn.clear()
    model.fit(X)
    assert not [w for w in recwarn if "overwritten" in str(w.message)]
    again = clone(model).set_params(init_params=remedy)
    again.startprob_ = np.eye(model.n_components)[0]
    again.fit(X)
    assert not [w for w in recwarn if "overwritten" in str(w.message)]
    assert again.startprob_[0] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_covariances_can_be_set_as_they_are_read(kind):
    fitted = GaussianHMM(3, covariance_type=kind, random_state=0).fit(sequences()[0])
    other = GaussianHMM(3, covariance_type=kind)
    other.means_ = fitted.means_
    other.covars_ = fitted.covars_
    np.testing.assert_array_equal(other.covars_, fitted.covars_)
    np.testing.assert_array_equal(other._covars_, fitted._covars_)
    wrong = fitted.covars_ + np.arange(3)[:, None, None] + [[0, 0.01], [0.01, 0]]
    if kind != "full":
        with pytest.raises(ValueError, match=f"'{kind}' covars"):
            other.covars_ = wrong


def test_the_number_of_features_may_be_repeated_and_the_monitor_not_be_replaced():
    model = PoissonHMM(2)
    with pytest.raises(AttributeError, match="lambdas_ is not set"):
        model.n_features = 1
    model.lambdas_ = np.ones((2, 1))
    model.n_features = 1
    with pytest.raises(AttributeError, match="lambdas_ has 1 columns"):
        model.n_features = 2
    with pytest.raises(AttributeError, match="set_callbacks"):
        model.monitor_ = None


def test_shares_that_round_to_nothing_raise_nothing():
    X = np.repeat([0.0, 30.0], 50)[:, None] + np.random.default_rng(0).normal(size=(100, 1))
    with np.errstate(under="raise"):
        GMMHMM(2, n_mix=2, random_state=0, n_iter=20, tol=-1.0).fit(X)


@pytest.mark.parametrize("huge", [1e4, 1e12, 9e15])
def test_one_huge_count_leaves_the_others_possible(huge):
    X = np.random.default_rng(0).poisson(1.0, size=(200, 5)).astype(float)
    X[0, 0] = huge
    model = PoissonHMM(2, random_state=0).fit(X)
    assert np.isfinite(model.score(X))


def test_values_that_are_too_large_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"whole numbers are told apart up to 9.01e\+15. Scale X"):
        PoissonHMM(2).fit([[1.0], [1e16]])
    for cls in (GaussianHMM, GMMHMM):
        with pytest.raises(ValueError, match=rf"{cls.__name__}: X holds values as large as 1e\+200"):
            cls(1).fit([[1.0], [1e200], [2.0]])


def test_a_target_in_the_place_of_lengths_is_named_and_not_printed():
    with pytest.raises(ValueError, match=r"lengths=an array of 100 values of the type float64 .* \(there is no y\)"):
        GaussianHMM(1).fit(sequences()[0], np.zeros(100))
