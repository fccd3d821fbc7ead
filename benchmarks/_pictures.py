"""Pictures like those of digits, for the families that learn from them."""

from __future__ import annotations

import numpy as np

N_KINDS = 30


def pictures(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 28 x 28 points around thirty prototypes, with noise, and which prototype each is of."""
    random = np.random.RandomState(0)
    prototypes = random.rand(N_KINDS, 784) * (random.rand(N_KINDS, 784) < 0.25)
    kind = random.randint(N_KINDS, size=n)
    noise = 0.25 * random.randn(n, 784) * (random.rand(n, 784) < 0.3)
    return np.clip(prototypes[kind] + noise, 0, 1), kind
