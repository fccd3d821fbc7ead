"""The rows and features that each member of a bagging ensemble is given: scikit-learn's draws, made again when asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer._trees.store import IntArray
from mercer.ensemble._forest.bags import MAX_STATE, count_draws

Indices = npt.NDArray[np.intp]


@saved("BagDraws")
@dataclass(frozen=True)
class BagDraws:
    """How the members of one fit draw. `weights` are those by which rows are drawn; None where all are drawn alike."""

    states: IntArray
    n_rows: int
    n_features: int
    n_draws: int
    n_chosen: int
    is_bootstrap: bool
    is_feature_bootstrap: bool
    weights: FloatArray | None = None

    @classmethod
    def make(cls, params: Any, states: IntArray, shape: tuple[int, int], weights: FloatArray | None) -> BagDraws:
        """From checked parameters. Without a bootstrap rows are drawn alike: their weights then go to the members."""
        n_rows, n_features = shape
        n_draws = count_draws(params.max_samples, n_rows, weights if params.bootstrap else None)
        if not params.bootstrap and n_draws > n_rows:
            raise InvalidParameterError(
                f"max_samples={params.max_samples!r} is not valid for {n_rows} rows: without a bootstrap "
                "it must be <= n_samples."
            )
        n_chosen = params.max_features if isinstance(params.max_features, int) else int(params.max_features * n_features)
        if n_chosen > n_features:
            raise InvalidParameterError(
                f"max_features={params.max_features!r} is not valid for {n_features} features: "
                "max_features must be <= n_features."
            )
        drawn_by = weights if params.bootstrap else None
        return cls(states, n_rows, n_features, n_draws, max(1, n_chosen), params.bootstrap, params.bootstrap_features, drawn_by)

    def __len__(self) -> int:
        return len(self.states)

    def first(self, n_members: int) -> BagDraws:
        return replace(self, states=self.states[:n_members])

    @property
    def has_all_features(self) -> bool:
        return self.n_chosen == self.n_features and not self.is_feature_bootstrap

    @property
    def has_all_rows(self) -> bool:
        return self.n_draws == self.n_rows and not self.is_bootstrap

    def draw(self, member: int) -> tuple[Indices, Indices]:
        """The features of a member, and its rows."""
        random = np.random.RandomState(self.states[member])
        features = _draw(random, self.is_feature_bootstrap, self.n_features, self.n_chosen)
        if self.weights is None:
            return features, _draw(random, self.is_bootstrap, self.n_rows, self.n_draws)
        shares = self.weights / self.weights.sum()
        return features, random.choice(self.n_rows, self.n_draws, replace=self.is_bootstrap, p=shares)

    def counts(self, member: int) -> FloatArray:
        """How many times a member has each row."""
        return np.bincount(self.draw(member)[1], minlength=self.n_rows).astype(np.float64)

    def set_states(self, estimator: Any, member: int) -> Any:
        """The estimator, with every `random_state` in it drawn for the member."""
        random = np.random.RandomState(self.states[member])
        names = [name for name in sorted(estimator.get_params(deep=True)) if name.rpartition("__")[2] == "random_state"]
        return estimator.set_params(**{name: int(random.randint(MAX_STATE)) for name in names})


def _draw(random: np.random.RandomState, is_bootstrap: bool, n: int, n_draws: int) -> Indices:
    if is_bootstrap:
        return random.randint(0, n, n_draws)
    return np.asarray(sample_without_replacement(n, n_draws, random_state=random))
