"""Settings of methods, step rules, optimisers and schedules: small frozen objects, checked when they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from mercer._params import _REFUSED, InvalidParameterError, Real, Rule, check_value

Made = TypeVar("Made")


class Fraction(Real):
    """A number strictly between 0 and 1; with `or_zero`, from 0 on."""

    def __init__(self, *, or_zero: bool = False) -> None:
        super().__init__(**({"least": 0.0} if or_zero else {"above": 0.0}))

    def accept(self, value: Any) -> Any:
        number = super().accept(value)
        return number if number is not _REFUSED and number < 1 else _REFUSED

    def describe(self) -> str:
        return f"{super().describe()} and < 1"


@dataclass(frozen=True)
class Settings:
    """Base of what is named by its settings. Subclasses say what each may be, once, in `_rules`."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __post_init__(self) -> None:
        for name in {field.name for field in fields(self)} & set(self._rules):  # a user's subclass may have no rules
            object.__setattr__(self, name, check_value(type(self).__name__, name, getattr(self, name), self._rules[name]))


def named(owner: str, parameter: str, value: Any, kind: type[Made], makers: Mapping[str, Callable[[], Made]]) -> Made:
    """The object itself, or the one that a name stands for, with its defaults."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in makers:
        return makers[value]()
    names = " or ".join(map(repr, makers))
    raise InvalidParameterError(f"{owner}: {parameter}={value!r} is not valid; it must be {names} or a {kind.__name__} object.")


def start_point(owner: str, x0: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A fresh vector of finite float64 numbers."""
    start = np.asarray(x0)
    if start.dtype.kind not in "fiub" or start.ndim != 1 or start.size == 0:
        what = f"x0 of shape {start.shape} and dtype {start.dtype}"
        raise ValueError(f"{owner}: {what} is not valid; it must be a vector of at least one real number.")
    if not np.isfinite(start).all():
        raise ValueError(f"{owner}: x0={x0!r} contains NaN or infinity; every entry must be a finite number.")
    return np.array(start, dtype=np.float64)
