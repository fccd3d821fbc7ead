"""What holds for every test."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(items):
    """Of the cases of a test that is `sampled(n)`, all but every n-th are slow."""
    n_before = Counter()
    for item in items:
        if (sampled := item.get_closest_marker("sampled")) is None:
            continue
        name = item.nodeid.partition("[")[0]
        if n_before[name] % sampled.args[0]:
            item.add_marker(pytest.mark.slow)
        n_before[name] += 1


@pytest.fixture(autouse=True)
def chance_can_be_repeated():
    """Where `random_state` is None, draws come from NumPy's own generator: a test then sees the same ones every time."""
    np.random.seed(0)


@pytest.fixture(autouse=True)
def pictures_are_closed():
    """Matplotlib keeps every picture that is not closed, and warns of the twenty-first."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
