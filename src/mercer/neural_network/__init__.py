"""Neural networks."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neural_network import *  # noqa: F403

    from mercer.neural_network._autoencoder import Autoencoder as Autoencoder, DenoisingAutoencoder as DenoisingAutoencoder
    from mercer.neural_network._by_hand import Network as Network, network as network
    from mercer.neural_network._classifier import MLPClassifier as MLPClassifier
    from mercer.neural_network._diagnosis import Diagnosis as Diagnosis, Finding as Finding
    from mercer.neural_network._passes import BackwardTable as BackwardTable, ForwardTable as ForwardTable
    from mercer.neural_network._rbm import (
        BernoulliRBM as BernoulliRBM,
        RestrictedBoltzmannMachine as RestrictedBoltzmannMachine,
    )
    from mercer.neural_network._regressor import MLPRegressor as MLPRegressor
    from mercer.neural_network._units import AND as AND, NOT as NOT, OR as OR, PASS as PASS, Unit as Unit
    from mercer.neural_network._variational import VariationalAutoencoder as VariationalAutoencoder

__getattr__, __dir__ = exports(
    __name__,
    {
        "._autoencoder": ("Autoencoder", "DenoisingAutoencoder"),
        "._by_hand": ("Network", "network"),
        "._classifier": ("MLPClassifier",),
        "._diagnosis": ("Diagnosis", "Finding"),
        "._passes": ("BackwardTable", "ForwardTable"),
        "._rbm": ("BernoulliRBM", "RestrictedBoltzmannMachine"),
        "._regressor": ("MLPRegressor",),
        "._units": ("AND", "NOT", "OR", "PASS", "Unit"),
        "._variational": ("VariationalAutoencoder",),
    },
)
