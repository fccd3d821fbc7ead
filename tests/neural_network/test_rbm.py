from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import BernoulliRBM as PeerRBM
from threadpoolctl import threadpool_limits

import mercer
from mercer._trace import Status
from mercer.neural_network import BernoulliRBM, RestrictedBoltzmannMachine
from mercer.neural_network._rbm import _Machine
from tests.reference import boltzmann as naive
from tests.versions import against_scikit_learn_1_9

PARAMETERS = ("components_", "intercept_visible_", "intercept_hidden_", "h_samples_")
FORMATS = [
    np.asarray,
    np.asfortranarray,
    lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    lambda X: X[::-1].copy()[::-1],
    sp.csr_array,
]


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:203] / 16


@pytest.fixture(scope="module")
def bars():
    """Stripes: all pixels of a line are on or off together."""
    lines = np.random.RandomState(0).uniform(size=(300, 3)) < 0.5
    return np.repeat(lines, 3, axis=1).astype(float)


def parameters(model):
    return {name: getattr(model, name) for name in PARAMETERS}


def assert_alike(model, other, **tolerance):
    for name in PARAMETERS:
        np.testing.assert_allclose(getattr(model, name), getattr(other, name), **tolerance, err_msg=name)


def as_oracle(model):
    return model.components_.astype(float), model.intercept_visible_.astype(float), model.intercept_hidden_.astype(float)


# ---- the fit


