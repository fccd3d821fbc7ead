"""What objects in a file must be like: the rules that writer and reader share, so that what is written can be read."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sklearn.base import BaseEstimator

from mercer._base import MercerEstimator
from mercer._params import check_value
from mercer._persistence.errors import FileFormatError
from mercer._persistence.foreign import check_support_vectors
from mercer._persistence.limits import MAX_COLLISIONS, MAX_DEPTH, MAX_OBJECTS, TRANSIENT
from mercer._persistence.registry import constructor_fields


def check_estimator(estimator: BaseEstimator, attributes: Mapping[str, Any]) -> None:
    """Parameters are valid by the rules of the class, and attributes are such as an object can have."""
    kind: Any = type(estimator)
    if isinstance(estimator, MercerEstimator):
        for name in kind._parameter_rules:
            value = getattr(estimator, name)
            (_check_plain if type(value) in _PLAIN else _check_parameter)(kind, name, value)
    check_attributes(kind, attributes, constructor_fields(kind))
    if "_n_support" in attributes:
        check_support_vectors(estimator, attributes)


def _check_parameter(kind: type[MercerEstimator], name: str, value: Any) -> None:
    check_value(kind.__name__, name, value, kind._parameter_rules[name])


# Members of an ensemble have the same parameters, thousands of times.
_PLAIN = (type(None), bool, int, float, str)
_check_plain = functools.lru_cache(maxsize=10_000, typed=True)(_check_parameter)


def check_attributes(kind: type, names: Iterable[str], parameters: Iterable[str] = ()) -> None:
    """Any data may be kept in an object, the user's own too; but it hides nothing that the class defines, and takes no name
    that Python or scikit-learn has a use for."""
    hidden = set(names).intersection(parameters)
    for name in names:
        fault = "is a parameter" if name in hidden else _fault(kind, name)
        if fault is not None:
            raise FileFormatError(f"{kind.__name__} cannot have an attribute {name[:100]!r} of its own: it {fault}.")


@functools.lru_cache(maxsize=100_000)
def _fault(kind: type, name: Any) -> str | None:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        return "is not a name that data can have"
    if name in TRANSIENT:
        return "is set by scikit-learn for a fit"
    if any(name in vars(base) for base in kind.__mro__):
        return "would hide what the class has under this name"
    return None


def check_keys(values: Sequence[Any]) -> Sequence[Any]:
    """Values that are keys, once it is known that they are not chosen to make a search among them slow."""
    counts = Counter(map(hash, values))
    if max(counts.values(), default=0) > MAX_COLLISIONS:
        raise FileFormatError("too many keys have the same hash.")
    return values


class Extents:
    """How many objects each object holds, itself and those it refers to counted as often as it does, and how deep."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._depths: list[int] = []

    def refer(self, extent: tuple[int, int], place: int) -> tuple[int, int]:
        """The extent of an object that refers to one more."""
        size, depth = extent[0] + self._sizes[place], max(extent[1], self._depths[place] + 1)
        if size > MAX_OBJECTS or depth > MAX_DEPTH:
            raise FileFormatError(f"objects hold one another more than {MAX_DEPTH} deep or {MAX_OBJECTS} times.")
        return size, depth

    def append(self, extent: tuple[int, int]) -> None:
        self._sizes.append(extent[0])
        self._depths.append(extent[1])
