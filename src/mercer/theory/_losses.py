"""Losses of a fitted model, a value for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from mercer._params import Function, InvalidParameterError, OneOf, check_value

Values = npt.NDArray[np.float64]
Loss = Callable[[Any, Any, Any], Values]  # of a fitted model, its rows and their targets


def zero_one(model: Any, X: Any, y: Any) -> Values:
    return np.asarray(np.asarray(model.predict(X)) != np.asarray(y), dtype=np.float64)


def squared(model: Any, X: Any, y: Any) -> Values:
    return np.asarray((np.asarray(model.predict(X)) - np.asarray(y)) ** 2, dtype=np.float64)


def absolute(model: Any, X: Any, y: Any) -> Values:
    return np.asarray(np.abs(np.asarray(model.predict(X)) - np.asarray(y)), dtype=np.float64)


def hinge(model: Any, X: Any, y: Any) -> Values:
    values = np.asarray(model.decision_function(X), dtype=np.float64)
    if values.ndim != 1:
        raise InvalidParameterError(f"loss='hinge' is for two classes; the model has {values.shape[1]} values a row.")
    return np.asarray(np.maximum(0.0, 1 - np.where(np.asarray(y) == model.classes_[1], values, -values)))


class OfPredictions:
    """A loss of the user's own: of true and predicted values."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, model: Any, X: Any, y: Any) -> Values:
        losses = np.asarray(self.function(np.asarray(y), np.asarray(model.predict(X))), dtype=np.float64)
        if losses.shape != (len(y),):
            raise ValueError(f"loss gave an array of shape {losses.shape}; it must give one value a row, here {len(y)}.")
        return losses


LOSSES: dict[str, Loss] = {"zero_one": zero_one, "squared": squared, "absolute": absolute, "hinge": hinge}


def as_loss(owner: str, loss: Any, estimator: Any) -> tuple[str, Loss]:
    """A loss and its name; None is the 0-1 loss of classifiers and the squared loss of others."""
    if loss is None:
        loss = "zero_one" if is_classifier(estimator) else "squared"
    if isinstance(loss, str):
        name = check_value(owner, "loss", loss, OneOf(*LOSSES) | Function())
        return name, LOSSES[name]
    return "own", OfPredictions(check_value(owner, "loss", loss, OneOf(*LOSSES) | Function()))
