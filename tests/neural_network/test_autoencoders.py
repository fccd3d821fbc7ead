"""Autoencoders against principal components, and variational ones against a model whose likelihood is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.stats import multivariate_normal

from mercer.decomposition import PCA
from mercer.neural_network import Autoencoder, DenoisingAutoencoder, VariationalAutoencoder
from mercer.neural_network._network import Layer, Network, starting_parameters
from mercer.neural_network._training import Objective, Sample, Trainer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LONG: dict[str, Any] = {"tol": 0.0, "n_iter_no_change": np.inf, "random_state": 0}


@pytest.fixture(scope="module")
def plane() -> Any:
    """Rows about a plane in six dimensions."""
    rng = np.random.RandomState(0)
    return rng.standard_normal((400, 2)) @ rng.standard_normal((2, 6)) + 0.05 * rng.standard_normal((400, 6)) + 1.0


@pytest.mark.parametrize("tied", [False, True])
def test_a_linear_autoencoder_spans_the_principal_subspace(plane: Any, tied: bool) -> None:
    steps: dict[str, Any] = {"learning_rate_init": 0.02, "learning_rate": "cosine", "max_iter": 500, "batch_size": 50}
    model = Autoencoder((2,), "identity", tied=tied, alpha=0.0, **steps, **LONG).fit(plane)
    pca = PCA(2).fit(plane)
    assert subspace_angles(model.coefs_[1].T, pca.components_.T).max() < 0.02
    best = np.square(pca.inverse_transform(pca.transform(plane)) - plane).mean()
    assert model.reconstruction_error(plane).mean() == pytest.approx(best, rel=0.1)
    if tied:
        np.testing.assert_array_equal(model.coefs_[1], model.coefs_[0].T)


def test_codes_lead_back_to_rows_and_strange_rows_stand_out(plane: Any) -> None:
    model = Autoencoder((8, 2), max_iter=60, learning_rate_init=0.01, **LONG).fit(plane)
    codes = model.transform(plane)
    assert codes.shape == (400, 2)
    back = model.inverse_transform(codes)
    np.testing.assert_allclose(model.reconstruction_error(plane), np.square(back - plane).mean(axis=1), rtol=1e-10)
    assert model.score(plane) == pytest.approx(-model.reconstruction_error(plane).mean())
    strange = plane[:20] + 4 * np.random.RandomState(1).standard_normal((20, 6))
    assert np.median(model.reconstruction_error(strange)) > 20 * np.median(model.reconstruction_error(plane))
    assert list(model.get_feature_names_out()) == ["autoencoder0", "autoencoder1"]
    with pytest.raises(ValueError, match="with 2 columns"):
        model.inverse_transform(plane)


def test_a_bernoulli_output_is_a_probability() -> None:
    rng = np.random.RandomState(0)
    X = (rng.rand(300, 8) < np.where(rng.rand(300, 1) < 0.5, 0.9, 0.1)).astype(float)
    model = Autoencoder((1,), output="bernoulli", max_iter=80, learning_rate_init=0.02, **LONG).fit(X)
    p = model.inverse_transform(model.transform(X))
    assert 0 < p.min() < 0.2 < 0.8 < p.max() < 1
    np.testing.assert_allclose(model.reconstruction_error(X), -np.log(np.where(X == 1, p, 1 - p)).mean(axis=1), rtol=1e-8)
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.fit(2 * X)


@pytest.mark.parametrize("noise", ["gaussian", "masking", "salt_and_pepper"])
def test_a_denoising_autoencoder_is_better_at_spoilt_rows(noise: str) -> None:
    rng = np.random.RandomState(0)
    X = np.clip(rng.rand(600, 1) * np.ones(10) + 0.02 * rng.standard_normal((600, 10)), 0, 1)
    params: dict[str, Any] = {
        "hidden_layer_sizes": (10,),
        "activation": "identity",
        "max_iter": 80,
        "learning_rate_init": 0.01,
        **LONG,
    }
    plain, denoising = Autoencoder(**params).fit(X), DenoisingAutoencoder(noise=noise, level=0.4, **params).fit(X)
    hit = rng.rand(*X.shape) < 0.4
    spoilt = {
        "gaussian": X + 0.4 * rng.standard_normal(X.shape),
        "masking": np.where(hit, 0.0, X),
        "salt_and_pepper": np.where(hit, rng.randint(2, size=X.shape), X),
    }[noise]
    errors = [np.square(model.inverse_transform(model.transform(spoilt)) - X).mean() for model in (plain, denoising)]
    assert errors[1] < 0.7 * errors[0]
    with pytest.raises(ValueError, match="level"):
        DenoisingAutoencoder(noise="masking", level=1.5).fit(X)


def test_early_stopping_holds_rows_out(plane: Any) -> None:
    model = Autoencoder((3,), early_stopping=True, max_iter=15, random_state=0).fit(plane)
    assert all("score" in record for record in model.history_)


# ---- variational ones


@pytest.mark.parametrize("output", ["gaussian", "bernoulli"])
def test_gradients_pass_the_draws(output: str) -> None:
    """With the same draws the bound is a smooth function of the parameters."""
    rng = np.random.RandomState(0)
    layers = (
        Layer((0,), 9, "tanh"), Layer((1,), 6), Layer((2,), 3, draws=True), Layer((3,), 8, "tanh", 0.2), Layer((4,), 5),
    )  # fmt: skip
    network = Network(5, layers)
    X = rng.rand(40, 5)
    sample = Sample(X, None, X, rng.rand(40))
    flat = starting_parameters(network, "glorot", rng, np.float64)
    loss = "squared" if output == "gaussian" else "logistic"
    trainer = Trainer(network, sample, Objective(loss, alpha=0.1, beta=0.7), seed=2)
    gradient = trainer.gradient(flat)[2]
    for _ in range(5):
        direction = rng.standard_normal(len(flat))
        above, below = (trainer.gradient(flat + h * direction)[0] for h in (1e-6, -1e-6))
        assert gradient @ direction == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.fixture(scope="module")
def linear() -> tuple[Any, Any, Any]:
    """A linear model of normal codes: rows, and their true log likelihoods; the deviation of the noise is 0.5."""
    rng = np.random.RandomState(0)
    W = np.array([[1.0, -1.0, 0.5, 0.0], [0.3, 0.8, 0.0, 1.0]])
    X = rng.standard_normal((1500, 2)) @ W + 0.5 * rng.standard_normal((1500, 4))
    law = multivariate_normal(np.zeros(4), W.T @ W + 0.25 * np.eye(4))
    model = VariationalAutoencoder(
        2, (), output_scale=0.5, alpha=0.0, learning_rate_init=0.01, learning_rate="cosine", max_iter=150, batch_size=50, **LONG
    ).fit(X)
    return X, law.logpdf(X), model


def test_the_bound_is_below_the_likelihood_and_near_it(linear: Any) -> None:
    X, truth, model = linear
    one, many = (model.score_samples(X, n_draws=n, random_state=0).mean() for n in (1, 200))
    assert one <= many + 0.01
    assert many <= truth.mean() + 0.02  # what a fit to these rows gains
    assert many == pytest.approx(truth.mean(), abs=0.03)
    assert -model.history_[-1]["loss"] == pytest.approx(one, abs=0.05)
    assert model.score(X) == pytest.approx(many, abs=0.02)


def test_the_history_tells_the_parts_of_the_bound(linear: Any) -> None:
    _, _, model = linear
    last = model.history_[-1]
    assert last["loss"] == pytest.approx(last["reconstruction"] + last["kl"])
    assert last["kl"] > 0


def test_samples_have_the_moments_of_the_rows(linear: Any) -> None:
    X, _, model = linear
    drawn = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=0.12)
    np.testing.assert_array_equal(drawn, model.sample(20_000, random_state=1))
    means = model.sample(2000, means=True, random_state=1)
    assert np.trace(np.cov(means.T)) == pytest.approx(np.trace(np.cov(X.T)) - 4 * 0.25, rel=0.1)
    codes = model.transform(X)
    assert codes.shape == (1500, 2)
    assert model.inverse_transform(codes).shape == X.shape


def test_bernoulli_rows_are_drawn_as_zeros_and_ones() -> None:
    rng = np.random.RandomState(0)
    X = (rng.rand(400, 6) < np.where(rng.rand(400, 1) < 0.5, 0.95, 0.05)).astype(np.float32)
    model = VariationalAutoencoder(
        1, (16,), output="bernoulli", annealing=20, max_iter=80, learning_rate_init=0.01, **LONG
    ).fit(X)
    drawn = model.sample(2000, random_state=0)
    assert drawn.dtype == np.float32
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert drawn.mean() == pytest.approx(X.mean(), abs=0.05)
    assert np.corrcoef(drawn.T)[0, 1] > 0.5
    kl = [record["kl"] for record in model.history_]
    assert kl[1] < max(kl)
    assert model.score_samples(X[:5]).shape == (5,)


def test_a_price_of_nothing_buys_wide_codes(linear: Any) -> None:
    X, _, model = linear
    free = VariationalAutoencoder(2, (), output_scale=0.5, beta=0.0, max_iter=40, learning_rate_init=0.02, **LONG).fit(X)
    assert free.history_[-1]["kl"] > 2 * model.history_[-1]["kl"]
