"""Reports: all measures of predicted classes from one confusion matrix, and scikit-learn's text table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._confusion import (
    ClassCounts,
    class_weighted_accuracy,
    count_classes,
    geometric_mean_of_defined,
    kappa,
    mcc,
    mean_of_defined,
    ratio,
)
from mercer._lazy import lazy_property
from mercer._params import Bool, Integer, Real, check_value
from mercer._trace import warn
from mercer.metrics._averages import ZeroDivision, averaged
from mercer.metrics._labels import Array
from mercer.metrics._precision_recall import f_scores
from mercer.metrics._tally import Tally, tally, tally_pairs

_OF_CLASS = ("precision", "recall", "specificity", "npv", "fpr", "fnr", "f_beta", "jaccard", "support")


@dataclass(frozen=True, repr=False)
class ConfusionReport:
    """Every measure of predicted classes, from one confusion matrix.

    Made by :func:`confusion_report`, or by `ConfusionReport(matrix, labels)` from a matrix at hand.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        `matrix[i, j]` is the number (or weight) of rows of class i that are predicted as j.
    labels : sequence, default=None
        The labels of its rows and columns; 0, 1, … by default.
    pos_label : label, default=None
        The positive of two classes: the last one by default.
    beta : float > 0, default=1.0
        Of the F-measure.
    alpha : float in [0, 1], default=0.5
        The weight of the positive class in the class weighted accuracy.

    Attributes
    ----------
    of_class : dict of {label: dict}
        For each class: precision, recall, specificity, npv, fpr, fnr, f_beta, jaccard, support.
    averages : dict of {"macro" or "weighted": dict}
        The means of these over classes, plain and by support.
    overall : dict
        accuracy, error_rate, balanced_accuracy, g_mean, mcc, kappa; for two classes also class_weighted_accuracy.

    Notes
    -----
    What divides by zero is NaN and is left out of averages; nothing warns. O(n_classes^2).

    Examples
    --------
    The second model of the notes' example, from its counts (TN, FP; FN, TP):

    >>> from mercer.metrics import ConfusionReport
    >>> ConfusionReport([[984, 6], [1, 9]])
    Confusion matrix (rows: true, columns: predicted)
          0 1
      0 984 6
      1   1 9
    <BLANKLINE>
                precision  recall  specificity     npv     fpr     fnr      f1  jaccard  support
      0            0.9990  0.9939       0.9000  0.6000  0.1000  0.0061  0.9965   0.9929      990
      1            0.6000  0.9000       0.9939  0.9990  0.0061  0.1000  0.7200   0.5625       10
      macro        0.7995  0.9470       0.9470  0.7995  0.0530  0.0530  0.8582   0.7777     1000
      weighted     0.9950  0.9930       0.9009  0.6040  0.0991  0.0070  0.9937   0.9886     1000
    <BLANKLINE>
      accuracy 0.9930, error_rate 0.0070, balanced_accuracy 0.9470, g_mean 0.9458, mcc 0.7317, kappa 0.7166,
      class_weighted_accuracy 0.9470
    """

    matrix: Any
    labels: Any = None
    pos_label: Any = None
    beta: float = 1.0
    alpha: float = 0.5
    _counts: ClassCounts = field(init=False, compare=False)

    def __post_init__(self) -> None:
        matrix = _check_matrix(self.matrix)
        labels = list(range(len(matrix))) if self.labels is None else np.asarray(self.labels).tolist()
        if len(labels) != len(matrix) or len(set(labels)) != len(labels):
            raise ValueError(f"labels={self.labels!r} must name each of the {len(matrix)} rows of the matrix once.")
        counts = count_classes(matrix)
        positive = labels[-1] if self.pos_label is None and len(labels) == 2 else self.pos_label
        if positive is not None and positive not in labels:
            raise ValueError(f"pos_label={positive!r} is not a valid label. It should be one of {labels!r}.")
        checked = {
            "matrix": matrix,
            "labels": labels,
            "pos_label": positive,
            "beta": check_value("ConfusionReport", "beta", self.beta, Real(above=0)),
            "alpha": check_value("ConfusionReport", "alpha", self.alpha, Real(least=0, most=1)),
            "_counts": counts,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @lazy_property
    def _measures(self) -> dict[str, Array]:
        """Each measure of all classes."""
        counts = self._counts
        precision, recall, f = f_scores(counts, beta=self.beta, average=None, warn_for=(), zero_division=np.nan)
        specificity, npv, jaccard = (ratio(*share) for share in (counts.specificity, counts.npv, counts.jaccard))
        values = (precision, recall, specificity, npv, 1 - specificity, 1 - recall, f, jaccard, counts.n_true)
        return dict(zip(_OF_CLASS, values, strict=True))

    @property
    def of_class(self) -> dict[Any, dict[str, float]]:
        columns = {name: values.tolist() for name, values in self._measures.items()}
        return {label: {name: column[i] for name, column in columns.items()} for i, label in enumerate(self.labels)}

    @property
    def averages(self) -> dict[str, dict[str, float]]:
        return {
            average: {
                name: self._counts.n_true.sum().item() if name == "support" else averaged(values, self._counts, average, None)
                for name, values in self._measures.items()
            }
            for average in ("macro", "weighted")
        }

    @lazy_property
    def overall(self) -> dict[str, float]:
        recalls = self._measures["recall"]
        accuracy = float(ratio(*self._counts.accuracy))
        measures = {
            "accuracy": accuracy,
            "error_rate": 1 - accuracy,
            "balanced_accuracy": float(mean_of_defined(recalls)),
            "g_mean": float(geometric_mean_of_defined(recalls)),
            "mcc": float(mcc(self._counts)),
            "kappa": float(kappa(self.matrix)),
        }
        if len(self.labels) == 2:
            alphas = [self.alpha if label == self.pos_label else 1 - self.alpha for label in self.labels]
            measures["class_weighted_accuracy"] = float(class_weighted_accuracy(recalls, alphas))
        return measures

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, lists and dicts; of two classes, those of the positive one stand at the top too."""
        positive = self.of_class[self.pos_label] if len(self.labels) == 2 else {}
        return {
            "labels": self.labels,
            "matrix": self.matrix.tolist(),
            **self.overall,
            **positive,
            "of_class": self.of_class,
            "averages": self.averages,
        }

    def __repr__(self) -> str:
        rows = {str(label): measures for label, measures in self.of_class.items()} | self.averages
        headers = ["f1" if name == "f_beta" and self.beta == 1 else name for name in _OF_CLASS]
        lines = ["Confusion matrix (rows: true, columns: predicted)", *_matrix_lines(self.matrix, self.labels), ""]
        name_width = max(map(len, rows)) + 2
        widths = [max(len(header), 6) + 2 for header in headers]
        lines.append(" " * name_width + "".join(f"{header:>{width}}" for header, width in zip(headers, widths, strict=True)))
        for name, measures in rows.items():
            shown = [_shown(measures[key], is_count=key == "support") for key in _OF_CLASS]
            cells = "".join(f"{text:>{width}}" for text, width in zip(shown, widths, strict=True))
            lines.append(f"  {name:<{name_width - 2}}{cells}")
        overall = [f"{name} {value:.4f}" for name, value in self.overall.items()]
        lines += ["", f"  {', '.join(overall[:6])}" + ("," if overall[6:] else ""), *(f"  {text}" for text in overall[6:])]
        return "\n".join(lines)


