"""Where a logistic regression is, and how strongly it is penalised."""

from __future__ import annotations

from dataclasses import dataclass

from mercer._arrays import FloatArray


@dataclass(frozen=True)
class Strength:
    """The penalty l1 |w|_1 + l2/2 |w|^2 on the coefficients w, for a loss that is a sum over rows."""

    l1: float
    l2: float

    @classmethod
    def of(cls, C: float, l1_ratio: float) -> Strength:
        return cls(float(l1_ratio / C), float((1 - l1_ratio) / C))

    @property
    def is_none(self) -> bool:
        return self.l1 == 0 and self.l2 == 0


@dataclass(frozen=True)
class Point:
    """Coefficients and intercepts with a line for each class, or one line for two classes."""

    coef: FloatArray
    intercept: FloatArray
