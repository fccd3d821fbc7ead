"""What every bound is: a formula with named inputs, its value, and the questions asked the other way round."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from mercer._params import Checked, Integer, InvalidParameterError, Real, Rule, check_value

MOST_ROWS = 2**62  # beyond it a number of rows says nothing
SHARE = Real(least=0, most=1)
CHANCE = Real(above=0, below=1)


@dataclass(frozen=True, kw_only=True)
class Bound(Checked, ABC):
    """An upper bound on a risk: with probability 1 - delta over the draw of m rows, the risk is at most `value`.

    A bound is made from its inputs by name and never changes. Other bounds derive from this class: they say their `formula` and
    compute `value`.

    Parameters
    ----------
    m : int
        The number of rows.
    delta : float
        How often the statement may fail: between 0 and 1.
    risk : float, default=0.0
        The mean loss on these rows.

    Attributes
    ----------
    value : float
        The bound on the risk.
    gap : float
        How far it lies above `risk`: the precision.
    is_vacuous : bool
        Whether the loss cannot be larger than `value` anyhow.

    Examples
    --------
    >>> from mercer.theory import Hoeffding
    >>> Hoeffding(m=1000, delta=0.05, risk=0.1)
    Hoeffding: risk <= 0.1387 with probability 0.95 (m=1000, delta=0.05, risk=0.1, span=1.0)
      risk + span sqrt(ln(1/delta) / (2 m))
    """

    m: int
    delta: float
    risk: float = 0.0

    formula: ClassVar[str]
    _rules: ClassVar[Mapping[str, Rule]] = {"m": Integer(1), "delta": CHANCE, "risk": SHARE}

    @property
    @abstractmethod
    def value(self) -> float:
        """The bound on the risk."""

    @property
    def gap(self) -> float:
        """How far the bound lies above the risk on the rows."""
        return self.value - self.risk

    @property
    def largest_loss(self) -> float:
        """What no loss exceeds; a bound that is no smaller says nothing."""
        return 1.0

    @property
    def is_vacuous(self) -> bool:
        """Whether the loss cannot be larger anyhow."""
        return self.value >= self.largest_loss

    @property
    def holds(self) -> str:
        """In which sense the bound holds."""
        return f"with probability {1 - self.delta:g}"

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def precision_for(self, m: int) -> float:
        """The gap that so many rows give, all else equal."""
        return self._with_rows(check_value(type(self).__name__, "m", m, Integer(1))).gap

    def rows_for(self, precision: float) -> int:
        """The fewest rows for which the gap is no larger than `precision`, all else equal."""
        precision = check_value(type(self).__name__, "precision", precision, Real(above=0))
        return least_rows(type(self).__name__, lambda m: self._with_rows(m).gap <= precision, precision)

    def _with_rows(self, m: int) -> Self:
        """The same bound for another number of rows."""
        return replace(self, m=m)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}={_short(value)}" for name, value in self.inputs.items())
        vacuous = " (vacuous)" if self.is_vacuous else ""
        return f"{type(self).__name__}: risk <= {self.value:.4g}{vacuous} {self.holds} ({inputs})\n  {self.formula}"


def least_rows(owner: str, is_enough: Any, precision: float) -> int:
    """The fewest rows that are enough: doubled until they are, then halved in between. A gap falls as rows are added, from the
    place on where it is below what is asked for."""
    enough = 1
    while not is_enough(enough):
        enough *= 2
        if enough > MOST_ROWS:
            raise InvalidParameterError(f"{owner}: precision={precision!r} is not reached by any number of rows; ask for less.")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough


def deviation(delta: float, m: int) -> float:
    """sqrt(ln(1/delta) / (2 m)): how far the mean of m values within [0, 1] strays on one side with probability delta."""
    return math.sqrt(-math.log(delta) / (2 * m))


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else repr(value)
