"""What holds for every test."""

from __future__ import annotations

import gc
import sys
from collections import Counter

import hypothesis
import numpy as np
import pytest


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(config, items):
    """Of the cases of a test that is `sampled(n)`, all but every n-th are slow."""
    n_before = Counter()
    for item in items:
        if (sampled := item.get_closest_marker("sampled")) is None:
            continue
        name = item.nodeid.partition("[")[0]
        if n_before[name] % sampled.args[0]:
            item.add_marker(pytest.mark.slow)
        n_before[name] += 1
    if config.option.markexpr == "not slow":
        for test in {item.obj for item in items if getattr(item.obj, "is_hypothesis_test", False)}:
            _draw_fewer_examples(test)


def _draw_fewer_examples(test):
    """A third of the examples that `make test-all` draws. Hypothesis has no public way to what a test's decorator says."""
    said = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = hypothesis.settings(said, max_examples=max(10, said.max_examples // 3))


def pytest_collection_finish():
    """What has been imported and collected is no garbage, and there is too much of it to be searched again and again."""
    gc.collect()
    gc.freeze()


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
