"""Every number of rounds from one fit with the largest: what boosting is after some of its rounds, kept on the way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, ClassVar, Self

from mercer._candidates import Candidates
from mercer._trace import Record, Solver

Attributes = dict[str, Any]


class Stages:
    """Watches rounds and keeps the fitted attributes after the wanted ones; none are wanted in a fit of its own."""

    def __init__(self, wanted: Collection[int] = ()) -> None:
        self._wanted = frozenset(wanted)
        self._kept: dict[int, Attributes] = {}

    def over(self, rounds: Solver, attributes: Callable[[list[Record]], Attributes]) -> Solver:
        """The rounds, watched; `attributes` gives what an estimator is after them, of the records so far."""
        return _Watched(rounds, attributes, self._wanted, self._kept) if self._wanted else rounds

    def after(self, n_rounds: int) -> Attributes | None:
        """The attributes after so many rounds; None where the rounds ended before."""
        return self._kept.get(n_rounds)


NO_STAGES = Stages()


class _Watched:
    """Rounds, one a step."""

    def __init__(
        self,
        rounds: Solver,
        attributes: Callable[[list[Record]], Attributes],
        wanted: Collection[int],
        kept: dict[int, Attributes],
    ) -> None:
        self._rounds, self._attributes, self._wanted, self._kept = rounds, attributes, wanted, kept
        self._records: list[Record] = []

    def step(self) -> Record:
        record = self._rounds.step()
        self._records.append(record)
        if len(self._records) in self._wanted:
            self._kept[len(self._records)] = self._attributes(list(self._records))
        return record

    @property
    def is_done(self) -> bool:
        return self._rounds.is_done


class StagedSweep:
    """Mixin for boosting, whose first rounds do not depend on how many follow."""

    _rounds_parameter: ClassVar[str] = "n_estimators"

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, stages: Stages) -> Self:
        """A fit that shows its rounds to `stages`."""
        raise NotImplementedError

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes: the number of rounds."""
        return [self._rounds_parameter]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each number of rounds in the order given, from one fit with the largest.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : str
            The parameter that says how many rounds there are; see `sweep_parameters`.
        values : sequence of int

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        numbers = candidates.values
        last = max(range(len(numbers)), key=numbers.__getitem__)
        stages = Stages(set(numbers) - {numbers[last]})
        largest = candidates.fit(last, type(self)._fit_stages, X, y, sample_weight, stages)
        candidates.share_input(largest)
        fitted = {key: value for key, value in vars(largest).items() if key not in largest.get_params(deep=False)}
        for place, each in enumerate(candidates.estimators):
            if place != last:
                kept = stages.after(numbers[place])
                each._store(fitted if kept is None else kept)
        return iter(candidates.estimators)
