"""What an explained prediction contains: one JSON-able dictionary, as a report does (see `mercer._report.content`)."""

from __future__ import annotations

from typing import Literal, TypedDict


class Share(TypedDict):
    """What one column gave to the output that is explained."""

    column: str
    value: str  # as in the file; "" where it is missing
    contribution: float
    error: float | None  # the standard error of a value that was sampled


class ClassOutput(TypedDict):
    """The output of one class."""

    label: str
    output: float


class ColumnChange(TypedDict):
    """One column with another value."""

    column: str
    before: str
    after: str


class Change(ColumnChange):
    """The smallest change of one column that changes the prediction by itself."""

    predicted: str
    output: float  # of the class that is then predicted, or the number
    distance: float  # in standard deviations of numbers; of words, one


class Neighbour(TypedDict):
    """The nearest training row that is predicted otherwise."""

    row: int  # its number in the file that the run learnt from
    predicted: str
    output: float
    distance: float
    n_reached: int  # training rows, of those looked at, that are predicted otherwise
    changes: list[ColumnChange]


class RowContent(TypedDict):
    """An explained prediction."""

    format: int
    kind: Literal["row"]
    title: str
    created: str
    command: str | None
    mercer: str
    run: str
    source: str
    row: int
    target: str
    model: str
    predicted: str
    label: str | None  # the class whose output is explained; None for a number
    unit: Literal["probability", "decision value", "vote", "number", "raw score"]
    output: float  # what the model says of the row
    base: float  # and where nothing is known of it
    classes: list[ClassOutput] | None
    contributions: list[Share]
    method: str
    fidelity: float | None  # R2 of a surrogate near the row, for methods that have one
    additivity_error: float | None
    n_background: int
    goal: str  # what counts as another prediction
    changes: list[Change]
    neighbour: Neighbour | None
    n_sampled: int  # training rows that were looked at
    n_train: int
    notes: list[str]
