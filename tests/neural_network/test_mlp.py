"""What perceptrons offer beyond scikit-learn's, and what they say of wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.losses import Hinge, Pinball
from mercer.neural_network import Autoencoder, MLPClassifier, MLPRegressor
from mercer.neural_network._training import Trainer
from mercer.optim import Adam, CosineDecay, Optimizer, RMSProp
from tests.common.state import assert_same_bits

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def moons() -> tuple[Any, Any]:
    from sklearn.datasets import make_moons

    return make_moons(300, noise=0.15, random_state=0)  # type: ignore[no-any-return]


def test_a_network_of_3_3_2_1_units_has_23_parameters() -> None:
    X = np.random.RandomState(0).randn(20, 3)
    assert MLPRegressor(hidden_layer_sizes=(3, 2), max_iter=1).fit(X, X[:, 0]).n_parameters_ == 23


def test_early_stopping_restores_the_best_epoch(moons: Any) -> None:
    X, y = moons
    model = MLPClassifier((30,), learning_rate_init=0.05, early_stopping=True, n_iter_no_change=8, random_state=0).fit(X, y)
    best = int(np.argmax(model.validation_scores_))
    assert best < len(model.validation_scores_) - 1
    short = clone(model).set_params(max_iter=best + 1, n_iter_no_change=1000).fit(X, y)
    for one, other in zip(model.coefs_, short.coefs_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_to_score_by_can_be_given(moons: Any) -> None:
    X, y = moons
    model = MLPClassifier((30,), max_iter=30, random_state=0).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert len(model.validation_scores_) == len(model.history_)
    assert max(model.validation_scores_) == pytest.approx(model.score(X[200:], y[200:]))


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (MLPClassifier(), {"X_val": [[0, 0]]}, "X_val is given without y_val"),
        (MLPRegressor(), {"X_val": [[0, 0]]}, "X_val is given without y_val"),
        (MLPClassifier(), {"y_val": [0]}, "y_val is given without X_val"),
        (MLPRegressor(), {"sample_weight_val": [1]}, "sample_weight_val is given without X_val"),
        (MLPClassifier(solver="lbfgs"), {"X_val": [[0, 0]], "y_val": [0]}, "X_val is not valid with solver='lbfgs'"),
        (MLPClassifier(), {"X_val": [[0, 0]], "y_val": [7]}, "label 7"),
        (MLPClassifier(), {"X_val": [[0, 0, 0]], "y_val": [1]}, "3 features"),
        (
            MLPClassifier(),
            {"X_val": [[0, 0]], "y_val": [[1, 0]]},
            r"y_val of shape \(1, 2\) is not valid; it must be one column",
        ),
        (MLPRegressor(), {"X_val": [[0, 0]], "y_val": [0]}, "X_val has 1 row; R"),
        (MLPRegressor(), {"X_val": np.eye(2), "y_val": np.eye(2)}, "y_val has 2 outputs; y has 1"),
        (MLPRegressor(), {"X_val": np.eye(2), "y_val": [0, 1], "sample_weight_val": [0, 0]}, "zero for every row"),
    ],
    ids=str,
)
def test_rows_to_score_by_are_like_the_others(moons: Any, model: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clone(model).fit(*moons, **given)


@pytest.mark.parametrize("y_val", [[0, 1], [[0, 1, 1]], [[0, 2], [1, 0]]], ids=str)
def test_labels_to_score_by_are_zeros_and_ones_as_many_as_those_of_y(moons: Any, y_val: Any) -> None:
    X, y = moons
    with pytest.raises(ValueError, match=r"y_val of shape .* must hold 0 and 1 for each of 2 labels"):
        MLPClassifier().fit(X, np.column_stack([y, 1 - y]), X_val=X[: len(y_val)], y_val=y_val)


def test_rows_are_held_out_only_where_there_are_enough() -> None:
    X, y = np.random.RandomState(0).randn(30, 2), np.array(["a"] * 29 + ["b"])
    with pytest.raises(ValueError, match=r"y has 29 rows of class 'a' and 1 of class 'b'; with early_stopping=True"):
        MLPClassifier(early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="validation set is too small"):
        MLPRegressor(early_stopping=True).fit(X[:5], X[:5, 0])
    with pytest.raises(ValueError, match=r"validation_fraction=0\.99 of 30 rows leaves none"):
        MLPRegressor(early_stopping=True, validation_fraction=0.99).fit(X, X[:, 0])
    for model, fraction, side in (
        (MLPRegressor(), 0.1, "held out"),
        (Autoencoder(), 0.1, "held out"),
        (MLPRegressor(), 0.9, "to learn"),
    ):
        model.set_params(early_stopping=True, validation_fraction=fraction, random_state=0)
        with pytest.raises(ValueError, match=rf"sample_weight is zero for all \d+ rows that are {side}"):
            model.fit(X, X[:, 0], sample_weight=np.eye(30)[0])  # one row counts


def test_a_score_that_is_not_a_number_is_never_the_best(moons: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = moons
    scores = iter([np.nan, 0.5, np.nan, 0.7, np.nan, 0.6])
    monkeypatch.setattr(MLPClassifier, "_score_on", lambda self, raw, sample: next(scores))
    model = MLPClassifier((3,), max_iter=6, early_stopping=True, random_state=0).fit(X, y)
    assert len(model.validation_scores_) == 6
    short = MLPClassifier((3,), max_iter=4, random_state=0, early_stopping=True)
    scores = iter([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(model.coefs_[0], short.fit(X, y).coefs_[0])


@pytest.mark.parametrize(
    "params",
    [
        {"solver": Adam(beta1=0.8)},
        {"solver": RMSProp(), "learning_rate": CosineDecay(50)},
        {"solver": "adagrad", "learning_rate_init": 0.05},
        {"solver": "momentum", "learning_rate_init": 0.1, "learning_rate": "exponential"},
        {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.1},
        {"activation": ["gelu", "leaky_relu"], "init": "he"},
        {"init": "orthogonal", "activation": "tanh"},
        {"dropout": [0.2, 0.1]},
        {"clip_norm": 0.5, "decoupled_decay": True, "alpha": 1.0},
        {"skip_connections": [(0, 2), (0, 3)]},
        {"loss": "hinge"},
        {"loss": Hinge()},
        {"loss": "squared_hinge"},
        {"loss": "modified_huber"},
        {"loss": "exponential"},
        {"class_weight": "balanced"},
        {"pretrain": Autoencoder(max_iter=5)},
        {"n_iter_no_change": np.inf},
    ],
    ids=str,
)
def test_every_option_learns(moons: Any, params: dict[str, Any]) -> None:
    X, y = moons
    model = MLPClassifier((24, 12), **{"max_iter": 120, "learning_rate_init": 0.01, "random_state": 0} | params).fit(X, y)
    assert model.score(X, y) > 0.93
    several = np.where(X[:, 1] > 0.6, 2, y)
    assert clone(model).fit(X, several).score(X, several) > 0.85


@pytest.mark.parametrize(
    "loss",
    ["squared_error", "absolute_error", "huber", "log_cosh", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile"],
)
def test_every_loss_of_numbers_learns(loss: str) -> None:
    rng = np.random.RandomState(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    model = MLPRegressor(loss, (20,), max_iter=150, learning_rate_init=0.01, tol=0, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_quantiles_and_amounts_are_what_they_should_be() -> None:
    rng = np.random.RandomState(0)
    X = rng.uniform(-1, 1, (2000, 1))
    y = X[:, 0] + rng.standard_normal(2000)
    high = MLPRegressor(Pinball(0.9), (10,), max_iter=60, learning_rate_init=0.01, random_state=0).fit(X, y)
    assert (y < high.predict(X)).mean() == pytest.approx(0.9, abs=0.02)
    amounts = rng.gamma(2, np.exp(X[:, 0]) / 2)
    mean = MLPRegressor("gamma", (10,), max_iter=60, learning_rate_init=0.01, random_state=0).fit(X, amounts)
    assert mean.out_activation_ == "exp"
    np.testing.assert_allclose(mean.predict([[0.5]]), np.exp(0.5), rtol=0.15)


def test_cut_connections_stay_cut(moons: Any) -> None:
    X, y = moons
    mask = np.ones((2, 8), dtype=int)
    mask[0, :4] = 0
    for solver in ("adam", "lbfgs", "sgd"):
        model = MLPClassifier((8,), masks=[mask, None], solver=solver, alpha=0.1, max_iter=20, random_state=0).fit(X, y)
        assert (model.coefs_[0][mask == 0] == 0).all()
        assert (model.coefs_[0][mask == 1] != 0).all()
        assert model.n_parameters_ == 8 * 4 + 1 - 4


def test_a_gradient_is_cut_to_its_longest(moons: Any) -> None:
    """One step of plain descent moves the parameters by the rate times the longest gradient."""
    X, y = moons
    start = MLPClassifier(
        (8,), solver="sgd", momentum=0.0, max_iter=1, batch_size=300, learning_rate_init=1e-9, random_state=0
    ).fit(X, y)
    model = (
        clone(start)
        .set_params(init=(start.coefs_, start.intercepts_), clip_norm=1e-3, learning_rate_init=1.0, alpha=0.0)
        .fit(X, y)
    )
    moved = [a - b for a, b in zip(model.coefs_ + model.intercepts_, start.coefs_ + start.intercepts_, strict=True)]
    assert np.sqrt(sum(np.square(part).sum() for part in moved)) == pytest.approx(1e-3, rel=1e-6)


def test_given_parameters_and_a_warm_start_go_on_where_the_last_fit_ended(moons: Any) -> None:
    X, y = moons
    whole = MLPClassifier((8,), solver="sgd", momentum=0.0, shuffle=False, max_iter=6, tol=0, random_state=0).fit(X, y)
    model = clone(whole).set_params(max_iter=3, warm_start=True).fit(X, y)
    again = clone(whole).set_params(max_iter=3, init=(model.coefs_, model.intercepts_)).fit(X, y)
    model.fit(X, y)
    for one, other, third in zip(whole.coefs_, model.coefs_, again.coefs_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
        np.testing.assert_allclose(one, third, rtol=1e-12)
    assert len(model.loss_curve_) == len(model.history_) == 6
    assert model.n_iter_ == 3


@pytest.mark.parametrize(
    "params",
    [
        {"early_stopping": True},
        {"dropout": 0.3, "masks": [np.eye(2, 8), None]},
        {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.1, "tol": 0.1, "n_iter_no_change": 2},
        {"learning_rate": "cosine", "solver": RMSProp()},
        {"learning_rate": "invscaling", "solver": "momentum"},
        {"tol": 10.0, "n_iter_no_change": 4},
        {"pretrain": Autoencoder(max_iter=2), "skip_connections": None},
    ],
    ids=str,
)
def test_a_fit_that_is_looked_at_ends_as_one_that_is_not(moons: Any, params: dict[str, Any]) -> None:
    X, y = moons
    model = MLPClassifier((8,), **{"max_iter": 18, "random_state": 0} | params)
    looks = list(model.fit_in_stages(X, y, [2, 6, 18]))
    assert [is_over for _, is_over in looks] == [False] * (len(looks) - 1) + [True]
    assert_same_bits(looks[-1][0], model.fit(X, y))
    assert len(looks) == 2 if "tol" in params and params["tol"] == 10.0 else 3


def test_an_epoch_waits_until_the_look_after_it_is_asked_for(moons: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    epochs = []
    epoch = Trainer.epoch
    monkeypatch.setattr(Trainer, "epoch", lambda self, *args: epochs.append(1) or epoch(self, *args))
    looks = MLPClassifier((8,), max_iter=18, random_state=0).fit_in_stages(*moons, [2, 6, 18])
    for n_epochs in (2, 6, 18):
        next(looks)
        assert len(epochs) == n_epochs


def test_layers_begin_as_encoders(moons: Any) -> None:
    X, y = moons
    coder = Autoencoder((6,), "relu", code_activation="relu", max_iter=5, random_state=0).fit(X)
    model = MLPClassifier((6,), pretrain=Autoencoder(max_iter=5, random_state=0), max_iter=1, learning_rate_init=1e-12).fit(
        X, y
    )
    np.testing.assert_allclose(model.coefs_[0], coder.coefs_[0], atol=1e-9)


def test_history_tells_what_an_epoch_was(moons: Any) -> None:
    X, y = moons
    model = MLPClassifier((8, 4), max_iter=5, early_stopping=True, random_state=0).fit(X, y)
    names = {"loss", "penalty", "rate", "score", "gradient_norm_1", "gradient_norm_2", "gradient_norm_3"}
    assert all(set(record) == names for record in model.history_)
    assert model.loss_curve_ == [record["loss"] + record["penalty"] for record in model.history_]


def test_the_certificate_is_the_gradient_at_the_end(moons: Any) -> None:
    X, y = moons
    model = MLPClassifier(
        (8,), solver="lbfgs", activation="tanh", tol=1e-5, max_iter=5000, max_fun=50_000, random_state=0, alpha=1.0
    )
    certificate = model.fit(X, y).certificate_
    assert certificate.converged
    assert certificate.residual <= 1e-5
    assert "local" in certificate.condition


def test_diagnosis_names_what_went_wrong(moons: Any) -> None:
    X, y = moons
    deep = MLPClassifier((8,) * 8, activation="logistic", solver="sgd", max_iter=5, random_state=0).fit(X, y)
    assert any(found.name == "vanishing gradients" for found in deep.diagnose().findings)
    assert any(found.name == "under-fitting" for found in deep.diagnose().findings)
    dead = MLPClassifier((8,), max_iter=2, random_state=0).fit(X, y)
    dead.intercepts_[0][:] = -100
    diagnosis = dead.diagnose(X)
    assert diagnosis.dead_units == (8,)
    assert "dead units" in repr(diagnosis)
    well = MLPClassifier((16,), activation="tanh", max_iter=100, learning_rate_init=0.01, random_state=0).fit(X, y)
    assert not well.diagnose(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"activation": "heaviside"}, "slope is zero everywhere"),
        ({"activation": ["relu", "tanh"]}, "one value, or one a layer"),
        ({"activation": "softmax"}, "activation='softmax' is not valid"),
        ({"hidden_layer_sizes": (3, 0)}, r"hidden_layer_sizes\[1\]=0"),
        ({"solver": "newton"}, "solver='newton' is not valid"),
        ({"dropout": 1.0}, "dropout=1.0 is not valid"),
        ({"dropout": 0.5, "solver": "lbfgs"}, "dropout is not valid with solver='lbfgs'"),
        ({"skip_connections": [(0, 1)]}, r"skip_connections\[0\]=\(0, 1\) is not valid"),
        ({"masks": [None]}, "masks of length 1"),
        ({"masks": [np.zeros((3, 3)), None]}, r"masks\[0\] of shape"),
        ({"init": ([], [])}, "init holds arrays of shapes"),
        ({"init": "random"}, "init='random' is not valid"),
        ({"pretrain": "yes"}, "pretrain='yes' is not valid"),
        ({"momentum": 1.0, "solver": "sgd"}, "must be < 1"),
        ({"loss": "squared_error"}, "loss='squared_error' is not valid"),
        ({"class_weight": {5: 1.0}, "solver": "lbfgs", "dropout": 0.1}, "."),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(moons: Any, params: dict[str, Any], message: str) -> None:
    X, y = moons
    with pytest.raises(ValueError, match=message):
        MLPClassifier(**{"hidden_layer_sizes": (4,)} | params).fit(X, y)


def test_sparse_rows_are_read_by_the_first_layer_alone(moons: Any) -> None:
    X, y = moons
    with pytest.raises(ValueError, match=r"skip_connections=\[\(0, 2\)\] is not valid with sparse X"):
        MLPClassifier((4,), skip_connections=[(0, 2)]).fit(sp.csr_matrix(X), y)
    dense, sparse = (MLPClassifier((4, 3), skip_connections=[(1, 3)], random_state=0).fit(S, y) for S in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(X), rtol=1e-6)


def test_own_optimisers_are_refused(moons: Any) -> None:
    class Own(Optimizer):
        pass

    with pytest.raises(ValueError, match=r"optimiser of mercer\.optim itself"):
        MLPClassifier(solver=Own()).fit(*moons)


def test_bad_targets_are_refused(moons: Any) -> None:
    X, y = moons
    with pytest.raises(ValueError, match="1 class"):
        MLPClassifier().fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="Poisson"):
        MLPRegressor("poisson").fit(X, y - 1.0)
    with pytest.raises(ValueError, match="one for labels"):
        MLPRegressor(Hinge()).fit(X, np.where(y == 0, -1.0, 1.0))
    with pytest.raises(ValueError, match="NaN"):
        MLPRegressor().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="several labels a row"):
        MLPClassifier(class_weight="balanced").fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(AttributeError, match="predict_proba") as found:
        MLPClassifier(loss="hinge", max_iter=1).fit(X, y).predict_proba(X)
    assert "loss='log_loss' has them" in str(found.value.__cause__)


def test_a_rate_that_explodes_ends_in_an_error_and_leaves_the_model_as_it_was(moons: Any) -> None:
    X, y = moons
    model = MLPRegressor(hidden_layer_sizes=(5,), max_iter=3, random_state=0).fit(X, y)
    before = model.coefs_
    model.set_params(solver="sgd", learning_rate_init=1e9, max_iter=50)
    with pytest.raises(ValueError, match=r"non-finite parameter weights.*clip_norm"):
        model.fit(1e3 * X, y)
    assert model.coefs_ is before


def test_a_loss_that_overflows_is_an_error_that_names_y(moons: Any) -> None:
    X, y = moons
    for early_stopping in (False, True):
        with pytest.raises(ValueError, match=r"non-finite .* of y as large as 1e\+200.*TransformedTargetRegressor"):
            MLPRegressor(early_stopping=early_stopping, max_iter=3).fit(X, 1e200 * y)


@pytest.mark.parametrize(("factor", "shown"), [(np.nan, "nan"), (-1.0, "-1"), (np.inf, "inf")])
def test_a_schedule_must_give_rates(moons: Any, factor: float, shown: str) -> None:
    with pytest.raises(ValueError, match=f"learning_rate gave the factor {shown} in epoch 3"):
        MLPClassifier((3,), learning_rate=lambda t: factor if t >= 2 else 1.0).fit(*moons)


def test_what_was_fitted_predicts_whatever_parameters_are_set_for_the_next_fit(moons: Any) -> None:
    X, y = moons
    model = MLPClassifier((5,), max_iter=3, skip_connections=np.array([[0, 2]]), random_state=0).fit(X, y)
    expected, dead = model.predict_proba(X), model.diagnose(X).dead_units
    model.set_params(hidden_layer_sizes=(7, 3))
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert model.diagnose(X).dead_units == dead


def test_warnings_say_what_to_do(moons: Any) -> None:
    X, y = moons
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        MLPClassifier((3,), max_iter=2).fit(X, y)
    with pytest.warns(UserWarning, match="batch_size=1000 for 300 rows"):
        MLPClassifier((3,), max_iter=2, batch_size=1000).fit(X, y)


def test_partial_fits_want_what_they_can_have(moons: Any) -> None:
    X, y = moons
    with pytest.raises(ValueError, match="classes must be passed"):
        MLPClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="early_stopping=True"):
        MLPClassifier(early_stopping=True).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(AttributeError, match="partial_fit"):
        MLPClassifier(solver="lbfgs").partial_fit(X, y, classes=[0, 1])
    model = MLPClassifier((3,)).partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    assert model.predict_proba(X[:2]).shape == (2, 3)


def test_a_sparse_table_and_a_weight_of_zero_are_as_dense_rows_and_none(moons: Any) -> None:
    X, y = moons
    params: dict[str, Any] = {"solver": "lbfgs", "max_iter": 10, "random_state": 0}
    dense = MLPClassifier((6,), **params).fit(X, y)
    sparse = MLPClassifier((6,), **params).fit(sp.csc_matrix(X), y)
    np.testing.assert_allclose(dense.coefs_[0], sparse.coefs_[0], rtol=1e-6)
    weights = (np.arange(300) % 3 > 0).astype(float)
    weighted = MLPClassifier((6,), **params).fit(X, y, sample_weight=weights)
    chosen = MLPClassifier((6,), **params).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(weighted.coefs_[0], chosen.coefs_[0], rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((8,), solver=RMSProp(), learning_rate=CosineDecay(9), dropout=0.2, max_iter=3),
        MLPClassifier((8,), masks=[np.eye(2, 8), None], skip_connections=[(0, 2)], solver=Adam(beta1=0.8), max_iter=3),
        MLPRegressor(Pinball(0.8), (8, 4), activation=["gelu", "tanh"], pretrain=Autoencoder(max_iter=2), max_iter=3),
    ],
    ids=["optimiser", "masks", "loss"],
)
def test_a_saved_network_goes_on_where_it_was(moons: Any, model: Any, tmp_path: Any) -> None:
    X, y = moons
    model = clone(model).set_params(random_state=0).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert repr(loaded) == repr(model)
    assert_same_bits(loaded, model)
    assert repr(loaded.diagnose(X)) == repr(model.diagnose(X))
    for each in (model, loaded):
        each.partial_fit(X[:50], y[:50])
    assert_same_bits(loaded, model)  # the optimiser's memory is kept too
