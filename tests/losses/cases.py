"""Every loss, with the arguments that suit it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mercer.losses import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Exponential,
    Gamma,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    ModifiedHuber,
    Perceptron,
    Pinball,
    Poisson,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Tweedie,
    ZeroOne,
)

MARGIN = [ZeroOne(), Hinge(), SquaredHinge(), ModifiedHuber(), Logistic(), Logistic(base=2), Exponential(), Perceptron()]
RESIDUAL = [
    Squared(),
    Absolute(),
    Huber(),
    Huber(delta=0.3),
    LogCosh(),
    EpsilonInsensitive(),
    EpsilonInsensitive(epsilon=0.0),
    SquaredEpsilonInsensitive(epsilon=0.5),
    Pinball(),
    Pinball(quantile=0.1),
    Pinball(quantile=1.0),
]
POSITIVE = [Poisson(), Gamma(), *(Tweedie(power=power) for power in (-1.5, 0, 1, 1.2, 1.5, 1.9, 2, 2.5, 3))]
SCALAR = [*MARGIN, *RESIDUAL, *POSITIVE]
CONVEX = [loss for loss in SCALAR if loss.is_convex]
ALL_NAMES = list(LOSSES)

# Where, in the margin or in the residual, a loss or its derivative has a kink.
_KINKS = {
    "zero_one": lambda loss: (0,),
    "hinge": lambda loss: (1,),
    "squared_hinge": lambda loss: (1,),
    "modified_huber": lambda loss: (-1, 1),
    "perceptron": lambda loss: (0,),
    "absolute": lambda loss: (0,),
    "pinball": lambda loss: (0,),
    "huber": lambda loss: (-loss.delta, loss.delta),
    "epsilon_insensitive": lambda loss: (-loss.epsilon, loss.epsilon),
    "squared_epsilon_insensitive": lambda loss: (-loss.epsilon, loss.epsilon),
}


def kinks(loss, y):
    """The raw outputs at which the loss or its derivative has a kink."""
    places = np.array(_KINKS.get(loss.name, lambda loss: ())(loss), dtype=float)
    return y * places if loss.kind == "margin" else y + places


def targets(loss):
    """A strategy for y in the domain of a loss of one raw output."""
    if loss.kind == "margin":
        return st.sampled_from([-1.0, 1.0])
    if loss.kind == "residual" or getattr(loss, "power", 1) <= 0:
        return st.floats(-3, 3)
    needs_positive = loss.name == "gamma" or getattr(loss, "power", 1) >= 2
    return st.floats(0.05, 8) if needs_positive else st.just(0.0) | st.floats(0.05, 8)


def outputs(loss, y):
    """A strategy for raw: anywhere, and on the kinks."""
    anywhere = st.floats(-4, 4)
    return anywhere | st.sampled_from(list(kinks(loss, y))) if len(kinks(loss, y)) else anywhere


def name_of(loss):
    return repr(loss)
