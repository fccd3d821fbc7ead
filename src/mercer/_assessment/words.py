"""What is said of measures wherever they are shown: one record each, for reports, evaluations and runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MeasureWords:
    """A measure in words.

    Attributes
    ----------
    label : str
        At the head of a line or a column.
    in_text : str
        In the midst of a line, and as a name in results.
    description : str
        Its formula, in words.
    greater_is_better : bool
    scorers : tuple of str
        The names of scorers that give it; those that negate a loss begin with "neg_".
    long : str
        In full, where there is room.
    """

    label: str
    in_text: str
    description: str
    greater_is_better: bool
    scorers: tuple[str, ...] = ()
    long: str = ""

    @property
    def in_full(self) -> str:
        return self.long or self.in_text


WORDS: dict[str, MeasureWords] = {
    "accuracy": MeasureWords("Accuracy", "accuracy", "share of rows predicted rightly", True, ("accuracy",)),
    "balanced_accuracy": MeasureWords(
        "Balanced accuracy", "balanced accuracy", "mean recall of the classes", True, ("balanced_accuracy", "recall_macro")
    ),
    "precision": MeasureWords(
        "Precision", "precision", "share of predicted positives that are positive", True, ("precision",)
    ),
    "recall": MeasureWords("Recall", "recall", "share of positives that are found (sensitivity)", True, ("recall",)),
    "specificity": MeasureWords("Specificity", "specificity", "share of negatives that are found", True),
    "npv": MeasureWords("NPV", "NPV", "share of predicted negatives that are negative", True),
    "f1": MeasureWords("F1", "F1", "harmonic mean of precision and recall", True, ("f1",)),
    "f1_macro": MeasureWords("Macro F1", "macro F1", "mean F1 of the classes", True, ("f1_macro",)),
    "f1_weighted": MeasureWords(
        "Weighted F1", "weighted F1", "F1 of the classes, weighted by their rows", True, ("f1_weighted",)
    ),
    "g_mean": MeasureWords("G-mean", "G-mean", "geometric mean of the recalls of the classes", True),
    "mcc": MeasureWords(
        "MCC", "MCC", "correlation of predicted and true classes; 0 is chance", True, ("matthews_corrcoef",)
    ),
    "kappa": MeasureWords("Cohen's kappa", "Cohen's kappa", "agreement beyond chance", True),
    "roc_auc": MeasureWords(
        "ROC AUC", "ROC AUC", "chance that a positive row scores above a negative one", True, ("roc_auc",),
        "area under the ROC curve",
    ),
    "roc_auc_ovr": MeasureWords(
        "Macro ROC AUC", "macro ROC AUC", "mean ROC AUC of each class against the rest", True, ("roc_auc_ovr",)
    ),
    "average_precision": MeasureWords(
        "Average precision", "average precision", "area under the precision-recall curve", True, ("average_precision",)
    ),
    "log_loss": MeasureWords("Log loss", "log loss", "mean of -log probability of the true class", False, ("neg_log_loss",)),
    "brier": MeasureWords(
        "Brier score", "Brier score", "mean squared error of the probabilities", False, ("neg_brier_score",)
    ),
    "r2": MeasureWords("R²", "R2", "share of variance explained; 0 is the mean", True, ("r2",), "R²"),
    "rmse": MeasureWords(
        "RMSE", "RMSE", "root of the mean squared error, in units of the target", False, ("neg_root_mean_squared_error",),
        "root mean squared error",
    ),
    "mse": MeasureWords("MSE", "MSE", "mean squared error", False, ("neg_mean_squared_error",), "mean squared error"),
    "mae": MeasureWords(
        "MAE", "MAE", "mean absolute error, in units of the target", False, ("neg_mean_absolute_error",), "mean absolute error"
    ),
    "median_ae": MeasureWords(
        "Median absolute error", "median absolute error", "half of the rows are closer than this", False,
        ("neg_median_absolute_error",),
    ),
    "mape": MeasureWords(
        "MAPE", "MAPE", "mean absolute error relative to the true value", False, ("neg_mean_absolute_percentage_error",),
        "mean absolute percentage error",
    ),
}  # fmt: skip

_BY_SCORER = {scorer: name for name, words in WORDS.items() for scorer in words.scorers}


def measure_of_scorer(scorer: str) -> str | None:
    """The measure of this table that a scorer gives, if one does."""
    return _BY_SCORER.get(scorer)


def is_loss(scorer: str) -> bool:
    """Whether a scorer gives minus a loss, which is shown as the loss."""
    return scorer.startswith("neg_")


def plain_name(scorer: str) -> str:
    """What a scorer that is not in the table is called."""
    return scorer.removeprefix("neg_").replace("_", " ")
