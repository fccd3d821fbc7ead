"""Fits for many values of alpha at once: one problem, and one path from the largest alpha down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from mercer._arrays import FloatArray
from mercer._candidates import Candidates
from mercer.linear_model._sparse.penalised import Problem


class AlphaSweep:
    """Mixin for estimators whose fits with another alpha may go on where one ended."""

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray | None]:
        raise NotImplementedError

    def _problem(
        self, X: Any, y: FloatArray, weights: FloatArray | None, params: SimpleNamespace, *, n_penalties: int
    ) -> Problem:
        raise NotImplementedError

    def _descents(self, problem: Problem, params: SimpleNamespace) -> Any:
        """What the fits share: descents that keep their coefficients."""
        raise NotImplementedError

    def _descend(self, descents: Any, params: SimpleNamespace, X: Any, y: FloatArray, start: FloatArray | None) -> Self:
        """Solve from `start`, or from where the descents are, and store what was found."""
        raise NotImplementedError

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes."""
        return ["alpha"]

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value of alpha in the order given: one path from the largest down.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"alpha"}
        values : sequence of float

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters())
        first, params = candidates.estimators[0], candidates.params[0]
        X, y, weights = first._check_data(X, y, sample_weight)
        candidates.share_input(first)
        descents = first._descents(first._problem(X, y, weights, params, n_penalties=len(candidates)), params)
        for place in np.argsort(candidates.values)[::-1]:
            candidates.fit(place, type(self)._descend, descents, candidates.params[place], X, y, None)
        return iter(candidates.estimators)
