"""Neural networks."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neural_network import *  # noqa: F403

    from mercer.neural_network._by_hand import Network as Network, network as network
    from mercer.neural_network._passes import BackwardTable as BackwardTable, ForwardTable as ForwardTable
    from mercer.neural_network._units import AND as AND, NOT as NOT, OR as OR, PASS as PASS, Unit as Unit

__getattr__, __dir__ = exports(
    __name__,
    {
        "._by_hand": ("Network", "network"),
        "._passes": ("BackwardTable", "ForwardTable"),
        "._units": ("AND", "NOT", "OR", "PASS", "Unit"),
    },
)
