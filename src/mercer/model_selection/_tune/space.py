"""The space of a search: over what each parameter ranges.

A point of the space holds a token for each parameter: the place of a value in its list, or a number. Tokens are what is drawn,
compared and written to files; `decode` turns them into the values that the estimator gets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.stats

from mercer._params import InvalidParameterError
from mercer._tuning import Choices, Integers, Reals, Space

Token = int | float
Point = Mapping[str, Token]
N_DENSE = 100  # the most values of a range that one sweep covers


class Dimension(Protocol):
    """What one parameter ranges over."""

    @property
    def size(self) -> float:
        """How many values there are, or infinity."""

    def decode(self, token: Token) -> Any:
        """The value that a token stands for."""

    def draws(self) -> Any:
        """Where tokens are drawn from: a list, or a law with `rvs`."""

    def dense(self, most: int | None = None) -> Values:
        """The values that a sweep covers: all of a list, `N_DENSE` of a range, and no more than `most`."""


@dataclass(frozen=True)
class Values:
    """A list of values; a token is a place in it."""

    values: tuple[Any, ...]

    @property
    def size(self) -> float:
        return len(self.values)

    def decode(self, token: Token) -> Any:
        return self.values[int(token)]

    def draws(self) -> list[int]:
        return list(range(len(self.values)))

    def dense(self, most: int | None = None) -> Values:
        if most is None or most >= len(self.values):
            return self
        return Values(tuple(self.values[place] for place in np.rint(np.linspace(0, len(self.values) - 1, most)).astype(int)))

    @property
    def is_ascending(self) -> bool:
        """Whether the values are numbers in order, so that neighbours in the list are alike."""
        if not all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in self.values):
            return False
        return all(a < b for a, b in zip(self.values, self.values[1:], strict=False))


@dataclass(frozen=True)
class Interval:
    """The reals or the integers between two ends; a token is the number itself."""

    ends: Reals | Integers

    @property
    def size(self) -> float:
        return math.inf if isinstance(self.ends, Reals) else self.ends.high - self.ends.low + 1

    def decode(self, token: Token) -> Any:
        return token

    def draws(self) -> Any:
        low, high = self.ends.low, self.ends.high
        if isinstance(self.ends, Integers):
            return _LogIntegers(int(low), int(high)) if self.ends.log else scipy.stats.randint(low, high + 1)
        return scipy.stats.loguniform(low, high) if self.ends.log else scipy.stats.uniform(low, high - low)

    def dense(self, most: int | None = None) -> Values:
        low, high = self.ends.low, self.ends.high
        n_values = min(N_DENSE, most or N_DENSE)
        grid = (np.geomspace if self.ends.log else np.linspace)(low, high, int(min(self.size, n_values)))
        if isinstance(self.ends, Integers):
            if self.size <= n_values:
                return Values(tuple(range(int(low), int(high) + 1)))
            return Values(tuple(np.unique(np.rint(grid)).astype(int).tolist()))
        return Values(tuple(np.clip(grid, low, high).tolist()))


@dataclass(frozen=True)
class Law:
    """A SciPy distribution; a token is a number that it gave."""

    distribution: Any

    size = math.inf

    def decode(self, token: Token) -> Any:
        return token

    def draws(self) -> Any:
        return self.distribution

    @property
    def has_quantiles(self) -> bool:
        return hasattr(self.distribution, "ppf")

    def quantile(self, share: float) -> Token:
        token: Token = np.asarray(self.distribution.ppf(share)).item()
        is_discrete = isinstance(getattr(self.distribution, "dist", None), scipy.stats.rv_discrete)
        return int(token) if is_discrete else token

    def dense(self, most: int | None = None) -> Values:
        """Quantiles, so that values are as dense as they are probable."""
        n_values = min(N_DENSE, most or N_DENSE)
        shares = (np.arange(n_values) + 0.5) / n_values
        return Values(tuple(sorted({self.quantile(share) for share in shares})))


@dataclass(frozen=True)
class Quantiles:
    """The same distribution with shares of its probability as tokens: what a search by neighbourhood needs."""

    law: Law

    size = math.inf

    def decode(self, token: Token) -> Any:
        return self.law.quantile(token)

    def draws(self) -> Any:
        return scipy.stats.uniform()

    def dense(self, most: int | None = None) -> Values:
        return self.law.dense(most)


@dataclass(frozen=True)
class _LogIntegers:
    """Whole numbers whose logarithm is about uniform."""

    low: int
    high: int

    def rvs(self, size: Any = None, random_state: Any = None) -> Any:
        drawn = np.exp(random_state.uniform(np.log(self.low), np.log(self.high + 1), size))
        return np.clip(np.floor(drawn), self.low, self.high).astype(int)


@dataclass(frozen=True)
class SearchSpace:
    """Parameters, sorted by name as in scikit-learn's `ParameterGrid`, and what each ranges over."""

    dimensions: Mapping[str, Dimension]

    @property
    def size(self) -> float:
        """How many points there are."""
        return math.prod(dimension.size for dimension in self.dimensions.values())

    @property
    def is_finite(self) -> bool:
        return all(isinstance(dimension, Values) for dimension in self.dimensions.values())

    def decode(self, point: Point) -> dict[str, Any]:
        return {name: self.dimensions[name].decode(token) for name, token in point.items()}

    def point_at(self, number: int) -> Point:
        """The point of this number in the grid of all lists; the last parameter changes fastest."""
        point: dict[str, Token] = {}
        for name in reversed(list(self.dimensions)):
            number, point[name] = divmod(number, int(self.dimensions[name].size))
        return {name: point[name] for name in self.dimensions}

    def number_of(self, point: Point) -> int:
        """The place of a point in the grid."""
        number = 0
        for name, dimension in self.dimensions.items():
            number = number * int(dimension.size) + int(point[name])
        return number

    def densely(self, name: str, most: int | None = None) -> SearchSpace:
        """The same space with a list in place of a parameter's range, of at most so many values."""
        return SearchSpace({**self.dimensions, name: self.dimensions[name].dense(most)})

    def can_be_swept(self, name: str) -> bool:
        """Whether a parameter has several values that can be listed."""
        dimension = self.dimensions[name]
        return dimension.size > 1 and (not isinstance(dimension, Law) or dimension.has_quantiles)

    def with_quantiles(self) -> SearchSpace:
        """The same space with every distribution searched by shares of its probability."""
        for name, dimension in self.dimensions.items():
            if isinstance(dimension, Law) and not dimension.has_quantiles:
                raise InvalidParameterError(
                    f"tune: space[{name!r}]={dimension.distribution!r} has no `ppf`, which search='bayesian' needs; it must be "
                    "a SciPy distribution, Reals, Integers or a list, or search must be 'random'."
                )
        return SearchSpace(
            {name: Quantiles(found) if isinstance(found, Law) else found for name, found in self.dimensions.items()}
        )

    def without(self, *names: str) -> SearchSpace:
        return SearchSpace({other: dimension for other, dimension in self.dimensions.items() if other not in names})


