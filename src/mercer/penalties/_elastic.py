"""Penalties made of the l1 and the l2 norm, and none at all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer._convex import as_floats, finish, shrink
from mercer._params import Real, Rule
from mercer.penalties._base import Penalty, indicator, total


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """No penalty: 0.

    Examples
    --------
    >>> from mercer.penalties import NoPenalty
    >>> NoPenalty().prox([3.0, -1.0], step=1.0)
    array([ 3., -1.])
    """

    name = "none"
    is_smooth = True
    lipschitz = 0.0
    derivative_lipschitz = 0.0

    def value(self, w: Any) -> float:
        return 0.0

    def derivative(self, w: Any) -> Any:
        return np.zeros_like(as_floats(w))[()]

    def prox(self, w: Any, step: Any) -> Any:
        return as_floats(w).copy()[()]

    def conjugate(self, u: Any) -> float:
        return indicator(as_floats(u) == 0)

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w = as_floats(w)
        return finish(np.abs(np.asarray(gradient, dtype=w.dtype)), w)


class Elastic(Penalty):
    """The formulas of l1 |w|_1 + l2 / 2 |w|_2^2, for whichever of both a penalty has."""

    @property
    @abstractmethod
    def _l1(self) -> float: ...

    @property
    @abstractmethod
    def _l2(self) -> float: ...

    @property
    def is_smooth(self) -> bool:
        return self._l1 == 0

    @property
    def lipschitz(self) -> float:
        return self._l1 if self._l2 == 0 else np.inf

    @property
    def derivative_lipschitz(self) -> float:
        return self._l2 if self.is_smooth else np.inf

    def value(self, w: Any) -> float:
        w = as_floats(w)
        return self._l1 * total(np.abs(w)) + self._l2 / 2 * total(w * w)

    def derivative(self, w: Any) -> Any:
        w = as_floats(w)
        return finish(self._l1 * np.sign(w) + self._l2 * w, w)

    def prox(self, w: Any, step: Any) -> Any:
        w = as_floats(w)
        step = np.asarray(step, dtype=w.dtype)
        return finish(shrink(w, step * self._l1) / (1 + step * self._l2), w)

    def conjugate(self, u: Any) -> float:
        excess = np.maximum(np.abs(as_floats(u)) - self._l1, 0)
        return total(excess * excess) / (2 * self._l2) if self._l2 > 0 else indicator(excess == 0)

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w = as_floats(w)
        slope = np.asarray(gradient, dtype=w.dtype) + self._l2 * w
        at_zero = np.maximum(np.abs(slope) - self._l1, 0)
        return finish(np.where(w == 0, at_zero, np.abs(slope + self._l1 * np.sign(w))), w)


@dataclass(frozen=True)
class L2(Elastic):
    """The l2 penalty of ridge regression: alpha / 2 |w|_2^2. Solutions are unique and use every feature.

    Parameters
    ----------
    alpha : float >= 0, default=1.0

    Examples
    --------
    >>> from mercer.penalties import L2
    >>> L2(alpha=1.0).value([3.0, -1.0])
    5.0
    >>> L2(alpha=1.0).prox([3.0, -1.0], step=1.0)
    array([ 1.5, -0.5])
    """

    alpha: float = 1.0

    name = "l2"
    _l1 = 0.0
    _rules: ClassVar[Mapping[str, Rule]] = {"alpha": Real(least=0)}

    @property
    def _l2(self) -> float:
        return self.alpha


@dataclass(frozen=True)
class L1(Elastic):
    """The l1 penalty of the lasso: alpha |w|_1. Solutions are sparse. At w = 0 `derivative` gives 0.

    Parameters
    ----------
    alpha : float >= 0, default=1.0

    Examples
    --------
    >>> from mercer.penalties import L1
    >>> L1(alpha=1.0).prox([3.0, -0.5], step=1.0)
    array([2., 0.])
    >>> L1(alpha=1.0).subdifferential_distance([0.0, 2.0], gradient=[0.5, 0.5])
    array([0. , 1.5])
    """

    alpha: float = 1.0

    name = "l1"
    _l2 = 0.0
    _rules: ClassVar[Mapping[str, Rule]] = {"alpha": Real(least=0)}

    @property
    def _l1(self) -> float:
        return self.alpha


@dataclass(frozen=True)
class ElasticNet(Elastic):
    """Elastic net: alpha (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|_2^2), as in scikit-learn.

    Sparse, and for l1_ratio < 1 strictly convex: the solution is unique. At w = 0 the l1 part of `derivative` is 0.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
    l1_ratio : float in [0, 1], default=0.5

    Examples
    --------
    >>> from mercer.penalties import ElasticNet
    >>> ElasticNet(alpha=1.0, l1_ratio=0.5).value([2.0, -1.0])
    2.75
    >>> ElasticNet(alpha=1.0, l1_ratio=0.5).prox([2.0, -0.25], step=1.0)
    array([1., 0.])
    """

    alpha: float = 1.0
    l1_ratio: float = 0.5

    name = "elasticnet"
    aliases = ("elastic_net",)
    _rules: ClassVar[Mapping[str, Rule]] = {"alpha": Real(least=0), "l1_ratio": Real(least=0, most=1)}

    @property
    def _l1(self) -> float:
        return self.alpha * self.l1_ratio

    @property
    def _l2(self) -> float:
        return self.alpha * (1 - self.l1_ratio)
