"""Stochastic optimisers and schedules: each against its formula, worked out by hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mercer.optim
from mercer.optim import (
    SGD,
    AdaGrad,
    Adam,
    ConstantRate,
    CosineDecay,
    ExponentialDecay,
    InverseDecay,
    Momentum,
    Nesterov,
    RMSProp,
    StepDecay,
)
from tests.reference import optimizers as reference
from tests.reference.descent import nesterov_path

OPTIMIZERS = [SGD(), Momentum(), Nesterov(), AdaGrad(), RMSProp(), Adam()]


def after(optimizer, gradients, rate=0.1, start=(1.0, -2.0)):
    x = np.array(start)
    state = optimizer.init(x)
    for gradient in gradients:
        optimizer.update(x, np.array(gradient), state, rate)
    return x


G1, G2 = np.array([0.5, -4.0]), np.array([-1.0, 2.0])
START = np.array([1.0, -2.0])

# optimiser, what the first and the second update take from x, by the formulas with rate 0.1
BY_HAND = [
    (SGD(), 0.1 * G1, 0.1 * G2),
    (Momentum(gamma=0.9), 0.1 * G1, 0.1 * (0.9 * G1 + G2)),
    (Nesterov(gamma=0.9), 0.1 * (G1 + 0.9 * G1), 0.1 * (G2 + 0.9 * (0.9 * G1 + G2))),
    (AdaGrad(eps=1e-8), 0.1 * G1 / (np.abs(G1) + 1e-8), 0.1 * G2 / (np.sqrt(G1**2 + G2**2) + 1e-8)),
    (
        RMSProp(rho=0.9, eps=1e-8),
        0.1 * G1 / (np.sqrt(0.1 * G1**2) + 1e-8),
        0.1 * G2 / (np.sqrt(0.9 * 0.1 * G1**2 + 0.1 * G2**2) + 1e-8),
    ),
    (
        Adam(beta1=0.9, beta2=0.999, eps=1e-8),
        0.1 * G1 / (np.abs(G1) + 1e-8),
        0.1
        * ((0.9 * 0.1 * G1 + 0.1 * G2) / (1 - 0.9**2))
        / (np.sqrt((0.999 * 0.001 * G1**2 + 0.001 * G2**2) / (1 - 0.999**2)) + 1e-8),
    ),
]


@pytest.mark.parametrize(("optimizer", "first", "second"), BY_HAND, ids=[type(row[0]).__name__ for row in BY_HAND])
def test_two_updates_by_hand(optimizer, first, second):
    np.testing.assert_allclose(after(optimizer, [G1]), START - first, rtol=1e-12)
    np.testing.assert_allclose(after(optimizer, [G1, G2]), START - first - second, rtol=1e-12)


def test_momentum_weighs_the_past_by_powers_of_gamma():
    # The notes: M = gamma^2 x0 + gamma x1 + x2.
    x = np.zeros(1)
    optimizer = Momentum(gamma=0.5)
    state = optimizer.init(x)
    for gradient in (3.0, 5.0, 7.0):
        optimizer.update(x, np.array([gradient]), state, rate=1.0)
    np.testing.assert_allclose(state.moment, 0.25 * 3 + 0.5 * 5 + 7)


def test_nesterov_is_the_method_that_looks_ahead():
    A = np.array([[2.0, -2.0], [-2.0, 8.0]])
    x, optimizer = np.array([3.0, 2.0]), Nesterov(gamma=0.7)
    state, path = optimizer.init(x), [x.copy()]
    for _ in range(20):
        optimizer.update(x, A @ x, state, rate=0.05)
        path.append(x.copy())
    np.testing.assert_allclose(path, nesterov_path(lambda u: A @ u, [3.0, 2.0], 0.05, 0.7, 20), rtol=1e-9)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
def test_a_parameter_without_gradients_stays_where_it_is(optimizer):
    x = after(optimizer, [[1.0, 0.0]] * 5)
    assert x[0] != 1.0
    assert x[1] == -2.0


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_any_shape_are_updated_in_place_in_their_own_type(optimizer, dtype):
    x = np.ones((3, 2, 4), dtype=dtype)
    gradient = np.full_like(x, 0.25)
    state = optimizer.init(x)
    kept = x
    optimizer.update(x, gradient, state, 0.5)
    assert kept is x
    assert x.dtype == dtype
    assert (x < 1).all()
    assert (gradient == 0.25).all()
    assert state.n_updates == 1
    assert {a.dtype for a in (state.moment, state.squares) if a.size} <= {np.dtype(dtype)}


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
def test_two_states_do_not_mix(optimizer):
    x, y = np.array([1.0]), np.array([1.0])
    of_x, of_y = optimizer.init(x), optimizer.init(y)
    for _ in range(3):
        optimizer.update(x, np.array([1.0]), of_x, 0.1)
    optimizer.update(y, np.array([1.0]), of_y, 0.1)
    np.testing.assert_array_equal(y, after(optimizer, [[1.0]], start=(1.0,)))


def test_every_setting_has_a_rule_and_every_rule_a_setting():
    public = [getattr(mercer.optim, name) for name in mercer.optim.__all__]
    classes = [cls for cls in public if hasattr(cls, "_rules") and dataclasses.is_dataclass(cls)]
    assert len(classes) >= 18
    for cls in classes:
        assert {field.name for field in dataclasses.fields(cls)} == set(cls._rules), cls.__name__


# As they are, the columns of a larger array, turned over, and with a gap after each number.
LAYOUTS = {
    "C": np.array,
    "F": np.asfortranarray,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "gaps": lambda a: np.repeat(a, 2, 1)[:, ::2],
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_steps_are_those_of_the_formulas(optimizer, dtype, layout):
    random, rule = np.random.default_rng(0), getattr(reference, type(optimizer).__name__.lower())
    start = random.normal(size=(17, 5)).astype(dtype)
    x = LAYOUTS[layout](start)
    state, expected = optimizer.init(x), (start.astype(np.float64), np.zeros(x.shape), np.zeros(x.shape))
    for t in range(1, 30):
        gradient = random.normal(size=x.shape).astype(dtype)
        optimizer.update(x, LAYOUTS[layout](gradient), state, 0.1 / t)
        expected = rule(expected[0], gradient.astype(np.float64), *expected[1:], t, 0.1 / t)
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(x, expected[0], rtol=tolerance, atol=tolerance)
    for found, wanted in zip((state.moment, state.squares), expected[1:], strict=True):
        if found.size:
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("x", [np.arange(3), np.broadcast_to(1.0, 3)], ids=["integers", "read-only"])
def test_parameters_that_cannot_be_moved_in_place_are_refused(x):
    with pytest.raises(TypeError, match="written to"):
        SGD().update(x, np.ones(3), SGD().init(x), 0.1)


# ---- schedules


@given(st.floats(0, 1e6), st.floats(0, 10), st.floats(0, 3), st.floats(0.01, 0.99), st.integers(1, 1000))
def test_schedules_are_their_formulas(t, decay, power, factor, every):
    assert InverseDecay(decay, power)(t) == pytest.approx(reference.inverse(t, decay, power), rel=1e-13)
    assert StepDecay(factor, every)(t) == pytest.approx(reference.step(t, factor, every), rel=1e-13)
    assert ExponentialDecay(factor)(t) == pytest.approx(reference.exponential(t, factor), rel=1e-13)
    assert CosineDecay(every, factor)(t) == pytest.approx(reference.cosine(t, every, factor), rel=1e-13)


def test_schedules_at_a_few_times():
    assert [ConstantRate()(t) for t in (0, 7)] == [1.0, 1.0]
    assert [InverseDecay()(t) for t in (0, 1, 9)] == [1.0, 0.5, 0.1]
    assert InverseDecay(0.5, power=2)(2) == pytest.approx(0.25)
    assert [StepDecay(0.1, every=3)(t) for t in (0, 2, 3, 6)] == pytest.approx([1, 1, 0.1, 0.01])
    assert ExponentialDecay(0.9)(3) == pytest.approx(0.729)
    assert [CosineDecay(10, least=0.2)(t) for t in (0, 5, 10, 50)] == pytest.approx([1, 0.6, 0.2, 0.2])
    assert CosineDecay(6)(2) == pytest.approx((1 + math.cos(math.pi / 3)) / 2)


@given(
    st.sampled_from([ConstantRate(), InverseDecay(0.3), StepDecay(), ExponentialDecay(), CosineDecay(50)]), st.integers(0, 99)
)
def test_schedules_start_at_one_and_never_rise(schedule, t):
    assert schedule(0) == 1.0
    assert 0 <= schedule(t + 1) <= schedule(t) <= 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Momentum(gamma=1), "Momentum: gamma=1 is not valid; it must be a finite number >= 0 and < 1"),
        (lambda: Nesterov(gamma=-0.1), "Nesterov: gamma=-0.1"),
        (lambda: AdaGrad(eps=0), "eps=0"),
        (lambda: RMSProp(rho=1.0), "rho=1.0"),
        (lambda: Adam(beta2=1), "beta2=1"),
        (lambda: Adam(beta1="0.9"), "beta1='0.9'"),
        (lambda: InverseDecay(-1), "decay=-1"),
        (lambda: StepDecay(factor=2), "factor=2"),
        (lambda: StepDecay(every=0), "every=0"),
        (lambda: ExponentialDecay(1.0), "factor=1.0"),
        (lambda: CosineDecay(0), "n_steps=0"),
        (lambda: CosineDecay(5, least=2), "least=2"),
    ],
)
def test_bad_settings_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
