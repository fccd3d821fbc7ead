"""The measures that tuning and evaluation use, from one place."""

from __future__ import annotations

from sklearn.metrics import accuracy_score, check_scoring, get_scorer_names, make_scorer

__all__ = ["accuracy_score", "check_scoring", "get_scorer_names", "make_scorer"]
