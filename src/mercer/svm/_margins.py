"""Where rows lie relative to the margin of a support vector machine, linear or in the space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

PLACES = np.array(["outside", "on", "inside", "misclassified"])


@dataclass(frozen=True)
class Margins:
    """The margins of rows with labels y = -1 or +1 and values f(x) = w'x + b; of classes against the rest, a column each.

    Attributes
    ----------
    functional : array of shape (n_samples,) or (n_samples, n_classes)
        y f(x): 1 on the margin, negative for a row on the wrong side.
    geometric : array of the same shape
        y f(x) / |w|: the distance from the boundary, negative on the wrong side.
    place : array of str of the same shape
        "outside" the margin (y f(x) > 1: without a loss), "on" it (1, within a tolerance), "inside" (between 0 and 1) or
        "misclassified" (at most 0).
    """

    functional: FloatArray
    geometric: FloatArray
    place: npt.NDArray[np.str_]


def margins_of(values: FloatArray, signs: FloatArray, norm: float | FloatArray, tol: float) -> Margins:
    """The margins of rows by their values and labels, for coefficients of this norm, or of these, a column each."""
    functional = signs * values
    with np.errstate(divide="ignore", invalid="ignore"):
        geometric = functional / norm
    is_on = np.abs(functional - 1) <= tol
    place = np.select([functional <= 0, is_on, functional < 1], PLACES[[3, 1, 2]], default=PLACES[0])
    return Margins(functional, geometric, place)