def _shown(value: float, *, is_count: bool) -> str:
    return f"{value:g}" if is_count else f"{value:.4f}"


def _check_matrix(matrix: Any) -> Array:
    counts = np.asarray(matrix)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] == 0 or counts.dtype.kind not in "fiub":
        raise ValueError(f"matrix of shape {counts.shape} and dtype {counts.dtype} is not a square matrix of numbers.")
    if not np.isfinite(counts).all() or (counts < 0).any() or not counts.any():
        raise ValueError("matrix must hold finite numbers >= 0, of which at least one is positive.")
    return counts if counts.dtype.kind == "f" else counts.astype(np.int64)


def _matrix_lines(matrix: Array, labels: Sequence[Any]) -> list[str]:
    cells = [[f"{value:g}" if matrix.dtype.kind == "f" else str(value) for value in row] for row in matrix.tolist()]
    names = [str(label) for label in labels]
    width = max(map(len, names))
    widths = [max(len(name), *(len(row[j]) for row in cells)) for j, name in enumerate(names)]

    def line(name: str, row: Sequence[str]) -> str:
        return f"  {name:<{width}} " + " ".join(f"{cell:>{size}}" for cell, size in zip(row, widths, strict=True))

    return [line("", names), *(line(name, row) for name, row in zip(names, cells, strict=True))]


