"""What a report says of parts of the test rows."""

from __future__ import annotations

from typing import Literal, TypedDict


class Segment(TypedDict):
    """Test rows with one value (or range of values) of a column, on which the model is worse than on the others."""

    column: str
    value: str
    n: int
    error: float
    low: float | None  # its interval
    high: float | None
    others: float  # the error on all other rows
    p: float  # corrected for all comparisons


class OffSegment(TypedDict):
    """Test rows with one value of a column, for which predictions are off on average, otherwise than elsewhere."""

    column: str
    value: str
    n: int
    predicted: float
    observed: float
    p: float  # corrected for all comparisons


class Segments(TypedDict):
    """Errors and calibration by segment; `off` is None where the model gives no probabilities."""

    measure: Literal["share of wrong predictions", "mean absolute error"]
    overall: float
    n_rows: int  # test rows that were looked at
    n_columns: int
    n_compared: int
    worse: list[Segment]
    n_worse: int
    off: list[OffSegment] | None
    n_off: int
    kind: Literal["probability", "confidence", "number"]  # what `predicted` in `off` is the mean of
    label: str | None  # the class that probabilities are of
    reading: str
    off_reading: str | None
