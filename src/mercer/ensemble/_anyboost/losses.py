"""The losses that AnyBoost descends on, and targets as they take them."""

from __future__ import annotations

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError
from mercer.ensemble._anyboost.directions import Directions
from mercer.losses import LOSSES, Loss, get_loss

NAMES = sorted(
    {name for loss in LOSSES.values() for name in (loss.name, *loss.aliases)} - {"zero_one", "softmax", "multinomial"}
)


def check_loss(loss: str | Loss) -> Loss:
    """The loss as an object, or an error that says why there is no descent on it."""
    loss = get_loss(loss)
    if loss.kind == "multiclass" or loss.name == "zero_one":
        fault = "has an output a class" if loss.kind == "multiclass" else "has no slope to descend on"
        raise InvalidParameterError(
            f"AnyBoost: loss={loss!r} is not valid: it {fault}; it must be one of {NAMES}, or such an object."
        )
    return loss


def signed(learners: Directions) -> FloatArray:
    """Two classes as -1 and +1."""
    assert learners.classes is not None
    n_classes = len(learners.classes)
    if n_classes > 2:
        raise ValueError(
            f"AnyBoost: y holds {n_classes} classes. Only binary classification is supported. The type of the target is "
            "multiclass."
        )
    if n_classes < 2:
        raise ValueError(f"AnyBoost: y holds 1 class only, {learners.classes[0]!r}; it needs samples of 2 classes.")
    return 2.0 * learners.y - 1.0
