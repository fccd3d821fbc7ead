"""Clones of an estimator, one for each value of a parameter: what every sweep starts from (see `_tuning.Sweep`)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from sklearn.base import clone

from mercer._base import fit_method
from mercer._params import check_params

INPUT = ("n_features_in_", "feature_names_in_")
PLAIN = (str, int, float, type(None))  # parameters that clones may share


class Candidates:
    """A clone for each value, and its checked parameters: a bad value is refused as a fit would, before anything is fitted.

    Parameters
    ----------
    estimator : estimator
    name : str
        One of the parameters in `allowed`.
    values : sequence
    allowed : sequence of str
        What the estimator sweeps, given all other parameters as they are.
    check : callable
        Gives the checked parameters of a clone.
    """

    def __init__(
        self,
        estimator: Any,
        name: str,
        values: Sequence[Any],
        allowed: Sequence[str],
        *,
        check: Callable[[Any], SimpleNamespace] = check_params,
    ) -> None:
        require_swept(estimator, [name], allowed)
        if len(values) == 0:
            raise ValueError(f"{type(estimator).__name__}: there are no values of {name} to sweep; there must be one at least.")
        self.name = name
        self.estimators = clones_at(estimator, [{name: value} for value in values])
        self.params = [check(each) for each in self.estimators]

    def __len__(self) -> int:
        return len(self.estimators)

    @property
    def values(self) -> list[Any]:
        """The values as checked."""
        return [getattr(params, self.name) for params in self.params]

    def share_input(self, source: Any) -> None:
        """Tell all what a fit of one has learnt of the columns of X."""
        known = {name: getattr(source, name) for name in INPUT if hasattr(source, name)}
        for each in self.estimators:
            vars(each).update(known)

    def fit(self, place: int, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Run a part of `fit` on one of them as a fit of its own: with its callbacks, and no trace if it fails."""
        return fit_method(method)(self.estimators[place], *args, **options)


def require_swept(estimator: Any, names: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise unless all names are among what the estimator sweeps."""
    for name in names:
        if name not in allowed:
            raise ValueError(
                f"{type(estimator).__name__}: name={name!r} cannot be swept; with the other parameters as they are, "
                f"it must be {' or '.join(map(repr, allowed)) or 'swept by separate fits'}."
            )


def clones_at(estimator: Any, points: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A clone for each point, with the values that it gives to parameters."""
    clones = _clones(estimator, len(points))
    for each, point in zip(clones, points, strict=True):
        for name, value in point.items():
            setattr(each, name, value)  # which `require_swept` has shown to be a parameter
    return clones


def _clones(estimator: Any, n: int) -> list[Any]:
    """As many clones; what scikit-learn looks up for each of them is looked up once."""
    first = clone(estimator)
    own = {name: value for name, value in first.get_params(deep=False).items() if not isinstance(value, PLAIN)}
    clones = [first, *(copy.copy(first) for _ in range(n - 1))]
    for each in clones[1:]:
        for name, value in own.items():
            setattr(each, name, clone(value, safe=False))
    return clones
