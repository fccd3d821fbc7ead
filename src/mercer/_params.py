"""Parameter rules: what a parameter may be, said once per class and checked once per fit. Knows no arrays.

A rule turns a value into the checked value or says what would do. Rules are combined with `|`.

>>> rule = Integer(1) | OneOf("auto")
>>> rule.describe()
"an integer >= 1 or 'auto'"
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Mapping
from numbers import Integral, Real as AnyReal
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol

import numpy as np


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a value that it cannot have."""


_REFUSED = object()


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _is_number(value: Any) -> bool:
    return isinstance(value, AnyReal) and not isinstance(value, (bool, np.bool_))


class Rule:
    """One kind of value."""

    def accept(self, value: Any) -> Any:
        """The checked value, or `_REFUSED`."""
        raise NotImplementedError

    def describe(self) -> str:
        """What would do, in words that follow "it must be"."""
        raise NotImplementedError

    def __or__(self, other: Rule) -> Rule:
        return Either(self, other)


class Either(Rule):
    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def accept(self, value: Any) -> Any:
        for rule in self.rules:
            if (accepted := rule.accept(value)) is not _REFUSED:
                return accepted
        return _REFUSED

    def describe(self) -> str:
        return " or ".join(rule.describe() for rule in self.rules)


class Integer(Rule):
    def __init__(self, least: int | None = None, *, most: int | None = None) -> None:
        self.least, self.most = least, most

    def accept(self, value: Any) -> Any:
        if not _is_integer(value):
            return _REFUSED
        fits = (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        return int(value) if fits else _REFUSED

    def describe(self) -> str:
        bounds = [(">= ", self.least), ("<= ", self.most)]
        limits = " and ".join(f"{sign}{bound}" for sign, bound in bounds if bound is not None)
        return f"an integer {limits}".rstrip()


class Real(Rule):
    """A finite number in an interval; open at `above` and `below`, closed at `least` and `most`."""

    def __init__(
        self,
        *,
        least: float | None = None,
        above: float | None = None,
        most: float | None = None,
        below: float | None = None,
    ) -> None:
        self.least, self.above, self.most, self.below = least, above, most, below

    def accept(self, value: Any) -> Any:
        if not _is_number(value):
            return _REFUSED
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the range of floats
            return _REFUSED
        fits = (
            np.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )
        return number if fits else _REFUSED

    def describe(self) -> str:
        bounds = [("> ", self.above), (">= ", self.least), ("<= ", self.most), ("< ", self.below)]
        limits = " and ".join(f"{sign}{bound:g}" for sign, bound in bounds if bound is not None)
        return f"a finite number {limits}".rstrip()


class Infinity(Rule):
    """Plus infinity, or that of either sign, where it has a meaning of its own."""

    def __init__(self, *, either_sign: bool = False) -> None:
        self.either_sign = either_sign

    def accept(self, value: Any) -> Any:
        is_float = isinstance(value, (float, np.floating))
        return float(value) if is_float and (value == np.inf or (self.either_sign and value == -np.inf)) else _REFUSED

    def describe(self) -> str:
        return "plus or minus infinity" if self.either_sign else "infinity"


class Text(Rule):
    """Any string; what it says is checked where it is read."""

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, str) else _REFUSED

    def describe(self) -> str:
        return "a string"


class Bool(Rule):
    def accept(self, value: Any) -> Any:
        return bool(value) if isinstance(value, (bool, np.bool_)) else _REFUSED

    def describe(self) -> str:
        return "True or False"


class Verbosity(Either):
    """A bool or a non-negative integer."""

    def __init__(self) -> None:
        super().__init__(Bool(), Integer(0))


class Null(Rule):
    def accept(self, value: Any) -> Any:
        return None if value is None else _REFUSED

    def describe(self) -> str:
        return "None"


class OneOf(Rule):
    def __init__(self, *names: str) -> None:
        self.names = names

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, str) and value in self.names else _REFUSED

    def describe(self) -> str:
        return " or ".join(map(repr, self.names))


class ScorerName(Rule):
    """The name of a scorer. The names are asked for when a value is checked, not when the rule is written."""

    def accept(self, value: Any) -> Any:
        from mercer.metrics import get_scorer_names

        return value if isinstance(value, str) and value in get_scorer_names() else _REFUSED

    def describe(self) -> str:
        return "the name of a scorer (mercer.metrics.get_scorer_names)"


class Function(Rule):
    def accept(self, value: Any) -> Any:
        return value if callable(value) else _REFUSED

    def describe(self) -> str:
        return "a callable"


