"""The native penalties against their definitions: prox by minimising on a grid, distance by the subdifferential."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels

INSIDE = {"elastic_net": (0.7, 0.4), "l1": (0.7, 0.0), "positive": (0.7, 0.4), "box": (1.2, 0.8), "lp": (0.7, 0.5)}

VALUES = {
    "l1": lambda w, a, _: a * np.abs(w),
    "elastic_net": lambda w, a, b: a * np.abs(w) + b / 2 * w**2,
    "positive": lambda w, a, b: np.where(w < 0, np.inf, a * np.abs(w) + b / 2 * w**2),
    "box": lambda w, a, b: np.where((w < -a) | (w > b), np.inf, 0.0),
    "lp": lambda w, a, b: a * np.abs(w) ** b,
}


def call(name, at, other, params):
    at, other = (np.ascontiguousarray(v, dtype=np.float64) for v in np.broadcast_arrays(at, other))
    outs = [np.empty_like(at) for _ in range(3)]
    getattr(kernels.testing, f"penalty_{name}")(*params, at, other, *outs)
    return outs


every_penalty = pytest.mark.parametrize("name", list(VALUES))


@every_penalty
def test_the_value_is_the_formula(name):
    w = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(call(name, w, 1.0, INSIDE[name])[0], VALUES[name](w, *INSIDE[name]), rtol=1e-14)


@every_penalty
@pytest.mark.parametrize("curvature", [0.3, 1.0, 20.0])
def test_no_point_of_a_grid_is_better_than_the_prox(name, curvature):
    z = np.linspace(-3, 3, 241)
    prox = call(name, z, curvature, INSIDE[name])[1]
    grid = np.append(np.linspace(-4, 4, 8001), 0.0)

    def objective(w, z):
        return curvature / 2 * (w - z) ** 2 + VALUES[name](w, *INSIDE[name])

    best = objective(grid[None], z[:, None]).min(axis=1)
    assert (objective(prox, z) <= best + 1e-12).all()


@every_penalty
def test_the_distance_is_zero_at_a_prox_and_what_is_left_of_the_slope_elsewhere(name):
    z, h = np.linspace(-3, 3, 121), 2.0
    prox = call(name, z, h, INSIDE[name])[1]
    np.testing.assert_allclose(call(name, prox, h * (prox - z), INSIDE[name])[2], 0, atol=1e-12)
    inner = 0.5  # inside every penalty's domain and smooth for all of them
    slope = (VALUES[name](inner + 1e-6, *INSIDE[name]) - VALUES[name](inner - 1e-6, *INSIDE[name])) / 2e-6
    np.testing.assert_allclose(call(name, inner, np.array([1.5]), INSIDE[name])[2], abs(1.5 + slope), rtol=1e-6)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_the_prox_of_lp_jumps_to_its_least_size(p):
    scale, h = 0.8, 1.7
    least = (2 * scale * (1 - p) / h) ** (1 / (2 - p))
    threshold = least + scale * p * least ** (p - 1) / h
    below, above = call("lp", np.array([threshold * (1 - 1e-9), threshold * (1 + 1e-9)]), h, (scale, p))[1]
    assert below == 0
    np.testing.assert_allclose(above, least, rtol=1e-3)
