"""The words of measures, and the scorer that models were compared by. The only place that looks up scorers by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.metrics import get_scorer

# Measure: (label, description, greater is better, scikit-learn's scorers that give it)
WORDS: dict[str, tuple[str, str, bool, tuple[str, ...]]] = {
    "accuracy": ("Accuracy", "share of rows predicted rightly", True, ("accuracy",)),
    "balanced_accuracy": ("Balanced accuracy", "mean recall of the classes", True, ("balanced_accuracy", "recall_macro")),
    "precision": ("Precision", "share of predicted positives that are positive", True, ("precision",)),
    "recall": ("Recall", "share of positives that are found (sensitivity)", True, ("recall",)),
    "specificity": ("Specificity", "share of negatives that are found", True, ()),
    "npv": ("NPV", "share of predicted negatives that are negative", True, ()),
    "f1": ("F1", "harmonic mean of precision and recall", True, ("f1",)),
    "f1_macro": ("Macro F1", "mean F1 of the classes", True, ("f1_macro",)),
    "f1_weighted": ("Weighted F1", "F1 of the classes, weighted by their rows", True, ("f1_weighted",)),
    "g_mean": ("G-mean", "geometric mean of the recalls of the classes", True, ()),
    "mcc": ("MCC", "correlation of predicted and true classes; 0 is chance", True, ("matthews_corrcoef",)),
    "kappa": ("Cohen's kappa", "agreement beyond chance", True, ()),
    "roc_auc": ("ROC AUC", "chance that a positive row scores above a negative one", True, ("roc_auc",)),
    "roc_auc_ovr": ("Macro ROC AUC", "mean ROC AUC of each class against the rest", True, ("roc_auc_ovr",)),
    "average_precision": ("Average precision", "area under the precision-recall curve", True, ("average_precision",)),
    "log_loss": ("Log loss", "mean of -log probability of the true class", False, ("neg_log_loss",)),
    "brier": ("Brier score", "mean squared error of the probabilities", False, ("neg_brier_score",)),
    "r2": ("R²", "share of variance explained; 0 is the mean", True, ("r2",)),
    "rmse": ("RMSE", "root of the mean squared error, in units of the target", False, ("neg_root_mean_squared_error",)),
    "mse": ("MSE", "mean squared error", False, ("neg_mean_squared_error",)),
    "mae": ("MAE", "mean absolute error, in units of the target", False, ("neg_mean_absolute_error",)),
    "median_ae": ("Median absolute error", "half of the rows are closer than this", False, ("neg_median_absolute_error",)),
    "mape": ("MAPE", "mean absolute error relative to the true value", False, ("neg_mean_absolute_percentage_error",)),
}


@dataclass(frozen=True)
class Scoring:
    """A scorer with the units it is shown in: losses that scikit-learn negates ("neg_…") are shown as losses."""

    name: str
    scorer: Any
    is_loss: bool

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """The score in natural units; NaN where it is not defined."""
        value = float(self.scorer(model, X, y))
        return -value if self.is_loss else value

    @property
    def measure(self) -> str | None:
        """The name of the measure that this scorer gives, if it is one of the report's own."""
        return next((measure for measure, words in WORDS.items() if self.name in words[3]), None)

    @property
    def label(self) -> str:
        return WORDS[self.measure][0] if self.measure else self.name.removeprefix("neg_").replace("_", " ")

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
        return Scoring(scoring, get_scorer(scoring), scoring.startswith("neg_"))
    if not callable(scoring):
        raise ValueError(f"scoring is {scoring!r}; it must be the name of a scorer or a callable scorer(model, X, y).")
    return Scoring(getattr(scoring, "__name__", None) or "score", scoring, False)
