"""What a report contains: one JSON-able dictionary, declared here, checked whenever it is written or read.

`None` stands for what is unknown, undefined or does not apply; there are no NaN and no infinite numbers. Scores are in the
natural units of their measure (an RMSE is positive), and `greater_is_better` says which way is good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from mercer._report.schema import SchemaError, check_value

FORMAT = 1

Scalar = str | int | float | bool | None


class Metric(TypedDict):
    """The measure that models were compared by."""

    name: str
    label: str
    greater_is_better: bool
    reason: str | None


class Data(TypedDict):
    """The table and the task."""

    source: str
    n_rows: int
    n_columns: int
    target: str
    task: Literal["binary", "multiclass", "regression"]
    task_reason: str | None
    classes: list[str] | None
    class_counts: list[int] | None
    metric: Metric
    n_train: int
    n_test: int


class Alert(TypedDict):
    """Something about the data that a reader should know first."""

    level: Literal["error", "warning", "info"]
    column: str | None
    message: str
    flag: str | None


class Column(TypedDict):
    """What was done to one column, and why."""

    name: str
    kind: str
    used: bool
    reason: str | None
    treatment: str | None
    flag: str | None
    missing: float | None
    distinct: int | None
    made: list[str]


class Candidate(TypedDict):
    """One line of the leaderboard."""

    model: str
    status: Literal["ok", "baseline", "failed", "skipped", "interrupted"]
    score: float | None
    spread: float | None
    fold_scores: list[float | None] | None
    fit_seconds: float | None
    predict_us_per_row: float | None
    size_bytes: int | None
    n_trials: int | None
    params: dict[str, Any] | None
    reason: str | None
    is_best: bool


class Best(TypedDict):
    """The model that was chosen."""

    model: str
    params: dict[str, Any]
    how: str | None
    certificate: str | None


class Measure(TypedDict):
    """One measure on the test rows with its confidence interval, where one can be estimated."""

    name: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    description: str
    greater_is_better: bool
    is_metric: bool


class ClassMeasures(TypedDict):
    """One class against the rest."""

    label: str
    n: int
    precision: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    specificity: float | None
    f1: float | None
    roc_auc: float | None


class Test(TypedDict):
    """The result on rows that no model had seen."""

    n: int
    level: float
    measures: list[Measure]
    per_class: list[ClassMeasures] | None
    cv_score: float | None
    cv_spread: float | None
    reading: str


class Confusion(TypedDict):
    """Counts of test rows: true classes down, predicted classes across."""

    labels: list[str]
    matrix: list[list[int]]


class Scores(TypedDict):
    """Counts at exact cut-offs, rising: rows that score at least `threshold[i]` are called positive. The last calls none so."""

    kind: Literal["probability", "decision"]
    positive: str
    negative: str
    threshold: list[float]
    tp: list[int]
    fp: list[int]
    tn: list[int]
    fn: list[int]
    default: float
    tuned: float | None
    at: int | None  # index of the cut-off that gives the model's own predictions; None where no cut-off does


class Curve(TypedDict):
    """A ROC curve (x: false positive rate, y: recall) or a precision-recall curve (x: recall, y: precision) of one class."""

    label: str
    x: list[float]
    y: list[float]
    area: float | None
    share: float  # of rows that are of this class: where the precision-recall curve of chance lies


class Calibration(TypedDict):
    """Mean predicted probability against the observed share, in bins of equal width that hold at least one row."""

    label: str
    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    count: list[int]
    error: float  # mean over rows of |predicted - observed| of their bin


class ThresholdCurves(TypedDict):
    """Measures against the cut-off."""

    threshold: list[float]
    precision: list[float | None]
    recall: list[float | None]
    specificity: list[float | None]
    f1: list[float | None]
    g_mean: list[float | None]


class Curves(TypedDict):
    """Curves of a classifier: of the positive class, or of every class against the rest."""

    roc: list[Curve]
    pr: list[Curve]
    calibration: list[Calibration]
    threshold: ThresholdCurves | None


class Residuals(TypedDict):
    """True minus predicted values of test rows, thinned evenly in the order of residuals; the histogram counts all rows."""

    n: int
    true: list[float]
    predicted: list[float]
    mean: float
    std: float
    quantiles: dict[str, float]
    edges: list[float]
    count: list[int]


class Importance(TypedDict):
    """How much the score falls when one column of the test rows is shuffled."""

    column: str
    mean: float
    std: float | None
    n_repeats: int


class RowError(TypedDict):
    """A test row that is predicted badly, by its number in its source."""

    row: int
    true: str
    predicted: str
    probability: NotRequired[float | None]
    residual: NotRequired[float | None]
    values: dict[str, str]


class Learning(TypedDict):
    """Scores on the rows fitted and on rows held out, against the number of rows fitted."""

    label: str
    greater_is_better: bool
    n_train: list[int]
    n_folds: list[int]
    train_mean: list[float]
    train_std: list[float | None]
    test_mean: list[float]
    test_std: list[float | None]
    verdict: Literal["overfitting", "underfitting", "balanced", "unknown"]
    trend: Literal["rising", "flat", "falling", "unknown"]
    reading: str


class Description(TypedDict):
    """What `describe` says of a fitted model."""

    test: Test
    confusion: Confusion | None
    scores: Scores | None
    curves: Curves | None
    residuals: Residuals | None
    importance: list[Importance]
    errors: list[RowError]
    learning: Learning | None
    notes: list[str]


class Content(TypedDict):
    """A whole report."""

    format: int
    title: str
    created: str
    command: str | None
    mercer: str
    data: Data
    alerts: list[Alert]
    columns: list[Column]
    leaderboard: list[Candidate]
    best: Best | None
    test: Test | None
    confusion: Confusion | None
    scores: Scores | None
    curves: Curves | None
    residuals: Residuals | None
    importance: list[Importance] | None
    errors: list[RowError] | None
    learning: Learning | None
    notes: NotRequired[list[str]]
    warnings: list[str]
    seconds: dict[str, float]


class ReportError(ValueError):
    """The content of a report is not what a report contains."""


def check(content: Any, source: str = "report") -> Content:
    """The content itself if it is a report of this version; otherwise a ReportError that names the first thing wrong."""
    if not isinstance(content, dict):
        raise ReportError(f"{source}: it holds no JSON object and is not a report.")
    version = content.get("format")
    if version != FORMAT or isinstance(version, bool):
        raise ReportError(f"{source}: format is {version!r}; this version of Mercer reads format {FORMAT}.")
    try:
        check_value(content, Content, "")
        _check_lengths(content)
    except SchemaError as error:
        raise ReportError(f"{source}: {error}") from None
    return content  # type: ignore[return-value]


def _check_lengths(content: Mapping[str, Any]) -> None:
    """Lists that are read side by side are equally long, and an index points into its list."""
    if data := content["data"]:
        _require_equal(data, ("classes", "class_counts"), "data")
    if scores := content["scores"]:
        _require_equal(scores, ("threshold", "tp", "fp", "tn", "fn"), "scores")
        if not scores["threshold"] or not (scores["at"] is None or 0 <= scores["at"] < len(scores["threshold"])):
            raise SchemaError(f"scores.at is {scores['at']}; it must be an index into scores.threshold.")
    if confusion := content["confusion"]:
        n_labels = len(confusion["labels"])
        if [len(row) for row in confusion["matrix"]] != [n_labels] * n_labels:
            raise SchemaError(f"confusion.matrix must have {n_labels} rows of {n_labels} counts, one a label.")
    if curves := content["curves"]:
        for kind in ("roc", "pr"):
            for index, curve in enumerate(curves[kind]):
                _require_equal(curve, ("x", "y"), f"curves.{kind}[{index}]")
        for index, curve in enumerate(curves["calibration"]):
            _require_equal(curve, ("predicted", "observed", "low", "high", "count"), f"curves.calibration[{index}]")
        if curves["threshold"]:
            _require_equal(curves["threshold"], tuple(ThresholdCurves.__annotations__), "curves.threshold")
    if residuals := content["residuals"]:
        _require_equal(residuals, ("true", "predicted"), "residuals")
        if len(residuals["edges"]) != len(residuals["count"]) + 1:
            raise SchemaError("residuals.edges must have one number more than residuals.count.")
    if learning := content["learning"]:
        _require_equal(learning, ("n_train", "n_folds", "train_mean", "train_std", "test_mean", "test_std"), "learning")


def _require_equal(holder: Mapping[str, Sequence[Any] | None], keys: tuple[str, ...], place: str) -> None:
    lengths = {key: len(value) for key in keys if (value := holder[key]) is not None}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise SchemaError(f"the lists of {place} must be equally long; they have the lengths {shown}.")


def dumps(content: Content) -> str:
    """The content as strict JSON."""
    return json.dumps(check(content), allow_nan=False, ensure_ascii=True, indent=1) + "\n"


def write_json(content: Content, path: str | os.PathLike[str]) -> None:
    """Write the content as strict JSON."""
    Path(path).write_text(dumps(content), encoding="ascii")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_json(path: str | os.PathLike[str]) -> Content:
    """The content that `write_json` wrote; a damaged file gives a ReportError of one line."""
    text = Path(path).read_bytes()
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{os.fspath(path)}: it is no strict JSON ({error}).") from None
    return check(content, os.fspath(path))
