"""Draws of least-squares problems that are awkward: columns that say nothing of their own, weights that are zero."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

SPOILT = ("full", "full", "zero", "constant", "duplicate")  # what `spoil` knows


def spoil(X, kind):
    """Make a column zero, constant or that of another, in place."""
    if kind == "zero":
        X[:, 0] = 0
    elif kind == "constant":
        X[:, -1] = 0.1
    elif kind == "duplicate":
        X[:, -1] = X[:, 0]


def draw_weights(draw, n):
    """None, weights, or weights of which every third is zero."""
    kind = draw(st.sampled_from([None, "random", "some zero"]))
    if kind is None:
        return None
    values = np.random.default_rng(n).uniform(0.5, 2, size=n)
    if kind == "some zero":
        values[1::3] = 0
    return values
