"""The bound for nearest neighbours: by the errors of each row's own neighbours, itself left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mercer._params import Integer, Rule
from mercer.theory._bound import Bound


@dataclass(frozen=True, kw_only=True, repr=False)
class DeletedNeighbors(Bound):
    r"""A vote of k neighbours, by its leave-one-out error.

    .. math:: R \le \hat R_{loo} + \sqrt{\frac{6k + 1}{m \delta}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The share of rows that the k nearest others classify wrongly.
    n_neighbors : int
        k.

    Notes
    -----
    From the mean square of the difference, (6 k + 1) / m, which holds for all laws and any number of columns, by Chebyshev's
    inequality. Neighbours are no class that could be counted: each row is its own nearest.

    Examples
    --------
    >>> from mercer.theory import DeletedNeighbors
    >>> round(DeletedNeighbors(n_neighbors=5, m=100_000, delta=0.05, risk=0.1).value, 4)
    0.1787

    References
    ----------
    L. Devroye, L. Györfi and G. Lugosi, A Probabilistic Theory of Pattern Recognition, Springer 1996, theorem 24.2.
    """

    n_neighbors: int

    formula: ClassVar[str] = "risk + sqrt((6 n_neighbors + 1) / (m delta))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "n_neighbors": Integer(1)}

    @property
    def value(self) -> float:
        return self.risk + math.sqrt((6 * self.n_neighbors + 1) / (self.m * self.delta))