class Instance(Rule):
    """An object of a class that users may extend."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, self.kind) else _REFUSED

    def describe(self) -> str:
        return f"an instance of {self.kind.__name__}"


class ArrayLike(Rule):
    """Any sequence or array; its contents are checked with the data."""

    def accept(self, value: Any) -> Any:
        is_array = hasattr(value, "__array__") or hasattr(value, "__len__")
        return value if is_array and not isinstance(value, (str, bytes, Mapping)) else _REFUSED

    def describe(self) -> str:
        return "an array"


class Interval(Rule):
    """A pair of finite numbers, the first below the second, both within [least, most]."""

    def __init__(self, *, least: float = -np.inf, most: float = np.inf) -> None:
        self.least, self.most = least, most

    def accept(self, value: Any) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) != 2 or not all(map(_is_number, value)):
            return _REFUSED
        low, high = (float(end) for end in value)
        fits = np.isfinite(low) and np.isfinite(high) and self.least <= low < high <= self.most
        return (low, high) if fits else _REFUSED

    def describe(self) -> str:
        bounds = "" if np.isinf(self.least) and np.isinf(self.most) else f" within [{self.least:g}, {self.most:g}]"
        return f"a pair (low, high) of numbers with low < high{bounds}"


class Mapped(Rule):
    """A dict, such as one of weights by class; its contents are checked with the data."""

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, Mapping) else _REFUSED

    def describe(self) -> str:
        return "a dict"


class Splitter(Rule):
    """How to split rows for cross-validation; the splits themselves are checked with the data."""

    def accept(self, value: Any) -> Any:
        is_given = hasattr(value, "split") or hasattr(value, "__iter__")
        if is_given and not isinstance(value, (str, bytes, Mapping)):
            return value
        return None if value is None else Integer(2).accept(value)

    def describe(self) -> str:
        return "None, an integer >= 2, a cross-validation splitter or an iterable of (train, test) index arrays"


class Fittable(Rule):
    """An estimator of any library that follows scikit-learn's conventions."""

    def accept(self, value: Any) -> Any:
        return value if hasattr(value, "fit") and not isinstance(value, type) else _REFUSED

    def describe(self) -> str:
        return "an estimator (an instance with a fit method)"


class Having(Rule):
    """An object with methods of these names."""

    def __init__(self, *methods: str) -> None:
        self.methods = methods

    def accept(self, value: Any) -> Any:
        has_all = all(hasattr(value, method) for method in self.methods)
        return value if has_all and not isinstance(value, type) else _REFUSED

    def describe(self) -> str:
        return f"an object with {' and '.join(self.methods)}"


class NamedEstimators(Rule):
    """A list of (name, estimator) pairs, of which some may be 'drop'; what kind they are is checked by who takes them."""

    def accept(self, value: Any) -> Any:
        is_list = isinstance(value, (list, tuple)) and len(value) > 0
        return list(value) if is_list and all(map(self._is_pair, value)) else _REFUSED

    @staticmethod
    def _is_pair(item: Any) -> bool:
        if not isinstance(item, (tuple, list)) or len(item) != 2 or not isinstance(item[0], str):
            return False
        is_dropped = isinstance(item[1], str) and item[1] == "drop"
        return is_dropped or Fittable().accept(item[1]) is not _REFUSED

    def describe(self) -> str:
        return "a non-empty list of (name, estimator) pairs with an instance that has a fit method, or 'drop', as estimator"


class RandomState(Rule):
    def accept(self, value: Any) -> Any:
        is_seed = _is_integer(value) and 0 <= value < 2**32
        return value if value is None or is_seed or isinstance(value, np.random.RandomState) else _REFUSED

    def describe(self) -> str:
        return "None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState"


class NumberOfJobs(Rule):
    def accept(self, value: Any) -> Any:
        if value is None:
            return None
        return int(value) if _is_integer(value) and value != 0 else _REFUSED

    def describe(self) -> str:
        return "None or an integer other than 0"


class Checked:
    """A frozen dataclass whose fields are checked by its rules when it is made: an object that exists is valid."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __post_init__(self) -> None:
        for name in self._rules.keys() & self.__dict__.keys():
            object.__setattr__(self, name, check_value(type(self).__name__, name, getattr(self, name), self._rules[name]))


def check_arguments(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Refuse what a constructor does not take, by the name of the class that is made: `__init__` may be that of its base."""
    names, n_positional = _arguments(cls)
    unknown = next((name for name in kwargs if name not in names), None) if names is not None else None
    if names is not None and unknown is not None:
        near = difflib.get_close_matches(unknown, names, n=1)
        advice = f"Did you mean {near[0]!r}?" if near else f"It takes: {', '.join(names)}."
        raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument {unknown!r}. {advice}")
    if n_positional is not None and len(args) > n_positional:
        raise TypeError(
            f"{cls.__name__}.__init__() takes {n_positional} positional argument{'s' * (n_positional != 1)} but {len(args)} "
            "were given; say the others by name."
        )


@functools.lru_cache(maxsize=1024)
def _arguments(cls: type) -> tuple[tuple[str, ...] | None, int | None]:
    """The names that a constructor takes and how many of them by place; None where it takes any."""
    _, *parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    kinds = [parameter.kind for parameter in parameters]
    takes_any_name, takes_any_number = inspect.Parameter.VAR_KEYWORD in kinds, inspect.Parameter.VAR_POSITIONAL in kinds
    names = tuple(parameter.name for parameter in parameters)
    return None if takes_any_name else names, None if takes_any_number else kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)


class HasParams(Protocol):
    _parameter_rules: Mapping[str, Rule]


def check_value(owner: str, name: str, value: Any, rule: Rule) -> Any:
    """The checked value, or an error that names the parameter, the value and what would do."""
    accepted = rule.accept(value)
    if accepted is _REFUSED:
        raise InvalidParameterError(f"{owner}: {name}={value!r} is not valid; it must be {rule.describe()}.")
    return accepted


def check_values(owner: str, name: str, values: Any, rule: Rule) -> list[Any]:
    """The checked values of a sequence of one at least, or the error that names the place of the wrong one."""
    if len(values) == 0:
        raise InvalidParameterError(f"{owner}: {name}={values!r} is not valid; it must hold {rule.describe()}, at least one.")
    return [check_value(owner, f"{name}[{place}]", value, rule) for place, value in enumerate(values)]


def check_params(estimator: HasParams) -> SimpleNamespace:
    """All parameters of an estimator, checked, as a value: what follows reads this and never checks again."""
    owner = type(estimator).__name__
    rules = estimator._parameter_rules.items()
    return SimpleNamespace(**{name: check_value(owner, name, getattr(estimator, name), rule) for name, rule in rules})
