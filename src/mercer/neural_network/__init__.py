"""Neural networks."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.neural_network import *  # noqa: F403

__getattr__, __dir__ = exports(__name__)
