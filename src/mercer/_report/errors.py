"""The test rows that are predicted worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._assessment.predictions import ClassPredictions
from mercer._report.content import Importance, RowError
from mercer._tables import IntArray, Table, as_text

_MOST_ERRORS = 12
_MOST_COLUMNS = 12


class _Cells:
    """The values of rows in the most important columns, as text."""

    def __init__(self, table: Table, importance: Sequence[Importance]) -> None:
        position = {name: column for column, name in enumerate(table.names)}
        named = [position[row["column"]] for row in importance]
        rest = [column for column in range(len(table.names)) if column not in set(named)]
        self.table, self.columns = table, (named + rest)[:_MOST_COLUMNS]

    def of(self, row: int) -> dict[str, str]:
        names = self.table.names
        return {names[column]: as_text(self.table.cell(row, column)) for column in self.columns}


def worst_class_errors(
    found: ClassPredictions, table: Table, importance: Sequence[Importance], numbers: IntArray
) -> list[RowError]:
    """Misclassified rows, those first to whose true class the model gave the least probability (or the farthest decision)."""
    wrong = np.flatnonzero(found.true != found.predicted)
    probability = found.probability
    if probability is not None:
        badness = -probability[wrong, found.true[wrong]]
    elif found.score is not None:
        badness = np.abs(found.score[wrong])
    else:
        badness = np.zeros(len(wrong))
    worst = wrong[np.argsort(-badness, kind="stable")][:_MOST_ERRORS]
    cells = _Cells(table, importance)
    return [
        RowError(
            row=int(numbers[row]),
            true=str(found.labels[found.true[row]]),
            predicted=str(found.labels[found.predicted[row]]),
            probability=None if probability is None else float(probability[row, found.true[row]]),
            values=cells.of(row),
        )
        for row in worst.tolist()
    ]


def worst_regression_errors(
    true: FloatArray, predicted: FloatArray, table: Table, importance: Sequence[Importance], numbers: IntArray
) -> list[RowError]:
    """The rows with the largest absolute residuals."""
    residual = true - predicted
    worst = np.argsort(-np.abs(residual), kind="stable")[:_MOST_ERRORS]
    cells = _Cells(table, importance)
    return [
        RowError(
            row=int(numbers[row]),
            true=f"{true[row]:.5g}",
            predicted=f"{predicted[row]:.5g}",
            residual=float(residual[row]),
            values=cells.of(row),
        )
        for row in worst.tolist()
    ]


def row_numbers(numbers: Any, n_rows: int) -> IntArray:
    """The numbers that the test rows have in their source, or their positions."""
    if numbers is None:
        return np.arange(n_rows)
    given = np.asarray(numbers)
    if given.shape != (n_rows,) or given.dtype.kind not in "iu":
        raise ValueError(f"test_rows has shape {given.shape} and type {given.dtype}; it must hold {n_rows} whole numbers.")
    return given.astype(np.intp)
