"""What holds for every test."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def chance_can_be_repeated():
    """Where `random_state` is None, draws come from NumPy's own generator: a test then sees the same ones every time."""
    np.random.seed(0)
