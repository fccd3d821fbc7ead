"""Rates that change from episode to episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Checked, Integer, OneOf, Real, Rule


@dataclass(frozen=True)
class Decay(Checked):
    r"""A rate that falls from `start` to `end` over a number of episodes, and stays there.

    Linear, :math:`\epsilon_k = s + (e - s) k / n`; exponential, :math:`s (e / s)^{k / n}`; or like 1/k, from s to e:
    :math:`s / (1 + (s / e - 1) k / n)`.

    Parameters
    ----------
    start, end : float
        The first rate, and that of episode `n_episodes` and later.
    n_episodes : int
        How long it falls.
    kind : {"linear", "exponential", "inverse"}, default="linear"
        How it falls. All but linear ones need `end` above 0.

    Examples
    --------
    >>> from mercer.rl import Decay
    >>> [Decay(1.0, 0.1, 10, kind)(5) for kind in ("linear", "exponential", "inverse")]
    [0.55, 0.31622776601683794, 0.18181818181818182]
    """

    start: float
    end: float
    n_episodes: int
    kind: str = "linear"

    _rules: ClassVar[Mapping[str, Rule]] = {
        "start": Real(above=0),
        "end": Real(least=0),
        "n_episodes": Integer(1),
        "kind": OneOf("linear", "exponential", "inverse"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind != "linear" and self.end == 0:
            raise ValueError(f"Decay: end=0 is never reached by kind={self.kind!r}; it must be above 0, or kind 'linear'.")

    def __call__(self, episode: int) -> float:
        share = min(episode / self.n_episodes, 1.0)
        if self.kind == "linear":
            return self.start + (self.end - self.start) * share
        if self.kind == "exponential":
            return float(self.start * (self.end / self.start) ** share)
        return self.start / (1 + (self.start / self.end - 1) * share)


def rates_of(owner: str, name: str, given: Any, rule: Real, first: int, n: int) -> FloatArray:
    """The rate of each episode, of a number or of a function of the number of episodes before."""
    if not callable(given):
        return np.full(n, float(given))
    rates = np.array([float(given(episode)) for episode in range(first, first + n)])
    fits = [rule.accept(rate) == rate for rate in rates.tolist()]
    if not all(fits):
        place = fits.index(False)
        raise ValueError(f"{owner}: {name}({first + place}) is {rates[place]:g}; it must be {rule.describe()}.")
    return rates
