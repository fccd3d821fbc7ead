"""Several arrays of parameters as one vector: what optimisers move in one pass, and models see as weights and biases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]


class FlatParameters:
    """Arrays that are views of one vector, in their order: a change of either is a change of both.

    An optimiser's update costs a few microseconds an array, which for a small model is most of a step: over one vector it is
    paid once.

    Parameters
    ----------
    arrays : sequence of array-like
        The parameters to begin with, of any shapes; they are copied. Where all are float32 the vector is too, else float64.

    Attributes
    ----------
    vector : ndarray of shape (n_parameters,)
        All of them, one array after another, each in C order.
    arrays : tuple of ndarray
        The same numbers, in the shapes given.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer._flat import FlatParameters
    >>> from mercer.optim import Adam
    >>> parameters = FlatParameters([np.ones((2, 2)), np.zeros(3)])
    >>> gradients = parameters.like()
    >>> for gradient in gradients.arrays:
    ...     gradient[...] = 0.5
    >>> optimizer = Adam()
    >>> optimizer.update(parameters.vector, gradients.vector, optimizer.init(parameters.vector), rate=0.01)
    >>> parameters.arrays[1].round(6)
    array([-0.01, -0.01, -0.01])
    """

    vector: Array
    arrays: tuple[Array, ...]

    def __init__(self, arrays: Iterable[npt.ArrayLike]) -> None:
        given = [np.asarray(array) for array in arrays]
        is_single = bool(given) and all(array.dtype == np.float32 for array in given)
        vector: Array = np.empty(sum(array.size for array in given), dtype=np.float32 if is_single else np.float64)
        self._lay_out(vector, [array.shape for array in given])
        for view, array in zip(self.arrays, given, strict=True):
            view[...] = array

    def _lay_out(self, vector: Array, shapes: Sequence[tuple[int, ...]]) -> None:
        ends = np.cumsum([0, *(prod(shape) for shape in shapes)]).tolist()
        self.vector = vector
        self.arrays = tuple(vector[a:b].reshape(shape) for (a, b), shape in zip(pairwise(ends), shapes, strict=True))

    def like(self) -> FlatParameters:
        """Zeros in the same layout, for gradients."""
        zeros = object.__new__(FlatParameters)
        zeros._lay_out(np.zeros_like(self.vector), [array.shape for array in self.arrays])
        return zeros