def confusion_report(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    beta: float = 1.0,
    alpha: float = 0.5,
    sample_weight: Any = None,
) -> ConfusionReport:
    """Every measure of predicted classes, from one pass over the labels.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    pos_label : label, default=None
        The positive of two classes: the greater by default.
    beta : float > 0, default=1.0
        Of the F-measure.
    alpha : float in [0, 1], default=0.5
        The weight of the positive class in the class weighted accuracy.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    report : ConfusionReport
        It prints as a table; `as_dict()` gives all numbers.

    Examples
    --------
    >>> from mercer.metrics import confusion_report
    >>> report = confusion_report(["no", "no", "yes", "yes", "yes"], ["no", "yes", "yes", "yes", "no"])
    >>> report.of_class["yes"]["specificity"], round(report.overall["g_mean"], 4)
    (0.5, 0.5774)
    >>> report.as_dict()["matrix"]
    [[1, 1], [1, 2]]
    """
    pairs = tally_pairs(y_true, y_pred, sample_weight)
    return ConfusionReport(pairs.table, pairs.names, pos_label=pos_label, beta=beta, alpha=alpha)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: str | float = "warn",
) -> Any:
    """Precision, recall, F1 and support of each class and their averages, as a text table or a dict.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels : array-like, default=None
        The labels to report, in that order; all that occur by default.
    target_names : sequence of str, default=None
        What to call them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    digits : int >= 0, default=2
        Decimals of the text.
    output_dict : bool, default=False
        Whether to return a dict.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        The value where a denominator is 0.

    Returns
    -------
    report : str or dict

    See Also
    --------
    confusion_report : More measures, from one confusion matrix.

    Examples
    --------
    >>> from mercer.metrics import classification_report
    >>> print(classification_report([0, 0, 1, 1], [0, 1, 1, 1]))
                  precision    recall  f1-score   support
    <BLANKLINE>
               0       1.00      0.50      0.67         2
               1       0.67      1.00      0.80         2
    <BLANKLINE>
        accuracy                           0.75         4
       macro avg       0.83      0.75      0.73         4
    weighted avg       0.83      0.75      0.73         4
    <BLANKLINE>
    """
    owner = "classification_report"
    check_value(owner, "digits", digits, Integer(0))
    check_value(owner, "output_dict", output_dict, Bool())
    zero_division = check_value(owner, "zero_division", zero_division, ZeroDivision())
    counts = tally(y_true, y_pred, sample_weight, labels=labels)
    names = _target_names(target_names, counts, is_given=labels is not None)
    warn_for = ("precision", "recall", "f-score")
    values = f_scores(counts, beta=1.0, average=None, warn_for=warn_for, zero_division=zero_division)
    rows = {name: row for name, *row in zip(names, *values, counts.n_true, strict=False)}
    support = counts.n_true.sum()
    is_whole = not counts.is_multilabel and set(counts.classes.tolist()) >= set(counts.present.tolist())
    averages = ("micro", "macro", "weighted", "samples") if counts.is_multilabel else ("micro", "macro", "weighted")
    for average in averages:
        part = counts.summed() if average == "micro" else counts
        if average == "samples":
            part = tally(y_true, y_pred, sample_weight, labels=labels, samplewise=True)
        means = f_scores(part, beta=1.0, average=average, warn_for=warn_for, zero_division=zero_division)
        name = "accuracy" if average == "micro" and is_whole else f"{average} avg"
        rows[name] = [*(averaged(mean, part, average, sample_weight) for mean in means), support]
    return _as_dict(rows) if output_dict else _as_text(rows, len(names), digits)


def _target_names(target_names: Any, counts: Tally, *, is_given: bool) -> list[str]:
    if target_names is None:
        return [str(label) for label in counts.classes.tolist()]
    if len(target_names) != len(counts.classes):
        n_names, n_labels = len(target_names), len(counts.classes)
        if not is_given:
            raise ValueError(
                f"Number of classes, {n_labels}, does not match size of target_names, {n_names}. "
                "Try specifying the labels parameter"
            )
        warn(f"labels size, {n_labels}, does not match size of target_names, {n_names}")
    return [str(name) for name in target_names]


_HEADERS = ("precision", "recall", "f1-score", "support")


def _as_dict(rows: dict[str, list[Any]]) -> dict[str, Any]:
    report: dict[str, Any] = {name: dict(zip(_HEADERS, map(float, row), strict=True)) for name, row in rows.items()}
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def _as_text(rows: dict[str, list[Any]], n_classes: int, digits: int) -> str:
    width = max(*map(len, rows), len("weighted avg"), digits)
    lines = [" " * width + " " + "".join(f" {header:>9}" for header in _HEADERS), ""]
    for number, (name, (precision, recall, f1, support)) in enumerate(rows.items()):
        if number == min(n_classes, len(rows)):
            lines.append("")
        first = [" " * 9] * 2 if name == "accuracy" else [f"{value:>9.{digits}f}" for value in (precision, recall)]
        lines.append(f"{name:>{width}}  {' '.join(first)} {f1:>9.{digits}f} {support:>9}")
    return "\n".join(lines) + "\n"
