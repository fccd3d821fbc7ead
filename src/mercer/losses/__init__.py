"""Losses: one small object each, with value, derivatives, Lipschitz constants, conjugate and proximal map."""

from __future__ import annotations

from typing import Any

from mercer._convex import named
from mercer.losses._base import Loss
from mercer.losses._margin import Exponential, Hinge, Logistic, ModifiedHuber, Perceptron, SquaredHinge, ZeroOne
from mercer.losses._multiclass import SoftmaxCrossEntropy
from mercer.losses._positive import Gamma, Poisson, Tweedie
from mercer.losses._residual import (
    Absolute,
    EpsilonInsensitive,
    Huber,
    LogCosh,
    Pinball,
    Squared,
    SquaredEpsilonInsensitive,
)

__all__ = [  # noqa: RUF022  the order of `sorted`, as in every module
    "Absolute",
    "EpsilonInsensitive",
    "Exponential",
    "Gamma",
    "Hinge",
    "Huber",
    "LOSSES",
    "LogCosh",
    "Logistic",
    "Loss",
    "ModifiedHuber",
    "Perceptron",
    "Pinball",
    "Poisson",
    "SoftmaxCrossEntropy",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tweedie",
    "ZeroOne",
    "get_loss",
]

_CLASSES: tuple[type[Loss], ...] = (
    ZeroOne,
    Hinge,
    SquaredHinge,
    ModifiedHuber,
    Logistic,
    Exponential,
    Perceptron,
    Squared,
    Absolute,
    Huber,
    LogCosh,
    EpsilonInsensitive,
    SquaredEpsilonInsensitive,
    Pinball,
    Poisson,
    Gamma,
    Tweedie,
    SoftmaxCrossEntropy,
)
# Every loss by its name.
LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in _CLASSES}
_ALIASES = {alias: loss.name for loss in _CLASSES for alias in loss.aliases}


def get_loss(loss: str | Loss, **params: Any) -> Loss:
    """The loss of a name, with its parameters; a `Loss` is given back as it is.

    Parameters
    ----------
    loss : str or Loss
        A key of `LOSSES` or one of the aliases "log_loss", "squared_error", "absolute_error", "quantile" and "multinomial".
    **params
        The parameters of the loss, such as `delta` of "huber".

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> from mercer.losses import get_loss
    >>> get_loss("huber", delta=1.35)
    Huber(delta=1.35)
    >>> get_loss("log_loss")
    Logistic()
    """
    found: Loss = named(loss, Loss, LOSSES, _ALIASES, params)
    return found
