"""The scorer that models were compared by. The only place of reports that looks up scorers by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer._assessment.words import WORDS, is_loss, measure_of_scorer, plain_name
from mercer.metrics import get_scorer


@dataclass(frozen=True)
class Scoring:
    """A scorer with the units it is shown in: losses that scikit-learn negates ("neg_…") are shown as losses."""

    name: str
    scorer: Any
    is_loss: bool

    def __call__(self, model: Any, X: Any, y: Any, weights: Any = None) -> float:
        """The score in natural units, rows counting by their weights; NaN where it is not defined."""
        value = float(self.scorer(model, X, y, **({} if weights is None else {"sample_weight": weights})))
        return -value if self.is_loss else value

    @property
    def measure(self) -> str | None:
        """The name of the measure that this scorer gives, if it is one of the report's own."""
        return measure_of_scorer(self.name)

    @property
    def label(self) -> str:
        return WORDS[self.measure].label if self.measure else plain_name(self.name)

    @property
    def best(self) -> float:
        """The score of a perfect model, for measures that have the usual ends."""
        return 0.0 if self.is_loss else 1.0

    def gain(self, better: float, worse: float) -> float:
        """By how much the first score is better than the second."""
        return worse - better if self.is_loss else better - worse


def as_scoring(scoring: Any) -> Scoring:
    """`scoring` by scikit-learn's convention: a name, or a callable `scorer(model, X, y)` that is greater for better models."""
    if isinstance(scoring, str):
        return Scoring(scoring, get_scorer(scoring), is_loss(scoring))
    if not callable(scoring):
        raise ValueError(f"scoring is {scoring!r}; it must be the name of a scorer or a callable scorer(model, X, y).")
    return Scoring(getattr(scoring, "__name__", None) or "score", scoring, False)
