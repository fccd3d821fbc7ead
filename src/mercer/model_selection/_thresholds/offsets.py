"""Many classes: a weight of each class's probability, or an offset of its score, by exact searches along coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.model_selection._thresholds.measures import Measure
from mercer.model_selection._thresholds.scoring import LabelMeasure
from mercer.model_selection._thresholds.steps import TIE, Fold, Moves, Steps, best_of, between, confusion

_MOST_CALLS = 200  # of a measure that is a Python function, in one step


@dataclass(frozen=True)
class Decision:
    """How offsets decide: argmax_k exp(b_k) s_k for probabilities (`is_product`), argmax_k s_k + b_k for other scores."""

    is_product: bool

    @property
    def largest(self) -> float:
        """The largest offset to look at: of a logarithm, one whose exponential is a number yet."""
        return 300.0 if self.is_product else np.inf

    def decide(self, scores: FloatArray, offsets: FloatArray) -> npt.NDArray[np.intp]:
        codes: npt.NDArray[np.intp] = np.argmax(scores * np.exp(offsets) if self.is_product else scores + offsets, axis=1)
        return codes

    def additive(self, scores: FloatArray) -> FloatArray:
        """Scores to which offsets are added."""
        if not self.is_product:
            return scores
        with np.errstate(divide="ignore"):
            return np.log(scores)


@dataclass(frozen=True)
class Offsets:
    """The best offsets over folds, how far folds differ, and the steps that led there."""

    offsets: FloatArray
    score: float
    offset_spread: FloatArray
    score_spread: float
    path: FloatArray
    scores: FloatArray


class _Search:
    """Ascent over one offset at a time: each step looks at all values of it that differ in what they predict."""

    def __init__(self, folds: Sequence[Fold], decision: Decision, measure: Measure, *, is_fixed: bool) -> None:
        self.folds, self.decision, self.measure, self.is_fixed = folds, decision, measure, is_fixed
        self.additive = [decision.additive(fold.scores) for fold in folds]
        self.n_classes = folds[0].scores.shape[1]

    def values(self, offsets: FloatArray) -> FloatArray:
        """The measure of each fold, by the rule that will predict."""
        n_classes, decide = self.n_classes, self.decision.decide
        cells = [confusion(f.codes, decide(f.scores, offsets), f.weights, n_classes) for f in self.folds]
        return np.concatenate([self.measure(each[:, :, None]) for each in cells])

    def _score(self, offsets: FloatArray) -> float:
        mean = self.values(offsets).mean()
        return -np.inf if np.isnan(mean) else float(mean)  # NaN never wins

    def run(self, start: FloatArray) -> list[tuple[FloatArray, float]]:
        """The offsets and scores after each step that gained; ends when no single offset gains any more."""
        path = [(start, self._score(start))]
        k, since_gain = 0, 0
        while since_gain < self.n_classes and not self.is_fixed:
            offsets, score = path[-1]
            moved = offsets.copy()
            moved[k] = self._best_offset(k, offsets)
            moved -= moved.mean()
            if (reached := self._score(moved)) > score + TIE * max(1.0, abs(score)):
                path.append((moved, reached))
                since_gain = 0
            since_gain, k = since_gain + 1, (k + 1) % self.n_classes
        return path

    def _best_offset(self, k: int, offsets: FloatArray) -> float:
        """The best value of one offset, all others as they are; of equal ones the nearest to what it is."""
        curves = []
        for fold, scores in zip(self.folds, self.additive, strict=True):
            rivals = scores + offsets
            rivals[:, k] = -np.inf
            origin = np.argmax(rivals, axis=1)
            with np.errstate(invalid="ignore"):
                keys = rivals[np.arange(len(rivals)), origin] - scores[:, k]
            keys[np.isnan(keys) | (keys > self.decision.largest)] = np.inf
            keys[keys < -self.decision.largest] = -np.inf
            curves.append(Steps(Moves(keys, origin, k), fold, self.n_classes, self.measure))
        keys = np.unique(np.concatenate([curve.keys for curve in curves]))
        if len(keys) == 0:
            return float(offsets[k])
        candidates = np.concatenate([[keys[0] - 1.0], between(keys), [keys[-1] + 1.0]])
        if isinstance(self.measure, LabelMeasure) and len(candidates) > _MOST_CALLS:
            candidates = candidates[np.linspace(0, len(candidates) - 1, _MOST_CALLS).round().astype(np.intp)]
        scores = np.mean([curve.at(candidates) for curve in curves], axis=0)
        if np.isnan(scores).all():
            return float(offsets[k])
        return float(candidates[best_of(scores, np.abs(candidates - offsets[k]))])


def search_offsets(
    folds: Sequence[Fold], decision: Decision, measure: Measure, starts: Sequence[FloatArray], *, is_fixed: bool = False
) -> Offsets:
    """The best of the ascents from several starts, of which the first is the neutral one. `is_fixed`: no ascent.

    A step costs O(n log n + n n_classes^2). Every step gains and there are finitely many predictions, so that an ascent ends:
    where no single offset can gain, which need not be the best of all offsets together.
    """
    search = _Search(folds, decision, measure, is_fixed=is_fixed)
    path = max((search.run(start) for start in starts), key=lambda steps: steps[-1][1])
    offsets, score = path[-1]
    if score == -np.inf:
        raise ValueError("scoring gave NaN for every choice of class weights; it must give a number for some.")
    own = [_Search([fold], decision, measure, is_fixed=is_fixed).run(offsets)[-1][0] for fold in folds]
    values = search.values(offsets)
    return Offsets(
        offsets=offsets,
        score=score,
        offset_spread=np.std(own, axis=0),
        score_spread=float(values.std()),
        path=np.stack([step for step, _ in path]),
        scores=np.array([reached for _, reached in path]),
    )
