"""The kernels of networks against formulas written out, scikit-learn and themselves on other numbers of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neural_network as peer
from hypothesis import given, settings, strategies as st
from scipy.special import erf, expit, log_softmax

from mercer.losses import get_loss
from mercer.neural_network import MLPClassifier, MLPRegressor
from mercer.neural_network._network import Layer, Network, starting_parameters
from mercer.neural_network._training import Objective, Sample, Trainer

ACTIVATIONS = {
    "identity": lambda z: z,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "leaky_relu": lambda z: np.where(z > 0, z, 0.01 * z),
    "gelu": lambda z: z * (1 + erf(z / math.sqrt(2))) / 2,
}
RESIDUAL = ("squared", "huber", "log_cosh", "pinball", "epsilon_insensitive", "squared_epsilon_insensitive", "absolute")
MARGIN = ("hinge", "squared_hinge", "modified_huber", "exponential")
POSITIVE = ("poisson", "gamma")
PARAMETERS = {"huber": 0.7, "pinball": 0.3, "epsilon_insensitive": 0.1, "squared_epsilon_insensitive": 0.1}


def values_of(network: Network, flat: Any, X: Any) -> Any:
    """A forward pass, written out."""
    coefs, intercepts = network.views(flat)
    places = [X.toarray() if sp.issparse(X) else X]
    for layer, coef, intercept in zip(network.layers, coefs, intercepts, strict=True):
        read = np.hstack([places[source] for source in layer.sources])
        places.append(ACTIVATIONS[layer.activation](read @ coef + intercept))
    return places[-1]


def objective_of(network: Network, flat: Any, sample: Sample, name: str, alpha: float) -> float:
    raw = values_of(network, flat, sample.X)
    weights = np.ones(len(raw)) if sample.weights is None else sample.weights
    if name == "softmax":
        losses = -log_softmax(raw, axis=1)[np.arange(len(raw)), sample.codes]
    else:
        parameter = {"huber": "delta", "pinball": "quantile"}.get(name, "epsilon")
        given_parameter = {parameter: PARAMETERS[name]} if name in PARAMETERS else {}
        loss = get_loss(name, **given_parameter)
        y = 2 * sample.values - 1 if name == "logistic" else sample.values  # labels, of -1 and 1
        losses = loss.value(y, raw).sum(axis=1)
    squares = sum(np.square(coef).sum() for k, coef in enumerate(network.views(flat)[0]) if network.layers[k].tied_to < 0)
    return float((weights @ losses + alpha / 2 * squares) / weights.sum())


def targets_for(name: str, rng: Any, n: int, k: int) -> tuple[Any, Any]:
    if name == "softmax":
        return rng.randint(k, size=n).astype(np.int32), None
    if name == "logistic":
        return None, rng.randint(2, size=(n, k)).astype(float)
    if name in MARGIN:
        return None, 2.0 * rng.randint(2, size=(n, k)) - 1
    return None, rng.gamma(2, size=(n, k)) if name in POSITIVE else rng.standard_normal((n, k))


@settings(max_examples=60, deadline=None)
@given(
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    loss=st.sampled_from(["softmax", "logistic", *RESIDUAL, *MARGIN, *POSITIVE]),
    sizes=st.lists(st.integers(1, 14), min_size=2, max_size=5),
    alpha=st.sampled_from([0.0, 0.3]),
    has_weights=st.booleans(),
    is_sparse=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_gradients_are_those_of_the_objective(
    activation: str, loss: str, sizes: list[int], alpha: float, has_weights: bool, is_sparse: bool, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    n = rng.randint(1, 40)
    network = Network.of_sizes(sizes, [activation] * (len(sizes) - 2) + ["identity"])
    X = rng.standard_normal((n, sizes[0]))
    codes, values = targets_for(loss, rng, n, sizes[-1])
    weights = rng.rand(n) + 0.1 if has_weights else None
    sample = Sample(sp.csr_matrix(X) if is_sparse else X, codes, values, weights)
    flat = starting_parameters(network, "glorot", rng, np.float64)
    trainer = Trainer(network, sample, Objective(loss, PARAMETERS.get(loss, 0.0), alpha))
    value, _, gradient = trainer.gradient(flat)
    assert value == pytest.approx(objective_of(network, flat, sample, loss, alpha), rel=1e-10)
    check_slopes(lambda x: objective_of(network, x, sample, loss, alpha), flat, gradient, rng)


def check_slopes(objective: Any, flat: Any, gradient: Any, rng: Any) -> None:
    """Central differences along some directions; where a kink is near, the two sides differ."""
    h = 1e-6
    for _ in range(4):
        direction = rng.standard_normal(len(flat))
        above, at, below = (objective(flat + t * direction) for t in (h, 0.0, -h))
        sides = ((above - at) / h, (at - below) / h)
        if abs(sides[0] - sides[1]) < 1e-3 * (1 + abs(sides[0])):  # no kink between
            assert gradient @ direction == pytest.approx((above - below) / (2 * h), rel=2e-4, abs=2e-5)


@settings(max_examples=80, deadline=None)
@given(
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    loss=st.sampled_from(["softmax", "logistic", *RESIDUAL, *MARGIN, *POSITIVE]),
    sizes=st.lists(st.integers(1, 12), min_size=3, max_size=5),
    alpha=st.sampled_from([0.0, 0.3]),
    dropout=st.sampled_from([0.0, 0.4]),
    has_skips=st.booleans(),
    is_tied=st.booleans(),
    is_cut=st.booleans(),
    is_sparse=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_gradients_pass_dropped_units_cut_skipping_and_tied_connections(
    activation: str,
    loss: str,
    sizes: list[int],
    alpha: float,
    dropout: float,
    has_skips: bool,
    is_tied: bool,
    is_cut: bool,
    is_sparse: bool,
    seed: int,
) -> None:
    """With the same draws and the same cuts the objective is a function of the parameters whose slopes the gradient gives."""
    rng = np.random.RandomState(seed)
    if is_tied:
        sizes = [*sizes, *sizes[-2::-1]]
    n_layers, layers = len(sizes) - 1, []
    for place, units in enumerate(sizes[1:]):
        is_last = place == n_layers - 1
        skipped = {start for start in range(int(is_sparse), place) if has_skips and not is_tied and rng.rand() < 0.5}
        tied_to = n_layers - 1 - place if is_tied and place >= n_layers // 2 else -1
        name, share = ("identity", 0.0) if is_last else (activation, dropout)
        layers.append(Layer((*sorted(skipped), place), units, name, share, tied_to=tied_to))
    network = Network(sizes[0], tuple(layers))
    n = rng.randint(1, 40)
    X = rng.standard_normal((n, sizes[0]))
    codes, values = targets_for(loss, rng, n, sizes[-1])
    sample = Sample(sp.csr_matrix(X) if is_sparse else X, codes, values, rng.rand(n) + 0.1)
    flat = starting_parameters(network, "glorot", rng, np.float64)
    mask = np.ones_like(flat)
    if is_cut:
        for k, coef in enumerate(network.views(mask)[0]):
            coef[...] = coef if layers[k].tied_to >= 0 else rng.rand(*coef.shape) < 0.7
    flat *= mask
    trainer = Trainer(network, sample, Objective(loss, PARAMETERS.get(loss, 0.0), alpha), mask=mask, seed=seed)
    gradient = trainer.gradient(flat)[2]
    assert (gradient[mask == 0] == 0).all()
    if dropout == 0.0:
        assert trainer.gradient(flat)[0] == pytest.approx(objective_of(network, flat, sample, loss, alpha), rel=1e-10)
    check_slopes(lambda x: trainer.gradient(flat + mask * (x - flat))[0], flat, gradient, rng)


@pytest.mark.parametrize("activation", ["tanh", "gelu"])
def test_gradients_pass_skip_connections_tied_layers_and_wide_batches(activation: str) -> None:
    rng = np.random.RandomState(0)
    layers = (
        Layer((0,), 9, activation),
        Layer((0, 1), 5, activation),
        Layer((2,), 14, activation),
        Layer((1, 2, 3), 9, "identity"),
        Layer((1, 4), 3, "identity"),
    )
    tied = (Layer((0,), 6, activation), Layer((1,), 11, "identity", tied_to=0))
    for network, n in ((Network(7, layers), 1500), (Network(11, tied), 1500)):
        X = rng.standard_normal((n, network.n_inputs))
        sample = Sample(X, None, rng.standard_normal((n, network.n_outputs)), None)
        flat = starting_parameters(network, "he", rng, np.float64)
        value, _, gradient = Trainer(network, sample, Objective("squared", alpha=0.5)).gradient(flat)
        assert value == pytest.approx(objective_of(network, flat, sample, "squared", 0.5), rel=1e-10)
        check_slopes(lambda x: objective_of(network, x, sample, "squared", 0.5), flat, gradient, rng)  # noqa: B023


def test_dropped_units_are_those_of_the_gradient() -> None:
    """With the same draws the objective is a smooth function, whose slopes the gradient gives."""
    rng = np.random.RandomState(0)
    network = Network.of_sizes([4, 10, 10, 2], ["tanh", "tanh", "identity"], dropout=[0.5, 0.3, 0.0])
    sample = Sample(rng.standard_normal((30, 4)), None, rng.standard_normal((30, 2)), None)
    flat = starting_parameters(network, "glorot", rng, np.float64)
    trainer = Trainer(network, sample, Objective("squared", alpha=0.1), seed=3)
    check_slopes(lambda x: trainer.gradient(x)[0], flat, trainer.gradient(flat)[2], rng)
    other = Trainer(network, sample, Objective("squared", alpha=0.1), seed=4)
    assert other.gradient(flat)[0] != trainer.gradient(flat)[0]


def test_dropout_keeps_the_expectation_and_drops_its_share() -> None:
    rng = np.random.RandomState(0)
    n = 20_000
    network = Network.of_sizes([1, 1, 1], ["identity", "identity"], dropout=[0.25, 0.0])
    sample = Sample(np.ones((n, 1)), None, np.zeros((n, 1)), None)
    flat = np.array([1.0, 1.0, 0.0, 0.0])  # x -> x, twice, without intercepts
    value = Trainer(network, sample, Objective("squared"), seed=int(rng.randint(99))).gradient(flat)[0]
    assert 2 * value == pytest.approx(1 / 0.75, rel=0.02)  # the mean of squares of 0 (a quarter) and 1 / 0.75


# ---- the same steps as scikit-learn's


def data(seed: int = 0, n: int = 503, d: int = 7) -> tuple[Any, Any, Any, Any]:
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, rng.randint(3, size=n), rng.randint(2, size=n), rng.standard_normal(n)


def check_same(ours: Any, theirs: Any, tol: float = 1e-10) -> None:
    for name in ("coefs_", "intercepts_"):
        for one, other in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=tol)
    assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-6 if tol > 1e-8 else 1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    assert (ours.n_layers_, ours.n_outputs_, ours.out_activation_) == (
        theirs.n_layers_,
        theirs.n_outputs_,
        theirs.out_activation_,
    )


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_epochs_are_those_of_scikit_learn(activation: str, solver: str) -> None:
    X, several, two, numbers = data()
    params: dict[str, Any] = {"hidden_layer_sizes": (11, 5), "activation": activation, "solver": solver}
    params |= {"random_state": 1, "max_iter": 3, "batch_size": 50}
    for y in (several, two):
        check_same(MLPClassifier(**params).fit(X, y), peer.MLPClassifier(**params).fit(X, y))
    check_same(MLPRegressor(**params).fit(X, numbers), peer.MLPRegressor(**params).fit(X, numbers))


@pytest.mark.parametrize(
    "params",
    [
        {"early_stopping": True, "max_iter": 40},
        {"max_iter": 100, "tol": 1e-3, "learning_rate_init": 0.01},
        {"solver": "lbfgs", "max_iter": 15},
        {"learning_rate": "invscaling", "solver": "sgd", "momentum": 0.0, "max_iter": 10},
        {"shuffle": False, "max_iter": 5, "solver": "sgd", "nesterovs_momentum": False},
        {"hidden_layer_sizes": (), "max_iter": 5},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_end_where_those_of_scikit_learn_end(params: dict[str, Any]) -> None:
    X, _, y, _ = data()
    params = {"hidden_layer_sizes": (11, 5), "random_state": 1} | params
    ours, theirs = MLPClassifier(**params).fit(X, y), peer.MLPClassifier(**params).fit(X, y)
    check_same(ours, theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    if "solver" not in params:
        np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-9)
        assert ours.t_ == theirs.t_
        assert ours.best_loss_ == pytest.approx(theirs.best_loss_)
        if params.get("early_stopping"):
            assert ours.validation_scores_ == pytest.approx(theirs.validation_scores_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_labels_outputs_counts_sparse_rows_and_parts_are_those_of_scikit_learn() -> None:
    X, several, _, _ = data()
    rng = np.random.RandomState(5)
    params: dict[str, Any] = {"hidden_layer_sizes": (11, 5), "random_state": 1, "max_iter": 3}
    weights = rng.rand(len(X))
    check_same(MLPClassifier(**params).fit(X, several, weights), peer.MLPClassifier(**params).fit(X, several, weights))
    labels = rng.randint(2, size=(len(X), 4))
    ours, theirs = MLPClassifier(**params).fit(X, labels), peer.MLPClassifier(**params).fit(X, labels)
    check_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    check_same(MLPRegressor(**params).fit(X, X[:, :3]), peer.MLPRegressor(**params).fit(X, X[:, :3]))
    counts = rng.poisson(2, len(X)).astype(float)
    ours, theirs = (each(loss="poisson", **params).fit(X, counts) for each in (MLPRegressor, peer.MLPRegressor))
    check_same(ours, theirs)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    S = sp.random(503, 40, 0.1, format="csr", random_state=0)
    check_same(MLPClassifier(**params).fit(S, several), peer.MLPClassifier(**params).fit(S, several))
    ours, theirs = MLPClassifier(**params), peer.MLPClassifier(**params)
    for first in (0, 100, 200):
        for model in (ours, theirs):
            model.partial_fit(X[first : first + 100], several[first : first + 100], classes=[0, 1, 2])
    check_same(ours, theirs)
    assert ours.t_ == theirs.t_ == 300
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_a_part_that_lacks_classes_is_learnt_as_scikit_learn_learns_it(solver: str) -> None:
    X, several, _, _ = data()
    ours, theirs = (each((11,), solver=solver, random_state=1) for each in (MLPClassifier, peer.MLPClassifier))
    for wanted in ([0], [2], [0, 1], [1]):
        rows = np.flatnonzero(np.isin(several, wanted))[:60]
        for model in (ours, theirs):
            model.partial_fit(X[rows], several[rows], classes=[0, 1, 2])
    check_same(ours, theirs)
    assert set(ours.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_rows_may_have_indices_of_64_bits(solver: str) -> None:
    _, several, _, _ = data()
    narrow = sp.random(503, 40, 0.1, format="csr", random_state=0)
    wide = narrow.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    one, other = (MLPClassifier((9,), solver=solver, max_iter=3, random_state=0).fit(S, several) for S in (narrow, wide))
    assert wide.indices.dtype == np.int64
    for mine, yours in zip(one.coefs_, other.coefs_, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.predict_proba(wide), other.predict_proba(narrow))


@pytest.mark.parametrize("n_features", [7, 40])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_training_has_the_same_bits_for_any_number_of_threads(n_features: int) -> None:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1500, n_features))
    y = rng.randint(12, size=1500)
    for dtype in (np.float64, np.float32):
        models = [
            MLPClassifier((130, 70), batch_size=400, max_iter=2, dropout=0.2, random_state=0, n_jobs=n).fit(X.astype(dtype), y)
            for n in (1, 2, 7)
        ]
        assert models[0].coefs_[0].dtype == dtype
        for model in models[1:]:
            for one, other in zip(models[0].coefs_ + models[0].intercepts_, model.coefs_ + model.intercepts_, strict=True):
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(models[0].predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_has_the_same_bits_in_whatever_rows_it_is_predicted_with(dtype: Any) -> None:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 611)).astype(dtype)
    model = MLPRegressor(hidden_layer_sizes=(57, 9), max_iter=1, random_state=0).fit(X, X[:, :3])
    together = model.predict(X)
    alone = np.vstack([model.predict(X[i : i + 1]) for i in range(0, 300, 17)])
    np.testing.assert_array_equal(together[::17], alone)
    np.testing.assert_array_equal(model.predict(np.asfortranarray(X)), together)
    np.testing.assert_allclose(model.predict(sp.csr_matrix(X)), together, rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-5)
