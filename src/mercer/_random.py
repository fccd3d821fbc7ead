"""Random state: scikit-learn's convention in, one generator out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def as_random_state(random_state: Any) -> np.random.RandomState:
    """The generator for `random_state` (None, an integer or a generator), which is drawn from in the order of the peer."""
    generator: np.random.RandomState = check_random_state(random_state)
    return generator
