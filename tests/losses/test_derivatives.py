"""Derivatives against finite differences, and what the flags and Lipschitz constants claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from mercer.losses import Loss, SoftmaxCrossEntropy
from tests.losses.cases import CONVEX, SCALAR, kinks, name_of, outputs, targets

every_loss = pytest.mark.parametrize("loss", SCALAR, ids=name_of)


def draw_point(data, loss):
    y = data.draw(targets(loss))
    return y, data.draw(outputs(loss, y))


def is_near_kink(loss, y, raw, width):
    return bool((np.abs(kinks(loss, y) - raw) <= width).any())


def difference(function, raw, width=1e-3):
    """The derivative by central differences, with an error of order width^6."""
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    return sum(c * (function(raw + k * width) - function(raw - k * width)) for k, c in weights.items()) / width


@every_loss
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_derivative_is_the_limit_of_differences(loss, data):
    y, raw = draw_point(data, loss)
    assume(not is_near_kink(loss, y, raw, 0.004))
    expected = difference(lambda z: loss.value(y, z), raw)
    assert loss.derivative(y, raw) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@every_loss
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_second_derivative_is_the_limit_of_differences_of_the_first(loss, data):
    y, raw = draw_point(data, loss)
    assume(not is_near_kink(loss, y, raw, 0.004))
    expected = difference(lambda z: loss.derivative(y, z), raw)
    assert loss.second_derivative(y, raw) == pytest.approx(expected, rel=1e-8, abs=1e-9)


@every_loss
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_subdifferential_lies_between_the_slopes_on_either_side_and_holds_the_derivative(loss, data):
    y, raw = draw_point(data, loss)
    low, high = loss.subdifferential(y, raw)
    slope = loss.derivative(y, raw)
    assert low <= slope <= high
    if loss.is_smooth:
        assert low == high
    if loss.is_convex:
        before, after = loss.derivative(y, raw - 1e-7), loss.derivative(y, raw + 1e-7)
        width = 1e-5 * (1 + abs(slope))
        assert before - width <= low
        assert high <= after + width


@pytest.mark.parametrize("loss", [loss for loss in CONVEX if not loss.is_smooth], ids=name_of)
def test_at_a_kink_the_subdifferential_reaches_from_one_side_to_the_other(loss):
    signs = (-1.0, 1.0) if loss.kind == "margin" else (0.0,)  # with y = 0 the kinks of a residual are met exactly
    for y, raw in [(sign, place) for sign in signs for place in kinks(loss, sign)]:
        low, high = loss.subdifferential(y, raw)
        assert low == pytest.approx(loss.derivative(y, raw - 1e-6))
        assert high == pytest.approx(loss.derivative(y, raw + 1e-6))
        assert low < high


@every_loss
@settings(max_examples=40, deadline=None)
@given(data=st.data(), share=st.floats(0, 1), outside=st.floats(1e-3, 10))
def test_distance_to_the_subdifferential_is_zero_exactly_inside(loss, data, share, outside):
    y, raw = draw_point(data, loss)
    low, high = np.clip(loss.subdifferential(y, raw), -1e9, 1e9)  # that of zero-one reaches to infinity
    assert loss.subdifferential_distance(y, raw, min(max(low + share * (high - low), low), high)) == 0
    assert loss.subdifferential_distance(y, raw, low - outside) == (pytest.approx(outside, abs=1e-8) if low > -1e9 else 0)
    assert loss.subdifferential_distance(y, raw, high + outside) == (pytest.approx(outside, abs=1e-8) if high < 1e9 else 0)


def wide_grid(loss, y):
    """Raw outputs near zero, near kinks and far out."""
    return np.unique(
        np.concatenate([np.linspace(-6, 6, 2001), *(kink + np.linspace(-1e-3, 1e-3, 21) for kink in kinks(loss, y))])
    )


def sample_targets(loss):
    if loss.kind == "margin":
        return [-1.0, 1.0]
    return [0.3, 1.0, 2.5] if loss.kind == "positive" else [-1.0, 0.0, 2.5]


@every_loss
def test_lipschitz_constants_hold_and_are_nearly_attained(loss):
    slopes, curvatures = [], []
    for y in sample_targets(loss):
        raw = wide_grid(loss, y)
        values, derivatives = loss.value(y, raw), loss.derivative(y, raw)
        slopes.append(np.abs(np.diff(values) / np.diff(raw)).max())
        curvatures.append(np.abs(np.diff(derivatives) / np.diff(raw)).max())
    if loss.name == "zero_one":  # jumps: the derivative, zero on either side, says nothing
        curvatures = slopes
    for reached, constant in ((max(slopes), loss.lipschitz), (max(curvatures), loss.derivative_lipschitz)):
        if np.isfinite(constant):
            assert 0.98 * constant <= reached <= constant * (1 + 1e-9)
        else:
            assert reached > 4.9  # grows with the grid: beyond every finite constant of the losses above


@every_loss
def test_convex_flag_tells_what_midpoints_show(loss):
    excess = -np.inf
    for y in sample_targets(loss):
        raw = wide_grid(loss, y)[::7]
        a, b = raw[:, None], raw[None, :]
        chord = (loss.value(y, a) + loss.value(y, b)) / 2
        excess = max(excess, float(np.max((loss.value(y, (a + b) / 2) - chord) / (1 + np.abs(chord)))))
    if loss.is_convex:
        assert excess <= 1e-12
    else:
        assert excess > 1e-3


@every_loss
def test_robust_flag_means_that_one_example_pulls_only_so_hard(loss):
    far = max(abs(loss.derivative(y, raw)) for y in sample_targets(loss) for raw in (-50.0, 50.0))
    assert loss.is_robust == (far <= 10)
    assert loss.is_robust == (np.isfinite(loss.lipschitz) or loss.name == "zero_one")


# ---- softmax


def softmax_case(seed, n=5, n_classes=4, scale=2.0):
    random = np.random.RandomState(seed)
    return random.randint(n_classes, size=n), scale * random.randn(n, n_classes)


def test_softmax_derivatives_are_the_limits_of_differences():
    loss = SoftmaxCrossEntropy()
    y, raw = softmax_case(0)
    for k, direction in enumerate(np.eye(raw.shape[1])):
        first = difference(lambda t, d=direction: loss.value(y, raw + t * d), 0.0)
        second = difference(lambda t, d=direction: loss.derivative(y, raw + t * d), 0.0)
        np.testing.assert_allclose(loss.derivative(y, raw)[:, k], first, atol=1e-10)
        np.testing.assert_allclose(loss.second_derivative(y, raw)[:, :, k], second, atol=1e-10)
    # Errata of the notes: the derivative of a softmax output by its own input is +o (1 - o).
    assert (np.diagonal(loss.second_derivative(y, raw), axis1=1, axis2=2) > 0).all()


def test_softmax_lipschitz_constants_hold_and_are_nearly_attained():
    loss = SoftmaxCrossEntropy()
    y, raw = softmax_case(1, n=400)
    assert np.linalg.norm(loss.derivative(y, 20 * raw), axis=1).max() == pytest.approx(loss.lipschitz, rel=1e-6)
    eigenvalues = np.linalg.eigvalsh(loss.second_derivative(y, raw))
    assert eigenvalues.min() >= -1e-12
    assert eigenvalues.max() <= loss.derivative_lipschitz
    tie = np.array([[0.0, 0.0, -50.0]])
    assert np.linalg.eigvalsh(loss.second_derivative([0], tie)).max() == pytest.approx(loss.derivative_lipschitz)


def test_softmax_takes_codes_and_rows_alike():
    loss = SoftmaxCrossEntropy()
    y, raw = softmax_case(2)
    rows = np.eye(raw.shape[1])[y]
    np.testing.assert_array_equal(loss.value(y, raw), loss.value(rows, raw))
    np.testing.assert_array_equal(loss.derivative(y, raw), loss.derivative(rows, raw))
    assert loss.subdifferential_distance(y, raw, loss.derivative(y, raw)).max() == 0
    two = loss.value([0, 1], [[1.0, -0.5], [1.0, -0.5]])
    np.testing.assert_allclose(two, np.logaddexp(0, [-1.5, 1.5]))  # with two classes, the logistic loss of the difference


def test_losses_are_immutable_and_compare_by_their_parameters():
    loss = SCALAR[9]
    assert isinstance(loss, Loss)
    assert loss != SCALAR[10]
    assert len({*SCALAR, *SCALAR}) == len(SCALAR)
    with pytest.raises(AttributeError):
        loss.name = "other"
