"""Markov chains under emissions: the model that EM improves, and the passes over sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads

States = npt.NDArray[np.int64]


class Emissions(Protocol):
    """What the states emit: parameters that the M step moves."""

    def log_densities(self, X: FloatArray) -> FloatArray:
        """Of each row in each state, (n, K)."""
        ...

    def update(self, X: FloatArray, posteriors: FloatArray, params: str) -> None:
        """Move the parameters that `params` names to their most probable values, given the shares of rows in states."""
        ...

    def log_prior(self) -> float:
        """What the priors say of the parameters, up to a constant."""
        ...

    def attributes(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Steps:
    """The steps of all sequences, one behind another; some may be missing, which say nothing of the states."""

    present: FloatArray  # the rows that are there
    is_present: npt.NDArray[np.bool_] | None  # None: all
    starts: States  # of the sequences, and the end

    @classmethod
    def of(cls, X: FloatArray, starts: States) -> Steps:
        is_present = np.asarray(~np.isnan(X).all(axis=1))
        if is_present.all():
            return cls(X, None, starts)
        return cls(np.ascontiguousarray(X[is_present]), is_present, starts)

    @property
    def n_sequences(self) -> int:
        return len(self.starts) - 1

    def log_emissions(self, emissions: Emissions) -> FloatArray:
        """A line a step; zeros where it is missing."""
        logs = np.ascontiguousarray(emissions.log_densities(self.present), dtype=np.float64)
        if self.is_present is None:
            return logs
        all_steps = np.zeros((len(self.is_present), logs.shape[1]))
        all_steps[self.is_present] = logs
        return all_steps

    def of_present(self, values: FloatArray) -> FloatArray:
        """The lines of the steps that are there."""
        return values if self.is_present is None else values[self.is_present]


class Expected(NamedTuple):
    """What the E step makes of the sequences."""

    log_likelihoods: FloatArray  # of each sequence
    posteriors: FloatArray  # of each step and state
    starts: FloatArray  # how often a sequence starts in each state
    transitions: FloatArray  # how often each transition is taken


@dataclass
class Chain:
    """Where sequences start, and where they go from each state."""

    start: FloatArray
    transitions: FloatArray
    is_scaled: bool

    def _law(self) -> tuple[FloatArray, FloatArray]:
        return np.ascontiguousarray(self.start, dtype=np.float64), np.ascontiguousarray(self.transitions, dtype=np.float64)

    def score(self, steps: Steps, logs: FloatArray) -> FloatArray:
        """The log-likelihood of each sequence."""
        likelihoods = np.empty(steps.n_sequences)
        kernels.score_sequences(logs, steps.starts, *self._law(), self.is_scaled, likelihoods, effective_threads(None))
        return likelihoods

    def expect(self, steps: Steps, logs: FloatArray, weights: FloatArray | None = None) -> Expected:
        k = len(self.start)
        found = Expected(np.empty(steps.n_sequences), np.empty(logs.shape), np.empty(k), np.empty((k, k)))
        kernels.expect_sequences(logs, steps.starts, *self._law(), self.is_scaled, weights, *found, effective_threads(None))
        return found

    def decode(self, steps: Steps, logs: FloatArray) -> tuple[FloatArray, States]:
        """The most likely path of each sequence, and the logarithm of its likelihood."""
        likelihoods, states = np.empty(steps.n_sequences), np.empty(len(logs), dtype=np.int64)
        kernels.most_likely_paths(logs, steps.starts, *self._law(), states, likelihoods, effective_threads(None))
        return likelihoods, states


def normalised(counts: FloatArray, before: FloatArray) -> FloatArray:
    """Lines of counts as probabilities. What was impossible stays so, and a line without counts stays as it was."""
    counts = np.where(before == 0, 0.0, np.maximum(counts, 0))
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0), before)


def log_dirichlet(prior: FloatArray | float, law: FloatArray) -> float:
    """The logarithm of a Dirichlet density, up to a constant; what is impossible is left out."""
    excess = np.broadcast_to(np.asarray(prior, dtype=np.float64) - 1, law.shape)
    is_said = (law > 0) & (excess != 0)
    return float((excess[is_said] * np.log(law[is_said])).sum())


class HiddenMarkov:
    """A chain and its emissions, whose posterior density EM raises: log p(X) plus what the priors say."""

    def __init__(
        self,
        steps: Steps,
        weights: FloatArray | None,
        chain: Chain,
        emissions: Emissions,
        *,
        start_prior: FloatArray | float,
        transition_prior: FloatArray | float,
        params: str,
    ) -> None:
        self._steps, self._weights, self.chain, self.emissions = steps, weights, chain, emissions
        self._start_prior, self._transition_prior, self._params = start_prior, transition_prior, params
        lengths = np.diff(steps.starts)
        self._of_steps = None if weights is None else np.repeat(weights, lengths)[:, None]

    def _log_prior(self) -> float:
        of_chain = 0.0
        if "s" in self._params:
            of_chain += log_dirichlet(self._start_prior, self.chain.start)
        if "t" in self._params:
            of_chain += log_dirichlet(self._transition_prior, self.chain.transitions)
        return of_chain + self.emissions.log_prior()

    def expect(self) -> tuple[Expected, float]:
        found = self.chain.expect(self._steps, self._steps.log_emissions(self.emissions), self._weights)
        likelihoods = found.log_likelihoods
        total = (
            likelihoods.sum() if self._weights is None else likelihoods[self._weights > 0] @ self._weights[self._weights > 0]
        )
        return found, float(total) + self._log_prior()

    def maximise(self, statistics: Expected, objective: float) -> float:
        if not np.isfinite(objective):
            raise ValueError(
                "some sequence is impossible under the parameters (its log-likelihood is "
                f"{statistics.log_likelihoods.min():g}): give start and transition probabilities, or emissions, that allow it."
            )
        chain = self.chain
        if "s" in self._params:
            chain.start = normalised(self._start_prior - 1 + statistics.starts, chain.start)
        if "t" in self._params:
            chain.transitions = normalised(self._transition_prior - 1 + statistics.transitions, chain.transitions)
        posteriors = statistics.posteriors if self._of_steps is None else statistics.posteriors * self._of_steps
        self.emissions.update(self._steps.present, self._steps.of_present(posteriors), self._params)
        return objective

    def attributes(self) -> dict[str, Any]:
        return {"startprob_": self.chain.start, "transmat_": self.chain.transitions, **self.emissions.attributes()}
