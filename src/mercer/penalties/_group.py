"""Penalties on groups of coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, shrink
from mercer._params import Real, Rule
from mercer.penalties._base import Penalty, indicator, total


@dataclass(frozen=True)
class GroupL2(Penalty):
    """The l2,1 penalty of multi-task models: alpha sum_j |W_j|_2 over the rows of a matrix. Whole rows become zero.

    W has one row a feature and one column a task. `prox` takes a number or one number a row; `subdifferential_distance` gives
    one number a row. At a row of zeros `derivative` gives zeros.

    Parameters
    ----------
    alpha : float >= 0, default=1.0

    Examples
    --------
    >>> from mercer.penalties import GroupL2
    >>> GroupL2(alpha=1.0).value([[3.0, 4.0], [0.0, 0.0]])
    5.0
    >>> GroupL2(alpha=1.0).prox([[3.0, 4.0], [0.5, 0.0]], step=1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    alpha: float = 1.0

    name = "group_l2"
    aliases = ("l21",)
    is_smooth = False
    is_separable = False
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"alpha": Real(least=0)}

    @property
    def lipschitz(self) -> float:
        return self.alpha

    @staticmethod
    def _with_norms(w: Any) -> tuple[FloatArray, FloatArray]:
        """A matrix and the column of the norms of its rows."""
        w = as_floats(w)
        if w.ndim != 2:
            raise ValueError(f"GroupL2: w has {w.ndim} dimensions; it must have 2, one row a group.")
        return w, np.linalg.norm(w, axis=1, keepdims=True)

    def value(self, w: Any) -> float:
        return self.alpha * total(self._with_norms(w)[1])

    def derivative(self, w: Any) -> Any:
        w, norms = self._with_norms(w)
        return finish(self.alpha * w / np.where(norms > 0, norms, 1), w)

    def prox(self, w: Any, step: Any) -> Any:
        w, norms = self._with_norms(w)
        steps = np.broadcast_to(np.asarray(step, dtype=w.dtype), len(w))[:, None]
        return finish(w * (shrink(norms, steps * self.alpha) / np.where(norms > 0, norms, 1)), w)

    def conjugate(self, u: Any) -> float:
        return indicator(self._with_norms(u)[1] <= self.alpha)

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w, norms = self._with_norms(w)
        away = np.linalg.norm(np.asarray(gradient, dtype=w.dtype) + self.derivative(w), axis=1)
        return finish(np.where(norms[:, 0] > 0, away, np.maximum(away - self.alpha, 0)), w)
