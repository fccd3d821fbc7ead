"""What a penalty is: formulas on coefficients. Knows no X and no loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer._params import Checked


class Penalty(Checked, ABC):
    """A penalty of coefficients `w` of any shape, with all that solvers ask of it.

    `value` and `conjugate` are numbers, sums over all coefficients; the other methods give arrays of the shape of `w`, float32
    if `w` is. Penalties are immutable and compare by their parameters.

    Attributes
    ----------
    name : str
        What names the penalty in every estimator that takes one; `aliases` are further names.
    is_convex, is_smooth : bool
        Smooth means differentiable everywhere.
    is_separable : bool
        A sum over single coefficients, so that `prox` acts on each alone.
    lipschitz, derivative_lipschitz : float
        The Lipschitz constants of one summand (a coefficient; a row for `GroupL2`) and of its derivative; infinity where there
        is none.

    Examples
    --------
    >>> from mercer.penalties import L1, Penalty
    >>> penalty = L1(alpha=0.5)
    >>> isinstance(penalty, Penalty), penalty.value([1.0, -2.0])
    (True, 1.5)
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    is_convex: ClassVar[bool] = True
    is_separable: ClassVar[bool] = True

    @property
    @abstractmethod
    def is_smooth(self) -> bool:
        """Whether the penalty is differentiable everywhere."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The Lipschitz constant of one summand; infinity if there is none."""

    @property
    @abstractmethod
    def derivative_lipschitz(self) -> float:
        """The Lipschitz constant of the derivative; infinity if there is none."""

    @abstractmethod
    def value(self, w: Any) -> float:
        """The penalty."""

    @abstractmethod
    def derivative(self, w: Any) -> Any:
        """The derivative; at a kink the subgradient whose kinked part is zero."""

    @abstractmethod
    def prox(self, w: Any, step: Any) -> Any:
        """The proximal map, argmin over z of step value(z) + |z - w|^2 / 2; `step` > 0 is one number, or one a coefficient."""

    @abstractmethod
    def conjugate(self, u: Any) -> float:
        """The convex conjugate, sup over w of <u, w> - value(w); infinity outside its domain."""

    @abstractmethod
    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        """How far -gradient is from the subdifferential at w, for each coefficient.

        It is zero where w is optimal for the sum of the penalty and a function of that gradient.
        """


def total(terms: Any) -> float:
    """A sum in double precision."""
    return float(np.sum(terms, dtype=np.float64))


def indicator(is_inside: Any) -> float:
    """0 where every condition holds, else infinity."""
    return 0.0 if np.all(is_inside) else np.inf
