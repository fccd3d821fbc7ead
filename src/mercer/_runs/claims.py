"""What two ways of dividing rows claim of the same model: how much a division at random would flatter."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._report.numbers import decimals_for, number
from mercer._runs.metric import Metric
from mercer._runs.settings import Settings
from mercer._runs.splits import divide_at_random
from mercer._weighted import fit_weighted
from mercer.ensemble import RandomForestClassifier, RandomForestRegressor
from mercer.preprocessing import prepare_pipeline

if TYPE_CHECKING:
    from mercer._runs.problem import Problem

_MOST_ROWS = 5_000
_N_TREES = 50


@dataclass(frozen=True)
class Claims:
    """Scores (larger is better) of a forest that learns from the rows before the test's, and from rows drawn at random."""

    forward: float
    at_random: float

    def in_words(self, metric: Metric) -> str:
        """Both figures in the units of the measure."""
        shown = [metric.shown(score) for score in (self.forward, self.at_random)]
        decimals = decimals_for(shown)
        forward, at_random = (number(each, decimals) for each in shown)
        return (
            f"a small forest, tested on the last rows, has {metric.label} {forward}; tested on rows drawn at random from all "
            f"times, which new rows never are, it would claim {at_random}"
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def claims_of(problem: Problem, settings: Settings) -> Claims | None:
    """Both scores; None where a measure is not defined on one of the tests. Of many rows some are taken, evenly spaced."""
    forward = problem.division.train, problem.division.test
    n = len(problem.y)
    try:
        at_random = divide_at_random(problem.division.strata, n, len(problem.test) / n, settings.seed)
        scores = [_score(problem, _thinned(a, n), _thinned(b, n), settings) for a, b in (forward, at_random)]
    except ValueError:  # a class that one of the parts lacks
        return None
    return Claims(*scores) if np.isfinite(scores).all() else None


def _thinned(rows: Any, n: int) -> Any:
    if n <= _MOST_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, max(2, _MOST_ROWS * len(rows) // n)).astype(np.intp)]


def _score(problem: Problem, train: Any, test: Any, settings: Settings) -> float:
    kind = RandomForestRegressor if problem.classes is None else RandomForestClassifier
    (X, y), (X_test, y_test) = problem.rows(train), problem.rows(test)
    kinds = {name: kind for name, kind in settings.kinds.items() if name in X.columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = prepare_pipeline(kind(_N_TREES, random_state=settings.seed), X, kinds=kinds or None)
        fit_weighted(model, X, y, problem.weights_of(train))
        return problem.metric.score(model, X_test, y_test, problem.weights_of(test))
