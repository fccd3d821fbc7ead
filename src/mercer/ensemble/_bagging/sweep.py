"""Bagging ensembles for many numbers of members from one fit, and what the rows out of their bags say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from mercer._base import FitTask
from mercer._candidates import Candidates
from mercer._tuning import OutOfBagView

# What may be swept by a fit for each value, where the rows out of the bags take the place of folds.
BY_FITS = ("max_samples", "max_features", "bootstrap_features", "estimator")


class BaggingSweep:
    """Mixin for bagging, whose first members do not depend on how many follow."""

    bootstrap: bool

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return ["n_estimators"]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each number of members in the order given, from one fit with the largest.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"n_estimators"}
        values : sequence of int

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters(), check=type(self)._checked)
        bags = _fit_once(candidates, X, y, sample_weight)
        return (candidates.fit(place, _store, bag, None) for place, bag in enumerate(bags))

    def out_of_bag_parameters(self) -> list[str]:
        """The parameters that `sweep_out_of_bag` takes: first that which needs one fit for all; none without a bootstrap."""
        return ["n_estimators", *BY_FITS] if self.bootstrap else []

    def sweep_out_of_bag(
        self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None
    ) -> Iterator[tuple[Self, OutOfBagView]]:
        """Fitted clones, one for each value in the order given, and the rows as members that have not seen them predict them.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : str
            See `out_of_bag_parameters`.
        values : sequence

        Returns
        -------
        iterator of (estimator, OutOfBagView)
        """
        candidates = Candidates(self, name, values, self.out_of_bag_parameters(), check=type(self)._checked)
        if name in self.sweep_parameters():
            bags = _fit_once(candidates, X, y, sample_weight)
            return (_judge(candidates, place, bag) for place, bag in enumerate(bags))
        places = range(len(candidates))
        return (_judge(candidates, place, candidates.fit(place, _fit_bag, X, y, sample_weight)) for place in places)

    def _checked(self) -> Any:
        raise NotImplementedError


def _fit_once(candidates: Candidates, X: Any, y: Any, sample_weight: Any) -> Iterator[Any]:
    """The members of every candidate."""
    largest = max(range(len(candidates)), key=candidates.values.__getitem__)
    bag = candidates.fit(largest, _fit_bag, X, y, sample_weight)
    candidates.share_input(candidates.estimators[largest])
    return (bag.first(n_members) for n_members in candidates.values)


def _fit_bag(ensemble: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    params = ensemble._checked()
    task = FitTask.start(ensemble, X, y, n_subtasks=params.n_estimators)
    bag = ensemble._fit_bag(X, y, sample_weight, params, ensemble._route("fit", {}), task)
    task.end()
    return bag


def _judge(candidates: Candidates, place: int, bag: Any) -> tuple[Any, OutOfBagView]:
    """A fitted ensemble, and how it does out of its bags."""
    ensemble = candidates.estimators[place]
    found = bag.look_out(ensemble.n_jobs)
    return candidates.fit(place, _store, bag, found), ensemble._left_out_view(found, bag.data)


def _store(ensemble: Any, bag: Any, found: Any) -> Any:
    ensemble._store(ensemble._attributes(ensemble._checked(), bag, found))
    return ensemble
