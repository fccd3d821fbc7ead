"""Penalties: one small object each, with value, derivative, proximal map, conjugate and distance to optimality."""

from __future__ import annotations

from typing import Any

from mercer._convex import named
from mercer.penalties._ball import L1Ball, L2Ball
from mercer.penalties._base import Penalty
from mercer.penalties._box import Box
from mercer.penalties._elastic import L1, L2, ElasticNet, NoPenalty
from mercer.penalties._group import GroupL2
from mercer.penalties._lp import Lp

__all__ = [  # noqa: RUF022  the order of `sorted`, as in every module
    "Box",
    "ElasticNet",
    "GroupL2",
    "L1",
    "L1Ball",
    "L2",
    "L2Ball",
    "Lp",
    "NoPenalty",
    "PENALTIES",
    "Penalty",
    "get_penalty",
]

_CLASSES: tuple[type[Penalty], ...] = (L2, L1, ElasticNet, Lp, Box, NoPenalty, GroupL2, L1Ball, L2Ball)
# Every penalty by its name.
PENALTIES: dict[str, type[Penalty]] = {penalty.name: penalty for penalty in _CLASSES}
_ALIASES = {alias: penalty.name for penalty in _CLASSES for alias in penalty.aliases}


def get_penalty(penalty: str | Penalty | None, **params: Any) -> Penalty:
    """The penalty of a name, with its parameters; a `Penalty` is given back as it is, and None is `NoPenalty`.

    Parameters
    ----------
    penalty : str, Penalty or None
        A key of `PENALTIES` or one of the aliases "elastic_net" and "l21".
    **params
        The parameters of the penalty, such as `alpha`.

    Returns
    -------
    penalty : Penalty

    Examples
    --------
    >>> from mercer.penalties import get_penalty
    >>> get_penalty("l1", alpha=0.1)
    L1(alpha=0.1)
    >>> get_penalty(None)
    NoPenalty()
    """
    found: Penalty = named(NoPenalty.name if penalty is None else penalty, Penalty, PENALTIES, _ALIASES, params)
    return found
