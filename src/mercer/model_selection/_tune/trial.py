"""A trial: one choice of parameters and what it scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

TrialStatus = Literal["complete", "stopped", "failed"]


@dataclass(frozen=True)
class Trial:
    """One choice of parameters and what it scored.

    Attributes
    ----------
    number : int
        Its place in the search, from 0.
    params : dict
        The values tried.
    fold_scores : tuple of float
        The score on each fold; a single one where rows were scored out of bag.
    score, spread : float
        Their mean and standard deviation; the spread of a single score is NaN.
    fit_seconds, score_seconds : float
        Time spent over all folds.
    status : {"complete", "stopped", "failed"}
        Stopped: given up on the way, as others did better there; its scores are those of then, and it never wins. Failed: a fit
        or a score raised an error, or a score was NaN.
    error : str or None
        What went wrong first.
    others : dict
        Scores on each fold by further measures, where `scoring` named several.
    stages : dict
        Where fits were looked at on their way: the mean score after so many epochs, or what else they go by.
    """

    number: int
    params: Mapping[str, Any]
    fold_scores: tuple[float, ...]
    score: float
    spread: float
    fit_seconds: float
    score_seconds: float
    status: TrialStatus = "complete"
    error: str | None = None
    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    stages: Mapping[int, float] = field(default_factory=dict)

    @property
    def is_ranked(self) -> bool:
        """Whether it may win: NaN never does, nor what was given up."""
        return self.status != "stopped" and not math.isnan(self.score)

    @property
    def n_spent(self) -> int | None:
        """After how many epochs (or what else its fits go by) it was last looked at; None where there are no looks."""
        return max(self.stages, default=None)


def mean_and_spread(fold_scores: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over folds; of a single score there is no spread."""
    scores = np.array(fold_scores, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # infinite scores have a mean and no spread
        return float(scores.mean()), float(scores.std()) if len(scores) > 1 else math.nan


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """The trial with the highest score, the first of equals; None where none may win."""
    ranked = [trial for trial in trials if trial.is_ranked]
    return max(ranked, key=lambda trial: (trial.score, -trial.number), default=None)