@pytest.mark.parametrize("batch_size", [1, 4, 7, 50])
@pytest.mark.parametrize("n_hidden", [1, 5, 8])
def test_a_fit_is_the_naive_one(digits, batch_size, n_hidden):
    X, random = digits[:23, 20:31], np.random.RandomState(5)
    weights = random.normal(0, 0.01, (n_hidden, X.shape[1]))
    visible, hidden, chains = np.zeros(X.shape[1]), np.zeros(n_hidden), np.zeros((batch_size, n_hidden))
    for _ in range(3):
        naive.contrastive_divergence(X, weights, visible, hidden, chains, batch_size=batch_size, rate=0.3, random=random)
    model = BernoulliRBM(n_hidden, batch_size=batch_size, n_iter=3, learning_rate=0.3, random_state=5).fit(X)
    for found, expected in zip(parameters(model).values(), (weights, visible, hidden, chains), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize(("n_hidden", "batch_size"), [(16, 10), (7, 33), (130, 40), (3, 300)])
def test_a_fit_is_the_peer_s(digits, as_format, n_hidden, batch_size):
    params = {"n_components": n_hidden, "batch_size": batch_size, "n_iter": 2, "random_state": 3}
    X, peer = as_format(digits), PeerRBM(**params).fit(digits)
    model = BernoulliRBM(**params).fit(X)
    assert_alike(model, peer, atol=1e-12)
    assert model.components_.shape == (n_hidden, 64)
    np.testing.assert_allclose(model.transform(X), peer.transform(digits), atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(digits), rtol=1e-9)
    np.testing.assert_array_equal(model.gibbs(X), peer.gibbs(digits))
    np.testing.assert_array_equal(model.gibbs(X), peer.gibbs(digits))  # which goes on with the same generator


def test_partial_fit_goes_on_as_the_peer_s(digits):
    model, peer = BernoulliRBM(9, batch_size=6, random_state=1), PeerRBM(9, batch_size=6, random_state=1)
    for batch in np.array_split(digits, 13):
        assert model.partial_fit(sp.csr_array(batch)) is model
        peer.partial_fit(batch)
    assert_alike(model, peer, atol=1e-12)
    assert not hasattr(model, "history_")
    model.fit(digits)
    assert not hasattr(model, "random_state_")
    assert_alike(model, clone(model).fit(digits), atol=0)


def test_uniforms_that_are_drawn_in_parts_are_the_same(digits, monkeypatch):
    whole = BernoulliRBM(5, batch_size=4, n_iter=2, random_state=0).fit(digits)
    monkeypatch.setattr("mercer.neural_network._rbm._UNIFORMS", 1_000)
    assert_alike(BernoulliRBM(5, batch_size=4, n_iter=2, random_state=0).fit(digits), whole, atol=0)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_stays(digits, sparse):
    X = digits.astype(np.float32)
    X = sp.csr_array(X) if sparse else X
    double = BernoulliRBM(16, batch_size=5, n_iter=2, random_state=42).fit(digits)
    for model in (
        BernoulliRBM(16, batch_size=5, n_iter=2, random_state=42).fit(X),
        BernoulliRBM(16, batch_size=5, random_state=42).partial_fit(X),
    ):
        assert {array.dtype for array in parameters(model).values()} == {np.dtype(np.float32)}
        assert model.transform(X).dtype == np.float32
        assert model.transform(digits).dtype == np.float64
    single = BernoulliRBM(16, batch_size=5, n_iter=2, random_state=42).fit(X)
    assert_alike(single, double, atol=2e-5)
    np.testing.assert_allclose(single.free_energy(X), double.free_energy(digits), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch_size", [10, 64])
def test_the_bits_are_the_same_for_any_number_of_threads(dtype, batch_size):
    X = (np.random.RandomState(0).uniform(size=(500, 300)) < 0.3).astype(dtype)
    found = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            model = BernoulliRBM(70, batch_size=batch_size, n_iter=2, random_state=0).fit(X)
            found.append([*parameters(model).values(), model.transform(X), model.free_energy(X), model.history_])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("as_format", FORMATS)
def test_a_row_has_the_same_bits_whichever_others_are_asked_for(digits, as_format):
    model = BernoulliRBM(9, n_iter=1, random_state=0).fit(digits)
    X = as_format(digits)
    whole, energies = model.transform(X), model.free_energy(X)
    np.testing.assert_array_equal(model.transform(X[40:41])[0], whole[40])
    np.testing.assert_array_equal(model.free_energy(X[40:47]), energies[40:47])
    np.testing.assert_array_equal(whole, model.transform(digits))


def test_the_history_has_a_record_an_epoch(digits):
    model = BernoulliRBM(20, n_iter=6, random_state=0).fit(digits)
    assert model.n_iter_ == len(model.history_) == 6
    first, last = model.history_[0], model.history_[-1]
    assert last["pseudo_likelihood"] > first["pseudo_likelihood"]
    assert last["reconstruction_error"] < first["reconstruction_error"]
    hidden = model.transform(digits)
    reconstructed = naive.sigmoid(hidden @ model.components_ + model.intercept_visible_)
    np.testing.assert_allclose(last["reconstruction_error"], np.mean((reconstructed - digits) ** 2))
    before = BernoulliRBM(20, n_iter=5, random_state=0).fit(digits)
    moved = [np.sum((getattr(model, name) - getattr(before, name)) ** 2) for name in PARAMETERS[:3]]
    np.testing.assert_allclose(last["update_norm"], np.sqrt(np.sum(moved)))
    assert model.certificate_.residual == last["update_norm"]
    assert model.certificate_.primal is None
    assert not model.certificate_.converged


def test_no_epochs_leave_the_start(digits):
    model = BernoulliRBM(4, n_iter=3, random_state=0).fit(digits).set_params(n_iter=0).fit(digits)
    assert_alike(model, PeerRBM(4, n_iter=0, random_state=0).fit(digits), atol=0)
    assert model.n_iter_ == 0
    assert model.history_ == []


@against_scikit_learn_1_9
def test_a_callback_sees_every_epoch_and_can_stop_the_fit(digits):
    class StopAtTwo:
        """A callback of scikit-learn's protocol."""

        models: ClassVar[list[BernoulliRBM]] = []

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name == "iteration":
                self.models.append(fitted_estimator)
            return len(self.models) == 2

    model = BernoulliRBM(4, n_iter=5, random_state=0).set_callbacks(StopAtTwo()).fit(digits)
    assert model.certificate_.status is Status.STOPPED
    assert model.n_iter_ == 2
    for n_iter, seen in enumerate(StopAtTwo.models, start=1):
        assert_alike(seen, BernoulliRBM(4, n_iter=n_iter, random_state=0).fit(digits), atol=0)


# ---- the model


def test_free_energies_and_probabilities_are_sums_over_all_states(bars):
    X = bars[:, :5]
    model = BernoulliRBM(4, n_iter=5, random_state=0).fit(X)
    expected = [naive.free_energy(v, *as_oracle(model)) for v in X[:20]]
    np.testing.assert_allclose(model.free_energy(X[:20]), expected, rtol=1e-12)
    every = np.array(naive.states(5))
    logs = model.log_likelihood(every)
    np.testing.assert_allclose(np.exp(logs).sum(), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(logs), [naive.probability(v, *as_oracle(model)) for v in every], rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood(sp.csr_array(every)), logs, rtol=1e-12)


@pytest.mark.parametrize(("n_visible", "n_hidden"), [(3, 14), (14, 3), (12, 12), (1, 1), (9, 11)])
def test_log_z_is_the_same_by_either_side(n_visible, n_hidden):
    random = np.random.RandomState(0)
    weights, visible, hidden = random.randn(n_visible, n_hidden), random.randn(n_visible), 3 * random.randn(n_hidden)
    one = _Machine(weights, visible, hidden, np.zeros((1, n_hidden))).log_partition()
    other = _Machine(np.ascontiguousarray(weights.T), hidden, visible, np.zeros((1, n_visible))).log_partition()
    every = np.array(naive.states(n_visible))
    terms = every @ visible + np.logaddexp(0, every @ weights + hidden).sum(axis=1)
    np.testing.assert_allclose([one, other], np.logaddexp.reduce(terms), rtol=1e-12)


def test_log_z_does_not_overflow():
    machine = _Machine(np.full((2, 3), 400.0), np.zeros(2), np.zeros(3), np.zeros((1, 3)))
    np.testing.assert_allclose(machine.log_partition(), 2400.0)


def test_the_exact_likelihood_grows(bars):
    likelihoods = [
        BernoulliRBM(6, n_iter=n_iter, batch_size=50, random_state=0).fit(bars).log_likelihood(bars).mean()
        for n_iter in (0, 50, 150)
    ]
    assert likelihoods[0] < likelihoods[1] - 0.1 < likelihoods[2] - 2
    assert likelihoods[2] > -4.5  # lines alone: -3 log 2, independent pixels: -9 log 2


def test_samples_are_rows_of_the_model(bars):
    model = BernoulliRBM(6, n_iter=150, batch_size=50, random_state=0).fit(bars)
    drawn = model.sample(3_000)
    assert drawn.shape == (3_000, 9)
    np.testing.assert_array_equal(drawn, model.sample(3_000))
    patterns = np.array(naive.states(9))
    shares = np.bincount((drawn @ (1 << np.arange(9)[::-1])).astype(int), minlength=512) / len(drawn)
    np.testing.assert_allclose(shares, np.exp(model.log_likelihood(patterns)), atol=0.03)


def test_score_samples_is_the_change_by_a_flip(digits):
    model = BernoulliRBM(8, n_iter=1, random_state=4).fit(digits)
    flips = np.random.RandomState(4).randint(0, 64, len(digits))
    flipped = digits.copy()
    flipped[np.arange(len(digits)), flips] = 1 - flipped[np.arange(len(digits)), flips]
    rises = model.free_energy(flipped) - model.free_energy(digits)
    np.testing.assert_allclose(model.score_samples(digits), -64 * np.logaddexp(0, -rises), rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(sp.csr_array(digits)), model.score_samples(digits), rtol=1e-9)


# ---- conduct


def test_the_long_name_is_the_same_class(digits):
    assert RestrictedBoltzmannMachine is BernoulliRBM
    names = RestrictedBoltzmannMachine(2, n_iter=1).fit(digits).get_feature_names_out()
    assert list(names) == ["bernoullirbm0", "bernoullirbm1"]


def test_a_saved_model_goes_on_where_it_was(digits, tmp_path):
    model = BernoulliRBM(5, random_state=0).partial_fit(digits)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(digits), model.transform(digits))
    assert_alike(loaded.partial_fit(digits), model.partial_fit(digits), atol=0)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"n_iter": -1}, "n_iter=-1"),
        ({"random_state": "a"}, "random_state='a'"),
    ],
)
def test_wrong_parameters_are_named(digits, params, said):
    with pytest.raises(ValueError, match=said):
        BernoulliRBM(**params).fit(digits)


def test_wrong_inputs_are_refused(digits, bars):
    with pytest.raises(NotFittedError):
        BernoulliRBM().sample()
    model = BernoulliRBM(30, n_iter=1, random_state=0).fit(digits)
    with pytest.raises(ValueError, match="which has 30 here; it can have 20 at most"):
        model.log_likelihood(digits)
    with pytest.raises(ValueError, match="64 features"):
        model.free_energy(digits[:, 1:])
    with pytest.raises(ValueError, match="n_steps=0"):
        model.sample(n_steps=0)
    with pytest.raises(ValueError, match=r"n_samples=0\.5"):
        model.sample(0.5)
    with pytest.raises(ValueError, match=r"X holds 0.5; every value must be 0 or 1"):
        BernoulliRBM(2).fit(bars).log_likelihood(bars / 2)


def test_weights_that_overflow_are_an_error_and_leave_the_model(digits):
    model = BernoulliRBM(3, n_iter=1, random_state=0).fit(digits)
    before = {name: value.copy() for name, value in parameters(model).items()}
    model.set_params(learning_rate=1e308)
    for fit in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"overflow: learning_rate=1e\+308"):
            fit(digits)
        for name, value in before.items():
            np.testing.assert_array_equal(getattr(model, name), value)
