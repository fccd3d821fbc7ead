"""Weights for a blend of models, from predictions of rows that the models had not seen.

Models are added one at a time, with repetition, each time the one that helps the score most (Caruana et al., 2004). The score
that is reported is honest: each part of the rows is predicted with weights chosen on the other parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_N_STEPS = 15
_N_CHOOSING = 20_000  # rows, at most, that the weights are chosen by
_N_WITHOUT_GAIN = 3  # steps
_LEAST_SHARE = 0.06  # of the weights: a member with less is left out

Score = Callable[[Any, Any], float]  # of predictions, for these places among the rows


@dataclass(frozen=True)
class Blend:
    """How often each model was chosen, and what the blend predicts by weights of the other parts."""

    counts: tuple[int, ...]
    held_out: Any
    picked: Any  # what the single model predicts that is the best on the other parts: what a blend has to beat


@dataclass(frozen=True)
class Limits:
    """What the members may come to together: bytes in a file, and seconds of fits to all rows."""

    sizes: Sequence[float]
    most_size: float
    seconds: Sequence[float]
    most_seconds: float

    def allow(self, counts: Any) -> bool:
        used = np.flatnonzero(counts).tolist()
        size, seconds = sum(self.sizes[one] for one in used), sum(self.seconds[one] for one in used)
        return size <= self.most_size and seconds <= self.most_seconds


def find_blend(
    predictions: Sequence[Any], parts: Sequence[Any], score: Score, limits: Limits | None = None, seed: int = 0
) -> Blend:
    """`predictions` hold one array a model, and `parts` the places of the rows of each part."""
    n_rows = len(predictions[0])
    drawn = np.random.default_rng([seed, n_rows]).permutation(n_rows)[:_N_CHOOSING]  # not as whoever cut the parts has drawn
    held_out, picked = np.empty_like(predictions[0]), np.empty_like(predictions[0])
    for part in parts:
        others = np.setdiff1d(drawn, part)
        alone = int(np.argmax([score(one[others], others) for one in predictions]))
        picked[part] = predictions[alone][part]
        held_out[part] = _mix([one[part] for one in predictions], _choose(predictions, others, score, limits))
    counts = _choose(predictions, np.sort(drawn), score, limits)
    return Blend(tuple(int(count) for count in counts), held_out, picked)


def _choose(predictions: Sequence[Any], rows: Any, score: Score, limits: Limits | None) -> Any:
    """Counts of the best blend on the way, the first of equals, without members of little weight."""
    known = [one[rows] for one in predictions]
    counts = np.zeros(len(predictions), dtype=int)
    best, best_score, n_poor = counts, -np.inf, 0
    for _ in range(_N_STEPS):
        options = [counts + np.eye(len(counts), dtype=int)[member] for member in range(len(counts))]
        options = [option for option in options if limits is None or limits.allow(option)]
        if not options:
            break
        scores = [score(_mix(known, option), rows) for option in options]
        at = int(np.argmax(scores))
        counts = options[at]
        if scores[at] > best_score:
            best, best_score, n_poor = counts, scores[at], 0
        else:
            n_poor += 1
        if n_poor >= _N_WITHOUT_GAIN:
            break
    if not best.any():
        best = np.eye(len(predictions), dtype=int)[0]
    return np.where(best < _LEAST_SHARE * best.sum(), 0, best)


def _mix(predictions: Sequence[Any], counts: Any) -> Any:
    return sum(count * prediction for count, prediction in zip(counts, predictions, strict=True) if count) / counts.sum()
