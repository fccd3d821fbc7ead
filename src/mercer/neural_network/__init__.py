"""Neural networks."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neural_network import *  # noqa: F403

    from mercer.neural_network._rbm import (
        BernoulliRBM as BernoulliRBM,
        RestrictedBoltzmannMachine as RestrictedBoltzmannMachine,
    )

__getattr__, __dir__ = exports(__name__, {"._rbm": ("BernoulliRBM", "RestrictedBoltzmannMachine")})
