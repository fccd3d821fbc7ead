"""What a report contains: one JSON-able dictionary, declared here, checked whenever it is written or read (see `files`).

`None` stands for what is unknown, undefined or does not apply; there are no NaN and no infinite numbers. Scores are in the
natural units of their measure (an RMSE is positive), and `greater_is_better` says which way is good.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from mercer._report.card.content import Card, Serving
from mercer._report.data.content import Drift, Profile
from mercer._report.explained.model_content import ModelExplained
from mercer._report.segments.content import Segments

FORMAT = 1


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
    division: NotRequired[str | None]  # how rows were divided, in words
    weights: NotRequired[str | None]  # the column that says how much rows count


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
    n_rows: NotRequired[int | None]  # that one fit of a fold had, where these are a sample


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


class Baseline(TypedDict):
    """What a model that knows the target alone comes to on the same rows, by the measure that models were compared by."""

    name: str
    value: float
    gain: float  # by how much the model is better
    low: float | None  # of the gain
    high: float | None
    is_real: bool | None  # whether the gain (or loss) is more than chance explains; None where that is not known
    reading: str


class Test(TypedDict):
    """The result on rows that no model had seen."""

    n: int
    level: float
    measures: list[Measure]
    per_class: list[ClassMeasures] | None
    cv_score: float | None
    cv_spread: float | None
    reading: str
    baseline: NotRequired[Baseline | None]
    cautions: NotRequired[list[str]]  # figures that are worse than guessing


class SetSize(TypedDict):
    """How many test rows have a set of so many labels, and how many of these sets hold the true one."""

    size: int
    n: int
    n_held: int


class Intervals(TypedDict):
    """What intervals (sets of labels, for classes) came to on the test rows; `coverage` is the share that was asked for."""

    kind: Literal["interval", "labels"]
    coverage: float
    n_calibration: int
    n_test: int
    reached: float
    low: float
    high: float
    width: float | None
    plain_width: float | None  # of the middle `coverage` of the training targets
    mean_size: float | None
    sizes: list[SetSize] | None
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
    tuned_for: NotRequired[str | None]  # what the tuned cut-off gives out of fold, in words
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
    profile: Profile | None
    drift: Drift | None
    segments: Segments | None
    explained: ModelExplained | None
    learning: Learning | None
    notes: list[str]


class Costs(TypedDict):
    """Costs of mistakes (true classes down, predicted ones across), and the mean cost of a test row."""

    labels: list[str]
    matrix: list[list[float]]
    cost: float  # by the decision
    likeliest: float  # by the likeliest label
    constant: float  # by the one label for all that costs least
    reading: str


class Refit(TypedDict):
    """A final model that learned from the test rows too, after another was tested."""

    n_rows: int
    tested_model: str  # the file of the one that was tested
    reading: str


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
    intervals: NotRequired[Intervals | None]
    confusion: Confusion | None
    scores: Scores | None
    curves: Curves | None
    residuals: Residuals | None
    importance: list[Importance] | None
    errors: list[RowError] | None
    profile: NotRequired[Profile | None]
    drift: NotRequired[Drift | None]
    segments: NotRequired[Segments | None]
    explained: NotRequired[ModelExplained | None]
    learning: Learning | None
    costs: NotRequired[Costs | None]
    refit: NotRequired[Refit | None]
    card: NotRequired[Card | None]
    serving: NotRequired[Serving | None]
    notes: NotRequired[list[str]]
    warnings: list[str]
    seconds: dict[str, float]
