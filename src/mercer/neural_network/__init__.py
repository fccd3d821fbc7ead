"""Neural networks."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neural_network import *  # noqa: F403

    from mercer.neural_network._autoencoder import Autoencoder as Autoencoder, DenoisingAutoencoder as DenoisingAutoencoder
    from mercer.neural_network._classifier import MLPClassifier as MLPClassifier
    from mercer.neural_network._diagnosis import Diagnosis as Diagnosis
    from mercer.neural_network._regressor import MLPRegressor as MLPRegressor
    from mercer.neural_network._variational import VariationalAutoencoder as VariationalAutoencoder

__getattr__, __dir__ = exports(
    __name__,
    {
        "._autoencoder": ("Autoencoder", "DenoisingAutoencoder"),
        "._classifier": ("MLPClassifier",),
        "._diagnosis": ("Diagnosis",),
        "._regressor": ("MLPRegressor",),
        "._variational": ("VariationalAutoencoder",),
    },
)
