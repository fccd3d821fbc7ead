"""Values against scikit-learn's, at the ends of the range of floats, and in float32; what is refused, and how."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn import metrics

from mercer.losses import (
    LOSSES,
    Exponential,
    Gamma,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    Loss,
    ModifiedHuber,
    Perceptron,
    Pinball,
    Poisson,
    SoftmaxCrossEntropy,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Tweedie,
    ZeroOne,
    get_loss,
)
from tests.losses.cases import ALL_NAMES, SCALAR, name_of

every_loss = pytest.mark.parametrize("loss", SCALAR, ids=name_of)


@pytest.fixture
def random():
    return np.random.RandomState(0)


# ---- agreement with scikit-learn


def test_classification_losses_agree_with_scikit_learns_metrics(random):
    y, raw = random.choice([-1, 1], size=50), 2 * random.randn(50)
    assert Logistic().value(y, raw).mean() == pytest.approx(metrics.log_loss(y, Logistic().inverse_link(raw)))
    assert Hinge().value(y, raw).mean() == pytest.approx(metrics.hinge_loss(y, raw))
    assert ZeroOne().value(y, raw).mean() == pytest.approx(metrics.zero_one_loss(y, np.sign(raw)))
    codes, outputs = random.randint(4, size=50), random.randn(50, 4)
    softmax = SoftmaxCrossEntropy()
    assert softmax.value(codes, outputs).mean() == pytest.approx(metrics.log_loss(codes, softmax.inverse_link(outputs)))


def test_regression_losses_agree_with_scikit_learns_metrics(random):
    y, raw = random.randn(50), random.randn(50)
    assert 2 * Squared().value(y, raw).mean() == pytest.approx(metrics.mean_squared_error(y, raw))
    assert get_loss("absolute_error").value(y, raw).mean() == pytest.approx(metrics.mean_absolute_error(y, raw))
    for quantile in (0.1, 0.5, 0.9):
        expected = metrics.mean_pinball_loss(y, raw, alpha=quantile)
        assert Pinball(quantile=quantile).value(y, raw).mean() == pytest.approx(expected)


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_deviances_agree_with_scikit_learns_up_to_a_term_in_y_alone(random, power):
    loss = Tweedie(power=power)
    y, raw, other = random.gamma(2, size=50), random.randn(50), random.randn(50)
    by_power = {1: Poisson(), 2: Gamma()}

    def deviance(output):
        return metrics.mean_tweedie_deviance(y, np.exp(output), power=power)

    difference = 2 * (loss.value(y, raw) - loss.value(y, other)).mean()
    assert difference == pytest.approx(deviance(raw) - deviance(other))
    if loss.is_convex:
        assert 2 * (loss.value(y, raw) + loss.conjugate(y, 0.0)).mean() == pytest.approx(deviance(raw))
    if power in by_power:
        for method in ("value", "derivative", "second_derivative", "conjugate"):
            np.testing.assert_allclose(getattr(loss, method)(y, raw), getattr(by_power[power], method)(y, raw), rtol=1e-12)
        np.testing.assert_allclose(loss.prox(y, raw, 0.7), by_power[power].prox(y, raw, 0.7), rtol=1e-12)


def test_poisson_and_gamma_half_deviances_agree_with_scikit_learns_metrics(random):
    y, raw = 0.5 + random.poisson(2.0, size=50), random.randn(50)
    for loss, deviance in ((Poisson(), metrics.mean_poisson_deviance), (Gamma(), metrics.mean_gamma_deviance)):
        half = loss.value(y, raw) + loss.conjugate(y, 0.0)
        assert 2 * half.mean() == pytest.approx(deviance(y, loss.inverse_link(raw)))


# ---- what a loss estimates


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("loss", [Logistic(), Exponential(), SquaredHinge(), ModifiedHuber()], ids=name_of)
def test_inverse_link_of_the_best_output_is_the_probability(loss, p):
    best = minimize_scalar(lambda raw: p * loss.value(1, raw) + (1 - p) * loss.value(-1, raw), bounds=(-4, 4), method="bounded")
    assert loss.inverse_link(best.x) == pytest.approx(p, abs=1e-5)


def test_inverse_link_of_the_best_output_is_the_mean_of_counts_and_amounts(random):
    y = random.gamma(2, size=30)
    for loss in (Poisson(), Gamma(), Tweedie(power=1.5), Tweedie(power=3)):
        best = minimize_scalar(lambda raw, loss=loss: loss.value(y, raw).sum(), bounds=(-4, 4), method="bounded")
        assert loss.inverse_link(best.x) == pytest.approx(y.mean(), rel=1e-4)


def test_residual_losses_predict_the_raw_output():
    np.testing.assert_array_equal(Huber().inverse_link([1.5, -2.0]), [1.5, -2.0])


# ---- numbers


def test_surrogates_bound_the_zero_one_loss():
    raw = np.linspace(-3, 3, 601)
    for loss in (Hinge(), SquaredHinge(), ModifiedHuber(), Exponential()):
        assert (loss.value(1, raw) >= ZeroOne().value(1, raw)).all()
    assert (Logistic(base=2).value(1, raw) >= ZeroOne().value(1, raw)).all()
    np.testing.assert_allclose(Logistic(base=2).value(1, raw), np.log2(1 + np.exp(-raw)), atol=1e-15)
    assert Logistic(base=2).value(-1, 0.0) == 1


def test_logistic_and_log_cosh_are_safe_for_large_outputs():
    raw = np.array([-1e3, 1e3, -1e300, 1e300])
    np.testing.assert_array_equal(Logistic().value(1, raw), [1e3, 0, 1e300, 0])
    np.testing.assert_array_equal(Logistic().derivative(1, raw), [-1, 0, -1, 0])
    np.testing.assert_allclose(LogCosh().value(0.0, raw), np.abs(raw) - np.log(2))
    np.testing.assert_array_equal(LogCosh().derivative(0.0, raw), np.sign(raw))
    np.testing.assert_array_equal(LogCosh().second_derivative(0.0, raw), 0)


def test_small_values_keep_their_digits():
    assert LogCosh().value(0.0, 1e-9) == pytest.approx(5e-19, rel=1e-12, abs=0)
    assert Logistic().value(1, 40.0) == pytest.approx(np.exp(-40), rel=1e-12, abs=0)
    assert LogCosh().second_derivative(0.0, 30.0) == pytest.approx(4 * np.exp(-60), rel=1e-12, abs=0)
    assert SoftmaxCrossEntropy().value([0], [[1000.0, 960.0]]) == pytest.approx(np.exp(-40), rel=1e-12, abs=0)
    assert SoftmaxCrossEntropy().value([0], [[1000.0, 0.0]]) == 0
    assert SoftmaxCrossEntropy().value([1], [[1000.0, 0.0]]) == 1000


@pytest.mark.parametrize(
    "loss", [Exponential(), Poisson(), Gamma(), *(Tweedie(power=p) for p in (0, 1.5, 2.5, 3))], ids=name_of
)
def test_exponentials_overflow_to_infinity_without_nan_or_warning(loss):
    raw = np.array([-3e3, 3e3])
    with np.errstate(all="raise", under="ignore"):
        for y in (1.0, 3.0):
            for method in (loss.value, loss.derivative, loss.second_derivative):
                assert not np.isnan(method(y, raw)).any()
            assert np.isfinite(loss.prox(y, raw, 2.0)).all()
    assert np.isinf(loss.value(1.0, raw)).any()


def test_tweedie_with_zero_targets_is_finite_far_out():
    loss = Tweedie(power=1.95)
    assert loss.derivative(0.0, -1e5) == 0
    assert loss.value(0.0, -1e5) == 0


@every_loss
def test_float32_is_kept(loss):
    y, raw = np.array([1, 1]), np.array([0.3, 0.9], dtype=np.float32)
    results = [loss.value(y, raw), loss.derivative(y, raw), loss.second_derivative(y, raw), loss.prox(y, raw, 0.5)]
    results += [*loss.subdifferential(y, raw), loss.subdifferential_distance(y, raw, 0.1), loss.inverse_link(raw)]
    if loss.is_convex:
        results.append(loss.conjugate(y, raw))
    assert all(result.dtype == np.float32 and result.shape == (2,) for result in results)
    np.testing.assert_allclose(results[3], loss.prox(y, raw.astype(np.float64), 0.5), rtol=1e-6)
    assert loss.value(y[0], raw[0]).dtype == np.float32
    assert loss.value(1, 1).dtype == np.float64  # integers become float64


def test_softmax_keeps_float32():
    loss, raw = SoftmaxCrossEntropy(), np.array([[0.3, 0.9, -1.0]], dtype=np.float32)
    results = [loss.value([1], raw), loss.derivative([1], raw), loss.second_derivative([1], raw), loss.prox([1], raw, 0.5)]
    results += [*loss.subdifferential([1], raw), loss.inverse_link(raw), loss.conjugate([1], loss.derivative([1], raw))]
    assert all(result.dtype == np.float32 for result in results)
    assert np.isfinite(results[-1]).all()


@every_loss
def test_arguments_broadcast(loss):
    y, raw = np.array([[1.0], [1.0]]), np.array([0.2, -0.4, 2.0])
    for method in (loss.value, loss.derivative, loss.second_derivative, loss.conjugate):
        if loss.is_convex or method != loss.conjugate:
            assert method(y, raw).shape == (2, 3)
    assert loss.prox(y, raw, np.array([[0.5], [2.0]])).shape == (2, 3)
    np.testing.assert_array_equal(loss.prox(y, raw, 0.5)[1], loss.prox(1.0, raw, 0.5))
    assert loss.value(np.empty(0), np.empty(0)).shape == (0,)
    assert loss.prox(np.empty(0), np.empty(0), 1.0).shape == (0,)


def test_conventions_at_kinks_are_those_that_the_classes_name():
    assert Hinge().derivative([1, -1], [1.0, -1.0]).tolist() == [-1, 1]
    assert Perceptron().derivative([1, -1], [0.0, 0.0]).tolist() == [-1, 1]
    assert get_loss("absolute").derivative(0.0, 0.0) == 0
    assert Pinball(quantile=0.9).derivative(0.0, 0.0) == 0
    assert get_loss("epsilon_insensitive", epsilon=0.5).derivative(0.0, [0.5, -0.5]).tolist() == [0, 0]
    assert SquaredHinge().second_derivative(1, 1.0) == 0
    assert ModifiedHuber().second_derivative(1, [-1.0, 1.0]).tolist() == [2, 0]
    assert Huber(delta=2).second_derivative(0.0, [2.0, 2.1]).tolist() == [1, 0]
    assert SquaredEpsilonInsensitive(epsilon=1).second_derivative(0.0, [1.0, 1.1]).tolist() == [0, 2]
    assert ZeroOne().value([1, -1], [0.0, 0.0]).tolist() == [1, 1]
    assert Exponential().inverse_link(0.7) == expit(1.4)


# ---- names, parameters, targets


def test_every_loss_is_found_by_its_name_and_its_aliases():
    assert all(type(get_loss(name)) is LOSSES[name] for name in ALL_NAMES)
    aliases = {"log_loss": "logistic", "squared_error": "squared", "absolute_error": "absolute", "quantile": "pinball"}
    for alias, name in {**aliases, "multinomial": "softmax"}.items():
        assert type(get_loss(alias)) is LOSSES[name]
    assert get_loss("huber", delta=2) == Huber(delta=2.0)
    assert isinstance(get_loss("huber", delta=2).delta, float)
    mine = Pinball(quantile=0.2)
    assert get_loss(mine) is mine


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: get_loss("hunge"), r"loss='hunge' is not valid; it must be a Loss or one of 'zero_one', 'hinge'.*'log_loss'"),
        (lambda: get_loss(3), "loss=3 is not valid"),
        (lambda: get_loss("huber", epsilon=1), "epsilon=1 is not valid; the loss 'huber' takes delta"),
        (lambda: get_loss("hinge", delta=1), "delta=1 is not valid; the loss 'hinge' takes no parameters"),
        (lambda: get_loss(Huber(), delta=1), "has its parameters"),
        (lambda: Huber(delta=0), "Huber: delta=0 is not valid; it must be a finite number > 0"),
        (lambda: Pinball(quantile=1.5), "Pinball: quantile=1.5 is not valid"),
        (lambda: get_loss("epsilon_insensitive", epsilon=-1), "EpsilonInsensitive: epsilon=-1 is not valid"),
        (
            lambda: Tweedie(power=0.5),
            "Tweedie: power=0.5 is not valid; it must be .* <= 0 or a finite number >= 1",
        ),
        (lambda: Tweedie(power="1"), "Tweedie: power='1' is not valid"),
    ],
)
def test_wrong_names_and_parameters_are_refused_with_what_would_do(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (Hinge(), [1, 0], "Hinge: y holds 0; every value must be -1 or \\+1"),
        (Squared(), [1.0, np.nan], "Squared: y holds nan; every value must be a finite number"),
        (Squared(), ["a"], "Squared: y holds values that are not numbers"),
        (Poisson(), [3, -1], "Poisson: y holds -1; every value must be a number >= 0"),
        (Gamma(), [1.0, 0.0], "Gamma: y holds 0; every value must be a number > 0"),
        (Tweedie(power=1.5), [-2.0], "y holds -2; every value must be a number >= 0 for power=1.5"),
        (Tweedie(power=3), [0.0], "y holds 0; every value must be a number > 0 for power=3"),
        (SoftmaxCrossEntropy(), [0, 1.5], "y holds 1.5; every value must be a class code"),
        (SoftmaxCrossEntropy(), [[0.5, 0.6]], "y holds a row with the sum 1.1"),
        (SoftmaxCrossEntropy(), [[-0.5, 1.5]], "y holds -0.5; every value must be a probability"),
    ],
)
def test_targets_outside_the_domain_are_refused_by_name_and_value(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.check_y(y)


def test_targets_inside_the_domain_come_back_as_numbers():
    assert Hinge().check_y([1, -1]).dtype == np.float64
    assert Poisson().check_y(np.array([0, 2], dtype=np.float32)).dtype == np.float32
    assert Tweedie(power=0).check_y([-1.0]).tolist() == [-1]
    assert SoftmaxCrossEntropy().check_y([0, 2]).dtype == np.intp
    assert SoftmaxCrossEntropy().check_y([[0.25, 0.75]]).shape == (1, 2)


def test_softmax_refuses_codes_without_a_column():
    for code in (3, -1):
        with pytest.raises(ValueError, match=f"y holds the class {code}, but raw has columns for 0 to 2"):
            SoftmaxCrossEntropy().value([0, code], np.zeros((2, 3)))


def test_every_loss_says_what_it_is():
    for loss in (cls() for cls in LOSSES.values()):
        assert isinstance(loss, Loss)
        assert LOSSES[loss.name] is type(loss)
        assert loss.kind in ("margin", "residual", "positive", "multiclass")
        assert loss.estimates
