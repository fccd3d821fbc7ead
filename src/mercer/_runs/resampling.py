"""Rare classes: which resamplers are worth a try with the best models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._runs.problem import Problem
from mercer.over_sampling import SMOTE, RandomOverSampler
from mercer.preprocessing import ColumnReport

RARE = 0.1  # of the training rows: a class that has a smaller share is rare, if it is also half of an equal share
LEAST_ROWS = 10  # of a class, that new ones are made of


def find_resamplers(problem: Problem, columns: Sequence[ColumnReport], seed: int) -> dict[str, Any]:
    """Resamplers by name, none where no class is rare.

    Rows are repeated whatever they hold; rows between others are made of numbers alone, as there is nothing between two words.
    """
    if problem.classes is None or problem.weights is not None:  # a weight cannot follow its row through a resampler
        return {}
    counts = np.unique(problem.y[problem.train], return_counts=True)[1]
    if counts.min() >= min(RARE, 0.5 / len(counts)) * counts.sum() or counts.min() < LEAST_ROWS:
        return {}
    found: dict[str, Any] = {"RandomOverSampler": RandomOverSampler(random_state=seed)}
    if all(column.kind == "number" for column in columns if column.used):
        found["SMOTE"] = SMOTE(random_state=seed, k_neighbors="auto")
    return found
