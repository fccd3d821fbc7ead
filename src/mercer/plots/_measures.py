"""The measures that plots show; the one place that says where they come from."""

from __future__ import annotations

from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from mercer.calibration import calibration_curve

__all__ = [
    "average_precision_score",
    "brier_score_loss",
    "calibration_curve",
    "confusion_matrix",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
]