def make_space(space: Any, estimator: Any) -> SearchSpace:
    """The space as a user writes it, checked against the parameters that the estimator has."""
    if not isinstance(space, Mapping):
        raise InvalidParameterError(
            f"tune: space={space!r} is not valid; it must be None or a mapping from parameter to a list of values, "
            "Reals, Integers, Choices or a SciPy distribution."
        )
    known = estimator.get_params()
    for name in space:
        if name not in known:
            raise InvalidParameterError(
                f"tune: space[{name!r}] names no parameter of {type(estimator).__name__}; it must be one of: "
                f"{', '.join(sorted(known))}."
            )
    return SearchSpace({name: _dimension(name, space[name]) for name in sorted(space)})


def _dimension(name: str, values: Any) -> Dimension:
    if isinstance(values, (Reals, Integers)):
        return Interval(values)
    if isinstance(values, Choices):
        return Values(values.values)
    if hasattr(values, "rvs"):
        return Law(values)
    is_list = hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, (str, bytes, Mapping))
    if not is_list or len(values) == 0:
        raise InvalidParameterError(
            f"tune: space[{name!r}]={values!r} is not valid; it must be a non-empty list of values, Reals, Integers, Choices "
            "or a SciPy distribution."
        )
    return Values(tuple(values.tolist() if isinstance(values, np.ndarray) else values))


def own_space(estimator: Any) -> Mapping[str, Space] | None:
    """What the estimator itself, or the last step of a pipeline, says is worth searching; None where it says nothing."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        found = own_space(last)
        return None if found is None else {f"{name}__{parameter}": values for parameter, values in found.items()}
    space: Mapping[str, Space] | None = getattr(estimator, "_search_space", None)
    return space
