"""What a report says of a table; `None` and missing parts as in `mercer._report.content`."""

from __future__ import annotations

from typing import Literal, TypedDict


class Distribution(TypedDict):
    """How the values of a column lie: shares of the known training and test rows, in bins or by value."""

    column: str
    kind: Literal["number", "date", "words"]
    n_distinct: int  # among the training rows that were looked at
    low: float | None
    median: float | None
    high: float | None
    edges: list[float] | None  # of bins; the first and the last also hold what lies beyond them
    values: list[str] | None  # one of these two is there
    n_others: int  # distinct values that are put together in the last of `values`
    train: list[float]
    test: list[float]


class Missing(TypedDict):
    """A column with unknown values."""

    column: str
    train: float  # shares of rows
    test: float
    target: float | None  # association of being missing with the target


class MissingPattern(TypedDict):
    """Columns that are missing together, and in how many of the training rows exactly these."""

    columns: list[str]
    n_others: int
    n: int


class Outliers(TypedDict):
    """Values that lie beyond three times the range of the middle half."""

    column: str
    n: int
    share: float
    low: float  # the fences
    high: float
    farthest: float


class Association(TypedDict):
    """Of two columns; -1 to 1 where both are numbers, 0 to 1 otherwise."""

    first: str
    second: str
    value: float
    measure: Literal["rank correlation", "Cramér's V", "correlation ratio"]


class Associations(TypedDict):
    """Of the target and the leading columns (a matrix, the target first), and the strongest pairs of more columns."""

    names: list[str]
    matrix: list[list[float | None]]
    pairs: list[Association]
    n_columns: int  # among which the strongest pairs were looked for


class Profile(TypedDict):
    """The table in figures."""

    n_train: int  # rows that were looked at
    n_test: int
    n_columns: int
    target: Distribution
    columns: list[Distribution]
    missing: list[Missing]
    n_missing: int  # columns with missing values
    patterns: list[MissingPattern]
    outliers: list[Outliers]
    associations: Associations | None


class ColumnDrift(TypedDict):
    """How far the test rows of one column are from the training rows."""

    column: str
    measure: Literal["Kolmogorov-Smirnov", "total variation"]
    distance: float  # 0 alike, 1 nothing in common
    p: float  # corrected for all columns
    words: str


class Drift(TypedDict):
    """Whether training and test rows look alike: column by column, and to a classifier that is to tell them apart."""

    columns: list[ColumnDrift]
    n_columns: int
    n_different: int
    auc: float | None  # of the classifier, on rows that it had not seen
    auc_low: float | None
    auc_high: float | None
    n_rows: int
    reading: str
