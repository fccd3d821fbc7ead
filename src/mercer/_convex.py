"""What losses and penalties share: float types, names, and the scalar equations of prox."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import wrightomega

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError


def as_floats(values: Any) -> FloatArray:
    """An array of float32 if the values are that already, of float64 otherwise."""
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def finish(result: Any, like: FloatArray) -> Any:
    """A result in the float type of the argument it belongs to; a scalar where no axis is left."""
    return np.asarray(result, dtype=like.dtype)[()]


def shrink(values: FloatArray, threshold: Any) -> FloatArray:
    """Values moved towards zero by a threshold, and to zero where they do not reach it (soft thresholding)."""
    shrunk: FloatArray = values - np.clip(values, -threshold, threshold)
    return shrunk


# Newton's steps double the digits, bisection adds one bit: what needs more is NaN.
_MAX_STEPS = 200


def solve_increasing(
    function: Callable[[FloatArray], tuple[FloatArray, FloatArray]], low: FloatArray, high: FloatArray, start: FloatArray
) -> FloatArray:
    """The roots, in [low, high], of functions that increase there; an end of the interval where there is no change of sign.

    `function` gives values and slopes at one point for each root. A Newton step is taken where it stays in the bracket and is
    at most half as long as the step before; otherwise the bracket is halved. It ends when every root is known to machine
    precision, relative to the bracket.
    """
    low, high, x = (np.array(part, dtype=np.float64) for part in np.broadcast_arrays(low, high, start))
    last_step = high - low
    scale = np.maximum(np.abs(low), np.abs(high))
    is_done = np.zeros(x.shape, dtype=bool)  # kept where it is: rounding errors would set it off again
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(_MAX_STEPS):
            value, slope = function(x)
            low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
            newton = x - value / slope
            is_good = (newton >= low) & (newton <= high) & (np.abs(newton - x) <= 0.5 * np.abs(last_step))
            following = np.where(is_done, x, np.where(is_good, newton, 0.5 * (low + high)))
            last_step, x = following - x, following
            # A Newton step of 1e-12 leaves an error of about its square; rounding errors could keep it from becoming shorter.
            is_done |= np.abs(last_step) <= np.where(is_good, 1e-12, np.finfo(np.float64).eps) * scale
            if is_done.all():
                break
    return x


def solve_exponential(factor: Any, total: Any) -> FloatArray:
    """The s with s + factor exp(s) = total, for factor >= 0, by Wright's omega function (omega + log omega = its argument)."""
    factor, total = np.asarray(factor, dtype=np.float64), np.asarray(total, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_factor = np.log(factor)
        omega = wrightomega(total + log_factor)
        # omega = factor exp(s): of the two ways to s, the one that does not cancel.
        s: FloatArray = np.where(omega > 1, np.log(omega) - log_factor, total - omega)
    return s


def named(given: Any, family: Any, registry: Mapping[str, Any], aliases: Mapping[str, str], params: Mapping[str, Any]) -> Any:
    """The member of a family of objects that a name and parameters stand for; an object stands for itself."""
    kind = family.__name__.lower()
    if isinstance(given, family):
        if params:
            raise InvalidParameterError(f"get_{kind}: {given!r} has its parameters; {sorted(params)} cannot be given too.")
        return given
    if not isinstance(given, str) or aliases.get(given, given) not in registry:
        names = ", ".join(map(repr, [*registry, *aliases]))
        raise InvalidParameterError(
            f"get_{kind}: {kind}={given!r} is not valid; it must be a {family.__name__} or one of {names}."
        )
    made = registry[aliases.get(given, given)]
    takes = list(inspect.signature(made).parameters)
    for name in params:
        if name not in takes:
            what = f"takes {' and '.join(takes)}" if takes else "takes no parameters"
            raise InvalidParameterError(f"get_{kind}: {name}={params[name]!r} is not valid; the {kind} {given!r} {what}.")
    return made(**params)
