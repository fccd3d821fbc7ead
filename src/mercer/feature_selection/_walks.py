"""Walks through sets of columns: forward, backward, floating, and from both ends. They know scores of sets, and no model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

Mask = npt.NDArray[np.bool_]
Features = npt.NDArray[np.intp]

PAST = 1  # columns further than wanted that a floating walk goes, so that the wanted number is reached from both sides


class Evaluator(Protocol):
    """What a set of columns scores on each fold."""

    def changed(self, base: Mask, features: Features) -> FloatArray:
        """The scores (features x folds) of a set in which each of the features, one at a time, is put in or left out."""
        ...


@dataclass(frozen=True)
class Change:
    """One column in or out, and what the set scores that it leaves."""

    feature: int
    support: Mask
    fold_scores: FloatArray

    @property
    def score(self) -> float:
        return float(self.fold_scores.mean())

    @property
    def is_addition(self) -> bool:
        return bool(self.support[self.feature])


@dataclass
class Walk:
    """A way through sets of columns, and all steps of it."""

    evaluator: Evaluator
    told: Callable[[Change], None] = lambda change: None
    steps: list[Change] = field(default_factory=list)

    def best_change(self, base: Mask, features: Features) -> Change:
        """The change of the greatest mean score, the first of equals; NaN is worst."""
        scores = self.evaluator.changed(base, features)
        means = scores.mean(axis=1)
        place = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
        support = base.copy()
        support[features[place]] = ~base[features[place]]
        return Change(int(features[place]), support, scores[place])

    def take(self, change: Change) -> Mask:
        self.steps.append(change)
        self.told(change)
        return change.support

    def straight(self, base: Mask, *, n_steps: int, least_gain: float | None) -> Mask:
        """Columns one after another into an empty set, or out of a full one; ends early where a step gains too little."""
        is_forward, before = not base.any(), -np.inf
        for _ in range(n_steps):
            change = self.best_change(base, np.flatnonzero(~base if is_forward else base))
            if least_gain is not None and change.score - before < least_gain:
                break
            base, before = self.take(change), change.score
        return base

    def floating(self, base: Mask, *, n_wanted: int, least_gain: float | None) -> Mask:
        """Steps on as in a straight walk, each followed by steps back as long as they reach the best set of their size so far.

        The best set of the wanted size is the result. With `least_gain` the walk ends where a step on gains too little over the
        set that it starts from, and the result is the best set of any size.
        """
        is_forward = not base.any()
        records: dict[int, Change] = {}
        n_last = n_wanted + PAST if is_forward else n_wanted - PAST
        n_last = min(max(n_last, 1), len(base))
        here = -np.inf

        def is_record(change: Change) -> bool:
            known = records.get(int(change.support.sum()))
            return known is None or change.score > known.score

        def keep(change: Change) -> Mask:
            nonlocal here
            if is_record(change):
                records[int(change.support.sum())] = change
            here = change.score
            return self.take(change)

        while int(base.sum()) != n_last:
            on = self.best_change(base, np.flatnonzero(~base if is_forward else base))
            if least_gain is not None and on.score - here < least_gain:
                break
            base = keep(on)
            last = on.feature
            while int(base.sum() if is_forward else (~base).sum()) > 1:
                others = np.flatnonzero(base if is_forward else ~base)
                others = others[others != last]  # the way back to where it came from
                if len(others) == 0:
                    break
                back = self.best_change(base, others)
                if not is_record(back):
                    break
                base = keep(back)
                last = back.feature
        if least_gain is None:
            return records[n_wanted].support
        return max(records.values(), key=lambda change: (change.score, -int(change.support.sum()))).support

    def from_both_ends(self, n_features: int, *, n_wanted: int, least_gain: float | None) -> Mask:
        """A walk forward that never takes what one backward has dropped, and one backward that keeps what the other has taken.

        In turns, until they meet or one of them has the wanted number. With `least_gain`, a column that gains less is not
        taken, one that costs less is dropped, and where neither walk goes on the better of the two sets is the result.
        """
        kept, left = np.zeros(n_features, dtype=bool), np.ones(n_features, dtype=bool)
        score_kept = score_left = -np.inf
        may_take = may_drop = True
        while (undecided := np.flatnonzero(left & ~kept)).size and (may_take or may_drop):
            if may_take:
                change = self.best_change(kept, undecided)
                if may_take := least_gain is None or change.score - score_kept >= least_gain:
                    kept, score_kept = self.take(change), change.score
                if least_gain is None and int(kept.sum()) == n_wanted:
                    return kept
            undecided = np.flatnonzero(left & ~kept)
            if may_drop and undecided.size and int(left.sum()) > 1:
                change = self.best_change(left, undecided)
                if may_drop := least_gain is None or change.score - score_left > -least_gain:
                    left, score_left = self.take(change), change.score
                if least_gain is None and int(left.sum()) == n_wanted:
                    return left
            elif int(left.sum()) == 1:
                break
        return kept if score_kept >= score_left else left


def records_of(steps: list[Change]) -> list[dict[str, Any]]:
    """The steps as a user reads them."""
    return [
        {
            "feature": change.feature,
            "is_addition": change.is_addition,
            "n_features": int(change.support.sum()),
            "score": change.score,
            "score_std": float(change.fold_scores.std()),
            "fold_scores": change.fold_scores,
            "support": change.support,
        }
        for change in steps
    ]
