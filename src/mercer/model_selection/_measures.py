"""The measures that tuning and evaluation use, from one place."""

from __future__ import annotations

from sklearn.metrics import accuracy_score, check_scoring, make_scorer, r2_score

__all__ = ["accuracy_score", "check_scoring", "make_scorer", "r2_score"]
