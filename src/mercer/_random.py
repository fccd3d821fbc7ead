"""Random state: scikit-learn's convention in, one generator out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def as_random_state(random_state: Any) -> np.random.RandomState:
    """The generator for `random_state` (None, an integer or a generator), which is drawn from in the order of the peer."""
    generator: np.random.RandomState = check_random_state(random_state)
    return generator


def draw_seed(random: np.random.RandomState) -> int:
    """A 64-bit seed for the native counter-based streams: task i of a kernel draws from stream (seed, i)."""
    low, high = random.randint(0, 2**32, size=2, dtype=np.uint32)
    return int(low) | int(high) << 32
