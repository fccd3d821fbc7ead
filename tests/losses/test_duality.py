"""Conjugates by Fenchel-Young and by brute force, proximal maps by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.losses import Exponential, LogCosh, Logistic, Poisson, SoftmaxCrossEntropy, Tweedie, ZeroOne
from tests.losses.cases import CONVEX, SCALAR, kinks, name_of, outputs, targets

every_loss = pytest.mark.parametrize("loss", SCALAR, ids=name_of)
every_convex_loss = pytest.mark.parametrize("loss", CONVEX, ids=name_of)


@every_convex_loss
@settings(max_examples=60, deadline=None)
@given(data=st.data(), u=st.floats(-5, 5))
def test_fenchel_young_holds_everywhere(loss, data, u):
    y = data.draw(targets(loss))
    raw = data.draw(outputs(loss, y))
    surplus = loss.value(y, raw) + loss.conjugate(y, u) - u * raw
    assert surplus >= -1e-12 * (1 + abs(loss.value(y, raw)) + abs(u * raw))


@every_convex_loss
@settings(max_examples=60, deadline=None)
@given(data=st.data(), share=st.floats(0, 1))
def test_fenchel_young_is_an_equality_on_the_subdifferential(loss, data, share):
    y = data.draw(targets(loss))
    raw = data.draw(outputs(loss, y))
    low, high = loss.subdifferential(y, raw)
    u = min(max(low + share * (high - low), low), high)
    size = 1 + abs(loss.value(y, raw)) + abs(u * raw)
    assert loss.conjugate(y, u) == pytest.approx(u * raw - loss.value(y, raw), abs=1e-12 * size)


@every_convex_loss
@pytest.mark.parametrize("u", [-6.0, -1.1, -0.7, -0.2, 0.0, 0.05, 0.4, 0.95, 1.05, 3.0])
def test_conjugate_is_the_supremum(loss, u):
    y = 1.0
    z = np.unique(
        np.concatenate([np.linspace(-20, 20, 40001), np.geomspace(20, 1e6, 400), -np.geomspace(20, 1e6, 400), kinks(loss, y)])
    )
    supremum = np.max(u * z - loss.value(y, z))
    if np.isinf(loss.conjugate(y, u)):
        assert supremum > 1e3
    else:
        assert supremum == pytest.approx(loss.conjugate(y, u), abs=1e-6)


def test_conjugate_of_tweedie_at_zero_counts_has_half_a_line_as_its_domain():
    loss = Tweedie(power=1.5)
    assert np.isinf(loss.conjugate(0.0, -0.1))
    assert loss.conjugate(0.0, 0.0) == 0
    z = np.linspace(-20, 10, 300001)
    assert loss.conjugate(0.0, 0.8) == pytest.approx(np.max(0.8 * z - loss.value(0.0, z)), abs=1e-8)


@pytest.mark.parametrize("loss", [ZeroOne(), Tweedie(power=0), Tweedie(power=3)], ids=name_of)
def test_losses_that_are_not_convex_refuse_a_conjugate(loss):
    with pytest.raises(NotImplementedError, match=r"is not convex.*choose a convex loss"):
        loss.conjugate(1.0, 0.5)


# ---- prox


def prox_objective(loss, y, raw, step):
    def objective(z):
        # The lower closure of zero-one: no cost at a margin of zero.
        value = np.where(y * z < 0, 1, 0) if loss.name == "zero_one" else loss.value(y, z)
        return step * value + (z - raw) ** 2 / 2

    return objective


@every_loss
@settings(max_examples=50, deadline=None)
@given(data=st.data(), step=st.floats(0.01, 20))
def test_prox_is_the_minimum_of_its_definition(loss, data, step):
    y = data.draw(targets(loss))
    raw = data.draw(outputs(loss, y))
    objective = prox_objective(loss, y, raw, step)
    point = loss.prox(y, raw, step)
    z = np.concatenate([np.linspace(-30, 30, 4001), point + np.linspace(-0.1, 0.1, 401), kinks(loss, y), [raw]])
    with np.errstate(over="ignore", invalid="ignore"):
        least = np.nanmin(objective(z))
    assert objective(point) <= least + 1e-12 * (1 + abs(least))


@every_convex_loss
@settings(max_examples=50, deadline=None)
@given(data=st.data(), step=st.floats(0.01, 20))
def test_the_step_of_prox_lies_in_the_subdifferential_where_it_ends(loss, data, step):
    y = data.draw(targets(loss))
    raw = data.draw(outputs(loss, y))
    point = loss.prox(y, raw, step)
    u = (raw - point) / step
    # A kink is hit to a rounding error only: the slopes a few of these to either side bound the subdifferential.
    width = 4e-15 * (1 + abs(point) + abs(y))
    low, high = loss.derivative(y, point - width), loss.derivative(y, point + width)
    rounding = 1e-13 * (1 + abs(u) + (1 + abs(raw) + abs(point)) / step)
    assert low - rounding <= u <= high + rounding


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), LogCosh(), Poisson(), Tweedie(power=1.5)], ids=name_of)
@pytest.mark.parametrize("step", [1e-8, 1.0, 1e8])
def test_prox_of_smooth_losses_is_exact_for_extreme_outputs_and_steps(loss, step):
    y = 1.0
    raw = np.array([-1e3, -30.0, -1e-3, 0.0, 1e-9, 2.0, 700.0])
    point = loss.prox(y, raw, step)
    assert np.isfinite(point).all()
    residual = step * loss.derivative(y, point) + point - raw
    scale = np.abs(raw) + np.abs(point) + step * (np.abs(loss.derivative(y, point)) + 1e-2 * loss.second_derivative(y, point))
    assert (np.abs(residual) <= 1e-12 * (scale + step + 1)).all()


def test_prox_of_a_loss_that_is_not_convex_takes_the_better_of_two_minima():
    loss = Tweedie(power=0)
    raw = np.linspace(-9, -2, 141)
    z = np.linspace(-10, 2, 24001)
    points = loss.prox(3.0, raw, 8.0)
    objectives = 8.0 * loss.value(3.0, z)[:, None] + (z[:, None] - raw) ** 2 / 2
    np.testing.assert_allclose(points, z[objectives.argmin(axis=0)], atol=6e-4)
    assert np.diff(points).max() > 1  # it jumps from one to the other


def test_softmax_prox_solves_its_equation():
    loss = SoftmaxCrossEntropy()
    random = np.random.RandomState(0)
    for step in (1e-3, 1.0, 50.0, random.uniform(0.1, 9, size=200)):
        y, raw = random.randint(5, size=200), 4 * random.randn(200, 5)
        point = loss.prox(y, raw, step)
        residual = point - raw + np.broadcast_to(step, 200)[:, None] * loss.derivative(y, point)
        assert np.abs(residual).max() <= 1e-12 * (1 + np.max(step))


def test_softmax_conjugate_is_the_negative_entropy_of_a_shifted_simplex():
    loss = SoftmaxCrossEntropy()
    random = np.random.RandomState(1)
    y, raw = random.randint(4, size=50), 3 * random.randn(50, 4)
    u = loss.derivative(y, raw)
    np.testing.assert_allclose(loss.conjugate(y, u), (u * raw).sum(axis=1) - loss.value(y, raw), atol=1e-12)
    p = random.dirichlet(np.ones(4), size=50)
    other = p - np.eye(4)[y]
    np.testing.assert_allclose(loss.conjugate(y, other), (p * np.log(p)).sum(axis=1), atol=1e-12)
    assert (loss.value(y, raw) + loss.conjugate(y, other) >= (other * raw).sum(axis=1) - 1e-12).all()
    assert np.isinf(loss.conjugate([0], [[0.1, 0.0]])).all()  # the sum of u must be zero
    assert np.isinf(loss.conjugate([0], [[0.1, -0.1]])).all()  # no probability may be negative
    assert loss.conjugate([0], [[-1.0, 1.0]]) == 0
