"""Which of the leading columns act together."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._report.explained.columns import ROUNDING, Leading
from mercer._report.explained.model_content import Interactions, Pair
from mercer.inspection import h_statistic

if TYPE_CHECKING:
    from mercer._report.explained.model import Rows

_MOST_COLUMNS = 5
_MOST_ROWS, _LEAST_ROWS = 60, 15
_MOST_PAIRS = 6


def interactions_of(
    rows: Rows, leading: Leading, per_row: float, seed: int, deadline: float
) -> tuple[Interactions | None, str | None]:
    """Friedman's H for pairs, on as many test rows as the time allows, and a note where it allows too few."""
    columns = leading.order[:_MOST_COLUMNS]
    if len(columns) < 2:
        return None, None
    n_games = len(columns) * (len(columns) + 1) / 2
    seconds = max(0.0, deadline - time.monotonic())
    n_rows = min(_MOST_ROWS, rows.test.n_rows, int(math.sqrt(seconds / max(n_games * per_row, 1e-12))))
    if n_rows < min(_LEAST_ROWS, rows.test.n_rows):
        return None, "Interactions: the time did not allow to look for columns that act together."
    found = _statistic(rows, columns, n_rows, seed)
    if found is None:
        return None, None
    output = min(leading.output, found.pairwise.shape[0] - 1)
    pairs = [
        Pair(
            first=leading.names[columns[i]],
            second=leading.names[columns[k]],
            strength=float(found.pairwise[output, i, k]),
            size=float(found.pairwise_size[output, i, k]),
        )
        for i, k in combinations(range(len(columns)), 2)
    ]
    nothing = ROUNDING * float(leading.sizes.max())
    pairs = sorted((pair for pair in pairs if pair["size"] > nothing), key=lambda pair: -pair["size"])
    return Interactions(pairs=pairs[:_MOST_PAIRS], n_rows=int(found.n_samples)), None


def _statistic(rows: Rows, columns: list[int], n_rows: int, seed: int) -> Any:
    """None where the model has no numbers to ask for."""
    try:
        return h_statistic(rows.found.model, rows.test.data, columns, max_samples=n_rows, random_state=seed)
    except (AttributeError, ValueError, np.linalg.LinAlgError):
        return None
