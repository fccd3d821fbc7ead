"""How estimators take part in tuning: over what their parameters range, and what one fit can tell about many values.

An estimator says so itself, and nothing keeps a list of cases:

- `_search_space` (class attribute): a mapping from parameter to `Reals`, `Integers` or `Choices` that is worth searching;
- `Sweep`: many values of one parameter for about the price of one fit (a path, the rounds of boosting);
- `JointSweep`: the same for several parameters at once (the neighbours are found once, however many count, and how much);
- `OutOfBagSweep`: the same, with every row predicted by members that have not seen it, so that no folds are needed;
- `Halving`: a fit that can be looked at on its way, so that a poor one is given up before it has cost all that it would.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mercer._arrays import FloatArray


@dataclass(frozen=True)
class Reals:
    """The numbers from `low` to `high`; with `log`, as dense in every factor of two."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        _check_ends(self)


@dataclass(frozen=True)
class Integers:
    """The whole numbers from `low` to `high`, both included; with `log`, as dense in every factor of two."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_ends(self)
        if int(self.low) != self.low or int(self.high) != self.high:
            raise ValueError(f"Integers: low={self.low!r} and high={self.high!r} must be whole numbers.")


@dataclass(frozen=True, init=False)
class Choices:
    """One of several values."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        if not values:
            raise ValueError("Choices() needs at least one value.")
        object.__setattr__(self, "values", values)


Space = Reals | Integers | Choices


def _check_ends(space: Reals | Integers) -> None:
    name = type(space).__name__
    if not (math.isfinite(space.low) and math.isfinite(space.high) and space.low < space.high):
        raise ValueError(f"{name}: low={space.low!r} must be below high={space.high!r}, both finite.")
    if space.log and space.low <= 0:
        raise ValueError(f"{name}: low={space.low!r} must be positive for log=True.")


@runtime_checkable
class Sweep(Protocol):
    """An estimator that fits many values of one parameter for about the price of one fit."""

    def sweep_parameters(self) -> Sequence[str]:
        """The parameters that `sweep` takes, given all others as they are now; the one that saves most comes first."""

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Any]:
        """Fitted estimators, one a value in the order given, the estimator itself left alone.

        Each is what `clone(self).set_params(**{name: value}).fit(X, y)` gives, to the tolerance of the solver.
        """


@runtime_checkable
class JointSweep(Sweep, Protocol):
    """A sweep whose work serves every value of all its parameters, so that their combinations come for about one fit too."""

    def sweep_points(self, X: Any, y: Any, points: Sequence[Mapping[str, Any]], *, sample_weight: Any = None) -> Iterator[Any]:
        """As `sweep`, for points: each names values of some of `sweep_parameters()`, the same of them in every point."""


@dataclass(frozen=True)
class OutOfBagView:
    """Stands in for a fitted ensemble when its rows are scored: each row is predicted by members that have not seen it.

    It predicts the rows that it was made for, those where `has_votes` is true, whatever X it is handed.
    """

    has_votes: Any  # mask over the rows of X
    prediction: Any  # of the rows with votes
    probability: FloatArray | None = None
    classes_: Any = None
    _estimator_type: str = "regressor"

    def predict(self, X: Any) -> Any:
        return self.prediction

    def predict_proba(self, X: Any) -> FloatArray:
        if self.probability is None:
            raise AttributeError("a regressor has no predict_proba")
        return self.probability


@runtime_checkable
class OutOfBagSweep(Protocol):
    """An ensemble that scores many values of one parameter on its own out-of-bag rows."""

    def out_of_bag_parameters(self) -> Sequence[str]:
        """The parameters that `sweep_out_of_bag` takes, given all others as they are now; the most profitable first."""

    def sweep_out_of_bag(
        self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None
    ) -> Iterator[tuple[Any, OutOfBagView]]:
        """For each value in the order given, the ensemble fitted on all rows (None: it is to be fitted anew) and its view."""


@runtime_checkable
class Halving(Protocol):
    """An estimator whose fit can be looked at on its way, and then go on or be left."""

    def halving_parameter(self) -> str | None:
        """The parameter that says how long a fit may go on, given all others as they are now; None where it has no looks."""

    def fit_in_stages(self, X: Any, y: Any, stages: Sequence[int], *, sample_weight: Any = None) -> Iterator[tuple[Any, bool]]:
        """A fitted estimator after each of these values of the parameter, ascending up to its own, and whether the fit is over.

        It is one fit, of a clone: what comes after a look begins when the next one is asked for, and what the last one gives
        has the bits of `clone(self).fit(X, y)`. A fit that ends by itself gives no more.
        """
