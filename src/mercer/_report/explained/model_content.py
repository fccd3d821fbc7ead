"""What a report says of how a whole model goes by its columns; `None` and missing parts as in `mercer._report.content`."""

from __future__ import annotations

from typing import Literal, TypedDict

from mercer._report.explained.content import Share


class SwarmColumn(TypedDict):
    """What one column gave to each row that was explained."""

    column: str
    mean: float  # of the sizes
    values: list[float]
    ranks: list[float | None]  # of the column's own values: 0 the lowest, 1 the highest; None for words and missing ones


class Swarm(TypedDict):
    """What the leading columns gave to one output, the column that gave most first."""

    label: str | None  # the class; None for a number
    columns: list[SwarmColumn]
    n_others: int


class Dependence(TypedDict):
    """What one column gave, against its own value."""

    column: str
    label: str | None
    x: list[float] | None  # numbers; dates as years
    words: list[str] | None  # for columns of words, one of these two is there
    is_date: bool
    y: list[float]


class Pair(TypedDict):
    """Two columns and how much of what they do together neither does alone."""

    first: str
    second: str
    strength: float  # Friedman's H
    size: float  # in units of the output


class Interactions(TypedDict):
    """Pairs of the leading columns, the largest in size first."""

    pairs: list[Pair]
    n_rows: int


class ExplainedError(TypedDict):
    """Why a test row was predicted as it was, which was wrong."""

    row: int
    true: str
    predicted: str
    label: str | None
    output: float
    base: float
    contributions: list[Share]


class TreeLine(TypedDict):
    """A node of the surrogate tree: how one comes to it from the node above, and what it says."""

    depth: int
    rule: str
    says: str
    n: int
    is_leaf: bool


class SurrogateTree(TypedDict):
    """A small tree that answers as the model does, as far as it can."""

    measure: str
    fidelity: float
    baseline: float
    n_train: int
    n_test: int
    lines: list[TreeLine]


class ModelExplained(TypedDict):
    """How a model goes by its columns."""

    unit: Literal["probability", "decision value", "vote", "number", "raw score"]
    method: str
    n_rows: int  # test rows that were explained,
    n_test: int  # of so many
    n_background: int
    swarms: list[Swarm]
    dependence: list[Dependence]
    interactions: Interactions | None
    errors: list[ExplainedError]
    surrogate: SurrogateTree | None
