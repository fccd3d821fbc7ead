"""Scores of candidates, fold by fold, and the trials that they make."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mercer.model_selection._tune.candidates import Candidate
from mercer.model_selection._tune.trial import Trial, mean_and_spread


@dataclass(frozen=True)
class FoldScore:
    """What one candidate scored on one fold, or the error on the way."""

    scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    error: Exception | None = None
    model: Any = None  # fitted on all rows, where that is a by-product
    stages: Mapping[int, float] = field(default_factory=dict)  # scores on the way
    is_stopped: bool = False  # given up there


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def make_trial(
    candidate: Candidate, folds: Sequence[FoldScore], names: Sequence[str], error_score: float
) -> tuple[Trial, Exception | None]:
    """The trial and the first error, if any; `error_score` stands for the score of a fold that failed."""
    by_name = {name: tuple(fold.scores.get(name, error_score) for fold in folds) for name in names}
    fold_scores = by_name.pop(names[0])
    score, spread = mean_and_spread(fold_scores)
    error = next((fold.error for fold in folds if fold.error is not None), None)
    text = None if error is None else "".join(traceback.format_exception_only(error)).strip()
    if text is None and math.isnan(score):
        places = ", ".join(str(place) for place, value in enumerate(fold_scores) if math.isnan(value))
        text = f"{names[0]} is nan on fold {places}" if places else f"the mean of {names[0]} is nan"
    is_stopped = any(fold.is_stopped for fold in folds)
    trial = Trial(
        number=candidate.number,
        params=dict(candidate.params),
        fold_scores=fold_scores,
        score=score,
        spread=spread,
        fit_seconds=sum(fold.fit_seconds for fold in folds),
        score_seconds=sum(fold.score_seconds for fold in folds),
        status="failed" if text is not None else "stopped" if is_stopped else "complete",
        error=text,
        others=by_name,
        stages={at: mean_and_spread([fold.stages[at] for fold in folds])[0] for at in folds[0].stages},
    )
    return trial, error
